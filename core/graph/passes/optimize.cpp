#include "core/graph/passes.h"

namespace lathe::graph {
namespace {

template<typename F>
Result<Graph> runPass(const char* name, Result<Graph> graph, const F& pass)
{
    if (!graph)
        return graph;
    Result<Graph> result = pass(*std::move(graph));
    if (!result)
        return std::move(result).error().note(name);
    if (auto sound = verify(*result); !sound)
        return makeError(Errc::Internal, sound.error().message).note(name);
    return result;
}

} // namespace

Result<Graph> optimize(Graph graph, const Target&)
{
    LATHE_TRY(verify(graph));
    Result<Graph> g = inferTypes(std::move(graph));
    // Batch norms become arithmetic; what depends on parameters alone becomes a constant.
    g = runPass("simplifying for inference", std::move(g), simplifyInference);
    g = runPass("eliminating common subexpressions", std::move(g), eliminateCommonSubexpressions);
    g = runPass("folding constants", std::move(g), foldConstants);
    // Before canonicalization: it knows bias_add, and constants have been computed.
    g = runPass("folding scales", std::move(g), foldScaleAxis);
    g = runPass("simplifying expressions", std::move(g), simplifyExpressions);
    g = runPass("canonicalizing operators", std::move(g), canonicalizeOperators);
    // Again: biases are adds now, and some have a batch norm's shift behind them.
    g = runPass("simplifying expressions", std::move(g), simplifyExpressions);
    g = runPass("folding padding", std::move(g), foldPadding);
    g = runPass("folding constants", std::move(g), foldConstants);
    return g ? inferTypes(*std::move(g)) : std::move(g);
}

} // namespace lathe::graph
