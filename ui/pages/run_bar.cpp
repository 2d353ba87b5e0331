#include "ui/pages/run_bar.h"

#include "core/session/back_ends.h"
#include "core/session/options/budget_text.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/run_defaults.h"
#include "ui/models/texts.h"
#include "ui/views/elided_label.h"
#include "ui/views/icons.h"
#include "ui/views/spacing.h"
#include "ui/views/write_access.h"

#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSet>
#include <QStandardItemModel>
#include <QStyleOptionComboBox>
#include <QToolButton>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lathe::ui {

namespace {

constexpr int kOfProject = Qt::UserRole + 1; ///< of a target: it is offered because the project has it
constexpr int kTitle = RunBar::kClosedTitle; ///< of a target: what it is called without its device's name
constexpr int kDeviceWidth = 180; ///< pixels of a device's name; the whole of it stands in the tool tip

/// Titles of the targets that Lathe's own kinds offer.
[[maybe_unused]] const char* const kTargetTitles[] = {QT_TRANSLATE_NOOP("lathe::ui::RunBar", "this CPU"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "this CPU, 1 thread"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "simulated device"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "simulated NVIDIA GPU"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "simulated Arm Mali GPU"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "64-bit Arm, 4 threads"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "OpenCL device"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "OpenCL device: {device}"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "NVIDIA GPU"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "NVIDIA GPU: {device}"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "RTX A6000, expected"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "A100, expected"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "H100, expected"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "H200, expected"),
                                                      QT_TRANSLATE_NOOP("lathe::ui::RunBar", "RTX 4090, expected")};

/// Closed, it shows the short title of what is picked, where that has one: a target without the name of its device,
/// which stands beside it; a key of a farm without its figures. Its list shows all.
class ShortBox final : public QComboBox
{
public:
    using QComboBox::QComboBox;

protected:
    void initStyleOption(QStyleOptionComboBox* option) const override
    {
        QComboBox::initStyleOption(option);
        if (const QString title = currentData(kTitle).toString(); !title.isEmpty())
            option->currentText = title;
    }
};

} // namespace

RunBar::RunBar(QWidget* parent)
    : QToolBar(parent)
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
                a->setToolTip(a->shortcut().isEmpty() ? tr(tip)
                                                      : QStringLiteral("%1 (%2)").arg(
                                                          tr(tip), a->shortcut().toString(QKeySequence::NativeText)));
        });
        if (QWidget* button = widgetForAction(a))
            button->setObjectName(QLatin1String(name) + QStringLiteral("Button"));
        return a;
    };
    m_open = action("actionOpen", QT_TR_NOOP("&Open"), QKeySequence::Open, QT_TR_NOOP("Open a model or project"));
    m_start = action("actionStart", QT_TR_NOOP("&Start"), Qt::Key_F5, nullptr);
    addStartOver();
    m_resume = action("actionResume", QT_TR_NOOP("Res&ume"), Qt::Key_F6, nullptr);
    m_pause = action("actionPause", QT_TR_NOOP("&Pause"), Qt::Key_F7, QT_TR_NOOP("Pause after the current round"));
    m_pause->setCheckable(true);
    m_stop = action("actionStop", QT_TR_NOOP("S&top"), Qt::SHIFT | Qt::Key_F5,
                    QT_TR_NOOP("Stop; everything measured is kept"));
    m_export = action("actionExport", QT_TR_NOOP("&Export…"), Qt::CTRL | Qt::Key_E,
                      QT_TR_NOOP("Export a deploy library"));
    applyIcons();
    addSeparator();

    m_target = new ShortBox(this);
    m_target->setObjectName(QStringLiteral("targetPicker"));
    for (const session::TargetView& target : session::listTargets())
        m_target->addItem(QString(), QString::fromStdString(target.text));
    m_device = new ShortBox(this);
    m_device->setObjectName(QStringLiteral("devicePicker"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToContents); // its text follows the target's
    m_budget = new QComboBox(this);
    m_budget->setObjectName(QStringLiteral("budgetPicker"));
    m_budget->setEditable(true);
    m_budget->setMinimumContentsLength(9);
    m_budget->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_budget->setInsertPolicy(QComboBox::NoInsert);
    const auto labelled = [this](const char* text, QWidget* widget) {
        auto* both = new QWidget(this); // in a narrow window they leave the bar together
        auto* row = new QHBoxLayout(both);
        row->setContentsMargins(spacing::kMedium, spacing::kNone, spacing::kNone, spacing::kNone);
        row->setSpacing(spacing::kSmall);
        auto* label = new QLabel(both);
        label->setBuddy(widget);
        retranslated(label, [label, text] { label->setText(tr(text)); });
        row->addWidget(label);
        row->addWidget(widget);
        addWidget(both);
    };
    labelled(QT_TR_NOOP("Target:"), m_target);
    labelled(QT_TR_NOOP("Device:"), m_device);
    labelled(QT_TR_NOOP("&Budget:"), m_budget);
    m_remaining = new ElidedLabel(this);
    m_remaining->setObjectName(QStringLiteral("remainingLabel"));
    m_remaining->setContentsMargins(spacing::kMedium, spacing::kNone, spacing::kMedium, spacing::kNone);
    m_remaining->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred); // else a narrow bar would hide it whole
    addWidget(m_remaining);
    connectPickers();
    retranslated(this, [this] {
        setWindowTitle(tr("Run"));
        m_target->setAccessibleName(tr("Target"));
        m_target->setToolTip(tr("What code is generated for"));
        nameTargets();
        offerDevices();
        m_device->setAccessibleName(tr("Device"));
        m_budget->setAccessibleName(tr("Budget"));
        m_budget->setToolTip(tr("How long to tune: 20 min, until 18:00, 1000 trials, until the last hour gained under "
                                "0.1 %; several with commas, the first that comes true ends the run"));
        offerBudgets();
        showTarget();
    });
    setState(false, session::RunState::Idle, false, false);
}

void RunBar::connectPickers()
{
    const auto choose = [this] {
        m_budgetGiven = true;
        if (isActive())
            emit runBudgetChosen(m_budget->currentText());
        else
            emit budgetPicked(m_budget->currentText());
    };
    connect(m_budget, &QComboBox::activated, this, choose);
    connect(m_budget->lineEdit(), &QLineEdit::returnPressed, this, choose);
    connect(m_budget->lineEdit(), &QLineEdit::textEdited, this, [this] { m_budgetGiven = true; });
    connect(m_budget->lineEdit(), &QLineEdit::editingFinished, this, [this] {
        if (m_budgetGiven && !isActive())
            emit budgetPicked(m_budget->currentText());
    });
    connect(m_device, &QComboBox::activated, this, [this] {
        m_wantedDevice = m_device->currentData().toString();
        showPicked();
    });
    connect(m_target, &QComboBox::currentIndexChanged, this, [this] {
        showTarget();
        emit targetChanged(target());
    });
}

/// It hangs from the button of Start: rarely wanted, and not to be hit by mistake.
void RunBar::addStartOver()
{
    m_startOver = new QAction(this);
    m_startOver->setObjectName(QStringLiteral("actionStartOver"));
    m_startOver->setShortcut(Qt::CTRL | Qt::SHIFT | Qt::Key_F5);
    hangStartOver();
    retranslated(m_startOver, [this] {
        m_startOver->setText(tr("Start o&ver"));
        m_startOver->setToolTip(tr("Begin a run that knows nothing of the earlier ones; their records stay"));
    });
}

void RunBar::hangStartOver()
{
    auto* const button = qobject_cast<QToolButton*>(widgetForAction(m_start));
    if (button == nullptr)
        return;
    auto* const menu = new QMenu(button);
    menu->setObjectName(QStringLiteral("startMenu"));
    menu->addAction(m_startOver);
    button->setMenu(menu);
    button->setPopupMode(QToolButton::MenuButtonPopup);
}

void RunBar::applyIcons()
{
    const std::pair<QAction*, Glyph> glyphs[] = {{m_open, Glyph::Open},     {m_start, Glyph::Start},
                                                 {m_resume, Glyph::Resume}, {m_pause, Glyph::Pause},
                                                 {m_stop, Glyph::Stop},     {m_export, Glyph::Export}};
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
    // What no project but the one before was for is not offered any longer.
    for (int i = m_target->count() - 1; i >= 0; --i)
        if (m_target->itemData(i, kOfProject).toBool() && m_target->itemData(i).toString() != target)
            m_target->removeItem(i);
    int index = m_target->findData(target);
    if (index < 0) {
        m_target->addItem(target, target);
        index = m_target->count() - 1;
        m_target->setItemData(index, true, kOfProject);
    }
    m_target->setCurrentIndex(index);
    showTarget();
}

QString RunBar::targetName() const
{
    const QString title = m_target->currentData(kTitle).toString();
    return title.isEmpty() ? m_target->currentText() : title;
}

void RunBar::setDevices(session::DeviceDirectory devices)
{
    m_devices = std::move(devices);
    offerTargets();
    nameTargets();
    showTarget();
}

/// Kinds that are not among the usual targets: of devices that were found, and of those that are looked for in vain.
void RunBar::offerTargets()
{
    for (const session::DeviceView& device : m_devices->all()) {
        const QString kind = QString::fromStdString(device.kind);
        bool known = kind.isEmpty();
        for (int i = 0; i < m_target->count() && !known; ++i)
            known = m_target->itemData(i).toString().section(QLatin1Char(' '), 0, 0) == kind;
        if (!known)
            m_target->addItem(device.name.empty() ? kind : deviceTitle(device.name), kind);
    }
}

/// In the language of the window; by the name of its device where there is one and the target's kind has no better.
void RunBar::nameTargets()
{
    for (const session::TargetView& target : session::listTargets()) {
        const QString plain = tr(target.title.c_str());
        QString title = plain;
        std::vector<session::DeviceView> devices;
        if (m_devices && !target.named.empty())
            devices = m_devices->forTarget(target.text);
        std::erase_if(devices, [](const session::DeviceView& device) { return !device.ready(); });
        if (devices.size() == 1)
            title = tr(target.named.c_str()).replace(QStringLiteral("{device}"), deviceTitle(devices.front().name));
        if (const int i = m_target->findData(QString::fromStdString(target.text)); i >= 0) {
            m_target->setItemText(i, title);
            m_target->setItemData(i, plain, kTitle);
        }
    }
    m_target->view()->setMinimumWidth(m_target->view()->sizeHintForColumn(0) + spacing::kPage);
}

/// What the directory lists for the target, and below it the keys of the farm.
void RunBar::offerDevices()
{
    QString picked = m_device->currentData().toString();
    if (picked.isEmpty())
        picked = m_wantedDevice;
    m_device->clear();
    if (m_devices)
        offerHere();
    else
        m_device->addItem(session::checkMeasurable(target().toStdString()) ? tr("Looking…") : tr("none"));
    offerFarm(picked);
    // Those that are not ready have no key: they are found by nobody's choice.
    m_device->setCurrentIndex(picked.isEmpty() ? 0 : std::max(0, m_device->findData(picked)));
    fitDevices();
}

void RunBar::offerHere()
{
    const auto devices = m_devices->forTarget(target().toStdString());
    QSet<QString> classes;
    for (const session::DeviceView& device : devices) {
        const QString ofAll = QString::fromStdString(device.deviceKey);
        const auto equal = std::count_if(devices.begin(), devices.end(), [&](const session::DeviceView& other) {
            return device.ready() && other.ready() && !ofAll.isEmpty() && other.deviceKey == device.deviceKey;
        });
        if (equal > 1 && !classes.contains(ofAll)) {
            classes.insert(ofAll);
            const QString all = tr("%1, all %2").arg(deviceTitle(device.name), QString::number(equal));
            m_device->addItem(m_device->fontMetrics().elidedText(all, Qt::ElideMiddle, kDeviceWidth), ofAll);
            m_device->setItemData(m_device->count() - 1, QStringLiteral("%1 (%2)").arg(all, ofAll), Qt::ToolTipRole);
        }
        const QString name = deviceTitle(device.name), key = QString::fromStdString(device.key);
        const bool unique = std::count_if(devices.begin(), devices.end(),
                                          [&](const auto& other) { return other.name == device.name; })
                            == 1;
        const QString full = name.isEmpty() ? key : unique ? name : QStringLiteral("%1 (%2)").arg(name, key);
        m_device->addItem(device.ready() ? m_device->fontMetrics().elidedText(full, Qt::ElideRight, kDeviceWidth)
                                         : tr("none"),
                          device.ready() ? key : QString());
        const int row = m_device->count() - 1;
        m_device->setItemData(
            row, device.ready() ? QStringLiteral("%1 (%2)").arg(name, key) : coreText(device.reason(), device.about),
            Qt::ToolTipRole);
        if (!device.ready() && devices.size() > 1)
            if (auto* items = qobject_cast<QStandardItemModel*>(m_device->model()))
                items->item(row)->setEnabled(false);
    }
}

void RunBar::setReplay(bool replay)
{
    if (std::exchange(m_replay, replay) == replay)
        return;
    for (QAction* action : {m_start, m_resume, m_pause, m_stop}) {
        if (replay) {
            removeAction(action);
            continue;
        }
        insertAction(m_export, action);
        if (QWidget* button = widgetForAction(action))
            button->setObjectName(action->objectName() + QStringLiteral("Button"));
    }
    if (!replay)
        hangStartOver();
}

void RunBar::setState(bool modelOpen, session::RunState state, bool canResume, bool tuned)
{
    m_modelOpen = modelOpen;
    m_state = state;
    m_canResume = canResume;
    if (std::exchange(m_tuned, tuned) != tuned)
        showTarget(); // tool tips
    enableActions();
}

void RunBar::setReadOnly(const QString& why)
{
    if (std::exchange(m_readOnly, why) == why)
        return;
    showTarget();
    for (QAction* action : {m_pause, m_stop, m_startOver})
        enableToWrite(*action, action->isEnabled(), why);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_device, m_budget})
        enableToWrite(*widget, widget->isEnabled(), why);
    enableActions();
}

void RunBar::setBudget(const QString& text)
{
    const QString wanted = text.isEmpty() ? usualBudget() : text;
    if (m_offersForRun) {
        m_wantedBudget = wanted;
        return;
    }
    const int offered = m_budget->findText(wanted);
    if (wanted.isEmpty() || offered >= 0)
        m_budget->setCurrentIndex(std::max(0, offered));
    else
        m_budget->setEditText(wanted);
}

/// For a run that goes on, what it may have more; else all that a run may have.
void RunBar::offerBudgets()
{
    const bool before = std::exchange(m_offersForRun, isActive());
    if (m_offersForRun && !before)
        m_wantedBudget = m_budget->currentText();
    const QStringList budgets = m_offersForRun
                                    ? QStringList{tr("+5 min"), tr("+20 min"), tr("+1 hour"), tr("until 18:00")}
                                    : QStringList{tr("2 min"),       tr("5 min"),
                                                  tr("20 min"),      tr("1 hour"),
                                                  tr("8 hours"),     tr("until 18:00"),
                                                  tr("1000 trials"), tr("until the last hour gained under 0.1 %")};
    const QString typed = before && !m_offersForRun ? m_wantedBudget : m_budget->currentText();
    m_budget->clear();
    m_budget->addItems(budgets);
    const int chosen = m_budget->findText(typed);
    if (chosen >= 0 || typed.isEmpty())
        m_budget->setCurrentIndex(std::max(0, chosen));
    else
        m_budget->setEditText(typed);
    int widest = 0;
    for (const QString& budget : budgets)
        widest = std::max(widest, m_budget->fontMetrics().horizontalAdvance(budget));
    m_budget->view()->setMinimumWidth(widest + 32);
}

bool RunBar::isActive() const
{
    return session::isActive(m_state);
}

void RunBar::enableActions()
{
    using session::RunState;
    const bool active = isActive(), writes = m_readOnly.isEmpty(), ours = active && writes;
    const bool tunes = m_modelOpen && !active && !m_replay && canMeasure() && writes;
    m_open->setEnabled(!ours);
    m_start->setEnabled(tunes);
    m_startOver->setEnabled(tunes && m_tuned);
    m_resume->setEnabled(tunes && m_canResume);
    m_pause->setEnabled(ours && m_state != RunState::Stopping);
    m_pause->setChecked(m_state == RunState::Pausing || m_state == RunState::Paused);
    m_stop->setEnabled(ours);
    m_export->setEnabled(m_modelOpen && !m_replay);
    m_target->setEnabled(!ours && !m_replay);
    m_device->setEnabled(!active && !m_replay && writes);
    m_budget->setEnabled(!m_replay && m_state != RunState::Stopping && writes);
    if (active != m_offersForRun)
        offerBudgets();
    // Where both can be done, both are called by what they do.
    const bool both = tunes && m_canResume;
    m_start->setText(m_tuned ? tr("Con&tinue tuning") : tr("&Start"));
    m_start->setIconText(withoutMnemonic(m_start->text()));
    m_resume->setText(both ? tr("Res&ume run") : tr("Res&ume"));
    m_resume->setIconText(withoutMnemonic(m_resume->text()));
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
    takeDevice(options);
    return options;
}

} // namespace lathe::ui
