#include "ui/models/recent_projects.h"

#include "core/session/back_ends.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kMaxRecent = 9;
const QString kArray = QStringLiteral("recentProjects");

void writeAll(const QVector<RecentProject>& projects)
{
    QSettings settings;
    settings.remove(kArray);
    settings.beginWriteArray(kArray, static_cast<int>(projects.size()));
    for (int i = 0; i < projects.size(); ++i) {
        const RecentProject& p = projects[i];
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("source"), p.source);
        settings.setValue(QStringLiteral("target"), p.target);
        settings.setValue(QStringLiteral("sizes"), p.sizes);
        settings.setValue(QStringLiteral("when"), p.when);
        settings.setValue(QStringLiteral("trials"), p.trials);
        settings.setValue(QStringLiteral("failed"), p.failed);
        settings.setValue(QStringLiteral("runSeconds"), p.runSeconds);
        settings.setValue(QStringLiteral("state"), p.state);
        const std::pair<const char*, double> numbers[] = {
            {"estimatedMs", p.estimatedMs}, {"measuredMs", p.measuredMs}, {"untunedMs", p.untunedMs}};
        for (const auto& [key, value] : numbers)
            if (std::isfinite(value))
                settings.setValue(QLatin1String(key), value);
        QStringList curve;
        for (const QPointF& point : p.curve)
            curve << QStringLiteral("%1:%2").arg(point.x(), 0, 'g', 6).arg(point.y(), 0, 'g', 6);
        settings.setValue(QStringLiteral("curve"), curve);
    }
    settings.endArray();
}

} // namespace

QString RecentProject::name() const
{
    return source.startsWith(QStringLiteral("zoo:")) ? source : QFileInfo(source).fileName();
}

bool RecentProject::exists() const
{
    return source.startsWith(QStringLiteral("zoo:")) || QFileInfo::exists(source);
}

QVector<RecentProject> recentProjects()
{
    QSettings settings;
    QVector<RecentProject> projects;
    const int count = settings.beginReadArray(kArray);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        RecentProject p;
        p.source = settings.value(QStringLiteral("source")).toString();
        if (p.source.isEmpty())
            continue;
        p.target = settings.value(QStringLiteral("target"), QLatin1String(kDefaultTarget)).toString();
        p.sizes = settings.value(QStringLiteral("sizes")).toString();
        p.when = settings.value(QStringLiteral("when")).toDateTime();
        p.trials = settings.value(QStringLiteral("trials")).toLongLong();
        p.failed = settings.value(QStringLiteral("failed")).toLongLong();
        p.runSeconds = settings.value(QStringLiteral("runSeconds")).toDouble();
        p.state = settings.value(QStringLiteral("state")).toString();
        const auto number = [&settings](const char* key) {
            return settings.value(QLatin1String(key), session::kUnknown).toDouble();
        };
        p.estimatedMs = number("estimatedMs");
        p.measuredMs = number("measuredMs");
        p.untunedMs = number("untunedMs");
        for (const QString& text : settings.value(QStringLiteral("curve")).toStringList()) {
            const QStringList parts = text.split(QLatin1Char(':'));
            if (parts.size() == 2)
                p.curve << QPointF(parts[0].toDouble(), parts[1].toDouble());
        }
        projects << p;
    }
    settings.endArray();
    return projects;
}

void rememberProject(const RecentProject& project)
{
    QVector<RecentProject> projects = recentProjects();
    projects.removeIf([&](const RecentProject& other) { return other.source == project.source; });
    projects.prepend(project);
    if (projects.size() > kMaxRecent)
        projects.resize(kMaxRecent);
    writeAll(projects);
}

void forgetProject(const QString& source)
{
    QVector<RecentProject> projects = recentProjects();
    projects.removeIf([&](const RecentProject& other) { return other.source == source; });
    writeAll(projects);
}

QVector<QPointF> thinned(const QVector<QPointF>& curve)
{
    if (curve.size() <= RecentProject::kCurvePoints)
        return curve;
    QVector<QPointF> thin;
    const double step = static_cast<double>(curve.size() - 1) / (RecentProject::kCurvePoints - 1);
    for (int i = 0; i < RecentProject::kCurvePoints; ++i)
        thin << curve[static_cast<qsizetype>(std::lround(i * step))];
    return thin;
}

} // namespace lathe::ui
