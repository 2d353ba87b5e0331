#include "ui/pages/farm_detail.h"

#include "ui/models/farm_fault_model.h"
#include "ui/models/farm_texts.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/views/empty_state.h"
#include "ui/views/health_curves.h"
#include "ui/views/table_view.h"

#include <QLocale>
#include <QPlainTextEdit>
#include <QStringList>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr int kAboutTab = 0, kHealthTab = 1, kFaultsTab = 2;
/// No figure of a machine is beyond; what is, breaks no scale.
constexpr double kMostValue = 1e15;

} // namespace

FarmDetail::FarmDetail(QWidget* parent)
    : QTabWidget(parent)
{
    setObjectName(QStringLiteral("farmDetail"));
    setDocumentMode(true);
    m_about = new QPlainTextEdit(this);
    m_about->setObjectName(QStringLiteral("farmAbout"));
    m_about->setReadOnly(true);
    m_about->setTabChangesFocus(true);
    m_health = new HealthCurves(this);
    m_health->setObjectName(QStringLiteral("farmHealth"));
    m_faultModel = new FarmFaultModel(this);
    m_faults = new TableView("farmFaults", this);
    m_faults->setModel(m_faultModel);
    m_faults->setColumnWidth(FarmFaultModel::TimeColumn, 150);
    m_faults->restoreColumns();
    addTab(m_about, {});
    addTab(m_health, {});
    addTab(m_faults, {});
    m_empty = new EmptyState(m_faults, [this] {
        return EmptyState::Text{m_isChosen ? tr("No faults since this window began to watch the farm.")
                                           : tr("Choose a device to see its faults."),
                                {}};
    });
    retranslated(this, [this] {
        setAccessibleName(tr("Selected device"));
        setTabText(kAboutTab, tr("Device"));
        setTabText(kHealthTab, tr("Health"));
        setTabText(kFaultsTab, tr("Faults"));
        m_about->setAccessibleName(tr("What the device is"));
        m_about->setPlaceholderText(tr("Choose a device to see what it is."));
        m_health->setAccessibleName(tr("Curves of the device's health"));
        m_faults->setAccessibleName(tr("Faults of the device"));
        m_faultModel->retranslate();
        m_empty->refresh();
    });
}

void FarmDetail::setDevice(const session::FarmDeviceView* device, const session::FarmHistory* history)
{
    const session::FarmHistory::Device* const past = device == nullptr || history == nullptr
                                                         ? nullptr
                                                         : history->find(device->key, device->name);
    const bool changed = m_isChosen != (device != nullptr);
    m_isChosen = device != nullptr;
    showAbout(device);
    showHealth(past, history == nullptr ? 0 : history->seconds());
    m_faultModel->setDevice(past);
    const auto faults = m_faultModel->rowCount();
    setTabText(kFaultsTab, faults > 0 ? tr("Faults (%1)").arg(faults) : tr("Faults"));
    if (changed)
        m_empty->refresh();
}

/// Nothing that changes by itself stands there: who has selected a part of it can copy it.
void FarmDetail::showAbout(const session::FarmDeviceView* device)
{
    QStringList lines;
    const auto line = [&](const QString& what, const std::string& says) {
        if (!says.empty())
            lines << tr("%1: %2").arg(what, QString::fromStdString(says));
    };
    if (device != nullptr) {
        lines << tr("%1 (key %2)").arg(QString::fromStdString(device->name), QString::fromStdString(device->key));
        line(tr("Host"), device->host);
        line(tr("Machine"), device->machine);
        line(tr("Lathe"), device->version);
        for (const session::FarmDeviceView::Part& part : device->parts) {
            const QString name = deviceTitle(part.name), kind = QString::fromStdString(part.kind);
            lines << (part.deviceKey.empty()
                          ? tr("Measures %1: %2").arg(kind, name)
                          : tr("Measures %1: %2 (%3)").arg(kind, name, QString::fromStdString(part.deviceKey)));
        }
        if (const auto count = device->health.find("processors"); count != device->health.end())
            lines << tr("Processors: %1").arg(healthText(count->first, count->second));
        line(tr("User"), device->user);
        line(tr("Program"), device->program);
        line(tr("Last error"), device->lastError);
        line(tr("Drained by"), device->drainedBy);
    }
    if (const QString text = lines.join(QLatin1Char('\n')); text != m_about->toPlainText())
        m_about->setPlainText(text);
}

void FarmDetail::showHealth(const session::FarmHistory::Device* device, double seconds)
{
    std::vector<HealthCurves::Curve> curves;
    if (device != nullptr)
        for (const auto& [figure, samples] : device->health) {
            if (figure == "processors") // how many there are: beside the load, and no curve
                continue;
            HealthCurves::Curve curve;
            curve.title = healthTitle(figure);
            if (!samples.empty())
                curve.now = healthText(figure, samples.back().value);
            for (const session::FarmHistory::Sample& sample : samples)
                curve.points << QPointF(sample.seconds, std::clamp(sample.value, -kMostValue, kMostValue));
            curves.push_back(std::move(curve));
        }
    m_health->setCurves(std::move(curves), seconds);
    m_health->setAccessibleDescription(m_health->summary());
}

} // namespace lathe::ui
