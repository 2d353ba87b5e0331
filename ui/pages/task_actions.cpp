#include "ui/pages/task_actions.h"

#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/trial_filter.h"
#include "ui/models/workspace.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QMenu>

namespace lathe::ui {

void showTrials(Workspace& workspace, const session::TrialQuery& query)
{
    TrialFilter::of(workspace).set(query, true);
}

void addTaskActions(QMenu& menu, Workspace& workspace, int task)
{
    if (task < 0 || task >= workspace.tasks().rowCount())
        return;
    const auto text = [](const char* source) { return QCoreApplication::translate("TaskActions", source); };
    const QString name = QString::fromStdString(workspace.tasks().task(task).name);
    const auto trials = [&workspace, task](const char* code) {
        session::TrialQuery query;
        query.task = task;
        query.code = code;
        showTrials(workspace, query);
    };
    if (!menu.isEmpty())
        menu.addSeparator();
    QAction* const select = menu.addAction(text(QT_TRANSLATE_NOOP("TaskActions", "Select the tas&k")), &menu,
                                           [&workspace, task] { workspace.selection().selectTask(task); });
    select->setEnabled(workspace.selection().current().task != task);
    menu.addAction(text(QT_TRANSLATE_NOOP("TaskActions", "Show its &trials")), &menu, [trials] { trials(""); });
    menu.addAction(text(QT_TRANSLATE_NOOP("TaskActions", "Show its &failed trials")), &menu,
                   [trials] { trials("failed"); });
    menu.addAction(text(QT_TRANSLATE_NOOP("TaskActions", "Copy its &name")), &menu,
                   [name] { QApplication::clipboard()->setText(name); });
}

} // namespace lathe::ui
