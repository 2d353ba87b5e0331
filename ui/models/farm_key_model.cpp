#include "ui/models/farm_key_model.h"

#include <QString>

namespace lathe::ui {

void FarmKeyModel::setFarm(const session::FarmView& farm)
{
    const int before = rowCount(), after = static_cast<int>(farm.keys.size());
    if (after > before) {
        beginInsertRows({}, before, after - 1);
        m_keys.insert(m_keys.end(), farm.keys.begin() + before, farm.keys.end());
        endInsertRows();
    } else if (after < before) {
        beginRemoveRows({}, after, before - 1);
        m_keys.resize(static_cast<std::size_t>(after));
        endRemoveRows();
    }
    m_keys = farm.keys;
    if (after > 0)
        emit dataChanged(index(0, 0), index(after - 1, ColumnCount - 1));
}

void FarmKeyModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int FarmKeyModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_keys.size());
}

int FarmKeyModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FarmKeyModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::FarmKeyView& key = m_keys[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((index.column() == KeyColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case KeyColumn: return QString::fromStdString(key.key);
    case DevicesColumn: return QString::number(key.total);
    case FreeColumn: return QString::number(key.free);
    case WaitingColumn: return QString::number(key.pending);
    default: return {};
    }
}

QVariant FarmKeyModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole && section == WaitingColumn)
        return tr("Programs that have no device of this key");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case KeyColumn: return tr("Key");
    case DevicesColumn: return tr("Devices");
    case FreeColumn: return tr("Free");
    case WaitingColumn: return tr("Waiting");
    default: return {};
    }
}

} // namespace lathe::ui
