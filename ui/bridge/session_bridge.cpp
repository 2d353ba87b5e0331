#include "ui/bridge/session_bridge.h"

#include <QThread>
#include <QThreadPool>
#include <QTimer>

#include <filesystem>
#include <utility>

namespace lathe::ui {

namespace {
constexpr int kFlushMs = 100; // ten batches a second: fast enough to look live, slow enough to cost nothing
}

SessionBridge::SessionBridge(QObject* parent) : QObject(parent) { }

SessionBridge::~SessionBridge()
{
    close();
    // Jobs post their results to this object, so they must have ended before it does. A run ends within a measurement; of an
    // export the children are killed: it ends at once.
    QThreadPool::globalInstance()->waitForDone();
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
    if (!m_session || options.readOnly || options.replay || m_session->options().readOnly || m_session->replay() != nullptr)
        return false;
    std::error_code ignored;
    return std::filesystem::equivalent(m_session->options().project, options.project, ignored);
}

void SessionBridge::begin(const session::OpenOptions& options, std::optional<session::OpenOptions> before)
{
    const quint64 token = ++m_openToken;
    m_opening = true;
    const QString what = QString::fromStdString(options.model.source.empty() ? options.project.string() : options.model.source);
    emit opening(what);
    QThreadPool::globalInstance()->start([this, options, before = std::move(before), token, what, ended = m_ended] {
        if (ended.valid())
            ended.wait(); // what was open before may still hold the project
        auto result = std::make_shared<Opened>(Opened{session::TuningSession::open(options), {}});
        if (result->session)
            result->tasks = (*result->session)->tasks(); // from the disk
        QMetaObject::invokeMethod(this, [this, token, result, what, before] { finishOpen(token, result, what, before); }, Qt::QueuedConnection);
    });
}

void SessionBridge::finishOpen(quint64 token, const std::shared_ptr<Opened>& result, const QString& what, const std::optional<session::OpenOptions>& before)
{
    if (token != m_openToken)
        return; // a newer request made this one stale
    m_opening = false;
    if (!result->session) {
        emit openFailed(what, result->session.error());
        if (before && token == m_openToken)
            begin(*before, std::nullopt);
        return;
    }
    letGo();
    m_session = std::shared_ptr<session::TuningSession>(std::move(*result->session).release());
    m_openedTasks = std::move(result->tasks);
    m_session->setObserver(this);
    emit opened();
}

void SessionBridge::close()
{
    ++m_openToken;
    m_opening = false;
    letGo();
}

void SessionBridge::letGo()
{
    m_compileStop.request_stop();
    if (!m_session)
        return;
    m_session->setObserver(nullptr);
    m_session->stop();
    // Joining may take as long as one measurement: never on this thread.
    auto done = std::make_shared<std::promise<void>>();
    m_ended = done->get_future().share();
    QThreadPool::globalInstance()->start([session = std::exchange(m_session, nullptr), done]() mutable {
        session->wait();
        session.reset();
        done->set_value();
    });
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
    QThreadPool::globalInstance()->start([this, session = m_session, strict, token = ++m_coverageToken] {
        auto result = std::make_shared<Result<session::Coverage>>(session->coverage(strict));
        QMetaObject::invokeMethod(this, [this, result, token, session] {
            if (token != m_coverageToken || session != m_session)
                return;
            if (*result)
                emit coverageRead(**result);
            else
                emit coverageFailed(result->error());
        }, Qt::QueuedConnection);
    });
}

void SessionBridge::compile(const session::CompileOptions& options)
{
    if (!m_session || m_compiling)
        return;
    m_compiling = true;
    m_compileStop = {};
    QThreadPool::globalInstance()->start([this, session = m_session, options, stop = m_compileStop.get_token()] {
        const auto progress = [this](std::string_view step, double fraction) {
            QMetaObject::invokeMethod(this, [this, text = QString::fromUtf8(step.data(), static_cast<qsizetype>(step.size())), fraction] {
                emit compileProgressed(text, fraction);
            }, Qt::QueuedConnection);
        };
        auto result = std::make_shared<Result<session::CompileReport>>(session->compile(options, progress, stop));
        QMetaObject::invokeMethod(this, [this, result] {
            m_compiling = false;
            if (*result)
                emit compiled(**result);
            else
                emit compileFailed(result->error());
        }, Qt::QueuedConnection);
    });
}

void SessionBridge::cancelCompile()
{
    m_compileStop.request_stop();
}

void SessionBridge::onEvents(std::span<const session::Event> events)
{
    const std::scoped_lock lock(m_mutex);
    m_pending.insert(m_pending.end(), events.begin(), events.end());
    if (!std::exchange(m_flushQueued, true)) // one flush per interval, however fast they come
        QMetaObject::invokeMethod(this, [this] { QTimer::singleShot(kFlushMs, this, &SessionBridge::flush); }, Qt::QueuedConnection);
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
