#include "core/compute/print.h"

#include "core/compute/analysis.h"
#include "core/compute/walk.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace lathe::compute {

namespace {

/// The reference's intrinsics carry a namespace.
std::string calleeName(const ir::Node& e)
{
    return e.kind == ir::ExprKind::IfThenElse ? "tir.if_then_else" : "tir." + e.name;
}

const char* floatSuffix(DType t)
{
    switch (t) {
    case DType::F16: return "h";
    case DType::BF16: return "bf";
    case DType::F32: return "f";
    default: return "";
    }
}

void write(const Dag& dag, const ir::Expr& e, std::string& out);

void writeList(const Dag& dag, const std::vector<ir::Expr>& list, std::string& out)
{
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i)
            out += ", ";
        write(dag, list[i], out);
    }
}

void writeInfix(const Dag& dag, const ir::Node& e, const char* symbol, std::string& out)
{
    out += '(';
    write(dag, e.operands[0], out);
    out += symbol;
    write(dag, e.operands[1], out);
    out += ')';
}

void writeCall(const Dag& dag, const ir::Node& e, std::string_view name, std::string& out)
{
    out += name;
    out += '(';
    writeList(dag, e.operands, out);
    out += ')';
}

void write(const Dag& dag, const ir::Expr& expr, std::string& out)
{
    const ir::Node& e = *expr;
    switch (e.kind) {
    case ir::ExprKind::IntImm:
        out += e.dtype == DType::I32 ? std::to_string(e.intValue)
                                     : fmt::format("({}){}", toString(e.dtype), e.intValue);
        break;
    case ir::ExprKind::FloatImm: // without the sign of -0: the reference negates as 0 - x
        out += fmt::format("{:g}{}", e.floatValue == 0 ? 0 : e.floatValue, floatSuffix(e.dtype));
        break;
    case ir::ExprKind::Var: out += e.name; break;
    case ir::ExprKind::Add: writeInfix(dag, e, " + ", out); break;
    case ir::ExprKind::Sub: writeInfix(dag, e, " - ", out); break;
    case ir::ExprKind::Mul: writeInfix(dag, e, "*", out); break;
    case ir::ExprKind::Div: writeInfix(dag, e, "/", out); break;
    case ir::ExprKind::FloorDiv: writeCall(dag, e, "floordiv", out); break;
    case ir::ExprKind::FloorMod: writeCall(dag, e, "floormod", out); break;
    case ir::ExprKind::Min: writeCall(dag, e, "min", out); break;
    case ir::ExprKind::Max: writeCall(dag, e, "max", out); break;
    case ir::ExprKind::Eq: writeInfix(dag, e, " == ", out); break;
    case ir::ExprKind::Ne: writeInfix(dag, e, " != ", out); break;
    case ir::ExprKind::Lt: writeInfix(dag, e, " < ", out); break;
    case ir::ExprKind::Le: writeInfix(dag, e, " <= ", out); break;
    case ir::ExprKind::Gt: writeInfix(dag, e, " > ", out); break;
    case ir::ExprKind::Ge: writeInfix(dag, e, " >= ", out); break;
    case ir::ExprKind::And: writeInfix(dag, e, " && ", out); break;
    case ir::ExprKind::Or: writeInfix(dag, e, " || ", out); break;
    case ir::ExprKind::Not:
        out += '!';
        write(dag, e.operands[0], out);
        break;
    case ir::ExprKind::Select: writeCall(dag, e, "select", out); break;
    case ir::ExprKind::IfThenElse:
    case ir::ExprKind::Call: writeCall(dag, e, calleeName(e), out); break;
    case ir::ExprKind::Cast: writeCall(dag, e, toString(e.dtype), out); break;
    case ir::ExprKind::Load:
        out += dag.ops[static_cast<std::size_t>(e.source)].name;
        if (dag.ops[static_cast<std::size_t>(e.source)].bodies.size() > 1)
            out += fmt::format(".v{}", e.output);
        out += '[';
        writeList(dag, e.operands, out);
        out += ']';
        break;
    case ir::ExprKind::Reduce: write(dag, e.operands[0], out); break;
    }
}

const char* assignment(const ir::Expr& body)
{
    if (body->kind != ir::ExprKind::Reduce)
        return " = ";
    switch (body->combiner) {
    case ir::Combiner::Sum: return " += ";
    case ir::Combiner::Prod: return " *= ";
    case ir::Combiner::Max: return " max= ";
    case ir::Combiner::Min: return " min= ";
    case ir::Combiner::ArgMax: return " argmax= ";
    case ir::Combiner::ArgMin: return " argmin= ";
    }
    return " = ";
}

void writeOp(const Dag& dag, const Op& op, PrintMode mode, std::string& out)
{
    if (op.kind == OpKind::Placeholder) {
        out += op.name + " = PLACEHOLDER ";
        if (mode != PrintMode::Simple)
            out += fmt::format("[{}]", fmt::join(op.shape, ", "));
        out += '\n';
        return;
    }
    for (std::size_t k = 0; k < op.bodies.size(); ++k) {
        const ir::Expr body = referenceBody(op, op.bodies[k]);
        out += op.name + "(";
        writeList(dag, op.axes, out);
        out += ')';
        if (op.bodies.size() > 1)
            out += fmt::format(".v{}", k);
        out += assignment(body);
        const bool isCall = body->kind == ir::ExprKind::Call || body->kind == ir::ExprKind::IfThenElse;
        if (mode == PrintMode::Simple && isCall)
            out += "Op(" + calleeName(*body) + ")";
        else
            write(dag, body, out);
        out += '\n';
    }
}

double largestFinite(DType t)
{
    switch (t) {
    case DType::F16: return 65504;
    case DType::BF16: return 0x1.fep127;
    case DType::F32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
    }
}

std::string shortened(const std::string& text)
{
    constexpr std::size_t kLimit = 256;
    constexpr std::size_t kKept = 128;
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        const std::string_view line(text.data() + begin, end - begin);
        if (line.size() > kLimit)
            result.append(line.substr(0, kKept)).append(" ..(OMITTED).. ").append(line.substr(line.size() - kKept));
        else
            result.append(line);
        result += '\n';
        begin = end + 1;
    }
    return result;
}

} // namespace

ir::Expr referenceBody(const Op& op, const ir::Expr& body)
{
    std::size_t replaced = 1; // a reduction's identity
    if (body->kind == ir::ExprKind::IfThenElse && op.attrs.contains("pads_maximum"))
        replaced = 2;
    else if (body->kind != ir::ExprKind::Reduce)
        return body;
    const ir::Expr& literal = body->operands[replaced];
    if (literal->kind != ir::ExprKind::FloatImm || !std::isinf(literal->floatValue))
        return body;
    ir::Node node = *body;
    node.operands[replaced] = ir::floatImm(std::copysign(largestFinite(literal->dtype), literal->floatValue),
                                           literal->dtype);
    return makeNode(std::move(node));
}

std::string print(const Dag& dag, PrintMode mode)
{
    std::string out;
    for (const Op& op : dag.ops)
        writeOp(dag, op, mode, out);
    return mode == PrintMode::Display ? shortened(out) : out;
}

std::string printExpr(const Dag& dag, const ir::Expr& e)
{
    std::string out;
    write(dag, e, out);
    return out;
}

} // namespace lathe::compute
