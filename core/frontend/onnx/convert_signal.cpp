// Spectra of signals: windows, Fourier transforms, mel filters. Transforms are matrix products with constants.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxSamples = std::int64_t{1}
                                     << 24; ///< elements of a tensor that a few bytes of the file ask for
constexpr double kTurn = 2 * std::numbers::pi;

Result<std::int64_t> oneInteger(Builder& b, NodeReader& node, std::int64_t input, std::string_view what)
{
    LATHE_TRY_ASSIGN(const Ints values, b.constantInts(node, input, what));
    if (values.size() != 1)
        return makeError(Errc::BadFile, say(Msg::MustBeOneNumber, what, values.size()));
    return values[0];
}

Result<double> oneNumber(Builder& b, NodeReader& node, std::int64_t input, std::string_view what)
{
    LATHE_TRY_ASSIGN(const std::vector<double> values, b.constantNumbers(node, input, what));
    if (values.size() != 1)
        return makeError(Errc::BadFile, say(Msg::MustBeOneNumber, what, values.size()));
    return values[0];
}

Result<DType> outputType(NodeReader& node)
{
    LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("output_datatype", ::onnx::TensorProto_DataType_FLOAT));
    const auto known = dtypeOf(wanted);
    if (!known)
        return makeError(Errc::Unsupported, say(Msg::NeedsElementType, dataTypeText(wanted)));
    return *known;
}

/// Sums of cosines: a0 - a1 cos(x) + a2 cos(2x), x going around once in `size` steps (periodic) or in one fewer.
Result<std::vector<ValueId>> convertWindow(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const std::int64_t size, oneInteger(b, node, 0, "size"));
    LATHE_TRY_ASSIGN(const std::int64_t periodic, node.integer("periodic", 1));
    LATHE_TRY_ASSIGN(const DType dtype, outputType(node));
    if (size < 0 || size > kMaxSamples)
        return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "size", size));
    LATHE_TRY(b.charge(size * sizeOf(dtype)));
    double a0 = 0.5, a1 = 0.5, a2 = 0;
    if (node.op() == "HammingWindow") {
        a0 = 25.0 / 46;
        a1 = 1 - a0;
    } else if (node.op() == "BlackmanWindow") {
        a0 = 0.42;
        a2 = 0.08;
    }
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto steps = static_cast<double>(periodic != 0 ? size : size - 1);
        const double x = kTurn * static_cast<double>(i) / steps;
        values.push_back(steps == 0 ? 1 : a0 - a1 * std::cos(x) + a2 * std::cos(2 * x));
    }
    return std::vector{b.constant(dtype, {size}, values)};
}

/// Triangles over the bins of a spectrum, evenly spaced on the mel scale, as the standard's text rounds their ends.
Result<std::vector<ValueId>> convertMelWeightMatrix(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const std::int64_t bands, oneInteger(b, node, 0, "num_mel_bins"));
    LATHE_TRY_ASSIGN(const std::int64_t length, oneInteger(b, node, 1, "dft_length"));
    LATHE_TRY_ASSIGN(const std::int64_t rate, oneInteger(b, node, 2, "sample_rate"));
    LATHE_TRY_ASSIGN(const double low, oneNumber(b, node, 3, "lower_edge_hertz"));
    LATHE_TRY_ASSIGN(const double high, oneNumber(b, node, 4, "upper_edge_hertz"));
    LATHE_TRY_ASSIGN(const DType dtype, outputType(node));
    if (bands < 1 || length < 1 || rate < 1 || bands > kMaxSamples || length > kMaxSamples
        || bands * (length / 2 + 1) > kMaxSamples || !(low >= 0 && high > low && high < 1e9))
        return makeError(Errc::BadFile, say(Msg::MelOutOfRange, bands, length, rate, low, high));
    const std::int64_t bins = length / 2 + 1;
    LATHE_TRY(b.charge(bins * bands * sizeOf(dtype)));
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    Ints ends;
    for (std::int64_t i = 0; i < bands + 2; ++i) {
        const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
        const double hertz = 700 * (std::pow(10.0, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
        ends.push_back(
            static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    }
    std::vector<double> weights(static_cast<std::size_t>(bins * bands), 0);
    for (std::int64_t i = 0; i < bands; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto first = static_cast<double>(ends[at]), center = static_cast<double>(ends[at + 1]),
                   last = static_cast<double>(ends[at + 2]);
        for (std::int64_t j = ends[at]; j < std::max(ends[at + 2], ends[at + 1] + 1); ++j) {
            if (j >= bins)
                return makeError(Errc::BadFile, say(Msg::MelOutOfRange, bands, length, rate, low, high));
            const auto x = static_cast<double>(j);
            double weight = 1;
            if (x < center)
                weight = (x - first) / (center - first);
            else if (x > center || last > center)
                weight = (last - x) / (last - center);
            weights[static_cast<std::size_t>(j * bands + i)] = weight;
        }
    }
    return std::vector{b.constant(dtype, {bins, bands}, weights)};
}

// ---- Fourier transforms

/// Rows of complex numbers: re and im [rows, length] each.
struct Complex
{
    ValueId re, im; ///< im is invalid where all are real
};

/// The largest factor of at most 64 that splits off; 1 if there is none.
std::int64_t factorOf(std::int64_t length)
{
    for (std::int64_t f = std::min<std::int64_t>(64, length - 1); f > 1; --f) {
        if (length % f == 0)
            return f;
    }
    return 1;
}

/// Transforms each row; `sign` -1 forward, 1 backward, without the division. Lengths up to 64 and prime ones are a
/// product with one matrix; others are rows and columns (Cooley and Tukey, 1965): X[k1 + n1 k2] is the transform over
/// m2 of W^(m2 k1) times that over m1 of x[n2 m1 + m2].
Complex transform(Builder& b, Composer& c, Complex x, double sign)
{
    const std::int64_t rows = c.extent(x.re, 0), n = c.extent(x.re, 1);
    const DType dtype = c.dtype(x.re);
    if (n <= 1 || c.failed())
        return {x.re, x.im.valid() ? x.im : c.broadcast(c.like(x.re, 0), c.shape(x.re))};
    const auto angle = [&](std::int64_t product, std::int64_t around) {
        return sign * kTurn * static_cast<double>(product % around) / static_cast<double>(around);
    };
    const std::int64_t n1 = n <= 64 ? 1 : factorOf(n);
    if (n1 == 1) {
        if (n > 2048)
            return {c.unsupported(say(Msg::NeedsPrimeLength, n)), {}};
        const std::int64_t height = x.im.valid() ? 2 * n : n;
        if (auto charged = b.charge(height * 2 * n * sizeOf(dtype)); !charged)
            return {c.fail(std::move(charged).error()), {}};
        std::vector<double> matrix(static_cast<std::size_t>(height * 2 * n));
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t k = 0; k < n; ++k) {
                const double cosine = std::cos(angle(j * k, n)), sine = std::sin(angle(j * k, n));
                const auto put = [&](std::int64_t row, std::int64_t column, double value) {
                    matrix[static_cast<std::size_t>(row * 2 * n + column)] = value;
                };
                put(j, k, cosine);
                put(j, n + k, sine);
                if (x.im.valid()) {
                    put(n + j, k, -sine);
                    put(n + j, n + k, cosine);
                }
            }
        }
        const ValueId both = x.im.valid() ? c.concat({x.re, x.im}, 1) : x.re;
        const ValueId y = c.matmul(both, b.constant(dtype, {height, 2 * n}, matrix));
        return {c.slice(y, 1, 0, n), c.slice(y, 1, n, 2 * n)};
    }
    const std::int64_t n2 = n / n1;
    const auto turned = [&](ValueId v, Ints shape, std::int64_t length) { // [r, p, q] to rows of [r * q, p]
        return v.valid() ? c.reshape(c.transpose(c.reshape(v, std::move(shape)), {0, 2, 1}), {-1, length}) : v;
    };
    Complex inner{turned(x.re, {rows, n1, n2}, n1), turned(x.im, {rows, n1, n2}, n1)};
    inner = transform(b, c, inner, sign); // [rows * n2, n1]
    if (auto charged = b.charge(2 * n * sizeOf(dtype)); !charged)
        return {c.fail(std::move(charged).error()), {}};
    std::vector<double> cosines, sines;
    for (std::int64_t m2 = 0; m2 < n2; ++m2) {
        for (std::int64_t k1 = 0; k1 < n1; ++k1) {
            cosines.push_back(std::cos(angle(m2 * k1, n)));
            sines.push_back(std::sin(angle(m2 * k1, n)));
        }
    }
    const ValueId cosine = b.constant(dtype, {n2, n1}, cosines), sine = b.constant(dtype, {n2, n1}, sines);
    const ValueId re = c.reshape(inner.re, {rows, n2, n1}), im = c.reshape(inner.im, {rows, n2, n1});
    const ValueId twistedRe = c.sub(c.mul(re, cosine), c.mul(im, sine));
    const ValueId twistedIm = c.add(c.mul(re, sine), c.mul(im, cosine));
    Complex outer{turned(twistedRe, {rows, n2, n1}, n2), turned(twistedIm, {rows, n2, n1}, n2)};
    outer = transform(b, c, outer, sign); // [rows * n1, n2]
    return {c.reshape(turned(outer.re, {rows, n1, n2}, n1), {rows, n}),
            c.reshape(turned(outer.im, {rows, n1, n2}, n1), {rows, n})};
}

/// x [rows, length, 1 or 2] to [rows, bins, 2]. Half floats are transformed in float32.
ValueId spectrum(Builder& b, Composer& c, ValueId given, bool inverse, bool oneSided)
{
    const DType dtype = c.dtype(given);
    const ValueId x = dtype == DType::F64 ? given : c.cast(given, DType::F32);
    const std::int64_t rows = c.extent(x, 0), length = c.extent(x, 1);
    const auto part = [&](std::int64_t k) { return c.reshape(c.slice(x, 2, k, k + 1), {rows, length}); };
    Complex y = transform(b, c, {part(0), c.extent(x, 2) == 2 ? part(1) : ValueId()}, inverse ? 1 : -1);
    const std::int64_t bins = oneSided ? length / 2 + 1 : length;
    std::vector<ValueId> parts;
    for (ValueId v : {y.re, y.im}) {
        v = c.slice(v, 1, 0, bins);
        if (inverse)
            v = c.div(v, c.like(v, static_cast<double>(length)));
        parts.push_back(c.reshape(v, {rows, bins, 1}));
    }
    return c.cast(c.concat(parts, 2), dtype);
}

Result<std::vector<ValueId>> convertDft(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t inverse, node.integer("inverse", 0));
    LATHE_TRY_ASSIGN(const std::int64_t oneSided, node.integer("onesided", 0));
    std::int64_t axis = 0;
    if (b.opset() < 20) {
        LATHE_TRY_ASSIGN(axis, node.integer("axis", 1));
    } else if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(axis, oneInteger(b, node, 2, "the axis"));
    } else {
        axis = -2;
    }
    const std::int64_t rank = b.rank(x);
    const std::int64_t parts = rank < 1 ? 0 : b.shape(x).back();
    if (rank < 2 || (parts != 1 && parts != 2))
        return makeError(Errc::BadFile, say(Msg::ComplexLast));
    if (axis < -rank || axis >= rank || axis == -1 || axis == rank - 1)
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
    axis = axis < 0 ? axis + rank : axis;
    if (oneSided != 0 && (inverse != 0 || parts != 1))
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "onesided", oneSided));
    std::int64_t length = b.shape(x)[static_cast<std::size_t>(axis)];
    Composer c(b);
    if (node.hasInput(1)) {
        LATHE_TRY_ASSIGN(const std::int64_t wanted, oneInteger(b, node, 1, "dft_length"));
        if (wanted < 1 || wanted > kMaxSamples)
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "dft_length", wanted));
        if (wanted < length)
            x = c.slice(x, axis, 0, wanted);
        if (wanted > length) {
            Ints widths(static_cast<std::size_t>(2 * rank), 0);
            widths[static_cast<std::size_t>(2 * axis + 1)] = wanted - length;
            x = c.pad(x, widths);
        }
        length = wanted;
    }
    Ints there, back(static_cast<std::size_t>(rank)); // the axis next to the last
    for (std::int64_t d = 0; d + 1 < rank; ++d) {
        if (d != axis)
            there.push_back(d);
    }
    there.insert(there.end(), {axis, rank - 1});
    for (std::size_t i = 0; i < there.size(); ++i)
        back[static_cast<std::size_t>(there[i])] = static_cast<std::int64_t>(i);
    const bool moved = axis != rank - 2;
    if (moved)
        x = c.transpose(x, there);
    if (c.failed())
        return c.finish({});
    Ints shape = c.shape(x);
    const std::int64_t rows = elementCount(std::span(shape).first(shape.size() - 2));
    ValueId y = spectrum(b, c, c.reshape(x, {rows, length, parts}), inverse != 0, oneSided != 0);
    if (c.failed())
        return c.finish({});
    shape[shape.size() - 2] = c.extent(y, 1);
    shape.back() = 2;
    y = c.reshape(y, shape);
    return c.finish({moved ? c.transpose(y, back) : y});
}

Result<std::vector<ValueId>> convertStft(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId signal, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t step, oneInteger(b, node, 1, "frame_step"));
    LATHE_TRY_ASSIGN(const std::int64_t oneSided, node.integer("onesided", 1));
    Composer c(b);
    if (b.rank(signal) == 2)
        signal = c.reshape(signal, {b.shape(signal)[0], b.shape(signal)[1], 1});
    const Ints in = c.shape(signal);
    if (c.failed() || in.size() != 3 || (in[2] != 1 && in[2] != 2))
        return makeError(Errc::BadFile, say(Msg::SignalShape));
    std::int64_t length = 0;
    ValueId window;
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(window, b.input(node, 2));
        if (b.rank(window) != 1)
            return makeError(Errc::BadFile, say(Msg::WindowShape));
        length = b.shape(window)[0];
    }
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const std::int64_t given, oneInteger(b, node, 3, "frame_length"));
        if (window.valid() && given != length)
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "frame_length", given));
        length = given;
    }
    if (step < 1 || length < 1 || length > in[1])
        return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "frame_length", length));
    if (oneSided != 0 && in[2] == 2)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "onesided", oneSided));
    const std::int64_t frames = (in[1] - length) / step + 1;
    if (frames > kMaxSamples / length)
        return makeError(Errc::BadFile, say(Msg::ConstantsTooLarge));
    LATHE_TRY(b.charge(frames * length * 8));
    Ints places;
    for (std::int64_t f = 0; f < frames; ++f) {
        for (std::int64_t i = 0; i < length; ++i)
            places.push_back(f * step + i);
    }
    ValueId x = c.reshape(c.take(signal, places, 1), {in[0], frames, length, in[2]});
    if (window.valid())
        x = c.mul(x, c.reshape(c.cast(window, c.dtype(x)), {length, 1}));
    const ValueId y = spectrum(b, c, c.reshape(x, {in[0] * frames, length, in[2]}), false, oneSided != 0);
    return c.finish({c.reshape(y, {in[0], frames, c.extent(y, 1), 2})});
}

} // namespace

std::span<const ConverterEntry> signalConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"BlackmanWindow", convertWindow},
        {"DFT", convertDft},
        {"HammingWindow", convertWindow},
        {"HannWindow", convertWindow},
        {"MelWeightMatrix", convertMelWeightMatrix},
        {"STFT", convertStft},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
