#pragma once

#include "ui/models/pace.h"
#include "ui/pages/page.h"
#include "ui/views/latency_chart.h"

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
class QMenu;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class OverlayMenu;
class RoundModel;
class RunOverlays;
class Workspace;

/// Estimated and measured latency over the run's time, tasks' curves on demand, other runs beside it, and what is
/// likely to come. The view can be held while the run goes on.
class CurvesPage final : public Page
{
    Q_OBJECT

public:
    CurvesPage(Workspace& workspace, QWidget* parent);
    bool isFor(Occasion occasion) const override { return occasion == Occasion::RunStarted; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeWidgets();
    void connectChart();
    void retranslate();
    void update();
    void addNetwork(LatencyChart::Curves& curves) const;
    void addTasks(LatencyChart::Curves& curves) const;
    void addOverlays(LatencyChart::Curves& curves) const;
    std::vector<bool> shownTasks() const;
    void showAge();
    void fillMenu(QMenu& menu, const QString& key, int task);
    Workspace& m_workspace;
    RoundModel& m_rounds;
    RunOverlays* m_overlays = nullptr;
    Pace m_pace{[this] { update(); }};
    LatencyChart* m_chart = nullptr;
    QComboBox* m_tasks = nullptr;
    QToolButton *m_hold = nullptr, *m_add = nullptr, *m_logarithmic = nullptr;
    OverlayMenu* m_overlayMenu = nullptr;
    QLabel *m_summary = nullptr, *m_forecast = nullptr, *m_age = nullptr;
};

} // namespace lathe::ui
