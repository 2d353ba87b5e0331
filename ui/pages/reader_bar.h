#pragma once

#include <QToolBar>

QT_BEGIN_NAMESPACE
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// Says who writes to the project that this window follows, and offers to take over once that one has ended. Seen only
/// while a project is followed.
class ReaderBar final : public QToolBar
{
    Q_OBJECT

public:
    ReaderBar(Workspace& workspace, QWidget* parent);

    /// Shows or hides it; a layout may have said otherwise.
    void updateVisible();

signals:
    void takeOverRequested();

private:
    void fill();
    Workspace& m_workspace;
    QLabel* m_text = nullptr;
    QToolButton* m_takeOver = nullptr;
};

} // namespace lathe::ui
