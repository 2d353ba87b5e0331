#include "core/backend/fault_script.h"
#include "core/session/session.h"
#include "core/store/project.h"
#include "tests/support/must.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>

#include <unistd.h>

using namespace lathe;
using namespace lathe::session;
using backend::Fault;
using lathe::test::must;

namespace {

/// Three in ten, each kind at least once. A build that hangs takes the builder's whole time limit twice, so there is one of these alone.
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

int childProcesses()
{
    int count = 0;
    for (const QString& thread : QDir(QStringLiteral("/proc/self/task")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile file(QStringLiteral("/proc/self/task/%1/children").arg(thread));
        if (file.open(QIODevice::ReadOnly)) // no file: the thread is gone
            if (const QByteArray pids = file.readAll().simplified(); !pids.isEmpty())
                count += static_cast<int>(pids.split(' ').size());
    }
    return count;
}

qsizetype openFiles()
{
    return QDir(QStringLiteral("/proc/self/fd")).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot).size();
}

} // namespace

/// A run on a device on which nearly every third trial goes wrong.
class TestFaultyRun : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path m_project;

    static constexpr std::int64_t kTrials = 100;

private slots:
    void theRunEndsAndLeavesNoWorker()
    {
        const std::filesystem::path folder = m_dir.path().toStdString();
        std::ofstream(folder / "faults.json") << kScript;
        m_project = folder / "faulty.lathe";
        const auto before = openFiles();
        {
            OpenOptions open;
            open.model.source = "zoo:mlp";
            open.target = "sim -script=" + (folder / "faults.json").string();
            open.project = m_project;
            const auto session = must(TuningSession::open(open));
            TuneOptions tune;
            tune.trials = kTrials;
            tune.trialsPerRound = 16;
            tune.timeoutSeconds = 1;
            must(session->start(tune));
            session->wait();
            QVERIFY(session->state() == RunState::Finished);
        }
        QCOMPARE(childProcesses(), 0);
        QVERIFY2(openFiles() <= before + 2, qPrintable(QString::number(openFiles() - before))); // a logger's or the like, not pipes of dead workers
    }

    void everyFaultIsInTheDatabaseAndNothingElseFailed()
    {
        const auto script = must(backend::FaultScript::parse(kScript));
        const store::Project project = must(store::Project::open(m_project, store::Project::Access::Read));
        std::vector<Record> records = must(project.sessionRecords(1));
        std::erase_if(records, [](const Record& record) { return record.round < 0; }); // the finals measure again what is there
        QCOMPARE(records.size(), std::size_t(kTrials));
        std::set<Fault> seen;
        int failed = 0;
        std::int64_t ordinal = 0;
        for (const Record& record : records) {
            const Fault fault = script.decide(backend::kernelName(ordinal++, record.candidate.hash().high)).fault;
            const TrialResult& result = record.result;
            const std::string said = fmt::format("trial {}: {} gave {} {}: {}", ordinal - 1, backend::toString(fault), toString(result.stage), toString(result.code), result.text);
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
        }
        QCOMPARE(seen.size(), std::size_t(9)); // all kinds, and none
        QVERIFY2(failed > kTrials / 5, qPrintable(QString::number(failed)));
    }

    void theBestIsTheFastestOfTheSoundTrials()
    {
        const store::Project project = must(store::Project::open(m_project, store::Project::Access::Read));
        std::map<std::string, double> fastest;
        for (const Record& record : must(project.sessionRecords(1)))
            if (record.result.ok() && record.round >= 0) {
                const auto [at, isNew] = fastest.try_emplace(record.candidate.task, record.result.meanNs());
                at->second = std::min(at->second, record.result.meanNs());
            }
        const auto best = must(project.best());
        QCOMPARE(best.size(), fastest.size());
        for (const store::BestRow& row : best) {
            QVERIFY2(qFuzzyCompare(row.costNs, fastest.at(row.task)), qPrintable(QStringLiteral("%1 %2").arg(row.costNs).arg(fastest.at(row.task))));
            QVERIFY(row.record.result.verified);
        }
    }
};

QTEST_GUILESS_MAIN(TestFaultyRun)
#include "tst_faulty_run.moc"
