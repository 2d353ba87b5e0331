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

    Result<std::vector<schedule::Step>> instantiate(const Genome& genome) const override;
    Genome settled(Genome genome) const override;
    Result<Analysis> analyse(const Genome& genome) const override;
    std::size_t partCount() const override { return m_parts.size(); }
    Genes genesOf(std::size_t part) const override { return {m_parts[part].firstGene, m_parts[part].genes}; }
    Result<double> secondsOf(std::size_t part, std::span<const std::int32_t> genes) const override;
    bool draw(std::size_t part, Random& random, std::span<std::int32_t> genes) const override;

    LaunchForm form() const { return m_form; }
    struct Part
    {
        std::int32_t op; ///< owner
        std::size_t firstGene, genes;
        std::unique_ptr<LaunchPart> nest;
    };
    const std::vector<Part>& parts() const { return m_parts; } ///< owners descending

private:
    LaunchSketch(std::string name, const SearchAlternative& alternative, const LaunchMachine& machine, LaunchForm form);
    Result<> addParts();
    void addPart(std::int32_t op, std::unique_ptr<LaunchPart> nest);
    bool isBorderCopied(std::int32_t op, const Genome& genome) const;

    LaunchMachine m_machine;
    LaunchForm m_form;
    compute::Analysis m_analysis;
    NestPlan m_plan;
    std::vector<bool> m_constantOps;
    std::vector<Part> m_parts;
};

/// A sketch for each alternative and form that the rules can schedule. Errors: Unsupported when there is none.
Result<std::vector<std::shared_ptr<const PartedSketch>>> latheLaunchSketches(const SearchTask& task);

} // namespace lathe::search
