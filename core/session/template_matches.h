#pragma once

#include "core/session/loaded_model.h"
#include "core/templates/log_line.h"
#include "core/templates/task_template.h"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

/// Which tasks of a network a line of the template tuner's log is for. Tasks that differ in the operators behind a
/// convolution have one workload: what was measured for it is for all of them.
class TemplateMatches
{
public:
    using Match = std::pair<const graph::Task*, templates::TaskTemplate>;

    /// The model must outlive it.
    explicit TemplateMatches(const LoadedModel& model);

    /// Errors, each the reason why a line is passed over: Unsupported (no template of this name, or none that is turned
    /// into code), NotFound (no task has the workload).
    Result<std::span<const Match>> of(const templates::TemplateTrial& trial) const;
    /// Of a key with plain layouts; empty: no task has it.
    std::span<const Match> ofWorkload(const std::string& workload) const;
    /// Null: no template that is turned into code made it, or its task is of another network.
    const templates::TaskTemplate* of(const Candidate& candidate) const;

private:
    std::map<std::string, std::vector<Match>> m_byWorkload; ///< templates::workloadKey()
};

} // namespace lathe::session
