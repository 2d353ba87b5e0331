#pragma once

#include "core/graph/graph.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::graph {

/// A pass. Networks without those that can be left out are right, and slower.
struct PassInfo
{
    std::string_view name; ///< "fold-scale-axis"
    std::string_view what; ///< a sentence
    bool needed = false; ///< it cannot be left out: what it takes apart has no kernels
};

/// Those of optimize(), of Lathe's own partition and of fusion, in the order in which they run first.
std::span<const PassInfo> allPasses();

/// How many nodes of one operator a pass took away, brought, or left in place with other attributes or operands. Nodes
/// are told apart by their names.
struct OpChange
{
    std::string op;
    std::int32_t removed = 0, added = 0, changed = 0;
};

/// One run of a pass.
struct PassRun
{
    std::string pass;
    bool leftOut = false;
    double seconds = 0;
    std::int64_t before = 0, after = 0; ///< nodes; of passes that fuse: functions
    bool fuses = false;
    std::vector<OpChange> changes; ///< by name of the operator; none of passes that fuse
};

/// "fold-scale-axis: 0.8 ms, 20 nodes fewer (156): removed 20 multiply; changed 20 conv2d"
std::string describe(const PassRun& run);

/// What changed from one graph to another.
std::vector<OpChange> changesOf(const Graph& before, const Graph& after);

using Groups = std::vector<std::vector<NodeId>>;

/// What every pass goes through: those that are not wanted are left out; each is timed, its graph verified, and what it
/// changed is noted. A value of one import; not for several threads.
class PassRunner
{
public:
    PassRunner() = default; ///< leaves nothing out
    /// Errors: InvalidArgument for a name that is no pass, or of one that is needed; it lists the others.
    static Result<PassRunner> without(std::vector<std::string> passes);

    /// Changes the graph, and each body of its control flow likewise. Errors: those of `graph` and of the pass, which
    /// is named; Internal if the pass leaves an unsound graph.
    Result<Graph> run(std::string_view pass, Result<Graph> graph, const std::function<Result<Graph>(Graph)>& change);
    /// A pass that joins groups.
    Groups run(std::string_view pass, Groups groups, const std::function<Groups(Groups)>& change);

    bool leavesOut(std::string_view pass) const;
    const std::vector<PassRun>& runs() const { return m_runs; }

private:
    std::vector<std::string> m_without;
    std::vector<PassRun> m_runs;
};

} // namespace lathe::graph
