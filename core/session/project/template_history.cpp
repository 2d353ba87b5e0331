#include "core/session/project/template_history.h"

#include "core/session/exports/kernel_choices.h"
#include "core/support/message.h"
#include "core/templates/task_template.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lathe::session {

namespace {

/// Collects the trials of one template. Values are numbered as they come, and put in order at the end.
class Collector
{
public:
    explicit Collector(const templates::TaskTemplate& made)
        : m_made(made)
    {
        m_trials.name = made.row->name;
        for (const templates::Knob& knob : made.space.knobs())
            m_trials.knobs.push_back({knob.name, {}});
        m_seen.resize(m_trials.knobs.size());
    }

    /// False: it is none of this template's.
    bool take(const Record& record, std::int64_t row, std::int32_t origin)
    {
        const auto config = m_made.configOf(record.candidate);
        if (!config)
            return false;
        TriedConfig tried{row, record.trial, origin, {}, kUnknown, std::string(toString(record.result.code))};
        if (record.result.ok())
            tried.costMs = record.result.meanNs() * 1e-6;
        for (std::size_t k = 0; k < m_trials.knobs.size(); ++k)
            tried.values.push_back(valueOf(k, *config));
        m_trials.configs.push_back(std::move(tried));
        return true;
    }

    TemplateTrials finish()
    {
        for (std::size_t k = 0; k < m_trials.knobs.size(); ++k)
            sortValues(k);
        return std::move(m_trials);
    }

private:
    std::int32_t valueOf(std::size_t k, const templates::Config& config)
    {
        const templates::Knob& knob = m_made.space.knobs()[k];
        const templates::Entity* entity = config.find(knob.name);
        const std::string text = entity == nullptr ? std::string() : templates::entityText(*entity);
        const auto [known, isNew] = m_seen[k].try_emplace(text,
                                                          static_cast<std::int32_t>(m_trials.knobs[k].values.size()));
        if (isNew) {
            const auto place = entity == nullptr ? knob.choices.end()
                                                 : std::find(knob.choices.begin(), knob.choices.end(), *entity);
            m_trials.knobs[k].values.push_back({text, place == knob.choices.end() ? -1 : place - knob.choices.begin()});
        }
        return known->second;
    }

    void sortValues(std::size_t k)
    {
        std::vector<TriedKnob::Value>& values = m_trials.knobs[k].values;
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) {
            const auto key = [&](std::size_t i) { return std::pair(values[i].place < 0, values[i].place); };
            return key(a) < key(b);
        });
        std::vector<std::int32_t> now(values.size());
        std::vector<TriedKnob::Value> sorted;
        for (const std::size_t from : order) {
            now[from] = static_cast<std::int32_t>(sorted.size());
            sorted.push_back(std::move(values[from]));
        }
        values = std::move(sorted);
        for (TriedConfig& config : m_trials.configs)
            config.values[k] = now[static_cast<std::size_t>(config.values[k])];
    }

    const templates::TaskTemplate& m_made;
    TemplateTrials m_trials;
    std::vector<std::map<std::string, std::int32_t>> m_seen; ///< by knob: number of each value's text
};

std::vector<templates::TaskTemplate> templatesOfTask(const LoadedModel& model, std::int32_t task)
{
    return templates::templatesOf(searchTask(model.partition.tasks[static_cast<std::size_t>(task)], model, false));
}

bool isTaskOf(const LoadedModel& model, std::int32_t task)
{
    return task >= 0 && std::cmp_less(task, model.partition.tasks.size());
}

} // namespace

Result<TemplateHistory> readTemplateTrials(const LoadedModel& model, std::int32_t task,
                                           const store::RecordReader& reader, std::span<const std::int64_t> rows,
                                           std::stop_token stop)
{
    if (!isTaskOf(model, task))
        return makeError(Errc::InvalidArgument, say(Msg::NoTask, task));
    TemplateHistory history;
    history.origins.push_back(model.target.text());
    const std::vector<templates::TaskTemplate> made = templatesOfTask(model, task);
    std::vector<Collector> collectors(made.begin(), made.end());
    for (const std::int64_t row : rows) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::QueryStopped));
        auto record = reader.record(row);
        if (!record && record.error().code == Errc::NotFound)
            continue; // it is gone since the rows were found
        if (!record)
            return std::move(record).error();
        auto origin = std::find(history.origins.begin(), history.origins.end(), record->target);
        if (origin == history.origins.end())
            origin = history.origins.insert(origin, record->target);
        const auto place = static_cast<std::int32_t>(origin - history.origins.begin());
        for (Collector& collector : collectors)
            if (collector.take(*record, row, place))
                break;
    }
    for (Collector& collector : collectors)
        if (TemplateTrials trials = collector.finish(); !trials.configs.empty())
            history.templates.push_back(std::move(trials));
    return history;
}

Result<std::pair<BestWay, BestWay>> bestWays(const LoadedModel& model, std::int32_t task, const store::Project& project,
                                             std::stop_token stop)
{
    std::pair<BestWay, BestWay> ways;
    if (!isTaskOf(model, task))
        return makeError(Errc::InvalidArgument, say(Msg::NoTask, task));
    const std::string& key = model.partition.tasks[static_cast<std::size_t>(task)].key;
    const std::string target = model.target.text();
    const std::vector<templates::TaskTemplate> made = templatesOfTask(model, task);
    LATHE_TRY_ASSIGN(const std::vector<store::Conditions> conditions, project.conditions(target));
    for (const store::Conditions& condition : conditions) {
        LATHE_TRY(project.forEachContender(key, target, condition, [&](const Record& record) {
            const std::string_view name = templates::templateNameOf(record.candidate);
            BestWay& way = name.empty() ? ways.second : ways.first;
            if (way.name.empty()) {
                way = {std::string(name.empty() ? std::string_view(record.candidate.sketch) : name),
                       {},
                       record.trial,
                       record.result.meanNs() * 1e-6};
                for (const templates::TaskTemplate& each : made)
                    if (const auto config = each.configOf(record.candidate))
                        way.config = templates::configText(*config);
            }
            return !stop.stop_requested() && (ways.first.name.empty() || ways.second.name.empty());
        }));
        if (!ways.first.name.empty() || !ways.second.name.empty())
            break; // costs compare under one condition alone
    }
    return ways;
}

} // namespace lathe::session
