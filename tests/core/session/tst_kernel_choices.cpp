#include "core/session/exports/kernel_choices.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

namespace tst_kernel_choices {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;
using store::Conditions;
using store::Project;

namespace {

/// A network whose first convolution may be computed by winograd, too.
const LoadedModel& network()
{
    static const auto model = [] {
        ModelSpec spec;
        spec.source = "zoo:squeezenet-1.1";
        return must(loadModel(spec, "cpu -threads=2"));
    }();
    return *model;
}

const graph::Task& winogradTask()
{
    for (const graph::Task& task : network().partition.tasks)
        for (const graph::Alternative& alternative : task.alternatives)
            if (alternative.name.starts_with("winograd"))
                return task;
    qFatal("no task has winograd for an alternative");
}

std::string winogradOf(const graph::Task& task)
{
    for (const graph::Alternative& alternative : task.alternatives)
        if (alternative.name.starts_with("winograd"))
            return alternative.name;
    return {};
}

Record record(const std::string& id, const graph::Task& task, const std::string& alternative, double ns,
              const Conditions& conditions, const std::string& target = "cpu -threads=2")
{
    Record r;
    r.trial = id;
    r.candidate.task = task.key;
    r.candidate.alternative = alternative;
    r.candidate.steps = "[]";
    r.result.costsNs = {ns};
    r.result.conditions = "{\"cold_bytes\": " + std::to_string(conditions.coldBytes) + "}";
    r.target = target;
    r.result.device = identityOf(conditions.deviceKey);
    return r;
}

const deploy::KernelChoice& choiceOf(const KernelChoices& choices, const graph::Task& task)
{
    const auto index = &task - network().partition.tasks.data();
    for (std::size_t i = 0; i < network().partition.subgraphs.size(); ++i)
        if (network().partition.subgraphs[i].task == index)
            return choices.choices[i];
    qFatal("the task is nowhere in the network");
}

} // namespace

class TestKernelChoices : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    Project project(const char* name)
    {
        return must(Project::open(std::filesystem::path(m_dir.path().toStdString()) / name, Project::Access::Write));
    }
    const Conditions m_here{"here", 0};

private slots:
    void withoutAProjectEveryTaskHasItsDefaultSchedule()
    {
        const KernelChoices choices = must(chooseKernels(network(), nullptr, {}));
        QCOMPARE(choices.choices.size(), network().partition.subgraphs.size());
        QCOMPARE(choices.fallbacks.size(), network().partition.tasks.size());
        QVERIFY(std::isnan(choices.estimatedTasksMs));
        QVERIFY(choiceOf(choices, winogradTask()).record.empty());
        QVERIFY(!choiceOf(choices, winogradTask()).steps.empty());
    }

    void strictTakesTheBestRecordThatItAllows()
    {
        const graph::Task& task = winogradTask();
        Project p = project("strict.lathe");
        must(p.addRecords(std::vector{record("w", task, winogradOf(task), 100, m_here),
                                      record("d", task, "direct", 200, m_here),
                                      record("e", task, "direct", 300, m_here)}));
        QCOMPARE(choiceOf(must(chooseKernels(network(), &p, {})), task).record, std::string("w"));
        const KernelChoices strict = must(chooseKernels(network(), &p, {{}, true}));
        QCOMPARE(choiceOf(strict, task).record, std::string("d"));
        QCOMPARE(strict.fallbacks.size(), network().partition.tasks.size() - 1);
    }

    void recordsWhoseStepsDoNotFitArePassedOver()
    {
        const graph::Task& task = winogradTask();
        Project p = project("older.lathe");
        Record older = record("o", task, winogradOf(task), 100, m_here);
        older.candidate.steps = "[[\"CI\", 0]]"; // its first operation is an input: there is nothing to inline
        must(p.addRecords(std::vector{older}));
        const KernelChoices none = must(chooseKernels(network(), &p, {}));
        QVERIFY(choiceOf(none, task).record.empty());
        QVERIFY2(choiceOf(none, task).reason.find("another version") != std::string::npos,
                 choiceOf(none, task).reason.c_str());
        must(p.addRecords(std::vector{record("d", task, "direct", 200, m_here)}));
        QCOMPARE(choiceOf(must(chooseKernels(network(), &p, {})), task).record, std::string("d"));
    }

    void strictSaysWhyNoRecordWillDo()
    {
        const graph::Task& task = winogradTask();
        Project p = project("reason.lathe");
        must(p.addRecords(std::vector{record("w", task, winogradOf(task), 100, m_here)}));
        const KernelChoices strict = must(chooseKernels(network(), &p, {{}, true}));
        const deploy::KernelChoice& choice = choiceOf(strict, task);
        QVERIFY(choice.record.empty());
        QVERIFY2(choice.reason.find("--strict") != std::string::npos, choice.reason.c_str());
        QCOMPARE(choice.alternative->name, std::string("direct"));
    }

    void anotherTargetsRecordsDoNotCount()
    {
        const graph::Task& task = winogradTask();
        Project p = project("target.lathe");
        must(p.addRecords(std::vector{record("a", task, "direct", 1, m_here, "cpu -threads=1")}));
        const KernelChoices choices = must(chooseKernels(network(), &p, {}));
        const deploy::KernelChoice& choice = choiceOf(choices, task);
        QVERIFY(choice.record.empty());
        QVERIFY2(choice.reason.find("cpu -threads=1") != std::string::npos, choice.reason.c_str());
        must(p.addRecords(std::vector{record("b", task, "direct", 50, m_here)}));
        QCOMPARE(choiceOf(must(chooseKernels(network(), &p, {})), task).record, std::string("b"));
    }

    void costsOfAnotherMachineOrCacheDoNotCompete()
    {
        const graph::Task& task = winogradTask();
        const graph::Task& other = &task == &network().partition.tasks.front() ? network().partition.tasks.back()
                                                                               : network().partition.tasks.front();
        const Conditions there{"there", 0}, cold{"here", 4096};
        Project p = project("conditions.lathe");
        must(p.addRecords(std::vector{record("there", task, "direct", 1, there),
                                      record("cold", task, "direct", 900, cold),
                                      record("other", other, "direct", 5, there)}));
        must(p.addRecords(std::vector{record("here", task, "direct", 500, m_here)}));
        // The latest conditions lead; what they do not know comes from those before.
        const KernelChoices all = must(chooseKernels(network(), &p, {}));
        QCOMPARE(choiceOf(all, task).record, std::string("here"));
        QCOMPARE(choiceOf(all, other).record, std::string("other"));
        const KernelChoices asked = must(chooseKernels(network(), &p, {cold, false}));
        QCOMPARE(choiceOf(asked, task).record, std::string("cold"));
        QVERIFY(choiceOf(asked, other).record.empty());
    }

    void coverageSaysWhatEachFunctionRunsAndWhy()
    {
        const graph::Task& task = winogradTask();
        const graph::Task& other = &task == &network().partition.tasks.front() ? network().partition.tasks.back()
                                                                               : network().partition.tasks.front();
        Project p = project("coverage.lathe");
        must(p.addRecords(std::vector{record("other", other, "direct", 3e6, Conditions{R"({"name": "Xeon"})", 0})}));
        must(p.addRecords(std::vector{record("here", task, "direct", 1e6, Conditions{R"({"name": "EPYC"})", 0})}));
        const Coverage coverage = must(coverageOf(network(), &p, {}));
        QCOMPARE(coverage.tasks, static_cast<std::int32_t>(network().partition.tasks.size()));
        QCOMPARE(coverage.records, 1);
        QCOMPARE(coverage.near, 1);
        QCOMPARE(coverage.defaults, coverage.tasks - 2);
        QVERIFY(std::isnan(coverage.estimatedTasksMs));
        QVERIFY2(coverage.refusal.find("--allow-default") != std::string::npos
                     && coverage.refusal.find(" more") != std::string::npos,
                 coverage.refusal.c_str());
        QVERIFY(coverage.unsupported.empty());
        double share = 0, flop = 0;
        int seen = 0;
        for (const SubgraphReport& row : coverage.subgraphs) {
            share += std::isfinite(row.share) ? row.share : 0;
            flop += std::isfinite(row.flopShare) ? row.flopShare : 0;
            QVERIFY(!row.alternative.empty());
            if (row.record == "here") {
                QVERIFY(row.cover == Cover::Record && row.reason.empty());
            } else if (row.record == "other") {
                QVERIFY(row.cover == Cover::Near);
                QCOMPARE(row.reason, std::string("measured on Xeon, not on EPYC"));
                ++seen;
            } else {
                QVERIFY(row.cover == (row.task < 0 ? Cover::NoTask : Cover::Default));
                QVERIFY(!row.reason.empty() && std::isnan(row.estimatedMs));
            }
        }
        QVERIFY(seen > 0);
        QVERIFY(std::abs(share - 1) < 1e-9);
        QVERIFY(std::abs(flop - 1) < 1e-9);
    }

    void aTargetWithoutLibrariesIsSaidBeforeTheExport()
    {
        ModelSpec spec;
        spec.source = "zoo:mlp";
        const auto model = must(loadModel(spec, "sim"));
        const Coverage coverage = must(coverageOf(*model, nullptr, {}));
        QVERIFY2(coverage.unsupported.find("sim") != std::string::npos, coverage.unsupported.c_str());
        QCOMPARE(coverage.defaults, coverage.tasks);
    }

    void recordsOfSeveralPoliciesCompete()
    {
        const graph::Task& task = winogradTask();
        Project p = project("policies.lathe");
        // As policy sketch, policy reference and a template leave them; each is the best for a while.
        Record own = record("own", task, "direct", 300, m_here),
               reference = record("reference", task, "direct", 200, m_here),
               shaped = record("shaped", task, winogradOf(task), 100, m_here);
        own.candidate.sketch = "lathe-cpu/1:direct:tile";
        reference.candidate.sketch = "reference/1:direct:0";
        shaped.candidate.kind = "template";
        shaped.candidate.sketch = "conv2d_nchwc.x86";
        for (Record* each : {&own, &reference, &shaped}) {
            must(p.addRecords(std::vector{*each}));
            QCOMPARE(must(chooseRecords(network(), p, {})).at(task.key).record.trial, each->trial);
        }
        must(p.addRecords(std::vector{record("slow", task, "direct", 900, m_here)}));
        QCOMPARE(choiceOf(must(chooseKernels(network(), &p, {})), task).record, std::string("shaped"));
        QCOMPARE(must(chooseRecords(network(), p, {{}, true})).at(task.key).record.trial, std::string("reference"));
    }

    void everyFunctionHasADefaultOnATargetOfLaunches_data()
    {
        QTest::addColumn<QString>("target");
        for (const char* target : {"cuda -arch=sm_90", "opencl", "opencl -device=mali", "sim -like=cuda"})
            QTest::newRow(target) << target;
    }
    void everyFunctionHasADefaultOnATargetOfLaunches()
    {
        QFETCH(QString, target);
        ModelSpec spec;
        spec.source = "zoo:squeezenet-1.1";
        const auto model = must(loadModel(spec, target.toStdString()));
        const Coverage coverage = must(coverageOf(*model, nullptr, {}));
        QCOMPARE(coverage.defaults, coverage.tasks);
        QVERIFY(coverage.subgraphs.size() > 10);
        for (const SubgraphReport& row : coverage.subgraphs)
            QVERIFY(!row.alternative.empty());
        if (model->target.traits().libraries)
            QCOMPARE(coverage.unsupported, std::string());
        else
            QVERIFY2(coverage.unsupported.find("no library can be exported for the target") != std::string::npos,
                     coverage.unsupported.c_str());
    }

    void anAlternativeOfTheFutureIsNamed()
    {
        const graph::Task& task = winogradTask();
        Project p = project("future.lathe");
        must(p.addRecords(std::vector{record("f", task, "fourier", 1, m_here)}));
        const KernelChoices choices = must(chooseKernels(network(), &p, {}));
        QVERIFY(choiceOf(choices, task).record.empty());
        QVERIFY(choiceOf(choices, task).reason.find("fourier") != std::string::npos);
    }

    void aSeedThatDoesNotFitIsRefused()
    {
        ModelSpec spec;
        spec.source = "zoo:mlp";
        spec.seed = std::uint64_t{1} << 32;
        const auto model = loadModel(spec, "cpu");
        QVERIFY(!model);
        QVERIFY(model.error().code == Errc::InvalidArgument);
        QVERIFY(model.error().message.find("4294967296") != std::string::npos);
    }
};

LATHE_TEST(TestKernelChoices)

} // namespace tst_kernel_choices

#include "tst_kernel_choices.moc"
