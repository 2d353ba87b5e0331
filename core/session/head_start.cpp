#include "core/session/head_start.h"

#include "core/policy/policy_table.h"
#include "core/search/head_start_file.h"
#include "core/search/lathe/adapt.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/session/back_ends.h"
#include "core/session/condition_texts.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/options/options_json.h"
#include "core/store/log_line.h"
#include "core/support/files.h"
#include "core/support/hash.h"
#include "core/support/message.h"
#include "core/target/hardware_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lathe::session {

namespace fs = std::filesystem;

namespace {

/// Whose candidates a head start is made of.
constexpr std::string_view kHeadStartPolicy = policy::kDefaultPolicy;

using Sketches = std::vector<std::shared_ptr<const search::LatheSketch>>;
using Task = search::HeadStart::Task;

/// What one device measured of a task, one cache condition.
struct Trials
{
    store::Conditions conditions;
    std::vector<Record> records; ///< valid ones and failures, in time order
};

const search::LatheSketch* sketchOf(const Sketches& sketches, const Candidate& candidate)
{
    const auto found = std::find_if(sketches.begin(), sketches.end(),
                                    [&candidate](const auto& sketch) { return sketch->name() == candidate.sketch; });
    return found == sketches.end() ? nullptr : found->get();
}

/// Whether the sketch takes the genome, and what its features are.
std::optional<search::LatheSketch::Analysis> analysisOf(const search::LatheSketch* sketch, const Candidate& candidate)
{
    if (sketch == nullptr)
        return std::nullopt;
    auto analysis = sketch->analyse(candidate.genome);
    return analysis ? std::optional(*std::move(analysis)) : std::nullopt;
}

/// So many of `from`, evenly spread, the first one always.
std::vector<std::size_t> spread(const std::vector<std::size_t>& from, std::size_t count)
{
    if (from.size() <= count)
        return from;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i)
        chosen.push_back(from[i * from.size() / count]);
    return chosen;
}

/// Half of the rows are the fastest trials, where the model must tell well; the others are spread over the slower ones,
/// an eighth over those that failed.
std::vector<std::size_t> sample(const std::vector<Record>& records, std::size_t count)
{
    std::vector<std::size_t> valid, failed;
    for (std::size_t i = 0; i < records.size(); ++i)
        (records[i].result.ok() ? valid : failed).push_back(i);
    std::stable_sort(valid.begin(), valid.end(), [&records](std::size_t a, std::size_t b) {
        return records[a].result.meanNs() < records[b].result.meanNs();
    });
    std::vector<std::size_t> chosen = spread(failed, std::min(count / 8, failed.size()));
    const std::size_t left = count - chosen.size(), best = std::min(valid.size(), left / 2);
    chosen.insert(chosen.begin(), valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(best));
    const std::vector<std::size_t> slower = spread({valid.begin() + static_cast<std::ptrdiff_t>(best), valid.end()},
                                                   left - best);
    chosen.insert(chosen.end(), slower.begin(), slower.end());
    return chosen;
}

class Maker
{
public:
    explicit Maker(const MakeHeadStart& options)
        : m_options(options)
    {
    }

    Result<> leaveOut();
    Result<> add(const fs::path& file, const std::function<void(std::string_view)>& progress, std::stop_token stop);
    Result<> write(const fs::path& output);
    HeadStartReport report;

private:
    struct Found
    {
        Task task;
        std::size_t trials = 0;
    };
    Result<> addModel(const store::Project& project, const store::ModelRow& row, const std::string& target);
    Result<Trials> trialsOf(const store::Project& project, const std::string& task, const std::string& target,
                            const Sketches& sketches);
    Result<std::vector<search::HeadStart::Seed>> seedsOf(const store::Project& project, const std::string& task,
                                                         const std::string& target, const Trials& trials,
                                                         const Sketches& sketches) const;
    Result<const std::set<std::string>*> leftOutFor(const std::string& target);

    const MakeHeadStart& m_options;
    std::set<std::string> m_leftOut; ///< keys of the projects in `without`
    std::map<std::string, std::set<std::string>> m_leftOutOfModels; ///< by target: keys of the models in `without`
    std::set<std::string> m_leftOutNames;
    std::map<std::pair<std::string, std::string>, Found> m_found; ///< by task key and target
};

bool isProject(const std::string& name)
{
    return fs::path(name).extension() == ".lathe";
}

Result<> Maker::leaveOut()
{
    for (const std::string& name : m_options.without) {
        if (!isProject(name))
            continue;
        LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(name, store::Project::Access::Read));
        LATHE_TRY_ASSIGN(const auto models, project.models());
        for (const store::ModelRow& model : models) {
            LATHE_TRY_ASSIGN(const auto tasks, project.tasks(model.id));
            for (const store::TaskRow& task : tasks)
                m_leftOut.insert(task.key);
        }
    }
    return {};
}

/// A network's tasks depend on the target.
Result<const std::set<std::string>*> Maker::leftOutFor(const std::string& target)
{
    const auto [found, fresh] = m_leftOutOfModels.try_emplace(target, m_leftOut);
    for (const std::string& name : m_options.without) {
        if (!fresh || isProject(name))
            continue;
        ModelSpec spec;
        spec.source = name;
        LATHE_TRY_ASSIGN(const auto model, loadModel(spec, target));
        for (const graph::Task& task : model->partition.tasks)
            found->second.insert(task.key);
    }
    return &found->second;
}

Result<> Maker::add(const fs::path& file, const std::function<void(std::string_view)>& progress, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const store::Project project, store::Project::open(file, store::Project::Access::Read));
    LATHE_TRY_ASSIGN(const auto models, project.models());
    LATHE_TRY_ASSIGN(const auto targets, project.targets());
    for (const store::ModelRow& model : models) {
        for (const std::string& target : targets) {
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, say(Msg::Stopped));
            if (target.starts_with(store::kImportedTarget))
                continue;
            if (progress)
                progress(fmt::format("{}: {} for {}", file.string(), model.source, target));
            LATHE_TRY(addModel(project, model, target));
        }
    }
    return {};
}

Result<> Maker::addModel(const store::Project& project, const store::ModelRow& row, const std::string& target)
{
    LATHE_TRY_ASSIGN(const ModelSpec spec, modelSpecFromJson(row.options));
    LATHE_TRY_ASSIGN(const auto loaded, loadModelOf(project.file(), spec, target));
    LoadedModel model = *loaded;
    // What is handed on are sketches of processors and their features; those of launches mean other things.
    if (!checkPolicy(model.target, kHeadStartPolicy) || model.target.traits().form != KernelForm::Phases)
        return {};
    LATHE_TRY_ASSIGN(const std::string limits, project.note("hardware " + model.target.text()));
    if (!limits.empty()) {
        LATHE_TRY_ASSIGN(const Hardware hardware, parseHardware(limits, "project"));
        LATHE_TRY(putLimits(model, hardware));
    }
    LATHE_TRY_ASSIGN(const std::set<std::string>* leftOut, leftOutFor(target));
    for (const graph::Task& task : model.partition.tasks) {
        if (leftOut->contains(task.key)) {
            m_leftOutNames.insert(task.name);
            continue;
        }
        const auto sketches = search::latheCpuSketches(searchTask(task, model, false));
        if (!sketches)
            continue; // it has default schedules alone
        LATHE_TRY_ASSIGN(const Trials trials, trialsOf(project, task.key, target, *sketches));
        Found& found = m_found[{task.key, target}];
        if (trials.records.size() <= found.trials)
            continue;
        found.trials = trials.records.size();
        found.task = {task.key,
                      task.name,
                      row.source.starts_with("zoo:") ? row.source : fs::path(row.source).stem().string(),
                      target,
                      deviceNameOf(trials.conditions.fingerprint),
                      {},
                      {},
                      {}};
        LATHE_TRY_ASSIGN(found.task.seeds, seedsOf(project, task.key, target, trials, *sketches));
        for (const std::size_t i : sample(trials.records, static_cast<std::size_t>(std::max(0, m_options.rows)))) {
            const Record& record = trials.records[i];
            const auto analysis = analysisOf(sketchOf(*sketches, record.candidate), record.candidate);
            found.task.costs.push_back(record.result.ok() ? record.result.meanNs()
                                                          : std::numeric_limits<double>::infinity());
            found.task.features.insert(found.task.features.end(), analysis->features.begin(), analysis->features.end());
        }
    }
    return {};
}

/// Of the device and cache condition under which most were measured.
Result<Trials> Maker::trialsOf(const store::Project& project, const std::string& task, const std::string& target,
                               const Sketches& sketches)
{
    std::vector<Trials> groups;
    store::RecordFilter filter;
    filter.task = task;
    LATHE_TRY(project.forEachRecord(filter, [&](const Record& record) {
        if (record.target != target || !finalsOf(record).empty() || !record.repeats.empty())
            return;
        const bool failed = !record.result.ok() || !std::isfinite(record.result.meanNs())
                            || record.result.meanNs() <= 0;
        if (failed
            && (record.result.code == Errc::Ok || record.result.code == Errc::DeviceLost
                || record.result.code == Errc::Cancelled))
            return;
        if (!analysisOf(sketchOf(sketches, record.candidate), record.candidate)) {
            ++report.skipped["not a candidate that policy sketch of this build makes"];
            return;
        }
        // What failed before it got to a device failed for whichever there was.
        const store::Conditions conditions = store::conditionsOf(record);
        auto group = std::find_if(groups.begin(), groups.end(), [&conditions](const Trials& t) {
            const bool sameDevice = t.conditions.deviceKey == conditions.deviceKey || t.conditions.deviceKey.empty()
                                    || conditions.deviceKey.empty();
            return sameDevice && t.conditions.coldBytes == conditions.coldBytes;
        });
        if (group == groups.end())
            group = groups.insert(groups.end(), Trials{conditions, {}});
        else if (group->conditions.deviceKey.empty())
            group->conditions = conditions;
        group->records.push_back(record);
    }));
    Trials most;
    for (Trials& group : groups) {
        const bool works = std::any_of(group.records.begin(), group.records.end(),
                                       [](const Record& record) { return record.result.ok(); });
        if (works && group.records.size() > most.records.size()) {
            report.skipped["measured under other conditions than most trials of the task"] += static_cast<std::int64_t>(
                most.records.size());
            most = std::move(group);
        } else {
            report.skipped["measured under other conditions than most trials of the task"] += static_cast<std::int64_t>(
                group.records.size());
        }
    }
    return most;
}

Result<std::vector<search::HeadStart::Seed>> Maker::seedsOf(const store::Project& project, const std::string& task,
                                                            const std::string& target, const Trials& trials,
                                                            const Sketches& sketches) const
{
    constexpr double kHopeless = 2; // times slower than the task's best
    std::vector<search::HeadStart::Seed> seeds;
    std::set<Hash128> seen;
    std::set<const search::LatheSketch*> algorithms;
    LATHE_TRY(project.forEachContender(task, target, trials.conditions, [&](const Record& record) {
        const search::LatheSketch* sketch = sketchOf(sketches, record.candidate);
        if (!analysisOf(sketch, record.candidate))
            return true;
        const double ns = record.result.meanNs();
        if (!seeds.empty() && ns > kHopeless * seeds.front().ns)
            return false;
        const bool wanted = seeds.size() < static_cast<std::size_t>(std::max(1, m_options.candidates))
                            || !algorithms.contains(sketch);
        if (wanted && seen.insert(sketch->identity(record.candidate.genome)).second) {
            algorithms.insert(sketch);
            seeds.push_back({search::formOf(*sketch), search::extentsOf(*sketch),
                             search::valuesOf(*sketch, record.candidate.genome), ns});
        }
        return algorithms.size() < sketches.size()
               || seeds.size() < static_cast<std::size_t>(std::max(1, m_options.candidates));
    }));
    std::stable_sort(seeds.begin(), seeds.end(), [](const auto& a, const auto& b) { return a.ns < b.ns; });
    return seeds;
}

Result<> Maker::write(const fs::path& output)
{
    search::HeadStart headStart;
    headStart.features = search::featureVersion();
    headStart.columns = search::kLatheFeatures;
    for (const std::string& name : m_options.without)
        headStart.without.push_back(name.starts_with("zoo:") ? name : fs::path(name).filename().string());
    for (auto& [key, found] : m_found)
        if (!found.task.seeds.empty())
            headStart.tasks.push_back(std::move(found.task));
    report.leftOut.assign(m_leftOutNames.begin(), m_leftOutNames.end());
    if (headStart.tasks.empty())
        return makeError(Errc::NotFound, "no task with trials of policy sketch is left for a head start");
    LATHE_TRY_ASSIGN(const std::string bytes, search::writeHeadStart(headStart));
    LATHE_TRY(writeFileAtomically(output, bytes));
    report.tasks = headStart.tasks.size();
    report.candidates = headStart.seeds();
    report.rows = headStart.rows();
    report.bytes = bytes.size();
    std::erase_if(report.skipped, [](const auto& entry) { return entry.second == 0; });
    return {};
}

} // namespace

std::vector<fs::path> installedHeadStarts()
{
    return filesEndingWith(installPrefix() / "share" / "lathe" / "head_start", ".headstart");
}

fs::path installedHeadStart(const std::string& target)
{
    const auto parsed = parseTarget(target);
    if (!parsed || parsed->traits().headStart.empty())
        return {};
    fs::path file = installPrefix() / "share" / "lathe" / "head_start" / (parsed->traits().headStart + ".headstart");
    std::error_code ignored;
    return fs::exists(file, ignored) ? file : fs::path();
}

Result<HeadStartBytes> loadHeadStart(const fs::path& file)
{
    LATHE_TRY_ASSIGN(std::string bytes, readFile(file, search::kMaxHeadStartBytes));
    const std::string hash = contentHash(bytes).hex();
    return HeadStartBytes{file.string(), std::move(bytes), hash};
}

Result<HeadStartBytes> loadHeadStart(const fs::path& file, search::HeadStart& contents)
{
    const auto usable = [&]() -> Result<HeadStartBytes> {
        LATHE_TRY_ASSIGN(HeadStartBytes read, loadHeadStart(file));
        LATHE_TRY_ASSIGN(contents, search::readHeadStart(read.bytes));
        LATHE_TRY(search::checkFeatures(contents));
        return read;
    };
    auto read = usable();
    if (!read && read.error().message.find(file.string()) == std::string::npos)
        return std::move(read).error().note(file.string());
    return read;
}

Result<> checkHeadStart(const fs::path& file)
{
    search::HeadStart contents;
    LATHE_TRY(loadHeadStart(file, contents));
    return {};
}

Result<HeadStartReport> makeHeadStart(const MakeHeadStart& options, const fs::path& output,
                                      const std::function<void(std::string_view)>& progress, std::stop_token stop)
{
    Maker maker(options);
    LATHE_TRY(maker.leaveOut());
    for (const fs::path& project : options.projects)
        LATHE_TRY(maker.add(project, progress, stop));
    LATHE_TRY(maker.write(output));
    return std::move(maker.report);
}

} // namespace lathe::session
