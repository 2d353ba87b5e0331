#pragma once

#include "core/session/views.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QComboBox;
class QSpinBox;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// What the scheduler is asked for the selected task: pin, mute, raise, cap. Works while a run goes on.
class BudgetBar final : public QWidget
{
    Q_OBJECT

public:
    BudgetBar(Workspace& workspace, QWidget* parent);

private:
    void onOpened();
    void showTask(int task);
    void ask();
    Workspace& m_workspace;
    QToolButton *m_pin = nullptr, *m_mute = nullptr;
    QComboBox* m_boost = nullptr;
    QSpinBox* m_cap = nullptr;
    int m_task = -1;
    bool m_showing = false; ///< guards against echoes
};

} // namespace lathe::ui
