#include "ui/pages/settings_page.h"

#include "core/session/head_start.h"
#include "core/session/options/budget_text.h"
#include "ui/commands/action_catalog.h"
#include "ui/models/core_text.h"
#include "ui/models/language.h"
#include "ui/models/notice_settings.h"
#include "ui/models/run_defaults.h"
#include "ui/models/texts.h"
#include "ui/views/appearance.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace lathe::ui {

SettingsPage::SettingsPage(ActionCatalog& actions, QWidget* parent)
    : QWidget(parent)
    , m_actions(actions)
{
    setObjectName(QStringLiteral("settingsPage"));
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(makeGeneral());
    m_shortcuts = new QTreeWidget(this);
    m_shortcuts->setObjectName(QStringLiteral("settingsShortcuts"));
    m_shortcuts->setRootIsDecorated(false);
    m_shortcuts->setUniformRowHeights(true);
    m_shortcuts->setAlternatingRowColors(true);
    m_shortcuts->setMinimumHeight(90);
    auto* keys = makeKeys();
    m_clash = new QLabel(this);
    m_clash->setWordWrap(true);
    m_shortcutsLabel = new QLabel(this);
    m_shortcutsLabel->setBuddy(m_shortcuts);
    layout->addWidget(m_shortcutsLabel);
    layout->addWidget(m_shortcuts, 1);
    layout->addLayout(keys);
    layout->addWidget(m_clash);
    retranslated(this, [this] { retranslate(); });
    m_shortcuts->header()->resizeSection(0, 300);
    connect(m_shortcuts, &QTreeWidget::currentItemChanged, this, &SettingsPage::showKeys);
}

QFormLayout* SettingsPage::makeGeneral()
{
    m_language = new QComboBox(this);
    m_language->setObjectName(QStringLiteral("settingsLanguage"));
    m_language->addItem(QString(), QString());
    m_language->addItem(QStringLiteral("English"), QStringLiteral("en"));
    m_language->addItem(QStringLiteral("简体中文"), QStringLiteral("zh_CN"));
    m_language->setCurrentIndex(std::max(0, m_language->findData(Language::stored())));
    m_appearance = new QComboBox(this);
    m_appearance->setObjectName(QStringLiteral("settingsAppearance"));
    for (const Appearance appearance : {Appearance::System, Appearance::Light, Appearance::Dark})
        m_appearance->addItem(QString(), static_cast<int>(appearance));
    const auto showAppearance = [this] {
        m_appearance->setCurrentIndex(m_appearance->findData(static_cast<int>(storedAppearance())));
    };
    showAppearance();
    connect(&AppearanceWatch::instance(), &AppearanceWatch::changed, this, showAppearance);
    m_notify = new QCheckBox(this);
    m_notify->setObjectName(QStringLiteral("settingsNotify"));
    m_notify->setChecked(noticesWanted());
    connect(m_notify, &QCheckBox::toggled, this, &setNoticesWanted);
    m_askClosing = new QCheckBox(this);
    m_askClosing->setObjectName(QStringLiteral("settingsAskClosing"));
    m_askClosing->setChecked(closingIsAskedAbout());
    connect(m_askClosing, &QCheckBox::toggled, this, &setClosingIsAskedAbout);
    connect(m_language, &QComboBox::activated, this,
            [this](int index) { Language::instance().set(m_language->itemData(index).toString()); });
    connect(m_appearance, &QComboBox::activated, this,
            [this](int index) { applyAppearance(static_cast<Appearance>(m_appearance->itemData(index).toInt())); });
    m_languageLabel = new QLabel(this);
    m_languageLabel->setBuddy(m_language);
    m_appearanceLabel = new QLabel(this);
    m_appearanceLabel->setBuddy(m_appearance);
    makeDefaults();
    auto* form = new QFormLayout;
    form->addRow(m_languageLabel, m_language);
    form->addRow(m_appearanceLabel, m_appearance);
    form->addRow(QString(), m_notify);
    form->addRow(QString(), m_askClosing);
    form->addRow(m_budgetLabel, m_budget);
    form->addRow(m_headStartLabel, m_headStart);
    return form;
}

/// What runs of a new project start with.
void SettingsPage::makeDefaults()
{
    m_budget = new QLineEdit(usualBudget(), this);
    m_budget->setObjectName(QStringLiteral("settingsBudget"));
    connect(m_budget, &QLineEdit::editingFinished, this, [this] {
        session::TuneOptions unused;
        const QString text = m_budget->text().trimmed();
        const auto good = text.isEmpty() ? Result<>()
                                         : session::applyBudget(text.toStdString(), session::localTime(), unused);
        m_clash->setText(good ? QString() : errorText(good.error()));
        if (good)
            setUsualBudget(text);
    });
    m_headStart = new QComboBox(this);
    m_headStart->setObjectName(QStringLiteral("settingsHeadStart"));
    m_headStart->addItem(QString(), QString());
    m_headStart->addItem(QString(), QString::fromUtf8(session::kNoHeadStart.data()));
    if (const QString usual = usualHeadStart(); m_headStart->findData(usual) < 0) // a file
        m_headStart->addItem(usual, usual);
    m_headStart->setCurrentIndex(m_headStart->findData(usualHeadStart()));
    connect(m_headStart, &QComboBox::activated, this,
            [this](int index) { setUsualHeadStart(m_headStart->itemData(index).toString()); });
    m_budgetLabel = new QLabel(this);
    m_budgetLabel->setBuddy(m_budget);
    m_headStartLabel = new QLabel(this);
    m_headStartLabel->setBuddy(m_headStart);
}

QHBoxLayout* SettingsPage::makeKeys()
{
    m_keys = new QKeySequenceEdit(this);
    m_keys->setObjectName(QStringLiteral("settingsKeys"));
    m_clear = new QPushButton(this);
    m_restore = new QPushButton(this);
    m_restore->setObjectName(QStringLiteral("settingsDefaultKeys"));
    m_keysLabel = new QLabel(this);
    m_keysLabel->setBuddy(m_keys);
    connect(m_keys, &QKeySequenceEdit::editingFinished, this, [this] {
        if (!m_keys->keySequence().isEmpty())
            setKeys({m_keys->keySequence()});
    });
    connect(m_clear, &QPushButton::clicked, this, [this] { setKeys({}); });
    connect(m_restore, &QPushButton::clicked, this, [this] {
        if (const QAction* action = current())
            setKeys(m_actions.defaultKeys(action));
    });
    auto* row = new QHBoxLayout;
    row->addWidget(m_keysLabel);
    row->addWidget(m_keys, 1);
    row->addWidget(m_clear);
    row->addWidget(m_restore);
    return row;
}

void SettingsPage::retranslate()
{
    m_askClosing->setText(tr("As&k before closing the window during a run"));
    m_notify->setText(tr("&Notify me when a run ends"));
    m_language->setItemText(0, tr("Same as the system"));
    m_language->setCurrentIndex(std::max(0, m_language->findData(Language::stored())));
    for (int i = 0; i < m_appearance->count(); ++i)
        m_appearance->setItemText(i, appearanceName(static_cast<Appearance>(m_appearance->itemData(i).toInt())));
    m_budgetLabel->setText(tr("&Budget of new projects:"));
    m_budget->setPlaceholderText(tr("2 min"));
    m_headStartLabel->setText(tr("New projects start &with:"));
    m_headStart->setItemText(0, tr("The installed head start"));
    m_headStart->setItemText(1, tr("Nothing"));
    m_languageLabel->setText(tr("&Language:"));
    m_appearanceLabel->setText(tr("&Appearance:"));
    m_shortcutsLabel->setText(tr("&Shortcuts:"));
    m_keysLabel->setText(tr("&Keys:"));
    m_clear->setText(tr("&Remove"));
    m_restore->setText(tr("&Default"));
    m_shortcuts->setHeaderLabels({tr("Command"), tr("Keys")});
    m_shortcuts->setAccessibleName(tr("Commands and their shortcuts"));
    m_keys->setAccessibleName(tr("Keys of the selected command"));
    fillShortcuts();
}

/// The action that is chosen in the list; null: none is.
QAction* SettingsPage::current() const
{
    const QTreeWidgetItem* item = m_shortcuts->currentItem();
    return item == nullptr ? nullptr : m_actions.find(item->data(0, Qt::UserRole).toString());
}

void SettingsPage::setKeys(const QList<QKeySequence>& keys)
{
    QAction* action = current();
    if (action == nullptr || action->shortcuts() == keys)
        return;
    QStringList taken;
    for (const QAction* other : m_actions.setKeys(action, keys))
        taken << withoutMnemonic(other->text());
    m_clash->setText(taken.isEmpty() ? QString() : tr("Taken from: %1").arg(taken.join(QStringLiteral(", "))));
    const QString id = action->objectName();
    fillShortcuts();
    for (int i = 0; i < m_shortcuts->topLevelItemCount(); ++i)
        if (m_shortcuts->topLevelItem(i)->data(0, Qt::UserRole).toString() == id)
            m_shortcuts->setCurrentItem(m_shortcuts->topLevelItem(i));
}

void SettingsPage::fillShortcuts()
{
    const QSignalBlocker quiet(m_shortcuts);
    m_shortcuts->clear();
    for (const QAction* action : m_actions.all()) {
        auto* item = new QTreeWidgetItem(m_shortcuts,
                                         {withoutMnemonic(action->text()),
                                          QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText)});
        item->setData(0, Qt::UserRole, action->objectName());
    }
}

void SettingsPage::showKeys()
{
    const QAction* action = current();
    const QSignalBlocker quiet(m_keys);
    m_keys->setKeySequence(action == nullptr ? QKeySequence() : action->shortcut());
}

} // namespace lathe::ui
