#pragma once

#include "core/session/history.h"

#include <QtGlobal>

QT_BEGIN_NAMESPACE
class QMenu;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// What one would do with a task wherever it is met, for the menus of tables and charts: select it, see its trials,
/// those that failed, the best first. -1: nothing is added.
void addTaskActions(QMenu& menu, Workspace& workspace, int task);

/// Brings the trials of a query to the front.
void showTrials(Workspace& workspace, const session::TrialQuery& query);

} // namespace lathe::ui
