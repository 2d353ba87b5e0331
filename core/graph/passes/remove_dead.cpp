#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

namespace lathe::graph {

Result<Graph> removeDead(Graph graph)
{
    return compact(graph);
}

} // namespace lathe::graph
