#include "tests/support/farm_runner.h"
#include "tests/support/killed_run.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <array>
#include <map>

namespace tst_kill {

using namespace lathe::test;

/// Runs whose programs are killed again and again, at moments of chance: what was acknowledged on standard output is in
/// the database, nothing is left behind, and the trials are those of a run that nobody disturbed.
///
/// LATHE_KILLS: how many of each kind (few). LATHE_TEST_SEED: the moments.
class TestKill : public QObject
{
    Q_OBJECT

    using Trials = QMap<QPair<int, int>, StoredTrial>;

    QStringList m_place; ///< where a run measures, if not here; one that is resumed knows
    QStringList m_search; ///< how it searches, if not as ever; likewise

    QStringList tuneWords(const QString& project, bool resume, int trials, const char* target = "sim") const
    {
        QStringList words{"tune", "zoo:mlp", "--target", target,  "--project", project, "--trials-per-round",
                          "8",    "--seed",  "3",        "--json"};
        words << (resume ? QStringList{"--resume"} // with what was left
                         : QStringList{"--trials", QString::number(trials)} + m_place + m_search);
        return words;
    }

    static void acknowledged(QProcess& process, QSet<QString>& ids)
    {
        while (process.canReadLine()) { // a line that the kill cut short was not said
            const QJsonObject event = QJsonDocument::fromJson(process.readLine()).object();
            if (event["event"] == "trial")
                ids.insert(event["id"].toString());
        }
    }

    static void expectNothingAlive(const KilledRun& place)
    {
        QTRY_VERIFY2_WITH_TIMEOUT(place.processes().isEmpty(), qPrintable(place.processes().values().join(' ')), 20000);
    }

    static void expectEqual(const Trials& shaken, const Trials& calm)
    {
        QCOMPARE(shaken.size(), calm.size());
        const auto text = [](const StoredTrial& trial) {
            return QString("%1 %2 %3 ms").arg(trial.candidate, trial.status).arg(trial.costMs, 0, 'g', 17);
        };
        for (auto it = calm.begin(); it != calm.end(); ++it)
            QVERIFY2(shaken.value(it.key()) == it.value(),
                     qPrintable(QString("round %1, trial %2: %3, undisturbed %4")
                                    .arg(it.key().first)
                                    .arg(it.key().second)
                                    .arg(text(shaken.value(it.key())), text(it.value()))));
    }

    Trials undisturbed(const KilledRun& place, int trials) const
    {
        QProcess run;
        run.setProcessEnvironment(place.environment());
        run.start(place.program("lathe-cli"), tuneWords(place.project("calm.lathe"), false, trials));
        QSet<QString> ids;
        return run.waitForFinished(600000) && run.exitCode() == 0 ? place.stored(place.project("calm.lathe"), ids)
                                                                  : Trials();
    }

    /// Lives of the run, each killed some trials and some milliseconds after its start by `kill`, until there were
    /// `wanted` kills; then it may end. `kill` returns whether the program itself is gone.
    template<typename Kill>
    void shake(const KilledRun& place, QRandomGenerator& random, int wanted, int trials, const char* target,
               QSet<QString>& promised, Kill kill)
    {
        const QString project = place.project("shaken.lathe");
        int kills = 0;
        bool resume = false;
        for (int life = 0; life < 3 * wanted + 3; ++life) {
            QProcess run;
            run.setProcessEnvironment(place.environment());
            run.start(place.program("lathe-cli"), tuneWords(project, resume, trials, target));
            QVERIFY(run.waitForStarted());
            bool gone = false;
            while (kills < wanted && !gone && run.state() == QProcess::Running) {
                const auto before = promised.size();
                const int lives = random.bounded(0, 9);
                while (run.state() == QProcess::Running && promised.size() < before + lives) {
                    run.waitForReadyRead(50);
                    acknowledged(run, promised);
                }
                QTest::qSleep(random.bounded(0, 40));
                if (run.state() != QProcess::Running)
                    break;
                if (kill(run, gone))
                    ++kills;
            }
            if (gone) {
                QVERIFY(run.waitForFinished(20000));
                acknowledged(run, promised);
                resume = true;
                expectNothingAlive(place);
                continue;
            }
            while (run.state() != QProcess::NotRunning) { // the last life: nobody disturbs it any more
                QVERIFY(run.waitForReadyRead(120000) || run.state() == QProcess::NotRunning
                        || run.waitForFinished(1000));
                acknowledged(run, promised);
            }
            acknowledged(run, promised);
            if (run.exitCode() == 0)
                break;
            // Killed before the run had its first entry in the project: there is nothing to resume yet.
            QVERIFY2(resume && promised.isEmpty(), run.readAllStandardError());
            resume = false;
        }
        qInfo("%d kills, %lld trials promised", kills, static_cast<long long>(promised.size()));
        QCOMPARE(kills, wanted);
    }

    static void expectKept(const KilledRun& place, const QSet<QString>& promised, Trials& trials)
    {
        QSet<QString> ids;
        trials = place.stored(place.project("shaken.lathe"), ids);
        QVERIFY2((promised - ids).isEmpty(), "an acknowledged trial is missing");
        expectNothingAlive(place);
        QVERIFY2(place.leftovers().isEmpty(), qPrintable(place.leftovers().join(' ')));
    }

private slots:
    void aProgramThatIsKilledGoesOnWhereItWas()
    {
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(5), trials = 40 + 20 * kills;
        const Trials calm = undisturbed(place, trials);
        QCOMPARE(calm.size(), trials);
        QSet<QString> promised;
        shake(place, random, kills, trials, "sim", promised, [](QProcess& run, bool& gone) {
            run.kill();
            return gone = true;
        });
        Trials shaken;
        expectKept(place, promised, shaken);
        expectEqual(shaken, calm);
    }

    /// One task after another, by templates, the next round proposed and built while one is measured.
    void aRunThatLooksAheadGoesOnWhereItWas()
    {
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(4), trials = 40 + 20 * kills;
        m_search = QStringList{"--policy", "template"};
        const Trials calm = undisturbed(place, trials);
        QCOMPARE(calm.size(), trials);
        QSet<QString> promised;
        shake(place, random, kills, trials, "sim", promised, [](QProcess& run, bool& gone) {
            run.kill();
            return gone = true;
        });
        m_search.clear();
        Trials shaken;
        expectKept(place, promised, shaken);
        expectEqual(shaken, calm);
    }

    void workersThatAreKilledCostNothing_data()
    {
        QTest::addColumn<QString>("victim");
        QTest::newRow("builder") << "lathe-builder";
        QTest::newRow("runner") << "lathe-runner";
    }
    void workersThatAreKilledCostNothing()
    {
        QFETCH(QString, victim);
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(4), trials = 50 + 20 * kills;
        const Trials calm = undisturbed(place, trials);
        QCOMPARE(calm.size(), trials);
        QSet<QString> promised;
        shake(place, random, kills, trials, "sim", promised, [&](QProcess&, bool&) {
            const QList<pid_t> workers = place.processes().keys(victim);
            return !workers.isEmpty() && ::kill(workers[random.bounded(workers.size())], SIGKILL) == 0;
        });
        Trials shaken;
        expectKept(place, promised, shaken);
        expectEqual(shaken, calm); // costs and outcomes, too
    }

    /// Devices and the broker are gone without a word, and there again; so is the program.
    void aFarmThatIsKilledCostsNothing()
    {
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(20), trials = 40 + 10 * kills;
        const Trials calm = undisturbed(place, trials); // on this machine
        QCOMPARE(calm.size(), trials);
        NatsServer broker;
        QVERIFY(broker.start());
        const auto board = [&](int number) {
            auto started = FarmRunner::start(broker.url(), "board", "kill" + std::to_string(number));
            return started ? *std::move(started) : FarmRunner();
        };
        std::array<FarmRunner, 2> boards = {board(0), board(1)};
        m_place = QStringList{"--broker", QString::fromStdString(broker.url()), "--device", "board"};
        QSet<QString> promised;
        std::map<QString, int> killed;
        shake(place, random, kills, trials, "sim", promised, [&](QProcess& run, bool& gone) {
            switch (random.bounded(4)) {
            case 0:
                ++killed["broker"];
                broker.kill();
                return static_cast<bool>(broker.start());
            case 1:
                ++killed["program"];
                run.kill();
                return gone = true;
            default: break;
            }
            ++killed["device"];
            const int victim = random.bounded(2);
            boards[static_cast<std::size_t>(victim)].kill();
            boards[static_cast<std::size_t>(victim)] = board(victim);
            return true;
        });
        m_place.clear();
        qInfo("%d of devices, %d of the broker, %d of the program", killed["device"], killed["broker"],
              killed["program"]);
        Trials shaken;
        expectKept(place, promised, shaken);
        expectEqual(shaken, calm);
    }

#ifdef LATHE_TEST_CPU
    void onProcessorsNothingIsLostOrLeft()
    {
        const KilledRun place;
        QRandomGenerator random = seededRandom();
        const int kills = killsWanted(3), trials = 30 + 20 * kills;
        QSet<QString> promised;
        // Whatever belongs to the run: the program, its builders, its runner, the child that times the whole network.
        shake(place, random, kills, trials, "cpu", promised, [&](QProcess& run, bool& gone) {
            const QList<pid_t> all = place.processes().keys();
            const pid_t victim = all.isEmpty() ? 0 : all[random.bounded(all.size())];
            gone = victim == run.processId();
            return victim != 0 && ::kill(victim, SIGKILL) == 0;
        });
        Trials shaken;
        expectKept(place, promised, shaken);
        QCOMPARE(shaken.size(), trials);
    }
#endif
};

LATHE_TEST_GUILESS(TestKill)

} // namespace tst_kill

#include "tst_kill.moc"
