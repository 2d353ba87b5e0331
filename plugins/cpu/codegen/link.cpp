#include "plugins/cpu/codegen/link.h"

#include "core/support/message.h"
#include "plugins/cpu/codegen/linker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

namespace lathe::cpu {

namespace {

/// The end of a pipe that the linker writes to, and all that came out of the other: no file, so that none stays where
/// the process is killed.
class LinkedOutput
{
public:
    static Result<std::unique_ptr<LinkedOutput>> open()
    {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return makeError(Errc::StoreFailed,
                             fmt::format("no pipe for the linker's output: {}", std::strerror(errno)));
        return std::unique_ptr<LinkedOutput>(new LinkedOutput(ends[0], ends[1]));
    }
    LinkedOutput(const LinkedOutput&) = delete;
    LinkedOutput& operator=(const LinkedOutput&) = delete;
    ~LinkedOutput() { finish(); }

    std::string path() const { return fmt::format("/proc/self/fd/{}", m_writeEnd); }
    /// Once the linker is done.
    Bytes take()
    {
        finish();
        return std::move(m_bytes);
    }

private:
    LinkedOutput(int readEnd, int writeEnd)
        : m_writeEnd(writeEnd)
        , m_reader([this, readEnd] { readAll(readEnd); })
    {
    }

    void readAll(int readEnd)
    {
        std::array<std::byte, 65536> chunk;
        ssize_t n = 0;
        while ((n = read(readEnd, chunk.data(), chunk.size())) > 0 || (n < 0 && errno == EINTR))
            if (n > 0)
                m_bytes.insert(m_bytes.end(), chunk.begin(), chunk.begin() + n);
        close(readEnd);
    }
    void finish()
    {
        if (m_writeEnd >= 0)
            close(std::exchange(m_writeEnd, -1));
        if (m_reader.joinable())
            m_reader.join();
    }

    int m_writeEnd;
    Bytes m_bytes;
    std::thread m_reader; ///< last: it fills m_bytes
};

Result<Bytes> linkInMemory(std::span<const Bytes> objects, std::vector<std::string> arguments)
{
    LATHE_TRY_ASSIGN(const std::unique_ptr<LinkedOutput> output, LinkedOutput::open());
    arguments.insert(arguments.end(), {"-o", output->path()});
    std::vector<MemoryFile> files;
    for (const Bytes& object : objects) {
        LATHE_TRY_ASSIGN(MemoryFile file, MemoryFile::create("object", object.data(), object.size()));
        arguments.push_back(file.path());
        files.push_back(std::move(file));
    }
    LATHE_TRY(runLinker(arguments));
    Bytes linked = output->take();
    if (linked.empty())
        return makeError(Errc::BuildFailed, say(Msg::LinkedNothing));
    return linked;
}

} // namespace

Result<Bytes> linkRelocatable(std::span<const Bytes> objects)
{
    return linkInMemory(objects, {"-r"});
}

Result<Bytes> linkArtifact(std::span<const Bytes> objects, const std::vector<std::string>& exports)
{
    const std::string script = backend::versionScript(exports);
    LATHE_TRY_ASSIGN(const MemoryFile scriptFile, MemoryFile::create("exports", script.data(), script.size()));
    std::vector<std::string> arguments = backend::sharedObjectArguments();
    arguments.push_back("--version-script=" + scriptFile.path());
    return linkInMemory(objects, std::move(arguments));
}

} // namespace lathe::cpu
