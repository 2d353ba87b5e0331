#pragma once

#include "core/session/session.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <stop_token>
#include <vector>

namespace lathe::ui {

class SessionBridge;

/// What a person has done to stored trials: measured again, noted. Runs on threads; lives on the GUI thread. What comes back
/// after another network was opened is dropped.
class TrialJobs final : public QObject
{
    Q_OBJECT

public:
    explicit TrialJobs(SessionBridge& bridge, QObject* parent);
    ~TrialJobs() override;

    /// `trials`: whole ids. started(), progressed(), then ended() or failed().
    void remeasure(std::vector<std::string> trials);
    void cancel(); ///< what was measured is kept
    bool isMeasuring() const { return m_measuring; }

    /// Written in the order of the calls; noteSet() or noteFailed(). `trial` empty: the project's.
    void setNote(const QString& trial, const QString& text);
    void readProjectNote(); ///< noteSet() follows, where there is one

signals:
    void started(int count);
    void progressed(const QString& step, double fraction);
    void ended(const std::vector<lathe::session::RemeasuredTrial>& trials);
    void failed(const QString& text, int code);
    void noteSet(const QString& trial, const QString& text);
    void noteFailed(const QString& trial, const QString& text, int code);

private:
    SessionBridge& m_bridge;
    QThreadPool m_measurer, m_writer; ///< of one thread each
    std::stop_source m_stop;
    bool m_measuring = false;
    quint64 m_token = 0; ///< counts what was opened
};

} // namespace lathe::ui
