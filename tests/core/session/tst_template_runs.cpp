#include "core/schedule/state.h"
#include "core/session/exports/applied_logs.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/options/tune_options.h"
#include "core/session/plan/network_plan.h"
#include "core/session/run/chosen_tasks.h"
#include "core/session/session.h"
#include "core/store/log_line.h"
#include "core/support/files.h"
#include "core/templates/space_summary.h"
#include "core/templates/task_template.h"
#include "core/templates/workload.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace tst_template_runs {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

namespace {

constexpr const char* kAvx2 = "llvm -keys=cpu -link-params=0 -mcpu=core-avx2";

/// A line in the documented form, spelt as Python spells it.
std::string lineOf(const TemplateView& view, std::uint64_t index, const std::string& cost, int number)
{
    const templates::Workload workload = must(templates::workloadFromKey(view.workload));
    templates::TemplateTrial trial;
    trial.target = kAvx2;
    trial.workload = workload;
    trial.config = must(must(templates::spaceOf(workload)).at(index));
    trial.costs = {{std::stod(cost), cost}};
    trial.error = number % 9 == 8 ? number % 8 + 1 : 0;
    if (trial.error != 0)
        trial.costs = {{1e9, "1000000000.0"}};
    trial.allCost = {1.9375 + number, fmt::format("{}", 1.9375 + number)};
    trial.timestamp = {1660000000.5 + number, fmt::format("{:.1f}", 1660000000.5 + number)};
    trial.version = "0.9.0";
    return templates::templateLine(trial);
}

ModelSpec specOf(const char* source, const char* layout)
{
    ModelSpec spec;
    spec.source = source;
    spec.layout = layout;
    return spec;
}

} // namespace

/// Template tuning through the session: which tasks, in which order, and what becomes of logs.
class TestTemplateRuns : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::unique_ptr<TuningSession> open(const char* project, const char* model = "zoo:squeezenet-1.1",
                                        const char* target = "sim")
    {
        OpenOptions options;
        options.model.source = model;
        options.model.layout = "NCHW";
        options.target = target;
        if (project != nullptr)
            options.project = m_folder.filePath(project).toStdString();
        return must(TuningSession::open(options));
    }
    std::filesystem::path write(const char* name, const std::vector<std::string>& lines)
    {
        std::string text;
        for (const std::string& line : lines)
            text += line + '\n';
        const std::filesystem::path file = m_folder.filePath(name).toStdString();
        if (!writeFileAtomically(file, text))
            qFatal("cannot write");
        return file;
    }

private slots:
    /// autotvm.md 5.1: the tutorial's 12 tasks in its order, with the sizes of v0.9; for CUDA 16, walked backwards.
    void theTutorialsTasksAreFoundInTheirOrder()
    {
        std::vector<std::uint64_t> sizes;
        for (const TemplateView& view : open(nullptr, "zoo:resnet-18")->templates())
            if (view.name == "conv2d_NCHWc.x86")
                sizes.push_back(view.size);
        QCOMPARE(sizes, (std::vector<std::uint64_t>{308, 980, 980, 896, 896, 1024, 864, 864, 972, 720, 720, 800}));
        std::vector<std::uint64_t> direct, winograd;
        for (const TemplateView& view : open(nullptr, "zoo:resnet-18", "cuda -arch=sm_80")->templates())
            if (view.name == "conv2d_nchw.cuda")
                direct.push_back(view.size);
            else if (view.name == "conv2d_nchw_winograd.cuda")
                winograd.push_back(view.size);
        QCOMPARE(direct,
                 (std::vector<std::uint64_t>{844'800, 190'080, 760'320, 9'123'840, 2'027'520, 8'110'080, 36'864'000,
                                             8'064'000, 32'256'000, 22'579'200, 90'316'800, 79'027'200}));
        QCOMPARE(winograd.size(), std::size_t{4});
    }

    /// The counts of other networks with ops = conv2d (autotvm.md 5.1).
    void otherNetworksHaveTheReferencesCounts_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<int>("tasks");
        QTest::newRow("resnet-34") << "zoo:resnet-34" << 12;
        QTest::newRow("resnet-50") << "zoo:resnet-50" << 20;
        QTest::newRow("mobilenet") << "zoo:mobilenet" << 19;
        QTest::newRow("squeezenet") << "zoo:squeezenet-1.1" << 18;
        QTest::newRow("vgg-16") << "zoo:vgg-16" << 9;
    }
    void otherNetworksHaveTheReferencesCounts()
    {
        QFETCH(QString, network);
        QFETCH(int, tasks);
        int found = 0;
        for (const TemplateView& view : open(nullptr, qPrintable(network))->templates())
            found += view.name.find("conv2d_NCHWc") != std::string::npos ? 1 : 0;
        QCOMPARE(found, tasks);
    }

    /// Forty lines into a project and out again, bit for bit.
    void fortyLinesComeBackBitForBit()
    {
        const auto session = open("forty.lathe");
        const auto views = session->templates();
        const std::vector<std::string> costs = {"0.00041", "4.1e-05", "1e-06", "0.0012345678901234567", "2.5", "3"};
        std::vector<std::string> lines;
        for (int i = 0; i < 40; ++i) {
            const TemplateView& view = views[static_cast<std::size_t>(i) % views.size()];
            lines.push_back(lineOf(view, static_cast<std::uint64_t>(i) * 37 % view.size,
                                   costs[static_cast<std::size_t>(i) % costs.size()], i));
        }
        const auto log = write("forty.log", lines);
        const LogImport done = must(session->project()->importLogs(std::span(&log, 1), {}, {}));
        QCOMPARE(done.lines, std::int64_t{40});
        QVERIFY2(done.skipped.empty(), done.skipped.empty() ? "" : done.skipped.front().reason.c_str());
        const std::filesystem::path back = m_folder.filePath("back.log").toStdString();
        const LogExport written = must(session->project()->exportTemplateLog(back, {}));
        QCOMPARE(written.written, std::int64_t{40});
        QCOMPARE(QString::fromStdString(must(readFile(back))), QString::fromStdString(must(readFile(log))));
        // The same lines again are known.
        const LogImport again = must(session->project()->importLogs(std::span(&log, 1), {}, {}));
        QCOMPARE(again.taken, std::int64_t{0});
    }

    void linesThatNoTaskHasAreCountedByWhy()
    {
        const auto session = open("why.lathe");
        const TemplateView view = session->templates().front();
        const std::string good = lineOf(view, 5, "0.001", 0);
        std::string unknown = good, elsewhere = good, unfit = good;
        unknown.replace(unknown.find("conv2d_NCHWc.x86"), 16, "conv2d_NCHWc.vax");
        elsewhere.replace(elsewhere.find("224, 224"), 8, "225, 225");
        unfit.replace(unfit.find("tile_oc"), 7, "tile_zz");
        const auto log = write("why.log", {good, unknown, elsewhere, unfit, "{\"input\": []"});
        const LogImport done = must(session->project()->importLogs(std::span(&log, 1), {}, {}));
        QCOMPARE(done.lines, std::int64_t{5});
        std::string reasons;
        for (const SkippedLines& lines : done.skipped)
            reasons += lines.reason + '\n';
        QCOMPARE(done.skippedLines(), std::int64_t{4});
        for (const char* part : {"no such template", "not in this network", "tile_oc"})
            QVERIFY2(reasons.find(part) != std::string::npos, reasons.c_str());
    }

    void onlyChosenTasksAreTuned()
    {
        const std::shared_ptr<const LoadedModel> model = must(loadModel(specOf("zoo:mobilenet", ""), "sim"));
        const auto chosen = [&](std::vector<std::string> operators, std::vector<std::string> tasks) {
            TuneOptions options;
            options.operators = std::move(operators);
            options.tasks = std::move(tasks);
            return chosenTasks(options, model->partition);
        };
        const auto all = must(chosen({}, {}));
        QVERIFY(std::all_of(all.begin(), all.end(), [](bool c) { return c; }));
        const auto dense = must(chosen({"dense"}, {}));
        QCOMPARE(std::count(dense.begin(), dense.end(), true), std::ptrdiff_t{1});
        const auto convolutions = must(chosen({"nn.conv2d,dense"}, {"0"}));
        for (std::size_t i = 0; i < convolutions.size(); ++i) {
            const std::string& name = model->partition.tasks[i].name;
            QCOMPARE(bool(convolutions[i]), i == 0 || name.find("conv2d") == 0 || name.find("depthwise_conv2d") == 0
                                                || name.find("dense") == 0);
        }
        QVERIFY(chosen({}, {"1", "999"}).error().code == Errc::InvalidArgument);
        QVERIFY(chosen({"conv3d"}, {}).error().code == Errc::NotFound);
        QVERIFY(chosen({"conv3d"}, {}).error().message.find("depthwise_conv2d") != std::string::npos);
    }

    void presetsAreTheTutorials()
    {
        TuneOptions options;
        options.preset = "nvidia";
        options.number = 7;
        const TuneOptions nvidia = withPreset(options);
        QCOMPARE(nvidia.policy, std::string("template"));
        QCOMPARE(nvidia.tuner, std::string("xgb"));
        QCOMPARE(nvidia.trialsPerTask, std::int64_t{2000});
        QCOMPARE(nvidia.earlyStopPerTask, std::int64_t{600});
        QCOMPARE(nvidia.number, 7); // said
        QCOMPARE(nvidia.repeat, 3);
        QCOMPARE(nvidia.minRepeatMs.value_or(0), 150.0);
        for (const std::string& name : presetNames()) {
            TuneOptions each;
            each.preset = name;
            QVERIFY(check(withPreset(each)));
        }
    }

    /// Blocks are told by their numbers, whichever dimension the network has innermost.
    void layoutsAreNamed()
    {
        const std::vector<std::int64_t> shape = {1, 32, 7, 7};
        const IndexMap plain = IndexMap::plain(shape.data(), 4);
        QCOMPARE(layoutOf(plain, "NCHW")->text(), std::string("NCHW"));
        IndexMap blocked = plain;
        blocked.physicalRank = 5;
        blocked.axes[0] = {0, 1, 1, 0};
        blocked.axes[1] = {1, 16, 2, 0};
        blocked.axes[2] = {2, 1, 7, 0};
        blocked.axes[3] = {3, 1, 7, 0};
        blocked.axes[4] = {1, 1, 16, 0};
        blocked.makeDense();
        QCOMPARE(layoutOf(blocked, "NCHW")->text(), std::string("NCHW16c"));
        blocked.axes[1].extent = 3; // there is no such channel
        blocked.makeDense();
        QVERIFY(!layoutOf(blocked, "NCHW"));
    }

    /// A line is for each task that has its workload, whatever operators come after it: each takes its own steps.
    void aLineOfSeveralTasksGivesEachItsOwnSteps()
    {
        constexpr const char* kTarget = "cpu -mcpu=core-avx2";
        const auto session = open(nullptr, "zoo:resnet-18", kTarget);
        std::vector<std::string> lines;
        for (const TemplateView& view : session->templates())
            lines.push_back(lineOf(view, view.size / 2, "0.001", 0));
        const auto log = write("several.log", lines);
        const auto model = must(loadModel(specOf("zoo:resnet-18", "NCHW"), kTarget));
        auto applied = std::make_shared<const AppliedLogs>(must(applyLogs(*model, std::span(&log, 1))));
        LayoutChoice layouts;
        layouts.measures = false;
        const KernelChoices chosen = must(chooseKernels(*model, nullptr, {{}, false, layouts, applied}));
        std::map<std::string, std::set<std::string>> steps; // by record
        for (const deploy::KernelChoice& choice : chosen.choices) {
            if (choice.record.empty())
                continue;
            steps[choice.record].insert(choice.steps);
            const auto replayed = schedule::State::replay(
                choice.alternative->dag, must(schedule::stepsFromJson(nlohmann::json::parse(choice.steps))));
            QVERIFY2(replayed, replayed ? "" : replayed.error().message.c_str());
        }
        QVERIFY(std::ranges::any_of(steps, [](const auto& record) { return record.second.size() > 1; }));
    }

    void targetsOfLogsAreComparedByTheirWords()
    {
        const Target avx2 = must(Target::parse("cpu -mcpu=core-avx2")), plain = must(Target::parse("cpu"));
        QCOMPARE(differenceOfTargets(kAvx2, avx2).value_or("none"), std::string());
        QVERIFY(differenceOfTargets(kAvx2, plain).value_or("").find("-mcpu=core-avx2 there, nothing here")
                != std::string::npos);
        QVERIFY(!differenceOfTargets("cuda -keys=cuda,gpu -arch=sm_86", avx2));
        QCOMPARE(differenceOfTargets("sim", must(Target::parse("sim"))).value_or("none"), std::string());
    }

    /// Lines for the very target are taken before any others, and of them the fastest by the mean.
    void aLogIsAppliedWithoutATrial()
    {
        const auto session = open(nullptr, "zoo:squeezenet-1.1", "cpu -mcpu=core-avx2");
        const auto views = session->templates();
        std::vector<std::string> lines;
        for (const TemplateView& view : views) {
            std::string other = lineOf(view, 1, "1e-06", 0);
            other.replace(other.find("core-avx2"), 9, "skylake-x");
            lines.push_back(other);
            lines.push_back(lineOf(view, 2, "0.002", 1));
            lines.push_back(lineOf(view, 3, "0.001", 2));
        }
        const auto log = write("apply.log", lines);
        const auto model = must(loadModel(specOf("zoo:squeezenet-1.1", "NCHW"), "cpu -mcpu=core-avx2"));
        const AppliedLogs applied = must(applyLogs(*model, std::span(&log, 1)));
        QVERIFY(applied.tasks.size() >= views.size());
        for (const auto& [key, ofTask] : applied.tasks) {
            // Of each template of the task two lines are for this target, and one is for another.
            const auto exact = std::ranges::count(ofTask, nullptr, &AppliedLogs::Applied::differs);
            QCOMPARE(exact * 3, 2 * static_cast<std::ptrdiff_t>(ofTask.size()));
            QCOMPARE(ofTask.front().record.result.meanNs(), 1e6);
            QVERIFY(ofTask.back().differs);
            QCOMPARE(ofTask.back().record.result.meanNs(), 1e3);
        }
        const auto elsewhere = must(loadModel(specOf("zoo:squeezenet-1.1", "NCHW"), "cpu -mcpu=haswell"));
        const AppliedLogs near = must(applyLogs(*elsewhere, std::span(&log, 1)));
        const About& differs = near.tasks.begin()->second.front().differs;
        QVERIFY(differs && textOf(*differs).find("-mcpu=haswell here") != std::string::npos);
    }
};

LATHE_TEST(TestTemplateRuns)

} // namespace tst_template_runs
#include "tst_template_runs.moc"
