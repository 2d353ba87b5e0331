#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/support/files.h"
#include "core/support/subprocess.h"
#include "core/target/target.h"
#include "tests/support/processes.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

namespace tst_measurer {

using namespace lathe;
using namespace lathe::measure;
using lathe::test::childrenOf;

namespace {

compute::DagPtr matmul(std::int64_t n)
{
    compute::DagBuilder builder;
    const auto a = builder.placeholder("A", {n, n}, DType::F32);
    const auto b = builder.placeholder("B", {n, n}, DType::F32);
    const auto c = builder.reduce("C", {n, n}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", n}},
                                  [&](const auto& axes, const auto& r) {
                                      return builder.at(a, {axes[0], r[0]}) * builder.at(b, {r[0], axes[1]});
                                  });
    const auto dag = std::move(builder).finish({c});
    return dag ? *dag : nullptr;
}

TaskDataPtr task()
{
    static const auto data = makeTaskData(matmul(16), {false, true}, 3, {});
    return data ? *data : nullptr;
}

MeasureRequest request(std::int64_t ordinal, const std::string& steps)
{
    MeasureRequest r;
    r.trial = std::string(32, 'a');
    r.candidate.task = "matmul";
    r.candidate.steps = steps;
    r.task = task();
    r.plan.number = 1;
    r.plan.minRepeatMs = 0;
    r.ordinal = ordinal;
    return r;
}

/// @param last  steps of each fourth: a parallel loop, which launches do not have
std::vector<MeasureRequest> requests(int count, const char* last = R"([["AN", 2, 0, 3]])")
{
    const char* steps[] = {"[]", R"([["SP", 2, 0, 16, [4], 1]])", R"([["SP", 2, 1, 16, [8], 1], ["AN", 2, 2, 2]])",
                           last};
    std::vector<MeasureRequest> all;
    for (int i = 0; i < count; ++i)
        all.push_back(request(i, steps[i % 4]));
    return all;
}

MeasurerOptions options(const std::string& words = "")
{
    MeasurerOptions o;
    o.target = "sim" + words;
    o.builders = 2;
    return o;
}

Result<std::vector<TrialResult>> measureAll(Measurer& measurer, const std::vector<MeasureRequest>& all,
                                            std::stop_token stop = {})
{
    std::vector<TrialResult> results;
    const auto outcome = measurer.measure(
        all,
        [&](std::size_t index, TrialResult result) {
            if (index == results.size())
                results.push_back(std::move(result));
        },
        std::move(stop));
    if (!outcome)
        return outcome.error();
    return results;
}

std::string describe(const TrialResult& r)
{
    return std::string(toString(r.stage)) + " " + std::string(toString(r.code)) + ": " + r.text;
}

/// What the test starts and kills: a measurer whose kernel never ends.
int hangForEver(const char* script)
{
    auto measurer = Measurer::create(options(std::string(" -script=") + script));
    if (!measurer)
        return 1;
    std::cout << "measuring" << std::endl;
    return measureAll(**measurer, requests(2)) ? 0 : 1;
}

} // namespace

class TestMeasurer : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN);
    } // QtTest's handler would end the test where a worker dies first

    void aDeviceOfAKeyKeepsTheTargetsWords()
    {
        const auto target = Target::parse("sim -like=cpu -seed=5");
        QVERIFY(target);
        const DeviceSpec device = deviceOf(*target, "board");
        QCOMPARE(device.kind, std::string("sim"));
        QCOMPARE(device.key, std::string("board"));
        QCOMPARE(device.options, std::string("-like=cpu -seed=5"));
        QVERIFY(deviceOf(*Target::parse("cpu"), {}).options.empty());
    }

    void everyCandidateIsMeasuredInOrder()
    {
        auto measurer = Measurer::create(options());
        QVERIFY2(measurer, measurer ? "" : measurer.error().message.c_str());
        const auto first = measureAll(**measurer, requests(8));
        QVERIFY2(first, first ? "" : first.error().message.c_str());
        QCOMPARE(first->size(), std::size_t(8));
        for (const TrialResult& r : *first) {
            QVERIFY2(r.ok(), describe(r).c_str());
            QVERIFY(r.verified);
            QCOMPARE(r.costsNs.size(), std::size_t(1));
            QVERIFY(r.meanNs() > 0);
            QVERIFY(nlohmann::json::parse(r.conditions).contains("number"));
        }
        QCOMPARE((*first)[0].costsNs, (*first)[4].costsNs); // the same schedule
        QVERIFY((*first)[0].costsNs != (*first)[1].costsNs);
        const auto second = measureAll(**measurer, requests(8));
        QVERIFY(second);
        for (std::size_t i = 0; i < 8; ++i)
            QCOMPARE((*second)[i].costsNs, (*first)[i].costsNs);
    }

    void codeForAnotherProcessorIsNotMeasuredHere()
    {
        MeasurerOptions o;
        o.target = thisMachine() == "aarch64" ? "cpu -mtriple=x86_64-linux-gnu" : "cpu -mtriple=aarch64-linux-gnu";
        const auto measurer = Measurer::create(o);
        QVERIFY(!measurer);
        QVERIFY(measurer.error().code == Errc::Unsupported);
        QVERIFY2(measurer.error().message.find(thisMachine()) != std::string::npos, measurer.error().message.c_str());
    }

    void eachFaultCostsOneTrial_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("last"); ///< of requests()
        QTest::newRow("phases") << ""
                                << R"([["AN", 2, 0, 3]])";
        QTest::newRow("launches") << " -like=cuda"
                                  << R"([["AN", 2, 0, 5]])";
    }
    void eachFaultCostsOneTrial()
    {
        QFETCH(QString, words);
        QFETCH(QString, last);
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [
            {"fault": "crash", "ordinal": 1}, {"fault": "hang", "ordinal": 2}, {"fault": "wrong", "ordinal": 4},
            {"fault": "out-of-bounds", "ordinal": 5}, {"fault": "build-failed", "ordinal": 6},
            {"fault": "build-crash", "ordinal": 8}, {"fault": "build-hang", "ordinal": 9}]})"));
        MeasurerOptions o = options(words.toStdString() + " -script=" + (dir->path() / "script.json").string());
        o.buildTimeoutSeconds = 3;
        o.runTimeoutSeconds = 3;
        auto measurer = Measurer::create(o);
        QVERIFY(measurer);
        const auto results = measureAll(**measurer, requests(12, last.toUtf8().constData()));
        QVERIFY2(results, results ? "" : results.error().message.c_str());
        QCOMPARE(results->size(), std::size_t(12));
        struct Expected
        {
            std::size_t index;
            TrialStage stage;
            Errc code;
            const char* text;
        };
        const Expected expected[] = {{1, TrialStage::Run, Errc::WorkerCrashed, "SIGSEGV"},
                                     {2, TrialStage::Run, Errc::RunTimeout, "longer than 3 s"},
                                     {4, TrialStage::Verify, Errc::WrongAnswer, "output \"C\" is"},
                                     {5, TrialStage::Run, Errc::WorkerCrashed, "SIGSEGV"},
                                     {6, TrialStage::Build, Errc::BuildFailed, "fault script"},
                                     {8, TrialStage::Build, Errc::WorkerCrashed, "SIGSEGV"},
                                     {9, TrialStage::Build, Errc::BuildTimeout, "longer than 3 s"}};
        std::vector<bool> bad(12, false);
        for (const Expected& e : expected) {
            const TrialResult& r = (*results)[e.index];
            bad[e.index] = true;
            QVERIFY2(r.stage == e.stage && r.code == e.code && r.text.find(e.text) != std::string::npos,
                     (std::to_string(e.index) + ": " + describe(r)).c_str());
            QVERIFY(r.costsNs.empty());
            QVERIFY(!r.verified);
        }
        for (std::size_t i = 0; i < 12; ++i)
            if (!bad[i])
                QVERIFY2((*results)[i].ok(), (std::to_string(i) + ": " + describe((*results)[i])).c_str());
    }

    /// As where the builder has none: the device's own compiler works, fails, hangs and dies in the runner.
    void whatADeviceCompilesCountsAsBuild()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [
            {"fault": "device-build-slow", "ordinal": 1, "seconds": 4}, {"fault": "device-build-failed", "ordinal": 2},
            {"fault": "device-build-crash", "ordinal": 4}, {"fault": "device-build-hang", "ordinal": 5}]})"));
        MeasurerOptions o = options(" -script=" + (dir->path() / "script.json").string());
        o.buildTimeoutSeconds = 8;
        o.runTimeoutSeconds = 3; // less than the slow one's compiler takes
        auto measurer = Measurer::create(o);
        QVERIFY(measurer);
        const auto results = measureAll(**measurer, requests(8));
        QVERIFY2(results, results ? "" : results.error().message.c_str());
        QCOMPARE(results->size(), std::size_t(8));
        struct Expected
        {
            std::size_t index;
            Errc code;
            const char* text;
        };
        const Expected expected[] = {{2, Errc::BuildFailed, "makes the device's compiler refuse"},
                                     {4, Errc::WorkerCrashed, "the device's compiler crashed: signal 11 (SIGSEGV"},
                                     {5, Errc::BuildTimeout, "the device's compiler did not finish within 8 s"}};
        for (const Expected& e : expected) {
            const TrialResult& r = (*results)[e.index];
            QVERIFY2(r.stage == TrialStage::Build && r.code == e.code && r.text.find(e.text) != std::string::npos,
                     (std::to_string(e.index) + ": " + describe(r)).c_str());
        }
        for (const std::size_t i : {0u, 1u, 3u, 6u, 7u})
            QVERIFY2((*results)[i].ok(), (std::to_string(i) + ": " + describe((*results)[i])).c_str());
        const auto& spent = (*results)[1].durationsMs;
        QVERIFY(spent.at("build") >= 4000);
        QVERIFY(spent.at("measure") < 3000); // it would have been killed
        QVERIFY((*measurer)->times().workers.at("device build").seconds >= 4);
        QVERIFY((*measurer)->times().buildSeconds >= 4);
    }

    /// The next trial finds that it is gone; the one after that has a new process, which finds it again.
    void aDeviceThatIsLostCostsOneTrial()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [{"fault": "lost", "ordinal": 2}]})"));
        auto measurer = Measurer::create(options(" -script=" + (dir->path() / "script.json").string()));
        QVERIFY(measurer);
        const auto results = measureAll(**measurer, requests(8));
        QVERIFY2(results, results ? "" : results.error().message.c_str());
        std::size_t lost = 0;
        for (const TrialResult& result : *results) {
            QVERIFY2(result.ok() || result.code == Errc::DeviceLost, describe(result).c_str());
            lost += result.ok() ? 0 : 1;
        }
        QCOMPARE(lost, std::size_t(1));
    }

    void stepsThatDoNotApplyFailTheirCandidateAlone()
    {
        auto measurer = Measurer::create(options());
        QVERIFY(measurer);
        std::vector<MeasureRequest> all = {request(0, "[]"), request(1, R"([["SP", 99, 0, 16, [4], 1]])"),
                                           request(2, R"([["XX"]])"), request(3, "not json"), request(4, "[]")};
        const auto results = measureAll(**measurer, all);
        QVERIFY(results);
        QVERIFY((*results)[0].ok() && (*results)[4].ok());
        QCOMPARE(int((*results)[1].stage), int(TrialStage::Lower));
        QCOMPARE(int((*results)[1].code), int(Errc::IllegalSchedule));
        for (const std::size_t i : {2u, 3u}) {
            QCOMPARE(int((*results)[i].stage), int(TrialStage::Lower));
            QCOMPARE(int((*results)[i].code), int(Errc::BadFile));
        }
    }

    void losersAreCutShort()
    {
        auto measurer = Measurer::create(options());
        QVERIFY(measurer);
        MeasureRequest r = request(0, "[]");
        r.plan.repeat = 5;
        r.plan.loserFactor = 2;
        r.bestNs = 1; // nothing is that fast
        const auto results = measureAll(**measurer, {r});
        QVERIFY(results);
        QCOMPARE((*results)[0].costsNs.size(), std::size_t(1));
        QVERIFY(nlohmann::json::parse((*results)[0].conditions).value("stopped_early", false));
    }

    void contendersAreTimedInFullOnlyNearTheBest()
    {
        auto measurer = Measurer::create(options());
        QVERIFY(measurer);
        MeasureRequest r = request(0, "[]");
        r.plan.repeat = 5;
        r.plan.minRepeatMs = 20;
        r.plan.contenderFactor = 1.15;
        r.bestNs = 1;
        MeasureRequest near = r;
        near.bestNs = 1e12;
        const auto results = measureAll(**measurer, {r, near});
        QVERIFY(results);
        QCOMPARE((*results)[0].costsNs.size(), std::size_t(1));
        QVERIFY(nlohmann::json::parse((*results)[0].conditions).value("stopped_early", false));
        QCOMPARE((*results)[1].costsNs.size(), std::size_t(5));
    }

    void workersThatDieWhileIdleCostNothing()
    {
        auto measurer = Measurer::create(options());
        QVERIFY(measurer);
        QVERIFY(measureAll(**measurer, requests(4)));
        for (const pid_t child : childrenOf(::getpid()))
            ::kill(child, SIGKILL);
        const auto results = measureAll(**measurer, requests(4));
        QVERIFY(results);
        for (const TrialResult& r : *results)
            QVERIFY2(r.ok(), describe(r).c_str());
    }

    void aStopIsObeyedAtOnce()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QVERIFY(writeFileAtomically(dir->path() / "script.json", R"({"rules": [{"fault": "hang", "every": 1}]})"));
        MeasurerOptions o = options(" -script=" + (dir->path() / "script.json").string());
        o.runTimeoutSeconds = 1000;
        auto measurer = Measurer::create(o);
        QVERIFY(measurer);
        std::stop_source source;
        std::jthread stopper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            source.request_stop();
        });
        const auto results = measureAll(**measurer, requests(2), source.get_token());
        QVERIFY(!results);
        QCOMPARE(int(results.error().code), int(Errc::Cancelled));
    }

    void nothingOutlivesAKilledParent()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const std::string script = (dir->path() / "script.json").string();
        QVERIFY(writeFileAtomically(script, R"({"rules": [{"fault": "hang", "ordinal": 0}]})"));
        SubprocessOptions self;
        self.program = executablePath();
        self.arguments = {"tst_measurer", "--hang", script};
        auto parent = Subprocess::start(self);
        QVERIFY(parent);
        std::vector<pid_t> workers;
        QTRY_VERIFY_WITH_TIMEOUT((workers = childrenOf(parent->pid())).size() >= 2, 20000);
        ::kill(parent->pid(), SIGKILL);
        for (const pid_t worker : workers)
            QTRY_VERIFY_WITH_TIMEOUT(!lathe::test::isAlive(worker), 10000);
    }

    void unknownTargetsAndDevicesAreRefused()
    {
        MeasurerOptions o;
        o.target = "abacus";
        QCOMPARE(int(Measurer::create(o).error().code), int(Errc::InvalidArgument));
        o = options();
        o.devices = {{"sim", "another", ""}};
        QCOMPARE(int(Measurer::create(o).error().code), int(Errc::NotFound));
        o.devices = {{"abacus", "", ""}};
        QCOMPARE(int(Measurer::create(o).error().code), int(Errc::NotFound));
        o.programs.runner = "/nowhere/lathe-runner";
        QCOMPARE(int(Measurer::create(o).error().code), int(Errc::NotFound));
    }
};

LATHE_TEST_IN(TestMeasurer, None, [](int argc, char** argv, int& status) {
    const bool hang = argc == 3 && std::string_view(argv[1]) == "--hang";
    if (hang)
        status = hangForEver(argv[2]);
    return hang;
})

} // namespace tst_measurer

#include "tst_measurer.moc"
