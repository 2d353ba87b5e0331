#pragma once

#include "ui/shell/page_registry.h"

#include <QObject>
#include <QStringList>

#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
class QDockWidget;
class QMainWindow;
class QStackedWidget;
class QTabWidget;
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class PaneBar;
class WindowActions;
class Workspace;
enum class Occasion;

/// Where the pages of the window stand: tabs in the middle, docks about them, all hidden beside the start page. Keeps
/// the layout between sessions, and named ones beside it.
class WindowLayout final : public QObject
{
    Q_OBJECT

public:
    /// Makes the pages; `window` owns them.
    WindowLayout(QMainWindow& window, Workspace& workspace, QWidget* start, std::span<const PageEntry> pages);

    /// What the pages bring.
    void addPageActions(WindowActions& actions);
    /// An action per page that shows it and gives it the focus, and one per dock that shows or hides it.
    void addActions(WindowActions& actions);
    /// Those of the docks, in the order of the pages.
    QList<QAction*> dockActions() const;

    bool atStart() const { return m_atStart; }
    void showStart();
    void showWork();
    /// Shows the page that is for this, and returns it. Null: none is.
    Page* showFor(Occasion occasion, bool focus);
    /// That of the tab in front, also behind the start page. Null: no page is a tab.
    QWidget* currentPage() const;

    /// Gives the focus to the next pane that is seen (the run bar, the middle, docks), or the one before.
    void focusPane(int direction);

    void restoreDefault();
    QStringList names() const;
    void save(const QString& name);
    void apply(const QString& name);
    void remove(const QString& name);

    /// Settings; load() after the window has its size.
    void load();
    void store();

private:
    struct Placed
    {
        PageEntry entry;
        Page* page = nullptr;
        QDockWidget* dock = nullptr; ///< null: it is a tab
    };
    /// Beside the start page only docks at the bottom can be shown: the window has nothing to say about no network.
    void show(const Placed& placed, bool focus);
    void arrange();
    /// One pane at the bottom at a time: the others are hidden, unless they float or stand elsewhere.
    void raiseAlone(QDockWidget* dock);
    /// From the strip at the bottom: shows the dock, or hides it if it is seen.
    void toggle(QDockWidget* dock);
    QDockWidget* firstDock(PagePlace place) const;
    static QString title(const Placed& placed);
    QMainWindow& m_window;
    QStackedWidget* m_center = nullptr;
    QTabWidget* m_tabs = nullptr;
    PaneBar* m_panes = nullptr;
    std::vector<Placed> m_pages;
    bool m_atStart = true;
    bool m_untouched = true; ///< the default layout was never shown: it is arranged for the window's size then
    QByteArray m_work; ///< the layout that the start page hides
};

} // namespace lathe::ui
