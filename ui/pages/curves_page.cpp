#include "ui/pages/curves_page.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/run_overlays.h"
#include "ui/models/selection.h"
#include "ui/models/task_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/hold_button.h"
#include "ui/pages/overlay_menu.h"
#include "ui/pages/task_actions.h"
#include "ui/views/elided_label.h"
#include "ui/views/spacing.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QSettings>
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
constexpr qsizetype kMostHidden = 300; ///< lines whose being hidden is remembered
const QString kHiddenKey = QStringLiteral("curves/hidden");

QList<QPointF> pointsOf(const std::vector<std::pair<double, double>>& pairs)
{
    QList<QPointF> points;
    points.reserve(static_cast<qsizetype>(pairs.size()));
    for (const auto& [x, y] : pairs)
        points << QPointF(x, y);
    return points;
}

} // namespace

CurvesPage::CurvesPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
    , m_rounds(RoundModel::of(workspace))
    , m_overlays(new RunOverlays(this))
{
    setObjectName(QStringLiteral("curvesPage"));
    makeWidgets();
    connectChart();
    auto* age = new QTimer(this);
    age->setInterval(kAgeMs);
    age->start();
    connect(age, &QTimer::timeout, this, &CurvesPage::showAge);
    connect(&m_rounds, &RoundModel::changed, &m_pace, &Pace::ask);
    connect(&m_rounds, &RoundModel::heldChanged, this, &CurvesPage::showAge);
    connect(m_tasks, &QComboBox::currentIndexChanged, this, &CurvesPage::update);
    connect(&m_workspace.selection(), &Selection::changed, this, [this] {
        if (m_tasks->currentIndex() == kSelectedTask)
            update();
    });
    connect(m_overlays, &RunOverlays::changed, this, &CurvesPage::update);
    connect(m_overlays, &RunOverlays::failed, this,
            [this](const QString& project, const Error& error) { m_workspace.addIssue(project, error); });
    const auto takeProject = [this] {
        const session::TuningSession* const session = m_workspace.session();
        m_overlays->setProject(session != nullptr ? QString::fromStdString(session->options().project.string())
                                                  : QString());
    };
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, takeProject);
    takeProject();
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this,
            [this](const std::vector<session::Event>& events) {
                for (const session::Event& event : events)
                    if (const auto* begun = std::get_if<session::RunBegunEvent>(&event.what))
                        m_overlays->keepRunBefore(begun->run);
            });
    retranslated(this, [this] { retranslate(); });
}

void CurvesPage::makeWidgets()
{
    m_chart = new LatencyChart(this);
    m_chart->setObjectName(QStringLiteral("latencyChart"));
    const QStringList hidden = QSettings().value(kHiddenKey).toStringList();
    m_chart->setHidden(QSet<QString>(hidden.begin(), hidden.end()));
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("chartSummary"));
    m_summary->setWordWrap(true); // in a narrow window it takes two lines; nothing of it is cut
    m_age = new QLabel(this);
    m_age->setObjectName(QStringLiteral("chartAge"));
    m_forecast = new ElidedLabel(this);
    m_forecast->setObjectName(QStringLiteral("chartForecast"));
    m_forecast->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_tasks = new QComboBox(this);
    m_tasks->setObjectName(QStringLiteral("chartTasks"));
    m_add = new QToolButton(this);
    m_add->setObjectName(QStringLiteral("chartAdd"));
    m_add->setPopupMode(QToolButton::InstantPopup);
    m_overlayMenu = new OverlayMenu(m_workspace, *m_overlays, this);
    m_add->setMenu(m_overlayMenu);
    m_logarithmic = new QToolButton(this);
    m_logarithmic->setObjectName(QStringLiteral("chartLogarithmic"));
    m_logarithmic->setCheckable(true);
    m_hold = new HoldButton(m_rounds, "chartHold", this);
    auto* told = new QHBoxLayout;
    told->addWidget(m_forecast, 1);
    told->addWidget(m_age);
    auto* row = new QHBoxLayout;
    row->addWidget(m_tasks);
    row->addWidget(m_add);
    row->addStretch();
    row->addWidget(m_logarithmic);
    row->addWidget(m_hold);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kMedium, spacing::kMedium, spacing::kMedium, spacing::kMedium);
    layout->setSpacing(spacing::kSmall);
    layout->addWidget(m_summary);
    layout->addWidget(m_chart, 1);
    layout->addLayout(told);
    layout->addLayout(row);
}

void CurvesPage::connectChart()
{
    connect(m_logarithmic, &QToolButton::toggled, m_chart, &LatencyChart::setLogarithmic);
    connect(m_chart, &LatencyChart::logarithmicChanged, m_logarithmic, &QToolButton::setChecked);
    connect(m_chart, &LatencyChart::summaryChanged, this, [this](const QString& text) {
        m_summary->setText(unbroken(text));
        m_summary->setToolTip(text);
    });
    connect(m_chart, &LatencyChart::hiddenChanged, this, [this] {
        const QSet<QString>& hidden = m_chart->hidden();
        QSettings().setValue(kHiddenKey, QStringList(hidden.begin(), hidden.end()).mid(0, kMostHidden));
    });
    connect(m_chart, &LatencyChart::taskClicked, this, [this](int task) { m_workspace.selection().selectTask(task); });
    connect(m_chart, &LatencyChart::menuAboutToShow, this,
            [this](QMenu* menu, const QString& key, int task) { fillMenu(*menu, key, task); });
}

void CurvesPage::retranslate()
{
    m_logarithmic->setText(tr("&Logarithmic"));
    m_logarithmic->setToolTip(tr("Logarithmic axis of latency"));
    m_add->setText(tr("Add &run or project"));
    m_add->setToolTip(tr("Show other runs beside this one, of this project and of others"));
    m_tasks->setAccessibleName(tr("Curves of tasks"));
    m_tasks->setToolTip(tr("Latency of tasks, times their weight, beside that of the network"));
    const QSignalBlocker blocker(m_tasks);
    const int current = std::max(0, m_tasks->currentIndex());
    m_tasks->clear();
    m_tasks->addItems({tr("no tasks"), tr("selected task"), tr("largest tasks"), tr("all tasks")});
    m_tasks->setCurrentIndex(current);
    m_summary->setText(unbroken(m_chart->summary()));
    update();
    showAge();
}

void CurvesPage::fillMenu(QMenu& menu, const QString& key, int task)
{
    menu.addMenu(m_overlayMenu);
    if (m_overlays->has(key))
        menu.addAction(tr("Re&move it"), this, [this, key] { m_overlays->remove(key); });
    addTaskActions(menu, m_workspace, task);
}

void CurvesPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

void CurvesPage::showAge()
{
    const QString age = m_hold->isChecked() ? tr("held") : ageText(m_workspace.dataAge());
    const QString target = m_workspace.targetName(); // whose curves these are
    m_age->setText(target.isEmpty() || age.isEmpty() ? target + age : QStringLiteral("%1, %2").arg(target, age));
}

void CurvesPage::update()
{
    if (!isVisible())
        return; // it is brought up to date when it shows
    m_pace.called();
    LatencyChart::Curves curves;
    addNetwork(curves);
    addTasks(curves);
    addOverlays(curves);
    m_chart->setCurves(std::move(curves));
    m_forecast->setText(m_rounds.forecast());
    m_forecast->setToolTip(m_forecast->text());
    m_forecast->setVisible(!m_forecast->text().isEmpty());
}

void CurvesPage::addNetwork(LatencyChart::Curves& curves) const
{
    curves.seconds = m_rounds.seconds();
    curves.untunedMs = m_rounds.untunedMs();
    for (const RoundModel::Measured& measured : m_rounds.measured()) {
        curves.measured << QPointF(measured.atSeconds, measured.ms);
        const deploy::EstimateParts& parts = measured.parts;
        if (std::isfinite(parts.totalMs()))
            curves.parts.push_back({measured.atSeconds, parts.tasksMs, parts.untunedMs, parts.callMs, parts.chainMs});
    }
    for (const RoundModel::Band& band : m_rounds.band()) {
        curves.low << QPointF(band.atSeconds, band.low);
        curves.high << QPointF(band.atSeconds, band.high);
    }
    double trials = 0;
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        curves.trials << QPointF(round.atSeconds, trials += round.trials);
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
    // What the network took changes the estimate after them: the line ends at what stands elsewhere, too.
    if (const double now = m_workspace.estimatedMs(); !curves.estimate.isEmpty() && std::isfinite(now))
        curves.estimate << QPointF(std::max(curves.seconds, curves.estimate.last().x()), now);
}

std::vector<bool> CurvesPage::shownTasks() const
{
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
    return shown;
}

void CurvesPage::addTasks(LatencyChart::Curves& curves) const
{
    const std::vector<bool> shown = shownTasks();
    std::vector<LatencyChart::TaskCurve> byTask(shown.size());
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        if (round.task < 0 || static_cast<std::size_t>(round.task) >= shown.size()
            || !shown[static_cast<std::size_t>(round.task)])
            continue;
        LatencyChart::TaskCurve& curve = byTask[static_cast<std::size_t>(round.task)];
        curve.trials << QPointF(round.atSeconds, (curve.trials.isEmpty() ? 0 : curve.trials.last().y()) + round.trials);
        const double ms = round.bestMs * m_workspace.tasks().task(round.task).weight;
        if (std::isfinite(ms) && (curve.points.isEmpty() || ms < curve.points.last().y()))
            curve.points << QPointF(round.atSeconds, ms);
    }
    for (std::size_t i = 0; i < byTask.size(); ++i)
        if (!byTask[i].points.isEmpty()) {
            byTask[i].task = static_cast<int>(i);
            byTask[i].name = m_rounds.taskName(static_cast<int>(i));
            curves.tasks.push_back(std::move(byTask[i]));
        }
}

void CurvesPage::addOverlays(LatencyChart::Curves& curves) const
{
    const session::TuningSession* const session = m_workspace.session();
    const QString target = session == nullptr ? QString() : QString::fromStdString(session->options().target);
    for (const RunOverlays::Overlay& overlay : m_overlays->all()) {
        QList<QPointF> measured;
        for (const session::RunView::Measured& one : overlay.stored.run.measured)
            measured << QPointF(one.atSeconds, one.ms);
        curves.overlays.push_back({overlay.key(), overlay.name(target), pointsOf(overlay.stored.estimate), measured,
                                   pointsOf(overlay.stored.trials), overlay.stored.run.activeSeconds});
    }
}

} // namespace lathe::ui
