#pragma once

#include "core/session/session.h"
#include "core/session/verdict/network_latency.h"
#include "ui/models/issue_model.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QPointF>
#include <QVector>

#include <cmath>
#include <optional>

namespace lathe::ui {

class DeviceList;
class Edits;
class FarmLink;
class HistoryReader;
class Selection;
class SessionBridge;
class TaskModel;
class TrialJobs;

/// What all pages share: the open session, its models, what is selected, the run's figures. Made by the window,
/// outlives its pages; GUI thread. The task model has seen a batch of events before any page does.
class Workspace final : public QObject
{
    Q_OBJECT

public:
    struct Figures
    {
        qint64 trials = 0, failed = 0; ///< of the project
        double trialsPerSecond = session::kUnknown; ///< over the last half minute of the run
        session::NetworkLatency network;
        deploy::EstimateParts measuredParts; ///< estimated beside network.aloneMs
        double besideTasksMs = 0; ///< what the network has beside its tasks' sum, as measured last; 0: unknown
        void takeBeside(double ms)
        {
            if (std::isfinite(ms))
                besideTasksMs = ms;
        }
        double runSeconds = 0, etaSeconds = session::kUnknown;
        double low = session::kUnknown, high = session::kUnknown; ///< band of the estimate
        QString progress; ///< how far a run that starts has come; empty: it does not say
    };

    explicit Workspace(QObject* parent = nullptr);
    ~Workspace() override;

    SessionBridge& bridge() const { return *m_bridge; }
    TaskModel& tasks() const { return *m_tasks; }
    IssueModel& issues() const { return *m_issues; }
    Selection& selection() const { return *m_selection; }
    TrialJobs& trialJobs() const { return *m_trialJobs; }
    Edits& edits() const { return *m_edits; }
    DeviceList& devices() const { return *m_devices; }
    FarmLink& farm() const { return *m_farm; }
    /// Null while nothing is open.
    session::TuningSession* session() const;

    /// What is open: a path, or zoo:NAME.
    QString source() const { return m_source; }
    /// Opens a model or project, which without a target is shown for what it was tuned for; opened() of the bridge, or
    /// a row among the issues, follows. Of `sizes` those of the inputs count: where it says none, those of last time.
    void open(const QString& source, const QString& target, const session::ModelSpec& sizes = {});
    /// Why a model could not be opened, if it was because of what Lathe lacks; null: it was not.
    About refusalOf(const QString& source) const { return m_refusals.value(source); }
    /// A stored run of a project, the latest for 0: opened() follows, then start() of the bridge plays it.
    void openReplay(const QString& project, qint64 run = 0);
    /// Null: what is open is no replay.
    session::Replay* replay() const;
    /// Null: what is open is no reader of a project that another program holds.
    const session::FollowPart* follow() const;
    /// Why the project cannot be written to; empty: it can, or is a replay, or nothing is open.
    QString whyReadOnly() const;
    /// The project file that goes with a source.
    static QString projectFor(const QString& source);

    const Figures& figures() const { return m_figures; }
    /// The project has records for other targets than the one that it is open for: figures name theirs.
    bool hasOtherTargets() const;
    /// Where it has: the target that it is open for. Empty: there is no need to name it.
    QString targetName() const;
    /// Of the network: the tasks' sum, and what it has beside it; NaN while some task has no valid program.
    double estimatedMs() const;
    /// What came of the latest run that was judged; nothing: none was, or another goes on.
    const std::optional<session::VerdictEvent>& verdict() const { return m_verdict; }
    /// (run seconds, estimated ms) of the run, a point per change.
    const QVector<QPointF>& curve() const { return m_curve; }
    /// Seconds since the last events came; NaN before the first.
    double dataAge() const;

    /// A row among the issues. `code` as toString(Errc) spells it; `task` -1: none. Those without a task are pushed to
    /// the front.
    void addIssue(const QString& code, const QString& where, const QString& text, int task = -1);
    void addIssue(const QString& where, const Error& error, int task = -1);
    void addIssue(const IssueModel::Issue& issue);
    void log(const QString& text);
    /// "3 of 5 lines taken (tasks: 2). ...": what an import did.
    static QString importText(const session::LogImport& done);

signals:
    void logged(const QString& line);
    void issueRaised(); ///< one that wants to be seen
    void helpWanted(const QString& topic); ///< of the manual
    void inputSizesWanted(const QString& source); ///< other ones, of what is open or could not be opened
    void figuresChanged();
    void writerChanged(); ///< of the project that is followed
    /// That the latest run measured on; empty: there was none. `broker`: whose device it is; empty: this machine's.
    void deviceKnown(const QString& key, const QString& broker);
    void farmKeyWanted(const QString& key); ///< for the next run, of the farm that is connected
    void verdictChanged();
    void runCleared(); ///< a new run begins, or a replay again: live views start empty

public slots:
    void clearRun();

private:
    void onOpened();
    IssueModel::Issue noticeOf(const Message& notice) const;
    void onOpenFailed(const QString& what, const Error& error);
    void readHistory();
    void countTrials();
    void onEvents(const std::vector<session::Event>& events);
    void onImported(const session::LogImport& done, const std::vector<session::TaskView>& tasks);
    void takeTasks(const std::vector<session::TaskView>& tasks);
    void setVerdict(std::optional<session::VerdictEvent> verdict);
    void onRemeasured(const std::vector<session::RemeasuredTrial>& trials);

    SessionBridge* m_bridge = nullptr;
    TaskModel* m_tasks = nullptr;
    IssueModel* m_issues = nullptr;
    Selection* m_selection = nullptr;
    TrialJobs* m_trialJobs = nullptr;
    Edits* m_edits = nullptr;
    DeviceList* m_devices = nullptr;
    FarmLink* m_farm = nullptr;
    HistoryReader* m_reader = nullptr;
    QString m_source, m_asked; ///< open; to be opened
    QHash<QString, About> m_refusals; ///< by source
    bool m_clearIssues = false; ///< those of what was open before
    Figures m_figures;
    std::optional<session::VerdictEvent> m_verdict;
    std::vector<std::pair<double, qint64>> m_pace; ///< (run seconds, trials) of the last half minute
    QVector<QPointF> m_curve;
    QElapsedTimer m_lastData;
    bool m_figuresCame = false; ///< of the network, since its history was asked for: they are the later ones
};

} // namespace lathe::ui
