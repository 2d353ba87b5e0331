#pragma once

#include "core/session/device_directory.h"
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

/// A project of a small network of convolutions on the simulated device in which each of them was measured in several
/// layouts, by configurations of its template: the made-up costs grow with the place in the space.
inline void makeLayoutProject(const std::string& file)
{
    constexpr std::uint64_t kEach = 6; ///< configurations of a task
    session::OpenOptions options;
    options.model.source = "zoo:squeezenet-1.1";
    options.model.layout = "NCHW";
    options.target = "sim";
    options.project = file;
    must(session::TuningSession::open(options));
    const auto model = must(session::loadModel(options.model, options.target));
    auto project = must(store::Project::open(file, store::Project::Access::Write));
    const auto run = must(
        project.addSession({0, must(project.models()).back().id, options.target, "{}", 1700000000000, 60, "stopped"}));
    // Conversions are timed where the records were measured: on this machine's device.
    const auto devices = session::DeviceDirectory::ask(options.target);
    const DeviceIdentity device{devices.all().front().deviceKey, devices.all().front().fingerprint};
    std::vector<Record> records;
    for (const graph::Task& task : model->partition.tasks)
        for (const templates::TaskTemplate& made : templates::templatesOf(session::searchTask(task, *model, false))) {
            for (std::uint64_t i = 0; i < kEach; ++i) {
                auto candidate = made.candidate(must(made.space.at(i * made.space.size() / kEach)));
                if (!candidate)
                    continue;
                Record r;
                r.trial = contentHash(task.key + std::to_string(i)).hex();
                r.session = run;
                r.target = options.target;
                r.candidate = *std::move(candidate);
                r.result.device = device;
                r.result.costsNs = {(1 + 0.1 * static_cast<double>(i)) * 1e6};
                r.result.verified = true;
                r.timeMs = 1700000000000 + static_cast<std::int64_t>(records.size());
                records.push_back(std::move(r));
            }
        }
    must(project.addRecords(records));
}

} // namespace lathe::test
