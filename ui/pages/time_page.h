#pragma once

#include "ui/models/pace.h"
#include "ui/pages/page.h"

QT_BEGIN_NAMESPACE
class QLabel;
class QTreeWidget;
QT_END_NAMESPACE

namespace lathe::ui {

class BandChart;
class RoundModel;
class Workspace;

/// Where the time of the latest run goes (core/session/time_spent.h): activities as bands over time and in sum, and
/// beside them what builders and devices did.
class TimePage final : public Page
{
    Q_OBJECT

public:
    TimePage(Workspace& workspace, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void update();
    RoundModel& m_rounds;
    Pace m_pace{[this] { update(); }};
    BandChart* m_chart = nullptr;
    QTreeWidget* m_sums = nullptr;
    QTreeWidget* m_workers = nullptr;
    QLabel* m_hint = nullptr;
};

} // namespace lathe::ui
