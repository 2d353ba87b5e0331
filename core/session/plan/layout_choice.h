#pragma once

#include "core/session/layout_part.h"

#include <cstdint>
#include <functional>
#include <string>

namespace lathe::session {

/// How the layouts of a network are chosen, where records differ in them (autotvm.md 12).
struct LayoutChoice
{
    /// "auto", "dp", "pbqp" (graph::plan::Solver), or "off": each task takes its fastest record, and what lies in
    /// between is converted.
    std::string tuner = "auto";
    std::int32_t mostCandidates = 20; ///< of each task: the reference's max_sch_num
    std::int64_t conversionRuns = 100; ///< that a conversion is timed in: its min_exec_num
    /// False: what was not measured yet is guessed from what was, or from the bytes that are moved. For views, which
    /// must not wait.
    bool measures = true;
    std::function<void(PlanStep)> told = {}; ///< how far it has come; null: nobody wants to know
};

/// What an export's options say of it.
inline LayoutChoice layoutChoiceOf(const CompileOptions& options)
{
    return {options.graphTuner, options.mostCandidates, options.conversionRuns, true, {}};
}

} // namespace lathe::session
