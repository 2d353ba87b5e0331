#include "ui/bridge/trial_jobs.h"

#include "ui/bridge/session_bridge.h"

namespace lathe::ui {

TrialJobs::TrialJobs(SessionBridge& bridge, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
{
    connect(&m_bridge, &SessionBridge::closed, this, [this] {
        for (JobLane* lane : {&m_measurer, &m_gain, &m_importer, &m_writer})
            lane->dropAll();
    });
}

void TrialJobs::remeasure(std::vector<std::string> trials)
{
    const auto session = m_bridge.shared();
    if (!session || isMeasuring() || trials.empty())
        return;
    const int count = static_cast<int>(trials.size());
    m_measurer.run(
        [this, session,
         trials = std::move(trials)](const JobLink& link) -> Result<std::vector<session::RemeasuredTrial>> {
            const auto progress = [this, &link](std::string_view step, double fraction) {
                link.tell([this, text = QString::fromUtf8(step.data(), static_cast<qsizetype>(step.size())), fraction] {
                    emit progressed(text, fraction);
                });
            };
            session::ProjectPart* const project = session->project();
            if (project == nullptr)
                return session::notInReplay("new measurement");
            return project->remeasure(trials, {}, progress, link.stopToken());
        },
        [this](const Result<std::vector<session::RemeasuredTrial>>& result) {
            if (result)
                emit ended(*result);
            else
                emit failed(result.error());
        });
    emit started(count);
}

void TrialJobs::cancel()
{
    m_measurer.stopAll();
}

void TrialJobs::measureAgain()
{
    const auto session = m_bridge.shared();
    if (!session || isMeasuringGain())
        return;
    m_gain.run(
        [session](const JobLink& link) -> Result<> {
            session::ProjectPart* const project = session->project();
            if (project == nullptr)
                return session::notInReplay("new measurement");
            const auto verdict = project->measureAgain(link.stopToken());
            return verdict ? Result<>() : Result<>(verdict.error());
        },
        [this](const Result<>& result) { emit gainEnded(result); });
    emit gainStarted();
}

void TrialJobs::importLogs(const QStringList& files)
{
    const auto session = m_bridge.shared();
    if (!session || files.isEmpty())
        return;
    struct Answer
    {
        Result<session::LogImport> done;
        std::vector<session::TaskView> tasks;
    };
    std::vector<std::filesystem::path> names;
    for (const QString& file : files)
        names.emplace_back(file.toStdString());
    m_importer.run(
        [this, session, names = std::move(names)](const JobLink& link) {
            const auto progress = [this, &link](std::string_view, double fraction) {
                link.tell([this, fraction] { emit importProgressed(fraction); });
            };
            session::ProjectPart* const project = session->project();
            Result<session::LogImport> done = session::notInReplay("tuning log");
            if (project != nullptr)
                done = project->importLogs(names, progress, link.stopToken());
            return Answer{std::move(done), session->tasks()};
        },
        [this](const Answer& answer) {
            if (answer.done)
                emit imported(*answer.done, answer.tasks);
            else
                emit importFailed(answer.done.error(), answer.tasks);
        });
    emit importStarted(files);
}

void TrialJobs::cancelImport()
{
    m_importer.stopAll();
}

void TrialJobs::setNote(const QString& trial, const QString& text)
{
    const auto session = m_bridge.shared();
    if (!session)
        return;
    m_writer.run(
        [session, trial, text](const JobLink&) -> Result<> {
            session::ProjectPart* const project = session->project();
            if (project == nullptr)
                return session::notInReplay("note");
            return project->setNote(trial.toStdString(), text.toStdString());
        },
        [this, trial, text](const Result<>& result) {
            if (result)
                emit noteSet(trial, text);
            else
                emit noteFailed(trial, result.error());
        });
}

void TrialJobs::readProjectNote()
{
    const auto session = m_bridge.shared();
    if (!session)
        return;
    m_writer.run(
        [session](const JobLink&) -> QString {
            const auto history = session->history();
            const auto note = history ? (*history)->projectNote() : history.error();
            return note ? QString::fromStdString(*note)
                        : QString(); // a failure is told by the pages that show more of it
        },
        [this](const QString& text) {
            if (!text.isEmpty())
                emit noteSet({}, text);
        });
}

} // namespace lathe::ui
