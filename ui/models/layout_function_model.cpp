#include "ui/models/layout_function_model.h"

#include "ui/models/texts.h"

#include <QFont>

#include <cmath>

namespace lathe::ui {

QString LayoutFunctionModel::changeText(double ms)
{
    constexpr double kNothing = 1e-7; // ms: what sums of floating point leave
    if (std::abs(ms) < kNothing)
        return {};
    return (ms > 0 ? QStringLiteral("+") : QStringLiteral("−")) + msText(std::abs(ms));
}

void LayoutFunctionModel::setLayouts(const session::LayoutsView& chosen,
                                     const std::optional<session::WishedLayouts>& wished)
{
    const bool same = m_view.functions.size() == chosen.functions.size() && !chosen.functions.empty();
    if (!same)
        beginResetModel();
    m_before = chosen;
    m_view = wished ? wished->view : chosen;
    m_changed.clear();
    if (wished)
        m_changed = {wished->functions.begin(), wished->functions.end()};
    if (same)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    else
        endResetModel();
}

int LayoutFunctionModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_view.functions.size());
}

int LayoutFunctionModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LayoutFunctionModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const session::LayoutFunction& function = m_view.functions[row];
    if (role == Qt::TextAlignmentRole && (index.column() == CostColumn || index.column() == ChangeColumn))
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && m_changed.contains(index.row())) {
        QFont changed;
        changed.setBold(true);
        return changed;
    }
    if (role == Qt::ToolTipRole && index.column() == CostColumn)
        return function.task < 0        ? tr("It only takes several inputs, which must have the same layout")
               : function.trial.empty() ? tr("Its task has no valid record: it runs with a default schedule")
                                        : tr("Kernel of the trial %1").arg(QString::fromStdString(function.trial));
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case NameColumn: return QString::fromStdString(function.name);
    case InputColumn: return QString::fromStdString(function.input);
    case OutputColumn: return QString::fromStdString(function.output);
    case CostColumn: return function.trial.empty() ? QStringLiteral("–") : msText(function.kernelMs);
    case ChangeColumn: return changeText(function.kernelMs - m_before.functions[row].kernelMs);
    case TaskColumn: return function.task < 0 ? QString() : QStringLiteral("#%1").arg(function.task);
    default: return {};
    }
}

QVariant LayoutFunctionModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case NameColumn: return tr("Function");
    case InputColumn: return tr("Reads");
    case OutputColumn: return tr("Writes");
    case CostColumn: return tr("Kernel");
    case ChangeColumn: return tr("Change");
    case TaskColumn: return tr("Task");
    default: return {};
    }
}

} // namespace lathe::ui
