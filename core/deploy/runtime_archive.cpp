#include "core/deploy/runtime_archive.h"

#include "core/support/files.h"

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
        return makeError(Errc::Unsupported, fmt::format("libraries can be exported for x86_64 and aarch64, not for '{}'", machine));
    const std::filesystem::path archive = installPrefix() / "lib" / "lathe" / "runtime" / (machine + "-linux-gnu") / "liblathe_runtime.a";
    std::error_code error;
    if (std::filesystem::exists(archive, error))
        return archive;
    if (machine == thisMachine())
        return makeError(Errc::NotFound, fmt::format("the runtime that libraries are linked with is not at '{}'", archive.string()));
    return makeError(Errc::Unsupported, fmt::format("this Lathe was built without what libraries for {} are linked with: install the package {} and build it again", machine, known->compiler));
}

Result<> checkExportable(const Target& target)
{
    if (!target.traits().libraries)
        return makeError(Errc::Unsupported, fmt::format("libraries can be exported for CPUs; the target is {}", target.kind()));
    if (const auto triple = target.attribute("mtriple"); triple && !isGnuLinux(*triple))
        return makeError(Errc::Unsupported, fmt::format("libraries are made for Linux with glibc (MACHINE-linux-gnu), not for '{}'", *triple));
    LATHE_TRY(findRuntimeArchive(target.machine()));
    return {};
}

} // namespace lathe::deploy
