#include "ui/pages/overlay_menu.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/recent_projects.h"
#include "ui/models/run_overlays.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"

#include <QDateTime>
#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QPointer>

namespace lathe::ui {

namespace {

bool isSameFile(const QString& a, const QString& b)
{
    return QFileInfo(a).absoluteFilePath() == QFileInfo(b).absoluteFilePath();
}

} // namespace

OverlayMenu::OverlayMenu(Workspace& workspace, RunOverlays& overlays, QWidget* parent)
    : QMenu(parent)
    , m_workspace(workspace)
    , m_overlays(overlays)
{
    setObjectName(QStringLiteral("overlayMenu"));
    setToolTipsVisible(true);
    connect(this, &QMenu::aboutToShow, this, &OverlayMenu::fill);
    retranslated(this, [this] { setTitle(tr("Add &run or project")); });
}

void OverlayMenu::fill()
{
    clear();
    addShown();
    addSection(tr("Runs of this project"));
    QAction* const reading = addAction(tr("Reading…"));
    reading->setEnabled(false);
    addRuns(reading);
    addRecent();
    addSeparator();
    addAction(tr("Project &file…"), this, &OverlayMenu::browse)->setObjectName(QStringLiteral("overlayBrowse"));
}

/// What is shown can be taken away, wherever it came from.
void OverlayMenu::addShown()
{
    if (m_overlays.all().empty())
        return;
    const session::TuningSession* const session = m_workspace.session();
    const QString target = session == nullptr ? QString() : QString::fromStdString(session->options().target);
    addSection(tr("Shown"));
    for (const RunOverlays::Overlay& overlay : m_overlays.all()) {
        QAction* const remove = addAction(overlay.name(target));
        remove->setCheckable(true);
        remove->setChecked(true);
        remove->setToolTip(overlay.project);
        connect(remove, &QAction::triggered, this, [this, key = overlay.key()] { m_overlays.remove(key); });
    }
    addAction(tr("Remove &all"), this, [this] {
        m_overlays.clear();
    })->setObjectName(QStringLiteral("overlayRemoveAll"));
}

void OverlayMenu::addRuns(QAction* before)
{
    const session::TuningSession* const session = m_workspace.session();
    if (session == nullptr) {
        before->setText(tr("No network is open"));
        return;
    }
    const QString project = QString::fromStdString(session->options().project.string());
    const QString target = QString::fromStdString(session->options().target);
    m_overlays.list(project, [this, place = QPointer<QAction>(before), project,
                              target](const std::vector<session::StoredRun>& runs) {
        if (place.isNull())
            return; // the menu was filled anew
        std::int64_t open = 0; // what the page shows itself: the latest of this target
        for (const session::StoredRun& run : runs)
            if (QString::fromStdString(run.run.target) == target)
                open = run.run.id;
        bool any = false;
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
            const QString key = RunOverlays::keyOf(project, run->run.id);
            if (run->run.id == open || m_overlays.has(key))
                continue;
            any = true;
            const QString when = QLocale(Language::instance().current())
                                     .toString(QDateTime::fromMSecsSinceEpoch(run->run.startedMs),
                                               QLocale::ShortFormat);
            QStringList words{tr("run %1, %2, %3").arg(run->run.id).arg(when, minutesText(run->run.activeSeconds))};
            if (QString::fromStdString(run->run.target) != target)
                words << targetTitle(run->run.target);
            auto* const action = new QAction(words.join(QStringLiteral(", ")), this);
            connect(action, &QAction::triggered, this,
                    [this, project, id = run->run.id] { m_overlays.add(project, id); });
            insertAction(place, action);
        }
        if (any)
            place->deleteLater();
        else
            place->setText(tr("There are no others"));
    });
}

void OverlayMenu::addRecent()
{
    const session::TuningSession* const session = m_workspace.session();
    const QString open = session == nullptr ? QString() : QString::fromStdString(session->options().project.string());
    bool any = false;
    for (const RecentProject& recent : recentProjects()) {
        const QString project = Workspace::projectFor(recent.source);
        if (isSameFile(project, open) || !QFileInfo::exists(project))
            continue;
        if (!std::exchange(any, true))
            addSection(tr("Latest runs of other projects"));
        QAction* const action = addAction(recent.name(), this, [this, project] { m_overlays.add(project, 0); });
        action->setToolTip(project);
    }
}

void OverlayMenu::browse()
{
    const QString file = QFileDialog::getOpenFileName(window(), tr("Add the latest run of a project"), QString(),
                                                      tr("Lathe projects (*.lathe)"));
    if (!file.isEmpty())
        m_overlays.add(file, 0);
}

} // namespace lathe::ui
