#pragma once

#include "core/session/events.h"
#include "core/session/history.h"
#include "core/session/project/stored_runs.h"
#include "ui/bridge/jobs.h"
#include "ui/pages/page.h"

#include <QTimer>

#include <functional>

QT_BEGIN_NAMESPACE
class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QProgressBar;
class QSplitter;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class EmptyState;
class HistoryReader;
class RecordDetailPage;
class RecordModel;
class RecordTable;
class ScatterPanel;
class TrialFilter;
class Workspace;

/// All trials of the project: filtered, ordered, exported; the selected one in full beside them.
class RecordsPage final : public Page
{
    Q_OBJECT

public:
    RecordsPage(Workspace& workspace, QWidget* parent);
    ~RecordsPage() override;

    void contribute(WindowActions& actions) override;
    bool isFor(Occasion occasion) const override { return occasion == Occasion::LogsImported; }
    RecordModel& model() const { return *m_model; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void makeTable();
    void makeDetail();
    void makeEmptyState();
    QWidget* makeFilterBar();
    void makeFilterFields(QWidget* bar);
    void makeFilterButtons(QWidget* bar);
    void retranslateFilterBar();
    void connectTable();
    void connectModel();
    void connectEdits();
    void connectWorkspace();
    void onOpened();
    void onClosed();
    void onEvents(const std::vector<session::Event>& events);
    void readNow();
    void readAgain();
    void remeasureSelected();
    void writeNote(); ///< on the current trial: gives its field the focus
    void readRuns(); ///< which the list can be restricted to
    void offerRuns();
    void fillMenu(QMenu& menu, int task, qint64 run);
    void applyFilter(); ///< from the widgets
    void showFilter(); ///< into the widgets
    void updateCount();
    void selectCurrent();
    void exportRows();
    void copyRows();
    void updateProjectNote();
    void arrange();
    void copyCommand(const QString& command);
    void copyRemeasureCommand();
    void copyExportCommand();
    void select(std::int64_t row);
    void followSelection();
    /// `then` gets the ids of the selected trials.
    void withSelected(std::size_t most, std::function<void(std::vector<session::TrialRow>)> then);
    QString taskName(int task) const;
    QStringList taskNames() const;

    Workspace& m_workspace;
    TrialFilter& m_filter;
    RecordModel* m_model = nullptr;
    RecordTable* m_table = nullptr;
    EmptyState* m_empty = nullptr;
    RecordDetailPage* m_detail = nullptr;
    ScatterPanel* m_scatter = nullptr;
    QSplitter *m_splitter = nullptr, *m_lists = nullptr;
    QBoxLayout* m_filterRow = nullptr; ///< one line, or two
    QComboBox *m_task = nullptr, *m_state = nullptr, *m_run = nullptr, *m_target = nullptr;
    QLineEdit *m_min = nullptr, *m_max = nullptr, *m_text = nullptr;
    QToolButton *m_clear = nullptr, *m_export = nullptr, *m_noted = nullptr, *m_again = nullptr, *m_chart = nullptr;
    QLabel *m_count = nullptr, *m_cause = nullptr, *m_projectNote = nullptr;
    HistoryReader* m_exporter = nullptr;
    JobLane m_runReader;
    std::vector<session::StoredRun> m_runs; ///< of the project, whatever their network and target
    QTimer m_typing, m_refresh;
    bool m_open = false; ///< the project's readers are
    bool m_stale = true; ///< the project has not been read since it was opened
    bool m_showing = false; ///< guards the filter's widgets against echoes
    std::int64_t m_kept = 0; ///< the project's row that was current before the list was read anew
    bool m_exporting = false;
};

} // namespace lathe::ui
