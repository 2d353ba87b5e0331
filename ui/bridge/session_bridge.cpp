#include "ui/bridge/session_bridge.h"

#include <QThread>
#include <QThreadPool>
#include <QTimer>

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
    close();
    const quint64 token = ++m_openToken;
    m_opening = true;
    const QString what = QString::fromStdString(options.model.source.empty() ? options.project.string() : options.model.source);
    emit opening(what);
    QThreadPool::globalInstance()->start([this, options, token, what, ended = m_ended] {
        if (ended.valid())
            ended.wait(); // a project has one writer: what is open has to let go of it first
        auto result = std::make_shared<Result<std::unique_ptr<session::TuningSession>>>(session::TuningSession::open(options));
        QMetaObject::invokeMethod(this, [this, token, result, what] { finishOpen(token, result, what); }, Qt::QueuedConnection);
    });
}

void SessionBridge::finishOpen(quint64 token, std::shared_ptr<Result<std::unique_ptr<session::TuningSession>>> result, const QString& what)
{
    if (token != m_openToken)
        return; // a newer request made this one stale
    m_opening = false;
    if (!*result) {
        emit openFailed(what, QString::fromStdString(result->error().message), static_cast<int>(result->error().code));
        return;
    }
    m_session = std::shared_ptr<session::TuningSession>(std::move(**result).release());
    m_session->setObserver(this);
    emit opened();
}

void SessionBridge::close()
{
    ++m_openToken;
    m_opening = false;
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
        emit startFailed(QString::fromStdString(started.error().message), static_cast<int>(started.error().code));
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
                emit coverageFailed(QString::fromStdString(result->error().message));
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
                emit compileFailed(QString::fromStdString(result->error().message), static_cast<int>(result->error().code));
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
