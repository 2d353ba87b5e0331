#pragma once

#include "ui/bridge/jobs.h"
#include "ui/models/compare_model.h"
#include "ui/pages/page.h"

#include <QTimer>

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

/// The open project held against pinned baselines (projects, runs, dates, devices): as a whole, task by task, condition
/// by condition, and program by program. Baselines are remembered with the project.
class ComparePage final : public Page
{
    Q_OBJECT

public:
    ComparePage(Workspace& workspace, QWidget* parent);
    ~ComparePage() override;

    /// Pins what session::parseBaseline() reads, a project file among it.
    void compareWith(const QString& baseline);
    QString command() const; ///< what does the same in a terminal
    void contribute(WindowActions& actions) override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Standings
    {
        std::shared_ptr<const Compared> compared; ///< null: the project cannot be read
        std::vector<session::RunChoice> runs = {};
        std::vector<session::DeviceChoice> devices = {};
        std::vector<session::Baseline> unreadable = {};
        QStringList problems = {};
    };
    static Standings readStandings(const std::filesystem::path& project,
                                   const std::vector<session::Baseline>& baselines, const std::stop_token& stop);
    void makeTables();
    void pin(const session::Baseline& baseline);
    void browse();
    void addDate();
    void removeSelected();
    void restore(); ///< the baselines of the project that was opened
    void store() const;
    void read();
    void fill(Standings read);
    void fillRuns(const std::vector<session::RunChoice>& runs);
    void fillDevices(const std::vector<session::DeviceChoice>& devices);
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
    QPushButton *m_run = nullptr, *m_device = nullptr;
    QMenu *m_runs = nullptr, *m_devices = nullptr;
    QLabel *m_summary = nullptr, *m_problem = nullptr;
    QTimer m_refresh;
    JobLane m_jobs;
    Job m_reading;
};

} // namespace lathe::ui
