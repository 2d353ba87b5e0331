#pragma once

#include "core/search/lathe/parted_sketch.h"
#include "core/templates/task_template.h"

#include <memory>

namespace lathe::templates {

/// A space of configurations of a task that a tuner can search: of a template, or of a sketch.
class Tunable
{
public:
    virtual ~Tunable() = default;

    virtual const ConfigSpace& space() const = 0;
    /// What tells it from the others of the network: tasks of one name share what they find.
    virtual const std::string& workload() const = 0;
    /// Those of one kind learn from each other: the template's name, or the sketch's.
    virtual std::string_view kind() const = 0;
    /// Errors: why no steps can be made of it.
    virtual Result<Candidate> candidate(const Config& config) const = 0;
    /// Of kernels that are launches: whether the device can run it, exactly. Errors: what forbids it.
    virtual Result<> checkRunnable(const Config& config, const Hardware& hardware) const = 0;
    /// Nothing: another space's.
    virtual std::optional<Config> configOf(const Candidate& candidate) const = 0;
    /// Of configurations; must not outlive this. Empty: those that the space has by itself.
    virtual ConfigFeatures features(FeatureKind kind) const = 0;
};

/// Of each template that computes the task; none where there is none.
std::vector<std::shared_ptr<const Tunable>> templateTunables(const search::SearchTask& task);

/// Of each sketch of Lathe's: a knob is one of its open choices, with as many places as there are.
/// Errors: Unsupported, no sketch fits.
Result<std::vector<std::shared_ptr<const Tunable>>> sketchTunables(const search::SearchTask& task);

} // namespace lathe::templates
