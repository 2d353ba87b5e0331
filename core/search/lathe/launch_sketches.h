#pragma once

#include "core/search/lathe/launch_part.h"
#include "core/search/lathe/parted_sketch.h"
#include "core/search/search_task.h"

namespace lathe::search {

/// Names of the values in the feature row of a candidate for a GPU. Rows are as wide as those of CPUs
/// (kLatheFeatures), so that one model serves both; what is left is 0.
const std::vector<std::string>& launchFeatureNames();

/// A whole candidate by Lathe's rules for GPUs: launches, each with its own choices. All is known in closed form, and
/// what breaks a limit of the device is refused before it is lowered.
class LaunchSketch final : public PartedSketch
{
public:
    /// Errors: Unsupported, with the operation that the rules have no loops for, or if the form is not for this
    /// alternative.
    static Result<std::shared_ptr<const LaunchSketch>> create(const SearchAlternative& alternative,
                                                              const Hardware& hardware, std::string_view family,
                                                              LaunchForm form);

    Result<Analysis> analyse(const Genome& genome) const override;

    LaunchForm form() const { return m_form; }
    const LaunchPart& nest(std::size_t part) const { return partAs<LaunchPart>(part); }

private:
    LaunchSketch(std::string name, const SearchAlternative& alternative, const LaunchMachine& machine, LaunchForm form);
    Result<> addParts();
    void emitBorder(StepEmitter& emitter, std::int32_t op) const override;

    LaunchMachine m_machine;
    LaunchForm m_form;
};

/// A sketch for each alternative and form that the rules can schedule. Errors: Unsupported when there is none.
Result<std::vector<std::shared_ptr<const PartedSketch>>> latheLaunchSketches(const SearchTask& task);

} // namespace lathe::search
