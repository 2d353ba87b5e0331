#include "core/ir/verify.h"

#include "core/ir/async_copy.h"
#include "core/ir/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lathe::ir {

namespace {

class Verifier
{
public:
    explicit Verifier(const LoopNest& nest)
        : m_nest(nest)
    {
    }

    Result<> run()
    {
        std::vector<std::int32_t> parameters;
        for (std::size_t b = 0; b < m_nest.buffers.size(); ++b) {
            const Buffer& buffer = m_nest.buffers[b];
            if (buffer.shape.size() != buffer.strides.size())
                return off("buffer {} has {} dimensions and {} strides", buffer.name, buffer.shape.size(),
                           buffer.strides.size());
            if (buffer.scope == Scope::Parameter)
                parameters.push_back(static_cast<std::int32_t>(b));
        }
        std::vector<std::int32_t> declared = m_nest.parameters;
        std::sort(declared.begin(), declared.end());
        if (declared != parameters)
            return off("its parameters are not its parameter buffers");
        for (const Stmt& phase : m_nest.phases) {
            if (!phase || phase->kind != StmtKind::For
                || (phase->loop != LoopKind::Parallel && phase->loop < LoopKind::VThread))
                return off("a phase is no parallel loop");
            statement(phase);
        }
        if (!m_nest.phases.empty() && !m_nest.launches.empty())
            return off("it has phases and launches");
        for (const Launch& launch : m_nest.launches) {
            for (std::size_t d = 0; d < 3; ++d)
                if (launch.grid[d] < 1 || launch.block[d] < 1 || !launch.blockIndex[d].get()
                    || !launch.threadIndex[d].get())
                    return off("launch {} has no size or no index along an axis", launch.name);
            m_launch = &launch;
            statement(launch.body);
        }
        m_launch = nullptr;
        if (!m_problem.empty())
            return off("{}", m_problem);
        return {};
    }

private:
    template<typename... Args>
    Error off(fmt::format_string<Args...> text, Args&&... args) const
    {
        return makeError(Errc::Internal,
                         fmt::format("kernel {}: {}", m_nest.name, fmt::format(text, std::forward<Args>(args)...)));
    }
    template<typename... Args>
    void problem(fmt::format_string<Args...> text, Args&&... args)
    {
        if (m_problem.empty())
            m_problem = fmt::format(text, std::forward<Args>(args)...);
    }

    const StmtNode* loopOf(const Node* variable) const
    {
        for (const StmtNode* loop : m_loops)
            if (loop->variable.get() == variable)
                return loop;
        return nullptr;
    }

    /// A variable of the launch.
    bool isAxis(const Expr& e) const
    {
        const auto same = [&e](const Expr& axis) { return axis.same(e); };
        return m_launch != nullptr
               && (std::ranges::any_of(m_launch->blockIndex, same) || std::ranges::any_of(m_launch->threadIndex, same));
    }

    void statement(const Stmt& s)
    {
        if (!s)
            return;
        for (const Expr* e : {&s->min, &s->extent, &s->value, &s->condition})
            if (*e)
                expression(*e);
        for (const Expr& index : s->indices)
            expression(index);
        if (s->kind == StmtKind::Store || s->kind == StmtKind::Prefetch || s->kind == StmtKind::AsyncCopy
            || s->kind == StmtKind::Shuffle)
            access(s->buffer, s->indices, s->kind != StmtKind::Prefetch);
        if (isAsynchronous(s->kind) && m_problem.empty()) {
            m_problem = m_launch == nullptr ? "an asynchronous copy stands in a phase" : problemOfCopy(m_nest, *s);
        }
        if (s->kind == StmtKind::Shuffle)
            shuffle(*s);
        if (s->kind == StmtKind::Barrier && m_launch == nullptr)
            problem("a barrier stands in a phase");
        if (s->kind == StmtKind::For) {
            loop(*s);
            m_loops.push_back(s.get());
        }
        for (const Stmt& inner : s->body)
            statement(inner);
        if (s->kind == StmtKind::For)
            m_loops.pop_back();
    }

    void shuffle(const StmtNode& s)
    {
        const auto isPower = [](std::int32_t n) { return n > 0 && std::has_single_bit(static_cast<std::uint32_t>(n)); };
        if (m_launch == nullptr)
            problem("a shuffle stands in a phase");
        if (!isPower(s.warp) || !isPower(s.distance) || s.distance >= s.warp)
            problem("a shuffle goes from lane ^ {} of {}", s.distance, s.warp);
        const bool isKnown = s.buffer >= 0 && s.buffer < static_cast<std::int32_t>(m_nest.buffers.size());
        if (isKnown
            && (m_nest.buffers[s.buffer].scope != Scope::Register && m_nest.buffers[s.buffer].scope != Scope::Local))
            problem("a shuffle stores to {}, which is no thread's own", m_nest.buffers[s.buffer].name);
        if (isKnown && m_nest.buffers[s.buffer].dtype != s.value->dtype)
            problem("a shuffle stores another type to {}", m_nest.buffers[s.buffer].name);
        for (const StmtNode* const loop : m_loops)
            if (loop->loop == LoopKind::Vectorized)
                problem("a shuffle stands in the vectorized loop {}", loop->variable->name);
    }

    void loop(const StmtNode& s)
    {
        if (loopOf(s.variable.get()) != nullptr)
            problem("loop {} stands inside a loop of the same variable", s.variable->name);
        if (s.loop == LoopKind::Parallel && !m_loops.empty())
            problem("loop {} is parallel but not outermost", s.variable->name);
        if (m_launch != nullptr && (s.loop == LoopKind::Parallel || s.loop >= LoopKind::VThread))
            problem("{} loop {} stands in a launch", toString(s.loop), s.variable->name);
        const bool written = s.loop == LoopKind::Vectorized || s.loop == LoopKind::Unrolled;
        if (written && (s.min->kind != ExprKind::IntImm || s.extent->kind != ExprKind::IntImm))
            problem("{} loop {} has no constant bounds", toString(s.loop), s.variable->name);
        const auto isVector = [](const StmtNode* l) { return l->loop == LoopKind::Vectorized; };
        if (s.loop == LoopKind::Vectorized && std::any_of(m_loops.begin(), m_loops.end(), isVector))
            problem("vectorized loop {} stands inside a vectorized loop", s.variable->name);
    }

    void expression(const Expr& e)
    {
        if (e->kind == ExprKind::Var && loopOf(e.get()) == nullptr && !isAxis(e))
            problem("variable {} is used outside of its loop", e->name);
        if (e->kind == ExprKind::Reduce)
            problem("a reduction is left");
        for (const Expr& operand : e->operands)
            expression(operand);
        if (e->kind == ExprKind::Load)
            access(e->source, e->operands, false);
    }

    bool isConstantOnceEmitted(const Expr& e) const
    {
        if (e->kind == ExprKind::Load)
            return false;
        if (e->kind == ExprKind::Var) {
            const StmtNode* loop = loopOf(e.get());
            return loop != nullptr && (loop->loop == LoopKind::Vectorized || loop->loop == LoopKind::Unrolled);
        }
        return std::all_of(e->operands.begin(), e->operands.end(),
                           [this](const Expr& o) { return isConstantOnceEmitted(o); });
    }

    void access(std::int32_t id, const std::vector<Expr>& indices, bool stores)
    {
        if (id < 0 || id >= static_cast<std::int32_t>(m_nest.buffers.size())) {
            problem("there is no buffer {}", id);
            return;
        }
        const Buffer& buffer = m_nest.buffers[id];
        if (indices.size() != buffer.shape.size())
            problem("buffer {} of {} dimensions has {} indices", buffer.name, buffer.shape.size(), indices.size());
        if (stores && buffer.readOnly)
            problem("buffer {} is read-only but stored to", buffer.name);
        for (const Expr& index : indices)
            if (buffer.scope == Scope::Register && !isConstantOnceEmitted(index))
                problem("register buffer {} has index {}", buffer.name, print(index));
    }

    const LoopNest& m_nest;
    const Launch* m_launch = nullptr;
    std::vector<const StmtNode*> m_loops;
    std::string m_problem;
};

} // namespace

Result<> verify(const LoopNest& nest)
{
    return Verifier(nest).run();
}

} // namespace lathe::ir
