#include "core/search/features.h"

#include "core/schedule/bound_inference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace lathe::search {
namespace {

using ir::Expr;
using ir::ExprKind;
using schedule::Annotation;

float slog(double x)
{
    return static_cast<float>(x < 0 ? -std::log2(-x + 1) : std::log2(x + 1));
}

struct Loop
{
    const ir::Node* variable;
    double extent;
    Annotation annotation;
};

/// How often operations of each kind occur in a stored value.
struct OpCount
{
    double floats[7] = {}, ints[7] = {}; ///< mad, addsub, mul, divmod, cmp, mathfunc, otherfunc
    double bools = 0, selects = 0;
};

void countOps(const Expr& e, OpCount& count)
{
    const auto add = [&](std::size_t slot, DType type) { (isFloat(type) ? count.floats : count.ints)[slot] += 1; };
    switch (e->kind) {
    case ExprKind::Add:
    case ExprKind::Sub: add(1, e->dtype); break;
    case ExprKind::Mul: add(2, e->dtype); break;
    case ExprKind::Div:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: add(3, e->dtype); break;
    case ExprKind::Min:
    case ExprKind::Max: add(4, e->dtype); break;
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Gt:
    case ExprKind::Ge: add(4, e->operands[0]->dtype); break;
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not: count.bools += 1; break;
    case ExprKind::Select:
    case ExprKind::IfThenElse: count.selects += 1; break;
    case ExprKind::Call: add(5, e->dtype); break;
    default: break;
    }
    for (const Expr& operand : e->operands)
        countOps(operand, count);
}

/// Coefficient of a variable in an index, by the reference's heuristic: exact in linear forms, 1 where it is lost.
double coefficient(const Expr& e, const ir::Node* variable)
{
    switch (e->kind) {
    case ExprKind::Var: return e.get() == variable ? 1 : 0;
    case ExprKind::Add: return coefficient(e->operands[0], variable) + coefficient(e->operands[1], variable);
    case ExprKind::Sub: return coefficient(e->operands[0], variable) - coefficient(e->operands[1], variable);
    case ExprKind::Mul:
        if (e->operands[1]->kind == ExprKind::IntImm)
            return coefficient(e->operands[0], variable) * static_cast<double>(e->operands[1]->intValue);
        if (e->operands[0]->kind == ExprKind::IntImm)
            return coefficient(e->operands[1], variable) * static_cast<double>(e->operands[0]->intValue);
        return 2;
    default: break;
    }
    for (const Expr& operand : e->operands)
        if (coefficient(operand, variable) != 0)
            return 1;
    return 0;
}

/// All accesses of one statement to one buffer.
struct Access
{
    std::int32_t buffer;
    double elementBytes = 4;
    bool reads = false, writes = false;
    std::vector<std::int64_t> shape;
    std::vector<std::vector<Expr>> indices;

    bool movesWith(const ir::Node* variable) const
    {
        for (const auto& index : indices)
            for (const Expr& e : index)
                if (coefficient(e, variable) != 0)
                    return true;
        return false;
    }
    double strideOf(const ir::Node* variable) const
    {
        double stride = 1, found = 0;
        for (std::size_t d = shape.size(); d-- > 0; stride *= static_cast<double>(shape[d]))
            if (const double c = coefficient(indices.front()[d], variable); c != 0 && found == 0)
                found = std::abs(c) * stride;
        return found;
    }
    /// Extents of the box that is touched while loops[from..] run.
    std::vector<double> region(const std::vector<Loop>& loops, std::size_t from) const
    {
        std::vector<double> extents(shape.size(), 1);
        for (std::size_t d = 0; d < shape.size(); ++d) {
            for (const auto& index : indices) {
                double span = 1;
                for (std::size_t l = from; l < loops.size(); ++l)
                    span += std::abs(coefficient(index[d], loops[l].variable)) * (loops[l].extent - 1);
                extents[d] = std::max(extents[d], std::min(span, static_cast<double>(shape[d])));
            }
        }
        return extents;
    }
    double elements(const std::vector<Loop>& loops, std::size_t from) const
    {
        double n = 1;
        for (const double e : region(loops, from))
            n *= e;
        return n;
    }
};

struct Statement
{
    std::int32_t stage;
    std::vector<Loop> loops; ///< outermost first, those of one iteration left out
    std::vector<Access> accesses;
    OpCount ops;
    bool reduces = false;
    double allocElements = 1, allocOuter = 1;
    std::int32_t autoUnroll = 0;
};

void collectLoads(const Expr& e, const compute::Dag& dag, std::vector<Access>& accesses)
{
    if (e->kind == ExprKind::Load) {
        const compute::Op& op = dag.ops[static_cast<std::size_t>(e->source)];
        auto known = std::find_if(accesses.begin(), accesses.end(),
                                  [&](const Access& a) { return a.buffer == e->source; });
        if (known == accesses.end())
            known = accesses.insert(
                accesses.end(), Access{e->source, static_cast<double>(sizeOf(op.dtype)), true, false, op.shape, {}});
        known->indices.push_back(e->operands);
        known->reads = true;
    }
    for (const Expr& operand : e->operands)
        collectLoads(operand, dag, accesses);
}

class Extractor
{
public:
    Extractor(const schedule::State& state, const schedule::ProgramBounds& bounds, const Hardware& hardware)
        : m_state(state)
        , m_bounds(bounds)
        , m_lineBytes(static_cast<double>(hardware.get("cache_line_bytes", 64)))
    {
        for (std::size_t i = 0; i < bounds.stages.size(); ++i)
            if (bounds.stages[i].active)
                m_statements.push_back(statement(static_cast<std::int32_t>(i)));
    }

    std::vector<float> run()
    {
        std::vector<float> rows;
        for (std::size_t s = 0; s < m_statements.size(); ++s) {
            const std::size_t before = rows.size();
            computation(m_statements[s], rows);
            buffers(s, rows);
            curve(m_statements[s], rows);
            outer(m_statements[s], rows);
            rows.resize(before + kReferenceFeatures);
        }
        return rows;
    }

private:
    const schedule::Stage& stage(std::int32_t i) const { return m_state.stages()[static_cast<std::size_t>(i)]; }

    /// The loops around what stage `i` computes, its own up to iterator `last` included.
    void loopsOf(std::int32_t i, std::int32_t last, std::vector<Loop>& loops) const
    {
        if (stage(i).location == schedule::Location::At)
            loopsOf(stage(i).attachStage, stage(i).attachIter, loops);
        const schedule::StageBounds& b = m_bounds.stages[static_cast<std::size_t>(i)];
        for (std::int32_t k = 0; k <= last; ++k) {
            const schedule::Iterator& it = stage(i).iters[static_cast<std::size_t>(k)];
            const std::int64_t extent = b.extents[static_cast<std::size_t>(it.id)];
            if (extent != 1)
                loops.push_back(
                    {b.leaves[static_cast<std::size_t>(k)].get(), static_cast<double>(extent), it.annotation});
        }
    }

    Statement statement(std::int32_t i) const
    {
        const schedule::StageBounds& b = m_bounds.stages[static_cast<std::size_t>(i)];
        const compute::Op& op = m_state.dag()->ops[static_cast<std::size_t>(i)];
        Statement s;
        s.stage = i;
        s.autoUnroll = stage(i).autoUnrollMaxStep;
        loopsOf(i, static_cast<std::int32_t>(stage(i).iters.size()) - 1, s.loops);
        Expr value = b.bodies.front();
        s.reduces = value->kind == ExprKind::Reduce;
        if (s.reduces) {
            const ir::Combiner combiner = value->combiner;
            value = value->operands[0];
            const auto slot = combiner == ir::Combiner::Sum ? 1u : combiner == ir::Combiner::Prod ? 2u : 4u;
            (isFloat(op.dtype) ? s.ops.floats : s.ops.ints)[slot] += 1;
        }
        countOps(value, s.ops);
        collectLoads(value, *m_state.dag(), s.accesses);
        auto own = std::find_if(s.accesses.begin(), s.accesses.end(), [&](const Access& a) { return a.buffer == i; });
        if (own == s.accesses.end())
            own = s.accesses.insert(s.accesses.end(),
                                    Access{i, static_cast<double>(sizeOf(op.dtype)), false, false, op.shape, {}});
        own->writes = true;
        own->reads = own->reads || s.reduces;
        own->indices.emplace_back(b.axes.begin(), b.axes.begin() + static_cast<std::ptrdiff_t>(op.shape.size()));
        for (const std::int64_t e : b.region)
            s.allocElements *= static_cast<double>(e);
        if (stage(i).location == schedule::Location::At) {
            std::vector<Loop> around;
            loopsOf(stage(i).attachStage, stage(i).attachIter, around);
            for (const Loop& l : around)
                s.allocOuter *= l.extent;
        }
        return s;
    }

    static double iterations(const Statement& s)
    {
        double n = 1;
        for (const Loop& l : s.loops)
            n *= l.extent;
        return n;
    }

    static void annotated(const Statement& s, Annotation annotation, std::vector<float>& row)
    {
        double number = 0, product = 1, innermost = 0;
        for (const Loop& l : s.loops) {
            if (l.annotation != annotation)
                continue;
            ++number;
            product *= l.extent;
            innermost = l.extent;
        }
        row.push_back(slog(number));
        row.push_back(slog(number > 0 ? product : 0));
        row.push_back(slog(innermost));
        // Eight kinds of position; the reference only ever tells none from any.
        for (int kind = 0; kind < 8; ++kind)
            row.push_back((number == 0 && kind == 0) || (number > 0 && kind == 7) ? 1.0f : 0.0f);
    }

    static void computation(const Statement& s, std::vector<float>& row)
    {
        const double n = iterations(s);
        for (const double count : s.ops.floats)
            row.push_back(slog(count * n));
        for (const double count : s.ops.ints)
            row.push_back(slog(count * n));
        row.push_back(slog(s.ops.bools * n));
        row.push_back(slog(s.ops.selects * n));
        annotated(s, Annotation::Vectorize, row);
        annotated(s, Annotation::Unroll, row);
        annotated(s, Annotation::Parallel, row);
        static constexpr Annotation kBindings[] = {Annotation::BlockX,  Annotation::BlockY,  Annotation::BlockZ,
                                                   Annotation::ThreadX, Annotation::ThreadY, Annotation::ThreadZ,
                                                   Annotation::VThread};
        bool gpu = false;
        float lengths[7];
        for (std::size_t b = 0; b < 7; ++b) {
            double extent = 1;
            for (const Loop& l : s.loops)
                if (l.annotation == kBindings[b])
                    extent *= l.extent, gpu = true;
            lengths[b] = slog(extent);
        }
        row.push_back(gpu ? 1.0f : 0.0f);
        row.insert(row.end(), lengths, lengths + 7);
    }

    struct BufferRow
    {
        double lines, bytes;
        std::vector<float> values;
    };

    void buffers(std::size_t index, std::vector<float>& row) const
    {
        const Statement& s = m_statements[index];
        std::vector<BufferRow> all;
        for (const Access& access : s.accesses)
            all.push_back(bufferRow(index, access));
        std::stable_sort(all.begin(), all.end(), [](const BufferRow& a, const BufferRow& b) {
            return a.lines != b.lines ? a.lines > b.lines : a.bytes > b.bytes;
        });
        for (std::size_t b = 0; b < 5; ++b) {
            if (b < all.size())
                row.insert(row.end(), all[b].values.begin(), all[b].values.end());
            else
                row.insert(row.end(), 18, 0.0f);
        }
    }

    BufferRow bufferRow(std::size_t index, const Access& access) const
    {
        const Statement& s = m_statements[index];
        const double n = iterations(s);
        const double bytes = n * access.elementBytes;
        const std::vector<double> region = access.region(s.loops, 0);
        double unique = access.elementBytes;
        for (const double e : region)
            unique *= e;
        const double contiguous = access.elementBytes * (region.empty() ? 1 : region.back());
        // Stride of the innermost loop that moves the access; the reference divides by the innermost extent once for
        // every loop inside it.
        double stride = 0, ratio = 1;
        for (std::size_t l = s.loops.size(); l-- > 0;) {
            stride = access.strideOf(s.loops[l].variable);
            if (stride > 0)
                break;
            ratio *= s.loops.back().extent;
        }
        const double lines = std::max(1.0, n / ratio * std::min(1.0, stride * access.elementBytes / m_lineBytes));
        const double uniqueLines = std::max(1.0, unique / std::min(contiguous, m_lineBytes));
        const double innerStride = s.loops.empty() ? 0 : access.strideOf(s.loops.back().variable);

        int kind = 2; // loop reuse, serial reuse, none
        double distanceIterations = 0, distanceBytes = 0, reuses = 0, inside = 1;
        for (std::size_t l = s.loops.size(); l-- > 0; inside *= s.loops[l].extent) {
            if (!access.movesWith(s.loops[l].variable)) {
                kind = 0;
                reuses = s.loops[l].extent;
                distanceIterations = l + 1 == s.loops.size() ? 1 : inside;
                for (const Access& other : s.accesses)
                    distanceBytes += other.elements(s.loops, l + 1) * other.elementBytes;
                break;
            }
            if (serialReuse(index, access, l, distanceIterations, distanceBytes, reuses)) {
                kind = 1;
                break;
            }
        }
        const auto perReuse = [&](double value) { return slog(reuses > 0 ? value / reuses : value * 2); };
        BufferRow row{lines, bytes, {}};
        row.values = {access.reads && !access.writes ? 1.0f : 0.0f,
                      access.writes && !access.reads ? 1.0f : 0.0f,
                      access.reads && access.writes ? 1.0f : 0.0f,
                      slog(bytes),
                      slog(unique),
                      slog(lines),
                      slog(uniqueLines),
                      kind == 0 ? 1.0f : 0.0f,
                      kind == 1 ? 1.0f : 0.0f,
                      kind == 2 ? 1.0f : 0.0f,
                      slog(distanceIterations),
                      slog(distanceBytes),
                      slog(reuses),
                      perReuse(bytes),
                      perReuse(unique),
                      perReuse(lines),
                      perReuse(uniqueLines),
                      slog(innerStride)};
        return row;
    }

    /// Earlier statements under the same loop touch the buffer too.
    bool serialReuse(std::size_t index, const Access& access, std::size_t l, double& iterationsApart,
                     double& bytesApart, double& reuses) const
    {
        const Statement& s = m_statements[index];
        double touches = 1, least = access.elements(s.loops, l);
        double bytes = 0;
        for (std::size_t o = 0; o < index; ++o) {
            const Statement& other = m_statements[o];
            if (l >= other.loops.size() || other.loops[l].variable != s.loops[l].variable)
                continue;
            for (const Access& a : other.accesses) {
                bytes += a.elements(other.loops, l) * a.elementBytes;
                if (a.buffer == access.buffer) {
                    ++touches;
                    least = std::min(least, a.elements(other.loops, l));
                }
            }
        }
        if (touches < 2)
            return false;
        for (const Access& a : s.accesses)
            bytes += a.elements(s.loops, l) * a.elementBytes;
        iterationsApart = least / s.loops[l].extent;
        bytesApart = bytes / s.loops[l].extent;
        reuses = touches - 1;
        return true;
    }

    static void curve(const Statement& s, std::vector<float>& row)
    {
        double perIteration = 0;
        for (const double c : s.ops.floats)
            perIteration += c;
        if (perIteration == 0) {
            row.insert(row.end(), 10, 0.0f);
            return;
        }
        // Points (log ops, log ops / log bytes), inside out.
        std::vector<std::pair<double, double>> points;
        double ops = perIteration;
        for (std::size_t l = s.loops.size(); l-- > 0;) {
            ops *= s.loops[l].extent;
            double bytes = 0;
            for (const Access& a : s.accesses)
                bytes += a.elements(s.loops, l) * a.elementBytes;
            points.emplace_back(std::log2(ops), std::log2(ops) / std::max(1e-9, std::log2(bytes)));
        }
        if (points.empty())
            points.emplace_back(std::log2(ops), 0);
        std::size_t next = 0;
        for (int i = 1; i <= 10; ++i) {
            const double x = points.back().first * i / 10;
            while (next + 1 < points.size() && points[next].first < x)
                ++next;
            if (next == 0) {
                row.push_back(static_cast<float>(points[0].second));
                continue;
            }
            const auto& [x0, y0] = points[next - 1];
            const auto& [x1, y1] = points[next];
            row.push_back(static_cast<float>(x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1));
        }
    }

    void outer(const Statement& s, std::vector<float>& row) const
    {
        const double n = iterations(s);
        const double bytes = static_cast<double>(sizeOf(m_state.dag()->ops[static_cast<std::size_t>(s.stage)].dtype));
        row.push_back(slog(s.allocElements * bytes));
        row.push_back(slog(s.allocElements * s.allocOuter));
        row.push_back(slog(s.allocOuter));
        row.push_back(slog(n / s.allocOuter));
        row.push_back(slog(n));
        row.push_back(slog(static_cast<double>(s.loops.size())));
        row.push_back(slog(s.autoUnroll));
    }

    const schedule::State& m_state;
    const schedule::ProgramBounds& m_bounds;
    double m_lineBytes;
    std::vector<Statement> m_statements;
};

std::vector<std::string> makeNames()
{
    std::vector<std::string> names;
    for (const char* type : {"float", "int"})
        for (const char* op : {"mad", "addsub", "mul", "divmod", "cmp", "mathfunc", "otherfunc"})
            names.push_back(std::string(type) + '_' + op);
    names.insert(names.end(), {"bool_op", "select_op"});
    for (const char* what : {"vec", "unroll", "parallel"}) {
        for (const char* field : {"num", "prod", "len"})
            names.push_back(std::string(what) + '_' + field);
        for (const char* kind : {"None", "InnerSpatial", "MiddleSpatial", "OuterSpatial", "InnerReduce", "MiddleReduce",
                                 "OuterReduce", "Mixed"})
            names.push_back(std::string(what) + "_type.k" + kind);
    }
    names.insert(names.end(), {"is_gpu", "blockIdx_x_len", "blockIdx_y_len", "blockIdx_z_len", "threadIdx_x_len",
                               "threadIdx_y_len", "threadIdx_z_len", "vthread_len"});
    for (int b = 0; b < 5; ++b)
        for (const char* field :
             {"acc_type.kRead", "acc_type.kWrite", "acc_type.kReadWrite", "bytes", "unique_bytes", "lines",
              "unique_lines", "reuse_type.kLoopMultipleRead", "reuse_type.kSerialMultipleReadWrite",
              "reuse_type.kNoReuse", "reuse_dis_iter", "reuse_dis_bytes", "reuse_ct", "bytes_d_reuse_ct",
              "unique_bytes_d_reuse_ct", "lines_d_reuse_ct", "unique_lines_d_reuse_ct", "stride"})
            names.push_back("B" + std::to_string(b) + '.' + field);
    for (int i = 0; i < 10; ++i)
        names.push_back("curve_" + std::to_string(i));
    names.insert(names.end(), {"alloc_size", "alloc_prod", "alloc_outer_prod", "alloc_inner_prod", "outer_prod",
                               "num_loops", "auto_unroll_max_step"});
    return names;
}

} // namespace

const std::vector<std::string>& referenceFeatureNames()
{
    static const std::vector<std::string> names = makeNames();
    return names;
}

Result<std::vector<float>> referenceFeatures(const schedule::State& state, const Hardware& hardware)
{
    LATHE_TRY_ASSIGN(const schedule::ProgramBounds bounds, schedule::inferProgramBounds(state));
    return Extractor(state, bounds, hardware).run();
}

} // namespace lathe::search
