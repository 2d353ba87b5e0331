#include "ui/models/issue_model.h"

#include "ui/models/error_advice.h"

#include <algorithm>

namespace lathe::ui {

void IssueModel::clear()
{
    beginResetModel();
    m_issues.clear();
    endResetModel();
}

void IssueModel::add(const Issue& issue)
{
    const auto same = std::find_if(m_issues.begin(), m_issues.end(), [&](const Issue& other) {
        return other.code == issue.code && other.where == issue.where && other.text == issue.text;
    });
    if (same != m_issues.end()) {
        same->count += issue.count;
        const int row = static_cast<int>(same - m_issues.begin());
        emit dataChanged(index(row, CountColumn), index(row, CountColumn));
        return;
    }
    beginInsertRows({}, rowCount(), rowCount());
    m_issues.push_back(issue);
    endInsertRows();
}

int IssueModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_issues.size());
}

int IssueModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant IssueModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Issue& issue = m_issues[static_cast<std::size_t>(index.row())];
    if (role == TaskIdRole)
        return issue.task;
    if (role == Qt::ToolTipRole)
        return issue.text + QStringLiteral("\n\n") + errorAdvice(issue.code).advice;
    if (role == Qt::TextAlignmentRole && index.column() == CountColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case CodeColumn: return errorAdvice(issue.code).title;
    case CountColumn: return issue.count;
    case WhereColumn: return issue.where;
    case TextColumn: return issue.text.section(QLatin1Char('\n'), 0, 0);
    default: return {};
    }
}

QVariant IssueModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case CodeColumn: return tr("What");
    case CountColumn: return tr("Count");
    case WhereColumn: return tr("Where");
    case TextColumn: return tr("Text");
    default: return {};
    }
}

} // namespace lathe::ui
