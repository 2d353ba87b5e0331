#include "ui/models/issue_model.h"

#include "ui/models/core_text.h"
#include "ui/models/error_advice.h"

namespace lathe::ui {

namespace {

QString shownText(const IssueModel::Issue& issue)
{
    return issue.about ? coreText(*issue.about) : issue.text;
}

QString shownTitle(const IssueModel::Issue& issue)
{
    return issue.title ? coreText(*issue.title) : errorAdvice(issue.code).title;
}

QString shownAdvice(const IssueModel::Issue& issue)
{
    return issue.cure ? coreText(*issue.cure) : errorAdvice(issue.code).advice;
}

QString keyOf(const IssueModel::Issue& issue)
{
    return issue.code + QChar(0) + issue.where + QChar(0) + issue.text;
}

} // namespace

void IssueModel::retranslate()
{
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void IssueModel::clear()
{
    beginResetModel();
    m_issues.clear();
    m_rowOf.clear();
    endResetModel();
}

void IssueModel::add(const Issue& issue)
{
    const QString key = keyOf(issue);
    const auto known = m_rowOf.constFind(key);
    if (known == m_rowOf.constEnd() && rowCount() < kMostRows) {
        beginInsertRows({}, rowCount(), rowCount());
        m_rowOf.insert(key, rowCount());
        m_issues.push_back(issue);
        endInsertRows();
        return;
    }
    // A run may fail in ever new words: what no row is left for counts with the last of its kind.
    int row = known == m_rowOf.constEnd() ? rowCount() - 1 : *known;
    if (known == m_rowOf.constEnd())
        for (int other = rowCount() - 1; other >= 0; --other)
            if (m_issues[static_cast<std::size_t>(other)].code == issue.code) {
                row = other;
                break;
            }
    m_issues[static_cast<std::size_t>(row)].count += issue.count;
    emit dataChanged(index(row, CountColumn), index(row, CountColumn));
}

std::vector<IssueAction> IssueModel::actionsOf(int row) const
{
    const Issue& issue = m_issues[static_cast<std::size_t>(row)];
    std::vector<IssueAction> actions;
    if (issue.action.kind != IssueAction::Kind::None)
        actions.push_back(issue.action);
    if (issue.task >= 0)
        actions.push_back({IssueAction::Kind::ShowTask, QString::number(issue.task)});
    if (const Argument* const named = issue.about ? issue.about->find("nodes") : nullptr) {
        const auto* const list = std::get_if<std::vector<std::string>>(&named->value);
        const auto* const one = std::get_if<std::string>(&named->value);
        const std::string name = list != nullptr && !list->empty() ? list->front() : one != nullptr ? *one : "";
        if (!name.empty())
            actions.push_back({IssueAction::Kind::ShowNode, QString::fromStdString(name).remove(QLatin1Char('"'))});
    }
    const bool aboutSizes = issue.action.kind == IssueAction::Kind::InputSizes;
    actions.push_back({IssueAction::Kind::Manual, aboutSizes    ? QStringLiteral("input-sizes")
                                                  : issue.title ? QStringLiteral("result")
                                                                : errorAdvice(issue.code).topic});
    return actions;
}

void IssueModel::setDiagnoses(std::vector<Issue> found)
{
    beginResetModel();
    for (Issue& issue : m_issues)
        if (!issue.title)
            found.push_back(std::move(issue));
    m_issues = std::move(found);
    m_rowOf.clear();
    for (std::size_t i = 0; i < m_issues.size(); ++i)
        m_rowOf.insert(keyOf(m_issues[i]), static_cast<int>(i));
    endResetModel();
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
        return shownText(issue) + QStringLiteral("\n\n") + shownAdvice(issue);
    if (role == Qt::TextAlignmentRole && index.column() == CountColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case CodeColumn: return shownTitle(issue);
    case CountColumn: return issue.count;
    case WhereColumn: return issue.where;
    case TextColumn: {
        const QString line = shownText(issue).section(QLatin1Char('\n'), 0, 0);
        return issue.cure ? line + QStringLiteral(". ") + shownAdvice(issue) : line;
    }
    default: return {};
    }
}

QVariant IssueModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case CodeColumn: return tr("Issue");
    case CountColumn: return tr("Count");
    case WhereColumn: return tr("Where");
    case TextColumn: return tr("Message");
    default: return {};
    }
}

} // namespace lathe::ui
