#pragma once

#include <QStyledItemDelegate>

namespace lathe::ui {

/// A list's entry in two lines: its text, and below it, smaller in weight, what DetailRole holds. Both are read out.
class TwoLineDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    static constexpr int DetailRole = Qt::UserRole + 1; ///< QString; entries without one have a line

    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace lathe::ui
