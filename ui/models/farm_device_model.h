#pragma once

#include "core/session/farm_view.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace lathe::ui {

/// The devices of a farm, by key and name. Fed with a view of the farm each second: rows come and go one by one, so
/// that whoever has selected one keeps it.
class FarmDeviceModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        StateColumn,
        DeviceColumn,
        KeyColumn,
        RunColumn,
        LoadColumn,
        TemperatureColumn,
        TrialsColumn,
        ErrorColumn,
        HostColumn,
        HardwareColumn,
        ColumnCount
    };
    static constexpr int SortRole = Qt::UserRole;

    using QAbstractTableModel::QAbstractTableModel;

    /// `me`: who we are there; `answers`: whether that is how the farm is now, or was when it was heard last.
    void setFarm(const session::FarmView& farm, const QString& me, bool answers);
    const session::FarmDeviceView& device(int row) const { return m_devices[static_cast<std::size_t>(row)]; }
    /// -1: it is not there.
    int rowOf(const std::string& key, const std::string& name) const;
    void retranslate();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString cell(const session::FarmDeviceView& device, int column) const;
    QVariant sortValue(const session::FarmDeviceView& device, int column) const;
    QString tip(const session::FarmDeviceView& device, int column) const;
    void tellChanges();

    std::vector<session::FarmDeviceView> m_devices;
    QString m_me;
    bool m_answers = false;
};

} // namespace lathe::ui
