#include "ui/pages/curves_page.h"

#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/hold_button.h"
#include "ui/views/latency_chart.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::ui {

namespace {

// Places in the choice of tasks' curves; the first is none.
constexpr int kSelectedTask = 1, kLargestTasks = 2, kAllTasks = 3;
constexpr std::size_t kLargest = 5;
constexpr int kAgeMs = 500;

} // namespace

CurvesPage::CurvesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
    , m_rounds(RoundModel::of(workspace))
{
    setObjectName(QStringLiteral("curvesPage"));
    m_chart = new LatencyChart(this);
    m_chart->setObjectName(QStringLiteral("latencyChart"));
    auto* logarithmic = new QCheckBox(this);
    logarithmic->setObjectName(QStringLiteral("chartLogarithmic"));
    m_tasks = new QComboBox(this);
    m_tasks->setObjectName(QStringLiteral("chartTasks"));
    m_hold = new HoldButton(m_rounds, "chartHold", this);
    m_age = new QLabel(this);
    m_age->setObjectName(QStringLiteral("chartAge"));
    m_forecast = new QLabel(this);
    m_forecast->setObjectName(QStringLiteral("chartForecast"));
    m_forecast->setWordWrap(true);
    auto* summary = new QLabel(m_chart->summary(), this);
    summary->setObjectName(QStringLiteral("chartSummary"));
    summary->setWordWrap(true);
    auto* row = new QHBoxLayout;
    row->addWidget(summary, 1);
    row->addWidget(m_age);
    row->addWidget(m_tasks);
    row->addWidget(logarithmic);
    row->addWidget(m_hold);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_chart, 1);
    layout->addWidget(m_forecast);
    layout->addLayout(row);
    auto* age = new QTimer(this);
    age->setInterval(kAgeMs);
    age->start();
    connect(age, &QTimer::timeout, this, &CurvesPage::showAge);
    connect(logarithmic, &QCheckBox::toggled, m_chart, &LatencyChart::setLogarithmic);
    connect(m_chart, &LatencyChart::summaryChanged, summary, &QLabel::setText);
    connect(&m_rounds, &RoundModel::changed, &m_pace, &Pace::ask);
    connect(m_tasks, &QComboBox::currentIndexChanged, this, &CurvesPage::update);
    connect(&m_workspace.selection(), &Selection::changed, this, [this] {
        if (m_tasks->currentIndex() == kSelectedTask)
            update();
    });
    connect(&m_rounds, &RoundModel::heldChanged, this, &CurvesPage::showAge);
    retranslated(this, [this, logarithmic] {
        logarithmic->setText(tr("&Logarithmic"));
        m_tasks->setAccessibleName(tr("Curves of tasks"));
        m_tasks->setToolTip(tr("Latency of tasks, times their weight, beside that of the network"));
        const QSignalBlocker blocker(m_tasks);
        const int current = std::max(0, m_tasks->currentIndex());
        m_tasks->clear();
        m_tasks->addItems({tr("no tasks"), tr("selected task"), tr("largest tasks"), tr("all tasks")});
        m_tasks->setCurrentIndex(current);
        update();
        showAge();
    });
}

void CurvesPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

void CurvesPage::showAge()
{
    m_age->setText(m_hold->isChecked() ? tr("held") : ageText(m_workspace.dataAge()));
}

void CurvesPage::update()
{
    if (!isVisible())
        return; // it is brought up to date when it shows
    m_pace.called();
    LatencyChart::Curves curves;
    curves.seconds = m_rounds.seconds();
    curves.untunedMs = m_rounds.untunedMs();
    for (const RoundModel::Measured& measured : m_rounds.measured())
        curves.measured << QPointF(measured.atSeconds, measured.ms);
    for (const RoundModel::Band& band : m_rounds.band()) {
        curves.low << QPointF(band.atSeconds, band.low);
        curves.high << QPointF(band.atSeconds, band.high);
    }
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        if (std::isfinite(round.estimateMs))
            curves.estimate << QPointF(round.atSeconds, round.estimateMs);
        if (std::isfinite(round.tasksMs) && round.tasksMs != round.estimateMs) // else there is nothing to tell apart
            curves.tasksSum << QPointF(round.atSeconds, round.tasksMs);
    }
    for (const RoundModel::Finals& finals : m_rounds.finals())
        if (std::isfinite(finals.ms)) { // as they say: the line may go up
            const auto later = std::upper_bound(curves.estimate.begin(), curves.estimate.end(), finals.atSeconds,
                                                [](double at, const QPointF& point) { return at < point.x(); });
            curves.estimate.insert(later, QPointF(finals.atSeconds, finals.ms));
        }
    const auto tasks = static_cast<std::size_t>(m_workspace.tasks().rowCount());
    std::vector<bool> shown(tasks, m_tasks->currentIndex() == kAllTasks);
    if (const int selected = m_workspace.selection().current().task;
        m_tasks->currentIndex() == kSelectedTask && selected >= 0 && static_cast<std::size_t>(selected) < tasks)
        shown[static_cast<std::size_t>(selected)] = true;
    if (m_tasks->currentIndex() == kLargestTasks) {
        std::vector<std::size_t> order(tasks);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto size = [this](std::size_t i) {
            const session::TaskView& task = m_workspace.tasks().task(static_cast<int>(i));
            return std::isfinite(task.bestMs) ? task.bestMs * task.weight : 0.0;
        };
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
        for (std::size_t i = 0; i < std::min(kLargest, tasks); ++i)
            shown[order[i]] = true;
    }
    std::vector<LatencyChart::TaskCurve> byTask(tasks);
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        if (round.task < 0 || static_cast<std::size_t>(round.task) >= tasks
            || !shown[static_cast<std::size_t>(round.task)] || !std::isfinite(round.bestMs))
            continue;
        auto& points = byTask[static_cast<std::size_t>(round.task)].points;
        const double ms = round.bestMs * m_workspace.tasks().task(round.task).weight;
        if (points.isEmpty() || ms < points.last().y())
            points << QPointF(round.atSeconds, ms);
    }
    for (std::size_t i = 0; i < tasks; ++i)
        if (!byTask[i].points.isEmpty()) {
            byTask[i].task = static_cast<int>(i);
            byTask[i].name = m_rounds.taskName(static_cast<int>(i));
            curves.tasks.push_back(std::move(byTask[i]));
        }
    m_chart->setCurves(std::move(curves));
    m_forecast->setText(m_rounds.forecast());
    m_forecast->setVisible(!m_forecast->text().isEmpty());
}

} // namespace lathe::ui
