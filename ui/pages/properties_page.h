#pragma once

#include "core/session/views.h"
#include "ui/bridge/jobs.h"
#include "ui/models/selection.h"
#include "ui/pages/page.h"

QT_BEGIN_NAMESPACE
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// Everything about the selected task and node: tensors, attributes, the compute DAG, the best schedule.
class PropertiesPage final : public Page
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
    void addTensor(QTreeWidgetItem* parent, const QString& name, const session::TensorView& tensor,
                   const QString& layout);
    void readStatistics(QTreeWidgetItem* item, const session::TensorView& tensor);
    void showWeights(std::int32_t constant);
    Workspace& m_workspace;
    QTreeWidget* m_tree = nullptr;
    QPushButton* m_weights = nullptr; ///< there while the node has some
    std::int32_t m_constant = -1; ///< the first of them
    JobLane m_jobs;
    Job m_reading; ///< of the task's schedule
    JobLane m_counting; ///< of the node's weights
    int m_task = -1; ///< that of the two rows below
    QTreeWidgetItem* m_best = nullptr;
    QTreeWidgetItem* m_algorithm = nullptr;
};

} // namespace lathe::ui
