#include "ui/pages/budget_bar.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/edits.h"
#include "ui/models/language.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"
#include "ui/views/write_access.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QScopedValueRollback>
#include <QSpinBox>
#include <QToolButton>

namespace lathe::ui {

BudgetBar::BudgetBar(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("budgetBar"));
    const auto button = [this](const char* name) {
        auto* b = new QToolButton(this);
        b->setObjectName(QLatin1String(name));
        b->setCheckable(true);
        connect(b, &QToolButton::toggled, this, &BudgetBar::ask);
        return b;
    };
    m_pin = button("budgetPin");
    m_mute = button("budgetMute");
    m_boost = new QComboBox(this);
    m_boost->setObjectName(QStringLiteral("budgetBoost"));
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0})
        m_boost->addItem(QStringLiteral("×%1").arg(factor), factor);
    m_cap = new QSpinBox(this);
    m_cap->setObjectName(QStringLiteral("budgetCap"));
    m_cap->setRange(0, 1'000'000);
    m_cap->setSingleStep(64);
    m_cap->setKeyboardTracking(false);
    connect(m_boost, &QComboBox::currentIndexChanged, this, &BudgetBar::ask);
    connect(m_cap, &QSpinBox::valueChanged, this, &BudgetBar::ask);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(spacing::kHair, spacing::kNone, spacing::kHair, spacing::kHair);
    row->setSpacing(spacing::kSmall);
    row->addWidget(m_pin);
    row->addWidget(m_mute);
    row->addWidget(m_boost);
    row->addWidget(m_cap, 1);
    retranslated(this, [this] {
        m_pin->setText(tr("Pin"));
        m_pin->setToolTip(tr("Pinned tasks get their trials first"));
        m_mute->setText(tr("Mute"));
        m_mute->setToolTip(tr("Muted tasks get no trials"));
        m_boost->setToolTip(tr("Raise or lower the gain that the scheduler expects of the task"));
        m_boost->setAccessibleName(tr("Weight in the scheduler"));
        m_cap->setToolTip(tr("Maximum number of trials per run"));
        m_cap->setAccessibleName(tr("Maximum number of trials"));
        m_cap->setSpecialValueText(tr("no cap"));
        m_cap->setSuffix(tr(" trials"));
    });
    connect(&m_workspace.selection(), &Selection::changed, this,
            [this](const Selection::Place& place) { showTask(place.task); });
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &BudgetBar::onOpened);
    connect(&m_workspace.bridge(), &SessionBridge::closed, this, [this] { showTask(-1); });
    connect(&m_workspace, &Workspace::writerChanged, this, [this] { showTask(m_task); });
    connect(&m_workspace.edits(), &Edits::budgetChanged, this, [this](int task) {
        if (task == m_task)
            showTask(task);
    });
    if (m_workspace.session() != nullptr)
        onOpened();
    else
        showTask(-1);
}

void BudgetBar::onOpened()
{
    // A replay has none of its own: what was asked in its run comes with its events.
    std::vector<session::TaskBudget> budgets(static_cast<std::size_t>(m_workspace.tasks().rowCount()));
    if (const session::ProjectPart* project = m_workspace.session()->project())
        budgets = project->budgets();
    for (std::size_t i = 0; i < budgets.size(); ++i)
        m_workspace.tasks().setBudget(static_cast<int>(i), budgets[i]);
    showTask(m_workspace.selection().current().task);
}

void BudgetBar::showTask(int task)
{
    const QScopedValueRollback guard(m_showing, true);
    m_task = task;
    const bool there = task >= 0 && task < m_workspace.tasks().rowCount() && m_workspace.session() != nullptr;
    enableToWrite(*this, there && m_workspace.replay() == nullptr, m_workspace.whyReadOnly());
    const session::TaskBudget budget = there ? m_workspace.tasks().budget(task) : session::TaskBudget();
    m_pin->setChecked(budget.pinned);
    m_mute->setChecked(budget.muted);
    int boost = m_boost->findData(budget.boost);
    if (boost < 0) {
        m_boost->addItem(QStringLiteral("×%1").arg(budget.boost), budget.boost);
        boost = m_boost->count() - 1;
    }
    m_boost->setCurrentIndex(boost);
    m_cap->setValue(static_cast<int>(budget.trialCap));
}

void BudgetBar::ask()
{
    if (m_showing || m_workspace.session() == nullptr || m_task < 0)
        return;
    if (sender() == m_pin && m_pin->isChecked() && m_mute->isChecked()) {
        const QScopedValueRollback guard(m_showing, true);
        m_mute->setChecked(false); // who is first cannot be left out
    } else if (sender() == m_mute && m_mute->isChecked() && m_pin->isChecked()) {
        const QScopedValueRollback guard(m_showing, true);
        m_pin->setChecked(false);
    }
    const session::TaskBudget budget{m_pin->isChecked(), m_mute->isChecked(), m_boost->currentData().toDouble(),
                                     m_cap->value()};
    m_workspace.edits().setBudget(m_task, budget);
}

} // namespace lathe::ui
