#include "ui/models/farm_device_model.h"

#include "ui/models/farm_texts.h"

#include <QGuiApplication>
#include <QLocale>
#include <QPalette>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace lathe::ui {

namespace {

using session::FarmDeviceState, session::FarmDeviceView;

auto placeOf(const FarmDeviceView& device)
{
    return std::tie(device.key, device.name);
}

std::optional<double> figureOf(const FarmDeviceView& device, const char* name)
{
    const auto figure = device.health.find(name);
    return figure == device.health.end() ? std::nullopt : std::optional(figure->second);
}

QString figureText(const FarmDeviceView& device, const char* name)
{
    const auto figure = figureOf(device, name);
    return figure ? healthText(name, *figure) : QString();
}

bool isHad(FarmDeviceState state)
{
    return state == FarmDeviceState::Busy || state == FarmDeviceState::Draining || state == FarmDeviceState::Offered;
}

} // namespace

// Both lists are in the order of key and name: what is in one of them alone has come or gone.
void FarmDeviceModel::setFarm(const session::FarmView& farm, const QString& me, bool answers)
{
    m_me = me;
    m_answers = answers;
    if (m_devices.empty() && !farm.devices.empty()) {
        beginInsertRows({}, 0, static_cast<int>(farm.devices.size()) - 1);
        m_devices = farm.devices;
        endInsertRows();
        return;
    }
    std::size_t row = 0;
    for (const FarmDeviceView& device : farm.devices) {
        while (row < m_devices.size() && placeOf(m_devices[row]) < placeOf(device)) {
            beginRemoveRows({}, static_cast<int>(row), static_cast<int>(row));
            m_devices.erase(m_devices.begin() + static_cast<std::ptrdiff_t>(row));
            endRemoveRows();
        }
        if (row < m_devices.size() && placeOf(m_devices[row]) == placeOf(device)) {
            m_devices[row++] = device;
            continue;
        }
        beginInsertRows({}, static_cast<int>(row), static_cast<int>(row));
        m_devices.insert(m_devices.begin() + static_cast<std::ptrdiff_t>(row++), device);
        endInsertRows();
    }
    if (row < m_devices.size()) {
        beginRemoveRows({}, static_cast<int>(row), rowCount() - 1);
        m_devices.resize(row);
        endRemoveRows();
    }
    tellChanges();
}

void FarmDeviceModel::tellChanges()
{
    if (!m_devices.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int FarmDeviceModel::rowOf(const std::string& key, const std::string& name) const
{
    const auto found = std::ranges::find_if(
        m_devices, [&](const FarmDeviceView& device) { return device.key == key && device.name == name; });
    return found == m_devices.end() ? -1 : static_cast<int>(found - m_devices.begin());
}

void FarmDeviceModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    tellChanges();
}

int FarmDeviceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_devices.size());
}

int FarmDeviceModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString FarmDeviceModel::cell(const FarmDeviceView& device, int column) const
{
    switch (column) {
    case StateColumn:
        return device.state == FarmDeviceState::Lost
                   ? tr("%1, %2 ago").arg(farmStateText(device.state), spanText(device.silentSeconds))
                   : farmStateText(device.state);
    case DeviceColumn: return QString::fromStdString(device.name);
    case KeyColumn: return QString::fromStdString(device.key);
    case RunColumn: {
        const QString run = farmRunText(device, m_me);
        return isHad(device.state) && !run.isEmpty() && device.state != FarmDeviceState::Offered
                   ? tr("%1: %2").arg(spanText(device.hadSeconds), run)
                   : run;
    }
    case LoadColumn: return figureText(device, "load");
    case TemperatureColumn: return figureText(device, "temperature_c");
    case TrialsColumn: return QLocale().toString(static_cast<qlonglong>(device.trials));
    case ErrorColumn: return QString::fromStdString(device.lastError);
    case HostColumn: return QString::fromStdString(device.host);
    case HardwareColumn: return farmHardwareText(device);
    default: return {};
    }
}

QVariant FarmDeviceModel::sortValue(const FarmDeviceView& device, int column) const
{
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    switch (column) {
    case StateColumn: return static_cast<int>(device.state);
    case LoadColumn: return figureOf(device, "load").value_or(kNone);
    case TemperatureColumn: return figureOf(device, "temperature_c").value_or(kNone);
    case TrialsColumn: return static_cast<qlonglong>(device.trials);
    case RunColumn: return farmRunText(device, m_me); // without how long, which changes each second
    default: return cell(device, column);
    }
}

QString FarmDeviceModel::tip(const FarmDeviceView& device, int column) const
{
    return column == StateColumn ? farmStateTip(device.state) : cell(device, column);
}

QVariant FarmDeviceModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const FarmDeviceView& device = m_devices[static_cast<std::size_t>(index.row())];
    const bool number = index.column() >= LoadColumn && index.column() <= TrialsColumn;
    switch (role) {
    case Qt::DisplayRole: return cell(device, index.column());
    case SortRole: return sortValue(device, index.column());
    case Qt::ToolTipRole: return plainTip(tip(device, index.column()));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::BackgroundRole:
        return index.column() == StateColumn && m_answers ? QVariant(farmStateColor(device.state)) : QVariant();
    case Qt::ForegroundRole: // nobody knows whether it is still so
        return m_answers ? QVariant() : QVariant(QGuiApplication::palette().brush(QPalette::PlaceholderText));
    default: return {};
    }
}

QVariant FarmDeviceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole)
        switch (section) {
        case KeyColumn: return tr("Runs ask for devices by their key");
        case RunColumn: return tr("How long it has been measuring, for whom, and in which program");
        case LoadColumn: return tr("Processes that want to run on its machine, one minute's mean");
        case TrialsColumn: return tr("Measured since its runner was started");
        default: return {};
        }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case StateColumn: return tr("State");
    case DeviceColumn: return tr("Device");
    case KeyColumn: return tr("Key");
    case RunColumn: return tr("Run");
    case LoadColumn: return tr("Load");
    case TemperatureColumn: return tr("Temp.");
    case TrialsColumn: return tr("Trials");
    case ErrorColumn: return tr("Last error");
    case HostColumn: return tr("Host");
    case HardwareColumn: return tr("Hardware");
    default: return {};
    }
}

} // namespace lathe::ui
