#include "core/templates/loop_features.h"

#include "core/ir/linear_form.h"
#include "core/ir/substitute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

namespace lathe::templates {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::StmtKind;
using ir::StmtNode;

/// The order of marks in one-hot vectors.
enum class LoopMark : std::uint8_t
{
    BlockX,
    BlockY,
    BlockZ,
    ThreadX,
    ThreadY,
    ThreadZ,
    Unrolled,
    Vectorized,
    Parallel,
    Serial,
    VThread
};
constexpr std::size_t kMarks = 11;

LoopMark markOf(LoopKind kind)
{
    switch (kind) {
    case LoopKind::Parallel: return LoopMark::Parallel;
    case LoopKind::Vectorized: return LoopMark::Vectorized;
    case LoopKind::Unrolled: return LoopMark::Unrolled;
    case LoopKind::VThread: return LoopMark::VThread;
    case LoopKind::BlockX: return LoopMark::BlockX;
    case LoopKind::BlockY: return LoopMark::BlockY;
    case LoopKind::BlockZ: return LoopMark::BlockZ;
    case LoopKind::ThreadX: return LoopMark::ThreadX;
    case LoopKind::ThreadY: return LoopMark::ThreadY;
    case LoopKind::ThreadZ: return LoopMark::ThreadZ;
    default: return LoopMark::Serial;
    }
}

/// Blocks, threads, what one thread does: ratios are taken between them.
int levelOf(LoopMark mark)
{
    return mark <= LoopMark::BlockZ ? 0 : mark <= LoopMark::ThreadZ ? 1 : 2;
}

float logged(double x)
{
    return static_cast<float>(x >= 0 ? std::log2(1 + x) : -std::log2(1 - x));
}

struct Touch
{
    double stride = 0, count = 1, reuse = 1;
};

struct Loop
{
    Expr variable;
    double length = 1;
    int depth = 0;
    double topdown = 1, bottomup = 1;
    LoopMark mark = LoopMark::Serial;
    double adds = 0, muls = 0, divs = 0;
    std::map<std::string, Touch> touches; ///< by tensor, of the first place where it is read or written in the loop
    bool innermost = true;
};

class Walk
{
public:
    explicit Walk(const ir::LoopNest& nest)
        : m_nest(nest)
    {
        for (const ir::Stmt& phase : nest.phases)
            visit(*phase);
        for (const ir::Launch& launch : nest.launches) {
            const std::array<LoopMark, 3> blocks = {LoopMark::BlockX, LoopMark::BlockY, LoopMark::BlockZ};
            const std::array<LoopMark, 3> threads = {LoopMark::ThreadX, LoopMark::ThreadY, LoopMark::ThreadZ};
            const std::size_t before = m_stack.size();
            for (std::size_t d = 3; d-- > 0;)
                begin(launch.blockIndex[d], static_cast<double>(launch.grid[d]), blocks[d]);
            for (std::size_t d = 3; d-- > 0;)
                begin(launch.threadIndex[d], static_cast<double>(launch.block[d]), threads[d]);
            visit(*launch.body);
            while (m_stack.size() > before)
                end();
        }
    }

    std::vector<Loop> take() { return std::move(m_loops); }

private:
    void begin(Expr variable, double length, LoopMark mark)
    {
        Loop loop;
        loop.variable = std::move(variable);
        loop.length = length;
        loop.depth = static_cast<int>(m_stack.size());
        loop.topdown = (m_stack.empty() ? 1 : m_loops[m_stack.back()].topdown) * length;
        loop.mark = mark;
        if (!m_stack.empty())
            m_loops[m_stack.back()].innermost = false;
        m_stack.push_back(m_loops.size());
        m_loops.push_back(std::move(loop));
    }

    void end()
    {
        Loop& loop = m_loops[m_stack.back()];
        for (const auto& [name, touch] : loop.touches)
            loop.bottomup = std::max(loop.bottomup, touch.count * touch.reuse);
        m_stack.pop_back();
    }

    void visit(const StmtNode& s)
    {
        switch (s.kind) {
        case StmtKind::For: {
            const auto extent = s.extent->kind == ExprKind::IntImm ? static_cast<double>(s.extent->intValue) : 1.0;
            begin(s.variable, extent, markOf(s.loop));
            visit(*s.body.front());
            end();
            return;
        }
        case StmtKind::Store:
        case StmtKind::AsyncCopy:
        case StmtKind::Shuffle:
            countIn(s.value);
            loadsIn(s.value);
            touch(s.buffer, s.indices);
            return;
        default:
            for (const ir::Stmt& inner : s.body)
                if (inner)
                    visit(*inner);
        }
    }

    void countIn(const Expr& value)
    {
        ir::visit(value, [this](const Expr& e) {
            const double adds = e->kind == ExprKind::Add || e->kind == ExprKind::Sub ? 1 : 0;
            const double muls = e->kind == ExprKind::Mul ? 1 : 0;
            const double divs = e->kind == ExprKind::Div || e->kind == ExprKind::FloorDiv
                                        || e->kind == ExprKind::FloorMod
                                    ? 1
                                    : 0;
            for (const std::size_t at : m_stack) {
                m_loops[at].adds += adds;
                m_loops[at].muls += muls;
                m_loops[at].divs += divs;
            }
        });
    }

    void loadsIn(const Expr& value)
    {
        ir::visit(value, [this](const Expr& e) {
            if (e->kind == ExprKind::Load)
                touch(e->source, e->operands);
        });
    }

    /// One read or write, as each loop around it sees it: itself and those inside it, from the innermost on.
    void touch(std::int32_t buffer, const std::vector<Expr>& indices)
    {
        const ir::Buffer& b = m_nest.buffers[static_cast<std::size_t>(buffer)];
        std::vector<ir::LinearForm> forms;
        for (const Expr& index : indices)
            forms.push_back(ir::linearForm(index, {}));
        double count = 1, reuse = 1;
        for (std::size_t i = m_stack.size(); i-- > 0;) {
            Loop& loop = m_loops[m_stack[i]];
            double stride = 0;
            bool uses = false;
            for (std::size_t d = 0; d < indices.size(); ++d) {
                stride += static_cast<double>(forms[d].coefficientOf(loop.variable))
                          * static_cast<double>(b.strides[d]);
                uses = uses || ir::uses(indices[d], loop.variable);
            }
            (uses ? count : reuse) *= loop.length;
            loop.touches.try_emplace(b.name, Touch{stride, count, reuse});
        }
    }

    const ir::LoopNest& m_nest;
    std::vector<Loop> m_loops;
    std::vector<std::size_t> m_stack; ///< indices of the loops around
};

/// What a touch of a loop is beside the same tensor's in the outermost loop of the next level inside it; 1: there is
/// none.
Touch ratioTo(const std::vector<Loop>& loops, std::size_t at, const std::string& tensor)
{
    const Touch& own = loops[at].touches.at(tensor);
    for (std::size_t i = at + 1; i < loops.size() && loops[i].depth > loops[at].depth; ++i) {
        if (levelOf(loops[i].mark) <= levelOf(loops[at].mark))
            continue;
        const auto inner = loops[i].touches.find(tensor);
        if (inner != loops[i].touches.end())
            return {0, own.count / inner->second.count, own.reuse / inner->second.reuse};
    }
    return {0, 1, 1};
}

constexpr int kPoints = 20;

/// A step curve through points that are sorted by x: at 0, 1, .. the value of the last point before, and the distance
/// to it.
void sample(std::vector<std::pair<double, double>> points, std::vector<float>& features)
{
    std::sort(points.begin(), points.end());
    for (int x = 0; x < kPoints; ++x) {
        const auto after = std::upper_bound(points.begin(), points.end(), static_cast<double>(x),
                                            [](double at, const auto& point) { return at < point.first; });
        const auto [left, value] = after == points.begin() ? std::pair(0.0, 0.0) : *(after - 1);
        features.push_back(static_cast<float>(value));
        features.push_back(static_cast<float>(x - left));
    }
}

} // namespace

std::vector<float> iterVarFeatures(const ir::LoopNest& nest)
{
    const std::vector<Loop> loops = Walk(nest).take();
    std::vector<float> features;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const Loop& loop = loops[i];
        features.insert(features.end(), {logged(loop.length), static_cast<float>(loop.depth), logged(loop.topdown),
                                         logged(loop.bottomup)});
        for (std::size_t m = 0; m < kMarks; ++m)
            features.push_back(static_cast<std::size_t>(loop.mark) == m ? 1.0f : 0.0f);
        features.insert(features.end(), {logged(loop.adds), logged(loop.muls), logged(loop.divs)});
        for (const auto& [name, touch] : loop.touches) {
            const Touch ratio = ratioTo(loops, i, name);
            features.insert(features.end(), {logged(touch.stride), logged(-1), logged(touch.count), logged(touch.reuse),
                                             logged(ratio.count), logged(ratio.reuse)});
        }
    }
    return features;
}

std::vector<float> curveFeatures(const ir::LoopNest& nest)
{
    const std::vector<Loop> loops = Walk(nest).take();
    std::map<std::string, std::vector<const Loop*>> byTensor;
    for (const Loop& loop : loops)
        if (loop.innermost)
            for (const auto& [name, touch] : loop.touches)
                byTensor[name];
    for (const Loop& loop : loops)
        for (auto& [name, around] : byTensor)
            if (loop.touches.contains(name))
                around.push_back(&loop);
    std::vector<float> features;
    for (const auto& [name, around] : byTensor) {
        std::array<std::vector<std::pair<double, double>>, 4> curves;
        for (const Loop* loop : around) {
            const Touch& touch = loop->touches.at(name);
            const double count = std::log2(touch.count), reuse = std::log2(touch.reuse),
                         topdown = std::log2(loop->topdown);
            curves[0].emplace_back(count, reuse);
            curves[1].emplace_back(reuse, count);
            curves[2].emplace_back(count, topdown);
            curves[3].emplace_back(topdown, count);
        }
        for (std::vector<std::pair<double, double>>& curve : curves)
            sample(std::move(curve), features);
    }
    return features;
}

} // namespace lathe::templates
