#include "ui/models/layout_figure_model.h"

#include "ui/models/texts.h"

#include <QFont>

#include <cmath>

namespace lathe::ui {

void LayoutFigureModel::setLayouts(const session::LayoutsView& chosen,
                                   const std::optional<session::WishedLayouts>& wished)
{
    beginResetModel(); // three rows, of which nobody selects one
    m_chosen = chosen;
    m_tried = wished ? std::optional(wished->view) : std::nullopt;
    endResetModel();
}

int LayoutFigureModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_chosen.functions.empty() ? 0 : m_tried ? TriedRow + 1 : TriedRow;
}

int LayoutFigureModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

LayoutFigureModel::Figure LayoutFigureModel::figure(int row) const
{
    switch (row) {
    case DefaultRow: return {m_chosen.defaultMs, m_chosen.defaultMs};
    case KernelTunedRow: return {m_chosen.fastestKernelsMs, m_chosen.fastestMs};
    case GraphTunedRow: return {m_chosen.kernelsMs, m_chosen.totalMs};
    case TriedRow: return {m_tried->kernelsMs, m_tried->totalMs};
    default: return {};
    }
}

QString LayoutFigureModel::name(int row) const
{
    switch (row) {
    case DefaultRow: return tr("Default");
    case KernelTunedRow: return tr("Kernel-tuned");
    case GraphTunedRow: return tr("Graph-tuned");
    case TriedRow: return tr("As tried");
    default: return {};
    }
}

QString LayoutFigureModel::toolTip(int row) const
{
    switch (row) {
    case DefaultRow:
        return m_chosen.defaultsMissing > 0
                   ? tr("The default schedules of %Ln functions were not measured under the same conditions", nullptr,
                        static_cast<int>(m_chosen.defaultsMissing))
                   : tr("The default schedules, as they were measured, in the network's own layout");
    case KernelTunedRow: return tr("The fastest kernel of each function, and the conversions that these need");
    case GraphTunedRow: return tr("The kernels and layouts that were chosen for the network as a whole");
    case TriedRow: return tr("What the graph tuner chooses with the layouts that are tried");
    default: return {};
    }
}

QVariant LayoutFigureModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    if (role == Qt::TextAlignmentRole && index.column() != NameColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && index.row() == TriedRow) {
        QFont changed;
        changed.setBold(true);
        return changed;
    }
    if (role == Qt::ToolTipRole)
        return toolTip(index.row());
    if (role != Qt::DisplayRole)
        return {};
    const Figure shown = figure(index.row());
    const auto text = [](double ms) { return std::isfinite(ms) ? msText(ms) : QStringLiteral("–"); };
    switch (index.column()) {
    case NameColumn: return name(index.row());
    case KernelsColumn: return text(shown.kernelsMs);
    case ConversionsColumn: return text(shown.totalMs - shown.kernelsMs);
    case SumColumn: return text(shown.totalMs);
    case ShareColumn: {
        const double share = shown.totalMs / m_chosen.defaultMs;
        return std::isfinite(share) ? QString::number(share, 'f', 2) : QStringLiteral("–");
    }
    default: return {};
    }
}

QVariant LayoutFigureModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::ToolTipRole)
        return section == ShareColumn ? tr("The sum by that of the default schedules: 0.50 is twice as fast")
                                      : QVariant();
    switch (section) {
    case NameColumn: return tr("Network");
    case KernelsColumn: return tr("Kernels");
    case ConversionsColumn: return tr("Conversions");
    case SumColumn: return tr("Sum");
    case ShareColumn: return tr("Against default");
    default: return {};
    }
}

} // namespace lathe::ui
