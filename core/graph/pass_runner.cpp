#include "core/graph/pass_runner.h"

#include "core/support/check.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <unordered_map>

namespace lathe::graph {
namespace {

constexpr PassInfo kPasses[] = {
    {"convert-layout", "Images in the wanted order of dimensions, channels last or first."},
    {"simplify-inference", "Batch norms become arithmetic, dropouts go.", true},
    {"eliminate-common-subexpressions", "Equal nodes become one."},
    {"fold-constants", "What depends on constants alone becomes a constant."},
    {"fold-scale-axis", "Scales by channel go into weights."},
    {"simplify-expressions", "Neutral elements go; chains of reshapes, transposes and constant operands become one."},
    {"canonicalize-operators", "Biases become sums, products with a constant matrix dense layers, splits slices.",
     true},
    {"fold-padding", "Zero padding before a convolution goes into it."},
    {"sink-reshapes", "Reshapes go behind the elementwise work that can join the kernel before them."},
    {"scale-weights", "Weights are scaled instead of an image that has more elements."},
    {"fuse", "Nodes that one kernel can compute are joined."},
    {"fuse-rows", "Functions that work on the same rows are joined."},
    {"fuse-inputs", "A transposition of an image of few channels joins the convolution that reads it."},
};

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What a node is apart from its name: two are equal if no pass touched it.
struct Looks
{
    std::string op;
    Attrs attrs;
    /// Each operand: its type, and the constant or the name of what makes it (a node's, with the number of its result,
    /// or an input's).
    std::vector<std::tuple<DType, std::vector<std::int64_t>, const ConstData*, std::string>> operands;
    friend bool operator==(const Looks&, const Looks&) = default;
};

/// Adds those of bodies too; `around` stands before the names of the nodes.
void addLooks(const Graph& graph, const std::string& around, std::unordered_map<std::string, Looks>& result)
{
    for (const Node& node : graph.nodes) {
        Looks looks{node.op, node.attrs, {}};
        for (const ValueId id : node.inputs) {
            if (!id.valid()) {
                looks.operands.emplace_back();
                continue;
            }
            const Value& value = graph.value(id);
            std::string source;
            if (value.producer.valid()) {
                const Node& producer = graph.node(value.producer);
                source = fmt::format("{}.{}", producer.name,
                                     std::ranges::find(producer.outputs, id) - producer.outputs.begin());
            } else if (!value.constant) {
                source = value.name;
            }
            looks.operands.emplace_back(value.dtype, value.shape, value.constant.get(), std::move(source));
        }
        result.emplace(around + node.name, std::move(looks));
        for (std::size_t k = 0; k < node.bodies.size(); ++k)
            addLooks(*node.bodies[k], fmt::format("{}{}/{}/", around, node.name, k), result);
    }
}

std::unordered_map<std::string, Looks> looksOf(const Graph& graph)
{
    std::unordered_map<std::string, Looks> result;
    addLooks(graph, {}, result);
    return result;
}

std::int64_t countNodes(const Graph& graph)
{
    auto count = static_cast<std::int64_t>(graph.nodes.size());
    for (const Node& node : graph.nodes)
        for (const auto& body : node.bodies)
            count += countNodes(*body);
    return count;
}

/// The graph, and then its bodies: so constants that came into one are folded with what it has.
Result<Graph> changed(Graph graph, const std::function<Result<Graph>(Graph)>& change)
{
    std::vector<std::string> names;
    for (std::size_t output = 0; output < graph.outputs.size(); ++output)
        names.push_back(graph.outputName(output));
    LATHE_TRY_ASSIGN(Graph result, change(std::move(graph)));
    result.outputNames = std::move(names); // whatever computes them now
    for (Node& node : result.nodes) {
        for (auto& body : node.bodies) {
            LATHE_TRY_ASSIGN(Graph inside, changed(*body, change));
            body = std::make_shared<const Graph>(std::move(inside));
        }
    }
    return result;
}

std::string listOf(const std::vector<OpChange>& changes, std::int32_t OpChange::*count, std::string_view verb)
{
    std::vector<std::string> parts;
    for (const OpChange& change : changes) {
        if (change.*count > 0)
            parts.push_back(fmt::format("{} {}", change.*count, change.op));
    }
    return parts.empty() ? std::string() : fmt::format("{} {}", verb, fmt::join(parts, ", "));
}

} // namespace

std::span<const PassInfo> allPasses()
{
    return kPasses;
}

std::vector<OpChange> changesOf(const Graph& before, const Graph& after)
{
    const auto was = looksOf(before);
    const auto is = looksOf(after);
    std::map<std::string, OpChange> byOp;
    for (const auto& [name, looks] : was) {
        const auto still = is.find(name);
        if (still == is.end() || still->second.op != looks.op)
            ++byOp[looks.op].removed;
        else if (still->second != looks)
            ++byOp[looks.op].changed;
    }
    for (const auto& [name, looks] : is) {
        const auto old = was.find(name);
        if (old == was.end() || old->second.op != looks.op)
            ++byOp[looks.op].added;
    }
    std::vector<OpChange> changes;
    for (auto& [op, change] : byOp) {
        change.op = op;
        changes.push_back(std::move(change));
    }
    return changes;
}

std::string describe(const PassRun& run)
{
    if (run.leftOut)
        return fmt::format("{}: left out", run.pass);
    const std::string_view things = run.fuses ? "functions" : "nodes";
    std::string text = fmt::format("{}: {:.1f} ms, ", run.pass, run.seconds * 1e3);
    if (run.before == run.after)
        text += fmt::format("{} {}", run.after, things);
    else
        text += fmt::format("{} {} of {} before", run.after, things, run.before);
    std::vector<std::string> parts;
    for (const auto& [count, verb] :
         {std::pair(&OpChange::removed, "removed"), {&OpChange::added, "added"}, {&OpChange::changed, "changed"}}) {
        if (std::string part = listOf(run.changes, count, verb); !part.empty())
            parts.push_back(std::move(part));
    }
    if (!parts.empty())
        text += fmt::format(": {}", fmt::join(parts, "; "));
    else if (run.before == run.after)
        text += ": nothing changed";
    return text;
}

Result<PassRunner> PassRunner::without(std::vector<std::string> passes)
{
    for (const std::string& name : passes) {
        const auto* const found = std::ranges::find(kPasses, name, &PassInfo::name);
        const bool known = found != std::end(kPasses);
        if (known && !found->needed)
            continue;
        std::vector<std::string> names;
        for (const PassInfo& pass : kPasses)
            if (!pass.needed)
                names.emplace_back(pass.name);
        return makeError(Errc::InvalidArgument,
                         known ? say(Msg::PassIsNeeded, name, names) : say(Msg::NoSuchPass, name, names));
    }
    PassRunner runner;
    runner.m_without = std::move(passes);
    return runner;
}

bool PassRunner::leavesOut(std::string_view pass) const
{
    LATHE_CHECK(std::ranges::find(kPasses, pass, &PassInfo::name) != std::end(kPasses))
        << "the pass " << std::string(pass) << " is not listed";
    return std::ranges::find(m_without, pass) != m_without.end();
}

Result<Graph> PassRunner::run(std::string_view pass, Result<Graph> graph,
                              const std::function<Result<Graph>(Graph)>& change)
{
    if (!graph)
        return graph;
    PassRun run;
    run.pass = pass;
    run.before = run.after = countNodes(*graph);
    run.leftOut = leavesOut(pass);
    if (run.leftOut) {
        m_runs.push_back(std::move(run));
        return graph;
    }
    const Graph before = *graph;
    const auto start = Clock::now();
    Result<Graph> result = changed(*std::move(graph), change);
    run.seconds = secondsSince(start);
    if (!result)
        return std::move(result).error().note(fmt::format("the pass {}", pass));
    if (auto sound = verify(*result); !sound)
        return makeError(Errc::Internal, sound.error().message).note(fmt::format("the pass {}", pass));
    run.after = countNodes(*result);
    run.changes = changesOf(before, *result);
    m_runs.push_back(std::move(run));
    return result;
}

Groups PassRunner::run(std::string_view pass, Groups groups, const std::function<Groups(Groups)>& change)
{
    PassRun run;
    run.pass = pass;
    run.fuses = true;
    run.before = run.after = static_cast<std::int64_t>(groups.size());
    run.leftOut = leavesOut(pass);
    if (!run.leftOut) {
        const auto start = Clock::now();
        groups = change(std::move(groups));
        run.seconds = secondsSince(start);
        run.after = static_cast<std::int64_t>(groups.size());
    }
    m_runs.push_back(std::move(run));
    return groups;
}

} // namespace lathe::graph
