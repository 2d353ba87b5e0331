#include "core/deploy/runtime_archive.h"

#include "core/support/files.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <string_view>

namespace lathe::deploy {

namespace {

struct Machine
{
    std::string_view name;
    std::string_view compiler; ///< Debian's package of its cross compiler
};
constexpr Machine kMachines[] = {{"x86_64", "g++-x86-64-linux-gnu"}, {"aarch64", "g++-aarch64-linux-gnu"}};

/// MACHINE[-VENDOR]-linux[-gnu]
bool isGnuLinux(std::string_view triple)
{
    return triple.ends_with("-linux-gnu") || triple.ends_with("-linux");
}

} // namespace

Result<std::filesystem::path> findRuntimeArchive(const std::string& machine)
{
    const Machine* known = nullptr;
    for (const Machine& candidate : kMachines)
        if (machine == candidate.name)
            known = &candidate;
    if (known == nullptr)
        return makeError(Errc::Unsupported, say(Msg::ExportOtherMachine, machine));
    const std::filesystem::path archive = installPrefix() / "lib" / "lathe" / "runtime" / (machine + "-linux-gnu")
                                          / "liblathe_runtime.a";
    std::error_code error;
    if (std::filesystem::exists(archive, error))
        return archive;
    if (machine == thisMachine())
        return makeError(Errc::NotFound, say(Msg::NoRuntimeArchive, archive.string()));
    return makeError(Errc::Unsupported, say(Msg::NoCrossCompiler, machine, known->compiler));
}

Result<std::filesystem::path> findDriverArchive(const std::string& kind, const std::string& machine)
{
    LATHE_TRY_ASSIGN(const std::filesystem::path runtime, findRuntimeArchive(machine));
    const std::filesystem::path archive = runtime.parent_path() / fmt::format("liblathe_{}.a", kind);
    std::error_code error;
    if (!std::filesystem::exists(archive, error))
        return makeError(Errc::NotFound, say(Msg::NoDriverArchive, kind, archive.string()));
    return archive;
}

Result<> checkExportable(const Target& target)
{
    if (!target.traits().libraries)
        return makeError(Errc::Unsupported, say(Msg::NoLibrariesOf, target.kind()));
    for (const char* word : {"mtriple", "host"})
        if (const auto triple = target.attribute(word); triple && !isGnuLinux(*triple))
            return makeError(Errc::Unsupported, say(Msg::ExportNoGlibc, *triple));
    if (const std::string& other = target.traits().standsFor; !other.empty()) {
        LATHE_TRY_ASSIGN(const Target made, Target::parse(other));
        return checkExportable(made);
    }
    if (target.traits().form == KernelForm::Launches)
        LATHE_TRY(findDriverArchive(target.kind(), target.machine()));
    else
        LATHE_TRY(findRuntimeArchive(target.machine()));
    return {};
}

} // namespace lathe::deploy
