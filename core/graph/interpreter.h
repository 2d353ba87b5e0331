#pragma once

#include "core/graph/operator.h"

#include <optional>
#include <span>
#include <vector>

namespace lathe::graph {

/// Evaluates a graph by the operators' plain evaluation, if need be many times. Bodies of control flow are run by one
/// of their own.
class Interpreter
{
public:
    enum class Constants
    {
        Dropped, ///< behind their last use, as everything else: networks have gigabytes of them
        Kept ///< for the next run
    };

    /// `graph` must outlive it.
    Interpreter(const Graph& graph, Constants constants);

    /// `inputs` in the order of graph.inputs; returns the outputs. Errors: InvalidArgument for inputs of other types,
    /// those of the operators.
    Result<std::vector<HostTensor>> run(std::span<const HostTensor* const> inputs);

private:
    struct Slot
    {
        const HostTensor* tensor = nullptr; ///< of the caller, in `own`, or null
        std::optional<HostTensor> own;
    };
    Result<> makeReady(ValueId id);
    void drop(ValueId id);

    const Graph& m_graph;
    const bool m_keepsConstants;
    std::vector<Slot> m_slots; ///< by value
    std::vector<std::int32_t> m_uses; ///< by value: reads that are still to come
};

} // namespace lathe::graph
