#include "core/record/record.h"
#include "core/runtime/codes.h"
#include "tests/support/batch_scene.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace tst_hostile_devices {

using namespace lathe;
using namespace lathe::measure;
using namespace lathe::test::batch;
using lathe::test::FakePort;

/// What a batch makes of devices that lie: nothing of it is kept as a result, and candidates lose nothing by it.
class TestHostileDevices : public QObject
{
    Q_OBJECT

private slots:
    void answersThatCannotBeTrueCostNothing_data()
    {
        QTest::addColumn<Lie>("lie");
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
        const auto costs = [](std::vector<double> values) -> Lie {
            return
                [values](wire::RunResult& result) { result.mutable_costs_ns()->Assign(values.begin(), values.end()); };
        };
        QTest::newRow("no cost") << costs({});
        QTest::newRow("nothing") << costs({0});
        QTest::newRow("negative") << costs({-5});
        QTest::newRow("not a number") << costs({kNoNumber});
        QTest::newRow("infinite") << costs({kInfinity});
        QTest::newRow("the largest there are") << costs({1e308});
        QTest::newRow("a million") << costs(std::vector<double>(1'000'000, 5.0));
        QTest::newRow("an unknown stage") << Lie([](auto& result) { result.set_stage(4'000'000'000); });
        QTest::newRow("another stage") << Lie([](auto& result) { result.set_stage(LATHE_STAGE_RUN); });
        QTest::newRow("another trial") << Lie([](auto& result) { wire::toWire({1, 2}, result.mutable_trial()); });
        QTest::newRow("work of no time") << Lie([](auto& result) { result.set_prepare_ms(kNoNumber); });
        QTest::newRow("work before it began") << Lie([](auto& result) { result.set_check_ms(-1); });
        QTest::newRow("work for ever") << Lie([](auto& result) { result.set_measure_processor_ms(kInfinity); });
        QTest::newRow("an error that is none") << Lie([](auto& result) { result.set_max_rel_error(kNoNumber); });
        QTest::newRow("a failure in no time") << Lie([](auto& result) {
            result.mutable_failure()->set_code(static_cast<std::uint32_t>(Errc::WrongAnswer));
            result.set_measure_ms(kNoNumber);
        });
    }
    /// One device of two lies, and is left out; what it had is measured by the other one.
    void answersThatCannotBeTrueCostNothing()
    {
        QFETCH(Lie, lie);
        Scene scene(3);
        std::vector<Error> lost;
        scene.options().onLost = [&](const Endpoint&, const Error& why, bool) { lost.push_back(why); };
        auto& builder = scene.addBuilder();
        auto& liar = scene.addRunner(elsewhere(2));
        scene.buildAll(builder);
        QVERIFY(scene.turn());
        const auto jobs = liar.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(2));
        for (const wire::Message& job : jobs)
            Scene::ran(liar, job, 5, lie);
        QVERIFY(scene.turn());
        QVERIFY(scene.results().empty());
        QCOMPARE(lost.size(), std::size_t(1));
        QCOMPARE(int(lost[0].code), int(Errc::BadFile));
        QVERIFY2(lost[0].message.find("unexpected answer from the runner: ") == 0, lost[0].message.c_str());
        auto& honest = scene.addRunner(elsewhere(2));
        scene.batch().addRunner(scene.runner(1));
        for (int i = 0; i < 3; ++i) {
            QVERIFY(scene.turn());
            for (const wire::Message& job : honest.takeJobs())
                Scene::ran(honest, job, 7);
        }
        QVERIFY(scene.turn());
        QCOMPARE(scene.results().size(), std::size_t(3));
        for (const auto& [index, result] : scene.results())
            QVERIFY(result.ok() && result.costsNs == std::vector<double>{7});
    }

    /// Where each device that has a candidate says such things, it may be the candidate, which writes into the answers.
    void aCandidateThatSpoilsAllAnswersFails()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        for (int i = 0; i < 3; ++i) {
            QVERIFY(scene.turn());
            if (board.closed > 0 && !scene.runner(0).ready()) { // it was left out, and is there again
                QVERIFY(scene.runner(0).waitUntilReady());
                scene.batch().addRunner(scene.runner(0));
                QVERIFY(scene.turn());
            }
            const auto jobs = board.takeJobs();
            QCOMPARE(jobs.size(), std::size_t(1));
            Scene::ran(board, jobs[0], -5);
            QVERIFY(scene.turn());
        }
        QCOMPARE(scene.results().size(), std::size_t(1));
        const TrialResult& result = scene.results()[0].second;
        QCOMPARE(int(result.code), int(Errc::BadFile));
        QVERIFY(result.costsNs.empty());
        QVERIFY2(result.text.find("a latency of -5 ns") != std::string::npos, result.text.c_str());
    }

    void nonsenseHereIsTheKernels()
    {
        Scene scene(1);
        auto& builder = scene.addBuilder();
        auto& runner = scene.addRunner(here());
        scene.buildAll(builder);
        Scene::ran(runner, runner.takeJobs().at(0), std::numeric_limits<double>::quiet_NaN(),
                   [](auto& result) { result.set_measure_ms(std::numeric_limits<double>::infinity()); });
        QVERIFY(scene.turn());
        QCOMPARE(scene.results().size(), std::size_t(1));
        QCOMPARE(int(scene.results()[0].second.code), int(Errc::BadFile));
        QCOMPARE(runner.closed, 1); // nothing else is measured in such a process
        for (const auto& [name, time] : scene.times().workers)
            QVERIFY2(std::isfinite(time.seconds), name.c_str());
    }

    /// What it says besides of a trial is stored with it.
    void wordsOfADeviceAreBounded()
    {
        Scene scene(3);
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere(3));
        scene.buildAll(builder);
        QVERIFY(scene.turn());
        const auto jobs = board.takeJobs();
        QCOMPARE(jobs.size(), std::size_t(3));
        Scene::ran(board, jobs[0], 7, [](auto& result) {
            result.set_health(R"({"load": 1, "finals": "x", "runoff": true, "passes_ns": [1], "cold_bytes": 5})");
        });
        const std::string deep = "{\"a\": " + std::string(3'000'000, '[') + std::string(3'000'000, ']') + "}";
        Scene::ran(board, jobs[1], 7, [&](auto& result) { result.set_health(deep); });
        Scene::ran(board, jobs[2], 7, [&](auto& result) {
            result.mutable_failure()->set_code(77);
            result.mutable_failure()->set_text(std::string(9'000'000, 'x'));
            result.mutable_failure()->set_about(deep);
        });
        QVERIFY(scene.turn());
        QCOMPARE(scene.results().size(), std::size_t(3));
        const auto conditions = nlohmann::json::parse(scene.results()[0].second.conditions, nullptr, false);
        QVERIFY(conditions.contains("load") && conditions["cold_bytes"] == 0);
        QVERIFY(!conditions.contains("finals") && !conditions.contains("runoff") && !conditions.contains("passes_ns"));
        QVERIFY(scene.results()[1].second.ok() && scene.results()[1].second.conditions.size() < 1000);
        const TrialResult& failed = scene.results()[2].second;
        QCOMPARE(int(failed.code), int(Errc::Internal));
        QVERIFY(failed.costsNs.empty() && !failed.verified && failed.text.size() < 100'000 && !failed.about);
    }

    void aDeviceThatMissesEverythingForEverIsLost()
    {
        Scene scene(1);
        std::vector<Error> lost;
        scene.options().onLost = [&](const Endpoint&, const Error& why, bool) { lost.push_back(why); };
        auto& builder = scene.addBuilder();
        auto& board = scene.addRunner(elsewhere());
        scene.buildAll(builder);
        for (int i = 0; i < 40 && lost.empty(); ++i) {
            const auto jobs = board.takeJobs();
            QCOMPARE(jobs.size(), std::size_t(1));
            wire::Message missing;
            missing.mutable_missing()->set_id(jobs[0].run_job().id());
            *missing.mutable_missing()->add_blobs() = jobs[0].run_job().artifacts(0).blob();
            board.answer(missing);
            QVERIFY(scene.turn());
        }
        QCOMPARE(lost.size(), std::size_t(1));
        QCOMPARE(int(lost[0].code), int(Errc::BadFile));
    }
};

LATHE_TEST(TestHostileDevices)

} // namespace tst_hostile_devices

#include "tst_hostile_devices.moc"
