#pragma once

#include "core/session/farm_history.h"

#include <QAbstractTableModel>

#include <vector>

namespace lathe::ui {

/// What was not as it should be with one device of a farm, the latest first.
class FarmFaultModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        TimeColumn,
        WhatColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Null: there is none.
    void setDevice(const session::FarmHistory::Device* device);
    void retranslate();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<session::FarmFault> m_faults;
};

} // namespace lathe::ui
