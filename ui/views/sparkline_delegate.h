#pragma once

#include <QStyledItemDelegate>

namespace lathe::ui {

/// Draws a small falling step curve of a QList<double> in the given role, least value at the bottom.
class SparklineDelegate final : public QStyledItemDelegate
{
    Q_OBJECT

public:
    SparklineDelegate(int role, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_role(role)
    {
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    int m_role;
};

} // namespace lathe::ui
