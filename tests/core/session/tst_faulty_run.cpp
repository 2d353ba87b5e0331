#include "core/backend/kernel_name.h"
#include "core/support/message.h"
#include "plugins/sim/fault_script.h"
#include "tests/support/processes.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QtTest>

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

namespace tst_faulty_run {

using namespace lathe;
using namespace lathe::session;
using sim::Fault;
using namespace lathe::test;

namespace {

/// Three in ten, each kind at least once. A build that hangs takes the builder's whole time limit twice, so there is
/// one of these alone.
constexpr const char* kScript = R"({"seed": 11, "rules": [
    {"fault": "build-hang", "ordinal": 20}, {"fault": "build-failed", "ordinal": 30}, {"fault": "build-crash", "ordinal": 31},
    {"fault": "crash", "ordinal": 32}, {"fault": "hang", "ordinal": 33}, {"fault": "wrong", "ordinal": 34},
    {"fault": "out-of-bounds", "ordinal": 35}, {"fault": "slow", "ordinal": 36, "factor": 5},
    {"fault": "build-failed", "rate": 0.06}, {"fault": "build-crash", "rate": 0.05}, {"fault": "crash", "rate": 0.07},
    {"fault": "hang", "rate": 0.02}, {"fault": "wrong", "rate": 0.08}, {"fault": "out-of-bounds", "rate": 0.05},
    {"fault": "slow", "rate": 0.03, "factor": 5}]})";

struct Outcome
{
    TrialStage stage;
    Errc code;
    const char* says;
};

const std::map<Fault, Outcome> kOutcomes = {
    {Fault::BuildFailed, {TrialStage::Build, Errc::BuildFailed, "fault script"}},
    {Fault::BuildCrash, {TrialStage::Build, Errc::WorkerCrashed, "SIGSEGV"}},
    {Fault::BuildHang, {TrialStage::Build, Errc::BuildTimeout, "longer than 15 s"}},
    {Fault::Crash, {TrialStage::Run, Errc::WorkerCrashed, "SIGSEGV"}},
    {Fault::OutOfBounds, {TrialStage::Run, Errc::WorkerCrashed, "SIGSEGV"}},
    {Fault::Hang, {TrialStage::Run, Errc::RunTimeout, "longer than 1 s"}},
    {Fault::Wrong, {TrialStage::Verify, Errc::WrongAnswer, "output"}},
};

qsizetype openFiles()
{
    return QDir(QStringLiteral("/proc/self/fd"))
        .entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot)
        .size();
}

} // namespace

/// A run on a device on which nearly every third trial goes wrong.
class TestFaultyRun : public QObject, Projects
{
    Q_OBJECT

    static constexpr std::int64_t kTrials = 100;

private slots:
    void theRunEndsAndLeavesNoWorker()
    {
        std::ofstream(file("faults.json")) << kScript;
        const auto before = openFiles();
        {
            const auto session = open("faulty.lathe", "sim -script=" + file("faults.json").string());
            TuneOptions tune;
            tune.trials = kTrials;
            tune.trialsPerRound = 16;
            tune.timeoutSeconds = 1;
            must(session->start(tune));
            session->wait();
            QVERIFY(session->state() == RunState::Finished);
        }
        QVERIFY(childrenOf(::getpid()).empty());
        QVERIFY2(
            openFiles() <= before + 2,
            qPrintable(QString::number(openFiles() - before))); // a logger's or the like, not pipes of dead workers
    }

    void everyFaultIsInTheDatabaseAndNothingElseFailed()
    {
        const auto script = must(sim::FaultScript::parse(kScript));
        const store::Project project = reader("faulty.lathe");
        const std::vector<Record> records = searched(project);
        QCOMPARE(records.size(), std::size_t(kTrials));
        std::set<Fault> seen;
        int failed = 0;
        std::int64_t ordinal = 0;
        for (const Record& record : records) {
            const Fault fault = script.decide(backend::kernelName(ordinal++, record.candidate.hash().high)).fault;
            const TrialResult& result = record.result;
            const std::string said = fmt::format("trial {}: {} gave {} {}: {}", ordinal - 1, sim::toString(fault),
                                                 toString(result.stage), toString(result.code), result.text);
            seen.insert(fault);
            const auto expected = kOutcomes.find(fault);
            if (expected == kOutcomes.end()) {
                QVERIFY2(result.ok() && result.verified && result.text.empty(), said.c_str());
                continue;
            }
            ++failed;
            QVERIFY2(result.stage == expected->second.stage && result.code == expected->second.code, said.c_str());
            QVERIFY2(result.text.find(expected->second.says) != std::string::npos, said.c_str());
            QVERIFY2(result.costsNs.empty() && !result.verified, said.c_str());
            // What it is about came from builder or runner, through the wire, into the database.
            QVERIFY2(result.about && result.about->id != Msg::Plain && textOf(*result.about) == result.text,
                     said.c_str());
            if (result.code == Errc::RunTimeout || result.code == Errc::BuildTimeout)
                QVERIFY2(result.about->number("seconds") == (result.code == Errc::RunTimeout ? 1 : 15), said.c_str());
            if (result.code == Errc::WorkerCrashed)
                QVERIFY2(result.about->number("signal") == 11, said.c_str());
        }
        QCOMPARE(seen.size(), std::size_t(9)); // all kinds, and none
        QVERIFY2(failed > kTrials / 5, qPrintable(QString::number(failed)));
    }

    void theBestIsTheFastestOfTheSoundTrials()
    {
        const store::Project project = reader("faulty.lathe");
        std::map<std::string, double> fastest;
        for (const Record& record : searched(project))
            if (record.result.ok()) {
                const auto [at, isNew] = fastest.try_emplace(record.candidate.task, record.result.meanNs());
                at->second = std::min(at->second, record.result.meanNs());
            }
        const auto best = must(project.best());
        QCOMPARE(best.size(), fastest.size());
        for (const store::BestRow& row : best) {
            QVERIFY2(qFuzzyCompare(row.costNs, fastest.at(row.task)),
                     qPrintable(QStringLiteral("%1 %2").arg(row.costNs).arg(fastest.at(row.task))));
            QVERIFY(row.record.result.verified);
        }
    }
};

LATHE_TEST_GUILESS(TestFaultyRun)

} // namespace tst_faulty_run

#include "tst_faulty_run.moc"
