#include "ui/pages/quality_panel.h"

#include "ui/bridge/session_bridge.h"
#include "ui/models/language.h"
#include "ui/models/round_model.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/spacing.h"

#include <QEvent>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kQualityPanelRefreshMs = 2000;
constexpr double kDriftThatCounts = 0.03; ///< of the control kernel

enum DeviceColumn
{
    SearchColumn = 1,
    BuildColumn,
    UploadColumn,
    MeasureColumn,
    TrainColumn,
    OtherColumn,
    IdleColumn,
    DeviceColumns
};

enum QualityColumn
{
    TrialsColumn = 1,
    RejectedColumn,
    DriftColumn,
    SpreadColumn,
    ControlColumn,
    QualityColumns
};

/// A figure of a device, over rounds with so many trials each.
struct Mean
{
    double sum = 0, weight = 0;
    void add(double value, std::int64_t trials)
    {
        if (!std::isfinite(value))
            return;
        sum += value * static_cast<double>(trials);
        weight += static_cast<double>(trials);
    }
    double value() const { return weight > 0 ? sum / weight : session::kUnknown; }
};

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

QualityPanel::QualityPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_run(RoundModel::of(workspace))
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
    m_devices = table("qualityDevices", DeviceColumns);
    m_devices->installEventFilter(this);
    m_ofDevices = table("qualityOfDevices", QualityColumns);
    m_ofDevices->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(spacing::kSmall, spacing::kSmall, spacing::kSmall, spacing::kSmall);
    layout->addWidget(m_summary);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_ofDevices, 1);
    m_refresh.setSingleShot(true);
    connect(&m_refresh, &QTimer::timeout, this, &QualityPanel::read);
    connect(&workspace.bridge(), &SessionBridge::opened, this, &QualityPanel::reset);
    connect(&workspace.bridge(), &SessionBridge::closed, this, &QualityPanel::reset);
    connect(&workspace, &Workspace::runCleared, this, &QualityPanel::reset);
    connect(&m_run, &RoundModel::changed, this, [this] {
        if (isLookedAt() && !m_refresh.isActive())
            m_refresh.start(kQualityPanelRefreshMs);
    });
    retranslated(this, [this] {
        m_table->setAccessibleName(tr("Measurement quality"));
        m_table->setHeaderLabels({tr("Figure"), tr("First"), tr("Now"), tr("Lowest"), tr("Highest"), tr("Meaning")});
        m_devices->setAccessibleName(tr("Time by device"));
        m_devices->setHeaderLabels({tr("Where"), tr("Search (s)"), tr("Build (s)"), tr("Upload (s)"), tr("Measure (s)"),
                                    tr("Train (s)"), tr("Other (s)"), tr("Idle (s)")});
        m_devices->headerItem()->setToolTip(OtherColumn, tr("Computing reference outputs, writing results to disk"));
        m_ofDevices->setAccessibleName(tr("Measurement quality by device"));
        m_ofDevices->setHeaderLabels({tr("Device"), tr("Trials"), tr("Rejected samples"), tr("Probes differ (%)"),
                                      tr("Spread of repeats (%)"), tr("Control kernel (µs)")});
        m_ofDevices->headerItem()->setToolTip(RejectedColumn,
                                              tr("Measured again, since the device was not as before afterwards"));
        m_ofDevices->headerItem()->setToolTip(
            DriftColumn, tr("The program that checks the device, from one time to the next, in the middle"));
        fill();
    });
}

QWidget* QualityPanel::deviceTable() const
{
    return m_devices;
}

bool QualityPanel::isLookedAt() const
{
    return isVisible() || m_devices->isVisible();
}

bool QualityPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_devices && event->type() == QEvent::Show)
        read();
    return QWidget::eventFilter(watched, event);
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
    if (isLookedAt())
        read();
}

void QualityPanel::read()
{
    if (m_reading || !isLookedAt() || m_workspace.session() == nullptr)
        return;
    if (!m_reader.isOpen()) {
        auto history = m_workspace.session()->history();
        if (!history)
            return; // without a project there is nothing to read
        m_reader.setHistory(*std::move(history));
    }
    m_reading = true;
    const std::int32_t from = m_rounds.empty() ? 0 : m_rounds.back().round + 1;
    m_reader.ask(
        [from](session::History& reader, std::stop_token stop) -> Result<std::vector<session::QualityView>> {
            LATHE_TRY_ASSIGN(const auto runs, reader.runs());
            return runs.empty() ? Result<std::vector<session::QualityView>>(std::vector<session::QualityView>())
                                : reader.quality(runs.back().id, from, stop);
        },
        [this](Result<std::vector<session::QualityView>> rounds) {
            m_reading = false;
            if (!rounds) {
                m_workspace.addIssue(tr("measurement quality"), rounds.error());
                return;
            }
            // A new run numbers its rounds anew.
            m_rounds.insert(m_rounds.end(), std::make_move_iterator(rounds->begin()),
                            std::make_move_iterator(rounds->end()));
            fill();
        });
}

void QualityPanel::fill()
{
    Course spread, control, mhz, celsius, load, others, stolen;
    for (const session::QualityView& round : m_rounds) {
        spread.add(round.spread * 100);
        control.add(round.controlNs / 1000);
        mhz.add(round.mhz);
        celsius.add(round.celsius);
        load.add(round.load);
        others.add(round.others * 100);
        stolen.add(round.stolen * 100);
    }
    struct Row
    {
        QString name;
        const Course& course;
        int decimals;
        QString meaning;
    };
    const Row rows[] = {
        {tr("Spread of repeats (%)"), spread, 1, tr("slowest above fastest repeat, over trials with repeats")},
        {tr("Control kernel (µs)"), control, 1, tr("always the same work: if it drifts, all figures drift")},
        {tr("Taken by others (%)"), others, 0, tr("processor time used by other programs, over all processors")},
        {tr("Stolen (%)"), stolen, 0, tr("processor time used by other virtual machines")},
        {tr("Clock (MHz)"), mhz, 0, tr("of the first core, while measuring")},
        {tr("Temperature (°C)"), celsius, 0, tr("of the processor")},
        {tr("Load"), load, 1, tr("runnable programs, over the last minute")}};
    m_table->clear();
    for (const Row& row : rows) {
        const auto number = [&row](double value) {
            return std::isfinite(value) ? QString::number(value, 'f', row.decimals) : QStringLiteral("–");
        };
        auto* item = new QTreeWidgetItem(m_table, {row.name, number(row.course.first), number(row.course.last),
                                                   number(row.course.low), number(row.course.high),
                                                   std::isfinite(row.course.last) || m_rounds.empty()
                                                       ? row.meaning
                                                       : tr("%1 (not available on this system)").arg(row.meaning)});
        for (int column = 1; column < 5; ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    for (int column = 0; column < m_table->columnCount(); ++column)
        m_table->resizeColumnToContents(column);
    fillDevices();
    fillQualityOfDevices();
    if (m_rounds.empty())
        m_summary->setText(tr("No rounds measured yet."));
    else if (!std::isfinite(control.last))
        m_summary->setText(tr("This device has no control kernel: its drift is unknown."));
    else if (const double drift = control.last / control.first - 1; std::abs(drift) >= kDriftThatCounts)
        m_summary->setText(drift > 0 ? tr("The control kernel takes %1 % longer than at the start: late measurements "
                                          "look slower than they are.")
                                           .arg(100 * drift, 0, 'f', 1)
                                     : tr("The control kernel takes %1 % less time than at the start: early "
                                          "measurements look slower than they are.")
                                           .arg(-100 * drift, 0, 'f', 1));
    else
        m_summary->setText(tr("The control kernel is as fast as at the start (%1 %).").arg(100 * drift, 0, 'f', 1));
}

/// Shown where devices can differ: of one of this machine, the figures above say all.
void QualityPanel::fillQualityOfDevices()
{
    struct Sum
    {
        std::int64_t trials = 0, rejected = 0;
        Mean drift, spread, control;
    };
    std::map<std::string, Sum> devices;
    for (const session::QualityView& round : m_rounds)
        for (const auto& [name, device] : round.devices) {
            Sum& sum = devices[name];
            sum.trials += device.trials;
            sum.rejected += device.rejected;
            sum.drift.add(100 * device.drift, device.trials);
            sum.spread.add(100 * device.spread, device.trials);
            sum.control.add(1e-3 * device.controlNs, device.trials);
        }
    m_ofDevices->clear();
    m_ofDevices->setVisible(devices.size() > 1 || std::any_of(devices.begin(), devices.end(), [](const auto& device) {
                                return std::isfinite(device.second.drift.value());
                            }));
    const auto number = [](double value) {
        return std::isfinite(value) ? QString::number(value, 'f', 1) : QStringLiteral("–");
    };
    for (const auto& [name, sum] : devices) {
        auto* item = new QTreeWidgetItem(m_ofDevices, {name.empty() ? tr("unnamed device") : deviceTitle(name),
                                                       QString::number(sum.trials), QString::number(sum.rejected),
                                                       number(sum.drift.value()), number(sum.spread.value()),
                                                       number(sum.control.value())});
        for (int column = 1; column < QualityColumns; ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    for (int column = 0; column < QualityColumns; ++column)
        m_ofDevices->resizeColumnToContents(column);
}

/// Search, building and training are this machine's, wherever is measured; loading and timing are a device's, and what
/// it compiles itself. What a run had no work for is idle time.
void QualityPanel::fillDevices()
{
    m_devices->clear();
    if (m_rounds.empty())
        return;
    const double run = m_rounds.back().atSeconds; // what came after is not read yet
    const auto add = [this, run](const QString& name, const std::map<int, double>& seconds) {
        auto* item = new QTreeWidgetItem(m_devices, {name});
        double busy = 0;
        const auto put = [item, run](int column, double value) {
            item->setText(column, run > 0 ? tr("%1 (%2 %)").arg(value, 0, 'f', 1).arg(100 * value / run, 0, 'f', 0)
                                          : QString::number(value, 'f', 1));
        };
        for (int column = 1; column < DeviceColumns; ++column) {
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
            item->setText(column, QStringLiteral("–"));
        }
        for (const auto& [column, value] : seconds) {
            busy += value;
            put(column, value);
        }
        put(IdleColumn, std::max(0.0, run - busy));
    };
    static const std::map<std::string, int> kColumns = {
        {"propose", SearchColumn}, {"score", SearchColumn},    {"search", SearchColumn}, {"build", BuildColumn},
        {"train", TrainColumn},    {"reference", OtherColumn}, {"store", OtherColumn}};
    std::map<int, double> here = {{SearchColumn, 0}, {BuildColumn, 0}, {TrainColumn, 0}, {OtherColumn, 0}};
    for (const RoundModel::Round& round : m_run.rounds())
        for (const auto& [name, seconds] : round.activitySeconds)
            if (const auto column = kColumns.find(*name); column != kColumns.end() && round.atSeconds <= run)
                here[column->second] += seconds;
    add(tr("this machine, for all devices"), here);
    std::map<std::string, session::QualityView::Device> devices;
    for (const session::QualityView& round : m_rounds)
        for (const auto& [device, seconds] : round.devices) {
            devices[device].upload += seconds.upload;
            devices[device].measure += seconds.measure;
            devices[device].build += seconds.build;
        }
    for (const auto& [device, seconds] : devices) {
        std::map<int, double> columns = {{UploadColumn, seconds.upload}, {MeasureColumn, seconds.measure}};
        if (seconds.build > 0)
            columns[BuildColumn] = seconds.build;
        add(device.empty() ? tr("unnamed device") : deviceTitle(device), columns);
    }
    for (int column = 0; column < DeviceColumns; ++column)
        m_devices->resizeColumnToContents(column);
}

} // namespace lathe::ui
