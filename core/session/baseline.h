#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::store {
class RecordReader;
}

namespace lathe::session {

/// What figures are taken from: a project, one run of it, how it stood at a time, or what one kind of device measured.
/// Zeros and empty fields do not restrict.
struct Baseline
{
    std::filesystem::path project;
    std::int64_t run = 0;
    std::int64_t untilMs = 0; ///< UNIX: what was recorded up to then
    std::int64_t model = 0; ///< of a project with several; 0: what was tuned last
    std::string device = {}; ///< DeviceChoice::device, or one of its keys
    friend bool operator==(const Baseline&, const Baseline&) = default;
};

/// "P.lathe[,run=N][,until=2026-01-31[T18:00[:05]]][,model=N][,device=KEY]"; a date without a time means the end of
/// that day; times are local. Errors: InvalidArgument.
Result<Baseline> parseBaseline(std::string_view text);
std::string toString(const Baseline& baseline);

/// A run that a project holds, to choose from.
struct RunChoice
{
    std::int64_t run = 0, model = 0;
    std::string modelName, target, state;
    std::int64_t startedMs = 0;
    double activeSeconds = 0;
};
/// A class of equal devices that runs of a project measured on.
struct DeviceChoice
{
    std::string device; ///< DeviceIdentity::key
    std::string name; ///< as the device calls itself
    std::vector<std::string> keys; ///< by which runs asked for such devices at a broker
    std::vector<std::int64_t> runs;
    bool isCalled(const std::string& word) const;
};
/// How people call one of these: by its key at a broker, where it has one that is no other's.
std::string calledOf(const DeviceChoice& device, const std::vector<DeviceChoice>& all);
/// In the order of their first runs.
Result<std::vector<DeviceChoice>> listDevices(const std::filesystem::path& file);
Result<std::vector<DeviceChoice>> devicesIn(const store::RecordReader& reader);
/// Oldest first.
Result<std::vector<RunChoice>> listRuns(const std::filesystem::path& project);

} // namespace lathe::session
