#include "core/templates/task_template.h"

#include "core/schedule/state.h"
#include "core/support/message.h"
#include "core/templates/kernel_features.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::templates {
namespace {

bool fits32(std::int64_t value)
{
    return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

/// What a choice of a knob is written as; nothing: it is none of the knob's kind.
std::optional<std::vector<std::int64_t>> valuesOf(const Knob& knob, const Entity& entity)
{
    if (const auto* split = std::get_if<SplitEntity>(&entity); split != nullptr && !split->sizes.empty())
        return std::vector<std::int64_t>(split->sizes.begin() + 1, split->sizes.end());
    if (const auto* reorder = std::get_if<ReorderEntity>(&entity))
        return std::vector<std::int64_t>(reorder->order.begin(), reorder->order.end());
    if (const auto* anchors = std::get_if<AnchorEntity>(&entity))
        return std::vector<std::int64_t>(anchors->positions.begin(), anchors->positions.end());
    if (const auto* marks = std::get_if<AnnotateEntity>(&entity)) {
        std::vector<std::int64_t> values;
        for (const Mark mark : marks->marks)
            values.push_back(static_cast<std::int64_t>(mark));
        return values;
    }
    if (const auto* option = std::get_if<OptionEntity>(&entity)) {
        if (const auto* whole = std::get_if<std::int64_t>(&option->value.value))
            return std::vector<std::int64_t>{*whole};
        if (const auto* flag = std::get_if<bool>(&option->value.value))
            return std::vector<std::int64_t>{*flag ? 1 : 0};
        const auto place = std::find(knob.choices.begin(), knob.choices.end(), entity);
        if (place != knob.choices.end())
            return std::vector<std::int64_t>{place - knob.choices.begin()};
    }
    return std::nullopt;
}

/// The reverse, in the shape of the knob's first choice; nothing: the values are none of its kind.
std::optional<Entity> entityOf(const Knob& knob, std::span<const std::int32_t> values)
{
    const Entity& like = knob.choices.front();
    if (std::holds_alternative<SplitEntity>(like)) {
        SplitEntity split{{-1}};
        split.sizes.insert(split.sizes.end(), values.begin(), values.end());
        return split;
    }
    if (std::holds_alternative<ReorderEntity>(like))
        return ReorderEntity{{values.begin(), values.end()}};
    if (std::holds_alternative<AnchorEntity>(like))
        return AnchorEntity{{values.begin(), values.end()}};
    if (std::holds_alternative<AnnotateEntity>(like)) {
        AnnotateEntity marks;
        for (const std::int32_t value : values) {
            if (value < 0 || value >= kMarkCount)
                return std::nullopt;
            marks.marks.push_back(static_cast<Mark>(value));
        }
        return marks;
    }
    const JsonValue& first = std::get<OptionEntity>(like).value;
    if (std::holds_alternative<std::int64_t>(first.value))
        return OptionEntity{{static_cast<std::int64_t>(values.front())}};
    if (std::holds_alternative<bool>(first.value))
        return OptionEntity{{values.front() != 0}};
    if (values.front() < 0 || static_cast<std::size_t>(values.front()) >= knob.choices.size())
        return std::nullopt;
    return knob.choices[static_cast<std::size_t>(values.front())];
}

/// The layouts of inputs, then outputs, constants apart, whose layouts are nobody else's; empty if all are plain.
std::vector<EdgeState> edgesOf(const schedule::State& state, const std::vector<bool>& constantInputs)
{
    const compute::Dag& dag = *state.dag();
    std::vector<EdgeState> edges;
    bool allPlain = true;
    const auto add = [&](std::int32_t op, bool constant) {
        const std::vector<std::int64_t>& shape = dag.ops[static_cast<std::size_t>(op)].shape;
        EdgeState edge{IndexMap::plain(shape.data(), static_cast<int>(shape.size())), {}};
        const auto& layout = state.stages()[static_cast<std::size_t>(op)].layout;
        if (!constant && !layout.empty()) {
            edge.map.physicalRank = static_cast<std::int32_t>(layout.size());
            for (std::size_t j = 0; j < layout.size(); ++j)
                edge.map.axes[j] = {layout[j].dim, layout[j].div, layout[j].extent, 1};
            edge.map.makeDense();
            allPlain = false;
        }
        edges.push_back(std::move(edge));
    };
    for (std::size_t i = 0; i < dag.inputs.size(); ++i)
        add(dag.inputs[i], i < constantInputs.size() && constantInputs[i]);
    for (const std::int32_t output : dag.outputs)
        add(output, false);
    return allPlain ? std::vector<EdgeState>() : edges;
}

std::size_t lengthOf(const Knob& knob)
{
    const auto values = valuesOf(knob, knob.choices.front());
    return values ? values->size() : 0;
}

} // namespace

Result<std::vector<std::int32_t>> genomeOf(const ConfigSpace& space, const Config& config)
{
    std::vector<std::int32_t> genome;
    for (const Knob& knob : space.knobs()) {
        const Entity* entity = config.find(knob.name);
        const auto values = entity != nullptr && entity->index() == knob.choices.front().index()
                                ? valuesOf(knob, *entity)
                                : std::nullopt;
        if (!values || values->size() != lengthOf(knob) || !std::all_of(values->begin(), values->end(), fits32))
            return makeError(Errc::InvalidArgument, say(Msg::TemplateValueUnfit, knob.name));
        for (const std::int64_t value : *values)
            genome.push_back(static_cast<std::int32_t>(value));
    }
    return genome;
}

std::optional<Config> configOfGenome(const ConfigSpace& space, std::span<const std::int32_t> genome)
{
    Config config;
    for (const Knob& knob : space.knobs()) {
        const std::size_t length = lengthOf(knob);
        if (genome.size() < length)
            return std::nullopt;
        std::optional<Entity> entity = entityOf(knob, genome.first(length));
        if (!entity)
            return std::nullopt;
        config.knobs.emplace_back(knob.name, *std::move(entity));
        genome = genome.subspan(length);
    }
    return genome.empty() ? std::optional(std::move(config)) : std::nullopt;
}

std::string_view templateNameOf(const Candidate& candidate)
{
    const std::string_view sketch = candidate.sketch;
    return candidate.kind == "template" && sketch.starts_with(kTemplateSketch) ? sketch.substr(kTemplateSketch.size())
                                                                       : std::string_view();
}

Result<std::vector<schedule::Step>> TaskTemplate::steps(const Config& config) const
{
    return row->steps({*dag, nest, vectorBytes, facts.maxThreadsPerBlock, winograd ? &*winograd : nullptr}, config);
}

Result<Candidate> TaskTemplate::candidate(const Config& config) const
{
    LATHE_TRY_ASSIGN(const std::vector<schedule::Step> made, steps(config));
    Candidate candidate;
    candidate.task = taskKey;
    candidate.alternative = alternative;
    candidate.kind = "template";
    candidate.sketch = std::string(kTemplateSketch) + std::string(row->name);
    LATHE_TRY_ASSIGN(candidate.genome, genomeOf(space, config));
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(dag, made));
    candidate.edges = edgesOf(state, constantInputs);
    candidate.steps = schedule::toJson(made).dump();
    return candidate;
}

std::optional<Config> TaskTemplate::configOf(const Candidate& candidate) const
{
    if (candidate.task != taskKey || candidate.alternative != alternative || templateNameOf(candidate) != row->name)
        return std::nullopt;
    return configOfGenome(space, candidate.genome);
}

ConfigFeatures featuresOf(const TaskTemplate& made, FeatureKind kind)
{
    ConfigFeatures ofKernel = kernelFeatures(kind, {made.dag, made.form, made.constantInputs},
                                             [&made](const Config& config) { return made.steps(config); });
    if (!ofKernel)
        return {};
    return [&made, ofKernel = std::move(ofKernel)](const Config& config) -> Result<std::vector<float>> {
        LATHE_TRY_ASSIGN(std::vector<float> features, ofKernel(config));
        for (const Knob& knob : made.space.knobs())
            if (knob.kind == KnobKind::Option)
                features.push_back(static_cast<float>(config.number(knob.name).value_or(0)));
        return features;
    };
}

TemplateFacts factsOf(const Target& target, const Hardware& hardware)
{
    TemplateFacts facts;
    facts.vectorLanes = std::max<std::int64_t>(1, hardware.get("vector_unit_bytes", 32) / sizeOf(DType::F32));
    if (target.traits().form == KernelForm::Launches) {
        facts.maxThreadsPerBlock = hardware.get("max_threads_per_block");
        facts.maxVirtualThreads = hardware.get("max_vthread_extent");
        facts.maxSharedBytes = hardware.get("max_shared_memory_per_block");
    }
    return facts;
}

namespace {

/// Which alternative the template schedules, and where its operations are there. Errors: NotFound, Unsupported.
Result<> takeAlternative(TaskTemplate& made, const search::SearchTask& task, const search::SearchAlternative& direct)
{
    const search::SearchAlternative* taken = &direct;
    if (made.row->winogradTile != nullptr && made.nest.conv() != nullptr) {
        const std::string name = fmt::format("winograd:{}", made.row->winogradTile(*made.nest.conv()));
        const auto found = std::find_if(task.alternatives.begin(), task.alternatives.end(),
                                        [&](const search::SearchAlternative& other) { return other.name == name; });
        if (found == task.alternatives.end())
            return makeError(Errc::NotFound, say(Msg::TaskNoAlternative, name));
        LATHE_TRY_ASSIGN(made.winograd, matchWinograd(*found));
        MatchedNest arguments;
        arguments.args = std::move(made.nest.args);
        made.nest = std::move(arguments);
        taken = &*found;
    }
    made.alternative = taken->name;
    made.dag = taken->dag;
    made.constantInputs = taken->constantInputs;
    return {};
}

/// Errors: those of its space, and of takeAlternative(); of a person's own template also those of its steps, since what
/// such a file says may fit no task of its pattern.
Result<TaskTemplate> templateOf(const Template& row, const search::SearchTask& task,
                                const search::SearchAlternative& direct, const MatchedNest& nest)
{
    TaskTemplate made;
    made.row = &row;
    made.nest = nest;
    const std::string name(row.name);
    made.workload = nest.conv() != nullptr ? convWorkload(name, *nest.conv()) : denseWorkload(name, *nest.dense());
    made.facts = factsOf(task.target, task.hardware);
    made.vectorBytes = std::clamp<std::int64_t>(task.hardware.get("vector_unit_bytes", 32), 4, 256);
    made.taskKey = task.key;
    made.form = task.target.traits().form;
    LATHE_TRY_ASSIGN(made.space, row.space(made.workload, made.facts));
    LATHE_TRY(takeAlternative(made, task, direct));
    if (!isBuiltIn(row)) {
        LATHE_TRY_ASSIGN(const Config first, made.space.at(0));
        if (const auto candidate = made.candidate(first); !candidate)
            return Error(candidate.error()).note(row.name);
    }
    return made;
}

} // namespace

std::vector<TaskTemplate> workloadsOf(const search::SearchTask& task, Message* why)
{
    std::vector<TaskTemplate> found;
    Message reason = say(Msg::NoTemplateOfTarget, task.target.text());
    const std::vector<const Template*> rows = templatesOfFamily(task.target.family());
    for (const search::SearchAlternative& alternative : task.alternatives) {
        if (alternative.name != "direct" || rows.empty())
            continue;
        const auto nest = matchNest(alternative);
        if (!nest) {
            reason = messageOf(nest.error());
            continue;
        }
        for (const Template* row : rows) {
            if (row->pattern != patternOf(*nest) || (row->suits != nullptr && !row->suits(*nest)))
                continue;
            auto made = templateOf(*row, task, alternative, *nest);
            if (made)
                found.push_back(*std::move(made));
            else
                reason = messageOf(made.error());
        }
    }
    if (found.empty() && why != nullptr)
        *why = std::move(reason);
    return found;
}

std::vector<TaskTemplate> templatesOf(const search::SearchTask& task, Message* why)
{
    std::vector<TaskTemplate> found = workloadsOf(task, why);
    const bool any = !found.empty();
    std::erase_if(found, [](const TaskTemplate& made) { return made.row->steps == nullptr; });
    if (any && found.empty() && why != nullptr)
        *why = say(Msg::NoTemplateOfTarget, task.target.text());
    return found;
}

} // namespace lathe::templates
