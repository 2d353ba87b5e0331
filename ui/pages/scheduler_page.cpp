#include "ui/pages/scheduler_page.h"

#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/selection.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/pages/hold_button.h"
#include "ui/pages/task_actions.h"
#include "ui/views/band_chart.h"
#include "ui/views/empty_state.h"
#include "ui/views/spacing.h"
#include "ui/views/table_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSplitter>
#include <QVBoxLayout>

namespace lathe::ui {

namespace {

constexpr int kMostBands = 5; ///< tasks that have a colour of their own

} // namespace

SchedulerPage::SchedulerPage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_workspace(workspace)
    , m_rounds(RoundModel::of(workspace))
{
    setObjectName(QStringLiteral("schedulerPage"));
    m_chart = new BandChart(this);
    m_chart->setObjectName(QStringLiteral("schedulerChart"));
    m_chart->setMostBands(kMostBands);
    m_chart->setHighlight(workspace.selection().current().task);
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("schedulerSummary"));
    m_summary->setWordWrap(true);
    m_table = new TableView("roundTable", this);
    m_table->setModel(&m_rounds);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    const int widths[] = {60, 60, 230, 60, 150, 95, 220, 80, 100};
    for (int column = 0; column < RoundModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    new EmptyState(m_table, [this]() -> EmptyState::Text {
        return m_workspace.session() == nullptr
                   ? EmptyState::Text{tr("Open a network to see its rounds."), QStringLiteral("actionOpen")}
                   : EmptyState::Text{tr("No rounds yet. Start a run to see which task gets the trials, and why."),
                                      QStringLiteral("actionStart")};
    });
    m_why = new QLabel(this);
    m_why->setObjectName(QStringLiteral("schedulerWhy"));
    m_why->setWordWrap(true);
    m_why->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* lower = new QWidget(this);
    auto* column = new QVBoxLayout(lower);
    column->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    auto* top = new QHBoxLayout;
    top->addWidget(m_summary, 1);
    top->addWidget(new HoldButton(m_rounds, "schedulerHold", this), 0, Qt::AlignTop);
    column->addLayout(top);
    column->addWidget(m_table, 1);
    column->addWidget(m_why);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_chart);
    splitter->addWidget(lower);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->addWidget(splitter);

    connect(&m_rounds, &RoundModel::changed, &m_pace, &Pace::ask);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &SchedulerPage::showCurrent);
    connect(m_chart, &BandChart::bandClicked, this, [this](int task) { m_workspace.selection().selectTask(task); });
    connect(m_chart, &BandChart::menuAboutToShow, this,
            [this](QMenu* menu, int task) { addTaskActions(*menu, m_workspace, task); });
    connect(m_table, &TableView::menuAboutToShow, this, [this](QMenu* menu, const QModelIndex& row) {
        addTaskActions(*menu, m_workspace, row.data(RoundModel::TaskIdRole).toInt());
    });
    connect(&m_workspace.selection(), &Selection::changed, this,
            [this](const Selection::Place& place) { m_chart->setHighlight(place.task); });
    retranslated(this, [this] {
        m_chart->setAccessibleName(tr("Trials by task over time"));
        m_table->setAccessibleName(tr("Rounds"));
        update();
        showCurrent();
    });
}

void SchedulerPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

void SchedulerPage::update()
{
    if (!isVisible())
        return; // it is brought up to date when it shows
    m_pace.called();
    std::vector<BandChart::Sample> samples;
    double from = 0;
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        if (&round == &m_rounds.rounds().back() && m_rounds.isLastOpen())
            break;
        samples.push_back(
            {from, round.atSeconds, {{round.task, static_cast<double>(round.trials)}}, *round.reason == "first"});
        from = round.atSeconds;
    }
    m_chart->setBands(m_rounds.taskNames(), tr("trials"));
    m_chart->setSamples(std::move(samples));
    m_summary->setText(m_rounds.rounds().empty()
                           ? QString()
                           : tr("Rounds: %1. %2")
                                 .arg(QLocale().toString(m_rounds.rowCount()), unbroken(m_chart->summary()))
                                 .append(QLatin1Char(' '))
                                 .append(m_rounds.rejectedText())
                                 .trimmed());
    if (m_table->currentIndex().isValid())
        showCurrent();
    else if (m_rounds.rowCount() > 0)
        m_why->setText(unbroken(m_rounds.why(0)));
}

void SchedulerPage::showCurrent()
{
    const QModelIndex current = m_table->currentIndex();
    if (!current.isValid()) {
        m_why->clear();
        return;
    }
    m_why->setText(unbroken(m_rounds.why(current.row())));
    const int task = current.data(RoundModel::TaskIdRole).toInt();
    if (task >= 0 && task != m_workspace.selection().current().task && m_table->hasFocus())
        m_workspace.selection().selectTask(task);
}

} // namespace lathe::ui
