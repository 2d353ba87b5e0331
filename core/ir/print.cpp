#include "core/ir/print.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

namespace lathe::ir {

namespace {

const char* infix(ExprKind kind)
{
    switch (kind) {
    case ExprKind::Add: return " + ";
    case ExprKind::Sub: return " - ";
    case ExprKind::Mul: return "*";
    case ExprKind::Div: return "/";
    case ExprKind::Eq: return " == ";
    case ExprKind::Ne: return " != ";
    case ExprKind::Lt: return " < ";
    case ExprKind::Le: return " <= ";
    case ExprKind::Gt: return " > ";
    case ExprKind::Ge: return " >= ";
    case ExprKind::And: return " && ";
    case ExprKind::Or: return " || ";
    default: return nullptr;
    }
}

const char* combinerName(Combiner combiner)
{
    constexpr const char* kNames[] = {"sum", "prod", "max", "min", "argmax", "argmin"};
    return kNames[static_cast<int>(combiner)];
}

std::string floatText(double value, DType dtype)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    const char* suffix = dtype == DType::F64 ? "" : dtype == DType::F32 ? "f" : "h";
    return fmt::format("{:g}{}", value, suffix);
}

std::string intText(const Node& e)
{
    if (e.dtype == DType::I32)
        return std::to_string(e.intValue);
    return fmt::format("({}){}", lathe::toString(e.dtype), e.intValue);
}

/// Variables that share a name are told apart by a number, in order of first appearance.
class VariableNames
{
public:
    const std::string& operator()(const Expr& variable)
    {
        const auto found = m_names.find(variable.get());
        if (found != m_names.end())
            return found->second;
        std::string name = variable->name;
        for (int n = 1; !m_used.insert(name).second; ++n)
            name = fmt::format("{}_{}", variable->name, n);
        return m_names.emplace(variable.get(), std::move(name)).first->second;
    }

private:
    std::map<const Node*, std::string> m_names;
    std::set<std::string> m_used;
};

class ExprPrinter
{
public:
    ExprPrinter(const PrintOptions& options, VariableNames* variables)
        : m_options(options)
        , m_variables(variables)
    {
    }

    std::string operator()(const Expr& e) const
    {
        if (const char* op = infix(e->kind))
            return fmt::format("({}{}{})", (*this)(e->operands[0]), op, (*this)(e->operands[1]));
        switch (e->kind) {
        case ExprKind::IntImm: return intText(*e);
        case ExprKind::FloatImm: return floatText(e->floatValue, e->dtype);
        case ExprKind::Var: return m_variables != nullptr ? (*m_variables)(e) : e->name;
        case ExprKind::FloorDiv: return "floordiv" + list(e->operands, '(', ')');
        case ExprKind::FloorMod: return "floormod" + list(e->operands, '(', ')');
        case ExprKind::Min: return "min" + list(e->operands, '(', ')');
        case ExprKind::Max: return "max" + list(e->operands, '(', ')');
        case ExprKind::Not: return "!" + (*this)(e->operands[0]);
        case ExprKind::Select: return "select" + list(e->operands, '(', ')');
        case ExprKind::IfThenElse: return m_options.callPrefix + "if_then_else" + list(e->operands, '(', ')');
        case ExprKind::Cast: return lathe::toString(e->dtype) + list(e->operands, '(', ')');
        case ExprKind::Call: return m_options.callPrefix + e->name + list(e->operands, '(', ')');
        case ExprKind::Load: return sourceName(*e) + list(e->operands, '[', ']');
        default: break;
        }
        return fmt::format("reduce_{}({}, {}, axes={})", combinerName(e->combiner), (*this)(e->operands[0]),
                           (*this)(e->operands[1]), list(e->axes, '[', ']'));
    }

    std::string list(const std::vector<Expr>& items, char open, char close) const
    {
        std::string text(1, open);
        for (std::size_t i = 0; i < items.size(); ++i)
            text += (i > 0 ? ", " : "") + (*this)(items[i]);
        return text + close;
    }

private:
    std::string sourceName(const Node& e) const
    {
        return m_options.sourceName ? m_options.sourceName(e.source, e.output) : fmt::format("b{}", e.source);
    }

    const PrintOptions& m_options;
    VariableNames* m_variables;
};

class NestPrinter
{
public:
    explicit NestPrinter(const LoopNest& nest)
        : m_nest(nest)
    {
        m_options.sourceName = [this](std::int32_t source, std::int32_t) { return bufferName(source); };
    }

    PrintedNest run()
    {
        m_out.text = fmt::format("kernel {}\n", m_nest.name);
        for (const Buffer& b : m_nest.buffers) {
            m_out.text += fmt::format("buffer {} {} {} {}", b.name, lathe::toString(b.dtype), toString(b.scope),
                                      integers(b.shape));
            if (b.strides != denseStrides(b.shape))
                m_out.text += " strides " + integers(b.strides);
            m_out.text += b.constant ? " constant\n" : b.readOnly ? " readonly\n" : "\n";
        }
        m_out.runs.assign(1 + m_nest.buffers.size(), 0);
        for (std::size_t i = 0; i < m_nest.phases.size(); ++i) {
            m_out.text += fmt::format("phase {}\n", i);
            m_out.runs.push_back(0);
            if (m_nest.phases[i])
                statement(*m_nest.phases[i], 1);
        }
        for (const Launch& launch : m_nest.launches) {
            m_out.text += fmt::format("launch {} grid ({}) block ({}){}\n", launch.name, fmt::join(launch.grid, ", "),
                                      fmt::join(launch.block, ", "),
                                      launch.leastBlocks > 0 ? fmt::format(", room for {}", launch.leastBlocks) : "");
            m_out.runs.push_back(0);
            m_runs = 1;
            for (std::size_t d = 0; d < 3; ++d)
                m_runs *= static_cast<double>(launch.grid[d] * launch.block[d]);
            if (launch.body)
                statement(*launch.body, 1);
            m_runs = 1;
        }
        m_out.stores.resize(m_out.runs.size());
        return std::move(m_out);
    }

    std::string firstLineOf(const StmtNode& s)
    {
        statement(s, 0);
        return m_out.text.substr(0, m_out.text.find('\n'));
    }

private:
    std::string bufferName(std::int32_t index) const
    {
        const bool known = index >= 0 && index < static_cast<std::int32_t>(m_nest.buffers.size());
        return known ? m_nest.buffers[index].name : fmt::format("b{}", index);
    }

    static std::vector<std::int64_t> denseStrides(const std::vector<std::int64_t>& shape)
    {
        std::vector<std::int64_t> strides(shape.size(), 1);
        for (std::size_t i = shape.size(); i-- > 1;)
            strides[i - 1] = strides[i] * shape[i];
        return strides;
    }

    static std::string integers(const std::vector<std::int64_t>& values)
    {
        return fmt::format("[{}]", fmt::join(values, ", "));
    }

    void line(int depth, const std::string& text)
    {
        m_out.text += std::string(2 * static_cast<std::size_t>(depth), ' ') + text + '\n';
        m_out.runs.push_back(m_runs);
    }

    void body(const StmtNode& s, std::size_t index, int depth)
    {
        if (index < s.body.size() && s.body[index])
            statement(*s.body[index], depth);
    }

    void statement(const StmtNode& s, int depth)
    {
        const ExprPrinter text(m_options, &m_variables);
        if (s.kind != StmtKind::Block)
            m_out.lines[&s] = static_cast<std::int32_t>(m_out.runs.size());
        switch (s.kind) {
        case StmtKind::For: {
            const std::string hint = s.unrollHint > 1 ? fmt::format(" unroll {}", s.unrollHint) : std::string();
            line(depth, fmt::format("{} {} ({}, {}){}", toString(s.loop), text(s.variable), text(s.min), text(s.extent),
                                    hint));
            const double outside = m_runs;
            if (s.extent->kind == ExprKind::IntImm)
                m_runs *= static_cast<double>(s.extent->intValue);
            body(s, 0, depth + 1);
            m_runs = outside;
            break;
        }
        case StmtKind::Store:
            m_out.stores.resize(m_out.runs.size());
            m_out.stores.push_back(true);
            line(depth, fmt::format("{}{} = {}", bufferName(s.buffer), text.list(s.indices, '[', ']'), text(s.value)));
            break;
        case StmtKind::Block:
            for (std::size_t i = 0; i < s.body.size(); ++i)
                body(s, i, depth);
            break;
        case StmtKind::If:
            line(depth, "if " + text(s.condition));
            body(s, 0, depth + 1);
            if (s.body.size() > 1 && s.body[1]) {
                line(depth, "else");
                body(s, 1, depth + 1);
            }
            break;
        case StmtKind::Prefetch:
            line(depth, fmt::format("prefetch {}{} locality {}", bufferName(s.buffer), text.list(s.indices, '[', ']'),
                                    s.locality));
            break;
        case StmtKind::Evaluate: line(depth, "do " + text(s.value)); break;
        case StmtKind::Barrier: line(depth, "barrier"); break;
        case StmtKind::AsyncCopy:
            m_out.stores.resize(m_out.runs.size());
            m_out.stores.push_back(true);
            line(depth, fmt::format("async {}{} = {}{}", bufferName(s.buffer), text.list(s.indices, '[', ']'),
                                    text(s.value), s.count > 1 ? fmt::format(" x{}", s.count) : std::string()));
            break;
        case StmtKind::AsyncCommit: line(depth, "async commit"); break;
        case StmtKind::AsyncWait: line(depth, fmt::format("async wait {}", s.count)); break;
        case StmtKind::Shuffle:
            line(depth, fmt::format("shuffle {}{} = {} of lane ^ {} of {}", bufferName(s.buffer),
                                    text.list(s.indices, '[', ']'), text(s.value), s.distance, s.warp));
            break;
        }
    }

    const LoopNest& m_nest;
    PrintOptions m_options;
    VariableNames m_variables;
    PrintedNest m_out;
    double m_runs = 1; ///< of what stands here
};

} // namespace

std::string print(const Expr& e, const PrintOptions& options)
{
    return ExprPrinter(options, nullptr)(e);
}

std::string print(const Expr& e)
{
    return print(e, PrintOptions{});
}

std::string print(const LoopNest& nest)
{
    return NestPrinter(nest).run().text;
}

PrintedNest printWithLines(const LoopNest& nest)
{
    return NestPrinter(nest).run();
}

LoopNest withOwnStatements(const LoopNest& nest)
{
    const std::function<Stmt(const Stmt&)> copied = [&copied](const Stmt& stmt) -> Stmt {
        if (!stmt)
            return nullptr;
        auto own = std::make_shared<StmtNode>(*stmt);
        for (Stmt& inner : own->body)
            inner = copied(inner);
        return own;
    };
    LoopNest own = nest;
    for (Stmt* const body : bodiesOf(own))
        *body = copied(*body);
    return own;
}

std::string firstLine(const LoopNest& nest, const StmtNode& statement)
{
    return NestPrinter(nest).firstLineOf(statement);
}

std::string toString(LoopKind kind)
{
    constexpr const char* kNames[] = {"for",         "parallel",    "vectorize",   "unroll",
                                      "vthread",     "blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                      "threadIdx.x", "threadIdx.y", "threadIdx.z", "tensorize"};
    return kNames[static_cast<int>(kind)];
}

std::string toString(Scope scope)
{
    constexpr const char* kNames[] = {"parameter", "team", "part", "register", "shared", "local"};
    return kNames[static_cast<int>(scope)];
}

} // namespace lathe::ir
