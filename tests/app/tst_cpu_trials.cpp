#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_cpu_trials {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::must;

/// Generated code on real processors, with faults planted in it (tests/support/builder).
class TestCpuTrials : public QObject
{
    Q_OBJECT

    static compute::DagPtr dag()
    {
        compute::DagBuilder b;
        const auto x = b.placeholder("A", {32, 32}, DType::F32);
        const auto y = b.placeholder("B", {32, 32}, DType::F32);
        const auto c = b.reduce("C", {32, 32}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 32}},
                                [&](const auto& a, const auto& r) {
                                    return b.at(x, {a[0], r[0]}) * b.at(y, {r[0], a[1]});
                                });
        auto made = std::move(b).finish({c});
        return made ? *made : nullptr;
    }

private slots:
    void plantedFaultsCostOneTrialEach()
    {
        const auto task = makeTaskData(dag(), {false, true}, 3, {});
        QVERIFY2(task, task ? "" : task.error().message.c_str());
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto script = dir->path() / "faults.json";
        QVERIFY(
            writeFileAtomically(script, R"({"rules": [{"fault": "crash", "ordinal": 1}, {"fault": "hang", "ordinal": 2},
            {"fault": "wrong", "ordinal": 3}, {"fault": "out-of-bounds", "ordinal": 4}]})"));
        MeasurerOptions options;
        options.target = "cpu -threads=2";
        options.builders = 1;
        options.runTimeoutSeconds = 3;
        options.programs.builder = must(findProgram("lathe-test-builder"));
        options.programs.environment = {{"LATHE_PLANT_FAULTS", script.string()}};
        int quiet = 0;
        options.onQuiet = [&](bool on) { quiet += on ? 1 : -1; };
        auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        std::vector<MeasureRequest> requests;
        for (int i = 0; i < 6; ++i) {
            MeasureRequest r;
            r.trial = std::string(32, 'b');
            r.candidate.steps = i % 2 ? R"([["AN", 2, 0, 3]])" : "[]";
            r.task = *task;
            r.plan.number = 2;
            r.plan.repeat = 2;
            r.plan.minRepeatMs = 0;
            r.ordinal = i;
            requests.push_back(std::move(r));
        }
        std::vector<TrialResult> results;
        const auto outcome = (*measurer)->measure(requests,
                                                  [&](std::size_t, TrialResult r) { results.push_back(std::move(r)); });
        QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
        QCOMPARE(results.size(), std::size_t(6));
        QCOMPARE(quiet, 0);
        const auto is = [&](std::size_t i, TrialStage stage, Errc code, const char* text) {
            const TrialResult& r = results[i];
            const bool right = r.stage == stage && r.code == code && r.text.find(text) != std::string::npos;
            if (!right)
                qWarning("%zu: %s %s %s", i, std::string(toString(r.stage)).c_str(),
                         std::string(toString(r.code)).c_str(), r.text.c_str());
            return right;
        };
        QVERIFY(is(0, TrialStage::Done, Errc::Ok, ""));
        QVERIFY(is(1, TrialStage::Run, Errc::WorkerCrashed, "SIGSEGV"));
        QVERIFY(is(2, TrialStage::Run, Errc::RunTimeout, "longer than 3 s"));
        QVERIFY(is(3, TrialStage::Verify, Errc::WrongAnswer, "output"));
        QVERIFY(is(4, TrialStage::Run, Errc::WorkerCrashed, "past the end"));
        QVERIFY(is(5, TrialStage::Done, Errc::Ok, ""));
        QVERIFY(results[0].verified && results[5].verified);
        QCOMPARE(results[5].costsNs.size(), std::size_t(2));
    }

    /// A nest that a faulty rewrite left behind: caught by name where checks are on, as they are in workers of tests;
    /// what it computes is right by chance, which is all that would be seen without.
    void aMalformedNestIsCaughtInATestWorker()
    {
        const auto task = makeTaskData(dag(), {false, true}, 3, {});
        QVERIFY2(task, task ? "" : task.error().message.c_str());
        for (const bool checks : {true, false}) {
            MeasurerOptions options;
            options.target = "cpu -threads=1";
            options.builders = 1;
            options.programs.builder = must(findProgram("lathe-test-builder"));
            options.programs.environment = {{"LATHE_PLANT_MALFORMED", "1"}};
            if (!checks)
                options.programs.environment.emplace_back("LATHE_CHECKS", "0");
            auto measurer = Measurer::create(options);
            QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
            MeasureRequest request;
            request.trial = std::string(32, 'd');
            request.candidate.steps = "[]";
            request.task = *task;
            request.plan.minRepeatMs = 0;
            TrialResult result;
            const auto outcome = (*measurer)->measure(std::span(&request, 1),
                                                      [&](std::size_t, TrialResult r) { result = std::move(r); });
            QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
            if (!checks) {
                QVERIFY2(result.ok(), result.text.c_str());
                continue;
            }
            QVERIFY(!result.ok() && result.stage == TrialStage::Lower && result.code == Errc::Internal);
            QVERIFY2(result.text.find("parameter") != std::string::npos, result.text.c_str());
        }
    }

    void weightsAreTakenInTurnsAndOutputsStayRight()
    {
        const auto task = makeTaskData(dag(), {false, true}, 3, {});
        QVERIFY2(task, task ? "" : task.error().message.c_str());
        MeasurerOptions options;
        options.target = "cpu -threads=1";
        options.builders = 1;
        auto measurer = Measurer::create(options);
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        MeasureRequest timed;
        timed.trial = std::string(32, 'c');
        timed.candidate.steps = "[]";
        timed.task = *task;
        timed.plan.minRepeatMs = 7;
        timed.plan.rotateBytes = 1 << 20; // 256 times the weight of 4 KiB, of which there are 64 copies at most
        MeasureRequest few = timed;
        few.plan.rotateBytes = 9000; // 3 times, and there are 4 copies at least
        MeasureRequest alone = timed;
        alone.plan.rotateBytes = 4096; // the weight itself is as large
        MeasureRequest hasty = timed;
        hasty.plan.contenderFactor = 1.15;
        hasty.bestNs = 1; // ends after the glance
        std::vector<TrialResult> results;
        const std::vector<MeasureRequest> requests{timed, few, alone, hasty};
        const auto outcome = (*measurer)->measure(requests,
                                                  [&](std::size_t, TrialResult r) { results.push_back(std::move(r)); });
        QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
        QCOMPARE(results.size(), std::size_t(4));
        const auto condition = [&](std::size_t i, const char* name) {
            return nlohmann::json::parse(results[i].conditions).value(name, std::int64_t{-1});
        };
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY2(results[i].ok() && results[i].verified, results[i].text.c_str());
            QCOMPARE(condition(i, "rotate_bytes"), static_cast<std::int64_t>(requests[i].plan.rotateBytes));
        }
        QCOMPARE(condition(0, "number") % 64, std::int64_t{0});
        QCOMPARE(condition(1, "number") % 4, std::int64_t{0});
        const std::int64_t glance = condition(3,
                                              "number"); // some of the copies but not its own, or all of them in turns
        QVERIFY2((glance > 0 && glance < 64) || (glance >= 128 && glance % 64 == 0),
                 qPrintable(QString::number(glance)));
        QVERIFY(nlohmann::json::parse(results[3].conditions).value("stopped_early", false));
    }
};

LATHE_TEST(TestCpuTrials)

} // namespace tst_cpu_trials

#include "tst_cpu_trials.moc"
