#include "core/support/message.h"
#include "plugins/cpu/codegen/link.h"
#include "plugins/cpu/codegen/linker.h"
#include "plugins/cpu/codegen/section_object.h"

#include <fmt/format.h>
#include <llvm/TargetParser/Triple.h>

#include <array>

namespace lathe::cpu {

namespace {

/// Where a distribution keeps the C library of `triple`: its own, or that of its cross packages.
Result<std::filesystem::path> findLibrary(const llvm::Triple& triple, const std::string& file)
{
    const std::string multiarch = fmt::format("{}-linux-{}", triple.getArchName().str(),
                                              triple.getEnvironment() == llvm::Triple::UnknownEnvironment
                                                  ? std::string("gnu")
                                                  : triple.getEnvironmentName().str());
    const bool isNative = llvm::Triple(LATHE_HOST_TRIPLE).getArch() == triple.getArch();
    std::vector<std::filesystem::path> directories = {"/lib/" + multiarch, "/usr/lib/" + multiarch,
                                                      "/usr/" + multiarch + "/lib"};
    if (isNative)
        directories.insert(directories.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    for (const std::filesystem::path& directory : directories) {
        std::error_code ignored;
        if (std::filesystem::exists(directory / file, ignored))
            return directory / file;
    }
    if (triple.isAArch64() && !isNative)
        return makeError(Errc::NotFound, say(Msg::NoCrossLibrary, file, triple.str(), directories[0].string(),
                                             directories[2].string(), "libc6-arm64-cross"));
    return makeError(Errc::NotFound, say(Msg::NoTargetLibrary, file, triple.str(), directories[0].string(),
                                         directories[2].string(), isNative ? "libc6" : ""));
}

/// LLD writes to its output as to memory: where the disk is full, that ends the process. What goes in tells what comes
/// out.
Result<> checkRoom(const backend::LibraryRequest& request)
{
    std::error_code unknown;
    std::uintmax_t needed = 0;
    for (const std::filesystem::path& archive : request.archives) {
        const std::uintmax_t bytes = std::filesystem::file_size(archive, unknown);
        needed += unknown ? 0 : bytes;
    }
    for (const std::vector<std::byte>& object : request.objects)
        needed += object.size();
    for (const backend::BinarySection& section : request.sections) {
        const std::uintmax_t inFile = section.file.empty() ? 0 : std::filesystem::file_size(section.file, unknown);
        needed += section.bytes.size() + (unknown ? 0 : inFile);
    }
    const std::filesystem::space_info room = std::filesystem::space(request.output.parent_path(), unknown);
    if (!unknown && room.available < needed)
        return makeError(Errc::StoreFailed,
                         say(Msg::DiskFull, request.output.string(), static_cast<double>(needed) / 1e6,
                             static_cast<double>(room.available) / 1e6));
    return {};
}

} // namespace

Result<> linkDeployLibrary(const backend::LibraryRequest& request, const std::string& tripleText)
{
    const llvm::Triple triple(tripleText);
    std::error_code ignored;
    for (const std::filesystem::path& archive : request.archives)
        if (!std::filesystem::exists(archive, ignored))
            return makeError(Errc::NotFound, say(Msg::NoRuntimeFile, archive.string()));

    std::vector<std::string> arguments = sharedObjectArguments();
    const std::string script = versionScript(request.exports);
    LATHE_TRY_ASSIGN(const MemoryFile scriptFile, MemoryFile::create("exports", script.data(), script.size()));
    arguments.insert(arguments.end(), {"--version-script=" + scriptFile.path(), "--strip-debug",
                                       "-soname=" + request.name, "-o", request.output.string()});
    std::vector<MemoryFile> files;
    const auto addFile = [&](const char* name, const std::vector<std::byte>& bytes) -> Result<> {
        LATHE_TRY_ASSIGN(MemoryFile file, MemoryFile::create(name, bytes.data(), bytes.size()));
        arguments.push_back(file.path());
        files.push_back(std::move(file));
        return {};
    };
    for (const std::vector<std::byte>& object : request.objects)
        LATHE_TRY(addFile("object", object));
    if (!request.sections.empty()) {
        LATHE_TRY_ASSIGN(const std::vector<std::byte> sections, makeSectionObject(request.sections, tripleText));
        LATHE_TRY(addFile("sections", sections));
    }
    for (const backend::BinarySection& section : request.sections)
        if (!section.file.empty()) {
            LATHE_TRY(completeSectionFile(section, tripleText));
            arguments.push_back(section.file.string());
        }
    arguments.emplace_back("--whole-archive");
    for (const std::filesystem::path& archive : request.archives)
        arguments.push_back(archive.string());
    arguments.emplace_back("--no-whole-archive");
    // Before glibc 2.34 threads were a library of their own: the library asks for it, wherever it was linked.
    LATHE_TRY_ASSIGN(const std::filesystem::path libc, findLibrary(triple, "libc.so.6"));
    LATHE_TRY_ASSIGN(const std::filesystem::path threads, findLibrary(triple, "libpthread.so.0"));
    LATHE_TRY_ASSIGN(const std::filesystem::path maths, findLibrary(triple, "libm.so.6"));
    arguments.insert(arguments.end(),
                     {"--no-as-needed", threads.string(), libc.string(), "--as-needed", maths.string()});
    if (request.archives.size() > 1) { // drivers open libraries, by functions that had one of their own before, too
        LATHE_TRY_ASSIGN(const std::filesystem::path loading, findLibrary(triple, "libdl.so.2"));
        arguments.insert(arguments.end(), {"--no-as-needed", loading.string()});
    }
    LATHE_TRY(checkRoom(request));
    return runLinker(arguments);
}

} // namespace lathe::cpu
