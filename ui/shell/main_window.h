#pragma once

#include "core/session/session.h"

#include <QMainWindow>

QT_BEGIN_NAMESPACE
class QDockWidget;
class QLabel;
class QPlainTextEdit;
class QSortFilterProxyModel;
class QStackedWidget;
class QTabWidget;
class QTableView;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class GraphView;
class IssueModel;
class LatencyChart;
class RunBar;
class SessionBridge;
class StartPage;
class TaskModel;

/// The workbench: docks about a central view, wired to one SessionBridge.
class MainWindow final : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    /// A path of a model or project, or zoo:NAME. Not modal; problems become rows of the Issues dock.
    void openSource(const QString& source);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeDocks();
    void makeMenus();
    QDockWidget* addDock(const char* name, const QString& title, QWidget* content, Qt::DockWidgetArea area);
    void onOpened();
    void onEvents(const std::vector<session::Event>& events);
    void showTask(int task);
    void showNode(int node);
    void updateState();
    void updateStatus();
    void addIssue(const QString& code, const QString& where, const QString& text, int task = -1);
    void log(const QString& text);
    void remember(const QString& source);
    QString projectFor(const QString& source) const;
    void browseModel();
    void browseProject();

    SessionBridge* m_bridge = nullptr;
    TaskModel* m_tasks = nullptr;
    QSortFilterProxyModel* m_taskOrder = nullptr;
    IssueModel* m_issues = nullptr;
    RunBar* m_bar = nullptr;
    QStackedWidget* m_center = nullptr;
    StartPage* m_start = nullptr;
    QTabWidget* m_pages = nullptr;
    GraphView* m_graph = nullptr;
    LatencyChart* m_chart = nullptr;
    QTableView* m_taskTable = nullptr;
    QTableView* m_issueTable = nullptr;
    QTreeWidget* m_properties = nullptr;
    QPlainTextEdit* m_log = nullptr;
    QLabel* m_status = nullptr;
    QLabel* m_counts = nullptr;
    QByteArray m_defaultLayout;
    QString m_source;
    qint64 m_trials = 0, m_failed = 0;
    double m_runSeconds = 0, m_measuredMs = session::kUnknown, m_untunedMs = session::kUnknown;
    bool m_selecting = false; ///< guards the linked selection against echoes
};

} // namespace lathe::ui
