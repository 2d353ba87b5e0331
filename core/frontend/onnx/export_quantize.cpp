// How quantize, dequantize and requantize are spelt in ONNX. QuantizeLinear and DequantizeLinear take float32 and one
// scale, or one for each entry of an axis: these are what importers recognize. All else is spelt out, as
// graph/operators/quantize.cpp defines it.

#include "core/frontend/onnx/exporter.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lathe::frontend::onnx_detail {
namespace {

using graph::attrString;
using graph::Node;
using Ints = std::vector<std::int64_t>;

/// Data with scale and zero point, which broadcast to it.
class Scaled
{
public:
    Scaled(Writer& w, const Node& node)
        : m_w(w)
        , m_data(w.value(node.inputs[0]))
        , m_scale(node.inputs[1])
        , m_zero(node.inputs.size() > 2 ? node.inputs[2] : graph::ValueId())
        , m_wide(m_data.dtype == DType::F64 || w.value(m_scale).dtype == DType::F64)
    {
        findAxis(m_scale);
        if (m_zero.valid())
            findAxis(m_zero);
    }

    DType real() const { return m_wide ? DType::F64 : DType::F32; } ///< in which it is computed
    /// Whether ONNX has an operator for it.
    bool isPlain() const { return m_fits && !m_wide; }
    std::string scale() const { return m_w.cast(m_w.input(m_scale), m_w.value(m_scale).dtype, real()); }
    bool hasZero() const { return m_zero.valid(); }
    std::string zero(DType as) const { return m_w.cast(m_w.input(m_zero), m_w.value(m_zero).dtype, as); }

    /// An operator of ONNX's for `x` with these parameters; `scale` is of this one's shape, or a scalar.
    void write(std::string_view op, const std::string& x, const std::string& scale, bool isScaleAlone, DType zero,
               const std::string& result) const
    {
        std::vector<std::string> inputs{x, arranged(scale, isScaleAlone ? Ints() : m_w.value(m_scale).shape)};
        if (hasZero())
            inputs.push_back(arranged(m_w.input(m_zero), m_w.value(m_zero).shape));
        else if (zero != DType::U8) // whose type says what is made
            inputs.push_back(arranged(m_w.zeroInput(zero), {}));
        NodeWriter node = m_w.node(op, inputs, result);
        if (m_axis)
            node.integer("axis", *m_axis);
    }

private:
    /// The one dimension along which a parameter differs, if that is all.
    void findAxis(graph::ValueId id)
    {
        const Ints& shape = m_w.value(id).shape;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] == 1)
                continue;
            const auto axis = static_cast<std::int64_t>(m_data.shape.size() - shape.size() + d);
            m_fits = m_fits && (!m_axis || *m_axis == axis);
            m_axis = axis;
        }
    }

    /// A scalar, or the vector that lies along the axis.
    std::string arranged(const std::string& parameter, const Ints& shape) const
    {
        const bool isOne = std::ranges::all_of(shape, [](std::int64_t extent) { return extent == 1; });
        if (!m_axis)
            return shape.empty() ? parameter : m_w.reshape(parameter, {});
        const std::int64_t extent = m_data.shape[static_cast<std::size_t>(*m_axis)];
        if (isOne)
            return m_w.step("Expand",
                            {shape.empty() ? parameter : m_w.reshape(parameter, {}), m_w.intsInput({extent})});
        return shape.size() == 1 ? parameter : m_w.reshape(parameter, {extent});
    }

    Writer& m_w;
    const graph::Value& m_data;
    graph::ValueId m_scale, m_zero;
    bool m_wide, m_fits = true;
    std::optional<std::int64_t> m_axis;
};

/// saturate(round(x) + zero), x in the type that it is computed in. NaN becomes the lowest number.
void writeSaturated(Writer& w, const Scaled& s, const std::string& x, DType to, const std::string& result)
{
    const int bits = 8 * static_cast<int>(sizeOf(to));
    const double low = isSigned(to) ? -std::ldexp(1.0, bits - 1) : 0.0, high = low + std::ldexp(1.0, bits) - 1;
    std::string y = w.step("Round", {x});
    if (s.hasZero())
        y = w.step("Add", {y, s.zero(s.real())});
    const std::string least = w.scalarInput(s.real(), low);
    const std::string isAbove = w.step("Greater", {y, least});
    const std::string capped = w.step("Min", {y, w.scalarInput(s.real(), high)});
    w.node("Cast", {w.step("Where", {isAbove, capped, least})}, result).integer("to", dataTypeOf(to));
}

Result<> exportQuantize(Writer& w, const Node& node)
{
    const Scaled s(w, node);
    const DType to = w.value(node.outputs[0]).dtype;
    const std::string x = w.cast(w.input(node.inputs[0]), w.value(node.inputs[0]).dtype, s.real());
    if (s.isPlain())
        s.write("QuantizeLinear", x, s.scale(), false, to, w.outputName(node.outputs[0]));
    else
        writeSaturated(w, s, w.step("Div", {x, s.scale()}), to, w.outputName(node.outputs[0]));
    return {};
}

/// A product, which QuantizeLinear then divides by 1.
Result<> exportRequantize(Writer& w, const Node& node)
{
    const Scaled s(w, node);
    const DType to = w.value(node.outputs[0]).dtype;
    const std::string sums = w.cast(w.input(node.inputs[0]), w.value(node.inputs[0]).dtype, s.real());
    const std::string x = w.step("Mul", {sums, s.scale()});
    if (s.isPlain())
        s.write("QuantizeLinear", x, w.scalarInput(DType::F32, 1), true, to, w.outputName(node.outputs[0]));
    else
        writeSaturated(w, s, x, to, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportDequantize(Writer& w, const Node& node)
{
    const Scaled s(w, node);
    const DType from = w.value(node.inputs[0]).dtype, to = w.value(node.outputs[0]).dtype;
    const std::string x = w.input(node.inputs[0]), result = w.outputName(node.outputs[0]);
    const bool isLast = to == s.real(); // nothing comes behind it
    const std::string real = isLast ? result : w.fresh(node.name + "_real");
    if (s.isPlain() && !(from == DType::I32 && s.hasZero())) { // ONNX knows no zero points of int32
        s.write("DequantizeLinear", x, s.scale(), false, DType::U8, real);
    } else {
        std::string centred = w.cast(x, from, DType::I32);
        if (s.hasZero())
            centred = w.step("Sub", {centred, s.zero(DType::I32)});
        w.node("Mul", {w.cast(centred, DType::I32, s.real()), s.scale()}, real);
    }
    if (!isLast)
        w.node("Cast", {real}, result).integer("to", dataTypeOf(to));
    return {};
}

} // namespace

NodeExporter findQuantizeExporter(std::string_view op)
{
    return op == "quantize"     ? exportQuantize
           : op == "dequantize" ? exportDequantize
           : op == "requantize" ? exportRequantize
                                : nullptr;
}

} // namespace lathe::frontend::onnx_detail
