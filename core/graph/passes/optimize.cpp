#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"

namespace lathe::graph {

Result<Graph> optimize(Graph graph, const Target&, PassRunner& passes)
{
    LATHE_TRY(verify(graph));
    Result<Graph> g = inferTypes(std::move(graph));
    // Batch norms become arithmetic; what depends on parameters alone becomes a constant.
    g = passes.run("simplify-inference", std::move(g), simplifyInference);
    g = passes.run("eliminate-common-subexpressions", std::move(g), eliminateCommonSubexpressions);
    g = passes.run("fold-constants", std::move(g), foldConstants);
    // Before canonicalization: it knows biases as such, and constants have been computed.
    g = passes.run("fold-scale-axis", std::move(g), foldScaleAxis);
    g = passes.run("simplify-expressions", std::move(g), simplifyExpressions);
    g = passes.run("canonicalize-operators", std::move(g), canonicalizeOperators);
    // Again: biases are adds now, and some have a batch norm's shift behind them.
    g = passes.run("simplify-expressions", std::move(g), simplifyExpressions);
    g = passes.run("fold-padding", std::move(g), foldPadding);
    g = passes.run("fold-constants", std::move(g), foldConstants);
    return g ? inferTypes(*std::move(g)) : std::move(g);
}

Result<Graph> optimize(Graph graph, const Target& target)
{
    PassRunner passes;
    return optimize(std::move(graph), target, passes);
}

Result<Graph> prepare(Graph graph, const Target& target, std::string_view layout, std::string_view partition,
                      PassRunner& passes)
{
    Result<Graph> g = std::move(graph);
    if (!layout.empty())
        g = passes.run("convert-layout", std::move(g),
                       [&](Graph old) { return convertLayout(std::move(old), layout); });
    if (g)
        g = optimize(*std::move(g), target, passes);
    if (partition == "lathe") {
        g = passes.run("sink-reshapes", std::move(g), sinkReshapes);
        g = passes.run("scale-weights", std::move(g), scaleWeights);
    }
    return g;
}

} // namespace lathe::graph
