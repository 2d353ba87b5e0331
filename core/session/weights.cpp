#include "core/session/weights.h"

#include "core/deploy/npy.h"
#include "core/ir/scalar.h"
#include "core/session/loaded_model.h"
#include "core/support/message.h"
#include "core/support/prepared_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace lathe::session {

namespace {

constexpr std::int64_t kStretch = std::int64_t{1} << 20; ///< of values between two looks at the stop token

template<typename T>
T at(std::span<const std::byte> bytes, std::int64_t i)
{
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T)); // at any address
    return value;
}

/// Calls `use` with a function that gives the value of an index as a double: a branch for each type here, none for each
/// value.
template<typename Use>
auto withReader(DType dtype, std::span<const std::byte> bytes, Use use)
{
    const auto plain = [&]<typename T>(T) {
        return use([bytes](std::int64_t i) { return static_cast<double>(at<T>(bytes, i)); });
    };
    switch (dtype) {
    case DType::F32: return plain(float());
    case DType::F64: return plain(double());
    case DType::I8: return plain(std::int8_t());
    case DType::U8: return plain(std::uint8_t());
    case DType::I16: return plain(std::int16_t());
    case DType::U16: return plain(std::uint16_t());
    case DType::I32: return plain(std::int32_t());
    case DType::U32: return plain(std::uint32_t());
    case DType::I64: return plain(std::int64_t());
    case DType::U64: return plain(std::uint64_t());
    case DType::BF16:
    case DType::F16:
    case DType::Bool: break;
    }
    const auto width = static_cast<std::size_t>(sizeOf(dtype));
    return use([bytes, dtype, width](std::int64_t i) {
        const ir::Scalar value = ir::loadScalar(bytes.data() + static_cast<std::size_t>(i) * width, dtype);
        return isFloat(dtype) ? value.f : static_cast<double>(value.i);
    });
}

Error stopped()
{
    return makeError(Errc::Cancelled, say(Msg::QueryStopped));
}

/// The first pass: counts, range and mean.
template<typename Read>
bool survey(const Read& read, WeightStatistics& out, std::stop_token stop)
{
    double sum = 0;
    out.min = std::numeric_limits<double>::infinity();
    out.max = -out.min;
    for (std::int64_t start = 0; start < out.count; start += kStretch) {
        if (stop.stop_requested())
            return false;
        double part = 0; // sums of stretches, so that no small value is lost in a large sum
        for (std::int64_t i = start; i < std::min(out.count, start + kStretch); ++i) {
            const double value = read(i);
            if (!std::isfinite(value)) {
                ++(std::isnan(value) ? out.nans : out.infinities);
                continue;
            }
            out.zeros += value == 0 ? 1 : 0;
            out.min = std::min(out.min, value);
            out.max = std::max(out.max, value);
            part += value;
        }
        sum += part;
    }
    const std::int64_t finite = out.count - out.nans - out.infinities;
    if (finite == 0)
        out.min = out.max = std::numeric_limits<double>::quiet_NaN();
    out.mean = finite == 0 ? out.min : sum / static_cast<double>(finite);
    return true;
}

/// The second pass: what needs the mean and the range.
template<typename Read>
bool spread(const Read& read, WeightStatistics& out, std::stop_token stop)
{
    const std::int64_t finite = out.count - out.nans - out.infinities;
    out.deviation = std::numeric_limits<double>::quiet_NaN();
    if (finite == 0)
        return true;
    // Halves, since the width of a range of doubles may be no double.
    const double halfWidth = out.max / 2 - out.min / 2;
    out.histogram.assign(halfWidth > 0 ? WeightStatistics::kBins : 1, 0);
    const double last = static_cast<double>(out.histogram.size()) - 1;
    double sum = 0;
    for (std::int64_t start = 0; start < out.count; start += kStretch) {
        if (stop.stop_requested())
            return false;
        double part = 0;
        for (std::int64_t i = start; i < std::min(out.count, start + kStretch); ++i) {
            const double value = read(i);
            if (!std::isfinite(value))
                continue;
            part += (value - out.mean) * (value - out.mean);
            const double place = halfWidth > 0 ? (value / 2 - out.min / 2) / halfWidth * (last + 1) : 0;
            ++out.histogram[static_cast<std::size_t>(std::min(place, last))];
        }
        sum += part;
    }
    out.deviation = std::sqrt(sum / static_cast<double>(finite));
    return true;
}

std::string textOf(DType dtype, const std::byte* value)
{
    const ir::Scalar scalar = ir::loadScalar(value, dtype);
    switch (dtype) {
    case DType::F32: return fmt::format("{}", static_cast<float>(scalar.f));
    case DType::F64: return fmt::format("{}", scalar.f);
    case DType::F16:
    case DType::BF16: return fmt::format("{:.5g}", scalar.f);
    case DType::U64: return fmt::format("{}", static_cast<std::uint64_t>(scalar.i));
    default: return fmt::format("{}", scalar.i);
    }
}

} // namespace

struct Weights::Opened
{
    std::int32_t constant = -1;
    DType dtype = DType::F32;
    std::int64_t count = 0;
    const graph::Value* value = nullptr;
    graph::ConstBytes contents;

    /// Whether all that was read of it was there. Errors: BadFile.
    Result<> check() const { return graph::stillThere(*value->constant); }
};

Weights::Weights(std::shared_ptr<const LoadedModel> model)
    : m_model(std::move(model))
{
}

Result<std::shared_ptr<const Weights::Opened>> Weights::open(std::int32_t constant)
{
    const std::scoped_lock lock(m_mutex);
    if (m_opened && m_opened->constant == constant)
        return m_opened;
    const auto& values = m_model->graph.values;
    if (constant < 0 || static_cast<std::size_t>(constant) >= values.size()
        || values[static_cast<std::size_t>(constant)].constant == nullptr)
        return makeError(Errc::InvalidArgument, say(Msg::NoSuchConstant, constant));
    m_opened = nullptr; // of two large ones that are made, one is held
    auto opened = std::make_shared<Opened>();
    opened->constant = constant;
    opened->value = &values[static_cast<std::size_t>(constant)];
    opened->dtype = opened->value->dtype;
    LATHE_TRY_ASSIGN(opened->contents, graph::contentsOf(*opened->value->constant));
    opened->count = static_cast<std::int64_t>(opened->contents.bytes.size()) / sizeOf(opened->dtype);
    m_opened = opened;
    return m_opened;
}

Result<std::vector<std::string>> Weights::texts(std::int32_t constant, std::int64_t first, std::int64_t count)
{
    LATHE_TRY_ASSIGN(const std::shared_ptr<const Opened> opened, open(constant));
    if (first < 0 || count < 0 || first > opened->count - count)
        return makeError(Errc::InvalidArgument, say(Msg::ConstantWithoutValues, opened->value->name, first,
                                                    first + std::max<std::int64_t>(count, 1) - 1));
    std::vector<std::string> texts;
    texts.reserve(static_cast<std::size_t>(count));
    const std::byte* value = opened->contents.bytes.data() + first * sizeOf(opened->dtype);
    for (std::int64_t i = 0; i < count; ++i, value += sizeOf(opened->dtype))
        texts.push_back(textOf(opened->dtype, value));
    LATHE_TRY(opened->check());
    return texts;
}

Result<std::shared_ptr<const WeightStatistics>> Weights::statistics(std::int32_t constant, std::stop_token stop)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (const auto known = m_statistics.find(constant); known != m_statistics.end())
            return known->second;
    }
    LATHE_TRY_ASSIGN(const std::shared_ptr<const Opened> opened, open(constant));
    auto statistics = std::make_shared<WeightStatistics>();
    statistics->count = opened->count;
    const bool done = withReader(opened->dtype, opened->contents.bytes, [&](const auto& read) {
        return survey(read, *statistics, stop) && spread(read, *statistics, stop);
    });
    if (!done)
        return stopped();
    LATHE_TRY(opened->check());
    const std::scoped_lock lock(m_mutex);
    return m_statistics.try_emplace(constant, std::move(statistics)).first->second;
}

Result<> Weights::save(std::int32_t constant, const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::shared_ptr<const Opened> opened, open(constant));
    const std::string header = deploy::npyHeader({opened->dtype, opened->value->shape});
    LATHE_TRY_ASSIGN(PreparedFile prepared,
                     PreparedFile::write(file, std::as_bytes(std::span(header)), opened->contents.bytes));
    LATHE_TRY(opened->check());
    return prepared.put();
}

} // namespace lathe::session
