#pragma once

#include "core/session/session.h"
#include "ui/bridge/jobs.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <vector>

namespace lathe::ui {

class SessionBridge;

/// What a person has done to stored trials: measured again, noted, imported. Works on threads; lives on the GUI thread.
/// What comes back after another network was opened is dropped.
class TrialJobs final : public QObject
{
    Q_OBJECT

public:
    explicit TrialJobs(SessionBridge& bridge, QObject* parent);

    /// `trials`: whole ids. started(), progressed(), then ended() or failed().
    void remeasure(std::vector<std::string> trials);
    void cancel(); ///< what was measured is kept
    bool isMeasuring() const { return m_measurer.isBusy(); }

    /// Times the network again, tuned and untuned in turns: gainStarted(), then gainEnded(). What came of it arrives as
    /// events of the run.
    void measureAgain();
    bool isMeasuringGain() const { return m_gain.isBusy(); }

    /// Tuning logs into the project, one call after the other: importStarted(), importProgressed(), then imported() or
    /// importFailed().
    void importLogs(const QStringList& files);
    void cancelImport(); ///< what was taken is kept
    bool isImporting() const { return m_importer.isBusy(); }

    /// Written in the order of the calls; noteSet() or noteFailed(). `trial` empty: the project's.
    void setNote(const QString& trial, const QString& text);
    void readProjectNote(); ///< noteSet() follows, where there is one

signals:
    void started(int count);
    void progressed(const QString& step, double fraction);
    void ended(const std::vector<lathe::session::RemeasuredTrial>& trials);
    void failed(const lathe::Error& error);
    void gainStarted();
    void gainEnded(const lathe::Result<>& result);
    void importStarted(const QStringList& files);
    void importProgressed(double fraction);
    /// With the tasks as they are now.
    void imported(const lathe::session::LogImport& done, const std::vector<lathe::session::TaskView>& tasks);
    /// What was taken before is kept.
    void importFailed(const lathe::Error& error, const std::vector<lathe::session::TaskView>& tasks);
    void noteSet(const QString& trial, const QString& text);
    void noteFailed(const QString& trial, const lathe::Error& error);

private:
    SessionBridge& m_bridge;
    JobLane m_measurer, m_gain, m_importer;
    JobLane m_writer{JobLane::Width::OneByOne, JobLane::Work::IsAlwaysDone}; ///< a note that was written is kept
};

} // namespace lathe::ui
