// A stored run as events. Rounds note when they began, when each of their trials was told and how they ended; other
// events have rows of their own. Older projects lack the times of trials: those are taken from the clock times of their
// records, counted back from the round's end.

#include "core/session/replay/replay_script.h"

#include "core/session/project/stored_events.h"
#include "core/session/project/stored_time.h"
#include "core/session/roofline.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace lathe::session {

using nlohmann::json;

Result<ReplayScript> ReplayScript::open(const std::filesystem::path& project, const store::SessionRow& run,
                                        const LoadedModel& model)
{
    LATHE_TRY_ASSIGN(store::RecordReader reader, store::RecordReader::open(project));
    ReplayScript script(std::move(reader));
    script.m_run = run.id;
    for (std::size_t i = 0; i < model.partition.tasks.size(); ++i)
        script.m_taskOfKey[model.partition.tasks[i].key] = static_cast<std::int32_t>(i);
    LATHE_TRY_ASSIGN(script.m_rounds, script.m_reader.project().rounds(run.id));
    LATHE_TRY_ASSIGN(const auto numbers, script.m_reader.rounds(run.id));
    std::set<std::int32_t> ended;
    for (const store::RoundRow& round : script.m_rounds)
        ended.insert(round.index);
    for (const std::int32_t number : numbers)
        if (!ended.contains(number))
            script.m_cutShort.push_back(number);
    LATHE_TRY_ASSIGN(script.m_done.time, storedTime(script.m_reader.project(), run.id));
    LATHE_TRY(script.readEvents(run));
    return script;
}

Result<> ReplayScript::readEvents(const store::SessionRow& run)
{
    m_length = run.activeSeconds;
    m_done.seconds = run.activeSeconds;
    m_ending.state = run.state == "failed"    ? RunState::Failed
                     : run.state == "stopped" ? RunState::Stopped
                                              : RunState::Finished;
    if (run.state != "finished" && run.state != "stopped"
        && run.state != "failed") { // nobody ended it: its process did
        m_ending.about = about(say(Msg::RunCutOff));
        m_ending.text = textOf(*m_ending.about);
    }
    for (const store::RoundRow& round : m_rounds) {
        m_length = std::max(m_length, round.atSeconds);
        m_done.trials += round.trials;
        m_done.estimatedMs = round.estimateMs;
        m_done.rejected += rejectedIn(json::parse(round.durations, nullptr, false));
    }
    LATHE_TRY(
        m_reader.project().forEachEvent(run.id, [this](std::string_view kind, double at, std::string_view content) {
            const json event = json::parse(content, nullptr, false);
            if (!event.is_object() || !std::isfinite(at))
                return;
            m_length = std::max(m_length, at);
            if (kind == "done") { // a resumed run has several: the last tells of all
                TimeSpent time = std::move(m_done.time);
                m_done = doneIn(at, event);
                if (m_done.rest.activities.empty()) // of a version that noted no more
                    time.activities = numbersIn(partIn(event, "time_s"));
                m_done.time = std::move(time);
                m_ending.text = textIn(event, "text");
                m_ending.about = aboutIn(event);
                return;
            }
            if (kind == "finals")
                m_finals.push_back({at, {}});
            for (Event& told : eventsOf(kind, at, event, m_taskOfKey.size())) {
                if (const auto* best = std::get_if<BestEvent>(&told.what))
                    m_finals.back().bestNs[best->task] = best->costMs * 1e6;
                else if (const auto* estimate = std::get_if<EstimateEvent>(&told.what))
                    m_done.estimatedMs = estimate->ms;
                else if (const auto* measured = std::get_if<MeasuredEvent>(&told.what); measured && !measured->untuned)
                    m_done.measuredMs = measured->ms;
                m_between.push_back(std::move(told));
            }
        }));
    std::stable_sort(m_between.begin(), m_between.end(),
                     [](const Event& a, const Event& b) { return a.atSeconds < b.atSeconds; });
    return {};
}

void ReplayScript::rewind()
{
    m_items.clear();
    m_round = m_nextBetween = m_nextFinals = 0;
    m_at = 0;
    m_bestNs.clear();
}

std::int32_t ReplayScript::taskOf(const std::string& key) const
{
    const auto found = m_taskOfKey.find(key);
    return found == m_taskOfKey.end() ? -1 : found->second;
}

void ReplayScript::tell(const store::PlayedRecord& record, std::int32_t round, double at, bool runoff)
{
    const std::int32_t task = taskOf(record.task);
    if (task < 0)
        return;
    TrialView view{record.trial, round,        record.index, task,        record.hash, record.sketch,
                   kUnknown,     record.stage, record.code,  record.text, record.about};
    const bool ok = record.code == "Ok";
    if (ok)
        view.costMs = record.meanNs * 1e-6;
    m_items.push_back({{at, TrialEvent{std::move(view)}}, record.row});
    if (!ok || runoff)
        return;
    const auto [best, first] = m_bestNs.try_emplace(task, record.meanNs);
    if (first || record.meanNs < best->second) {
        best->second = record.meanNs;
        m_items.push_back({{at, BestEvent{task, record.meanNs * 1e-6, record.alternative}}, record.row});
    }
}

/// Puts a round's events, and what happened until its end, into the queue.
Result<> ReplayScript::nextRound()
{
    const std::size_t place = m_round++;
    // Finals are held between rounds: those of before this one's end say what its trials compete with.
    const double until = place < m_rounds.size() ? m_rounds[place].atSeconds : std::numeric_limits<double>::infinity();
    for (; m_nextFinals < m_finals.size() && m_finals[m_nextFinals].at < until; ++m_nextFinals)
        for (const auto& [task, ns] : m_finals[m_nextFinals].bestNs)
            m_bestNs[task] = ns;
    if (place < m_rounds.size()) {
        const store::RoundRow& round = m_rounds[place];
        LATHE_TRY_ASSIGN(const auto records, m_reader.round(m_run, round.index));
        const json durations = json::parse(round.durations, nullptr, false);
        const bool held = durations.is_object() && durations.contains("best");
        const double end = std::max(m_at, round.atSeconds);
        const double began = numberIn(durations, "began_s");
        const std::int32_t task = taskOf(round.task);
        if (task >= 0)
            m_items.push_back({{std::isfinite(began) ? began : m_at, roundBegunOf(round, task)}, 0});
        std::map<std::int32_t, const store::PlayedRecord*> byIndex;
        for (const store::PlayedRecord& record : records)
            byIndex[record.index] = &record;
        if (durations.is_object() && durations.contains("told") && durations["told"].is_array()) {
            for (const json& told : durations["told"]) {
                if (!told.is_array() || told.size() != 2 || !told[0].is_number() || !told[1].is_number_integer())
                    continue;
                const auto record = byIndex.find(told[1].get<std::int32_t>());
                if (record == byIndex.end())
                    continue;
                tell(*record->second, round.index, told[0].get<double>(), held);
                byIndex.erase(record);
            }
        }
        std::int64_t last = 0;
        for (const store::PlayedRecord& record : records)
            last = std::max(last, record.timeMs);
        for (const store::PlayedRecord& record : records)
            if (byIndex.contains(record.index))
                tell(record, round.index, std::clamp(end - static_cast<double>(last - record.timeMs) * 1e-3, m_at, end),
                     held);
        for (Event& told : roundEndOf(round, task, end)) {
            if (const auto* decided = std::get_if<BestEvent>(&told.what))
                m_bestNs[task] = decided->costMs * 1e6;
            m_items.push_back({std::move(told), 0});
        }
        m_at = end;
    } else if (const std::size_t cut = place - m_rounds.size(); cut < m_cutShort.size()) {
        LATHE_TRY_ASSIGN(const auto records, m_reader.round(m_run, m_cutShort[cut]));
        if (!records.empty() && taskOf(records.front().task) >= 0)
            m_items.push_back({{m_at, RoundEvent{m_cutShort[cut],
                                                 taskOf(records.front().task),
                                                 static_cast<std::int32_t>(records.size()),
                                                 {},
                                                 {}}},
                               0});
        const double begin = m_at;
        for (const store::PlayedRecord& record : records) {
            m_at = std::max(m_at, begin + static_cast<double>(record.timeMs - records.front().timeMs) * 1e-3);
            tell(record, m_cutShort[cut], m_at, false);
        }
        m_length = std::max(m_length, m_at);
    } else {
        m_at = std::numeric_limits<double>::infinity();
    }
    std::deque<Item> merged;
    for (Item& item : m_items) {
        while (m_nextBetween < m_between.size() && m_between[m_nextBetween].atSeconds <= item.event.atSeconds)
            merged.push_back({m_between[m_nextBetween++], 0});
        merged.push_back(std::move(item));
    }
    while (m_at == std::numeric_limits<double>::infinity() && m_nextBetween < m_between.size())
        merged.push_back({m_between[m_nextBetween++], 0});
    m_items = std::move(merged);
    return {};
}

Result<const ReplayScript::Item*> ReplayScript::front()
{
    while (m_items.empty() && m_at != std::numeric_limits<double>::infinity())
        LATHE_TRY(nextRound());
    return m_items.empty() ? nullptr : &m_items.front();
}

} // namespace lathe::session
