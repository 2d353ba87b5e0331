#include "core/backend/c_source.h"

#include "core/backend/source_text.h"
#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/launch_resources.h"
#include "core/support/hash.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace lathe::backend {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

/// Statements that unrolling may write out in one kernel; loops beyond stay loops, with a hint to the compiler.
constexpr std::int64_t kMostStatements = 4096;

class SourcePrinter : SourceText
{
public:
    explicit SourcePrinter(const ir::LoopNest& nest)
        : SourceText(nest)
    {
    }

    Result<KernelSource> run()
    {
        for (const ir::Buffer& buffer : m_nest.buffers) {
            if (typeName(buffer.dtype) == nullptr)
                return unsupported(toString(buffer.dtype));
            if (ir::elementCount(buffer) > INT32_MAX)
                return unsupported(fmt::format("a tensor of {} elements", ir::elementCount(buffer)));
        }
        KernelSource source;
        std::vector<std::size_t> places; // of the symbols, which are known last
        for (const ir::Launch& launch : m_nest.launches) {
            std::size_t place = 0;
            source.launches.push_back(kernel(launch, place));
            places.push_back(place);
        }
        if (!m_problem.empty())
            return unsupported(m_problem);
        for (const DType dtype : m_extensions)
            source.head += fmt::format("#pragma OPENCL EXTENSION {} : enable\n",
                                       dtype == DType::F16 ? "cl_khr_fp16" : "cl_khr_fp64");
        for (const std::string& helper : m_helpers)
            source.head += helper;
        for (std::size_t i = 0; i < places.size(); ++i) {
            SourceLaunch& launch = source.launches[i];
            std::set<std::string> none;
            launch.symbol = fmt::format("{}_{:016x}", identifier(m_nest.launches[i].name, none),
                                        contentHash(source.head + launch.text).high);
            launch.text.insert(places[i], launch.symbol);
        }
        return source;
    }

private:
    Error unsupported(const std::string& what) const
    {
        return makeError(Errc::Unsupported, say(Msg::SourceHasNoForm, m_nest.name, "OpenCL C", what));
    }
    // ---- one kernel ------------------------------------------------------------------------------------------------

    /// Without its symbol, whose place in the text is `symbolAt`.
    SourceLaunch kernel(const ir::Launch& launch, std::size_t& symbolAt)
    {
        SourceLaunch made;
        made.grid = launch.grid;
        made.block = launch.block;
        made.sharedBytes = ir::sharedBytes(m_nest, launch);
        m_scopes.begin();
        m_names.clear();
        m_levels.clear();
        m_statements = 0;
        m_ranges = {};
        std::set<std::string> taken = m_taken;
        std::string axes;
        for (std::size_t d = 0; d < 3; ++d) {
            axes += axis(launch.blockIndex[d], launch.grid[d], fmt::format("get_group_id({})", d), *launch.body, taken);
            axes += axis(launch.threadIndex[d], launch.block[d], fmt::format("get_local_id({})", d), *launch.body,
                         taken);
        }
        m_takenHere = taken;
        findVectorRegisters(launch.body);
        std::string parameters, declarations;
        for (const std::int32_t id : ir::buffersOf(launch.body)) {
            const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            const std::string& name = m_bufferNames[static_cast<std::size_t>(id)];
            noteType(buffer.dtype);
            if (buffer.scope == Scope::Parameter || buffer.scope == Scope::Team) {
                made.buffers.push_back(id);
                parameters += fmt::format("{}__global {}{} *restrict {}", parameters.empty() ? "" : ", ",
                                          buffer.readOnly ? "const " : "", typeName(buffer.dtype), name);
                continue;
            }
            if (const std::int64_t width = registerWidth(id); width > 1) {
                declarations += fmt::format("    {} {}[{}];\n", vectorType(buffer.dtype, width), name,
                                            ir::elementCount(buffer) / width);
                continue;
            }
            const bool isShared = buffer.scope == Scope::Shared;
            // What vectors are read from: registers of elements are not.
            const bool isAligned = isShared || buffer.scope == Scope::Local;
            declarations += fmt::format("    {}{} {}[{}]{};\n", isShared ? "__local " : "", typeName(buffer.dtype),
                                        name, isShared ? schedule::sharedElements(buffer) : ir::elementCount(buffer),
                                        isAligned ? " __attribute__((aligned(16)))" : "");
        }
        made.text = fmt::format("\n// {}: {} of {}\n__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid ",
                                launch.name, counted(made.grid[0] * made.grid[1] * made.grid[2], "block|blocks"),
                                counted(made.block[0] * made.block[1] * made.block[2], "thread|threads"), made.block[0],
                                made.block[1], made.block[2]);
        symbolAt = made.text.size();
        made.text += fmt::format("({})\n{{\n{}{}", parameters, declarations, axes);
        statement(launch.body);
        made.text += m_scopes.end() + "}\n";
        return made;
    }

    std::string axis(const Expr& variable, std::int64_t extent, const std::string& value, const ir::StmtNode& body,
                     std::set<std::string>& taken)
    {
        m_ranges.setExtent(variable, extent);
        bool isUsed = false;
        const Stmt all = std::make_shared<ir::StmtNode>(body);
        ir::visitExprs(all, [&](const Expr& e) { isUsed = isUsed || ir::uses(e, variable); });
        const std::string name = identifier(variable->name, taken);
        bind(variable, name);
        return isUsed ? fmt::format("    const int {} = {};\n", name, value) : std::string();
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    static std::int64_t statementsOf(const Stmt& s)
    {
        if (!s)
            return 0;
        std::int64_t inside = s->kind == StmtKind::Store ? 1 : 0;
        for (const Stmt& inner : s->body)
            inside += statementsOf(inner);
        const bool isWritten = s->kind == StmtKind::For
                               && (s->loop == LoopKind::Unrolled || s->loop == LoopKind::Vectorized);
        return isWritten ? inside * std::max<std::int64_t>(1, s->extent->intValue) : inside;
    }

    bool touchesRegisters(const Stmt& s, const Expr& variable) const
    {
        if (!s)
            return false;
        const auto isIndex = [&](std::int32_t buffer, const std::vector<Expr>& indices) {
            return m_nest.buffers[static_cast<std::size_t>(buffer)].scope == Scope::Register
                   && std::ranges::any_of(indices, [&](const Expr& e) { return ir::uses(e, variable); });
        };
        bool found = s->kind == StmtKind::Store && isIndex(s->buffer, s->indices);
        ir::visitExprs(s, [&](const Expr& e) {
            ir::visit(e, [&](const Expr& inner) {
                found = found || (inner->kind == ExprKind::Load && isIndex(inner->source, inner->operands));
            });
        });
        return found;
    }

    void statement(const Stmt& s)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::For: loop(s); return;
        case StmtKind::Block:
            for (const Stmt& inner : s->body)
                statement(inner);
            return;
        case StmtKind::If:
            m_scopes.openBranch(fmt::format("if ({}) {{", text(s->condition)), !ir::holdsData(s->condition));
            statement(s->body[0]);
            if (s->body.size() > 1 && s->body[1]) {
                m_scopes.otherwise();
                statement(s->body[1]);
            }
            m_scopes.close();
            return;
        case StmtKind::Store:
            ++m_statements;
            if (m_lanes.variable.get() == nullptr) {
                const std::string value = text(s->value);
                m_scopes.line(fmt::format("{} = {};", element(s->buffer, s->indices), value));
            } else {
                for (const std::string& part : vectorStore(*s))
                    m_scopes.line(part);
            }
            m_scopes.stored(s->buffer);
            return;
        case StmtKind::Barrier:
            m_scopes.line("barrier(CLK_LOCAL_MEM_FENCE);");
            m_scopes.forgetValues();
            return;
        case StmtKind::Prefetch: return; // a hint
        case StmtKind::Evaluate: problem("tensor intrinsics"); return;
        }
    }

    Stmt with(const Stmt& s, const Expr& variable, const Expr& value)
    {
        return ir::simplify(ir::substitute(s, {{variable.get(), value}}), m_ranges);
    }

    /// A loop over lanes, a vector at a time.
    void vectors(const Stmt& s, const Lanes& lanes)
    {
        const Expr lane = ir::var("lane");
        const ir::RangeScope range(m_ranges, lane, {0, lanes.width - 1});
        ++m_written;
        for (std::int64_t i = 0; i < s->extent->intValue; i += lanes.width) {
            const Stmt body = with(s->body[0], s->variable, lane + ir::intImm(s->min->intValue + i));
            m_lanes = {lane, lanes.width, lanes.dtype};
            statement(body);
            m_lanes = {};
        }
        --m_written;
    }

    void loop(const Stmt& s)
    {
        const bool isConstant = s->min->kind == ExprKind::IntImm && s->extent->kind == ExprKind::IntImm;
        const bool isWritten = s->loop == LoopKind::Unrolled || s->loop == LoopKind::Vectorized;
        if (s->loop == LoopKind::Vectorized && isConstant) {
            if (const std::optional<Lanes> lanes = lanesOf(*s)) {
                vectors(s, *lanes);
                return;
            }
        }
        if (isWritten && isConstant
            && (m_statements + statementsOf(s) <= kMostStatements || touchesRegisters(s->body[0], s->variable))) {
            ++m_written;
            for (std::int64_t i = 0; i < s->extent->intValue; ++i)
                statement(with(s->body[0], s->variable, ir::intImm(s->min->intValue + i)));
            --m_written;
            return;
        }
        const std::string min = text(s->min), extent = text(s->extent);
        const std::string end = min == "0" ? extent : text(ir::simplify(s->min + s->extent, m_ranges));
        const std::string name = identifier(s->variable->name, m_takenHere);
        const ir::Interval begin = ir::boundsOf(s->min, m_ranges), length = ir::boundsOf(s->extent, m_ranges);
        const ir::RangeScope range(m_ranges, s->variable,
                                   {begin.lo, begin.hi + std::max<std::int64_t>(1, length.hi) - 1});
        if (isWritten)
            m_scopes.line("#pragma unroll");
        m_scopes.openLoop(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", name, min, end));
        bind(s->variable, name);
        statement(s->body[0]);
        m_scopes.close();
        m_takenHere.erase(name);
    }

    std::int64_t m_statements = 0;
};

} // namespace

std::string KernelSource::text() const
{
    std::string all = head;
    std::set<std::string_view> symbols;
    for (const SourceLaunch& launch : launches)
        if (symbols.insert(launch.symbol).second)
            all += launch.text;
    return all;
}

Result<KernelSource> printOpenCl(const ir::LoopNest& nest)
{
    return SourcePrinter(nest).run();
}

} // namespace lathe::backend
