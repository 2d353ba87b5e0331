#pragma once

#include "core/session/layout_part.h"

#include <QAbstractTableModel>

#include <optional>

namespace lathe::ui {

/// What the network takes with default schedules, with the fastest kernel of each function, with the layouts that the
/// graph tuner chose, and, where layouts are tried, with these: side by side.
class LayoutFigureModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Row
    {
        DefaultRow,
        KernelTunedRow,
        GraphTunedRow,
        TriedRow ///< only under wishes
    };
    enum Column
    {
        NameColumn,
        KernelsColumn,
        ConversionsColumn,
        SumColumn,
        ShareColumn, ///< of the default figure
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setLayouts(const session::LayoutsView& chosen, const std::optional<session::WishedLayouts>& wished);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Figure
    {
        double kernelsMs = session::kUnknown, totalMs = session::kUnknown;
    };
    Figure figure(int row) const;
    QString name(int row) const;
    QString toolTip(int row) const;

    session::LayoutsView m_chosen;
    std::optional<session::LayoutsView> m_tried;
};

} // namespace lathe::ui
