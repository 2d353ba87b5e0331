#pragma once

#include <QKeySequence>
#include <QList>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QAction;
class QCheckBox;
class QComboBox;
class QFormLayout;
class QHBoxLayout;
class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;

/// Language, appearance, notifications, what new projects start with, shortcuts. What is changed takes effect at once
/// and is remembered.
class SettingsPage final : public QWidget
{
    Q_OBJECT

public:
    SettingsPage(ActionCatalog& actions, QWidget* parent);

private:
    QFormLayout* makeGeneral();
    QHBoxLayout* makeKeys();
    void makeDefaults();
    void retranslate();
    QAction* current() const;
    void setKeys(const QList<QKeySequence>& keys);
    void fillShortcuts();
    void showKeys();
    ActionCatalog& m_actions;
    QComboBox* m_language = nullptr;
    QComboBox* m_appearance = nullptr;
    QTreeWidget* m_shortcuts = nullptr;
    QKeySequenceEdit* m_keys = nullptr;
    QLineEdit* m_budget = nullptr;
    QComboBox* m_headStart = nullptr;
    QLabel *m_budgetLabel = nullptr, *m_headStartLabel = nullptr;
    QCheckBox *m_notify = nullptr, *m_askClosing = nullptr;
    QPushButton *m_clear = nullptr, *m_restore = nullptr;
    QLabel *m_languageLabel = nullptr, *m_appearanceLabel = nullptr, *m_shortcutsLabel = nullptr,
           *m_keysLabel = nullptr, *m_clash = nullptr;
};

} // namespace lathe::ui
