#pragma once

#include <QObject>
#include <QStringList>

#include <map>
#include <string>
#include <string_view>

QT_BEGIN_NAMESPACE
class QDockWidget;
class QMainWindow;
class QStackedWidget;
class QTabWidget;
class QWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class ActionCatalog;
class Workspace;

/// Where the pages of the window stand: tabs in the middle, docks about them, all hidden beside the start page. Keeps the
/// layout between sessions, and named ones beside it.
class WindowLayout final : public QObject
{
    Q_OBJECT

public:
    /// Makes all pages of the registry; `window` owns them.
    WindowLayout(QMainWindow& window, Workspace& workspace, QWidget* start);

    /// An action per page that shows it and gives it the focus, and one per dock that shows or hides it.
    void addActions(ActionCatalog& actions);

    bool atStart() const { return m_atStart; }
    void showStart();
    void showWork();
    /// Beside the start page only docks at the bottom can be shown: the window has nothing to say about no network.
    void showPage(std::string_view id, bool focus = true);
    QWidget* page(std::string_view id) const;
    /// That of the tab in front, also behind the start page.
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
    void arrange();
    QMainWindow& m_window;
    QStackedWidget* m_center = nullptr;
    QTabWidget* m_tabs = nullptr;
    std::map<std::string, QDockWidget*, std::less<>> m_docks;
    std::map<std::string, QWidget*, std::less<>> m_pages;
    bool m_atStart = true;
    QByteArray m_work; ///< the layout that the start page hides
};

} // namespace lathe::ui
