#pragma once

#include "ui/models/pace.h"
#include "ui/pages/page.h"

QT_BEGIN_NAMESPACE
class QLabel;
QT_END_NAMESPACE

namespace lathe::ui {

class BandChart;
class RoundModel;
class TableView;
class Workspace;

/// Which task got the trials of each round, and why: a band over time and the rounds, newest first.
class SchedulerPage final : public Page
{
    Q_OBJECT

public:
    SchedulerPage(Workspace& workspace, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void update();
    void showCurrent();
    Workspace& m_workspace;
    RoundModel& m_rounds;
    Pace m_pace{[this] { update(); }};
    BandChart* m_chart = nullptr;
    TableView* m_table = nullptr;
    QLabel *m_summary = nullptr, *m_why = nullptr;
};

} // namespace lathe::ui
