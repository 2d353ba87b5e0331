#pragma once

#include "core/session/options/options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::session {

/// How candidates are found, and for which tasks: of TuneOptions what a person picks together.
struct SearchChoice
{
    std::string policy = policy::kDefaultPolicy;
    std::string tuner; ///< empty: the preset's, else the default
    std::vector<std::string> tunerSettings; ///< "pop_size=50"
    std::string preset; ///< empty: none
    std::vector<std::string> operators, tasks; ///< that alone are tuned; empty: all
    std::int64_t earlyStopPerTask = 0;
    friend bool operator==(const SearchChoice&, const SearchChoice&) = default;
};

SearchChoice searchOf(const TuneOptions& options);
/// Sets the choice's fields alone, which have the names of the options'.
void putSearch(TuneOptions& options, const SearchChoice& choice);

/// The options with this choice, and what its preset sets. What another preset or policy had brought into them goes:
/// nobody asked for it by itself.
TuneOptions withSearch(TuneOptions options, const SearchChoice& choice);

/// What a preset sets, as the command line says it: {"--trials-per-task", "2000", ...};
/// empty: there is no such preset.
std::vector<std::string> presetWords(const std::string& preset);

} // namespace lathe::session
