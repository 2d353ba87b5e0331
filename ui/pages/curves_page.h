#pragma once

#include "ui/models/pace.h"
#include "ui/pages/page.h"

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class LatencyChart;
class RoundModel;
class Workspace;

/// Estimated and measured latency over the run's time, tasks' curves on demand, and what is likely to come. The view
/// can be held while the run goes on.
class CurvesPage final : public Page
{
    Q_OBJECT

public:
    CurvesPage(Workspace& workspace, QWidget* parent);
    bool isFor(Occasion occasion) const override { return occasion == Occasion::RunStarted; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    void update();
    void showAge();
    Workspace& m_workspace;
    RoundModel& m_rounds;
    Pace m_pace{[this] { update(); }};
    LatencyChart* m_chart = nullptr;
    QComboBox* m_tasks = nullptr;
    QToolButton* m_hold = nullptr;
    QLabel *m_forecast = nullptr, *m_age = nullptr;
};

} // namespace lathe::ui
