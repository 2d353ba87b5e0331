#include "tests/net/test_values.h"

#include "core/graph/operators/element.h"

#include <cmath>
#include <limits>

namespace lathe::net {

namespace {

using graph::HostTensor;

/// Largest finite number, smallest normal one and smallest at all of a type.
struct Ends
{
    double largest = 0, normal = 0, tiny = 0;
};

Ends endsOf(DType dtype)
{
    switch (dtype) {
    case DType::F16: return {65504, 0x1p-14, 0x1p-24};
    case DType::BF16: return {0x1.fep127, 0x1p-126, 0x1p-133};
    case DType::F32: return {0x1.fffffep127, 0x1p-126, 0x1p-149};
    default: return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 0x1p-1074};
    }
}

/// Rounded to the type: what writing does anyway, said here so that the copy in a wider type is the same number.
double inType(double value, DType dtype)
{
    HostTensor one = HostTensor::zeros({dtype, {}});
    graph::operators::writeFloats(one, std::span(&value, 1));
    return graph::operators::readFloats(one)[0];
}

double anyFloat(DType dtype, const Domain& domain, Random& random)
{
    const Ends ends = endsOf(dtype);
    const double low = domain.moderate ? -10 : std::log2(ends.tiny),
                 high = domain.moderate ? 10 : std::log2(ends.largest);
    const double size = std::exp2(low + (high - low) * random.uniform());
    return inType(random.below(2) == 0 ? size : -size, dtype);
}

double hostileFloat(DType dtype, const Domain& domain, Random& random)
{
    const Ends ends = endsOf(dtype);
    const double moderate[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1000, -0.001};
    const double any[] = {ends.tiny, -ends.tiny, ends.normal, ends.largest, -ends.largest, 7e4,   -1e9, 3e38,
                          89,        -89,        20,          -20,          1e-4,          -1e-4, 0.25};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double notFinite[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity};
    const std::uint64_t draw = random.below(16);
    if (draw < 3 && !domain.finite)
        return notFinite[draw];
    if (draw < 9 && !domain.moderate)
        return inType(any[random.below(std::size(any))], dtype);
    return inType(moderate[random.below(std::size(moderate))], dtype);
}

double floatOf(Values values, DType dtype, const Domain& domain, Random& random)
{
    switch (values) {
    case Values::Smooth: return inType(6 * random.uniform() - 3, dtype);
    case Values::Halves: {
        const double half = (static_cast<double>(random.below(17)) - 8) / 2;
        return half == 0 && random.below(2) == 0 ? -0.0 : half;
    }
    case Values::Wide: return anyFloat(dtype, domain, random);
    case Values::Hostile: return hostileFloat(dtype, domain, random);
    }
    return 0;
}

std::int64_t integerOf(Values values, DType dtype, const Domain& domain, Random& random)
{
    const bool isSignedType = isSigned(dtype);
    const auto drawn = [&]() -> std::int64_t {
        if (domain.exponent)
            return static_cast<std::int64_t>(random.below(6));
        if (domain.base || values == Values::Smooth || values == Values::Halves)
            return static_cast<std::int64_t>(random.below(isSignedType ? 19 : 10)) - (isSignedType ? 9 : 0);
        const std::uint64_t bits = random.next();
        if (values == Values::Wide)
            return static_cast<std::int64_t>(bits >> random.below(64));
        const std::int64_t width = sizeOf(dtype) * 8;
        const std::uint64_t lowest = isSignedType ? std::uint64_t{1} << (width - 1) : 0;
        const std::uint64_t ends[] = {lowest, lowest + 1, lowest - 1, lowest - 2, 0, 1, ~std::uint64_t{0}, 2};
        return static_cast<std::int64_t>(ends[random.below(std::size(ends))]);
    };
    for (;;) {
        const std::int64_t value = drawn();
        const std::int64_t width = sizeOf(dtype) * 8;
        const std::uint64_t kept = width == 64 ? static_cast<std::uint64_t>(value)
                                               : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1);
        if (!domain.divisor || kept != 0)
            return value;
    }
}

} // namespace

const char* toString(Values values)
{
    switch (values) {
    case Values::Smooth: return "smooth";
    case Values::Halves: return "halves";
    case Values::Wide: return "wide";
    case Values::Hostile: return "hostile";
    }
    return "";
}

void fill(HostTensor& tensor, Values values, const Domain& domain, Random& random)
{
    const DType dtype = tensor.type.dtype;
    const std::size_t count = tensor.bytes.size() / static_cast<std::size_t>(sizeOf(dtype));
    if (isFloat(dtype)) {
        std::vector<double> numbers(count);
        for (double& number : numbers)
            number = floatOf(values, dtype, domain, random);
        graph::operators::writeFloats(tensor, numbers);
        return;
    }
    std::vector<std::int64_t> numbers(count);
    for (std::int64_t& number : numbers)
        number = dtype == DType::Bool ? static_cast<std::int64_t>(random.below(2))
                                      : integerOf(values, dtype, domain, random);
    graph::operators::writeInts(tensor, numbers);
}

void fillPlaces(HostTensor& tensor, std::int64_t extent, Random& random)
{
    std::vector<std::int64_t> numbers(tensor.bytes.size() / static_cast<std::size_t>(sizeOf(tensor.type.dtype)));
    for (std::int64_t& number : numbers)
        number = isSigned(tensor.type.dtype)
                     ? static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * extent))) - extent
                     : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent)));
    graph::operators::writeInts(tensor, numbers);
}

} // namespace lathe::net
