#include "core/deploy/test_inputs.h"

#include "core/support/random.h"
#include "core/wire/seeded.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace lathe::deploy {

namespace {

std::int64_t elementsOf(const graph::HostTensor& tensor)
{
    return static_cast<std::int64_t>(tensor.bytes.size()) / sizeOf(tensor.type.dtype);
}

bool isWholeNumber(DType dtype)
{
    return isInteger(dtype) && dtype != DType::Bool;
}

/// Low bytes of a whole number.
void writeWhole(graph::HostTensor& tensor, std::int64_t index, std::uint64_t bits)
{
    const auto size = static_cast<std::size_t>(sizeOf(tensor.type.dtype));
    std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(index) * size, &bits, size); // little endian
}

void fillNormal(graph::HostTensor& tensor, const graph::InputRange& range, std::uint64_t seed)
{
    wire::SeededRange values;
    if (range.range.has_value()) {
        const graph::ValueRange within = *range.range;
        values = {within.low, within.high + (isFloat(tensor.type.dtype) ? 0 : 1)};
        if (values.low == 0 && values.high == 0)
            return; // they are zeros
    }
    wire::fillSeeded(seed, tensor.type.dtype, values, tensor.bytes);
}

/// As many numbers of a range as there are elements, none twice.
void fillDistinct(graph::HostTensor& tensor, const graph::ValueRange& range, std::uint64_t seed)
{
    const std::int64_t count = elementsOf(tensor);
    const auto places = static_cast<std::int64_t>(range.high - range.low) + 1;
    // Each is the next of its own stretch of the range; then they are shuffled.
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    Random random(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t begin = i * (places / count);
        const std::int64_t end = i + 1 == count ? places : begin + places / count;
        numbers[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(range.low) + begin
                                               + static_cast<std::int64_t>(
                                                   random.below(static_cast<std::uint64_t>(end - begin)));
    }
    for (std::size_t i = numbers.size(); i > 1; --i)
        std::swap(numbers[i - 1], numbers[static_cast<std::size_t>(random.below(i))]);
    for (std::int64_t i = 0; i < count; ++i)
        writeWhole(tensor, i, static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(i)]));
}

/// Whole numbers of the range, or of all that the type holds; one in eight is an end of it.
void fillIntegers(graph::HostTensor& tensor, const graph::InputRange& range, std::uint64_t seed)
{
    const DType dtype = tensor.type.dtype;
    const int bits = static_cast<int>(sizeOf(dtype)) * 8;
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
    std::uint64_t low = isSigned(dtype) ? ~(all >> 1) : 0; // as a number of 64 bits, with its sign
    std::uint64_t span = all;
    if (range.range && range.needed) {
        low = static_cast<std::uint64_t>(static_cast<std::int64_t>(range.range->low));
        span = static_cast<std::uint64_t>(static_cast<std::int64_t>(range.range->high)) - low;
    }
    Random random(seed);
    for (std::int64_t i = 0; i < elementsOf(tensor); ++i) {
        const std::uint64_t draw = random.below(16);
        const std::uint64_t within = span == ~std::uint64_t{0} ? random.next() : random.below(span + 1);
        writeWhole(tensor, i, low + (draw == 0 ? 0 : draw == 1 ? span : within));
    }
}

void fillLarge(graph::HostTensor& tensor, std::uint64_t seed)
{
    const bool half = tensor.type.dtype == DType::F16;
    const double from = half ? -3 : -4, to = half ? 2 : 4;
    Random random(seed);
    for (std::int64_t i = 0; i < elementsOf(tensor); ++i) {
        const double magnitude = std::pow(10.0, from + random.uniform() * (to - from));
        wire::writeElement(tensor.bytes.data(), i, tensor.type.dtype, random.below(2) == 0 ? magnitude : -magnitude);
    }
}

void fillZeros(graph::HostTensor& tensor, const graph::InputRange& range)
{
    if (range.range && (range.range->low > 0 || range.range->high < 0)) {
        const double nearest = range.range->low > 0 ? range.range->low : range.range->high;
        for (std::int64_t i = 0; i < elementsOf(tensor); ++i)
            wire::writeElement(tensor.bytes.data(), i, tensor.type.dtype, nearest);
    } else if (isFloat(tensor.type.dtype)) {
        for (std::int64_t i = 1; i < elementsOf(tensor); i += 2)
            wire::writeElement(tensor.bytes.data(), i, tensor.type.dtype, -0.0);
    }
}

void putNotANumber(graph::HostTensor& tensor, std::uint64_t seed)
{
    const std::int64_t count = elementsOf(tensor);
    constexpr std::int64_t kOneIn = 16;
    Random random(seed);
    for (std::int64_t i = 0; i < (count + kOneIn - 1) / kOneIn; ++i)
        wire::writeElement(tensor.bytes.data(),
                           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count))),
                           tensor.type.dtype, std::numeric_limits<double>::quiet_NaN());
}

} // namespace

std::string_view toString(InputKind kind)
{
    static constexpr std::string_view kWords[] = {"normal", "large", "zeros", "integers", "nan"};
    return kWords[static_cast<std::size_t>(kind)];
}

std::optional<InputKind> inputKindOf(std::string_view word)
{
    for (const InputKind kind : kInputKinds)
        if (toString(kind) == word)
            return kind;
    return std::nullopt;
}

std::vector<InputKind> kindsThatSuit(const std::vector<graph::TensorType>& inputs)
{
    const bool floats = std::ranges::any_of(inputs, [](const auto& type) { return isFloat(type.dtype); });
    const bool integers = std::ranges::any_of(inputs, [](const auto& type) { return isWholeNumber(type.dtype); });
    std::vector<InputKind> kinds = {InputKind::Normal};
    if (floats)
        kinds.push_back(InputKind::Large);
    if (floats || integers)
        kinds.push_back(InputKind::Zeros);
    if (integers)
        kinds.push_back(InputKind::Integers);
    if (floats)
        kinds.push_back(InputKind::NotANumber);
    return kinds;
}

std::vector<graph::HostTensor> makeTestInputs(const std::vector<graph::TensorType>& inputs,
                                              const std::vector<graph::InputRange>& ranges, InputKind kind,
                                              std::uint64_t seed)
{
    std::vector<graph::HostTensor> tensors;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        graph::HostTensor tensor = graph::HostTensor::zeros(inputs[i]);
        const graph::InputRange range = i < ranges.size() ? ranges[i] : graph::InputRange();
        const std::uint64_t own = wire::inputSeed(seed, i);
        const DType dtype = inputs[i].dtype;
        if (elementsOf(tensor) == 0) {
            tensors.push_back(std::move(tensor));
            continue;
        }
        if (range.range && range.distinct && isWholeNumber(dtype))
            fillDistinct(tensor, *range.range, own);
        else if (kind == InputKind::Zeros)
            fillZeros(tensor, range);
        else if (kind == InputKind::Integers && isWholeNumber(dtype))
            fillIntegers(tensor, range, own);
        else if (kind == InputKind::Large && isFloat(dtype) && !range.range)
            fillLarge(tensor, own);
        else
            fillNormal(tensor, range, own);
        if (kind == InputKind::NotANumber && isFloat(dtype) && !range.range)
            putNotANumber(tensor, own);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<graph::HostTensor> runInputs(const std::vector<graph::TensorType>& inputs,
                                         const std::vector<graph::InputRange>& ranges,
                                         const std::vector<std::optional<graph::HostTensor>>& given, std::uint64_t seed)
{
    const bool any = std::ranges::any_of(ranges, [](const auto& range) { return range.range.has_value(); })
                     || std::ranges::any_of(given, [](const auto& tensor) { return tensor.has_value(); });
    if (!any)
        return {};
    std::vector<graph::HostTensor> tensors = makeTestInputs(inputs, ranges, InputKind::Normal, seed);
    for (std::size_t i = 0; i < std::min(given.size(), tensors.size()); ++i)
        if (given[i])
            tensors[i] = *given[i];
    return tensors;
}

std::vector<graph::TensorType> inputTypesOf(const graph::Graph& network)
{
    std::vector<graph::TensorType> types;
    for (const graph::ValueId input : network.inputs)
        types.push_back({network.value(input).dtype, network.value(input).shape});
    return types;
}

} // namespace lathe::deploy
