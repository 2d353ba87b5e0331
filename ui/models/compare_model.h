#pragma once

#include "core/session/comparison.h"

#include <QAbstractTableModel>

namespace lathe::ui {

/// Tasks of two projects side by side, most harm first.
class CompareModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        TaskColumn,
        WeightColumn,
        BeforeColumn,
        NowColumn,
        ChangeColumn, ///< of the task
        NetworkColumn, ///< weighted, of the network
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setComparison(session::Comparison comparison);
    const session::Comparison& comparison() const { return m_comparison; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    session::Comparison m_comparison;
};

} // namespace lathe::ui
