#include "core/backend/c_source.h"

#include "core/backend/source_text.h"
#include "core/ir/async_copy.h"
#include "core/ir/bounds.h"
#include "core/ir/linear_form.h"
#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/unroll_rules.h"
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

/// Lanes of the warps of a statement's shuffles, of which `known` are those before it; 0: it has none. -1: they differ.
std::int32_t warpOf(const Stmt& s, std::int32_t known = 0)
{
    if (!s)
        return known;
    if (s->kind == StmtKind::Shuffle)
        known = known == 0 || known == s->warp ? s->warp : -1;
    for (const Stmt& inner : s->body)
        known = warpOf(inner, known);
    return known;
}

/// Statements that unrolling may write out in one kernel; loops beyond stay loops, with a hint to the compiler.
constexpr std::int64_t kMostStatements = 4096;

class SourcePrinter : SourceText
{
public:
    SourcePrinter(const ir::LoopNest& nest, const SourceLanguage& language)
        : SourceText(nest, language)
    {
    }

    Result<KernelSource> run()
    {
        for (const ir::Buffer& buffer : m_nest.buffers) {
            if (m_language.typeName(buffer.dtype).empty())
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
        std::set<std::string_view> declared; // some types are the same in the language
        for (const DType dtype : m_types)
            if (const std::string& text = m_language.types[static_cast<std::size_t>(dtype)].declaration;
                declared.insert(text).second)
                source.head += text;
        for (const auto& [order, helper] : m_helpers)
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
        return makeError(Errc::Unsupported, say(Msg::SourceHasNoForm, m_nest.name, std::string(m_language.name), what));
    }
    // ---- one kernel ------------------------------------------------------------------------------------------------

    /// Without its symbol, whose place in the text is `symbolAt`.
    SourceLaunch kernel(const ir::Launch& launch, std::size_t& symbolAt)
    {
        SourceLaunch made;
        made.grid = launch.grid;
        made.block = launch.block;
        m_threads = launch.block[0] * launch.block[1] * launch.block[2];
        m_warp = warpOf(launch.body);
        if (m_warp < 0)
            problem("shuffles within warps of several widths in one kernel");
        made.sharedBytes = ir::sharedBytes(m_nest, launch);
        m_scopes.begin();
        m_names.clear();
        m_levels.clear();
        m_statements = 0;
        m_ranges = {};
        std::set<std::string> taken = m_taken;
        std::string axes;
        for (std::size_t d = 0; d < 3; ++d) {
            axes += axis(launch.blockIndex[d], launch.grid[d], m_language.blockIndex[d], *launch.body, taken);
            axes += axis(launch.threadIndex[d], launch.block[d], threadNumber(launch.block, d), *launch.body, taken);
        }
        m_takenHere = taken;
        findVectorRegisters(launch.body);
        const std::vector<std::int32_t> used = ir::buffersOf(launch.body);
        std::string parameters;
        for (const std::int32_t id : used) {
            const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            const std::string type = typeText(buffer.dtype);
            if (!isParameter(buffer))
                continue;
            made.buffers.push_back(id);
            parameters += fmt::format("{}{}{}{} *{} {}", parameters.empty() ? "" : ", ", m_language.globalPointer,
                                      buffer.readOnly ? "const " : "", type, m_language.restrict,
                                      m_bufferNames[static_cast<std::size_t>(id)]);
        }
        const std::string declarations = arrays(used, made);
        made.text = fmt::format("\n// {}: {} of {}\n", launch.name,
                                counted(made.grid[0] * made.grid[1] * made.grid[2], "block|blocks"),
                                counted(m_threads, "thread|threads"));
        const std::string warps = m_warp > 0 ? fmt::format(fmt::runtime(m_language.requiredWarp), m_warp)
                                             : std::string();
        made.text += fmt::format(fmt::runtime(m_language.kernel), made.block[0], made.block[1], made.block[2],
                                 launch.leastBlocks > 0 ? fmt::format("{}, {}", m_threads, launch.leastBlocks)
                                                        : std::to_string(m_threads),
                                 warps);
        symbolAt = made.text.size();
        made.text += fmt::format("({})\n{{\n{}{}", parameters, declarations, axes);
        statement(launch.body);
        made.text += m_scopes.end() + "}\n";
        return made;
    }

    static bool isParameter(const ir::Buffer& buffer)
    {
        return buffer.scope == Scope::Parameter || buffer.scope == Scope::Team;
    }

    /// What a kernel declares of the buffers that it uses.
    std::string arrays(const std::vector<std::int32_t>& used, SourceLaunch& launch)
    {
        std::string declarations, unsized;
        if (launch.sharedBytes > m_language.mostSharedBytes) {
            unsized = identifier("shared", m_takenHere);
            declarations = "    " + fmt::format(fmt::runtime(m_language.unsizedShared), unsized) + "\n";
        }
        for (const std::int32_t id : used) {
            const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            const std::string& name = m_bufferNames[static_cast<std::size_t>(id)];
            const std::string type = typeText(buffer.dtype);
            const bool isShared = buffer.scope == Scope::Shared;
            if (isParameter(buffer))
                continue;
            if (const std::int64_t width = registerWidth(id); width > 1) {
                declarations += fmt::format("    {} {}[{}];\n", vectorType(buffer.dtype, width), name,
                                            ir::elementCount(buffer) / width);
                continue;
            }
            const std::int64_t count = isShared ? schedule::sharedElements(buffer) : ir::elementCount(buffer);
            if (isShared && !unsized.empty()) {
                declarations += fmt::format("    {0} *const {1} = ({0}*)({2} + {3});\n", type, name, unsized,
                                            launch.dynamicSharedBytes);
                launch.dynamicSharedBytes += count * sizeOf(buffer.dtype);
                continue;
            }
            // What vectors are read from: registers of elements are not.
            const bool isAligned = isShared || buffer.scope == Scope::Local;
            declarations += fmt::format("    {}{}{} {}[{}]{};\n", isShared ? m_language.sharedArray : "",
                                        isAligned ? m_language.alignedBefore : "", type, name, count,
                                        isAligned ? m_language.alignedAfter : "");
        }
        return declarations;
    }

    std::string axis(const Expr& variable, std::int64_t extent, std::string_view value, const ir::StmtNode& body,
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

    /// Along an axis. Of threads that shuffle by the places of their warp and lane, where the language leaves open
    /// which threads these are. schedule::whyNoWholeWarps(): rows along x are whole warps, or a power of two below one.
    /// Of the latter drivers put several into a warp, or each into one of its own that is not whole: then all are not.
    std::string threadNumber(const std::array<std::int64_t, 3>& block, std::size_t d) const
    {
        if (m_warp <= 0 || m_language.laneIndex.empty())
            return std::string(m_language.threadIndex[d]);
        std::string lane(m_language.laneIndex);
        const std::string warp(m_language.warpIndex);
        const bool areRowsWhole = block[0] % m_warp == 0; // then warps have equal places along y and z
        const std::int64_t rows = block[1] * block[2];
        if (d == 0 && (block[0] == m_warp || (rows == 1 && !areRowsWhole)))
            return lane;
        const std::int64_t row = areRowsWhole ? block[0] / m_warp : block[0];
        const std::int64_t within = d == 0 ? 1 : d == 1 ? row : row * block[1];
        const std::int64_t beyond = d == 0 ? rows : d == 1 ? block[2] : 1;
        std::string number = areRowsWhole ? warp : fmt::format("({} * {} + {})", warp, m_language.laneCount, lane);
        if (within > 1)
            number += fmt::format(" / {}", within);
        if (beyond > 1)
            number += fmt::format(" % {}", d == 0 ? row : block[d]);
        return d == 0 && areRowsWhole ? fmt::format("{} * {} + {}", number, m_warp, lane) : number;
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    bool touchesRegisters(const Stmt& s, const Expr& variable) const
    {
        if (!s)
            return false;
        const auto isIndex = [&](std::int32_t buffer, const std::vector<Expr>& indices) {
            return m_nest.buffers[static_cast<std::size_t>(buffer)].scope == Scope::Register
                   && std::ranges::any_of(indices, [&](const Expr& e) { return ir::uses(e, variable); });
        };
        bool found = (s->kind == StmtKind::Store || s->kind == StmtKind::Shuffle) && isIndex(s->buffer, s->indices);
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
            if (const std::string line = copyOrZeroLine(*s); !line.empty()) {
                ++m_statements;
                m_scopes.line(line);
                m_scopes.stored(ir::copyOrZero(*s).copy->buffer);
                return;
            }
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
            m_scopes.line(std::string(m_language.barrier));
            m_scopes.forgetValues();
            return;
        case StmtKind::AsyncCopy:
            if (m_language.copy.empty()) {
                statement(ir::synchronously(m_nest, *s));
                return;
            }
            ++m_statements;
            m_scopes.line(copyLine(*s));
            m_scopes.stored(s->buffer);
            return;
        case StmtKind::AsyncCommit:
        case StmtKind::AsyncWait:
            if (!m_language.copy.empty())
                m_scopes.line(copyLine(*s));
            return;
        case StmtKind::Shuffle: {
            ++m_statements;
            const std::string value = shuffleText(*s, m_threads);
            m_scopes.line(fmt::format("{} = {};", element(s->buffer, s->indices), value));
            m_scopes.stored(s->buffer);
            return;
        }
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
            && (m_statements + schedule::writtenStores(s) <= kMostStatements
                || touchesRegisters(s->body[0], s->variable))) {
            ++m_written;
            if (m_language.loadsTogether && s->loop == LoopKind::Unrolled)
                loadTogether(*s);
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
        const std::vector<Remainder> remainders = isWritten ? std::vector<Remainder>() : remaindersOf(*s);
        for (const Remainder& remainder : remainders)
            m_scopes.line(fmt::format("int {} = {};", remainder.name,
                                      ir::floorModulo(s->min->intValue + remainder.offset, remainder.modulus)));
        if (isWritten || (m_language.unrollsLoops && schedule::isShortCopy(m_nest, *s)))
            m_scopes.line("#pragma unroll");
        else if (m_language.unrollsLoops)
            m_scopes.line(fmt::format("#pragma unroll {}", schedule::repeatsOf(m_nest, *s)));
        m_scopes.openLoop(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", name, min, end));
        bind(s->variable, name);
        m_remainders.insert(m_remainders.end(), remainders.begin(), remainders.end());
        statement(s->body[0]);
        m_remainders.resize(m_remainders.size() - remainders.size());
        // Their names stay taken: they are declared in the block around the loop, where another loop may follow.
        for (const Remainder& remainder : remainders)
            m_scopes.line(fmt::format("{0} = {0} == {1} ? 0 : {0} + 1;", remainder.name, remainder.modulus - 1));
        m_scopes.close();
        forget(s->variable);
        m_takenHere.erase(name);
    }

    std::int64_t m_statements = 0;
    std::int64_t m_threads = 1; ///< of a block of the present launch
    std::int32_t m_warp = 0; ///< lanes of its warps; 0: it has no shuffles
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
    return SourcePrinter(nest, openClLanguage()).run();
}

Result<KernelSource> printCuda(const ir::LoopNest& nest)
{
    return SourcePrinter(nest, cudaLanguage()).run();
}

} // namespace lathe::backend
