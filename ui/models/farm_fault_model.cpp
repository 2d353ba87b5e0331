#include "ui/models/farm_fault_model.h"

#include "ui/models/farm_texts.h"

#include <QDateTime>
#include <QString>

#include <utility>

namespace lathe::ui {

void FarmFaultModel::setDevice(const session::FarmHistory::Device* device)
{
    std::vector<session::FarmFault> faults;
    if (device != nullptr)
        faults.assign(device->faults.rbegin(), device->faults.rend());
    if (faults == m_faults)
        return;
    beginResetModel(); // rarely: a fault, or another device
    m_faults = std::move(faults);
    endResetModel();
}

void FarmFaultModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int FarmFaultModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_faults.size());
}

int FarmFaultModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FarmFaultModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::FarmFault& fault = m_faults[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole)
        return plainTip(farmFaultText(fault));
    if (role != Qt::DisplayRole)
        return {};
    if (index.column() == WhatColumn)
        return farmFaultText(fault);
    return QDateTime::fromSecsSinceEpoch(
               std::chrono::duration_cast<std::chrono::seconds>(fault.at.time_since_epoch()).count())
        .toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

QVariant FarmFaultModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == TimeColumn ? tr("Time") : tr("What happened");
}

} // namespace lathe::ui
