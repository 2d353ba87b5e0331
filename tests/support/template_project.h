#pragma once

#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/session.h"
#include "core/store/project.h"
#include "core/support/hash.h"
#include "core/templates/task_template.h"
#include "tests/support/must.h"

#include <string>
#include <vector>

namespace lathe::test {

/// What makeTemplateProject() made.
struct TemplateProject
{
    std::int32_t task = -1; ///< the first one that a template computes
    std::string name; ///< of that template
    std::vector<templates::Config> configs; ///< that were tried, one a trial
    std::vector<double> costsMs; ///< parallel; every eighth failed all the same
    static bool failed(std::size_t trial) { return trial % 8 == 7; }
    static std::string trial(std::size_t index) { return contentHash("template trial " + std::to_string(index)).hex(); }
};

/// A project of zoo:mlp on the simulated device in which a task was tried with configurations of its template, spread
/// over the space; and one sketch that takes `sketchMs` (0: none).
inline TemplateProject makeTemplateProject(const std::string& file, std::size_t trials, double sketchMs)
{
    session::OpenOptions options;
    options.model.source = "zoo:mlp";
    options.target = "sim";
    options.project = file;
    must(session::TuningSession::open(options));
    const auto model = must(session::loadModel(options.model, options.target));
    TemplateProject made;
    auto project = must(store::Project::open(file, store::Project::Access::Write));
    const auto run = must(
        project.addSession({0, must(project.models()).back().id, options.target, "{}", 1700000000000, 60, "stopped"}));
    for (const graph::Task& task : model->partition.tasks) {
        const auto found = templates::templatesOf(session::searchTask(task, *model, false));
        if (found.empty())
            continue;
        made.task = static_cast<std::int32_t>(&task - model->partition.tasks.data());
        made.name = found.front().row->name;
        std::vector<Record> records;
        const auto add = [&](Candidate candidate, std::size_t index, double ms) {
            Record r;
            r.trial = TemplateProject::trial(index);
            r.session = run;
            r.target = options.target;
            r.index = static_cast<std::int32_t>(index);
            r.candidate = std::move(candidate);
            r.result.device = identityOf("{\"key\": \"sim\"}");
            r.timeMs = 1700000000000 + static_cast<std::int64_t>(index);
            if (TemplateProject::failed(index)) {
                r.result.stage = TrialStage::Run;
                r.result.code = Errc::RunTimeout;
                r.result.text = "took too long";
            } else {
                r.result.costsNs = {ms * 1e6};
                r.result.verified = true;
            }
            records.push_back(std::move(r));
        };
        const std::uint64_t step = std::max<std::uint64_t>(1, found.front().space.size() / trials);
        for (std::size_t i = 0; i < trials; ++i) {
            made.configs.push_back(must(found.front().space.at(i * step % found.front().space.size())));
            made.costsMs.push_back(1 + static_cast<double>((i * 7) % trials) / 10);
            add(must(found.front().candidate(made.configs.back())), i, made.costsMs.back());
        }
        if (sketchMs > 0) {
            Candidate sketch = must(found.front().candidate(made.configs.front()));
            sketch.kind = {};
            sketch.sketch = "lathe-cpu/1:direct";
            add(std::move(sketch), 8 * trials, sketchMs); // which is no eighth
        }
        must(project.addRecords(records));
        return made;
    }
    return made;
}

} // namespace lathe::test
