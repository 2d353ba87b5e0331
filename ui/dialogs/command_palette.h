#pragma once

#include <QDialog>
#include <QPointer>

#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
class QLineEdit;
class QListWidget;
QT_END_NAMESPACE

namespace lathe::ui {

/// Every command by a few letters of its name: type, choose with the arrows, Enter runs it, Escape leaves.
class CommandPalette final : public QDialog
{
    Q_OBJECT

public:
    CommandPalette(const std::vector<QAction*>& actions, QWidget* parent);

    /// How well a name fits what was typed: the letters in order, better at the beginnings of words; -1: not at all.
    static int score(const QString& typed, const QString& name);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill(const QString& typed);
    void run();
    std::vector<QPointer<QAction>> m_actions;
    QLineEdit* m_typed = nullptr;
    QListWidget* m_list = nullptr;
};

} // namespace lathe::ui
