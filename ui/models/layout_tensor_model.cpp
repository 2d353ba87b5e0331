#include "ui/models/layout_tensor_model.h"

#include "ui/models/texts.h"

#include <QFont>

namespace lathe::ui {

QString LayoutTensorModel::functionName(const session::LayoutsView& view, std::int32_t function)
{
    return function < 0 || static_cast<std::size_t>(function) >= view.functions.size()
               ? tr("rest of the network")
               : QString::fromStdString(view.functions[static_cast<std::size_t>(function)].name);
}

QString LayoutTensorModel::conversionText(const session::LayoutTensor& tensor)
{
    return tensor.written == tensor.read ? tr("Read as it is written: nothing is converted")
                                         : tr("Converted from %1 to %2, which takes %3")
                                               .arg(QString::fromStdString(tensor.written),
                                                    QString::fromStdString(tensor.read), msText(tensor.conversionMs));
}

void LayoutTensorModel::setLayouts(const session::LayoutsView& chosen,
                                   const std::optional<session::WishedLayouts>& wished)
{
    const bool same = m_view.tensors.size() == chosen.tensors.size() && !chosen.tensors.empty();
    if (!same)
        beginResetModel();
    m_view = wished ? wished->view : chosen;
    m_changed.clear();
    if (wished)
        m_changed = {wished->tensors.begin(), wished->tensors.end()};
    if (same)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1)); // who selected a row keeps it
    else
        endResetModel();
}

int LayoutTensorModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_view.tensors.size());
}

int LayoutTensorModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LayoutTensorModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::LayoutTensor& tensor = m_view.tensors[static_cast<std::size_t>(index.row())];
    const bool converts = tensor.written != tensor.read;
    if (role == Qt::TextAlignmentRole && index.column() == CostColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && m_changed.contains(index.row())) {
        QFont changed;
        changed.setBold(true);
        return changed;
    }
    if (role == Qt::ToolTipRole)
        return conversionText(tensor);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case FromColumn: return functionName(m_view, tensor.from);
    case ToColumn: return functionName(m_view, tensor.to);
    case WrittenColumn: return QString::fromStdString(tensor.written);
    case ReadColumn: return QString::fromStdString(tensor.read);
    case CostColumn: return converts ? msText(tensor.conversionMs) : QString();
    case ShapeColumn: {
        session::TensorView shaped;
        shaped.shape = tensor.shape;
        return shapeText(shaped);
    }
    default: return {};
    }
}

QVariant LayoutTensorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case FromColumn: return tr("From");
    case ToColumn: return tr("To");
    case WrittenColumn: return tr("Written as");
    case ReadColumn: return tr("Read as");
    case CostColumn: return tr("Conversion");
    case ShapeColumn: return tr("Shape");
    default: return {};
    }
}

} // namespace lathe::ui
