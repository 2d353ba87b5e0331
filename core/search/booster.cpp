#include "core/search/booster.h"

#include "core/support/check.h"
#include "core/support/message.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <string>
#include <utility>

namespace lathe::search {
namespace {

Result<> call(int status)
{
    if (status == 0)
        return {};
    return makeError(Errc::Internal, std::string("XGBoost: ") + XGBGetLastError());
}

Result<> setFloats(DMatrixHandle handle, const char* field, std::span<const float> values)
{
    return call(XGDMatrixSetFloatInfo(handle, field, values.data(), values.size()));
}

} // namespace

Result<BoosterRows> BoosterRows::create(std::int32_t columns, std::span<const float> values)
{
    LATHE_CHECK(columns > 0 && values.size() % static_cast<std::size_t>(columns) == 0)
        << values.size() << " values, " << columns << " columns";
    DMatrixHandle handle = nullptr;
    LATHE_TRY(call(XGDMatrixCreateFromMat(values.data(), values.size() / static_cast<std::size_t>(columns),
                                          static_cast<bst_ulong>(columns), std::nanf(""), &handle)));
    return BoosterRows(handle);
}

BoosterRows::BoosterRows(BoosterRows&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr))
{
}

BoosterRows& BoosterRows::operator=(BoosterRows&& other) noexcept
{
    std::swap(m_handle, other.m_handle);
    return *this;
}

BoosterRows::~BoosterRows()
{
    if (m_handle != nullptr)
        XGDMatrixFree(m_handle);
}

Result<> BoosterRows::setLabels(std::span<const float> labels)
{
    return setFloats(m_handle, "label", labels);
}

Result<> BoosterRows::setWeights(std::span<const float> weights)
{
    return setFloats(m_handle, "weight", weights);
}

Result<> BoosterRows::setMargins(std::span<const float> margins)
{
    return setFloats(m_handle, "base_margin", margins);
}

Result<> BoosterRows::setGroups(std::span<const unsigned> sizes)
{
    return call(XGDMatrixSetUIntInfo(m_handle, "group", sizes.data(), sizes.size()));
}

Result<Booster> Booster::create(const BoosterRows& rows, const BoosterOptions& options)
{
    const DMatrixHandle handles[] = {rows.m_handle};
    BoosterHandle handle = nullptr;
    LATHE_TRY(call(XGBoosterCreate(handles, 1, &handle)));
    Booster booster(handle);
    const std::pair<const char*, std::string> parameters[] = {
        {"booster", "gbtree"},
        {"tree_method", "hist"},
        {"max_depth", std::to_string(options.maxDepth)},
        {"eta", std::to_string(options.eta)},
        {"gamma", std::to_string(options.gamma)},
        {"min_child_weight", std::to_string(options.minChildWeight)},
        {"nthread", std::to_string(options.threads)},
        {"seed", std::to_string(options.seed)},
        {"verbosity", "0"},
        {"disable_default_eval_metric", "1"},
        {"objective", options.pairwise ? "rank:pairwise" : "reg:squarederror"},
        {"base_score", std::to_string(options.baseScore)},
    };
    for (const auto& [name, value] : parameters)
        LATHE_TRY(call(XGBoosterSetParam(handle, name, value.c_str())));
    return booster;
}

Booster::Booster(Booster&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr))
{
}

Booster& Booster::operator=(Booster&& other) noexcept
{
    std::swap(m_handle, other.m_handle);
    return *this;
}

Booster::~Booster()
{
    if (m_handle != nullptr)
        XGBoosterFree(m_handle);
}

Result<> Booster::train(const BoosterRows& rows, std::int32_t rounds, std::stop_token stop, const GoesOn& goesOn)
{
    for (std::int32_t round = 0; round < rounds; ++round) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::SearchStopped));
        LATHE_TRY(call(XGBoosterUpdateOneIter(m_handle, round, rows.m_handle)));
        if (!goesOn)
            continue;
        LATHE_TRY_ASSIGN(const bool more, goesOn(round + 1));
        if (!more)
            break;
    }
    return {};
}

Result<> Booster::boost(const BoosterRows& rows, std::span<const float> gradients, std::span<const float> hessians)
{
    LATHE_CHECK(gradients.size() == hessians.size()) << gradients.size() << ", " << hessians.size();
    // The library changes neither, but takes them as what it might.
    return call(XGBoosterBoostOneIter(m_handle, rows.m_handle, const_cast<float*>(gradients.data()),
                                      const_cast<float*>(hessians.data()), gradients.size()));
}

Result<std::vector<float>> Booster::predict(const BoosterRows& rows, bool training) const
{
    const char* config =
        training ? R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})"
                 : R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* values = nullptr;
    LATHE_TRY(call(XGBoosterPredictFromDMatrix(m_handle, rows.m_handle, config, &shape, &dimensions, &values)));
    std::size_t count = 1;
    for (bst_ulong i = 0; i < dimensions; ++i)
        count *= static_cast<std::size_t>(shape[i]);
    return std::vector<float>(values, values + count);
}

Result<std::vector<std::byte>> Booster::save() const
{
    bst_ulong length = 0;
    const char* data = nullptr;
    LATHE_TRY(call(XGBoosterSaveModelToBuffer(m_handle, R"({"format": "ubj"})", &length, &data)));
    const auto* first = reinterpret_cast<const std::byte*>(data);
    return std::vector<std::byte>(first, first + length);
}

} // namespace lathe::search
