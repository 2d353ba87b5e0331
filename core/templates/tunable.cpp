#include "core/templates/tunable.h"

#include "core/schedule/launch_limits.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/templates/loop_features.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::templates {
namespace {

Result<> runnable(const compute::DagPtr& dag, const std::vector<schedule::Step>& steps, KernelForm form,
                  const std::vector<bool>& constantInputs, const Hardware& hardware)
{
    if (form != KernelForm::Launches)
        return {};
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(dag, steps));
    return schedule::checkRunnable(state, form, constantInputs, hardware);
}

class TemplateTunable final : public Tunable
{
public:
    explicit TemplateTunable(TaskTemplate made)
        : m_made(std::move(made))
        , m_workload(workloadKey(m_made.workload))
    {
    }
    const ConfigSpace& space() const override { return m_made.space; }
    const std::string& workload() const override { return m_workload; }
    std::string_view kind() const override { return m_made.row->name; }
    Result<Candidate> candidate(const Config& config) const override { return m_made.candidate(config); }
    Result<> checkRunnable(const Config& config, const Hardware& hardware) const override
    {
        if (m_made.form != KernelForm::Launches)
            return {};
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, m_made.steps(config));
        return runnable(m_made.dag, steps, m_made.form, m_made.constantInputs, hardware);
    }
    std::optional<Config> configOf(const Candidate& candidate) const override { return m_made.configOf(candidate); }
    ConfigFeatures features(FeatureKind kind) const override { return featuresOf(m_made, kind); }

private:
    TaskTemplate m_made;
    std::string m_workload;
};

class SketchTunable final : public Tunable
{
public:
    SketchTunable(const search::SearchTask& task, std::shared_ptr<const search::Sketch> sketch, ConfigSpace space)
        : m_sketch(std::move(sketch))
        , m_space(std::move(space))
        , m_task(task.key)
        , m_workload(task.key + ' ' + m_sketch->name())
        , m_form(task.target.traits().form)
    {
        for (const search::SearchAlternative& alternative : task.alternatives)
            if (alternative.name == m_sketch->alternative())
                m_constantInputs = alternative.constantInputs;
    }

    /// Knobs are named by their place, since two parts of a sketch may call theirs alike.
    static Result<ConfigSpace> spaceOf(const search::Sketch& sketch)
    {
        ConfigSpace space;
        for (std::size_t p = 0; p < sketch.parameters().size(); ++p) {
            std::vector<JsonValue> places(static_cast<std::size_t>(sketch.parameters()[p].count));
            for (std::size_t i = 0; i < places.size(); ++i)
                places[i].value = static_cast<std::int64_t>(i);
            LATHE_TRY(space.addOption(std::to_string(p) + ' ' + sketch.parameters()[p].name, places));
        }
        return space;
    }

    const ConfigSpace& space() const override { return m_space; }
    const std::string& workload() const override { return m_workload; }
    std::string_view kind() const override { return m_sketch->name(); }

    Result<Candidate> candidate(const Config& config) const override
    {
        LATHE_TRY_ASSIGN(std::vector<std::int32_t> genome, genomeOf(m_space, config));
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, m_sketch->instantiate(genome));
        Candidate candidate;
        candidate.task = m_task;
        candidate.alternative = m_sketch->alternative();
        candidate.kind = "sketch";
        candidate.sketch = m_sketch->name();
        candidate.genome = std::move(genome);
        candidate.steps = schedule::toJson(steps).dump();
        return candidate;
    }

    Result<> checkRunnable(const Config& config, const Hardware& hardware) const override
    {
        if (m_form != KernelForm::Launches)
            return {};
        LATHE_TRY_ASSIGN(const std::vector<std::int32_t> genome, genomeOf(m_space, config));
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, m_sketch->instantiate(genome));
        return runnable(m_sketch->dag(), steps, m_form, m_constantInputs, hardware);
    }

    std::optional<Config> configOf(const Candidate& candidate) const override
    {
        if (candidate.task != m_task || candidate.alternative != m_sketch->alternative()
            || candidate.sketch != m_sketch->name())
            return std::nullopt;
        return configOfGenome(m_space, candidate.genome);
    }

    ConfigFeatures features(FeatureKind kind) const override
    {
        if (kind != FeatureKind::IterVar && kind != FeatureKind::Curve)
            return {};
        return [this, kind](const Config& config) -> Result<std::vector<float>> {
            LATHE_TRY_ASSIGN(const std::vector<std::int32_t> genome, genomeOf(m_space, config));
            LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, m_sketch->instantiate(genome));
            LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(m_sketch->dag(), steps));
            schedule::LowerOptions options;
            options.form = m_form;
            options.constantInputs = m_constantInputs;
            LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(std::move(state), options));
            return kind == FeatureKind::IterVar ? iterVarFeatures(kernel.nest) : curveFeatures(kernel.nest);
        };
    }

private:
    std::shared_ptr<const search::Sketch> m_sketch;
    ConfigSpace m_space;
    std::string m_task, m_workload;
    KernelForm m_form;
    std::vector<bool> m_constantInputs;
};

} // namespace

std::vector<std::shared_ptr<const Tunable>> templateTunables(const search::SearchTask& task)
{
    std::vector<std::shared_ptr<const Tunable>> all;
    for (TaskTemplate& made : templatesOf(task))
        all.push_back(std::make_shared<const TemplateTunable>(std::move(made)));
    return all;
}

Result<std::vector<std::shared_ptr<const Tunable>>> sketchTunables(const search::SearchTask& task)
{
    std::vector<std::shared_ptr<const search::Sketch>> sketches;
    if (task.target.traits().form == KernelForm::Phases) {
        LATHE_TRY_ASSIGN(const auto found, search::latheCpuSketches(task));
        sketches.assign(found.begin(), found.end());
    } else {
        LATHE_TRY_ASSIGN(const auto found, search::latheLaunchSketches(task));
        sketches.assign(found.begin(), found.end());
    }
    std::vector<std::shared_ptr<const Tunable>> all;
    for (std::shared_ptr<const search::Sketch>& sketch : sketches) {
        LATHE_TRY_ASSIGN(ConfigSpace space, SketchTunable::spaceOf(*sketch));
        all.push_back(std::make_shared<const SketchTunable>(task, std::move(sketch), std::move(space)));
    }
    return all;
}

} // namespace lathe::templates
