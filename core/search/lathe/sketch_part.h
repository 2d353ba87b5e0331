#pragma once

#include "core/search/lathe/step_emitter.h"
#include "core/search/sketch.h"
#include "core/support/random.h"

#include <span>
#include <vector>

namespace lathe::search {

/// The open choices of one loop nest of a kernel, their steps and their estimate. Immutable.
class SketchPart
{
public:
    SketchPart() = default;
    virtual ~SketchPart() = default;
    SketchPart(const SketchPart&) = delete;
    SketchPart& operator=(const SketchPart&) = delete;

    virtual std::vector<Parameter> parameters() const = 0;
    /// The estimate. Errors: IllegalSchedule with the limit that is broken. Cheap: called for every sampled genome.
    virtual Result<double> seconds(std::span<const std::int32_t> genes) const = 0;
    /// Random genes that obey all limits; false: none were found.
    virtual bool draw(Random& random, std::span<std::int32_t> genes) const;
    /// Sets genes that make no difference beside the others to the least value of the same effect. Genes obey all
    /// limits, here and below.
    virtual void settle(std::span<std::int32_t>) const {}
    virtual void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const = 0;
    /// Whether the padding that this nest reads is computed on its own.
    virtual bool copiesBorder(std::span<const std::int32_t>) const { return false; }
};

} // namespace lathe::search
