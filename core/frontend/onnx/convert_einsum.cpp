// Einsum: operands are joined two by two, each time by a product of matrices.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr char kFirstEllipsis = 1; ///< labels of the dimensions under "...", which have no letters

struct Operand
{
    ValueId value;
    std::string labels; ///< one character a dimension
};

struct Equation
{
    std::vector<std::string> inputs; ///< with '.' for "..."
    std::string output;
    bool hasOutput = false;
};

Result<std::string> termOf(std::string_view text)
{
    std::string term;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            term += c;
        } else if (text.substr(i, 3) == "..." && term.find('.') == std::string::npos) {
            term += '.';
            i += 2;
        } else {
            return makeError(Errc::BadFile, say(Msg::EquationMalformed));
        }
    }
    return term;
}

Result<Equation> parse(std::string text)
{
    std::erase(text, ' ');
    Equation e;
    const std::size_t arrow = text.find("->");
    std::string_view left = std::string_view(text).substr(0, arrow);
    if (arrow != std::string::npos) {
        e.hasOutput = true;
        LATHE_TRY_ASSIGN(e.output, termOf(std::string_view(text).substr(arrow + 2)));
    }
    while (true) {
        const std::size_t comma = left.find(',');
        LATHE_TRY_ASSIGN(std::string term, termOf(left.substr(0, comma)));
        e.inputs.push_back(std::move(term));
        if (comma == std::string_view::npos)
            break;
        left = left.substr(comma + 1);
    }
    return e;
}

bool has(const std::string& labels, char label)
{
    return labels.find(label) != std::string::npos;
}

/// Dimensions in another order.
ValueId arranged(Composer& c, const Operand& x, const std::string& labels)
{
    if (labels == x.labels)
        return x.value;
    Ints axes;
    for (const char label : labels)
        axes.push_back(static_cast<std::int64_t>(x.labels.find(label)));
    return c.transpose(x.value, axes);
}

Operand summed(Composer& c, Operand x, const std::string& kept)
{
    Ints axes;
    std::string labels;
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
        if (has(kept, x.labels[i]))
            labels += x.labels[i];
        else
            axes.push_back(static_cast<std::int64_t>(i));
    }
    if (!axes.empty())
        x = {c.reduce("sum", x.value, axes, false), labels};
    return x;
}

/// Dimensions of one label become one: those off the diagonal are 0 in a mask, and the sum over one of them leaves it.
Operand onDiagonals(Builder& b, Composer& c, Operand x)
{
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
        const std::size_t other = x.labels.find(x.labels[i], i + 1);
        if (other == std::string::npos)
            continue;
        const std::int64_t n = c.extent(x.value, static_cast<std::int64_t>(i));
        if (c.extent(x.value, static_cast<std::int64_t>(other)) != n || n > 2048) {
            c.unsupported(say(Msg::NeedsDiagonal, n, c.extent(x.value, static_cast<std::int64_t>(other))));
            return x;
        }
        std::vector<double> eye(static_cast<std::size_t>(n * n), 0.0);
        for (std::int64_t k = 0; k < n; ++k)
            eye[static_cast<std::size_t>(k * n + k)] = 1;
        Ints shape(x.labels.size(), 1);
        shape[i] = shape[other] = n;
        const ValueId mask = b.constant(DType::Bool, shape, eye);
        const ValueId alone = c.where(mask, x.value, c.like(x.value, 0));
        x.value = c.reduce("sum", alone, {static_cast<std::int64_t>(other)}, false);
        x.labels.erase(other, 1);
        --i;
    }
    return x;
}

std::int64_t sizeOfLabels(Composer& c, const Operand& x, const std::string& labels)
{
    std::int64_t size = 1;
    for (const char label : labels)
        size *= c.extent(x.value, static_cast<std::int64_t>(x.labels.find(label)));
    return size;
}

/// The product of two operands, summed over what is not kept.
Operand joined(Composer& c, Operand a, Operand b, const std::string& kept)
{
    // What only one of them has and nobody keeps goes first.
    a = summed(c, a, kept + b.labels);
    b = summed(c, b, kept + a.labels);
    std::string batch, rows, columns, inner;
    Ints outShape;
    for (const char label : a.labels)
        (has(b.labels, label) ? (has(kept, label) ? batch : inner) : rows) += label;
    for (const char label : b.labels) {
        if (!has(a.labels, label))
            columns += label;
    }
    for (const char label : batch + inner) { // an extent of 1 may meet a larger one under an ellipsis
        const std::int64_t x = sizeOfLabels(c, a, {label}), y = sizeOfLabels(c, b, {label});
        for (const auto& [operand, own, other] : {std::tuple{&a, x, y}, std::tuple{&b, y, x}}) {
            if (own != 1 || other == 1)
                continue;
            Ints wide = c.shape(operand->value);
            wide[operand->labels.find(label)] = other;
            operand->value = c.broadcast(operand->value, wide);
        }
    }
    const std::int64_t count = sizeOfLabels(c, a, batch), m = sizeOfLabels(c, a, rows), k = sizeOfLabels(c, a, inner),
                       n = sizeOfLabels(c, b, columns);
    for (const char label : batch + rows)
        outShape.push_back(sizeOfLabels(c, a, {label}));
    for (const char label : columns)
        outShape.push_back(sizeOfLabels(c, b, {label}));
    const ValueId left = c.reshape(arranged(c, a, batch + rows + inner), {count, m, k});
    const ValueId right = c.reshape(arranged(c, b, batch + inner + columns), {count, k, n});
    const ValueId product = k == 1 ? c.mul(left, right) : c.matmul(left, right);
    return {c.reshape(product, outShape), batch + rows + columns};
}

Result<std::vector<ValueId>> convertEinsum(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const std::string text, node.text("equation", ""));
    LATHE_TRY_ASSIGN(Equation e, parse(text));
    Composer c(b);
    if (static_cast<std::int64_t>(e.inputs.size()) != node.inputCount())
        return makeError(Errc::BadFile, say(Msg::EquationOperands, e.inputs.size(), node.inputCount()));
    std::vector<Operand> operands;
    std::size_t covered = 0; // dimensions under the widest ellipsis
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
        LATHE_TRY_ASSIGN(const ValueId x, b.input(node, static_cast<std::int64_t>(i)));
        const auto rank = static_cast<std::size_t>(b.rank(x));
        const std::size_t named = e.inputs[i].size() - (has(e.inputs[i], '.') ? 1 : 0);
        if (rank < named || rank > 24 || (rank != named && !has(e.inputs[i], '.')))
            return makeError(Errc::BadFile, say(Msg::EquationDimensions, i, named, rank));
        covered = std::max(covered, rank - named);
        operands.push_back({x, e.inputs[i]});
    }
    const auto expand = [&](std::string& labels, std::size_t dims) { // ellipses are aligned at their ends
        if (const std::size_t at = labels.find('.'); at != std::string::npos) {
            std::string names;
            for (std::size_t d = covered - dims; d < covered; ++d)
                names += static_cast<char>(kFirstEllipsis + d);
            labels.replace(at, 1, names);
        }
    };
    std::map<char, int> seen;
    for (Operand& x : operands) {
        for (const char label : x.labels)
            seen[label] += 1;
        const std::size_t named = x.labels.size() - (has(x.labels, '.') ? 1 : 0);
        expand(x.labels, static_cast<std::size_t>(b.rank(x.value)) - named);
    }
    if (!e.hasOutput) { // the ellipsis, then labels that occur once, by the alphabet
        if (seen.contains('.'))
            e.output += '.';
        for (const auto& [label, times] : seen) {
            if (label != '.' && times == 1)
                e.output += label;
        }
    }
    expand(e.output, covered);
    for (std::size_t i = 0; i < e.output.size(); ++i) {
        const bool known = std::ranges::any_of(operands, [&](const Operand& x) { return has(x.labels, e.output[i]); });
        if (!known || e.output.find(e.output[i], i + 1) != std::string::npos)
            return makeError(Errc::BadFile, say(Msg::EquationResult));
    }
    for (Operand& x : operands)
        x = onDiagonals(b, c, std::move(x));
    while (operands.size() > 1) {
        std::string kept = e.output;
        for (std::size_t i = 2; i < operands.size(); ++i)
            kept += operands[i].labels;
        operands[0] = joined(c, operands[0], operands[1], kept);
        operands.erase(operands.begin() + 1);
    }
    const Operand last = summed(c, operands[0], e.output);
    return c.finish({arranged(c, last, e.output)});
}

} // namespace

std::span<const ConverterEntry> einsumConverters()
{
    static constexpr ConverterEntry kTable[] = {{"Einsum", convertEinsum}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
