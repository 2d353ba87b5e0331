#pragma once

#include "core/search/lathe/nest_part.h"
#include "core/search/lathe/parted_sketch.h"
#include "core/search/search_task.h"

namespace lathe::search {

struct WinogradStages;

/// Number of values in Lathe's feature row of a program.
inline constexpr std::int32_t kLatheFeatures = 47;
/// Counted up whenever a value comes to mean something else: trials that others described by the old ones teach
/// nothing.
inline constexpr std::int32_t kLatheFeatureVersion = 1;
/// Their names, for display.
const std::vector<std::string>& latheFeatureNames();

/// Which of its algorithm's loop structures a sketch is.
enum class LatheForm : std::uint8_t
{
    Phases, ///< one phase per nest
    Blocks, ///< winograd by blocks (winograd_part.h)
    Rows ///< all of the DAG by rows (rows_part.h)
};

/// A whole candidate by Lathe's rules for CPUs: phases, each with its own choices. All is known in closed form.
class LatheSketch final : public PartedSketch
{
public:
    /// Errors: Unsupported, with the operation that the rules have no loops for, or if the form is not for this
    /// alternative.
    static Result<std::shared_ptr<const LatheSketch>> create(const SearchAlternative& alternative,
                                                             const Hardware& hardware,
                                                             LatheForm form = LatheForm::Phases);

    Result<Analysis> analyse(const Genome& genome) const override;
    const NestPart& nest(std::size_t part) const { return partAs<NestPart>(part); }

private:
    LatheSketch(std::string name, const SearchAlternative& alternative, const Hardware& hardware);
    void takeIn(const WinogradStages& stages);
    void emitBorder(StepEmitter& emitter, std::int32_t op) const override;

    Machine m_machine;
    double m_algorithm = 0; ///< 0 direct, m of winograd
};

/// A sketch per alternative and form that the rules can schedule. Errors: Unsupported when there is none.
Result<std::vector<std::shared_ptr<const LatheSketch>>> latheCpuSketches(const SearchTask& task);

} // namespace lathe::search
