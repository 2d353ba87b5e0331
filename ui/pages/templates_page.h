#pragma once

#include "core/session/template_trials.h"
#include "core/session/template_views.h"
#include "ui/bridge/jobs.h"
#include "ui/models/history_reader.h"
#include "ui/pages/page.h"

#include <optional>
#include <vector>

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
QT_END_NAMESPACE

namespace lathe::ui {

class EmptyState;
class KnobCostModel;
class KnobModel;
class ParallelView;
class Rereading;
class TableView;
class Workspace;

/// What templates make of the selected task: their space and knobs, the best configuration so far, whether a template
/// or the search won the task, all trials as lines through the knobs, and what each value of a knob costs.
class TemplatesPage final : public Page
{
    Q_OBJECT

public:
    TemplatesPage(Workspace& workspace, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeWidgets();
    void connectWorkspace();
    void connectViews();
    void retranslate();
    void onOpened();
    void onClosed();
    void showTask(int task);
    void look();
    bool read();
    void take(Result<session::TemplateHistory> read);
    void markSelected();
    void fillTemplates();
    void fillOrigins();
    void showWinner();
    void fill();
    void fillLines(const session::TemplateTrials* trials);
    void showKnob(int knob);
    QString emptyText() const;
    QString spaceText(const session::TemplateView& view) const;
    QString winnerText() const;
    QString bestText() const;
    QString otherTasksText(const session::TemplateView& view) const;
    const session::TemplateView* shownTemplate() const;
    const session::TemplateTrials* shownTrials() const;
    const session::TriedConfig* bestConfig() const;
    int origin() const;
    static QString originText(const std::string& target);

    Workspace& m_workspace;
    HistoryReader m_reader;
    JobLane m_jobs;
    Job m_looking; ///< for the templates of the network
    Job m_reading; ///< of the task's trials
    std::optional<std::vector<session::TemplateView>> m_templates; ///< of the network; nothing: not known yet
    session::TemplateHistory m_history; ///< of the task
    std::optional<Error> m_failure; ///< why the task's trials, or those of all, cannot be read
    Rereading* m_reads = nullptr;
    int m_task = -1;
    int m_knob = 0;
    bool m_isPicked = false; ///< somebody chose the template of this task
    bool m_isRead = false; ///< m_history is
    QComboBox *m_template = nullptr, *m_origin = nullptr;
    QLabel *m_space = nullptr, *m_winner = nullptr, *m_best = nullptr, *m_costTitle = nullptr;
    QWidget* m_details = nullptr;
    EmptyState* m_noCosts = nullptr;
    ParallelView* m_lines = nullptr;
    TableView *m_knobs = nullptr, *m_costs = nullptr;
    KnobModel* m_knobModel = nullptr;
    KnobCostModel* m_costModel = nullptr;
};

} // namespace lathe::ui
