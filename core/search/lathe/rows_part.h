#pragma once

#include "core/search/lathe/nest_part.h"

#include <optional>

namespace lathe::search {

/// A DAG that works by rows, such as softmax or layer norm: everything has the rows of the output, and reductions run
/// along them.
struct RowStages
{
    std::int32_t owner = -1; ///< the output: one value per element
    std::vector<std::int32_t> sums; ///< reductions of a row to a value, in order
    std::vector<std::int32_t> kept; ///< further operations whose values are kept while a row is worked on, in order
    std::int64_t rows = 1, length = 1;
};

/// Nothing where the DAG does not work by rows.
std::optional<RowStages> findRows(const compute::Analysis& analysis);

/// Leaves one nest for all: what is neither kept nor reduced is computed where it is read.
void takeRowsIn(NestPlan& plan, const RowStages& stages);

/// One phase for all of a DAG that works by rows: a row is read, reduced and written while it is in the nearest cache.
///
/// Owner's loops: rows (fused, shared out) | vectors of the row, lanes
///                 at a row: what is kept, by vectors; reductions, by one sum per lane (and per vector of a block),
///                 then over these
class RowsPart final : public NestPart
{
public:
    RowsPart(const NestContext& context, const RowStages& stages);

    std::vector<Parameter> parameters() const override;
    Result<NestFacts> facts(std::span<const std::int32_t> genes) const override;
    void emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const override;

private:
    enum Gene
    {
        Lanes,
        Sums, ///< vectors of sums that a reduction has in flight
        Vectors, ///< of a block in the loops over elements
        Parallel, ///< 0: one thread
        GeneCount
    };
    struct Choice
    {
        std::int64_t lanes, sums, vectors, parallel;
    };
    Choice decode(std::span<const std::int32_t> genes) const;
    void emitElements(std::int32_t op, const Choice& c, StepEmitter& emitter) const;
    void emitSum(std::int32_t op, const Choice& c, StepEmitter& emitter) const;

    Machine m_machine;
    const compute::Dag& m_dag;
    RowStages m_stages;
    std::vector<std::int64_t> m_values[GeneCount];
    double m_operations = 0; ///< calls and divisions of an element of a row
    double m_bytes = 0;
};

} // namespace lathe::search
