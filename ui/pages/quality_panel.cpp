#include "ui/pages/quality_panel.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/workspace.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kRefreshMs = 2000;
constexpr double kDriftThatCounts = 0.03; ///< of the control kernel

/// A figure over the rounds.
struct Course
{
    double first = session::kUnknown, last = session::kUnknown, low = session::kUnknown, high = session::kUnknown;
    void add(double value)
    {
        if (!std::isfinite(value))
            return;
        if (std::isnan(first))
            first = low = high = value;
        last = value;
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

} // namespace

QualityPanel::QualityPanel(Workspace& workspace, QWidget* parent) : QWidget(parent), m_workspace(workspace)
{
    setObjectName(QStringLiteral("qualityPanel"));
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("qualitySummary"));
    m_summary->setWordWrap(true);
    const auto table = [this](const char* name, int columns) {
        auto* made = new QTreeWidget(this);
        made->setObjectName(QLatin1String(name));
        made->setRootIsDecorated(false);
        made->setColumnCount(columns);
        made->setAlternatingRowColors(true);
        made->setUniformRowHeights(true);
        return made;
    };
    m_table = table("qualityTable", 6);
    m_devices = table("qualityDevices", 3);
    auto* tables = new QHBoxLayout;
    tables->addWidget(m_table, 3);
    tables->addWidget(m_devices, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->addWidget(m_summary);
    layout->addLayout(tables, 1);
    m_refresh.setSingleShot(true);
    connect(&m_refresh, &QTimer::timeout, this, &QualityPanel::read);
    connect(&workspace.bridge(), &SessionBridge::opened, this, &QualityPanel::reset);
    connect(&workspace.bridge(), &SessionBridge::closed, this, &QualityPanel::reset);
    connect(&workspace, &Workspace::runCleared, this, &QualityPanel::reset);
    connect(&RoundModel::of(workspace), &RoundModel::changed, this, [this] {
        if (isVisible() && !m_refresh.isActive())
            m_refresh.start(kRefreshMs);
    });
    retranslated(this, [this] {
        m_table->setAccessibleName(tr("Measurement quality"));
        m_table->setHeaderLabels({tr("Figure"), tr("First"), tr("Now"), tr("Lowest"), tr("Highest"), tr("What it tells")});
        m_devices->setAccessibleName(tr("Time by device"));
        m_devices->setHeaderLabels({tr("Device"), tr("Measuring (s)"), tr("Share of the run")});
        fill();
    });
}

void QualityPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    read();
}

void QualityPanel::reset()
{
    m_reader.setHistory(nullptr);
    m_reading = false;
    m_rounds.clear();
    fill();
    if (isVisible())
        read();
}

void QualityPanel::read()
{
    if (m_reading || !isVisible() || m_workspace.session() == nullptr)
        return;
    if (!m_reader.isOpen()) {
        auto history = m_workspace.session()->history();
        if (!history)
            return; // without a project there is nothing to read
        m_reader.setHistory(*std::move(history));
    }
    m_reading = true;
    const std::int32_t from = m_rounds.empty() ? 0 : m_rounds.back().round + 1;
    m_reader.ask([from](session::History& reader, std::stop_token stop) -> Result<std::vector<session::QualityView>> {
        LATHE_TRY_ASSIGN(const auto runs, reader.runs());
        return runs.empty() ? Result<std::vector<session::QualityView>>(std::vector<session::QualityView>()) : reader.quality(runs.back().id, from, stop);
    }, [this](Result<std::vector<session::QualityView>> rounds) {
        m_reading = false;
        if (!rounds) {
            m_workspace.addIssue(QStringLiteral("StoreFailed"), tr("measurement quality"), QString::fromStdString(rounds.error().message));
            return;
        }
        // A new run numbers its rounds anew.
        m_rounds.insert(m_rounds.end(), std::make_move_iterator(rounds->begin()), std::make_move_iterator(rounds->end()));
        fill();
    });
}

void QualityPanel::fill()
{
    Course spread, control, mhz, celsius, load;
    std::map<std::string, double> devices;
    for (const session::QualityView& round : m_rounds) {
        spread.add(round.spread * 100);
        control.add(round.controlNs / 1000);
        mhz.add(round.mhz);
        celsius.add(round.celsius);
        load.add(round.load);
        for (const auto& [device, seconds] : round.deviceSeconds)
            devices[device] += seconds;
    }
    struct Row
    {
        QString name;
        const Course& course;
        int decimals;
        QString meaning;
    };
    const Row rows[] = {{tr("Spread of repeats (%)"), spread, 1, tr("slowest above fastest, of trials that were repeated")},
                        {tr("Control kernel (µs)"), control, 1, tr("always the same work: what it drifts, all figures drift")},
                        {tr("Clock (MHz)"), mhz, 0, tr("of the first core, while measuring")},
                        {tr("Temperature (°C)"), celsius, 0, tr("of the processor")},
                        {tr("Load"), load, 1, tr("programs that want a core, over the last minute")}};
    m_table->clear();
    for (const Row& row : rows) {
        const auto number = [&row](double value) { return std::isfinite(value) ? QString::number(value, 'f', row.decimals) : QStringLiteral("–"); };
        auto* item = new QTreeWidgetItem(m_table, {row.name, number(row.course.first), number(row.course.last), number(row.course.low), number(row.course.high),
                                                   std::isfinite(row.course.last) || m_rounds.empty() ? row.meaning : tr("%1 (this system does not tell it)").arg(row.meaning)});
        for (int column = 1; column < 5; ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    m_devices->clear();
    const double seconds = m_rounds.empty() ? 0 : m_rounds.back().atSeconds;
    for (const auto& [device, measuring] : devices) {
        auto* item = new QTreeWidgetItem(m_devices, {device.empty() ? tr("unnamed") : QString::fromStdString(device), QString::number(measuring, 'f', 1),
                                                     seconds > 0 ? tr("%1 %").arg(100 * measuring / seconds, 0, 'f', 0) : QStringLiteral("–")});
        for (int column = 1; column < 3; ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    for (QTreeWidget* table : {m_table, m_devices})
        for (int column = 0; column < table->columnCount(); ++column)
            table->resizeColumnToContents(column);
    if (m_rounds.empty())
        m_summary->setText(tr("No round has been measured yet."));
    else if (!std::isfinite(control.last))
        m_summary->setText(tr("This device runs no control kernel: whether its speed drifts is not known."));
    else if (const double drift = control.last / control.first - 1; std::abs(drift) >= kDriftThatCounts)
        m_summary->setText(drift > 0 ? tr("The control kernel takes %1 % longer than at the beginning: what was measured late looks slower than it is.").arg(100 * drift, 0, 'f', 1)
                                     : tr("The control kernel takes %1 % less time than at the beginning: what was measured early looks slower than it is.").arg(-100 * drift, 0, 'f', 1));
    else
        m_summary->setText(tr("The control kernel is as fast as at the beginning (%1 %).").arg(100 * drift, 0, 'f', 1));
}

} // namespace lathe::ui
