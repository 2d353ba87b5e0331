#include "core/templates/tunable.h"

#include "core/schedule/launch_limits.h"
#include "core/schedule/state.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/templates/kernel_features.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::templates {
namespace {

/// What is the same for all: what a kernel's steps say of it.
class KernelTunable : public Tunable
{
public:
    explicit KernelTunable(KernelSource source)
        : m_source(std::move(source))
    {
    }

    Result<> checkRunnable(const Config& config, const Hardware& hardware) const final
    {
        if (m_source.form != KernelForm::Launches)
            return {};
        LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, stepsOf(config));
        LATHE_TRY_ASSIGN(const schedule::State state, schedule::State::replay(m_source.dag, steps));
        return schedule::checkRunnable(state, m_source.form, m_source.constantInputs, hardware);
    }

protected:
    virtual Result<std::vector<schedule::Step>> stepsOf(const Config& config) const = 0;
    const KernelSource& source() const { return m_source; }

private:
    KernelSource m_source;
};

class TemplateTunable final : public KernelTunable
{
public:
    explicit TemplateTunable(TaskTemplate made)
        : KernelTunable({made.dag, made.form, made.constantInputs})
        , m_made(std::move(made))
        , m_workload(workloadKey(m_made.workload))
    {
    }
    const ConfigSpace& space() const override { return m_made.space; }
    const std::string& workload() const override { return m_workload; }
    std::string_view kind() const override { return m_made.row->name; }
    Result<Candidate> candidate(const Config& config) const override { return m_made.candidate(config); }
    std::optional<Config> configOf(const Candidate& candidate) const override { return m_made.configOf(candidate); }
    ConfigFeatures features(FeatureKind kind) const override { return featuresOf(m_made, kind); }

private:
    Result<std::vector<schedule::Step>> stepsOf(const Config& config) const override { return m_made.steps(config); }

    TaskTemplate m_made;
    std::string m_workload;
};

class SketchTunable final : public KernelTunable
{
public:
    SketchTunable(const search::SearchTask& task, std::shared_ptr<const search::Sketch> sketch, ConfigSpace space)
        : KernelTunable(sourceOf(task, *sketch))
        , m_sketch(std::move(sketch))
        , m_space(std::move(space))
        , m_task(task.key)
        , m_workload(task.key + ' ' + m_sketch->name())
    {
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

    std::optional<Config> configOf(const Candidate& candidate) const override
    {
        if (candidate.task != m_task || candidate.alternative != m_sketch->alternative()
            || candidate.sketch != m_sketch->name())
            return std::nullopt;
        return configOfGenome(m_space, candidate.genome);
    }

    ConfigFeatures features(FeatureKind kind) const override
    {
        return kernelFeatures(kind, source(), [this](const Config& config) { return stepsOf(config); });
    }

private:
    static KernelSource sourceOf(const search::SearchTask& task, const search::Sketch& sketch)
    {
        KernelSource source{sketch.dag(), task.target.traits().form, {}};
        for (const search::SearchAlternative& alternative : task.alternatives)
            if (alternative.name == sketch.alternative())
                source.constantInputs = alternative.constantInputs;
        return source;
    }

    Result<std::vector<schedule::Step>> stepsOf(const Config& config) const override
    {
        LATHE_TRY_ASSIGN(const std::vector<std::int32_t> genome, genomeOf(m_space, config));
        return m_sketch->instantiate(genome);
    }

    std::shared_ptr<const search::Sketch> m_sketch;
    ConfigSpace m_space;
    std::string m_task, m_workload;
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
