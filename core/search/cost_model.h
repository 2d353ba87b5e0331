#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace lathe::search {

/// Feature rows of several programs: each has one row (Lathe's own features) or one per store (the reference's).
struct FeatureMatrix
{
    std::int32_t columns = 0;
    std::vector<float> values; ///< row-major, all rows of program 0, then of program 1 ...
    std::vector<std::int32_t> rowsPerProgram;

    std::size_t programs() const { return rowsPerProgram.size(); }
    std::size_t rows() const { return columns == 0 ? 0 : values.size() / static_cast<std::size_t>(columns); }
    /// `rows` is a multiple of `columns` long.
    void append(std::span<const float> rows);
};

/// Measured programs, of all tasks of a run.
struct TrainingSet
{
    FeatureMatrix features;
    std::vector<double> costs; ///< seconds; infinite: the trial failed
    std::vector<std::int32_t> tasks; ///< which task each program belongs to
    std::vector<float> weights; ///< of each program; empty: all count alike
};

/// Ranks programs. predict() may be called from several threads at once, not together with train() or load().
class CostModel
{
public:
    virtual ~CostModel() = default;

    /// Fits the model to all data, from scratch. Same data, same model. Errors: Cancelled, Internal (the library's
    /// text).
    virtual Result<> train(const TrainingSet& data, std::stop_token stop = {}) = 0;

    /// One score per program; higher is better.
    virtual Result<std::vector<float>> predict(const FeatureMatrix& features) const = 0;

    /// False until there is something to predict from.
    virtual bool trained() const = 0;

    /// For programs of others; XGBoost's own reads them (UBJSON). Nothing of ours does: a project may come from anybody,
    /// and that library's reader crashes on bytes that are not its own. A run that goes on trains from its records, which
    /// gives the same model. Errors: NotFound (not trained).
    virtual Result<std::vector<std::byte>> save() const = 0;
};

enum class Objective : std::uint8_t
{
    /// The reference's: a program's score is the sum over its rows; squared error against min cost of the task / cost,
    /// weighted by that label (auto-scheduler.md 7).
    PackSum,
    /// Squared error of log(min cost / cost), cut off where a program is hopeless.
    Regression,
    /// Pairwise ranking within each task.
    Pairwise
};

struct XGBoostOptions
{
    Objective objective = Objective::Regression;
    std::int32_t maxDepth = 6;
    double eta = 0.15;
    double gamma = 0.0;
    double minChildWeight = 1.0;
    std::int32_t rounds = 120; ///< at most
    std::int32_t patience = 0; ///< rounds without a better training error after which it stops; 0: never
    std::int32_t threads = 1; ///< fixed for a run, since sums depend on it in their last bits
    std::uint64_t seed = 43;
};

XGBoostOptions referenceModelOptions();

std::unique_ptr<CostModel> makeXGBoostModel(const XGBoostOptions& options);
/// Scores from a hash of the features and the seed: no model, but replayable.
std::unique_ptr<CostModel> makeRandomModel(std::uint64_t seed);

/// Labels: min cost of the task / cost, 0 for failures.
std::vector<float> throughputLabels(const TrainingSet& data);

} // namespace lathe::search
