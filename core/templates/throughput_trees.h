#pragma once

#include "core/search/booster.h"

#include <span>

namespace lathe::templates {

/// What trees are to get right (autotvm.md 7.2, loss_type).
enum class TreeLoss : std::uint8_t
{
    Reg, ///< the throughput, as a share of the best's
    Rank, ///< of each pair, which is faster
    RankBinary ///< the same, but rounds are judged by who has at least half of the best's throughput
};

struct TreeOptions
{
    TreeLoss loss = TreeLoss::Reg;
    std::int32_t maxDepth = 3;
    double eta = 0.3;
    double gamma = 1e-4;
    double minChildWeight = 1;
    std::int32_t rounds = 8000; ///< at most
    std::int32_t patience = 20; ///< rounds without a better recall after which it stops
    std::size_t recallAt = 64; ///< N of a-recall@N (recall.h), on the rows that it trains on, every second round
    std::uint64_t seed = 0;
    std::int32_t threads = 1; ///< sums depend on it in their last bits
};

/// Trees that guess the throughput of configurations from features.
class ThroughputTrees
{
public:
    using Rows = std::vector<std::vector<float>>;

    /// @param rows  of any lengths: what is missing is 0 (autotvm.md 7.2)
    /// @param labels  of each row: throughput as a share of the best's; 0: failed
    /// @param margins  of each row, in their order: what its guess starts from; empty: all from the same
    /// Errors: Cancelled; Internal (the library's text).
    static Result<ThroughputTrees> train(const Rows& rows, std::span<const float> labels,
                                         std::span<const float> margins, const TreeOptions& options,
                                         std::stop_token stop);

    /// One of each row; more is better. What is longer than all rows of training was never seen, and is left out.
    /// Errors: Internal.
    Result<std::vector<float>> predict(const Rows& rows, std::span<const float> margins = {}) const;

    std::int32_t rounds() const { return m_rounds; } ///< that it took

private:
    ThroughputTrees(search::Booster booster, std::int32_t columns, std::int32_t rounds)
        : m_booster(std::move(booster))
        , m_columns(columns)
        , m_rounds(rounds)
    {
    }

    search::Booster m_booster;
    std::int32_t m_columns;
    std::int32_t m_rounds;
};

} // namespace lathe::templates
