#include "ui/models/farm_queue_model.h"

#include "ui/models/farm_texts.h"

#include <QFont>

#include <utility>

namespace lathe::ui {

// A claim has no name that a person knows: rows are places, which come and go at the end.
void FarmQueueModel::setFarm(const session::FarmView& farm, const QString& me)
{
    m_me = me;
    std::vector<session::FarmClaimView> waiting;
    for (const session::FarmClaimView& claim : farm.claims)
        if (claim.place > 0)
            waiting.push_back(claim);
    const int before = rowCount(), after = static_cast<int>(waiting.size());
    if (after > before) {
        beginInsertRows({}, before, after - 1);
        m_waiting.insert(m_waiting.end(), waiting.begin() + before, waiting.end());
        endInsertRows();
    } else if (after < before) {
        beginRemoveRows({}, after, before - 1);
        m_waiting.resize(static_cast<std::size_t>(after));
        endRemoveRows();
    }
    m_waiting = std::move(waiting);
    if (after > 0)
        emit dataChanged(index(0, 0), index(after - 1, ColumnCount - 1));
}

bool FarmQueueModel::isOurs(int row) const
{
    return !m_me.isEmpty() && m_me == QString::fromStdString(m_waiting[static_cast<std::size_t>(row)].user);
}

void FarmQueueModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int FarmQueueModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_waiting.size());
}

int FarmQueueModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString FarmQueueModel::cell(int row, int column) const
{
    const session::FarmClaimView& claim = m_waiting[static_cast<std::size_t>(row)];
    switch (column) {
    case PlaceColumn: return QString::number(claim.place);
    case KeyColumn: return QString::fromStdString(claim.key);
    case UserColumn: {
        const QString user = QString::fromStdString(claim.user);
        return isOurs(row) ? tr("▶ you (%1)").arg(user) : user;
    }
    case WaitedColumn: return spanText(claim.waitedSeconds);
    case PriorityColumn: return QString::number(claim.priority);
    case ProgramColumn: return QString::fromStdString(claim.program);
    default: return {};
    }
}

QVariant FarmQueueModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const bool number = index.column() == PlaceColumn || index.column() == PriorityColumn;
    switch (role) {
    case Qt::DisplayRole: return cell(index.row(), index.column());
    case Qt::ToolTipRole: return plainTip(cell(index.row(), index.column()));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole: {
        QFont font;
        font.setBold(true);
        return isOurs(index.row()) ? QVariant(font) : QVariant();
    }
    default: return {};
    }
}

QVariant FarmQueueModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole && section == PriorityColumn)
        return tr("One more is a share of twice as many devices");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case PlaceColumn: return tr("Place");
    case KeyColumn: return tr("Key");
    case UserColumn: return tr("User");
    case WaitedColumn: return tr("Waited");
    case PriorityColumn: return tr("Priority");
    case ProgramColumn: return tr("Program");
    default: return {};
    }
}

} // namespace lathe::ui
