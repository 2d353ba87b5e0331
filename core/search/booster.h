#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace lathe::search {

/// Rows of features that trees are grown on or asked about, as XGBoost keeps them (its DMatrix).
class BoosterRows
{
public:
    /// @param values  row-major, a multiple of `columns` long; no number (NaN): unknown
    static Result<BoosterRows> create(std::int32_t columns, std::span<const float> values);
    BoosterRows(BoosterRows&& other) noexcept;
    BoosterRows& operator=(BoosterRows&& other) noexcept;
    ~BoosterRows();

    // One of each row, in the order of the rows.
    Result<> setLabels(std::span<const float> labels);
    Result<> setWeights(std::span<const float> weights);
    /// What each row's prediction starts from instead of BoosterOptions::baseScore.
    Result<> setMargins(std::span<const float> margins);
    /// How many rows each group has that is ranked by itself; its rows stand side by side.
    Result<> setGroups(std::span<const unsigned> sizes);

private:
    friend class Booster;
    explicit BoosterRows(void* handle)
        : m_handle(handle)
    {
    }
    void* m_handle = nullptr;
};

struct BoosterOptions
{
    bool pairwise = false; ///< ranks within groups; otherwise: squared error
    std::int32_t maxDepth = 6;
    double eta = 0.3;
    double gamma = 0;
    double minChildWeight = 1;
    double baseScore = 0.5;
    std::int32_t threads = 1; ///< sums depend on it in their last bits
    std::uint64_t seed = 0;
};

/// Gradient boosted trees by XGBoost, whose C interface is hidden in booster.cpp, the only file that includes it.
///
/// Errors, of all: Internal (the library's text).
/// Threads: predict() may be called from several at once, not together with what grows trees.
class Booster
{
public:
    static Result<Booster> create(const BoosterRows& rows, const BoosterOptions& options);
    Booster(Booster&& other) noexcept;
    Booster& operator=(Booster&& other) noexcept;
    ~Booster();

    /// Looks at the trees after so many rounds; false: they are enough.
    using GoesOn = std::function<Result<bool>(std::int32_t rounds)>;
    /// Up to so many rounds, a tree each, on the labels of the rows, which are those that it was created with.
    /// Errors: Cancelled; what `goesOn` returns.
    Result<> train(const BoosterRows& rows, std::int32_t rounds, std::stop_token stop, const GoesOn& goesOn = {});
    /// One round on gradients of the caller's own loss, one of each row.
    Result<> boost(const BoosterRows& rows, std::span<const float> gradients, std::span<const float> hessians);

    /// One of each row: the sum of the trees and of the margin or the base score. Of the rows that it grows on this is
    /// cheap, as the library remembers it.
    /// @param training  between rounds, for gradients
    Result<std::vector<float>> predict(const BoosterRows& rows, bool training = false) const;

    /// UBJSON, for programs of others (cost_model.h).
    Result<std::vector<std::byte>> save() const;

private:
    explicit Booster(void* handle)
        : m_handle(handle)
    {
    }
    void* m_handle = nullptr;
};

} // namespace lathe::search
