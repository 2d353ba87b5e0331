#pragma once

#include "core/session/layout_part.h"

#include <QAbstractTableModel>

#include <optional>
#include <set>

namespace lathe::ui {

/// The tensors between functions whose layouts are chosen, a row each; under wishes, where there are some, with what
/// they change in bold.
class LayoutTensorModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        FromColumn,
        ToColumn,
        WrittenColumn,
        ReadColumn,
        CostColumn,
        ShapeColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// `wished` nothing: there are no wishes.
    void setLayouts(const session::LayoutsView& chosen, const std::optional<session::WishedLayouts>& wished);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// "conv2d_3", "the rest of the network" for -1.
    static QString functionName(const session::LayoutsView& view, std::int32_t function);
    /// Whether it is converted on its way, and how long that takes.
    static QString conversionText(const session::LayoutTensor& tensor);

private:
    session::LayoutsView m_view;
    std::set<std::int32_t> m_changed;
};

} // namespace lathe::ui
