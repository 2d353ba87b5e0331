#include "core/session/options/options_json.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

namespace tst_replay {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

namespace {

QString timeOf(const TimeSpent& time)
{
    QString text;
    for (const auto& [name, seconds] : time.activities)
        text += QStringLiteral(" %1=%2").arg(name.c_str()).arg(seconds, 0, 'g', 17);
    for (const auto& [name, spent] : time.workers)
        text += QStringLiteral(" %1=%2/%3")
                    .arg(name.c_str())
                    .arg(spent.seconds, 0, 'g', 17)
                    .arg(spent.processor, 0, 'g', 17);
    return text;
}

/// A line per event; states, which a viewer makes too, and that it begins left out.
QStringList linesOf(const Watcher& watcher)
{
    QStringList lines;
    const auto number = [](double value) {
        return std::isfinite(value) ? QString::number(value, 'g', 17) : QStringLiteral("-");
    };
    for (const Event& event : watcher.events()) {
        QString line;
        if (const auto* t = std::get_if<TrialEvent>(&event.what))
            line = QStringLiteral("trial %1 %2.%3 task %4 %5 %6 %7 %8 %9")
                       .arg(t->trial.id.c_str())
                       .arg(t->trial.round)
                       .arg(t->trial.index)
                       .arg(t->trial.task)
                       .arg(t->trial.candidate.c_str(), t->trial.sketch.c_str(), number(t->trial.costMs),
                            t->trial.code.c_str(), t->trial.text.c_str());
        else if (const auto* r = std::get_if<RoundEvent>(&event.what)) {
            line = QStringLiteral("round %1 task %2 trials %3 %4")
                       .arg(r->index)
                       .arg(r->task)
                       .arg(r->trials)
                       .arg(r->reason.c_str());
            for (const auto& [name, value] : r->terms)
                if (std::isfinite(value))
                    line += QStringLiteral(" %1=%2").arg(name.c_str(), number(value));
        } else if (const auto* d = std::get_if<RoundDoneEvent>(&event.what)) {
            line = QStringLiteral("round done %1 task %2 trials %3 estimate %4")
                       .arg(d->index)
                       .arg(d->task)
                       .arg(d->trials)
                       .arg(number(d->estimateMs));
            line += timeOf(d->time);
        } else if (const auto* b = std::get_if<BestEvent>(&event.what))
            line = QStringLiteral("best %1 %2 %3").arg(b->task).arg(number(b->costMs), b->alternative.c_str());
        else if (const auto* e = std::get_if<EstimateEvent>(&event.what))
            line = QStringLiteral("estimate %1 %2 %3 %4 %5 %6 %7")
                       .arg(number(e->ms), number(e->low), number(e->high), number(e->etaSeconds),
                            number(e->forecastMs), number(e->forecastLow), number(e->forecastHigh));
        else if (const auto* c = std::get_if<BudgetEvent>(&event.what))
            line = QStringLiteral("budget %1 %2 %3").arg(c->task).arg(c->budget.pinned).arg(c->budget.trialCap);
        else if (const auto* f = std::get_if<DoneEvent>(&event.what)) {
            line = QStringLiteral("done %1 %2 %3").arg(f->trials).arg(number(f->estimatedMs), number(f->measuredMs));
            for (const auto& [name, value] : f->errors)
                line += QStringLiteral(" %1=%2").arg(name.c_str()).arg(value);
            line += timeOf(f->rest); // the whole is a sum, and sums depend on the order in their last digits
        } else if (const auto* held = std::get_if<FinalsEvent>(&event.what))
            line = QStringLiteral("finals %1 %2").arg(held->tasks).arg(held->passes) + timeOf(held->time);
        else if (!std::holds_alternative<StateEvent>(event.what) && !std::holds_alternative<RunBegunEvent>(event.what))
            line = QStringLiteral("other %1").arg(event.what.index());
        if (!line.isEmpty())
            lines << QStringLiteral("%1 %2").arg(number(event.atSeconds), line);
    }
    return lines;
}

QByteArray contents(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? QCryptographicHash::hash(in.readAll(), QCryptographicHash::Sha256)
                                        : QByteArray();
}

} // namespace

/// A run that was recorded comes again.
class TestReplay : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString m_file;
    Watcher m_live;

    std::unique_ptr<TuningSession> open(ReplayOptions replay) const
    {
        OpenOptions options;
        options.project = m_file.toStdString();
        options.replay = replay;
        return must(TuningSession::open(options));
    }

private slots:
    void initTestCase()
    {
        m_file = m_dir.filePath(QStringLiteral("run.lathe"));
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = m_file.toStdString();
        const auto session = must(TuningSession::open(options));
        must(session->project()->setBudget(1, {true, false, 1, 40}));
        TuneOptions tune;
        tune.trials = 60;
        tune.trialsPerRound = 12;
        tune.buildJobs = 1;
        m_live.run(*session, tune);
        QCOMPARE(m_live.all<TrialEvent>().size(), std::size_t{60});
    }

    void aReplayTellsWhatTheRunTold()
    {
        const QByteArray before = contents(m_file);
        const auto session = open({0, 1e6});
        QVERIFY(session->replay() != nullptr);
        QVERIFY(session->state() == RunState::Idle);
        for (const TaskView& task : session->tasks())
            QVERIFY(task.trials == 0 && std::isnan(task.bestMs));
        Watcher watcher(*session, {});
        const QStringList live = linesOf(m_live), again = linesOf(watcher);
        for (qsizetype i = 0; i < std::min(live.size(), again.size()); ++i)
            QCOMPARE(again[i], live[i]);
        QCOMPARE(again.size(), live.size());
        QVERIFY(watcher.all<StateEvent>().back().state == RunState::Finished);
        QCOMPARE(watcher.all<StateEvent>().back().text, m_live.all<StateEvent>().back().text);
        // Nothing was written, not even beside it.
        QCOMPARE(contents(m_file), before);
        QVERIFY(!QFile::exists(m_file + QStringLiteral("-lock")) || !QFile::exists(m_file + QStringLiteral("-wal")));
        // And it can be played again.
        Watcher second(*session, {});
        QCOMPARE(second.all<RewindEvent>().size(), std::size_t{1});
        QCOMPARE(second.all<TrialEvent>().size(), std::size_t{60});
    }

    void itsHistoryGrowsAsItPlays()
    {
        const auto session = open({0, 1e6});
        const auto history = must(session->history());
        QVERIFY(must(history->find({}, {})).empty());
        QVERIFY(must(history->rounds(session->replay()->run().id)).empty());
        must(session->start({}));
        session->wait();
        QCOMPARE(must(history->find({}, {})).size(), std::size_t{60});
        QCOMPARE(must(history->rounds(session->replay()->run().id)).size(), m_live.all<RoundDoneEvent>().size());
        std::int64_t trials = 0;
        for (const TaskView& task : session->tasks())
            trials += task.trials;
        QCOMPARE(trials, std::int64_t{60});
    }

    void onePausesAndGoesBackAndForth()
    {
        const auto session = open({0, 0.1});
        Replay& replay = *session->replay();
        QVERIFY(replay.length() > 0);
        Watcher watcher;
        session->setObserver(&watcher);
        session->pause();
        must(session->start({}));
        session->pause();
        QTRY_VERIFY(session->state() == RunState::Paused);
        must(replay.seek(replay.length()));
        QTRY_COMPARE(watcher.all<TrialEvent>().size(), std::size_t{60});
        must(replay.seek(0));
        QTRY_COMPARE(watcher.all<RewindEvent>().size(), std::size_t{1});
        QVERIFY(replay.position() < replay.length());
        must(replay.seek(replay.length()));
        QTRY_COMPARE(watcher.all<TrialEvent>().size(), std::size_t{120});
        session->resumeRun();
        session->wait();
        session->setObserver(nullptr);
        QVERIFY(session->state() == RunState::Finished);
    }

    void aReplayThatIsStoppedEndsAtOnce()
    {
        const auto session = open({0, 0.1});
        must(session->start({}));
        QVERIFY(!session->start({}));
        session->stop();
        session->wait();
        QVERIFY(session->state() == RunState::Stopped);
    }

    void nothingOfItCanBeChanged()
    {
        const auto session = open({0, 10});
        QVERIFY(session->project() == nullptr);
        QVERIFY(session->exports() == nullptr);
        QVERIFY(!session->canResume());
        QCOMPARE(notInReplay("budget").message,
                 std::string("not possible in a replay: budget; open the project itself"));
        QVERIFY(notInReplay("budget").code == Errc::InvalidArgument);
        QVERIFY(session->replay()->setSpeed(0).error().code == Errc::InvalidArgument);
        QVERIFY(!session->replay()->setSpeed(std::numeric_limits<double>::quiet_NaN()));
        QVERIFY(!session->replay()->seek(-1));
        must(session->replay()->setSpeed(1000));
        QCOMPARE(session->replay()->speed(), 1000.0);
    }

    void aRunThatIsNotThereIsRefused()
    {
        OpenOptions options;
        options.project = m_file.toStdString();
        options.replay = ReplayOptions{77, 1};
        QVERIFY(TuningSession::open(options).error().code == Errc::NotFound);
        options.replay = ReplayOptions{0, -3};
        QVERIFY(TuningSession::open(options).error().code == Errc::InvalidArgument);
        options.project = m_dir.filePath(QStringLiteral("none.lathe")).toStdString();
        options.replay = ReplayOptions{};
        QVERIFY(!TuningSession::open(options));
        QVERIFY(!QFile::exists(m_dir.filePath(QStringLiteral("none.lathe"))));
    }

    void aHistoryIsOpenedWithItsFirstQuestion()
    {
        const QString copy = m_dir.filePath(QStringLiteral("copy.lathe"));
        QVERIFY(QFile::copy(m_file, copy));
        OpenOptions options;
        options.project = copy.toStdString();
        options.replay = ReplayOptions{};
        const auto session = must(TuningSession::open(options));
        const auto early = must(session->history());
        QCOMPARE(must(early->runs()).size(), std::size_t{1});
        for (const char* rest : {"", "-wal", "-shm"})
            QFile::remove(copy + QLatin1String(rest));
        const auto late = must(session->history()); // nobody waits for a disk to get one
        const auto second = late->again();
        QVERIFY(!late->runs());
        QVERIFY(!second->rowOf("t"));
    }

    void aModelThatIsGoneIsSaidInOneSentence()
    {
        const std::string project = m_dir.filePath(QStringLiteral("moved.lathe")).toStdString(),
                          model = m_dir.filePath(QStringLiteral("gone.onnx")).toStdString();
        {
            ModelSpec spec;
            spec.source = model;
            auto made = must(store::Project::open(project, store::Project::Access::Write));
            const auto row = must(made.addModel({0, "h", model, "gone", toJson(spec).dump()}));
            must(made.addSession({0, row, "sim", "{}", 0, 1, "finished"}));
        }
        OpenOptions options;
        options.project = project;
        for (const bool replay : {true, false}) {
            if (replay)
                options.replay = ReplayOptions{};
            else
                options.replay.reset();
            const auto opened = TuningSession::open(options);
            QVERIFY(!opened);
            QVERIFY(opened.error().code == Errc::NotFound);
            QCOMPARE(opened.error().message, project + " belongs to the model " + model
                                                 + ", which no longer exists: put the file back to open the project");
        }
    }
};

LATHE_TEST_GUILESS(TestReplay)

} // namespace tst_replay

#include "tst_replay.moc"
