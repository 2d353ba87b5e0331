#pragma once

#include "core/session/views.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::session {

/// A knob of a template with the values that its trials had.
struct TriedKnob
{
    struct Value
    {
        std::string text; ///< "[-1, 8]"
        std::int64_t place = -1; ///< among the template's choices; -1: it is none of them
    };
    std::string name;
    std::vector<Value> values; ///< each once, in the order of the choices; those that are none of them come last
};

/// A configuration that was measured: one trial.
struct TriedConfig
{
    std::int64_t row = 0; ///< TrialRow::row
    std::string trial;
    std::int32_t origin = 0; ///< index into TemplateHistory::origins
    std::vector<std::int32_t> values; ///< parallel to TemplateTrials::knobs: index into their values
    double costMs = kUnknown; ///< unknown where it failed
    std::string code; ///< Errc, "Ok"
};

/// What was measured of one template for one task.
struct TemplateTrials
{
    std::string name; ///< TemplateView::name
    std::vector<TriedKnob> knobs; ///< in the template's order
    std::vector<TriedConfig> configs; ///< oldest first
};

/// The fastest valid record of one kind, as an export would compare it.
struct BestWay
{
    std::string name; ///< of the template, or of the sketch; empty: there is no such record
    std::string config; ///< of a template: "tile_ic [-1, 3], unroll_kw true"
    std::string trial;
    double costMs = kUnknown;
};

/// All that was measured of a task by templates. History::templateTrials().
struct TemplateHistory
{
    /// The targets that trials were measured for. The session's own is the first, whether it has trials or not; those
    /// of imported logs follow. Costs of different ones do not compare.
    std::vector<std::string> origins;
    std::vector<TemplateTrials> templates; ///< those that have trials
    /// Under the conditions from which the task takes its record; a replay has none.
    BestWay byTemplate, bySearch;
};

} // namespace lathe::session
