#include "ui/models/run_overlays.h"

#include "ui/models/texts.h"

#include <QFileInfo>
#include <QSettings>
#include <QStringList>

#include <algorithm>
#include <utility>

namespace lathe::ui {

namespace {

QString settingsKey(const QString& project)
{
    return QStringLiteral("overlays/") + QString::fromLatin1(QFileInfo(project).absoluteFilePath().toUtf8().toHex());
}

} // namespace

QString RunOverlays::Overlay::name(const QString& target) const
{
    const QString name = tr("%1, run %2").arg(QFileInfo(project).completeBaseName()).arg(run);
    const std::string& own = stored.run.target;
    return QString::fromStdString(own) == target ? name : QStringLiteral("%1, %2").arg(name, targetTitle(own));
}

QString RunOverlays::keyOf(const QString& project, qint64 run)
{
    return QStringLiteral("run:%1:%2").arg(QFileInfo(project).absoluteFilePath()).arg(run);
}

void RunOverlays::setProject(const QString& project)
{
    if (m_project == project)
        return;
    m_jobs.dropAll();
    m_project = project;
    m_unread.clear();
    const bool any = !std::exchange(m_overlays, {}).empty();
    if (any)
        emit changed();
    if (m_project.isEmpty())
        return;
    for (const QString& word : QSettings().value(settingsKey(m_project)).toStringList()) {
        const auto bar = word.indexOf(QLatin1Char('|')); // "2|/home/me/mlp.lathe"
        if (const qint64 run = word.left(bar).toLongLong(); bar > 0 && run > 0)
            m_unread.push_back({word.mid(bar + 1), run});
    }
    for (const Chosen& chosen : std::vector<Chosen>(m_unread))
        read(chosen.project, chosen.run);
}

void RunOverlays::keepRunBefore(qint64 run)
{
    if (m_project.isEmpty() || run == 0)
        return;
    list(m_project, [this, run, project = m_project](const std::vector<session::StoredRun>& runs) {
        const auto begun = std::ranges::find(runs, run, [](const session::StoredRun& stored) { return stored.run.id; });
        if (begun == runs.end())
            return;
        qint64 before = 0;
        for (auto earlier = runs.begin(); earlier != begun; ++earlier)
            if (earlier->run.target == begun->run.target && earlier->model == begun->model)
                before = earlier->run.id;
        if (before != 0 && !has(keyOf(project, before)))
            add(project, before);
    });
}

void RunOverlays::add(const QString& project, qint64 run)
{
    read(project, run);
}

void RunOverlays::read(const QString& project, qint64 run)
{
    m_jobs.run([file = project.toStdString(), run](const JobLink&) { return session::storedRun(file, run); },
               [this, project, run](Result<session::StoredRun> stored) {
                   std::erase_if(m_unread,
                                 [&](const Chosen& chosen) { return chosen.run == run && chosen.project == project; });
                   if (!stored) {
                       store();
                       emit failed(project, stored.error());
                       return;
                   }
                   Overlay overlay{project, stored->run.id, *std::move(stored)};
                   if (has(overlay.key()))
                       return;
                   m_overlays.push_back(std::move(overlay));
                   store();
                   emit changed();
               });
}

void RunOverlays::remove(const QString& key)
{
    if (std::erase_if(m_overlays, [&key](const Overlay& overlay) { return overlay.key() == key; }) == 0)
        return;
    store();
    emit changed();
}

void RunOverlays::clear()
{
    m_jobs.dropAll();
    m_unread.clear();
    if (m_overlays.empty())
        return;
    m_overlays.clear();
    store();
    emit changed();
}

void RunOverlays::store() const
{
    if (m_project.isEmpty())
        return;
    QStringList words;
    for (const Overlay& overlay : m_overlays)
        words << QStringLiteral("%1|%2").arg(overlay.run).arg(QFileInfo(overlay.project).absoluteFilePath());
    for (const Chosen& chosen : m_unread)
        words << QStringLiteral("%1|%2").arg(chosen.run).arg(chosen.project);
    if (words.isEmpty())
        QSettings().remove(settingsKey(m_project));
    else
        QSettings().setValue(settingsKey(m_project), words);
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
