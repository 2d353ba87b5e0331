#include "ui/models/failure_model.h"

#include "ui/models/core_text.h"
#include "ui/models/error_advice.h"

#include <algorithm>

namespace lathe::ui {

void FailureModel::setTaskNames(const QStringList& names)
{
    m_taskNames = names;
}

void FailureModel::setFailures(std::vector<session::FailureView> failures)
{
    const bool same = failures.size() == m_failures.size()
                      && std::equal(failures.begin(), failures.end(), m_failures.begin(),
                                    [](const auto& a, const auto& b) {
                                        return a.code == b.code && a.stage == b.stage && a.cause == b.cause;
                                    });
    if (same) {
        m_failures = std::move(failures);
        if (!m_failures.empty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_failures = std::move(failures);
    endResetModel();
}

std::int64_t FailureModel::total() const
{
    std::int64_t sum = 0;
    for (const session::FailureView& failure : m_failures)
        sum += failure.count;
    return sum;
}

int FailureModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_failures.size());
}

int FailureModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString FailureModel::stageText(const std::string& stage)
{
    static const std::pair<const char*, const char*> kStages[] = {
        {"lower", QT_TR_NOOP("lowering")}, {"build", QT_TR_NOOP("building")},   {"load", QT_TR_NOOP("loading")},
        {"run", QT_TR_NOOP("running")},    {"verify", QT_TR_NOOP("verifying")}, {"transport", QT_TR_NOOP("transport")}};
    for (const auto& [name, text] : kStages)
        if (stage == name)
            return tr(text);
    return QString::fromStdString(stage);
}

QString FailureModel::tasksText(const session::FailureView& failure, qsizetype most) const
{
    QStringList parts;
    for (const auto& [task, count] : failure.byTask) {
        if (parts.size() == most) {
            const auto more = static_cast<qsizetype>(failure.byTask.size()) - most;
            parts << (more == 1 ? tr("1 more task") : tr("%1 more tasks").arg(more));
            break;
        }
        const QString name = task >= 0 && task < m_taskNames.size() ? m_taskNames[task] : tr("other network");
        parts << QStringLiteral("%1 × %2").arg(count).arg(name);
    }
    return parts.join(QStringLiteral(", "));
}

QVariant FailureModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::FailureView& failure = m_failures[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole && index.column() == CountColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return coreText(failure.text, failure.about);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case CountColumn: return QString::number(failure.count);
    case WhatColumn: return errorAdvice(QString::fromStdString(failure.code)).title;
    case StageColumn: return stageText(failure.stage);
    case CauseColumn:
        return failure.about ? QString::fromStdString(session::causeOf(coreText(*failure.about).toStdString()))
                                   .remove(QChar::ReplacementCharacter)
                             : QString::fromStdString(failure.cause);
    case TasksColumn: return tasksText(failure);
    default: return {};
    }
}

QVariant FailureModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case CountColumn: return tr("Count");
    case WhatColumn: return tr("What");
    case StageColumn: return tr("Stage");
    case CauseColumn: return tr("Cause");
    case TasksColumn: return tr("Tasks");
    default: return {};
    }
}

} // namespace lathe::ui
