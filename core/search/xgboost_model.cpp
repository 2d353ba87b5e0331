// Gradient boosted trees by XGBoost's C API; the only file that includes it.
//
// Three objectives. Regression and Pairwise are the library's own. PackSum is the reference's: the rows of one program
// form a pack, the pack's prediction is the sum over its rows, and every row gets the pack's error as its gradient. It
// is done here with XGBoosterBoostOneIter, which takes gradients from outside.

#include "core/search/cost_model.h"
#include "core/support/check.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace lathe::search {
namespace {

Result<> call(int status)
{
    if (status == 0)
        return {};
    return makeError(Errc::Internal, std::string("XGBoost: ") + XGBGetLastError());
}

class Matrix
{
public:
    Matrix() = default;
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    ~Matrix()
    {
        if (m_handle)
            XGDMatrixFree(m_handle);
    }
    Result<> fill(const FeatureMatrix& features)
    {
        return call(XGDMatrixCreateFromMat(features.values.data(), features.rows(),
                                           static_cast<bst_ulong>(features.columns), std::nanf(""), &m_handle));
    }
    Result<> setFloats(const char* field, const std::vector<float>& values)
    {
        return call(XGDMatrixSetFloatInfo(m_handle, field, values.data(), values.size()));
    }
    Result<> setGroups(const std::vector<unsigned>& sizes)
    {
        return call(XGDMatrixSetUIntInfo(m_handle, "group", sizes.data(), sizes.size()));
    }
    DMatrixHandle handle() const { return m_handle; }

private:
    DMatrixHandle m_handle = nullptr;
};

class Booster
{
public:
    Booster() = default;
    Booster(const Booster&) = delete;
    Booster& operator=(const Booster&) = delete;
    ~Booster()
    {
        if (m_handle)
            XGBoosterFree(m_handle);
    }
    Result<> create(const Matrix* matrix)
    {
        const DMatrixHandle handles[] = {matrix ? matrix->handle() : nullptr};
        return call(XGBoosterCreate(matrix ? handles : nullptr, matrix ? 1 : 0, &m_handle));
    }
    Result<> set(const char* name, const std::string& value)
    {
        return call(XGBoosterSetParam(m_handle, name, value.c_str()));
    }
    /// Margins, one per row.
    Result<std::vector<float>> predict(const Matrix& matrix, bool training) const
    {
        const char* config =
            training
                ? R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})"
                : R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
        const bst_ulong* shape = nullptr;
        bst_ulong dimensions = 0;
        const float* values = nullptr;
        LATHE_TRY(call(XGBoosterPredictFromDMatrix(m_handle, matrix.handle(), config, &shape, &dimensions, &values)));
        std::size_t count = 1;
        for (bst_ulong i = 0; i < dimensions; ++i)
            count *= static_cast<std::size_t>(shape[i]);
        return std::vector<float>(values, values + count);
    }
    BoosterHandle handle() const { return m_handle; }

private:
    BoosterHandle m_handle = nullptr;
};

std::vector<float> sumPacks(const std::vector<float>& rows, const std::vector<std::int32_t>& rowsPerProgram)
{
    std::vector<float> sums;
    sums.reserve(rowsPerProgram.size());
    std::size_t row = 0;
    for (const std::int32_t count : rowsPerProgram) {
        float sum = 0;
        for (std::int32_t i = 0; i < count; ++i)
            sum += rows[row++];
        sums.push_back(sum);
    }
    return sums;
}

class XGBoostModel final : public CostModel
{
public:
    explicit XGBoostModel(const XGBoostOptions& options)
        : m_options(options)
    {
    }

    Result<> train(const TrainingSet& data, std::stop_token stop) override;
    Result<std::vector<float>> predict(const FeatureMatrix& features) const override;
    bool trained() const override { return m_booster != nullptr; }
    Result<std::vector<std::byte>> save() const override;

private:
    Result<> configure(Booster& booster) const;
    Result<> boostPacks(Booster& booster, const Matrix& matrix, const TrainingSet& data,
                        const std::vector<float>& labels, std::stop_token stop) const;

    XGBoostOptions m_options;
    std::unique_ptr<Booster> m_booster;
    std::int32_t m_columns = 0;
};

Result<> XGBoostModel::configure(Booster& booster) const
{
    const std::pair<const char*, std::string> parameters[] = {
        {"booster", "gbtree"},
        {"tree_method", "hist"},
        {"max_depth", std::to_string(m_options.maxDepth)},
        {"eta", std::to_string(m_options.eta)},
        {"gamma", std::to_string(m_options.gamma)},
        {"min_child_weight", std::to_string(m_options.minChildWeight)},
        {"nthread", std::to_string(m_options.threads)},
        {"seed", std::to_string(m_options.seed)},
        {"verbosity", "0"},
        {"disable_default_eval_metric", "1"},
        {"objective", m_options.objective == Objective::Pairwise ? "rank:pairwise" : "reg:squarederror"},
        {"base_score", m_options.objective == Objective::PackSum ? "0.5" : "0"},
    };
    for (const auto& [name, value] : parameters)
        LATHE_TRY(booster.set(name, value));
    return {};
}

Result<> XGBoostModel::boostPacks(Booster& booster, const Matrix& matrix, const TrainingSet& data,
                                  const std::vector<float>& labels, std::stop_token stop) const
{
    const std::vector<std::int32_t>& packs = data.features.rowsPerProgram;
    std::vector<float> gradients(data.features.rows()), hessians(data.features.rows());
    double best = std::numeric_limits<double>::infinity();
    std::int32_t bestRound = 0;
    for (std::int32_t round = 0; round < m_options.rounds; ++round) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, "training was stopped");
        LATHE_TRY_ASSIGN(const std::vector<float> margins, booster.predict(matrix, true));
        const std::vector<float> predicted = sumPacks(margins, packs);
        double error = 0;
        std::size_t row = 0;
        for (std::size_t i = 0; i < packs.size(); ++i) {
            const float difference = predicted[i] - labels[i];
            error += static_cast<double>(difference) * difference;
            for (std::int32_t k = 0; k < packs[i]; ++k, ++row) {
                const float weight = data.weights.empty() ? labels[i] : labels[i] * data.weights[i];
                gradients[row] = difference * weight;
                hessians[row] = weight;
            }
        }
        error = std::sqrt(error / static_cast<double>(packs.size()));
        // As the reference: looked at every second round, on the training data itself.
        if (round % 2 == 0 && error < best) {
            best = error;
            bestRound = round;
        }
        if (m_options.patience > 0 && round - bestRound > m_options.patience)
            break;
        LATHE_TRY(call(XGBoosterBoostOneIter(booster.handle(), matrix.handle(), gradients.data(), hessians.data(),
                                             gradients.size())));
    }
    return {};
}

Result<> XGBoostModel::train(const TrainingSet& data, std::stop_token stop)
{
    LATHE_CHECK(data.costs.size() == data.features.programs() && data.tasks.size() == data.costs.size())
        << data.costs.size();
    LATHE_CHECK(data.weights.empty() || data.weights.size() == data.costs.size()) << data.weights.size();
    if (data.costs.empty())
        return makeError(Errc::InvalidArgument, "there is nothing to train on");
    if (m_options.objective == Objective::Pairwise && !data.weights.empty())
        return makeError(Errc::InvalidArgument, "ranking within tasks knows no weights of single programs");
    if (m_options.objective != Objective::PackSum && data.features.rows() != data.features.programs())
        return makeError(Errc::InvalidArgument, "this objective takes one feature row per program");

    std::vector<float> labels = throughputLabels(data);
    TrainingSet sorted;
    const TrainingSet* source = &data;
    std::vector<unsigned> groups;
    if (m_options.objective == Objective::Pairwise) {
        // The library wants the members of a group side by side.
        std::vector<std::size_t> order(data.tasks.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return data.tasks[a] < data.tasks[b]; });
        sorted.features.columns = data.features.columns;
        std::vector<float> orderedLabels;
        const auto columns = static_cast<std::size_t>(data.features.columns);
        for (std::size_t i = 0; i < order.size(); ++i) {
            sorted.features.append(std::span(data.features.values).subspan(order[i] * columns, columns));
            orderedLabels.push_back(labels[order[i]]);
            if (i == 0 || data.tasks[order[i]] != data.tasks[order[i - 1]])
                groups.push_back(0);
            ++groups.back();
        }
        labels = std::move(orderedLabels);
        source = &sorted;
    }
    if (m_options.objective == Objective::Regression)
        for (float& label : labels)
            label = std::max(-4.0f, std::log2(std::max(label, 1e-6f)));

    Matrix matrix;
    LATHE_TRY(matrix.fill(source->features));
    auto booster = std::make_unique<Booster>();
    if (m_options.objective != Objective::PackSum)
        LATHE_TRY(matrix.setFloats("label", labels));
    if (m_options.objective == Objective::Regression && !data.weights.empty())
        LATHE_TRY(matrix.setFloats("weight", data.weights));
    if (!groups.empty())
        LATHE_TRY(matrix.setGroups(groups));
    LATHE_TRY(booster->create(&matrix));
    LATHE_TRY(configure(*booster));
    if (m_options.objective == Objective::PackSum) {
        LATHE_TRY(boostPacks(*booster, matrix, data, labels, stop));
    } else {
        for (std::int32_t round = 0; round < m_options.rounds; ++round) {
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, "training was stopped");
            LATHE_TRY(call(XGBoosterUpdateOneIter(booster->handle(), round, matrix.handle())));
        }
    }
    m_booster = std::move(booster);
    m_columns = data.features.columns;
    // The booster remembers predictions of matrices it has seen; a first call here keeps predict() free of set-up.
    LATHE_TRY(m_booster->predict(matrix, false));
    return {};
}

Result<std::vector<float>> XGBoostModel::predict(const FeatureMatrix& features) const
{
    LATHE_CHECK(m_booster != nullptr);
    if (features.programs() == 0)
        return std::vector<float>();
    if (m_columns != 0 && features.columns != m_columns)
        return makeError(Errc::InvalidArgument, "the model was trained on rows of " + std::to_string(m_columns)
                                                    + " features, not " + std::to_string(features.columns));
    Matrix matrix;
    LATHE_TRY(matrix.fill(features));
    LATHE_TRY_ASSIGN(const std::vector<float> rows, m_booster->predict(matrix, false));
    return sumPacks(rows, features.rowsPerProgram);
}

Result<std::vector<std::byte>> XGBoostModel::save() const
{
    if (!m_booster)
        return makeError(Errc::NotFound, "the model has not been trained");
    bst_ulong length = 0;
    const char* data = nullptr;
    LATHE_TRY(call(XGBoosterSaveModelToBuffer(m_booster->handle(), R"({"format": "ubj"})", &length, &data)));
    const auto* first = reinterpret_cast<const std::byte*>(data);
    return std::vector<std::byte>(first, first + length);
}

} // namespace

std::unique_ptr<CostModel> makeXGBoostModel(const XGBoostOptions& options)
{
    return std::make_unique<XGBoostModel>(options);
}

} // namespace lathe::search
