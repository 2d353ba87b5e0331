#include "core/compute/key.h"

#include "core/compute/analysis.h"
#include "core/compute/print.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace lathe::compute {

namespace {

std::string tupleText(const std::vector<std::int64_t>& shape)
{
    return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

/// Result of the combiner on its two variables x and y.
const char* combinerText(ir::Combiner combiner)
{
    switch (combiner) {
    case ir::Combiner::Sum: return "(x + y)";
    case ir::Combiner::Prod: return "(x*y)";
    case ir::Combiner::Max: return "max(x, y)";
    case ir::Combiner::Min: return "min(x, y)";
    case ir::Combiner::ArgMax: return "argmax(x, y)";
    case ir::Combiner::ArgMin: return "argmin(x, y)";
    }
    return "";
}

std::string reduceText(const Dag& dag, const Op& op, const ir::Expr& body)
{
    std::string axes;
    const std::vector<std::string> texts = attrNames(op, "reduce_extent_texts"); // of adaptive pooling
    for (std::size_t i = 0; i < op.reduceAxes.size(); ++i) {
        const std::string extent = i < texts.size() ? texts[i] : std::to_string(op.reduceExtents[i]);
        axes += fmt::format("{}iter_var({}, range(min=0, ext={}))", i ? ", " : "", op.reduceAxes[i]->name, extent);
    }
    return fmt::format(
        "reduce(combiner=comm_reducer(result=[{}], lhs=[x], rhs=[y], identity_element=[{}]), source=[{}], init=[], "
        "axis=[{}], where=(bool)1, value_index=0)",
        combinerText(body->combiner), printExpr(dag, body->operands[1]), printExpr(dag, body->operands[0]), axes);
}

std::string hashFormText(const Dag& dag)
{
    std::string text;
    for (const Op& op : dag.ops) {
        if (op.kind == OpKind::Placeholder) {
            text += fmt::format("placeholder,{},{};", tupleText(op.shape), toString(op.dtype));
            continue;
        }
        std::string bodies;
        for (const ir::Expr& own : op.bodies) {
            if (!bodies.empty())
                bodies += ", ";
            const ir::Expr body = referenceBody(op, own);
            bodies += body->kind == ir::ExprKind::Reduce ? reduceText(dag, op, body) : printExpr(dag, body);
        }
        text += fmt::format("[{}],{},{};", bodies, tupleText(op.shape), toString(op.dtype));
    }
    return text;
}

void writeStrong(const Op& op, const ir::Expr& expr, std::string& out)
{
    const ir::Node& e = *expr;
    switch (e.kind) {
    case ir::ExprKind::Var: {
        const auto position = [&](const std::vector<ir::Expr>& axes, char letter) {
            for (std::size_t i = 0; i < axes.size(); ++i)
                if (axes[i].same(expr))
                    out += fmt::format("{}{}", letter, i);
        };
        position(op.axes, 'a');
        position(op.reduceAxes, 'r');
        return;
    }
    case ir::ExprKind::IntImm: out += fmt::format("{}:{}", e.intValue, toString(e.dtype)); return;
    case ir::ExprKind::FloatImm: out += fmt::format("{:a}:{}", e.floatValue, toString(e.dtype)); return;
    default: break;
    }
    out += fmt::format("{}:{}", static_cast<int>(e.kind), toString(e.dtype));
    if (e.kind == ir::ExprKind::Call)
        out += "." + e.name;
    if (e.kind == ir::ExprKind::Load)
        out += fmt::format("%{}.{}", e.source, e.output);
    if (e.kind == ir::ExprKind::Reduce)
        out += fmt::format(".{}", static_cast<int>(e.combiner));
    out += '(';
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        if (i)
            out += ',';
        writeStrong(op, e.operands[i], out);
    }
    out += ')';
}

std::string attrText(const AttrValue& value)
{
    return nlohmann::json(std::visit([](const auto& v) { return nlohmann::json(v); }, value)).dump();
}

struct ParsedKey
{
    std::string name;
    std::vector<nlohmann::json> arguments; ///< flattened
};

/// False where lists nest deeper than in any key.
bool flatten(const nlohmann::json& value, std::vector<nlohmann::json>& out, int depth = 0)
{
    constexpr int kDeepest = 16;
    if (!value.is_structured()) {
        out.push_back(value);
        return true;
    }
    return value.is_array() && depth < kDeepest
           && std::all_of(value.begin(), value.end(),
                          [&](const nlohmann::json& item) { return flatten(item, out, depth + 1); });
}

Result<ParsedKey> parseKey(std::string_view text)
{
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_array() || json.empty() || !json[0].is_string())
        return makeError(Errc::BadFile,
                         fmt::format("{} is no workload key: a JSON array that begins with a string is expected",
                                     text.substr(0, 80)));
    ParsedKey key{json[0].get<std::string>(), {}};
    for (std::size_t i = 1; i < json.size(); ++i)
        if (!flatten(json[i], key.arguments))
            return makeError(
                Errc::BadFile,
                fmt::format("{} is no workload key: it has more than lists of numbers and texts", text.substr(0, 80)));
    return key;
}

} // namespace

std::string workloadText(const Dag& dag, NameEra form)
{
    return form == NameEra::Hash ? hashFormText(dag) : print(dag, PrintMode::Simple);
}

std::string workloadKey(const Dag& dag, NameEra form)
{
    std::string key = fmt::format("[\"{}\"", md5Hex(workloadText(dag, form)));
    const auto append = [&](std::int32_t op) {
        const std::string numbers = fmt::format("{}", fmt::join(dag.ops[static_cast<std::size_t>(op)].shape, ", "));
        if (form == NameEra::Nested)
            key += ", [" + numbers + "]";
        else if (!numbers.empty())
            key += ", " + numbers;
    };
    if (form != NameEra::Hash) {
        for (const std::int32_t op : dag.inputs)
            append(op);
        for (const std::int32_t op : dag.outputs)
            append(op);
    }
    return key + "]";
}

std::string md5Hex(std::string_view text)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    if (!context || EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) != 1
        || EVP_DigestUpdate(context.get(), text.data(), text.size()) != 1
        || EVP_DigestFinal_ex(context.get(), digest, &size) != 1)
        return {}; // a FIPS-only OpenSSL offers no MD5: compatible keys are then absent, which the caller sees
    std::string hex;
    for (unsigned int i = 0; i < size; ++i)
        hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

std::string strongText(const Dag& dag)
{
    std::string text;
    for (const Op& op : dag.ops) {
        text += op.kind == OpKind::Placeholder ? "p" : "c";
        text += fmt::format(" {} [{}]", toString(op.dtype), fmt::join(op.shape, ","));
        if (!op.reduceExtents.empty())
            text += fmt::format(" r[{}]", fmt::join(op.reduceExtents, ","));
        for (const auto& [name, value] : op.attrs)
            text += fmt::format(" {}={}", name, attrText(value));
        for (const ir::Expr& body : op.bodies) {
            text += ' ';
            writeStrong(op, body, text);
        }
        text += '\n';
    }
    text += fmt::format("in {} out {}\n", fmt::join(dag.inputs, ","), fmt::join(dag.outputs, ","));
    return text;
}

Result<double> distanceFactor(std::string_view target, std::string_view candidate)
{
    LATHE_TRY_ASSIGN(const ParsedKey wanted, parseKey(target));
    LATHE_TRY_ASSIGN(const ParsedKey had, parseKey(candidate));
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    if (wanted.name != had.name || wanted.arguments.size() != had.arguments.size())
        return kInfinite;
    double factor = 1;
    for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
        const nlohmann::json& w = wanted.arguments[i];
        const nlohmann::json& h = had.arguments[i];
        // Extents: what is negative has no multiples.
        const auto extent = [](const nlohmann::json& value) {
            return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
        };
        if (extent(w) != 0 && extent(h) != 0) {
            if (extent(w) % extent(h) != 0)
                return kInfinite;
            factor *= static_cast<double>(extent(w) / extent(h));
        } else if (w != h) {
            return kInfinite;
        }
    }
    return factor;
}

} // namespace lathe::compute
