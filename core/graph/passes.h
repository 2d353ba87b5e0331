#pragma once

#include "core/graph/graph.h"
#include "core/graph/operator.h"
#include "core/target/target.h"

namespace lathe::graph {

class PassRunner;

/// Each pass takes a verified graph with inferred types and returns another; named for what it does. It leaves bodies
/// alone: the pass runner takes it to them.
/// Order and meaning: model-zoo.md 7 and auto-scheduler.md 2.1-2.3.
Result<Graph> inferTypes(Graph graph); ///< fills every value's dtype and shape from the registry, in bodies too
/// What depends on constants alone, control flow apart; constants that bodies capture go into them.
Result<Graph> foldConstants(Graph graph);
Result<Graph> simplifyInference(Graph graph); ///< batch norm to multiply and add, dropout away
Result<Graph> foldScaleAxis(Graph graph); ///< backward, forward, constants
Result<Graph> simplifyExpressions(
    Graph graph); ///< neutral elements, chains of reshapes, transposes and constant operands
/// bias_add to add of a full-rank bias, matmul by a constant to dense, split to slices, constants to the right and to
/// full rank.
Result<Graph> canonicalizeOperators(Graph graph);
Result<Graph> foldPadding(Graph graph); ///< zero padding before a convolution goes into it
Result<Graph> removeDead(Graph graph);
Result<Graph> eliminateCommonSubexpressions(Graph graph);
/// "NHWC" or "NCHW": converts convolutions and what adopts their layout; memoised transposes at the borders, cancelled
/// in pairs.
Result<Graph> convertLayout(Graph graph, std::string_view layout);

/// For Lathe's own partition: reshapes behind a kernel go behind the elementwise work that follows them, so that it can
/// be fused; movement in front of several slices is done by each slice for its part.
Result<Graph> sinkReshapes(Graph graph);

/// For Lathe's own partition: an image that is scaled by channel before a pointwise convolution stays as it is, the
/// weights are scaled instead, where they are fewer. It is what foldScaleAxis does with constants, and rounds alike.
Result<Graph> scaleWeights(Graph graph);

/// What both partitions want of a graph, for a target: a table of contents of the passes above.
Result<Graph> optimize(Graph graph, const Target& target);
Result<Graph> optimize(Graph graph, const Target& target, PassRunner& passes);

/// All between import and partition(): the layout, if one is wanted ("NHWC", "NCHW"), optimize(), and what the
/// partition asks for ("reference", "lathe").
Result<Graph> prepare(Graph graph, const Target& target, std::string_view layout, std::string_view partition,
                      PassRunner& passes);

/// Evaluates the whole graph with the operators' plain evaluation: the reference executor of `verify`.
/// inputs in the order of graph.inputs; returns the outputs. Needs no schedule, lowering or plugin.
Result<std::vector<HostTensor>> interpret(const Graph& graph, std::vector<HostTensor> inputs);

} // namespace lathe::graph
