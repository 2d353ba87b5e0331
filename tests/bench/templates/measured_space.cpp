#include "tests/bench/templates/tuned_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <unordered_map>

namespace lathe::bench {

Result<TunedSpace> readMeasuredSpace(const std::string& path, const templates::TemplateFacts& facts)
{
    std::ifstream file(path);
    if (!file)
        return makeError(Errc::NotFound, fmt::format("{} cannot be read", path));
    std::string line;
    std::getline(file, line);
    LATHE_TRY_ASSIGN(const templates::Workload workload, templates::workloadFromKey(line));
    TunedSpace tuned;
    LATHE_TRY_ASSIGN(tuned.space, templates::spaceOf(workload, facts));
    tuned.name = path.substr(path.find_last_of('/') + 1);

    const auto times = std::make_shared<std::unordered_map<std::uint64_t, double>>();
    tuned.best = std::numeric_limits<double>::infinity();
    for (int number = 2; std::getline(file, line); ++number) {
        if (line.empty())
            continue;
        std::istringstream words(line);
        std::uint64_t index = 0;
        std::string seconds;
        if (!(words >> index >> seconds) || index >= tuned.space.size())
            return makeError(Errc::BadFile, fmt::format("line {} of {} is no configuration of {} and its seconds",
                                                        number, path, tuned.space.size()));
        const double time = std::strtod(seconds.c_str(), nullptr);
        (*times)[index] = time > 0 ? time : std::numeric_limits<double>::infinity();
        tuned.best = std::min(tuned.best, (*times)[index]);
    }
    tuned.seconds = [times](std::uint64_t index) {
        const auto found = times->find(index);
        return found == times->end() ? std::numeric_limits<double>::infinity() : found->second;
    };
    return tuned;
}

} // namespace lathe::bench
