#include "ui/bridge/trial_jobs.h"

#include "ui/bridge/session_bridge.h"

namespace lathe::ui {

TrialJobs::TrialJobs(SessionBridge& bridge, QObject* parent) : QObject(parent), m_bridge(bridge)
{
    m_measurer.setMaxThreadCount(1);
    m_writer.setMaxThreadCount(1);
    m_writer.setExpiryTimeout(5000);
    m_importer.setMaxThreadCount(1);
    m_importer.setExpiryTimeout(5000);
    connect(&m_bridge, &SessionBridge::closed, this, [this] {
        ++m_token;
        m_stop.request_stop();
        m_importStop.request_stop();
        m_measuring = false;
        m_importing = 0;
    });
}

TrialJobs::~TrialJobs()
{
    m_stop.request_stop();
    m_importStop.request_stop();
    m_importer.waitForDone();
    m_measurer.waitForDone(); // answers are posted to this object: none may be on its way
    m_writer.waitForDone();
}

void TrialJobs::remeasure(std::vector<std::string> trials)
{
    const auto session = m_bridge.shared();
    if (!session || m_measuring || trials.empty())
        return;
    m_measuring = true;
    m_stop = {};
    emit started(static_cast<int>(trials.size()));
    m_measurer.start([this, session, trials = std::move(trials), stop = m_stop.get_token(), token = m_token] {
        const auto progress = [this, token](std::string_view step, double fraction) {
            QMetaObject::invokeMethod(this, [this, token, text = QString::fromUtf8(step.data(), static_cast<qsizetype>(step.size())), fraction] {
                if (token == m_token)
                    emit progressed(text, fraction);
            }, Qt::QueuedConnection);
        };
        auto result = std::make_shared<Result<std::vector<session::RemeasuredTrial>>>(session->remeasure(trials, {}, progress, stop));
        QMetaObject::invokeMethod(this, [this, token, result] {
            if (token != m_token)
                return;
            m_measuring = false;
            if (*result)
                emit ended(**result);
            else
                emit failed(result->error());
        }, Qt::QueuedConnection);
    });
}

void TrialJobs::cancel()
{
    m_stop.request_stop();
}

void TrialJobs::importLogs(const QStringList& files)
{
    const auto session = m_bridge.shared();
    if (!session || files.isEmpty())
        return;
    if (m_importing++ == 0)
        m_importStop = {};
    emit importStarted(files);
    std::vector<std::filesystem::path> names;
    for (const QString& file : files)
        names.emplace_back(file.toStdString());
    m_importer.start([this, session, names = std::move(names), stop = m_importStop.get_token(), token = m_token] {
        const auto progress = [this, token](std::string_view, double fraction) {
            QMetaObject::invokeMethod(this, [this, token, fraction] {
                if (token == m_token)
                    emit importProgressed(fraction);
            }, Qt::QueuedConnection);
        };
        auto done = std::make_shared<Result<session::LogImport>>(session->importLogs(names, progress, stop));
        auto tasks = std::make_shared<std::vector<session::TaskView>>(session->tasks());
        QMetaObject::invokeMethod(this, [this, token, done, tasks] {
            if (token != m_token)
                return;
            --m_importing;
            if (*done)
                emit imported(**done, *tasks);
            else
                emit importFailed(done->error(), *tasks);
        }, Qt::QueuedConnection);
    });
}

void TrialJobs::cancelImport()
{
    m_importStop.request_stop();
}

void TrialJobs::setNote(const QString& trial, const QString& text)
{
    const auto session = m_bridge.shared();
    if (!session)
        return;
    m_writer.start([this, session, trial, text, token = m_token] {
        auto result = std::make_shared<Result<>>(session->setNote(trial.toStdString(), text.toStdString()));
        QMetaObject::invokeMethod(this, [this, token, result, trial, text] {
            if (token != m_token)
                return;
            if (*result)
                emit noteSet(trial, text);
            else
                emit noteFailed(trial, result->error());
        }, Qt::QueuedConnection);
    });
}

void TrialJobs::readProjectNote()
{
    const auto session = m_bridge.shared();
    if (!session)
        return;
    m_writer.start([this, session, token = m_token] {
        const auto history = session->history();
        if (!history)
            return;
        const auto note = (*history)->projectNote();
        if (!note || note->empty())
            return;
        QMetaObject::invokeMethod(this, [this, token, text = QString::fromStdString(*note)] {
            if (token == m_token)
                emit noteSet({}, text);
        }, Qt::QueuedConnection);
    });
}

} // namespace lathe::ui
