#pragma once

#include "core/session/layout_part.h"

#include <QAbstractTableModel>

#include <optional>
#include <set>

namespace lathe::ui {

/// The functions whose layouts are chosen, a row each, with what their kernels cost; under wishes, where there are
/// some, with what they change in bold.
class LayoutFunctionModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        InputColumn,
        OutputColumn,
        CostColumn,
        ChangeColumn, ///< of the cost, under the wishes
        TaskColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setLayouts(const session::LayoutsView& chosen, const std::optional<session::WishedLayouts>& wished);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// "+0.012 ms", "−0.004 ms"; empty where nothing changes.
    static QString changeText(double ms);

private:
    session::LayoutsView m_view, m_before;
    std::set<std::int32_t> m_changed;
};

} // namespace lathe::ui
