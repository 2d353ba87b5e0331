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
        using Measured = Result<std::vector<session::RemeasuredTrial>>;
        session::ProjectPart* const project = session->project();
        auto result = std::make_shared<Measured>(project != nullptr ? project->remeasure(trials, {}, progress, stop)
                                                                    : Measured(session::notInReplay("new measurement")));
        QMetaObject::invokeMethod(this, [this, token, result] {
            if (token != m_token)
                return;
            m_measuring = false;
            if (*result)
                emit ended(**result);
            else
                emit failed(QString::fromStdString(result->error().message), static_cast<int>(result->error().code));
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
        using Imported = Result<session::LogImport>;
        session::ProjectPart* const project = session->project();
        auto done = std::make_shared<Imported>(project != nullptr ? project->importLogs(names, progress, stop)
                                                                  : Imported(session::notInReplay("tuning log")));
        auto tasks = std::make_shared<std::vector<session::TaskView>>(session->tasks());
        QMetaObject::invokeMethod(this, [this, token, done, tasks] {
            if (token != m_token)
                return;
            --m_importing;
            if (*done)
                emit imported(**done, *tasks);
            else
                emit importFailed(QString::fromStdString(done->error().message), static_cast<int>(done->error().code), *tasks);
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
        session::ProjectPart* const project = session->project();
        auto result = std::make_shared<Result<>>(project != nullptr ? project->setNote(trial.toStdString(), text.toStdString())
                                                                    : Result<>(session::notInReplay("note")));
        QMetaObject::invokeMethod(this, [this, token, result, trial, text] {
            if (token != m_token)
                return;
            if (*result)
                emit noteSet(trial, text);
            else
                emit noteFailed(trial, QString::fromStdString(result->error().message), static_cast<int>(result->error().code));
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
