#include "core/deploy/compare_tensors.h"

#include "core/graph/op_traits.h"
#include "core/support/element_count.h"
#include "core/target/backend_traits.h"
#include "core/wire/seeded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lathe::deploy {

namespace {

constexpr double kNeverClose = std::numeric_limits<double>::infinity();
constexpr double kRoundings = 16; ///< as far as one rounding may move a result, so many times are no surprise

double elementOf(const graph::HostTensor& tensor, std::int64_t i)
{
    return wire::readElement(tensor.bytes.data(), i, tensor.type.dtype);
}

bool equalBytes(const graph::HostTensor& a, const graph::HostTensor& b, std::int64_t i)
{
    const auto size = static_cast<std::size_t>(sizeOf(a.type.dtype));
    const std::size_t at = static_cast<std::size_t>(i) * size;
    return std::memcmp(a.bytes.data() + at, b.bytes.data() + at, size) == 0;
}

/// |y - r|; infinite where only one is a number, or they are different infinities.
double difference(double y, double r)
{
    if (y == r || (std::isnan(y) && std::isnan(r)))
        return 0;
    return std::isfinite(y) && std::isfinite(r) ? std::abs(y - r) : kNeverClose;
}

/// The largest finite magnitudes: of each sample, or of each element alone.
class Scales
{
public:
    Scales(const graph::HostTensor& reference, bool elementwise)
        : m_reference(reference)
        , m_elementwise(elementwise)
    {
        const std::int64_t count = elementCount(reference.type.shape);
        const auto& shape = reference.type.shape;
        m_length = elementwise ? 1 : shape.size() > 1 && shape[0] > 0 ? count / shape[0] : count;
        if (elementwise || count == 0)
            return;
        m_largest.assign(static_cast<std::size_t>(count / m_length), 0.0);
        for (std::int64_t i = 0; i < count; ++i)
            if (const double r = elementOf(reference, i); std::isfinite(r))
                m_largest[static_cast<std::size_t>(i / m_length)] = std::max(
                    m_largest[static_cast<std::size_t>(i / m_length)], std::abs(r));
    }
    double of(std::int64_t i) const
    {
        if (!m_elementwise)
            return m_largest[static_cast<std::size_t>(i / m_length)];
        const double r = std::abs(elementOf(m_reference, i));
        return std::isfinite(r) ? r : 0;
    }

private:
    const graph::HostTensor& m_reference;
    bool m_elementwise;
    std::int64_t m_length = 1;
    std::vector<double> m_largest;
};

/// What rounding alone does to a reference.
struct Rounding
{
    double largest = 0; ///< max |r - d|
    double share = 0; ///< max |r - d| / what the element is held against
    std::int64_t differ = 0; ///< elements where r and d differ
    bool breaks = false; ///< only one of the two is a number somewhere
};

/// What is too small to be told from 0 is held against the smallest number that has all its digits.
double heldAgainst(const Scales& scales, std::int64_t i, DType dtype)
{
    const double smallest = dtype == DType::F64   ? std::numeric_limits<double>::min()
                            : dtype == DType::F16 ? 0x1p-14
                                                  : double{std::numeric_limits<float>::min()};
    return std::max(scales.of(i), smallest);
}

Rounding roundingOf(const graph::HostTensor& reference, const graph::HostTensor& unrounded, const Scales& scales)
{
    Rounding rounding;
    for (std::int64_t i = 0; i < elementCount(reference.type.shape); ++i) {
        const double d = difference(elementOf(unrounded, i), elementOf(reference, i));
        if (std::isinf(d)) {
            rounding.breaks = true;
        } else {
            rounding.largest = std::max(rounding.largest, d);
            rounding.share = std::max(rounding.share, d / heldAgainst(scales, i, reference.type.dtype));
        }
        rounding.differ += d > 0 ? 1 : 0;
    }
    return rounding;
}

void noteBeyond(TensorComparison& c, std::int64_t i, double y, double r, double allowed)
{
    if (c.beyond++ > 0)
        return;
    c.first = i;
    c.firstValue = y;
    c.firstReference = r;
    c.allowed = allowed;
}

/// Integers of any width, and bool.
void compareWhole(TensorComparison& c, const graph::HostTensor& tensor, const graph::HostTensor& reference,
                  const Rounding* rounding)
{
    double largest = 0;
    for (std::int64_t i = 0; i < elementCount(tensor.type.shape); ++i)
        if (!equalBytes(tensor, reference, i)) {
            const double y = elementOf(tensor, i), r = elementOf(reference, i);
            largest = std::max(largest, std::abs(y - r));
            noteBeyond(c, i, y, r, 0);
        }
    // Floats that were rounded to whole numbers, or told which is the largest, tip over where they are near.
    if (rounding != nullptr && rounding->differ > 0 && largest <= rounding->largest
        && static_cast<double>(c.beyond) <= kRoundings * static_cast<double>(rounding->differ)) {
        c.beyond = 0;
        c.illConditioned = true;
    }
}

/// Rounding moves an element by no more than its share of what the element is held against, and by no more than it
/// moves any: so a large element hides no small one, unless rounding alone may make anything of the small one.
void compareFloats(TensorComparison& c, const graph::HostTensor& tensor, const graph::HostTensor& reference,
                   const Likeness& likeness, const Scales& scales, const graph::HostTensor* unrounded,
                   const Rounding* rounding)
{
    for (std::int64_t i = 0; i < elementCount(tensor.type.shape); ++i) {
        const double y = elementOf(tensor, i), r = elementOf(reference, i);
        const double usual = likeness.tolerance * scales.of(i);
        double allowed = usual;
        if (rounding != nullptr)
            allowed += kRoundings
                       * std::min(rounding->largest, rounding->share * heldAgainst(scales, i, tensor.type.dtype));
        const double d = difference(y, r);
        const bool signs = likeness.signedZeros && y == 0 && r == 0 && std::signbit(y) != std::signbit(r);
        if (d <= allowed && !signs) {
            c.illConditioned = c.illConditioned || d > usual;
            continue;
        }
        // Where the reference itself overflows or not by rounding alone, the library may do either.
        if (std::isinf(d) && unrounded != nullptr && std::isinf(difference(elementOf(*unrounded, i), r))) {
            c.illConditioned = true;
            continue;
        }
        noteBeyond(c, i, y, r, allowed);
    }
}

void compareNotANumber(TensorComparison& c, const graph::HostTensor& tensor, const graph::HostTensor& reference,
                       const Likeness& likeness)
{
    for (std::int64_t i = 0; i < elementCount(tensor.type.shape); ++i) {
        const double y = elementOf(tensor, i), r = elementOf(reference, i);
        if (std::isnan(y) != std::isnan(r) && !(likeness.notANumberSpreads && std::isnan(y)))
            noteBeyond(c, i, y, r, 0);
    }
    c.maxRelError = c.agrees() ? 0 : kNeverClose;
    c.worst = c.first;
    c.value = c.firstValue;
    c.reference = c.firstReference;
}

} // namespace

double usualTolerance(DType dtype)
{
    return Tolerances().of(dtype);
}

Result<TensorComparison> compareTensors(std::string name, const graph::HostTensor& tensor,
                                        const graph::HostTensor& reference, const Likeness& likeness,
                                        const graph::HostTensor* unrounded)
{
    if (!(tensor.type == reference.type))
        return makeError(Errc::InvalidArgument,
                         fmt::format("'{}' is {} {}, its reference {} {}", name, toString(tensor.type.dtype),
                                     tensor.type.shape, toString(reference.type.dtype), reference.type.shape));
    TensorComparison c;
    c.name = std::move(name);
    if (likeness.onlyNotANumber) {
        compareNotANumber(c, tensor, reference, likeness);
        return c;
    }
    double largest = 0, furthest = 0;
    for (std::int64_t i = 0; i < elementCount(tensor.type.shape); ++i) {
        const double y = elementOf(tensor, i), r = elementOf(reference, i);
        if (std::isfinite(r))
            largest = std::max(largest, std::abs(r));
        if (const double d = difference(y, r); d > furthest) {
            furthest = d;
            c.worst = i;
            c.value = y;
            c.reference = r;
        }
    }
    // Against a reference of zeros alone there is no relative error: any difference is as bad as can be.
    const auto relative = [largest](double d) { return d == 0 ? 0 : largest > 0 ? d / largest : kNeverClose; };
    c.maxRelError = relative(furthest);
    const Scales scales(reference, likeness.elementwise);
    std::optional<Rounding> rounding;
    if (unrounded != nullptr && unrounded->type.shape == reference.type.shape) {
        rounding = roundingOf(reference, *unrounded, scales);
        c.rounding = rounding->breaks ? kNeverClose : relative(rounding->largest);
    }
    if (!isFloat(tensor.type.dtype)) {
        compareWhole(c, tensor, reference, rounding ? &*rounding : nullptr);
        return c;
    }
    compareFloats(c, tensor, reference, likeness, scales, rounding ? unrounded : nullptr,
                  rounding ? &*rounding : nullptr);
    if (c.illConditioned && !rounding->breaks) // some element was let through, which may be far below the largest
        c.rounding = std::max(c.rounding, std::min(rounding->share, 1.0));
    c.illConditioned = c.illConditioned || c.rounding > likeness.tolerance;
    return c;
}

std::vector<OutputNature> naturesOf(const graph::Graph& network, const std::vector<graph::ValueId>& values)
{
    std::vector<OutputNature> known(network.values.size(), {true, true});
    for (const graph::Node& node : network.nodes) {
        const graph::OpTraits& traits = graph::traitsOf(node);
        const graph::Cost cost = graph::costOf(node);
        const bool moves = cost == graph::Cost::Free || cost == graph::Cost::Movement;
        OutputNature nature{(moves || cost == graph::Cost::Elementwise) && !traits.sums && node.bodies.empty(),
                            moves || traits.signsZeros};
        for (const graph::ValueId input : node.inputs)
            if (input.valid()) {
                nature.elementwise = nature.elementwise && known[static_cast<std::size_t>(input.value)].elementwise;
                nature.signsZeros = nature.signsZeros && known[static_cast<std::size_t>(input.value)].signsZeros;
            }
        for (const graph::ValueId output : node.outputs)
            if (output.valid())
                known[static_cast<std::size_t>(output.value)] = nature;
    }
    std::vector<OutputNature> natures;
    for (const graph::ValueId value : values)
        natures.push_back(known[static_cast<std::size_t>(value.value)]);
    return natures;
}

} // namespace lathe::deploy
