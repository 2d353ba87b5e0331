#pragma once

#include "core/session/session.h"
#include "ui/bridge/jobs.h"

#include <QObject>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace lathe::ui {

/// Carries a session's events to the GUI thread in batches, about ten times a second however fast they come, and runs
/// the session's blocking calls as jobs (ui/bridge/jobs.h). Lives on the GUI thread; owns the session.
///
/// To close: the destructor removes itself as the observer, stops the run and waits for all jobs.
class SessionBridge final : public QObject, private session::SessionObserver
{
    Q_OBJECT

public:
    explicit SessionBridge(QObject* parent = nullptr);
    ~SessionBridge() override;

    /// Opens a model or project on a thread; opened() or openFailed() follows. A later call makes an earlier one stale.
    /// What is open stays open until the other one is open, and if that fails; a project that is opened anew has to be
    /// closed first, and is opened again (opened() is sent again) if that fails.
    void open(const session::OpenOptions& options);
    bool isOpening() const { return m_opening.isRunning(); }
    void close();

    /// Null while nothing is open. Its non-blocking calls may be used directly.
    session::TuningSession* session() const { return m_session.get(); }
    /// The tasks with their figures, as they were when it was opened.
    const std::vector<session::TaskView>& openedTasks() const { return m_openedTasks; }
    /// The targets that its project had records for then.
    const std::vector<std::string>& openedTargets() const { return m_openedTargets; }
    /// What its runs had, and what was picked for them, as the project said then.
    const session::TuneOptions& openedUsual() const { return m_openedUsual; }
    const session::RunChoices& openedChoices() const { return m_openedChoices; }
    /// Keeps what is picked with the project, on a thread; where it cannot be written to, the next run fails as well.
    void keepChoices(const session::RunChoices& choices);
    /// For jobs, which may outlast it; the next project is opened after they have let go of it.
    std::shared_ptr<session::TuningSession> shared() const { return m_session; }

    void start(const session::TuneOptions& options);
    void pause();
    void resumeRun();
    void stop();

    /// What compile() would run where, read on a thread; coverageRead() or coverageFailed(). A later call makes an
    /// earlier one stale.
    void readCoverage(bool strict);
    /// Whether compile() may write its files, looked up on a thread: destinationRead(). A later call makes an earlier
    /// one stale.
    void readDestination(const session::CompileOptions& options);
    /// Compiles on a thread; compileProgressed(), then compiled() or compileFailed().
    void compile(const session::CompileOptions& options);
    void cancelCompile();
    bool isCompiling() const { return m_compiling.isRunning(); }

signals:
    void opening(const QString& what);
    void opened();
    void openFailed(const QString& what, const lathe::Error& error);
    void closing(); ///< what was begun can still be kept
    void closed();
    /// All events since the last batch, in order.
    void eventsArrived(const std::vector<lathe::session::Event>& events);
    void startFailed(const lathe::Error& error);
    void coverageRead(const lathe::session::Coverage& coverage);
    void coverageFailed(const lathe::Error& error);
    /// As the options are, and with `overwrite`.
    void destinationRead(const lathe::Result<>& kept, const lathe::Result<>& replaced);
    void compileProgressed(const QString& step, double fraction);
    void compiled(const lathe::session::CompileReport& report);
    void compileFailed(const lathe::Error& error);

private:
    void onEvents(std::span<const session::Event> events) override; // any thread
    void flush();
    struct Opened
    {
        Result<std::unique_ptr<session::TuningSession>> session;
        std::vector<session::TaskView> tasks;
        std::vector<std::string> targets;
        session::TuneOptions usual;
        session::RunChoices choices;
    };
    bool holds(const session::OpenOptions& options) const;
    void begin(const session::OpenOptions& options, std::optional<session::OpenOptions> before);
    void finishOpen(Opened result, const QString& what, const std::optional<session::OpenOptions>& before);
    void letGo();

    std::shared_ptr<session::TuningSession> m_session; ///< shared with jobs that are still ending
    std::vector<session::TaskView> m_openedTasks;
    std::vector<std::string> m_openedTargets;
    session::TuneOptions m_openedUsual;
    session::RunChoices m_openedChoices;
    std::shared_future<void> m_gone; ///< nobody has the session that is open any more
    std::shared_future<void> m_ended; ///< the same, of the one that was closed last
    JobLane m_jobs{JobLane::Width::AllAtOnce};
    JobLane m_keeping; ///< in order
    JobLane m_closing{JobLane::Width::AllAtOnce, JobLane::Work::IsAlwaysDone};
    Job m_opening, m_covering, m_looking, m_compiling;
    std::mutex m_mutex;
    std::vector<session::Event> m_pending;
    bool m_flushQueued = false;
};

} // namespace lathe::ui
