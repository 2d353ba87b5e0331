#include "ui/bridge/session_bridge.h"

#include <QThread>
#include <QTimer>

#include <filesystem>
#include <utility>

namespace lathe::ui {

namespace {
constexpr int kFlushMs = 100; // ten batches a second: fast enough to look live, slow enough to cost nothing
}

SessionBridge::SessionBridge(QObject* parent)
    : QObject(parent)
{
}

SessionBridge::~SessionBridge()
{
    close();
    // What the window's parts have shared must outlive the jobs that use it. A run ends within a measurement; of an
    // export the children are killed: it ends at once.
    JobLane::waitForAll();
}

void SessionBridge::open(const session::OpenOptions& options)
{
    Q_ASSERT(QThread::currentThread() == thread());
    std::optional<session::OpenOptions> before;
    if (holds(options)) {
        before = m_session->options();
        close();
    }
    begin(options, std::move(before));
}

/// Whether what is open writes to the project that the other one would write to: a project has one writer.
bool SessionBridge::holds(const session::OpenOptions& options) const
{
    if (!m_session || options.readOnly || options.replay || m_session->options().readOnly
        || m_session->replay() != nullptr)
        return false;
    std::error_code ignored;
    return std::filesystem::equivalent(m_session->options().project, options.project, ignored);
}

void SessionBridge::begin(const session::OpenOptions& options, std::optional<session::OpenOptions> before)
{
    m_opening.drop(); // a newer request makes it stale
    const QString what = QString::fromStdString(options.model.source.empty() ? options.project.string()
                                                                             : options.model.source);
    m_opening = m_jobs.run(
        [options, ended = m_ended](const JobLink&) {
            if (ended.valid())
                ended.wait(); // what was open before may still hold the project
            Opened opened{session::TuningSession::open(options), {}, {}, {}, {}};
            if (opened.session) { // from the disk
                opened.tasks = (*opened.session)->tasks();
                if (const session::ProjectPart* const project = (*opened.session)->project()) {
                    if (auto targets = project->targets())
                        opened.targets = *std::move(targets);
                    if (auto usual = project->usualOptions())
                        opened.usual = *std::move(usual);
                    if (auto choices = project->choices())
                        opened.choices = *std::move(choices);
                }
            }
            return opened;
        },
        [this, what, before = std::move(before)](Opened opened) { finishOpen(std::move(opened), what, before); });
    emit opening(what);
}

void SessionBridge::finishOpen(Opened result, const QString& what, const std::optional<session::OpenOptions>& before)
{
    if (!result.session) {
        emit openFailed(what, result.session.error());
        if (before && !isOpening()) // who heard of it may have asked for another
            begin(*before, std::nullopt);
        return;
    }
    letGo();
    auto gone = std::make_shared<std::promise<void>>();
    m_gone = gone->get_future().share();
    m_session = std::shared_ptr<session::TuningSession>(std::move(*result.session).release(),
                                                        [gone](session::TuningSession* session) {
                                                            delete session;
                                                            gone->set_value();
                                                        });
    m_openedTasks = std::move(result.tasks);
    m_openedTargets = std::move(result.targets);
    m_openedUsual = std::move(result.usual);
    m_openedChoices = std::move(result.choices);
    m_session->setObserver(this);
    emit opened();
}

void SessionBridge::keepChoices(const session::RunChoices& choices)
{
    if (!m_session || m_session->project() == nullptr || m_session->readOnly())
        return;
    m_keeping.run([session = m_session, choices](const JobLink&) { return session->project()->setChoices(choices); },
                  [](const Result<>&) {});
}

void SessionBridge::close()
{
    m_opening.drop();
    letGo();
}

void SessionBridge::letGo()
{
    m_covering.drop();
    m_looking.drop();
    m_compiling.stop(); // it says how it ended
    if (!m_session)
        return;
    emit closing();
    m_session->setObserver(nullptr);
    m_session->stop();
    // Joining may take as long as one measurement: never on this thread. Jobs that are stopped now hold the session
    // until they end, and with it the project.
    m_ended = m_gone;
    m_closing.run(
        [session = std::exchange(m_session, nullptr)](const JobLink&) mutable {
            session->wait();
            session.reset();
            return true;
        },
        [](bool) {});
    {
        const std::scoped_lock lock(m_mutex);
        m_pending.clear();
    }
    emit closed();
}

void SessionBridge::start(const session::TuneOptions& options)
{
    if (!m_session)
        return;
    if (auto started = m_session->start(options); !started)
        emit startFailed(started.error());
}

void SessionBridge::pause()
{
    if (m_session)
        m_session->pause();
}

void SessionBridge::resumeRun()
{
    if (m_session)
        m_session->resumeRun();
}

void SessionBridge::stop()
{
    if (m_session)
        m_session->stop();
}

void SessionBridge::readCoverage(bool strict)
{
    if (!m_session)
        return;
    m_covering.drop();
    m_covering = m_jobs.run(
        [session = m_session, strict](const JobLink&) -> Result<session::Coverage> {
            const session::ExportPart* const exports = session->exports();
            if (exports == nullptr)
                return session::notInReplay("export");
            session::CompileOptions options;
            options.strict = strict;
            return exports->coverage(options);
        },
        [this](const Result<session::Coverage>& result) {
            if (result)
                emit coverageRead(*result);
            else
                emit coverageFailed(result.error());
        });
}

void SessionBridge::readDestination(const session::CompileOptions& options)
{
    if (!m_session)
        return;
    using Answers = std::pair<Result<>, Result<>>;
    m_looking.drop();
    m_looking = m_jobs.run(
        [session = m_session, options](const JobLink&) -> Answers {
            const session::ExportPart* const exports = session->exports();
            if (exports == nullptr)
                return {};
            session::CompileOptions wanted = options;
            wanted.overwrite = false;
            Result<> kept = exports->destination(wanted);
            wanted.overwrite = true;
            return {std::move(kept), exports->destination(wanted)};
        },
        [this](const Answers& answers) { emit destinationRead(answers.first, answers.second); });
}

void SessionBridge::compile(const session::CompileOptions& options)
{
    if (!m_session || isCompiling())
        return;
    m_compiling = m_jobs.run(
        [this, session = m_session, options](const JobLink& link) -> Result<session::CompileReport> {
            const auto progress = [this, &link](std::string_view step, double fraction) {
                link.tell([this, text = QString::fromUtf8(step.data(), static_cast<qsizetype>(step.size())), fraction] {
                    emit compileProgressed(text, fraction);
                });
            };
            session::ExportPart* const exports = session->exports();
            if (exports == nullptr)
                return session::notInReplay("export");
            return exports->compile(options, progress, link.stopToken());
        },
        [this](const Result<session::CompileReport>& result) {
            if (result)
                emit compiled(*result);
            else
                emit compileFailed(result.error());
        });
}

void SessionBridge::cancelCompile()
{
    m_compiling.stop();
}

void SessionBridge::onEvents(std::span<const session::Event> events)
{
    const std::scoped_lock lock(m_mutex);
    m_pending.insert(m_pending.end(), events.begin(), events.end());
    if (!std::exchange(m_flushQueued, true)) // one flush per interval, however fast they come
        QMetaObject::invokeMethod(
            this, [this] { QTimer::singleShot(kFlushMs, this, &SessionBridge::flush); }, Qt::QueuedConnection);
}

void SessionBridge::flush()
{
    std::vector<session::Event> batch;
    {
        const std::scoped_lock lock(m_mutex);
        batch.swap(m_pending);
        m_flushQueued = false;
    }
    if (!batch.empty() && m_session)
        emit eventsArrived(batch);
}

} // namespace lathe::ui
