#pragma once

#include "core/session/session.h"

#include <QDateTime>
#include <QPointF>
#include <QString>
#include <QVector>

namespace lathe::ui {

/// What was worked on, the latest first; kept in the settings, so that the start page can tell of it without opening a
/// file.
struct RecentProject
{
    QString source; ///< path, or zoo:NAME
    QString target;
    QString sizes; ///< of inputs, that the figures are of; empty: the model says them
    QDateTime when;
    double estimatedMs = session::kUnknown, measuredMs = session::kUnknown, untunedMs = session::kUnknown;
    qint64 trials = 0, failed = 0;
    double runSeconds = 0;
    QString
        state; ///< of the run, as toString(RunState) spells it; "running" in a project that is closed: it was cut off
    QVector<QPointF> curve; ///< (seconds, estimated ms), at most kCurvePoints

    static constexpr int kCurvePoints = 64;

    QString name() const; ///< zoo:NAME or the file's name
    /// False for a file that is gone.
    bool exists() const;
};

QVector<RecentProject> recentProjects();
/// Puts it first; forgets what exceeds nine.
void rememberProject(const RecentProject& project);
void forgetProject(const QString& source);
/// Keeps first, last and the steps between, at most kCurvePoints.
QVector<QPointF> thinned(const QVector<QPointF>& curve);

} // namespace lathe::ui
