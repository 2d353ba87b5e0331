#pragma once

#include <QMenu>

namespace lathe::ui {

/// Where a run begins: with what is installed for the target, with a file, from nothing. It belongs to the project that
/// is open; while none is, it is the settings' default.
class HeadStartMenu final : public QMenu
{
    Q_OBJECT

public:
    explicit HeadStartMenu(QWidget* parent);

    QString choice() const { return m_choice; } ///< as TuneOptions::headStart
    void setChoice(const QString& choice); ///< of the project
    void choose(const QString& choice); ///< by hand
    void setTarget(const QString& target); ///< what is installed depends on it

signals:
    void chosen(const QString& choice);

private:
    void showChoice();
    QString m_choice, m_target;
    QAction *m_installed = nullptr, *m_none = nullptr, *m_file = nullptr, *m_browse = nullptr;
};

} // namespace lathe::ui
