#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::search {
struct HeadStart;
}

namespace lathe::session {

/// TuneOptions::headStart of a run that uses none.
inline constexpr std::string_view kNoHeadStart = "none";
/// Key of a stored run's options that names the bytes it began with; absent: none.
inline constexpr const char* kHeadStartHash = "head_start_hash";

/// The head start that is installed for such targets, PREFIX/share/lathe/head_start/NAME.headstart with the name that
/// their back end gives (BackendTraits::headStart): cpu-x86_64, sim. Empty: there is none, or the text is no target.
std::filesystem::path installedHeadStart(const std::string& target);

/// All that are installed, by name.
std::vector<std::filesystem::path> installedHeadStarts();

/// A head start as a run uses it: its bytes say what it is, wherever they lie.
struct HeadStartBytes
{
    std::string name; ///< of the file
    std::string bytes;
    std::string hash; ///< of the bytes
};
/// Errors: NotFound, BadFile, with the file's name.
Result<HeadStartBytes> loadHeadStart(const std::filesystem::path& file);
/// The same, with what is in it. Errors: also BadFile and Incompatible for what no run can begin with, with the file's
/// name.
Result<HeadStartBytes> loadHeadStart(const std::filesystem::path& file, search::HeadStart& contents);
/// Whether a run could begin with the file. Errors: as of loadHeadStart with contents.
Result<> checkHeadStart(const std::filesystem::path& file);

struct MakeHeadStart
{
    std::vector<std::filesystem::path> projects;
    /// MODELs or projects: no task that one of these has comes into the head start.
    std::vector<std::string> without;
    std::int32_t candidates = 4; ///< of a task at most, and the best of each further algorithm
    std::int32_t rows = 64; ///< of training data for a task, at most
};

struct HeadStartReport
{
    std::size_t tasks = 0, candidates = 0, rows = 0;
    std::uintmax_t bytes = 0;
    std::vector<std::string> leftOut; ///< names of the tasks that a network of `without` has
    std::map<std::string, std::int64_t> skipped; ///< records by reason
};

/// Makes a head start of what the search found for the models of projects (core/search/head_start.h) and writes it. A
/// task that several have comes from where it has the most trials. The training data depends on the target's limits
/// (`cpu`: this machine's), so make the head start where the projects were tuned, or from projects whose targets name
/// their CPU. Blocks. Errors: NotFound (no trials of policy sketch are left), those of reading projects and models, of
/// writing the file; Cancelled.
Result<HeadStartReport> makeHeadStart(const MakeHeadStart& options, const std::filesystem::path& output,
                                      const std::function<void(std::string_view)>& progress, std::stop_token stop);

} // namespace lathe::session
