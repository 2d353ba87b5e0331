#include "tests/support/killed_run.h"
#include "tests/support/test_program.h"

namespace tst_kill_window {

using namespace lathe::test;

/// bin/lathe, in which a plug-in presses Resume (tests/support/window_driver.cpp), is killed in the middle of its run,
/// again and again, at moments of chance.
///
/// LATHE_KILLS: how often (few). LATHE_TEST_SEED: the moments.
class TestKillWindow : public QObject
{
    Q_OBJECT

private slots:
    void theRunOfAWindowThatIsKilledGoesOn()
    {
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(2), trials = 60 + 30 * kills;
        const auto start = [&](QProcess& run, const char* project, bool resume) {
            run.setProcessEnvironment(place.environment());
            QStringList words{
                "tune", "zoo:mlp", "--target", "sim",   "--project", place.project(project), "--trials-per-round",
                "8",    "--seed",  "3",        "--json"};
            words << (resume ? QStringList{"--resume"} : QStringList{"--trials", QString::number(trials)});
            run.start(place.program("lathe-cli"), words);
        };
        const auto tune = [&](const char* project, bool resume) {
            QProcess run;
            start(run, project, resume);
            return run.waitForFinished(600000) && run.exitCode() == 0;
        };
        QVERIFY(tune("calm.lathe", false));
        QSet<QString> promised;
        { // A run that the window can go on with was not finished.
            QProcess run;
            start(run, "shaken.lathe", false);
            while (!run.readLine().contains("\"trial\""))
                QVERIFY(run.canReadLine() || run.waitForReadyRead(60000));
            run.kill();
            QVERIFY(run.waitForFinished(20000));
        }
        for (int kill = 0; kill < kills; ++kill) {
            QProcess window;
            QProcessEnvironment environment = place.environment();
            environment.insert("QT_PLUGIN_PATH", QCoreApplication::applicationDirPath() + "/plugins");
            environment.insert("QT_QPA_GENERIC_PLUGINS", "lathe-test-driver");
            window.setProcessEnvironment(environment);
            window.setProcessChannelMode(QProcess::ForwardedErrorChannel);
            window.start(place.program("lathe"), {place.project("shaken.lathe")});
            QVERIFY(window.waitForStarted());
            // What the run had comes again first; then so many trials more, and some milliseconds.
            const auto enough = promised.size() + random.bounded(0, 9);
            while (window.state() == QProcess::Running && promised.size() < enough) {
                QVERIFY(window.waitForReadyRead(60000));
                while (window.canReadLine())
                    promised.insert(QString::fromLatin1(window.readLine().trimmed()));
            }
            QTest::qSleep(random.bounded(0, 60));
            QVERIFY(window.state() == QProcess::Running);
            window.kill();
            QVERIFY(window.waitForFinished(20000));
            while (window.canReadLine())
                promised.insert(QString::fromLatin1(window.readLine().trimmed()));
            QTRY_VERIFY2_WITH_TIMEOUT(place.processes().isEmpty(), qPrintable(place.processes().values().join(' ')),
                                      20000);
        }
        qInfo("%d kills, %lld trials promised", kills, static_cast<long long>(promised.size()));
        QSet<QString> ids;
        QVERIFY(place.stored(place.project("shaken.lathe"), ids).size() < trials);
        QVERIFY2((promised - ids).isEmpty(), "a trial that the window showed is missing");
        QVERIFY(tune("shaken.lathe", true));
        ids.clear();
        const auto shaken = place.stored(place.project("shaken.lathe"), ids);
        QVERIFY((promised - ids).isEmpty());
        QSet<QString> others;
        const auto calm = place.stored(place.project("calm.lathe"), others);
        QCOMPARE(calm.size(), trials);
        QVERIFY(shaken == calm);
        QVERIFY2(place.leftovers().isEmpty(), qPrintable(place.leftovers().join(' ')));
    }
};

LATHE_TEST_GUILESS(TestKillWindow)

} // namespace tst_kill_window

#include "tst_kill_window.moc"
