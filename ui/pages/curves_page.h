#pragma once

#include "core/session/events.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QLabel;
QT_END_NAMESPACE

namespace lathe::ui {

class LatencyChart;
class Workspace;

/// Estimated and measured latency over the run's time.
class CurvesPage final : public QWidget
{
    Q_OBJECT

public:
    CurvesPage(Workspace& workspace, QWidget* parent);

private:
    void onEvents(const std::vector<session::Event>& events);
    LatencyChart* m_chart = nullptr;
};

} // namespace lathe::ui
