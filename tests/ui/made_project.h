#pragma once

#include "core/session/session.h"
#include "core/store/project.h"
#include "core/support/hash.h"
#include "core/support/message.h"
#include "tests/support/must.h"

#include <QString>

#include <string>
#include <vector>

namespace lathe::test {

enum class Project
{
    Empty, ///< opened, never tuned
    Mixed, ///< 12 rounds of 8 trials, every eighth failed
    Failing, ///< the same, and all failed
    Huge ///< 20,000 trials in 2,500 rounds, every eighth failed
};

inline std::string terms(const std::string& reason)
{
    return "{\"gain_per_second\": 0.002, \"recent\": 0.001, \"potential\": 0.003, \"round_seconds\": 2.5, \"weight\": "
           "1, \"next_best\": 0.001, \"next_best_task\": 0, \"reason\": \""
           + reason + "\"}";
}

inline std::string durations()
{
    return "{\"elapsed_s\": 5, \"activities\": {\"search\": 1, \"build\": 2, \"measure\": 1.5, \"train\": 0.5}}";
}

/// A project of zoo:mlp on the simulated device with a run of made-up trials: the same on every machine.
inline void makeProject(const QString& name, Project kind)
{
    session::OpenOptions options;
    options.model.source = "zoo:mlp";
    options.target = "sim";
    options.project = name.toStdString();
    std::vector<session::TaskView> tasks;
    {
        const auto opened = must(session::TuningSession::open(options));
        tasks = opened->tasks();
    }
    if (kind == Project::Empty)
        return;
    auto project = must(store::Project::open(options.project, store::Project::Access::Write));
    const int rounds = kind == Project::Huge ? 2500 : 12;
    const auto run = must(
        project.addSession({0, must(project.models()).back().id, "sim", "{}", 1700000000000, 5.0 * rounds, "stopped"}));
    std::vector<Record> records;
    for (int round = 0; round < rounds; ++round) {
        const session::TaskView& task = tasks[static_cast<std::size_t>(round) % tasks.size()];
        for (int i = 0; i < 8; ++i) {
            Record r;
            r.trial = contentHash(std::to_string(round * 8 + i)).hex();
            r.session = run;
            r.round = round;
            r.index = i;
            r.candidate.task = task.key;
            r.candidate.alternative = task.alternatives.front();
            r.candidate.sketch = "lathe-cpu/1:direct";
            r.candidate.steps = "[]";
            r.candidate.predictedNs = 2e6;
            r.result.device = identityOf("{\"key\": \"sim\"}");
            r.timeMs = 1700000000000 + round * 1000 + i;
            if (i == 7 || kind == Project::Failing) {
                r.result.stage = TrialStage::Run;
                r.result.code = round % 3 == 0 ? Errc::WorkerCrashed : Errc::RunTimeout;
                r.result.text = "the kernel crashed: signal 11"; // as an older version left it, with the text alone
                if (round % 3 != 0) {
                    r.result.about = about(say(Msg::RunTookLong, 10 + round, say(Msg::WhileTiming)));
                    r.result.text = textOf(*r.result.about);
                }
            } else {
                r.result.costsNs = {1e6 * (8 + 12.0 * (rounds - round) / rounds + i)};
                r.result.verified = true;
            }
            records.push_back(r);
        }
        if (records.size() >= 4000 || round + 1 == rounds) {
            must(project.addRecords(records));
            records.clear();
        }
        const double estimate = kind == Project::Failing ? session::kUnknown : 28 + 12.0 * (rounds - round) / rounds;
        must(project.addRound({run, round, task.key, 8, terms(round < 3 ? "first" : "promise"), durations(),
                               5.0 * (round + 1), estimate}));
    }
    must(project.addEvent(run, 1, "untuned", "{\"ms\": 90}"));
    if (kind != Project::Failing)
        must(project.addEvent(run, 55, "measured", "{\"ms\": 31}"));
}

} // namespace lathe::test
