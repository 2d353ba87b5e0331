#pragma once

#include <QWidget>

QT_BEGIN_NAMESPACE
class QComboBox;
class QKeySequenceEdit;
class QLabel;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;

/// Language, appearance, notifications, shortcuts. What is changed takes effect at once and is remembered.
class SettingsPage final : public QWidget
{
    Q_OBJECT

public:
    SettingsPage(ActionCatalog& actions, QWidget* parent);

private:
    void fillShortcuts();
    void showKeys();
    ActionCatalog& m_actions;
    QComboBox* m_language = nullptr;
    QComboBox* m_appearance = nullptr;
    QTreeWidget* m_shortcuts = nullptr;
    QKeySequenceEdit* m_keys = nullptr;
    QLabel* m_clash = nullptr;
};

} // namespace lathe::ui
