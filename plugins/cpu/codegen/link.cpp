#include "plugins/cpu/codegen/link.h"
#include "plugins/cpu/codegen/section_object.h"

#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace lathe::cpu {

namespace {

/// A file that lives in memory and has a path as long as this object does.
class MemoryFile
{
public:
    static Result<MemoryFile> create(const char* name, const void* data, std::size_t bytes)
    {
        MemoryFile file;
        file.m_descriptor = memfd_create(name, MFD_CLOEXEC);
        if (file.m_descriptor < 0)
            return makeError(Errc::StoreFailed, fmt::format("no memory file for the linker: {}", std::strerror(errno)));
        const char* at = static_cast<const char*>(data);
        while (bytes > 0) {
            const ssize_t done = write(file.m_descriptor, at, bytes);
            if (done <= 0)
                return makeError(Errc::StoreFailed, fmt::format("the linker's input cannot be written: {}", std::strerror(errno)));
            at += done;
            bytes -= static_cast<std::size_t>(done);
        }
        return file;
    }
    MemoryFile(MemoryFile&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) { }
    MemoryFile& operator=(MemoryFile&& other) noexcept
    {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }
    ~MemoryFile()
    {
        if (m_descriptor >= 0)
            close(m_descriptor);
    }
    std::string path() const { return fmt::format("/proc/self/fd/{}", m_descriptor); }

private:
    MemoryFile() = default;
    int m_descriptor = -1;
};

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

Result<> runLinker(const std::vector<std::string>& arguments)
{
    static std::mutex mutex; // LLD keeps its state in globals
    static bool usable = true;
    const std::scoped_lock lock(mutex);
    if (!usable)
        return makeError(Errc::Internal, "the linker failed earlier and cannot run again in this process");
    std::vector<const char*> list;
    for (const std::string& argument : arguments)
        list.push_back(argument.c_str());
    std::string words;
    llvm::raw_string_ostream output(words);
    const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
    const lld::Result result = lld::lldMain(list, output, output, drivers);
    usable = result.canRunAgain;
    if (result.retCode != 0) {
        constexpr std::size_t kEnough = 600;
        return makeError(Errc::BuildFailed, fmt::format("linking failed: {}", output.str().substr(0, kEnough)));
    }
    return {};
}

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

std::string versionScript(const std::vector<std::string>& exports)
{
    std::string script = "{\n";
    if (!exports.empty()) {
        script += "  global:\n";
        for (const std::string& name : exports)
            script += fmt::format("    {};\n", name);
    }
    return script + "  local: *;\n};\n";
}

const std::vector<std::string> kCommonArguments = {
    "ld.lld", "-shared", "--threads=1", "--gc-sections", "-z", "defs", "-z", "now", "-z", "noexecstack", "--build-id=none",
    "--hash-style=gnu", "--eh-frame-hdr", "-O1"};

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
    std::vector<std::string> arguments = kCommonArguments;
    arguments.push_back("--version-script=" + scriptFile.path());
    return linkInMemory(objects, std::move(arguments));
}

} // namespace lathe::cpu
