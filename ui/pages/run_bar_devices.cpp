#include "core/session/back_ends.h"
#include "ui/models/farm_texts.h"
#include "ui/models/texts.h"
#include "ui/pages/run_bar.h"
#include "ui/views/spacing.h"

#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QStringList>

#include <algorithm>
#include <utility>

// Where a run measures: on a device of this machine, or on those of a key behind a broker. What is picked there stays
// picked while the broker is away, and no run begins then: it never moves to another device by itself.

namespace lathe::ui {

namespace {

/// What a key of a farm has as its data, beside the names of this machine's devices, none of which begins so.
const QString kAtFarm = QStringLiteral("\nfarm\n");

QString farmData(const QString& broker, const QString& key)
{
    return kAtFarm + plainBroker(broker) + QLatin1Char('\n') + key;
}

bool isAtFarm(const QString& data)
{
    return data.startsWith(kAtFarm);
}

QString brokerOf(const QString& data)
{
    return data.section(QLatin1Char('\n'), 2, 2);
}

QString keyOf(const QString& data)
{
    return data.section(QLatin1Char('\n'), 3);
}

} // namespace

void RunBar::setDevice(const QString& key, const QString& broker)
{
    m_wantedDevice = key.isEmpty() || broker.isEmpty() ? key : farmData(broker, key);
    if (isAtFarm(m_wantedDevice) || isAtFarm(m_device->currentData().toString())) {
        m_device->setCurrentIndex(-1); // what was picked before is not wanted any more
        showTarget();
        return;
    }
    m_device->setCurrentIndex(key.isEmpty() ? 0 : std::max(0, m_device->findData(key)));
}

void RunBar::setFarm(FarmOffer farm)
{
    if (farm == m_farm || m_device->view()->isVisible()) // a list that is open is not changed under the pointer
        return;
    m_farm = std::move(farm);
    showTarget();
}

bool RunBar::pickFarmKey(const QString& key)
{
    const int row = m_device->findData(farmData(m_farm.place.broker, key));
    if (row < 0)
        return false;
    m_device->setCurrentIndex(row);
    m_wantedDevice = m_device->itemData(row).toString();
    showPicked();
    return true;
}

void RunBar::offerFarm(const QString& picked)
{
    for (const FarmOffer::Key& key : m_farm.keys) {
        const QString place = farmData(m_farm.place.broker, key.key);
        if (key.devices == 0 || !key.isFor(target().toStdString()))
            continue;
        m_device->addItem(m_farm.state == FarmLink::State::Connected
                              ? tr("%1 at the farm (%2 of %3 free)").arg(key.key).arg(key.free).arg(key.devices)
                              : tr("%1 at the farm (no answer)").arg(key.key),
                          place);
        m_device->setItemData(m_device->count() - 1, closedTitle(key.key, m_farm.state == FarmLink::State::Connected),
                              kClosedTitle);
        m_device->setItemData(m_device->count() - 1,
                              plainTip(tr("All devices of the key %1 that others leave free, by way of the broker %2")
                                           .arg(key.key, m_farm.place.broker)),
                              Qt::ToolTipRole);
    }
    if (!isAtFarm(picked) || m_device->findData(picked) >= 0)
        return;
    m_device->addItem(tr("%1 at the farm (not there)").arg(keyOf(picked)), picked);
    m_device->setItemData(m_device->count() - 1, closedTitle(keyOf(picked), false), kClosedTitle);
    m_device->setItemData(m_device->count() - 1, plainTip(tr("Key %1, broker %2").arg(keyOf(picked), brokerOf(picked))),
                          Qt::ToolTipRole);
}

QString RunBar::closedTitle(const QString& key, bool there)
{
    return there ? tr("%1 (farm)").arg(key) : tr("▲ %1 (farm)").arg(key);
}

/// As wide as what it shows while it is closed; its list is as wide as its entries.
void RunBar::fitDevices()
{
    int widest = 0, closed = 0;
    for (int row = 0; row < m_device->count(); ++row) {
        const QString text = m_device->itemText(row), title = m_device->itemData(row, kClosedTitle).toString();
        widest = std::max(widest, m_device->fontMetrics().horizontalAdvance(text));
        closed = std::max(closed, m_device->fontMetrics().horizontalAdvance(title.isEmpty() ? text : title));
    }
    m_device->setFixedWidth(m_device->sizeHint().width() - widest + closed);
    m_device->view()->setMinimumWidth(m_device->view()->sizeHintForColumn(0) + spacing::kPage);
}

/// Empty: the key that is picked can be measured on.
QString RunBar::whyNotAtFarm() const
{
    const QString picked = m_device->currentData().toString();
    const QString broker = brokerOf(picked), key = keyOf(picked);
    if (m_farm.state == FarmLink::State::None || plainBroker(m_farm.place.broker) != broker)
        return tr("The run measures at the broker %1, which is not connected: see the page Devices").arg(broker);
    if (m_farm.state != FarmLink::State::Connected)
        return tr("The broker %1 does not answer").arg(broker);
    for (const FarmOffer::Key& offered : m_farm.keys)
        if (offered.key == key && offered.devices > 0)
            return offered.isFor(target().toStdString())
                       ? QString()
                       : tr("The devices of the key %1 do not measure for this target").arg(key);
    return tr("No device of the key %1 is there").arg(key);
}

/// Whether the target can be tuned for, as far as is known.
bool RunBar::canMeasure() const
{
    const QString picked = m_device->currentData().toString();
    if (isAtFarm(picked))
        return whyNotAtFarm().isEmpty();
    return session::checkMeasurable(target().toStdString()) && (!m_devices || !picked.isEmpty());
}

/// Devices of the target's kind, and what can be done with it.
void RunBar::showTarget()
{
    offerDevices();
    showPicked();
}

void RunBar::showPicked()
{
    const auto view = session::viewTarget(target().toStdString());
    const bool simulated = view && view->simulated;
    const bool elsewhere = !session::checkMeasurable(target().toStdString());
    const bool atFarm = isAtFarm(m_device->currentData().toString());
    const QString why = atFarm ? whyNotAtFarm() : m_device->currentData(Qt::ToolTipRole).toString();
    m_device->setToolTip(
        !m_readOnly.isEmpty()  ? m_readOnly
        : !atFarm && elsewhere ? tr("This machine cannot measure for this target, but devices of a farm may; libraries "
                                    "are exported with default schedules")
        : !canMeasure()        ? tr("Nothing can be measured: %1").arg(why)
        : atFarm               ? m_device->currentData(Qt::ToolTipRole).toString()
        : view && !view->standsFor.empty()
            ? tr("No device: a model says what latencies to expect; none is measured, and no output is compared")
        : simulated ? tr("No device: a formula gives the latencies, so everything can be tried within seconds")
                    : tr("Where candidates are measured"));
    const auto tip = [&](QAction* action, const QString& text) {
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        action->setToolTip(!m_readOnly.isEmpty() ? m_readOnly
                           : canMeasure()        ? QStringLiteral("%1 (%2)").arg(text, keys)
                                                 : m_device->toolTip());
    };
    tip(m_start, m_tuned ? tr("Continue from what was measured; the budget is added on top")
                         : tr("Tune the network from here on"));
    tip(m_resume, tr("Continue the project's latest run"));
    enableActions();
}

void RunBar::takeDevice(session::TuneOptions& options) const
{
    const QString picked = m_device->currentData().toString();
    if (!isAtFarm(picked)) {
        if (!picked.isEmpty())
            options.devices = {picked.toStdString()};
        return;
    }
    options.devices = {keyOf(picked).toStdString()};
    options.broker = brokerOf(picked).toStdString();
    if (plainBroker(m_farm.place.broker) == brokerOf(picked)) {
        options.broker = m_farm.place.broker.toStdString();
        options.credentials = m_farm.place.token.toStdString();
    }
}

} // namespace lathe::ui
