#include "plugins/cpu/codegen/link.h"
#include "plugins/cpu/codegen/linker.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace lathe::cpu {

namespace {

/// A new directory for one output file, gone with this object.
class ScratchDirectory
{
public:
    static Result<ScratchDirectory> create()
    {
        std::error_code error;
        const std::filesystem::path memory = "/dev/shm";
        for (const std::filesystem::path& base : {memory, std::filesystem::temp_directory_path(error)}) {
            std::string pattern = (base / "lathe-link-XXXXXX").string();
            if (mkdtemp(pattern.data()) != nullptr)
                return ScratchDirectory(pattern);
        }
        return makeError(Errc::StoreFailed, "no directory for the linker's output can be made");
    }
    ScratchDirectory(ScratchDirectory&& other) noexcept : m_path(std::exchange(other.m_path, {})) { }
    ScratchDirectory& operator=(ScratchDirectory&&) = delete;
    ~ScratchDirectory()
    {
        std::error_code ignored;
        if (!m_path.empty())
            std::filesystem::remove_all(m_path, ignored);
    }
    const std::filesystem::path& path() const { return m_path; }

private:
    explicit ScratchDirectory(std::filesystem::path path) : m_path(std::move(path)) { }
    std::filesystem::path m_path;
};

Result<Bytes> readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in)
        return makeError(Errc::BuildFailed, "the linker wrote no output");
    Bytes bytes(static_cast<std::size_t>(in.tellg()));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

Result<Bytes> linkInMemory(std::span<const Bytes> objects, std::vector<std::string> arguments)
{
    LATHE_TRY_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create());
    const std::filesystem::path output = scratch.path() / "linked";
    arguments.insert(arguments.end(), {"-o", output.string()});
    std::vector<MemoryFile> files;
    for (const Bytes& object : objects) {
        LATHE_TRY_ASSIGN(MemoryFile file, MemoryFile::create("object", object.data(), object.size()));
        arguments.push_back(file.path());
        files.push_back(std::move(file));
    }
    LATHE_TRY(runLinker(arguments));
    return readFile(output);
}

} // namespace

Result<Bytes> linkRelocatable(std::span<const Bytes> objects)
{
    return linkInMemory(objects, {"ld.lld", "-r", "--threads=1"});
}

Result<Bytes> linkArtifact(std::span<const Bytes> objects, const std::vector<std::string>& exports)
{
    const std::string script = versionScript(exports);
    LATHE_TRY_ASSIGN(const MemoryFile scriptFile, MemoryFile::create("exports", script.data(), script.size()));
    std::vector<std::string> arguments = sharedObjectArguments();
    arguments.push_back("--version-script=" + scriptFile.path());
    return linkInMemory(objects, std::move(arguments));
}

} // namespace lathe::cpu
