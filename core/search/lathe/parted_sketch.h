#pragma once

#include "core/search/search_task.h"
#include "core/search/sketch.h"
#include "core/support/random.h"

#include <span>

namespace lathe::search {

/// A sketch whose genome falls into parts, one for each loop nest of its kernel, that do not restrict each other, and
/// of which everything that a search asks is known without lowering. Immutable; shared between threads.
class PartedSketch : public Sketch
{
public:
    /// Estimated seconds and the cost model's feature row.
    struct Analysis
    {
        double seconds = 0;
        std::vector<float> features; ///< kLatheFeatures
    };
    /// Errors: IllegalSchedule, with the limit that is broken.
    virtual Result<Analysis> analyse(const Genome& genome) const = 0;

    struct Genes
    {
        std::size_t first, count;
    };
    virtual std::size_t partCount() const = 0;
    virtual Genes genesOf(std::size_t part) const = 0;
    /// Estimated seconds of one part. Errors: IllegalSchedule.
    virtual Result<double> secondsOf(std::size_t part, std::span<const std::int32_t> genes) const = 0;
    /// Random genes of one part that obey all limits; false: none were found.
    virtual bool draw(std::size_t part, Random& random, std::span<std::int32_t> genes) const;

protected:
    using Sketch::Sketch;
};

/// Which operations of an alternative's DAG are constants.
std::vector<bool> constantOps(const SearchAlternative& alternative);
/// A feature whose octaves count: log2(|x| + 1).
float loggedFeature(double x);

} // namespace lathe::search
