#include "tests/support/killed_run.h"
#include "tests/ui/window_test.h"
#include "ui/bridge/session_bridge.h"

#include <QAction>
#include <QToolButton>

#include <cstdio>

using namespace lathe::test;

namespace {

/// What is killed: the window as bin/lathe shows it, which opens the project, presses Resume, and says which trials it was told of.
int showWindow(int argc, char** argv)
{
    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("LatheTest"));
    QApplication::setApplicationName(QStringLiteral("LatheTest"));
    lathe::ui::MainWindow window;
    window.show();
    auto* bridge = window.findChild<lathe::ui::SessionBridge*>();
    auto* resume = find<QToolButton>(&window, "actionResumeButton");
    QObject::connect(bridge, &lathe::ui::SessionBridge::eventsArrived, &window, [](const std::vector<lathe::session::Event>& events) {
        for (const lathe::session::Event& event : events)
            if (const auto* trial = std::get_if<lathe::session::TrialEvent>(&event.what))
                std::printf("%s\n", trial->trial.id.c_str());
        std::fflush(stdout);
    });
    window.openSource(QString::fromLocal8Bit(argv[2]));
    auto* timer = new QTimer(&window);
    QObject::connect(timer, &QTimer::timeout, &window, [=] {
        if (!resume->isEnabled())
            return;
        timer->stop();
        resume->click();
    });
    timer->start(10);
    return QApplication::exec();
}

} // namespace

/// The window is killed in the middle of its run, again and again, at moments of chance.
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
            QStringList words{"tune", "zoo:mlp", "--target", "sim", "--project", place.project(project), "--trials", QString::number(trials), "--trials-per-round", "8", "--seed", "3", "--json"};
            run.start(place.program("lathe-cli"), resume ? words << "--resume" : words);
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
            window.setProcessEnvironment(place.environment());
            window.start(QCoreApplication::applicationFilePath(), {"--window", place.project("shaken.lathe")});
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
            QTRY_VERIFY2_WITH_TIMEOUT(place.processes().isEmpty(), qPrintable(place.processes().values().join(' ')), 20000);
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

int main(int argc, char** argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "--window")
        return showWindow(argc, argv);
    QCoreApplication app(argc, argv);
    TestKillWindow test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_kill_window.moc"
