#include "ui/models/coverage_model.h"

#include "ui/models/core_text.h"
#include "ui/models/texts.h"

#include <QColor>

#include <cmath>

namespace lathe::ui {

void CoverageModel::setSubgraphs(std::vector<session::SubgraphReport> subgraphs)
{
    beginResetModel();
    m_subgraphs = std::move(subgraphs);
    endResetModel();
}

QString CoverageModel::coverText(session::Cover cover)
{
    switch (cover) {
    case session::Cover::Record: return tr("● record");
    case session::Cover::Near: return tr("◐ near match");
    case session::Cover::Default: return tr("○ default schedule");
    case session::Cover::NoTask: return tr("– not tuned");
    }
    return {};
}

int CoverageModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_subgraphs.size());
}

int CoverageModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CoverageModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::SubgraphReport& row = m_subgraphs[static_cast<std::size_t>(index.row())];
    const bool number = index.column() >= ShareColumn && index.column() <= MeasuredColumn;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::BackgroundRole && index.column() == RunsColumn) {
        // The sign before the word says the same.
        if (row.cover == session::Cover::Default)
            return QColor(0xd5, 0x5e, 0x00, 90);
        if (row.cover == session::Cover::Near)
            return QColor(0xe6, 0x9f, 0x00, 70);
        return {};
    }
    if (role == SortRole)
        switch (index.column()) {
        case RunsColumn: return static_cast<int>(row.cover);
        case ShareColumn: return std::isfinite(row.share) ? row.share : -1.0;
        case FlopColumn: return std::isfinite(row.flopShare) ? row.flopShare : -1.0;
        case EstimatedColumn: return std::isfinite(row.estimatedMs) ? row.estimatedMs : -1.0;
        case MeasuredColumn: return std::isfinite(row.measuredMs) ? row.measuredMs : -1.0;
        default: return data(index, Qt::DisplayRole);
        }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const auto percent = [](double share) {
        return std::isfinite(share) ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1) : QStringLiteral("–");
    };
    switch (index.column()) {
    case FunctionColumn: return QString::fromStdString(row.name);
    case RunsColumn: return coverText(row.cover);
    case ShareColumn: return percent(row.share);
    case FlopColumn: return percent(row.flopShare);
    case EstimatedColumn: return msText(row.estimatedMs);
    case MeasuredColumn: return msText(row.measuredMs);
    case AlgorithmColumn: return QString::fromStdString(row.alternative);
    case RecordColumn:
        return row.record.empty() ? QStringLiteral("–") : QString::fromStdString(row.record.substr(0, 8));
    case ReasonColumn: return coreText(row.reason, row.about);
    default: return {};
    }
}

QVariant CoverageModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole)
        switch (section) {
        case RunsColumn: return tr("What the exported library runs for this function");
        case ShareColumn: return tr("Share of the sum of all estimates");
        case FlopColumn: return tr("Share of the operations of all tasks");
        case EstimatedColumn: return tr("Measured alone during tuning");
        case MeasuredColumn: return tr("Measured in the exported library");
        default: return {};
        }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case FunctionColumn: return tr("Function");
    case RunsColumn: return tr("Runs");
    case ShareColumn: return tr("Time");
    case FlopColumn: return tr("Operations");
    case EstimatedColumn: return tr("Estimated");
    case MeasuredColumn: return tr("Measured");
    case AlgorithmColumn: return tr("Algorithm");
    case RecordColumn: return tr("Record");
    case ReasonColumn: return tr("Why");
    default: return {};
    }
}

} // namespace lathe::ui
