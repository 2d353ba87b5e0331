#include "core/backend/library_link.h"

#include "core/backend/section_object.h"
#include "core/support/message.h"
#include "core/target/target.h"

#include <fmt/format.h>

namespace lathe::backend {

namespace {

/// Where a distribution keeps the C library of `machine`: its own, or that of its cross packages.
Result<std::filesystem::path> findLibrary(const std::string& machine, const std::string& file)
{
    const std::string multiarch = machine + "-linux-gnu";
    const bool isNative = machine == thisMachine();
    std::vector<std::filesystem::path> directories = {"/lib/" + multiarch, "/usr/lib/" + multiarch,
                                                      "/usr/" + multiarch + "/lib"};
    if (isNative)
        directories.insert(directories.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    for (const std::filesystem::path& directory : directories) {
        std::error_code ignored;
        if (std::filesystem::exists(directory / file, ignored))
            return directory / file;
    }
    if (machine == "aarch64" && !isNative)
        return makeError(Errc::NotFound, say(Msg::NoCrossLibrary, file, multiarch, directories[0].string(),
                                             directories[2].string(), "libc6-arm64-cross"));
    return makeError(Errc::NotFound, say(Msg::NoTargetLibrary, file, multiarch, directories[0].string(),
                                         directories[2].string(), isNative ? "libc6" : ""));
}

/// Linkers write to their output as to memory: where the disk is full, that ends the process. What goes in tells what
/// comes out.
Result<> checkRoom(const LibraryRequest& request)
{
    std::error_code unknown;
    std::uintmax_t needed = 0;
    for (const std::filesystem::path& archive : request.archives) {
        const std::uintmax_t bytes = std::filesystem::file_size(archive, unknown);
        needed += unknown ? 0 : bytes;
    }
    for (const std::vector<std::byte>& object : request.objects)
        needed += object.size();
    for (const BinarySection& section : request.sections) {
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

Result<> linkLibrary(const LibraryRequest& request, const std::string& machine, Linker& linker)
{
    std::error_code ignored;
    for (const std::filesystem::path& archive : request.archives)
        if (!std::filesystem::exists(archive, ignored))
            return makeError(Errc::NotFound, say(Msg::NoRuntimeFile, archive.string()));

    std::vector<std::string> arguments = sharedObjectArguments();
    const auto hold = [&](const char* name, std::span<const std::byte> bytes) -> Result<> {
        LATHE_TRY_ASSIGN(std::string path, linker.hold(name, bytes));
        arguments.push_back(std::move(path));
        return {};
    };
    const std::string script = versionScript(request.exports);
    LATHE_TRY_ASSIGN(const std::string scriptFile, linker.hold("exports", std::as_bytes(std::span(script))));
    arguments.insert(arguments.end(), {"--version-script=" + scriptFile, "--strip-debug", "-soname=" + request.name,
                                       "-o", request.output.string()});
    for (const std::vector<std::byte>& object : request.objects)
        LATHE_TRY(hold("object", object));
    if (!request.sections.empty()) {
        LATHE_TRY_ASSIGN(const std::vector<std::byte> sections, makeSectionObject(request.sections, machine));
        LATHE_TRY(hold("sections", sections));
    }
    for (const BinarySection& section : request.sections)
        if (!section.file.empty()) {
            LATHE_TRY(completeSectionFile(section, machine));
            arguments.push_back(section.file.string());
        }
    arguments.emplace_back("--whole-archive");
    for (const std::filesystem::path& archive : request.archives)
        arguments.push_back(archive.string());
    arguments.emplace_back("--no-whole-archive");
    // Before glibc 2.34 threads were a library of their own: the library asks for it, wherever it was linked.
    LATHE_TRY_ASSIGN(const std::filesystem::path libc, findLibrary(machine, "libc.so.6"));
    LATHE_TRY_ASSIGN(const std::filesystem::path threads, findLibrary(machine, "libpthread.so.0"));
    LATHE_TRY_ASSIGN(const std::filesystem::path maths, findLibrary(machine, "libm.so.6"));
    arguments.insert(arguments.end(),
                     {"--no-as-needed", threads.string(), libc.string(), "--as-needed", maths.string()});
    if (request.archives.size() > 1) { // drivers open libraries, by functions that had one of their own before, too
        LATHE_TRY_ASSIGN(const std::filesystem::path loading, findLibrary(machine, "libdl.so.2"));
        arguments.insert(arguments.end(), {"--no-as-needed", loading.string()});
    }
    LATHE_TRY(checkRoom(request));
    return linker.run(arguments);
}

std::vector<std::string> sharedObjectArguments()
{
    return {"-shared",         "--gc-sections",    "-z", "defs", "-z", "now", "-z", "noexecstack",
            "--build-id=none", "--hash-style=gnu", "-O1"};
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

} // namespace lathe::backend
