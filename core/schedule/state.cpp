#include "core/schedule/state.h"

#include "core/schedule/bound_inference.h"
#include "core/schedule/state_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::schedule {

State State::initial(compute::DagPtr dag)
{
    State state;
    state.m_base = dag;
    state.m_dag = std::move(dag);
    for (std::size_t i = 0; i < state.m_dag->ops.size(); ++i)
        state.m_stages.push_back(StateEdit::freshStage(*state.m_dag, static_cast<std::int32_t>(i)));
    return state;
}

Result<State> State::replay(compute::DagPtr dag, const std::vector<Step>& steps)
{
    State state = initial(std::move(dag));
    state.m_steps.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (auto applied = std::visit(StateEdit(state), steps[i]); !applied)
            return std::move(applied).error().note(fmt::format("step {}", i));
        state.m_steps.push_back(steps[i]);
    }
    return state;
}

Result<> State::apply(Step step)
{
    State changed = *this;
    if (auto applied = std::visit(StateEdit(changed), step); !applied)
        return std::move(applied).error().note(fmt::format("step {}", m_steps.size()));
    changed.m_steps.push_back(std::move(step));
    *this = std::move(changed);
    return {};
}

bool State::concrete() const
{
    return std::none_of(m_steps.begin(), m_steps.end(), [](const Step& step) {
        const auto* split = std::get_if<SplitStep>(&step);
        return split != nullptr
               && std::any_of(split->lengths.begin(), split->lengths.end(), [](const auto& l) { return !l; });
    });
}

Result<> State::inferBounds()
{
    LATHE_TRY_ASSIGN(const ProgramBounds program, inferProgramBounds(*this));
    for (std::size_t i = 0; i < m_stages.size(); ++i)
        if (program.stages[i].active)
            assignExtents(m_stages[i], program.stages[i].extents);
    return {};
}

namespace {

const char* annotationText(Annotation annotation)
{
    constexpr const char* kNames[] = {"for",         "unroll",     "vectorize",   "parallel",
                                      "vthread",     "blockIdx.x", "threadIdx.x", "blockIdx.y",
                                      "threadIdx.y", "blockIdx.z", "threadIdx.z", "tensorize"};
    return kNames[static_cast<int>(annotation)];
}

void printStage(const State& state, std::size_t id, int indent, std::string& text)
{
    const Stage& stage = state.stages()[id];
    const std::string& name = state.dag()->ops[id].name;
    const auto line = [&](const std::string& content) {
        text += std::string(static_cast<std::size_t>(indent), ' ') + content + '\n';
    };
    if (stage.autoUnrollMaxStep != 0)
        line(fmt::format("{} auto_unroll: {}", name, stage.autoUnrollMaxStep));
    for (std::size_t i = 0; i < stage.iters.size(); ++i) {
        const Iterator& iter = stage.iters[i];
        if (iter.extent != 1) {
            const std::string range = iter.extent < 0 ? "(None)" : fmt::format("(0,{})", iter.extent);
            const std::string exchange = iter.warp > 0 ? fmt::format(" shuffles of {}", iter.warp) : std::string();
            line(fmt::format("{} {} {}{}", annotationText(iter.annotation), iter.name, range, exchange));
            indent += 2;
        }
        for (std::size_t other = 0; other < state.stages().size(); ++other) {
            const Stage& attached = state.stages()[other];
            if (attached.location == Location::At && attached.attachStage == static_cast<std::int32_t>(id)
                && attached.attachIter == static_cast<std::int32_t>(i))
                printStage(state, other, indent, text);
        }
    }
    line(name + " = ...");
}

} // namespace

std::string State::print() const
{
    std::string text = "Placeholder: ";
    bool first = true;
    for (const compute::Op& op : m_dag->ops) {
        if (op.kind != compute::OpKind::Placeholder)
            continue;
        text += (first ? "" : ", ") + op.name;
        first = false;
    }
    text += '\n';
    for (std::size_t i = 0; i < m_stages.size(); ++i)
        if (m_dag->ops[i].kind == compute::OpKind::Compute && m_stages[i].location == Location::Root)
            printStage(*this, i, 0, text);
    return text;
}

} // namespace lathe::schedule
