#pragma once

#include <QStyledItemDelegate>

namespace lathe::ui {

/// A number with a bar behind it: "12.3 %" as text, its length as a share of 100.
class ShareDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace lathe::ui
