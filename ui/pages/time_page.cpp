#include "ui/pages/time_page.h"

#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/workspace.h"
#include "ui/pages/hold_button.h"
#include "ui/pages/quality_panel.h"
#include "ui/views/band_chart.h"
#include "ui/views/plot_axes.h"
#include "ui/views/spacing.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QSplitter>
#include <QTabWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <string_view>

namespace lathe::ui {

namespace {

/// How a piece of session::activityPieces() or workerPieces() is shown.
struct PieceText
{
    const char* name;
    const char* shown;
    const char* meaning;
};
const PieceText kActivities[] = {
    {"start", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "start"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "starting workers, reading earlier results of a resumed run")},
    {"limits", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "limits"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "measuring the device's limits")},
    {"propose", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "propose"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "sampling, evolving and featurizing candidates")},
    {"score", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "score"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "ranking candidates with the cost model")},
    {"search", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "search"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage",
                       "choosing candidates: proposing and scoring (not separated by older versions)")},
    {"reference", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "reference"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "computing reference outputs")},
    {"build", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "build"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "waiting for builders and for the devices' compilers")},
    {"measure", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "measure"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "loading, checking and timing on the device")},
    {"store", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "store"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "writing results to disk")},
    {"train", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "train"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "training the cost model")},
    {"finals", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "finals"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "measuring the best candidates again")},
    {"whole network", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "whole network"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "compiling and timing the network")},
    {"other", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "other"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "scheduling and everything else")},
};
const PieceText kWorkers[] = {
    {"lower", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Builders: lower"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "lowering schedules to loops")},
    {"generate", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Builders: generate"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "generating machine code")},
    {"link", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Builders: link"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "linking")},
    {"builder other", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Builders: other"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "reading jobs, sending kernels")},
    {"builder idle", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Builders: idle"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "nothing to build, paused while a device is timed, or no free core")},
    {"upload", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: upload"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "loading kernels and filling their buffers")},
    {"device build", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: build"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "compiling kernels on the device")},
    {"check", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: check"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "comparing outputs with the reference")},
    {"measure", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: measure"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "running the kernels")},
    {"runner other", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: other"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "reading jobs, sending results")},
    {"runner idle", QT_TRANSLATE_NOOP("lathe::ui::TimePage", "Devices: idle"),
     QT_TRANSLATE_NOOP("lathe::ui::TimePage", "nothing to measure")},
};
constexpr auto kOther = static_cast<int>(std::size(kActivities)) - 1;

template<std::size_t Count>
const PieceText* pieceOf(const PieceText (&pieces)[Count], std::string_view name)
{
    const auto found = std::find_if(std::begin(pieces), std::end(pieces),
                                    [name](const PieceText& piece) { return piece.name == name; });
    return found == std::end(pieces) ? nullptr : found;
}

/// What is not known counts as other.
int bandOf(std::string_view name)
{
    const PieceText* piece = pieceOf(kActivities, name);
    return piece == nullptr ? kOther : static_cast<int>(piece - kActivities);
}

QTreeWidget* table(const char* name, int columns, QWidget* parent)
{
    auto* table = new QTreeWidget(parent);
    table->setObjectName(QLatin1String(name));
    table->setRootIsDecorated(false);
    table->setColumnCount(columns);
    table->setAlternatingRowColors(true);
    table->setUniformRowHeights(true);
    return table;
}

} // namespace

TimePage::TimePage(Workspace& workspace, QWidget* parent)
    : Page(parent)
    , m_rounds(RoundModel::of(workspace))
{
    setObjectName(QStringLiteral("timePage"));
    m_chart = new BandChart(this);
    m_chart->setObjectName(QStringLiteral("timeChart"));
    m_sums = table("timeSums", 4, this);
    m_workers = table("timeWorkers", 5, this);
    m_hint = new QLabel(this);
    m_hint->setObjectName(QStringLiteral("timeHint"));
    m_hint->setWordWrap(true);
    auto* lower = new QWidget(this);
    auto* column = new QVBoxLayout(lower);
    column->setContentsMargins(spacing::kNone, spacing::kNone, spacing::kNone, spacing::kNone);
    column->addWidget(m_hint);
    column->addWidget(m_sums, 1);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->addWidget(m_chart);
    auto* tabs = new QTabWidget(this);
    tabs->setObjectName(QStringLiteral("timeTabs"));
    tabs->setDocumentMode(true);
    tabs->addTab(lower, QString());
    tabs->addTab(m_workers, QString());
    auto* quality = new QualityPanel(workspace, this);
    tabs->addTab(quality->deviceTable(), QString());
    tabs->addTab(quality, QString());
    tabs->setCornerWidget(new HoldButton(m_rounds, "timeHold", this));
    splitter->addWidget(tabs);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->addWidget(splitter);
    connect(&m_rounds, &RoundModel::changed, &m_pace, &Pace::ask);
    retranslated(this, [this, tabs] {
        tabs->setTabText(0, tr("Activities"));
        tabs->setTabText(1, tr("Workers"));
        tabs->setTabText(2, tr("Devices"));
        tabs->setTabText(3, tr("Measurement quality"));
        m_chart->setAccessibleName(tr("Time by activity"));
        m_sums->setAccessibleName(tr("Sums by activity"));
        m_sums->setHeaderLabels({tr("Activity"), tr("Seconds"), tr("Share"), tr("What happens")});
        m_workers->setAccessibleName(tr("What builders and devices did meanwhile"));
        m_workers->setHeaderLabels(
            {tr("Part of the work"), tr("Seconds"), tr("Share"), tr("Processor seconds"), tr("What happens")});
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
    QStringList names;
    for (const PieceText& piece : kActivities)
        names << tr(piece.shown);
    std::vector<BandChart::Sample> samples;
    std::vector<double> sums(std::size(kActivities), 0.0);
    double from = 0, total = 0;
    bool older = false;
    const auto add = [&](double begin, double end, const NamedNumbers& activities) {
        BandChart::Sample sample{begin, end, {}};
        for (const auto& [name, seconds] : activities) {
            const int band = bandOf(*name);
            sample.amounts.emplace_back(band, seconds);
            sums[static_cast<std::size_t>(band)] += seconds;
            total += seconds;
        }
        samples.push_back(std::move(sample));
    };
    auto piece = m_rounds.timePieces().begin();
    const auto piecesUntil = [&](double at) {
        for (; piece != m_rounds.timePieces().end() && piece->atSeconds <= at; ++piece) {
            double seconds = 0;
            for (const auto& [name, more] : piece->activitySeconds)
                seconds += more;
            add(std::max(from, piece->atSeconds - seconds), piece->atSeconds, piece->activitySeconds);
            from = piece->atSeconds;
        }
    };
    for (const RoundModel::Round& round : m_rounds.rounds()) {
        piecesUntil(round.atSeconds);
        if (round.activitySeconds.isEmpty())
            older = older || !(&round == &m_rounds.rounds().back() && m_rounds.isLastOpen());
        else
            add(from, round.atSeconds, round.activitySeconds);
        from = round.atSeconds;
    }
    piecesUntil(std::numeric_limits<double>::infinity());
    m_chart->setBands(names, tr("s"));
    m_chart->setSamples(std::move(samples));
    const auto fill = [](QTreeWidget* table, const QStringList& cells, int numbers) {
        auto* item = new QTreeWidgetItem(table, cells);
        for (int column = 1; column <= numbers; ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        return item;
    };
    const auto share = [this](double of) { return tr("%1 %").arg(100 * of, 0, 'f', 1); };
    m_sums->clear();
    for (int i = 0; i < names.size(); ++i) {
        const double seconds = sums[static_cast<std::size_t>(i)];
        if (seconds <= 0)
            continue;
        QPixmap patch(12, 12);
        patch.fill(palette().base().color());
        QPainter(&patch).fillRect(patch.rect(), QBrush(seriesColor(i), seriesPattern(i)));
        fill(m_sums, {names[i], QString::number(seconds, 'f', 1), share(seconds / total), tr(kActivities[i].meaning)},
             2)
            ->setIcon(0, patch);
    }
    m_workers->clear();
    for (const session::TimeRow& row : session::workerRows(m_rounds.time())) {
        const PieceText* text = pieceOf(kWorkers, row.name);
        fill(m_workers,
             {text == nullptr ? QString::fromStdString(row.name) : tr(text->shown),
              QString::number(row.seconds, 'f', 1), share(row.share), QString::number(row.processor, 'f', 1),
              text == nullptr ? QString() : tr(text->meaning)},
             3);
    }
    if (m_workers->topLevelItemCount() == 0)
        fill(m_workers, {tr("Nothing recorded.")}, 0)->setFirstColumnSpanned(true);
    for (QTreeWidget* table : {m_sums, m_workers})
        for (int i = 0; i < table->columnCount(); ++i)
            table->resizeColumnToContents(i);
    // The device works while it measures: all else holds it up.
    const int measure = bandOf("measure");
    const double measuring = total > 0 ? sums[static_cast<std::size_t>(measure)] / total : 0;
    if (total <= 0)
        m_hint->setText(older ? tr("This run comes from a version of Lathe that did not record its time.")
                              : tr("No rounds yet."));
    else if (measuring < 0.4) {
        sums[static_cast<std::size_t>(measure)] = 0;
        const auto most = std::max_element(sums.begin(), sums.end()) - sums.begin();
        m_hint->setText(tr("The device measures %1 % of the time; most of the rest is: %2.")
                            .arg(100 * measuring, 0, 'f', 0)
                            .arg(names[most]));
    } else
        m_hint->setText(tr("The device measures %1 % of the time.").arg(100 * measuring, 0, 'f', 0));
}

} // namespace lathe::ui
