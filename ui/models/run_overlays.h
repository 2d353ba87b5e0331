#pragma once

#include "core/session/project/stored_runs.h"
#include "ui/bridge/jobs.h"

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

namespace lathe::ui {

/// Runs of this project and of others that are shown beside the open one, to compare with. They are read once and never
/// written; which they are is remembered for each project. GUI thread.
class RunOverlays final : public QObject
{
    Q_OBJECT

public:
    struct Overlay
    {
        QString project; ///< its file
        qint64 run = 0; ///< RunView::id
        session::StoredRun stored;
        QString key() const { return keyOf(project, run); }
        QString name(const QString& target) const; ///< "mlp, run 2"; with its target where that is another one
    };

    using QObject::QObject;

    /// The project that is open now: those beside another one go, and those that are remembered for it come, each once
    /// it is read. One that cannot be read is told of once, by failed(), and forgotten. Empty: there is no project.
    void setProject(const QString& project);
    /// A new run of the open project has begun: the one before it, of the same network and target, stays in sight.
    void keepRunBefore(qint64 run);
    /// Reads a run and shows it; 0: the project's latest. changed() or failed() follows.
    void add(const QString& project, qint64 run);
    void remove(const QString& key);
    void clear();
    bool has(const QString& key) const;
    const std::vector<Overlay>& all() const { return m_overlays; } ///< in the order in which they were added
    static QString keyOf(const QString& project, qint64 run);

    /// `then` gets all runs of a project, oldest first; none, where it cannot be read.
    void list(const QString& project, std::function<void(std::vector<session::StoredRun>)> then);

signals:
    void changed();
    void failed(const QString& project, const lathe::Error& error);

private:
    struct Chosen
    {
        QString project;
        qint64 run = 0;
    };
    void read(const QString& project, qint64 run);
    void store() const;

    QString m_project; ///< beside which they are; empty: nothing is remembered
    std::vector<Overlay> m_overlays;
    std::vector<Chosen> m_unread; ///< remembered ones that are being read
    JobLane m_jobs;
};

} // namespace lathe::ui
