// Elimination of variables, also known as bucket elimination, of which the reference's walk over the nodes in their
// order is one case.
//
// A factor is a table over the choices of a few nodes, its scope. In the beginning there is one for each node and one
// for each edge. Eliminating a node takes all factors whose scope has it, and adds one over the other nodes of their
// scopes: for each of their choices the smallest sum over the node's own candidates. No cost is in two factors at any
// time, so none is counted twice, whatever the branches look like. In reverse order, each node then takes the candidate
// for which its factors are smallest, given the choices of all that left behind it.
//
// A state is a choice for a leaving node and all nodes that share a factor with it: each is looked at once. The factor
// that is made has as many entries as there were states, divided by the candidates of the node that left, so that a
// bound of states is one of time and of memory.

#include "core/graph/plan/solve_dynamic.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace lathe::graph::plan {
namespace {

constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturatedProduct(std::uint64_t a, std::uint64_t b)
{
    return b != 0 && a > kTooMany / b ? kTooMany : a * b;
}

std::uint64_t saturatedSum(std::uint64_t a, std::uint64_t b)
{
    return a > kTooMany - b ? kTooMany : a + b;
}

/// The order in which nodes leave.
struct Elimination
{
    std::vector<std::size_t> order;
    std::uint64_t states = 0; ///< of all nodes in it
};

/// Greedily by states. Stops behind `mostStates`: the order is then cut short.
Elimination eliminationOf(const PairwiseProblem& problem, const std::vector<PairwiseEdge>& edges,
                          std::uint64_t mostStates)
{
    const std::size_t count = problem.nodes.size();
    std::vector<std::set<std::size_t>> neighbours(count);
    for (const PairwiseEdge& edge : edges) {
        neighbours[static_cast<std::size_t>(edge.from)].insert(static_cast<std::size_t>(edge.to));
        neighbours[static_cast<std::size_t>(edge.to)].insert(static_cast<std::size_t>(edge.from));
    }
    const auto statesOf = [&](std::size_t node) {
        std::uint64_t states = problem.nodes[node].size();
        for (const std::size_t other : neighbours[node])
            states = saturatedProduct(states, problem.nodes[other].size());
        return states;
    };
    std::vector<std::uint64_t> states(count);
    std::set<std::pair<std::uint64_t, std::size_t>> waiting; // the fewest states first, then the lowest index
    for (std::size_t n = 0; n < count; ++n) {
        states[n] = statesOf(n);
        waiting.emplace(states[n], n);
    }
    Elimination elimination;
    while (!waiting.empty()) {
        const std::size_t leaving = waiting.begin()->second;
        waiting.erase(waiting.begin());
        elimination.order.push_back(leaving);
        elimination.states = saturatedSum(elimination.states, states[leaving]);
        if (elimination.states > mostStates)
            break;
        for (const std::size_t node : neighbours[leaving]) {
            neighbours[node].insert(neighbours[leaving].begin(), neighbours[leaving].end());
            neighbours[node].erase(node);
            neighbours[node].erase(leaving);
        }
        for (const std::size_t node : neighbours[leaving]) {
            waiting.erase({states[node], node});
            states[node] = statesOf(node);
            waiting.emplace(states[node], node);
        }
    }
    return elimination;
}

struct Factor
{
    std::vector<std::size_t> scope; ///< nodes, ascending
    std::vector<double> seconds; ///< by the choices of the scope, row-major
};

/// A node that leaves, with what it takes along.
struct Bucket
{
    std::size_t node = 0;
    std::vector<std::size_t> factors; ///< all have the node in their scope
    std::vector<std::size_t> others; ///< the other nodes of their scopes, ascending
};

class Eliminator
{
public:
    Eliminator(const PairwiseProblem& problem, std::vector<PairwiseEdge> edges)
        : m_problem(problem)
        , m_factorsOf(problem.nodes.size())
    {
        for (std::size_t n = 0; n < problem.nodes.size(); ++n)
            add({{n}, problem.nodes[n]});
        for (PairwiseEdge& edge : edges)
            add({{static_cast<std::size_t>(edge.from), static_cast<std::size_t>(edge.to)}, std::move(edge.seconds)});
    }

    Choices solve(const std::vector<std::size_t>& order)
    {
        for (const std::size_t node : order)
            eliminate(node);
        Choices choices(m_problem.nodes.size(), 0);
        for (std::size_t i = m_buckets.size(); i-- > 0;)
            choices[m_buckets[i].node] = bestFor(m_buckets[i], choices);
        return choices;
    }

private:
    void add(Factor factor)
    {
        for (const std::size_t node : factor.scope)
            m_factorsOf[node].push_back(m_factors.size());
        m_factors.push_back(std::move(factor));
    }

    std::size_t candidates(std::size_t node) const { return m_problem.nodes[node].size(); }

    /// By how much the place in the factor's table grows with the node's choice; 0 if that is not in its scope.
    std::size_t stride(const Factor& factor, std::size_t node) const
    {
        std::size_t stride = 1;
        for (std::size_t i = factor.scope.size(); i-- > 0;) {
            if (factor.scope[i] == node)
                return stride;
            stride *= candidates(factor.scope[i]);
        }
        return 0;
    }

    void eliminate(std::size_t node)
    {
        Bucket bucket{node, std::move(m_factorsOf[node]), {}};
        std::set<std::size_t> others;
        for (const std::size_t f : bucket.factors)
            others.insert(m_factors[f].scope.begin(), m_factors[f].scope.end());
        others.erase(node);
        bucket.others.assign(others.begin(), others.end());
        for (const std::size_t other : bucket.others)
            std::erase_if(m_factorsOf[other], [&](std::size_t f) {
                return std::find(bucket.factors.begin(), bucket.factors.end(), f) != bucket.factors.end();
            });
        if (!bucket.others.empty())
            add({bucket.others, minimized(bucket)});
        m_buckets.push_back(std::move(bucket));
    }

    /// For all choices of the bucket's other nodes, what its factors cost with the node's best candidate.
    std::vector<double> minimized(const Bucket& bucket) const
    {
        const std::size_t rank = bucket.others.size(), factors = bucket.factors.size();
        std::size_t size = 1;
        for (const std::size_t other : bucket.others)
            size *= candidates(other);
        std::vector<std::size_t> places(factors, 0), ownStrides(factors), strides(rank * factors);
        std::vector<const double*> tables(factors);
        for (std::size_t f = 0; f < factors; ++f) {
            const Factor& factor = m_factors[bucket.factors[f]];
            tables[f] = factor.seconds.data();
            ownStrides[f] = stride(factor, bucket.node);
            for (std::size_t d = 0; d < rank; ++d)
                strides[d * factors + f] = stride(factor, bucket.others[d]);
        }
        std::vector<std::size_t> index(rank, 0);
        std::vector<double> result(size);
        for (double& best : result) {
            best = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < candidates(bucket.node); ++c) {
                double sum = 0;
                for (std::size_t f = 0; f < factors; ++f)
                    sum += tables[f][places[f] + c * ownStrides[f]];
                best = std::min(best, sum);
            }
            for (std::size_t d = rank; d-- > 0;) { // the next index; the last dimension runs fastest
                const std::size_t extent = candidates(bucket.others[d]);
                const bool carries = ++index[d] == extent;
                for (std::size_t f = 0; f < factors; ++f)
                    places[f] = carries ? places[f] - (extent - 1) * strides[d * factors + f]
                                        : places[f] + strides[d * factors + f];
                if (!carries)
                    break;
                index[d] = 0;
            }
        }
        return result;
    }

    std::int32_t bestFor(const Bucket& bucket, const Choices& choices) const
    {
        std::vector<double> sums(candidates(bucket.node), 0.0);
        for (const std::size_t f : bucket.factors) {
            const Factor& factor = m_factors[f];
            std::size_t place = 0;
            for (const std::size_t node : factor.scope) {
                if (node != bucket.node)
                    place += static_cast<std::size_t>(choices[node]) * stride(factor, node);
            }
            for (std::size_t c = 0; c < sums.size(); ++c)
                sums[c] += factor.seconds[place + c * stride(factor, bucket.node)];
        }
        return static_cast<std::int32_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    }

    const PairwiseProblem& m_problem;
    std::vector<Factor> m_factors;
    std::vector<std::vector<std::size_t>> m_factorsOf; ///< by node: those that are in no bucket yet
    std::vector<Bucket> m_buckets;
};

} // namespace

Result<Solution> solveDynamic(const PairwiseProblem& problem, std::uint64_t mostStates)
{
    LATHE_TRY(check(problem));
    std::vector<PairwiseEdge> edges = mergedEdges(problem);
    const Elimination elimination = eliminationOf(problem, edges, mostStates);
    if (elimination.states > mostStates)
        return makeError(Errc::Unsupported, fmt::format("the exact plan needs at least {} states, more than {} states",
                                                        elimination.states, mostStates));
    Solution solution;
    solution.choices = Eliminator(problem, std::move(edges)).solve(elimination.order);
    LATHE_TRY_ASSIGN(solution.seconds, energy(problem, solution.choices));
    solution.optimal = true;
    return solution;
}

} // namespace lathe::graph::plan
