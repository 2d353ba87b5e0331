#include "core/compute/json.h"

#include "core/compute/walk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace lathe::compute {

namespace {

using Json = nlohmann::json;
using ir::ExprKind;

struct KindName
{
    ExprKind kind;
    std::string_view name;
    std::size_t operands;
};

/// Kinds that are written as [name, dtype, operands...].
constexpr std::array kPlainKinds{
    KindName{ExprKind::Add, "+", 2},
    KindName{ExprKind::Sub, "-", 2},
    KindName{ExprKind::Mul, "*", 2},
    KindName{ExprKind::Div, "/", 2},
    KindName{ExprKind::FloorDiv, "floordiv", 2},
    KindName{ExprKind::FloorMod, "floormod", 2},
    KindName{ExprKind::Min, "min", 2},
    KindName{ExprKind::Max, "max", 2},
    KindName{ExprKind::Eq, "==", 2},
    KindName{ExprKind::Ne, "!=", 2},
    KindName{ExprKind::Lt, "<", 2},
    KindName{ExprKind::Le, "<=", 2},
    KindName{ExprKind::Gt, ">", 2},
    KindName{ExprKind::Ge, ">=", 2},
    KindName{ExprKind::And, "&&", 2},
    KindName{ExprKind::Or, "||", 2},
    KindName{ExprKind::Not, "!", 1},
    KindName{ExprKind::Select, "select", 3},
    KindName{ExprKind::IfThenElse, "if", 3},
    KindName{ExprKind::Cast, "cast", 1},
};

constexpr std::array<std::string_view, 6> kCombiners{"sum", "prod", "max", "min", "argmax", "argmin"};

/// Bodies nest as deep as the longest concatenation has inputs; a hostile file must not exhaust the stack.
constexpr int kMaxDepth = 4000;

using Variables = std::unordered_map<const ir::Node*, std::size_t>;

Json exprToJson(const ir::Expr& e, const Variables& variables)
{
    const auto type = [&] { return toString(e->dtype); };
    Json json = Json::array();
    switch (e->kind) {
    case ExprKind::Var: return Json::array({"v", variables.at(e.get())});
    case ExprKind::IntImm: return Json::array({"i", type(), e->intValue});
    // As bits: JSON has neither infinities nor a fixed precision.
    case ExprKind::FloatImm: return Json::array({"f", type(), std::bit_cast<std::uint64_t>(e->floatValue)});
    case ExprKind::Load: json = Json::array({"load", type(), e->source, e->output}); break;
    case ExprKind::Call: json = Json::array({"call", type(), e->name}); break;
    case ExprKind::Reduce: {
        Json axes = Json::array();
        for (const ir::Expr& axis : e->axes)
            axes.push_back(variables.at(axis.get()));
        json = Json::array({"reduce", type(), kCombiners[static_cast<std::size_t>(e->combiner)], std::move(axes)});
        break;
    }
    default:
        for (const KindName& kind : kPlainKinds)
            if (kind.kind == e->kind)
                json = Json::array({kind.name, type()});
        break;
    }
    for (const ir::Expr& operand : e->operands)
        json.push_back(exprToJson(operand, variables));
    return json;
}

Json opToJson(const Op& op)
{
    Json json{{"kind", op.kind == OpKind::Placeholder ? "placeholder" : "compute"},
              {"name", op.name},
              {"tag", op.tag},
              {"dtype", toString(op.dtype)},
              {"shape", op.shape}};
    Json attrs = Json::object();
    for (const auto& [name, value] : op.attrs)
        attrs[name] = std::visit([](const auto& v) { return Json(v); }, value);
    json["attrs"] = std::move(attrs);
    if (op.kind == OpKind::Placeholder)
        return json;
    Variables variables;
    Json axes = Json::array();
    for (const ir::Expr& axis : op.axes) {
        variables.emplace(axis.get(), variables.size());
        axes.push_back(Json::array({axis->name, toString(axis->dtype)}));
    }
    Json reduceAxes = Json::array();
    for (std::size_t i = 0; i < op.reduceAxes.size(); ++i) {
        variables.emplace(op.reduceAxes[i].get(), variables.size());
        reduceAxes.push_back(
            Json::array({op.reduceAxes[i]->name, toString(op.reduceAxes[i]->dtype), op.reduceExtents[i]}));
    }
    json["axes"] = std::move(axes);
    json["reduce_axes"] = std::move(reduceAxes);
    Json bodies = Json::array();
    for (const ir::Expr& body : op.bodies)
        bodies.push_back(exprToJson(body, variables));
    json["bodies"] = std::move(bodies);
    return json;
}

std::optional<DType> dtypeFromJson(const Json& json)
{
    if (json.is_string())
        for (int t = 0; t <= static_cast<int>(DType::F64); ++t)
            if (json.get_ref<const std::string&>() == toString(static_cast<DType>(t)))
                return static_cast<DType>(t);
    return std::nullopt;
}

/// Reads one DAG. Every member is looked at once; what is not expected is an error with the operation's place.
class Reader
{
public:
    Result<DagPtr> run(const Json& json)
    {
        LATHE_TRY(members(json, {"ops", "inputs", "outputs"}));
        if (!json["ops"].is_array())
            return bad("ops is no list");
        for (const Json& op : json["ops"])
            LATHE_TRY(readOp(op));
        m_place = "the DAG";
        LATHE_TRY_ASSIGN(m_dag.inputs, positions(json["inputs"]));
        LATHE_TRY_ASSIGN(m_dag.outputs, positions(json["outputs"]));
        if (m_dag.outputs.empty())
            return bad("there is no output");
        std::set<std::int32_t> placeholders;
        for (std::size_t i = 0; i < m_dag.ops.size(); ++i)
            if (m_dag.ops[i].kind == OpKind::Placeholder)
                placeholders.insert(static_cast<std::int32_t>(i));
        if (m_dag.inputs.size() != placeholders.size()
            || std::set(m_dag.inputs.begin(), m_dag.inputs.end()) != placeholders)
            return bad("inputs are not its placeholders");
        return DagPtr(std::make_shared<const Dag>(std::move(m_dag)));
    }

private:
    Error bad(std::string_view what) const
    {
        return makeError(Errc::BadFile, fmt::format("compute DAG, {}: {}", m_place, what));
    }

    Result<> members(const Json& json, std::initializer_list<std::string_view> names) const
    {
        if (!json.is_object())
            return bad("an object is expected");
        for (const std::string_view name : names)
            if (!json.contains(name))
                return bad(fmt::format("member {} is missing", name));
        if (json.size() != names.size())
            return bad("there are unknown members");
        return {};
    }

    Result<std::vector<std::int32_t>> positions(const Json& json) const
    {
        std::vector<std::int32_t> result;
        if (!json.is_array())
            return bad("a list of positions is expected");
        for (const Json& item : json) {
            if (!item.is_number_integer() || item.get<std::int64_t>() < 0
                || item.get<std::int64_t>() >= static_cast<std::int64_t>(m_dag.ops.size()))
                return bad(fmt::format("{} is no position of an operation", item.dump()));
            result.push_back(item.get<std::int32_t>());
        }
        return result;
    }

    Result<std::string> text(const Json& json, std::string_view what) const
    {
        return json.is_string() ? Result<std::string>(json.get<std::string>())
                                : Result<std::string>(bad(fmt::format("{} is no text", what)));
    }

    Result<DType> dtype(const Json& json) const
    {
        const std::optional<DType> t = dtypeFromJson(json);
        return t ? Result<DType>(*t) : Result<DType>(bad(fmt::format("{} is no type", json.dump())));
    }

    Result<std::int64_t> extent(const Json& json) const
    {
        if (!json.is_number_integer() || json.get<std::int64_t>() < 0)
            return bad(fmt::format("{} is no extent", json.dump()));
        return json.get<std::int64_t>();
    }

    Result<> readOp(const Json& json)
    {
        m_place = fmt::format("operation {}", m_dag.ops.size());
        const bool isCompute = json.is_object() && json.contains("kind") && json["kind"] == "compute";
        if (isCompute)
            LATHE_TRY(
                members(json, {"kind", "name", "tag", "dtype", "shape", "attrs", "axes", "reduce_axes", "bodies"}));
        else
            LATHE_TRY(members(json, {"kind", "name", "tag", "dtype", "shape", "attrs"}));
        if (!isCompute && json["kind"] != "placeholder")
            return bad("kind is neither placeholder nor compute");
        Op op;
        op.kind = isCompute ? OpKind::Compute : OpKind::Placeholder;
        LATHE_TRY_ASSIGN(op.name, text(json["name"], "name"));
        LATHE_TRY_ASSIGN(op.tag, text(json["tag"], "tag"));
        LATHE_TRY_ASSIGN(op.dtype, dtype(json["dtype"]));
        if (!json["shape"].is_array())
            return bad("shape is no list");
        for (const Json& item : json["shape"]) {
            LATHE_TRY_ASSIGN(const std::int64_t e, extent(item));
            op.shape.push_back(e);
        }
        LATHE_TRY(readAttrs(json["attrs"], op));
        if (isCompute)
            LATHE_TRY(readBodies(json, op));
        m_dag.ops.push_back(std::move(op));
        return {};
    }

    Result<> readAttrs(const Json& json, Op& op) const
    {
        if (!json.is_object())
            return bad("attrs is no object");
        for (const auto& [name, value] : json.items()) {
            if (value.is_number_integer()) {
                op.attrs.emplace(name, value.get<std::int64_t>());
            } else if (value.is_string()) {
                op.attrs.emplace(name, value.get<std::string>());
            } else if (value.is_array()) {
                std::vector<std::string> list;
                for (const Json& item : value) {
                    LATHE_TRY_ASSIGN(std::string s, text(item, name));
                    list.push_back(std::move(s));
                }
                op.attrs.emplace(name, std::move(list));
            } else {
                return bad(fmt::format("attribute {} is neither integer, text nor list", name));
            }
        }
        return {};
    }

    Result<> readBodies(const Json& json, Op& op)
    {
        std::set<std::string> names;
        m_variables.clear();
        const auto axis = [&](const Json& item, std::size_t size, std::vector<ir::Expr>& out) -> Result<> {
            if (!item.is_array() || item.size() != size)
                return bad("an axis is malformed");
            LATHE_TRY_ASSIGN(std::string name, text(item[0], "name of an axis"));
            LATHE_TRY_ASSIGN(const DType type, dtype(item[1]));
            if (!isInteger(type))
                return bad(fmt::format("axis {} is no integer", name));
            if (!names.insert(name).second)
                return bad(fmt::format("axis name {} is used twice", name));
            out.push_back(ir::var(std::move(name), type));
            m_variables.push_back(out.back());
            return {};
        };
        if (!json["axes"].is_array() || json["axes"].size() != op.shape.size())
            return bad("axes do not match the shape");
        for (const Json& item : json["axes"])
            LATHE_TRY(axis(item, 2, op.axes));
        if (!json["reduce_axes"].is_array())
            return bad("reduce_axes is no list");
        for (const Json& item : json["reduce_axes"]) {
            LATHE_TRY(axis(item, 3, op.reduceAxes));
            LATHE_TRY_ASSIGN(const std::int64_t e, extent(item[2]));
            op.reduceExtents.push_back(e);
        }
        m_firstReduce = op.axes.size();
        if (!json["bodies"].is_array() || json["bodies"].empty())
            return bad("there is no body");
        for (const Json& item : json["bodies"]) {
            LATHE_TRY_ASSIGN(ir::Expr body, readExpr(item, 0, true));
            op.bodies.push_back(std::move(body));
        }
        if (op.bodies.front()->dtype != op.dtype)
            return bad("dtype differs from the body's");
        return {};
    }

    /// An expression but for its operands.
    struct Head
    {
        ir::Expr whole; ///< of what has no operands
        ir::Node node;
        std::size_t first = 2; ///< where its operands begin
        std::optional<std::size_t> operands; ///< nothing: any number
    };

    /// Not inline, like the check: what recurs keeps a small frame.
    [[gnu::noinline]] Result<> readHead(const Json& json, bool isRoot, Head& head)
    {
        if (!json.is_array() || json.size() < 2 || !json[0].is_string())
            return bad("an expression is malformed");
        const std::string& tag = json[0].get_ref<const std::string&>();
        if (tag == "v") {
            if (json.size() != 2)
                return bad("a variable is malformed");
            LATHE_TRY_ASSIGN(const std::size_t position, variable(json[1], 0));
            head.whole = m_variables[position];
            return {};
        }
        LATHE_TRY_ASSIGN(head.node.dtype, dtype(json[1]));
        if (tag == "i" || tag == "f") {
            LATHE_TRY_ASSIGN(head.whole, literal(json, tag == "f", std::move(head.node)));
            return {};
        }
        if (tag == "load") {
            head.node.kind = ExprKind::Load;
            LATHE_TRY(readLoad(json, head.node));
            head.first = 4;
            head.operands = m_dag.ops[static_cast<std::size_t>(head.node.source)].shape.size();
        } else if (tag == "call") {
            head.node.kind = ExprKind::Call;
            if (json.size() < 3)
                return bad("a call is malformed");
            LATHE_TRY_ASSIGN(head.node.name, text(json[2], "name of a call"));
            head.first = 3;
        } else if (tag == "reduce") {
            head.node.kind = ExprKind::Reduce;
            if (!isRoot)
                return bad("a reduction stands inside an expression");
            LATHE_TRY(readReduce(json, head.node));
            head.first = 4;
            head.operands = 2;
        } else {
            for (const KindName& kind : kPlainKinds)
                if (kind.name == tag) {
                    head.node.kind = kind.kind;
                    head.operands = kind.operands;
                }
            if (!head.operands)
                return bad(fmt::format("{} is no kind of expression", tag));
        }
        if (json.size() < head.first || (head.operands && json.size() - head.first != *head.operands))
            return bad(fmt::format("{} has {} operands", tag, json.size() - std::min(head.first, json.size())));
        return {};
    }

    Result<ir::Expr> readExpr(const Json& json, int depth, bool isRoot)
    {
        if (depth > kMaxDepth)
            return bad("an expression nests too deep");
        Head head;
        LATHE_TRY(readHead(json, isRoot, head));
        if (head.whole)
            return std::move(head.whole);
        for (std::size_t i = head.first; i < json.size(); ++i) {
            LATHE_TRY_ASSIGN(ir::Expr operand, readExpr(json[i], depth + 1, false));
            head.node.operands.push_back(std::move(operand));
        }
        LATHE_TRY(checkTypes(head.node));
        return makeNode(std::move(head.node));
    }

    /// The typing rules that the builders of ir enforce for our own code.
    [[gnu::noinline]] Result<> checkTypes(const ir::Node& node) const
    {
        const auto same = [&](std::size_t a, std::size_t b) {
            return node.operands[a]->dtype == node.operands[b]->dtype;
        };
        bool good = true;
        switch (node.kind) {
        case ExprKind::Add:
        case ExprKind::Sub:
        case ExprKind::Mul:
        case ExprKind::Min:
        case ExprKind::Max: good = same(0, 1) && node.operands[0]->dtype == node.dtype; break;
        case ExprKind::Div: good = same(0, 1) && node.operands[0]->dtype == node.dtype && isFloat(node.dtype); break;
        case ExprKind::FloorDiv:
        case ExprKind::FloorMod:
            good = same(0, 1) && node.operands[0]->dtype == node.dtype && !isFloat(node.dtype);
            break;
        case ExprKind::Eq:
        case ExprKind::Ne:
        case ExprKind::Lt:
        case ExprKind::Le:
        case ExprKind::Gt:
        case ExprKind::Ge: good = same(0, 1) && node.dtype == DType::Bool; break;
        case ExprKind::And:
        case ExprKind::Or:
            good = same(0, 1) && node.operands[0]->dtype == DType::Bool && node.dtype == DType::Bool;
            break;
        case ExprKind::Not: good = node.operands[0]->dtype == DType::Bool && node.dtype == DType::Bool; break;
        case ExprKind::Select:
        case ExprKind::IfThenElse:
            good = node.operands[0]->dtype == DType::Bool && same(1, 2) && node.operands[1]->dtype == node.dtype;
            break;
        case ExprKind::Load:
            for (const ir::Expr& index : node.operands)
                good &= isInteger(index->dtype);
            break;
        case ExprKind::Reduce: {
            const bool isArg = node.combiner == ir::Combiner::ArgMax || node.combiner == ir::Combiner::ArgMin;
            good = same(0, 1) && (isArg ? isInteger(node.dtype) : node.operands[0]->dtype == node.dtype);
            break;
        }
        default: break;
        }
        return good ? Result<>() : Result<>(bad("types of an expression and its operands do not fit"));
    }

    Result<ir::Expr> literal(const Json& json, bool isF, ir::Node node) const
    {
        if (json.size() != 3 || !json[2].is_number_integer() || isFloat(node.dtype) != isF
            || (isF && !json[2].is_number_unsigned()))
            return bad("a literal is malformed");
        node.kind = isF ? ExprKind::FloatImm : ExprKind::IntImm;
        if (isF)
            node.floatValue = std::bit_cast<double>(json[2].get<std::uint64_t>());
        else
            node.intValue = json[2].get<std::int64_t>();
        return makeNode(std::move(node));
    }

    Result<> readLoad(const Json& json, ir::Node& node) const
    {
        if (json.size() < 4 || !json[2].is_number_integer() || !json[3].is_number_integer())
            return bad("a load is malformed");
        const auto source = json[2].get<std::int64_t>();
        if (source < 0 || source >= static_cast<std::int64_t>(m_dag.ops.size()))
            return bad(fmt::format("a load reads operation {}, which does not come before", source));
        const Op& from = m_dag.ops[static_cast<std::size_t>(source)];
        const auto output = json[3].get<std::int64_t>();
        const auto outputs = static_cast<std::int64_t>(std::max<std::size_t>(1, from.bodies.size()));
        if (output < 0 || output >= outputs)
            return bad(fmt::format("a load reads output {} of {}", output, from.name));
        if (output == 0 && from.dtype != node.dtype)
            return bad(fmt::format("a load gives {} another type", from.name));
        node.source = static_cast<std::int32_t>(source);
        node.output = static_cast<std::int32_t>(output);
        return {};
    }

    Result<> readReduce(const Json& json, ir::Node& node) const
    {
        if (json.size() < 4 || !json[2].is_string() || !json[3].is_array())
            return bad("a reduction is malformed");
        bool known = false;
        for (std::size_t i = 0; i < kCombiners.size(); ++i)
            if (json[2].get_ref<const std::string&>() == kCombiners[i]) {
                node.combiner = static_cast<ir::Combiner>(i);
                known = true;
            }
        if (!known)
            return bad(fmt::format("{} is no combiner", json[2].dump()));
        for (const Json& item : json[3]) {
            LATHE_TRY_ASSIGN(const std::size_t position, variable(item, m_firstReduce));
            node.axes.push_back(m_variables[position]);
        }
        return {};
    }

    Result<std::size_t> variable(const Json& json, std::size_t first) const
    {
        if (!json.is_number_unsigned() || json.get<std::uint64_t>() < first
            || json.get<std::uint64_t>() >= m_variables.size())
            return bad(fmt::format("{} is no variable", json.dump()));
        return static_cast<std::size_t>(json.get<std::uint64_t>());
    }

    Dag m_dag;
    std::string m_place = "the DAG";
    std::vector<ir::Expr> m_variables; ///< axes, then reduce axes of the operation at hand
    std::size_t m_firstReduce = 0;
};

} // namespace

Json toJson(const Dag& dag)
{
    Json ops = Json::array();
    for (const Op& op : dag.ops)
        ops.push_back(opToJson(op));
    return Json{{"ops", std::move(ops)}, {"inputs", dag.inputs}, {"outputs", dag.outputs}};
}

Result<DagPtr> dagFromJson(const Json& json)
{
    return Reader().run(json);
}

} // namespace lathe::compute
