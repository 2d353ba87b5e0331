#include "ui/pages/run_bar.h"

#include "core/session/budget_text.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/elided_label.h"
#include "ui/views/icons.h"

#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>

namespace lathe::ui {

RunBar::RunBar(QWidget* parent) : QToolBar(parent)
{
    setObjectName(QStringLiteral("runBar"));
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setMovable(false);
    const auto action = [this](const char* name, const char* text, const QKeySequence& keys, const char* tip) {
        auto* a = addAction(QString());
        a->setObjectName(QLatin1String(name));
        a->setShortcut(keys);
        retranslated(a, [a, text, tip] {
            a->setText(tr(text));
            a->setIconText(withoutMnemonic(a->text())); // of the toolbar's button
            if (tip != nullptr) // else it depends on the target
                a->setToolTip(a->shortcut().isEmpty() ? tr(tip) : QStringLiteral("%1 (%2)").arg(tr(tip), a->shortcut().toString(QKeySequence::NativeText)));
        });
        if (QWidget* button = widgetForAction(a))
            button->setObjectName(QLatin1String(name) + QStringLiteral("Button"));
        return a;
    };
    m_open = action("actionOpen", QT_TR_NOOP("&Open"), QKeySequence::Open, QT_TR_NOOP("Open a model or project"));
    m_start = action("actionStart", QT_TR_NOOP("&Start"), Qt::Key_F5, nullptr);
    m_resume = action("actionResume", QT_TR_NOOP("Res&ume"), Qt::Key_F6, nullptr);
    m_pause = action("actionPause", QT_TR_NOOP("&Pause"), Qt::Key_F7, QT_TR_NOOP("Pause after the current round"));
    m_pause->setCheckable(true);
    m_stop = action("actionStop", QT_TR_NOOP("S&top"), Qt::SHIFT | Qt::Key_F5, QT_TR_NOOP("Stop; everything measured is kept"));
    m_export = action("actionExport", QT_TR_NOOP("&Export…"), Qt::CTRL | Qt::Key_E, QT_TR_NOOP("Export a deploy library"));
    applyIcons();
    addSeparator();

    m_target = new QComboBox(this);
    m_target->setObjectName(QStringLiteral("targetPicker"));
    for (const char* target : {"cpu", "cpu -threads=1", "sim", "cpu -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu -threads=4"})
        m_target->addItem(QString(), QLatin1String(target));
    m_device = new QComboBox(this);
    m_device->setObjectName(QStringLiteral("devicePicker"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToContents); // its text follows the target's
    m_device->addItem(QString());
    m_budget = new QComboBox(this);
    m_budget->setObjectName(QStringLiteral("budgetPicker"));
    m_budget->setEditable(true);
    m_budget->setMinimumContentsLength(9);
    m_budget->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_budget->setInsertPolicy(QComboBox::NoInsert);
    const auto labelled = [this](const char* text, QWidget* widget) {
        auto* label = new QLabel(this);
        label->setBuddy(widget);
        label->setContentsMargins(8, 0, 4, 0);
        retranslated(label, [label, text] { label->setText(tr(text)); });
        addWidget(label);
        addWidget(widget);
    };
    labelled(QT_TR_NOOP("Target:"), m_target);
    labelled(QT_TR_NOOP("Device:"), m_device);
    labelled(QT_TR_NOOP("&Budget:"), m_budget);
    m_remaining = new ElidedLabel(this);
    m_remaining->setObjectName(QStringLiteral("remainingLabel"));
    m_remaining->setContentsMargins(12, 0, 8, 0);
    m_remaining->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred); // else a narrow bar would hide it whole
    addWidget(m_remaining);
    connect(m_target, &QComboBox::currentIndexChanged, this, [this] {
        showTarget();
        emit targetChanged(target());
    });
    retranslated(this, [this] {
        setWindowTitle(tr("Run"));
        m_target->setAccessibleName(tr("Target"));
        m_target->setToolTip(tr("What code is made for"));
        m_target->setItemText(0, tr("this CPU"));
        m_target->setItemText(1, tr("this CPU, 1 thread"));
        m_target->setItemText(2, tr("simulated device"));
        m_target->setItemText(3, tr("64-bit Arm, 4 threads"));
        m_device->setAccessibleName(tr("Device"));
        m_budget->setAccessibleName(tr("Budget"));
        m_budget->setToolTip(tr("How long to tune: 20 min, until 18:00, 1000 trials, until the last hour gained under 0.1 %; several with commas, the first that comes true ends the run"));
        const QStringList budgets = {tr("2 min"), tr("5 min"), tr("20 min"), tr("1 hour"), tr("8 hours"), tr("until 18:00"), tr("1000 trials"), tr("until the last hour gained under 0.1 %")};
        const QString typed = m_budget->currentText();
        const int chosen = m_budget->findText(typed);
        m_budget->clear();
        m_budget->addItems(budgets);
        if (chosen >= 0 || typed.isEmpty())
            m_budget->setCurrentIndex(std::max(0, chosen));
        else
            m_budget->setEditText(typed);
        QFontMetrics metrics(m_budget->font());
        int widest = 0;
        for (const QString& budget : budgets)
            widest = std::max(widest, metrics.horizontalAdvance(budget));
        m_budget->view()->setMinimumWidth(widest + 32);
        showTarget();
    });
    setState(false, session::RunState::Idle, false);
}

void RunBar::applyIcons()
{
    const std::pair<QAction*, Glyph> glyphs[] = {{m_open, Glyph::Open}, {m_start, Glyph::Start}, {m_resume, Glyph::Resume},
                                                 {m_pause, Glyph::Pause}, {m_stop, Glyph::Stop}, {m_export, Glyph::Export}};
    for (const auto& [action, glyph] : glyphs)
        action->setIcon(glyphIcon(glyph, palette()));
}

void RunBar::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_export != nullptr)
        applyIcons();
    QToolBar::changeEvent(event);
}

QString RunBar::target() const
{
    return m_target->currentData().toString();
}

void RunBar::setTarget(const QString& target)
{
    const QSignalBlocker blocker(m_target);
    int index = m_target->findData(target);
    if (index < 0) {
        m_target->addItem(target, target);
        index = m_target->count() - 1;
    }
    m_target->setCurrentIndex(index);
    showTarget();
}

/// Local devices of the target's kind (remote ones join the list when a broker is named), and what can be done with it.
void RunBar::showTarget()
{
    const bool simulated = target().startsWith(QStringLiteral("sim"));
    const bool elsewhere = !session::checkMeasurable(target().toStdString());
    m_device->setItemText(0, simulated ? tr("simulator") : elsewhere ? tr("none") : tr("this machine"));
    m_device->setToolTip(simulated   ? tr("No device: a formula says how long a candidate would take, so that all can be tried within seconds")
                         : elsewhere ? tr("Boards are not reached yet: nothing is measured, and a library is exported with default schedules")
                                     : tr("Where candidates are measured"));
    const auto tip = [&](QAction* action, const QString& text) {
        action->setToolTip(elsewhere ? m_device->toolTip() : QStringLiteral("%1 (%2)").arg(text, action->shortcut().toString(QKeySequence::NativeText)));
    };
    tip(m_start, tr("Tune the network from here on"));
    tip(m_resume, tr("Continue the project's latest run"));
    enableActions();
}

void RunBar::setState(bool modelOpen, session::RunState state, bool canResume)
{
    m_modelOpen = modelOpen;
    m_state = state;
    m_canResume = canResume;
    enableActions();
}

void RunBar::enableActions()
{
    using session::RunState;
    const bool active = m_state == RunState::Starting || m_state == RunState::Running || m_state == RunState::Pausing || m_state == RunState::Paused
        || m_state == RunState::Stopping;
    const bool tunes = m_modelOpen && !active && !m_replay && session::checkMeasurable(target().toStdString());
    m_open->setEnabled(!active);
    m_start->setEnabled(tunes);
    m_resume->setEnabled(tunes && m_canResume);
    m_pause->setEnabled(active && m_state != RunState::Stopping);
    m_pause->setChecked(m_state == RunState::Pausing || m_state == RunState::Paused);
    m_stop->setEnabled(active);
    m_export->setEnabled(m_modelOpen && !m_replay);
    m_target->setEnabled(!active && !m_replay);
    m_device->setEnabled(!active && !m_replay);
    m_budget->setEnabled(!active && !m_replay);
}

void RunBar::setRemaining(const QString& text)
{
    m_remaining->setText(text);
    m_remaining->setToolTip(text); // a narrow window cuts it
}

Result<session::TuneOptions> RunBar::tuneOptions() const
{
    session::TuneOptions options;
    LATHE_TRY(session::applyBudget(m_budget->currentText().toStdString(), session::localTime(), options));
    return options;
}

} // namespace lathe::ui
