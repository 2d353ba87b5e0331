#pragma once

#include "core/session/history.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace lathe::ui {

/// Failed trials by stage and cause, most frequent first.
class FailureModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        CountColumn,
        WhatColumn,
        StageColumn,
        CauseColumn,
        TasksColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setTaskNames(const QStringList& names);
    /// Rows of causes that stay are changed in place.
    void setFailures(std::vector<session::FailureView> failures);
    const session::FailureView& failure(int row) const { return m_failures[static_cast<std::size_t>(row)]; }
    std::int64_t total() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// "8 × conv, 2 × dense"; beyond `most` tasks their number.
    QString tasksText(const session::FailureView& failure, qsizetype most = 1000) const;
    static QString stageText(const std::string& stage);

private:
    std::vector<session::FailureView> m_failures;
    QStringList m_taskNames;
};

} // namespace lathe::ui
