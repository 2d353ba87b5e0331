#pragma once

#include "core/record/record.h"
#include "core/store/project.h"
#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::session {

/// Where a package's records come from.
struct PackageSource
{
    std::string model, hash; ///< as the project names it; of its contents
    std::string project; ///< file name, without its folder
    std::int64_t tasks = 0; ///< that have a record in the package
};

/// The best records of several networks for one target and one class of devices, in a file that is passed on: a line of
/// JSON with what it is, then a line for each record (record_json.h). The first line has the content hash of all that
/// follows, so that what was cut or changed is told.
struct Package
{
    std::string target; ///< text of the target that the records are for
    std::string deviceKey, deviceName; ///< who measured them
    std::int64_t madeMs = 0; ///< UNIX
    std::string build; ///< of the Lathe that made it
    std::vector<PackageSource> sources;
    std::vector<std::string> taskNames; ///< parallel to the records, for people
    std::vector<Record> records; ///< the best of each task
};

inline constexpr int kPackageVersion = 1;
inline constexpr const char* kPackageEnding = ".lathepackage";

/// Of the projects' best verified records for a target; of its device keys the one that has most tasks, or `deviceKey`.
/// Errors: NotFound (no such record), those of reading projects.
Result<Package> collectPackage(std::span<const std::filesystem::path> projects, const std::string& target,
                               const std::string& deviceKey = {});
/// Errors: StoreFailed, InvalidArgument (no such folder).
Result<> writePackage(const Package& package, const std::filesystem::path& file);
/// Errors: NotFound; BadFile (no package, damaged); Unsupported (of a later version).
Result<Package> readPackage(const std::filesystem::path& file);
/// The same of a file's contents; its name is for errors.
Result<Package> packageOf(std::string_view text, const std::filesystem::path& file);

/// Adds its records to a project, for tasks of its networks, as imported ones: they are no candidates for an export
/// before they were measured again. Those that it has are skipped. Returns how many were added. Errors: StoreFailed.
Result<std::int64_t> addPackage(const Package& package, store::Project& to);

/// The folder that packages are looked for in, beside PREFIX/share/lathe/packages: ~/.local/share/lathe/packages, or as
/// XDG_DATA_HOME says. Nothing is ever fetched from elsewhere.
std::filesystem::path packageFolder();
/// All of both folders, by name, with why those that cannot be read cannot.
std::vector<std::pair<std::filesystem::path, Result<Package>>> installedPackages();
/// Those of them for the target; what cannot be read is passed over.
std::vector<std::pair<std::filesystem::path, Package>> packagesFor(const std::string& target);

} // namespace lathe::session
