#pragma once

#include <QToolBar>

QT_BEGIN_NAMESPACE
class QAction;
class QDockWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class Page;

/// The strip at the bottom of the window: a button for each page that docks there, with how many entries it has. A click
/// opens that page alone, a click on the open one closes it, so that what is empty takes no room.
class PaneBar final : public QToolBar
{
    Q_OBJECT

public:
    explicit PaneBar(QWidget* parent);

    /// `title` in the context "Pages".
    void add(const char* id, const char* title, Page& page, QDockWidget& dock);

signals:
    /// Its button was clicked: show the page of this dock, or, if it is seen, hide it.
    void chosen(QDockWidget* dock);

private:
    void follow(QAction* button, const QDockWidget& dock);
};

} // namespace lathe::ui
