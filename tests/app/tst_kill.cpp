#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRandomGenerator>
#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

/// A run that is killed again and again: what was acknowledged on standard output is in the database, and the candidates
/// are those of a run that nobody disturbed.
class TestKill : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString cli() const { return QCoreApplication::applicationDirPath() + "/../bin/lathe-cli"; }

    QStringList tuneWords(const QString& project, bool resume) const
    {
        QStringList words{"tune", "zoo:mlp", "--target", "sim", "--project", project, "--trials", "400", "--trials-per-round", "8", "--seed", "3", "--json"};
        if (resume)
            words << "--resume";
        return words;
    }

    /// Trial ids and (round, index) -> candidate of all that is stored.
    void readRecords(const QString& project, QSet<QString>& ids, QMap<QPair<int, int>, QString>& candidates)
    {
        QProcess list;
        list.start(cli(), {"records", "list", project, "--json"});
        QVERIFY(list.waitForFinished(30000));
        QCOMPARE(list.exitCode(), 0);
        for (const QJsonValue& row : QJsonDocument::fromJson(list.readAllStandardOutput()).array()) {
            const QJsonObject record = row.toObject();
            ids.insert(record["trial"].toString());
            candidates[{record["round"].toInt(), record["index"].toInt()}] = record["candidate"].toString();
        }
    }

    void acknowledged(QProcess& process, QSet<QString>& ids)
    {
        while (process.canReadLine()) { // a line that the kill cut short was not said
            const QJsonObject event = QJsonDocument::fromJson(process.readLine()).object();
            if (event["event"] == "trial")
                ids.insert(event["id"].toString());
        }
    }

private slots:
    void twentyKillsLoseNothingAndChangeNothing()
    {
        const QString calm = m_dir.filePath("calm.lathe");
        QProcess undisturbed;
        undisturbed.start(cli(), tuneWords(calm, false));
        QVERIFY(undisturbed.waitForFinished(120000));
        QVERIFY2(undisturbed.exitCode() == 0, undisturbed.readAllStandardError());
        QSet<QString> calmIds;
        QMap<QPair<int, int>, QString> calmCandidates;
        readRecords(calm, calmIds, calmCandidates);
        const auto keys = calmCandidates.keys();
        QCOMPARE(std::count_if(keys.begin(), keys.end(), [](const auto& place) { return place.first >= 0; }), 400); // the rest is of the finals
        QVERIFY(keys.size() > 400);

        bool given = false;
        quint32 seed = qEnvironmentVariable("LATHE_TEST_SEED").toUInt(&given);
        if (!given)
            seed = QRandomGenerator::global()->generate();
        QRandomGenerator random(seed);
        qInfo("LATHE_TEST_SEED=%u", seed);
        const QString shaken = m_dir.filePath("shaken.lathe");
        QSet<QString> promised;
        int kills = 0;
        bool resume = false;
        for (int attempt = 0; attempt < 60; ++attempt) {
            QProcess run;
            run.start(cli(), tuneWords(shaken, resume));
            QVERIFY(run.waitForStarted());
            // Killed at a moment that lies so many trials, and some milliseconds, after its start: on any machine a life is
            // too short for the whole run.
            const int before = static_cast<int>(promised.size());
            const int lives = random.bounded(0, 9);
            while (kills < 20 && run.state() == QProcess::Running && promised.size() < before + lives) {
                run.waitForReadyRead(50);
                acknowledged(run, promised);
            }
            if (kills < 20)
                QTest::qSleep(random.bounded(0, 40));
            if (kills < 20 && run.state() == QProcess::Running) {
                run.kill();
                run.waitForFinished(10000);
                ++kills;
                acknowledged(run, promised);
                resume = true;
                continue;
            }
            QVERIFY(run.state() == QProcess::NotRunning || run.waitForFinished(120000));
            acknowledged(run, promised);
            if (run.exitCode() == 0)
                break;
            // Killed before the run had its first entry in the project: there is nothing to resume yet.
            QVERIFY2(run.readAllStandardError().contains("resume"), qPrintable(QString::number(run.exitCode())));
            QVERIFY(promised.isEmpty());
            resume = false;
        }
        qInfo("%d kills, %lld trials promised before the last run", kills, static_cast<long long>(promised.size()));
        QVERIFY2(kills == 20, qPrintable(QString::number(kills)));
        QSet<QString> storedIds;
        QMap<QPair<int, int>, QString> candidates;
        readRecords(shaken, storedIds, candidates);
        QVERIFY2((promised - storedIds).isEmpty(), "an acknowledged trial is missing");
        QCOMPARE(candidates.size(), calmCandidates.size());
        for (auto it = calmCandidates.begin(); it != calmCandidates.end(); ++it)
            QVERIFY2(candidates.value(it.key()) == it.value(), qPrintable(QString("round %1, trial %2 differs").arg(it.key().first).arg(it.key().second)));
        QVERIFY(!QFile::exists(shaken + "-lock"));
    }
};

QTEST_GUILESS_MAIN(TestKill)
#include "tst_kill.moc"
