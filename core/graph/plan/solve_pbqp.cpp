#include "core/graph/plan/solve_pbqp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace lathe::graph::plan {
namespace {

using Index = std::size_t;
using Costs = std::vector<double>;

Index cheapest(const Costs& costs)
{
    return static_cast<Index>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

/// [own candidates, candidates of the neighbour].
using Matrix = std::vector<Costs>;

Matrix transposed(const Matrix& matrix)
{
    Matrix result(matrix.front().size(), Costs(matrix.size()));
    for (Index i = 0; i < matrix.size(); ++i) {
        for (Index j = 0; j < result.size(); ++j)
            result[j][i] = matrix[i][j];
    }
    return result;
}

/// Takes what each row costs at least out of it, and returns that.
Costs takeRowMinima(Matrix& matrix)
{
    Costs minima;
    for (Costs& row : matrix) {
        const double least = *std::min_element(row.begin(), row.end());
        minima.push_back(least);
        for (double& cost : row)
            cost = std::isinf(least) ? 0 : cost - least;
    }
    return minima;
}

void addTo(Costs& costs, const Costs& more)
{
    for (Index i = 0; i < costs.size(); ++i)
        costs[i] += more[i];
}

/// A node that has left: what it cost, and the edges that it then had.
struct Reduced
{
    Index node = 0;
    Costs costs;
    std::map<Index, Matrix> edges;
};

class Reducer
{
public:
    explicit Reducer(const PairwiseProblem& problem)
        : m_costs(problem.nodes)
        , m_edges(problem.nodes.size())
    {
        for (Index n = 0; n < m_costs.size(); ++n)
            m_byDegree.emplace(0, n);
        for (const PairwiseEdge& edge : mergedEdges(problem)) {
            const Index from = static_cast<Index>(edge.from), to = static_cast<Index>(edge.to);
            const Index columns = m_costs[to].size();
            Matrix matrix;
            for (Index i = 0; i < m_costs[from].size(); ++i)
                matrix.emplace_back(edge.seconds.begin() + static_cast<std::ptrdiff_t>(i * columns),
                                    edge.seconds.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
            connect(from, to, std::move(matrix));
        }
    }

    Solution solve()
    {
        Solution solution;
        solution.optimal = true;
        while (!m_byDegree.empty()) {
            const auto [degree, node] = *m_byDegree.begin();
            if (degree <= 2) {
                reduceExactly(node);
            } else {
                reduceByGuess(m_byDegree.rbegin()->second);
                solution.optimal = false;
            }
        }
        solution.choices.assign(m_costs.size(), 0);
        for (Index i = m_reduced.size(); i-- > 0;) {
            Reduced& reduced = m_reduced[i];
            for (const auto& [neighbour, matrix] : reduced.edges) {
                const Index choice = static_cast<Index>(solution.choices[neighbour]);
                for (Index c = 0; c < reduced.costs.size(); ++c)
                    reduced.costs[c] += matrix[c][choice];
            }
            solution.choices[reduced.node] = static_cast<std::int32_t>(cheapest(reduced.costs));
        }
        return solution;
    }

private:
    /// Adds to the edge between two nodes. What depends on one of them alone goes into its costs; an edge of which
    /// nothing is left goes, which spares guesses.
    void connect(Index a, Index b, Matrix matrix)
    {
        if (const auto it = m_edges[a].find(b); it != m_edges[a].end()) {
            for (Index i = 0; i < matrix.size(); ++i)
                addTo(matrix[i], it->second[i]);
            disconnect(a, b);
        }
        addTo(m_costs[a], takeRowMinima(matrix));
        Matrix backward = transposed(matrix);
        addTo(m_costs[b], takeRowMinima(backward));
        const bool nothingLeft = std::all_of(backward.begin(), backward.end(), [](const Costs& row) {
            return std::all_of(row.begin(), row.end(), [](double cost) { return cost == 0; });
        });
        if (nothingLeft)
            return;
        moveTo(a, m_edges[a].size() + 1);
        moveTo(b, m_edges[b].size() + 1);
        m_edges[a][b] = transposed(backward);
        m_edges[b][a] = std::move(backward);
    }

    void disconnect(Index a, Index b)
    {
        moveTo(a, m_edges[a].size() - 1);
        moveTo(b, m_edges[b].size() - 1);
        m_edges[a].erase(b);
        m_edges[b].erase(a);
    }

    void moveTo(Index node, Index degree)
    {
        m_byDegree.erase({m_edges[node].size(), node});
        m_byDegree.emplace(degree, node);
    }

    /// Takes the node and its edges away.
    Reduced taken(Index node)
    {
        Reduced reduced{node, m_costs[node], m_edges[node]};
        for (const auto& [neighbour, matrix] : reduced.edges)
            disconnect(node, neighbour);
        m_byDegree.erase({0, node});
        return reduced;
    }

    /// R0, RI and RII.
    void reduceExactly(Index node)
    {
        Reduced reduced = taken(node);
        if (reduced.edges.size() == 1) {
            const auto& [neighbour, matrix] = *reduced.edges.begin();
            for (Index i = 0; i < m_costs[neighbour].size(); ++i) {
                double least = std::numeric_limits<double>::infinity();
                for (Index c = 0; c < reduced.costs.size(); ++c)
                    least = std::min(least, reduced.costs[c] + matrix[c][i]);
                m_costs[neighbour][i] += least;
            }
        } else if (reduced.edges.size() == 2) {
            const auto& [left, toLeft] = *reduced.edges.begin();
            const auto& [right, toRight] = *std::next(reduced.edges.begin());
            Matrix between(m_costs[left].size(), Costs(m_costs[right].size(), std::numeric_limits<double>::infinity()));
            for (Index i = 0; i < between.size(); ++i) {
                for (Index j = 0; j < between[i].size(); ++j) {
                    for (Index c = 0; c < reduced.costs.size(); ++c)
                        between[i][j] = std::min(between[i][j], reduced.costs[c] + toLeft[c][i] + toRight[c][j]);
                }
            }
            connect(left, right, std::move(between));
        }
        m_reduced.push_back(std::move(reduced));
    }

    /// RN. The choice is made at once, and the neighbours pay for it.
    void reduceByGuess(Index node)
    {
        Reduced reduced = taken(node);
        Costs looks = reduced.costs;
        for (const auto& [neighbour, matrix] : reduced.edges) {
            for (Index c = 0; c < looks.size(); ++c) {
                double least = std::numeric_limits<double>::infinity();
                for (Index i = 0; i < m_costs[neighbour].size(); ++i)
                    least = std::min(least, matrix[c][i] + m_costs[neighbour][i]);
                looks[c] += least;
            }
        }
        const Index choice = cheapest(looks);
        for (const auto& [neighbour, matrix] : reduced.edges)
            addTo(m_costs[neighbour], matrix[choice]);
        reduced.edges.clear();
        for (Index c = 0; c < reduced.costs.size(); ++c) {
            if (c != choice)
                reduced.costs[c] = std::numeric_limits<double>::infinity();
        }
        // If nothing is allowed, all candidates are infinite now: the first is as good as any.
        m_reduced.push_back(std::move(reduced));
    }

    std::vector<Costs> m_costs;
    std::vector<std::map<Index, Matrix>> m_edges; ///< of each node, by neighbour: the matrix from its side
    std::set<std::pair<Index, Index>> m_byDegree; ///< (degree, node) of those that are left
    std::vector<Reduced> m_reduced; ///< in the order in which they left
};

} // namespace

Result<Solution> solvePbqp(const PairwiseProblem& problem)
{
    LATHE_TRY(check(problem));
    Solution solution = Reducer(problem).solve();
    LATHE_TRY_ASSIGN(solution.seconds, energy(problem, solution.choices));
    return solution;
}

} // namespace lathe::graph::plan
