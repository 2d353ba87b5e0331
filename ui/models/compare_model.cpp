#include "ui/models/compare_model.h"

#include <QColor>
#include <QGuiApplication>
#include <QPalette>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

QString signedText(double value, int decimals, const QString& unit)
{
    if (!std::isfinite(value))
        return QStringLiteral("–");
    return (value > 0 ? QStringLiteral("+") : QString()) + QString::number(value, 'f', decimals) + unit;
}

} // namespace

void CompareModel::setComparison(session::Comparison comparison)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    endResetModel();
}

int CompareModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_comparison.tasks.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CompareModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::TaskChange& change = m_comparison.tasks[static_cast<std::size_t>(index.row())];
    const double percent = 100 * (change.ratio() - 1);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((index.column() == TaskColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::BackgroundRole && (index.column() == ChangeColumn || index.column() == NetworkColumn) && std::isfinite(percent)) {
        // Orange is slower, blue is faster, the stronger the more; the sign says the same.
        QColor color = percent > 0 ? QColor(0xd5, 0x5e, 0x00) : QColor(0x00, 0x72, 0xb2);
        color.setAlphaF(static_cast<float>(std::clamp(std::abs(percent) / 40, 0.0, 0.55)));
        return color;
    }
    if (role != Qt::DisplayRole)
        return {};
    const auto ms = [](double value) { return std::isfinite(value) ? QString::number(value, 'f', 4) : QStringLiteral("–"); };
    switch (index.column()) {
    case TaskColumn: return QString::fromStdString(change.name);
    case WeightColumn: return QString::number(change.weight);
    case BeforeColumn: return ms(change.beforeMs);
    case NowColumn: return ms(change.afterMs);
    case ChangeColumn: return signedText(percent, 1, QStringLiteral(" %"));
    case NetworkColumn: return signedText((change.afterMs - change.beforeMs) * change.weight, 4, QString());
    default: return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TaskColumn: return tr("Task");
    case WeightColumn: return tr("Weight");
    case BeforeColumn: return tr("Before (ms)");
    case NowColumn: return tr("Now (ms)");
    case ChangeColumn: return tr("Change");
    case NetworkColumn: return tr("In the network (ms)");
    default: return {};
    }
}

} // namespace lathe::ui
