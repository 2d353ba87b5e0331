#pragma once

#include "ui/models/selection.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QTreeWidget;
class QTreeWidgetItem;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// Everything about the selected task and node: tensors, attributes, the compute DAG, the best schedule.
class PropertiesPage final : public QWidget
{
    Q_OBJECT

public:
    PropertiesPage(Workspace& workspace, QWidget* parent);

private:
    void show(const Selection::Place& place);
    void addTask(int task);
    void updateFigures();
    void readSchedule(int task, int at);
    void addNode(int node);
    Workspace& m_workspace;
    QTreeWidget* m_tree = nullptr;
    quint64 m_token = 0; ///< of the schedule that is wanted
    int m_task = -1; ///< that of the two rows below
    QTreeWidgetItem* m_best = nullptr;
    QTreeWidgetItem* m_algorithm = nullptr;
};

} // namespace lathe::ui
