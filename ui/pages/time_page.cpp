#include "ui/pages/time_page.h"

#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/hold_button.h"
#include "ui/pages/quality_panel.h"
#include "ui/views/band_chart.h"
#include "ui/views/plot_axes.h"

#include <QHeaderView>
#include <QLabel>
#include <QPixmap>
#include <QSplitter>
#include <QTabWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <string_view>

namespace lathe::ui {

namespace {

/// In the order of a round; what is not named here counts as other.
const char* const kActivities[] = {"search", "reference", "build", "measure", "store", "train", "other"};

} // namespace

TimePage::TimePage(Workspace& workspace, QWidget* parent) : QWidget(parent), m_rounds(RoundModel::of(workspace))
{
    setObjectName(QStringLiteral("timePage"));
    m_chart = new BandChart(this);
    m_chart->setObjectName(QStringLiteral("timeChart"));
    m_sums = new QTreeWidget(this);
    m_sums->setObjectName(QStringLiteral("timeSums"));
    m_sums->setRootIsDecorated(false);
    m_sums->setColumnCount(4);
    m_sums->setAlternatingRowColors(true);
    m_sums->setUniformRowHeights(true);
    m_hint = new QLabel(this);
    m_hint->setObjectName(QStringLiteral("timeHint"));
    m_hint->setWordWrap(true);
    auto* lower = new QWidget(this);
    auto* column = new QVBoxLayout(lower);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_hint);
    column->addWidget(m_sums, 1);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_chart);
    auto* tabs = new QTabWidget(this);
    tabs->setObjectName(QStringLiteral("timeTabs"));
    tabs->setDocumentMode(true);
    tabs->addTab(lower, QString());
    auto* quality = new QualityPanel(workspace, this);
    tabs->addTab(quality->deviceTable(), QString());
    tabs->addTab(quality, QString());
    tabs->setCornerWidget(new HoldButton(m_rounds, "timeHold", this));
    splitter->addWidget(tabs);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->addWidget(splitter);
    connect(&m_rounds, &RoundModel::changed, &m_pace, &Pace::ask);
    retranslated(this, [this, tabs] {
        tabs->setTabText(0, tr("Activities"));
        tabs->setTabText(1, tr("Devices"));
        tabs->setTabText(2, tr("Measurement quality"));
        m_chart->setAccessibleName(tr("Time by activity"));
        m_sums->setAccessibleName(tr("Sums by activity"));
        m_sums->setHeaderLabels({tr("Activity"), tr("Seconds"), tr("Share"), tr("What happens")});
        update();
    });
}

void TimePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

void TimePage::update()
{
    if (!isVisible())
        return; // it is brought up to date when it shows
    m_pace.called();
    const QStringList names = {tr("search"), tr("reference"), tr("build"), tr("measure"), tr("store"), tr("train"), tr("other")};
    const QStringList meaning = {tr("choosing candidates"), tr("computing what outputs must be"), tr("lowering and compiling"), tr("loading, checking and timing on the device"),
                                 tr("writing results to disk"), tr("teaching the cost model"), tr("waiting, handing over")};
    std::vector<BandChart::Sample> samples;
    std::vector<double> sums(std::size(kActivities), 0.0);
    double from = 0, total = 0;
    bool older = false;
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        if (round.activitySeconds.isEmpty()) {
            older = older || !(&round == &m_rounds.rounds().back() && m_rounds.isLastOpen());
            from = round.atSeconds;
            continue;
        }
        BandChart::Sample sample{from, round.atSeconds, {}};
        for (const auto& [name, seconds] : round.activitySeconds) {
            const auto found = std::find_if(std::begin(kActivities), std::end(kActivities), [&name = name](const char* activity) { return *name == activity; });
            const auto band = static_cast<int>(found == std::end(kActivities) ? std::size(kActivities) - 1 : static_cast<std::size_t>(found - std::begin(kActivities)));
            sample.amounts.emplace_back(band, seconds);
            sums[static_cast<std::size_t>(band)] += seconds;
            total += seconds;
        }
        from = round.atSeconds;
        samples.push_back(std::move(sample));
    }
    const auto measureBand = static_cast<int>(std::find(std::begin(kActivities), std::end(kActivities), std::string_view("measure")) - std::begin(kActivities));
    for (const RoundModel::Finals& finals : m_rounds.finals()) { // between rounds
        const auto later = std::find_if(samples.begin(), samples.end(), [&finals](const BandChart::Sample& sample) { return sample.to >= finals.atSeconds; });
        samples.insert(later, {finals.atSeconds - finals.seconds, finals.atSeconds, {{measureBand, finals.seconds}}});
        sums[static_cast<std::size_t>(measureBand)] += finals.seconds;
        total += finals.seconds;
    }
    m_chart->setBands(names, tr("s"));
    m_chart->setSamples(std::move(samples));
    m_sums->clear();
    for (int i = 0; i < names.size() && total > 0; ++i) {
        const double seconds = sums[static_cast<std::size_t>(i)];
        auto* item = new QTreeWidgetItem(m_sums, {names[i], QString::number(seconds, 'f', 1), tr("%1 %").arg(100 * seconds / total, 0, 'f', 1), meaning[i]});
        QPixmap patch(12, 12);
        patch.fill(seriesColor(i));
        item->setIcon(0, patch);
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
        item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
    }
    for (int i = 0; i < 4; ++i)
        m_sums->resizeColumnToContents(i);
    // The device works while it measures: all else holds it up.
    const double measuring = total > 0 ? sums[3] / total : 0;
    if (total <= 0)
        m_hint->setText(older ? tr("This run was made by a version of Lathe that did not note where its time went.") : tr("No round has been run yet."));
    else if (measuring < 0.4) {
        const auto most = static_cast<int>(std::max_element(sums.begin(), sums.end()) - sums.begin());
        m_hint->setText(tr("The device measures %1 % of the time; most of the rest is: %2.").arg(100 * measuring, 0, 'f', 0).arg(most == 3 ? names[2] : names[most]));
    } else
        m_hint->setText(tr("The device measures %1 % of the time.").arg(100 * measuring, 0, 'f', 0));
}

} // namespace lathe::ui
