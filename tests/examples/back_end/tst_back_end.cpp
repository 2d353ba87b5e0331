#include "core/session/back_ends.h"
#include "core/session/session.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"
#include "tests/ui/window_test.h"

#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

/// A back end of a new kind: nothing outside its folder was changed for it, and everything that a network goes through
/// knows it.
class TestBackEnd : public QObject
{
    Q_OBJECT

    static constexpr const char* kLoom = "loom -threads=1";
    QTemporaryDir m_dir;

    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    std::unique_ptr<TuningSession> open(const char* project, const char* target = kLoom) const
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = target;
        if (*project != '\0') // else nothing is kept
            options.project = file(project);
        return must(TuningSession::open(options));
    }
    QByteArray cli(const QStringList& words) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(QCoreApplication::applicationDirPath() + "/../bin/lathe-cli", words);
        if (!process.waitForFinished(120000))
            qFatal("lathe-cli did not end");
        if (process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return process.readAllStandardOutput();
    }
    static DeviceView::Limit limit(const TuningSession& session, const char* name)
    {
        for (const DeviceView::Limit& each : session.hardware())
            if (each.name == name)
                return each;
        return {};
    }
    static TuneOptions few(const char* policy)
    {
        TuneOptions tune;
        tune.trials = 9;
        tune.trialsPerRound = 3;
        tune.policy = policy;
        tune.minRepeatMs = 1;
        tune.buildJobs = 1;
        return tune;
    }

private slots:
    void initTestCase()
    {
        test::settleIn(m_dir.path());
        const std::vector<std::string>& refused = loadBackEnds();
        QVERIFY2(refused.empty(), refused.empty() ? "" : refused.front().c_str());
    }

    void itsTargetsAreRead()
    {
        QCOMPARE(must(parseTarget("loom -weave=fine  -threads=2")).text(), std::string("loom -threads=2 -weave=fine"));
        const auto refused = parseTarget("loom -weave=loose");
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("fine or coarse") != std::string::npos, refused.error().message.c_str());
        const auto unknown = parseTarget("spindle");
        QVERIFY2(!unknown && unknown.error().message.find("loom") != std::string::npos,
                 unknown.error().message.c_str());
        QCOMPARE(must(parseTarget("loom -weave=coarse")).traits().tolerance.of(DType::F32), 1e-2);
    }

    void itsTasksAreShown()
    {
        const QJsonObject tasks =
            QJsonDocument::fromJson(cli({"tasks", "zoo:mlp", "--target", kLoom, "--json"})).object();
        QCOMPARE(tasks["target"].toString(), QString(kLoom));
        QVERIFY(!tasks["tasks"].toArray().isEmpty());
    }

    void untunedItsOwnScheduleCovers()
    {
        const Coverage coverage = must(open("untuned.lathe")->exports()->coverage({}));
        QCOMPARE(coverage.defaults, coverage.tasks);
        QVERIFY2(coverage.unsupported.empty(), coverage.unsupported.c_str());
        QVERIFY(coverage.runsHere);
    }

    void aRunMeasuresOnItsDevice()
    {
        const auto session = open("tuned.lathe");
        QCOMPARE(limit(*session, "l2_bytes").origin, std::string("preset loom"));
        must(session->start(few("sketch")));
        session->wait();
        QVERIFY(session->state() == RunState::Finished);
        const auto history = must(session->history());
        const auto trials = must(history->rows(must(history->find({}, {}))));
        QVERIFY(trials.size() >= 9);
        QVERIFY(std::all_of(trials.begin(), trials.end(),
                            [](const TrialRow& trial) { return trial.code == "Ok" && std::isfinite(trial.costMs); }));
        // What the device told of itself stands in for the presets, and stays.
        QCOMPARE(limit(*session, "l2_bytes").value, std::int64_t{98304});
        QCOMPARE(limit(*session, "l2_bytes").origin, std::string("of the loom"));
        QCOMPARE(limit(*session, "shuttles").value, std::int64_t{2});
        QCOMPARE(limit(*session, "l1d_bytes").origin, std::string("preset loom"));
        QCOMPARE(limit(*open("tuned.lathe"), "l2_bytes").value, std::int64_t{98304});
    }

    void policiesThatItDoesNotNameAreRefused()
    {
        const auto session = open("");
        const auto started = session->start(few("reference"));
        QVERIFY(!started && started.error().code == Errc::Unsupported);
        QVERIFY2(started.error().message.find("sketch, random") != std::string::npos, started.error().message.c_str());
    }

    void aTunedLibraryIsExported()
    {
        const auto session = open("tuned.lathe");
        const Coverage coverage = must(session->exports()->coverage({}));
        QVERIFY(coverage.records > 0);
        CompileOptions options;
        options.output = file("woven.so");
        options.allowDefault = true;
        const CompileReport report = must(session->exports()->compile(options, {}, {}));
        QVERIFY(std::filesystem::exists(report.library));
        QVERIFY2(report.maxRelError <= 1e-4, qPrintable(QString::number(report.maxRelError)));
        QVERIFY(report.latencyMs.median > 0);
    }

    void theCommandLineListsIt()
    {
        const QJsonArray devices = QJsonDocument::fromJson(cli({"devices", "--json"})).array();
        QJsonObject loom;
        for (const QJsonValue& device : devices)
            if (device["kind"] == "loom")
                loom = device.toObject();
        QCOMPARE(loom["name"].toString(), QStringLiteral("Jacquard loom"));
        QCOMPARE(loom["state"].toString(), QStringLiteral("ready"));
    }

    void theWindowOffersIt()
    {
        const auto window = test::shownWindow();
        auto* target = test::find<QComboBox>(window.get(), "targetPicker");
        const int row = target->findData(QString(kLoom));
        QVERIFY(row >= 0);
        QCOMPARE(target->itemText(row), QStringLiteral("a loom"));
        target->setCurrentIndex(row);
        QTRY_COMPARE(test::find<QComboBox>(window.get(), "devicePicker")->currentData().toString(),
                     QStringLiteral("jacquard"));
    }
};

LATHE_TEST_GUI(TestBackEnd)
#include "tst_back_end.moc"
