#include "ui/pages/curves_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/workspace.h"
#include "ui/views/latency_chart.h"

#include <QCheckBox>
#include <QLabel>
#include <QVBoxLayout>

namespace lathe::ui {

CurvesPage::CurvesPage(Workspace& workspace, QWidget* parent) : QWidget(parent)
{
    m_chart = new LatencyChart(this);
    m_chart->setObjectName(QStringLiteral("latencyChart"));
    auto* logarithmic = new QCheckBox(this);
    logarithmic->setObjectName(QStringLiteral("chartLogarithmic"));
    auto* summary = new QLabel(m_chart->summary(), this);
    summary->setObjectName(QStringLiteral("chartSummary"));
    summary->setWordWrap(true);
    auto* row = new QHBoxLayout;
    row->addWidget(summary, 1);
    row->addWidget(logarithmic);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_chart, 1);
    layout->addLayout(row);
    retranslated(logarithmic, [logarithmic] { logarithmic->setText(tr("&Logarithmic")); });
    connect(logarithmic, &QCheckBox::toggled, m_chart, &LatencyChart::setLogarithmic);
    connect(m_chart, &LatencyChart::summaryChanged, summary, &QLabel::setText);
    connect(&workspace.bridge(), &SessionBridge::opened, m_chart, &LatencyChart::clear);
    connect(&workspace, &Workspace::runCleared, m_chart, &LatencyChart::clear);
    connect(&workspace.bridge(), &SessionBridge::eventsArrived, this, &CurvesPage::onEvents);
}

void CurvesPage::onEvents(const std::vector<session::Event>& events)
{
    for (const session::Event& event : events) {
        if (const auto* estimate = std::get_if<session::EstimateEvent>(&event.what))
            m_chart->addEstimate(event.atSeconds, estimate->ms);
        else if (const auto* measured = std::get_if<session::MeasuredEvent>(&event.what)) {
            if (measured->untuned)
                m_chart->setBaseline(measured->ms);
            else
                m_chart->addMeasured(event.atSeconds, measured->ms);
        }
    }
}

} // namespace lathe::ui
