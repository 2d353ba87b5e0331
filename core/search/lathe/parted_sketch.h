#pragma once

#include "core/compute/analysis.h"
#include "core/search/lathe/nests.h"
#include "core/search/lathe/sketch_part.h"
#include "core/search/search_task.h"

#include <memory>
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

    Result<std::vector<schedule::Step>> instantiate(const Genome& genome) const final;
    Genome settled(Genome genome) const final;

    struct Genes
    {
        std::size_t first, count;
    };
    std::size_t partCount() const { return m_parts.size(); }
    Genes genesOf(std::size_t part) const { return m_parts[part].genes; }
    /// Estimated seconds of one part. Errors: IllegalSchedule.
    Result<double> secondsOf(std::size_t part, std::span<const std::int32_t> genes) const
    {
        return m_parts[part].nest->seconds(genes);
    }
    /// Random genes of one part that obey all limits; false: none were found.
    bool draw(std::size_t part, Random& random, std::span<std::int32_t> genes) const
    {
        return m_parts[part].nest->draw(random, genes);
    }

protected:
    PartedSketch(std::string name, const SearchAlternative& alternative);
    /// Errors: Unsupported, with the operation that the rules have no loops for.
    static Result<> checkOperations(const SearchAlternative& alternative);
    /// Of the nest of this operation; owners descending.
    void addPart(std::int32_t owner, std::unique_ptr<const SketchPart> nest);
    /// What the derived class added.
    template<typename Kind>
    const Kind& partAs(std::size_t part) const
    {
        return static_cast<const Kind&>(*m_parts[part].nest);
    }
    std::span<const std::int32_t> genesOf(std::size_t part, const Genome& genome) const;
    /// Padding that is computed on its own.
    virtual void emitBorder(StepEmitter& emitter, std::int32_t op) const = 0;

    const compute::Analysis& analysis() const { return m_analysis; }
    const std::vector<bool>& constantOps() const { return m_constantOps; } ///< by operation
    NestPlan& plan() { return m_plan; } ///< for who makes the sketch

private:
    struct Part
    {
        std::int32_t owner;
        Genes genes;
        std::unique_ptr<const SketchPart> nest;
    };
    bool isBorderCopied(std::int32_t op, const Genome& genome) const;

    compute::Analysis m_analysis;
    NestPlan m_plan;
    std::vector<bool> m_constantOps;
    std::vector<Part> m_parts;
};

/// A feature whose octaves count: log2(|x| + 1).
float loggedFeature(double x);

} // namespace lathe::search
