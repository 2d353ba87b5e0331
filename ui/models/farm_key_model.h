#pragma once

#include "core/session/farm_view.h"

#include <QAbstractTableModel>

#include <vector>

namespace lathe::ui {

/// The keys of a farm, by name: how many devices each has, how many of them are free, how many programs wait.
class FarmKeyModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        KeyColumn,
        DevicesColumn,
        FreeColumn,
        WaitingColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setFarm(const session::FarmView& farm);
    void retranslate();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<session::FarmKeyView> m_keys;
};

} // namespace lathe::ui
