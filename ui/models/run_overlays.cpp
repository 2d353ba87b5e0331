#include "ui/models/run_overlays.h"

#include <QFileInfo>

#include <algorithm>

namespace lathe::ui {

QString RunOverlays::Overlay::name(const QString& target) const
{
    const QString name = tr("%1, run %2").arg(QFileInfo(project).completeBaseName()).arg(run);
    const QString own = QString::fromStdString(stored.run.target);
    return own == target ? name : QStringLiteral("%1, %2").arg(name, own);
}

QString RunOverlays::keyOf(const QString& project, qint64 run)
{
    return QStringLiteral("run:%1:%2").arg(QFileInfo(project).absoluteFilePath()).arg(run);
}

void RunOverlays::add(const QString& project, qint64 run)
{
    m_jobs.run([file = project.toStdString(), run](const JobLink&) { return session::storedRun(file, run); },
               [this, project](Result<session::StoredRun> stored) {
                   if (!stored) {
                       emit failed(project, stored.error());
                       return;
                   }
                   Overlay overlay{project, stored->run.id, *std::move(stored)};
                   if (has(overlay.key()))
                       return;
                   m_overlays.push_back(std::move(overlay));
                   emit changed();
               });
}

void RunOverlays::remove(const QString& key)
{
    if (std::erase_if(m_overlays, [&key](const Overlay& overlay) { return overlay.key() == key; }) > 0)
        emit changed();
}

void RunOverlays::clear()
{
    m_jobs.dropAll();
    if (m_overlays.empty())
        return;
    m_overlays.clear();
    emit changed();
}

bool RunOverlays::has(const QString& key) const
{
    return std::ranges::any_of(m_overlays, [&key](const Overlay& overlay) { return overlay.key() == key; });
}

void RunOverlays::list(const QString& project, std::function<void(std::vector<session::StoredRun>)> then)
{
    m_jobs.run([file = project.toStdString()](const JobLink&) { return session::storedRuns(file); },
               [then = std::move(then)](Result<std::vector<session::StoredRun>> runs) {
                   then(runs ? *std::move(runs) : std::vector<session::StoredRun>());
               });
}

} // namespace lathe::ui
