#pragma once

#include "ui/pages/page.h"

QT_BEGIN_NAMESPACE
class QLineEdit;
class QSortFilterProxyModel;
QT_END_NAMESPACE

namespace lathe::ui {

class TableView;
class Workspace;

/// The tasks with their moving figures, filtered by name and sorted by any column; follows and sets the selected task.
class TasksPage final : public Page
{
    Q_OBJECT

public:
    TasksPage(Workspace& workspace, QWidget* parent);

private:
    void fitNumbers();
    void fitRowsLater();
    void showTask(int task);
    Workspace& m_workspace;
    QSortFilterProxyModel* m_order = nullptr;
    TableView* m_table = nullptr;
    bool m_following = false; ///< guards against echoes
};

} // namespace lathe::ui
