#pragma once

#include "ui/models/compare_model.h"

#include <QTimer>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
class QMenu;
class QPushButton;
class QTabWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class ProgramComparison;
class TableView;
class Workspace;

/// The open project held against pinned baselines (projects, runs, dates): as a whole, task by task, condition by condition, and
/// program by program. Baselines are remembered with the project.
class ComparePage final : public QWidget
{
    Q_OBJECT

public:
    ComparePage(Workspace& workspace, QWidget* parent);
    ~ComparePage() override;

    /// Pins what session::parseBaseline() reads, a project file among it.
    void compareWith(const QString& baseline);
    QString command() const; ///< what does the same in a terminal

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeTables();
    void pin(const session::Baseline& baseline);
    void browse();
    void addDate();
    void removeSelected();
    void restore(); ///< the baselines of the project that was opened
    void store() const;
    void read();
    void fill(std::shared_ptr<const Compared> compared, const std::vector<session::RunChoice>& runs, const QStringList& problems);
    void fillRuns(const std::vector<session::RunChoice>& runs);
    void selectTask();
    void retranslate();

    Workspace& m_workspace;
    std::vector<session::Baseline> m_baselines, m_unreadable;
    std::shared_ptr<const Compared> m_compared;
    StandingModel* m_standings = nullptr;
    CompareModel* m_tasks = nullptr;
    ConditionModel* m_conditions = nullptr;
    TableView *m_standingTable = nullptr, *m_taskTable = nullptr, *m_conditionTable = nullptr;
    ProgramComparison* m_programs = nullptr;
    QTabWidget* m_tabs = nullptr;
    QPushButton *m_choose = nullptr, *m_date = nullptr, *m_remove = nullptr, *m_copy = nullptr;
    QPushButton* m_run = nullptr;
    QMenu* m_runs = nullptr;
    QLabel *m_summary = nullptr, *m_problem = nullptr;
    QTimer m_refresh;
    bool m_reading = false, m_again = false;
};

} // namespace lathe::ui
