#pragma once

#include <QStringList>
#include <QStyledItemDelegate>

QT_BEGIN_NAMESPACE
class QFontMetricsF;
class QTableView;
QT_END_NAMESPACE

namespace lathe::ui {

/// A text in lines of at most `width` pixels, broken before a '+' and behind a space; what is left of it is cut in the
/// last of `most` lines. "conv2d 3x3 64->64 @56 " and "+residual+add+relu".
QStringList wrappedLines(const QFontMetricsF& metrics, const QString& text, double width, int most = 3);

/// Cells of a table whose text takes two or three lines where it does not fit into one.
class WrapDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    /// Gives each row of the table the height that its cells in `columns` take; call when texts or widths changed.
    static void fitRows(QTableView& table, const QList<int>& columns);

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

} // namespace lathe::ui
