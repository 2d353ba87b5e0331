#pragma once

#include "core/session/views.h"

#include <QAbstractTableModel>
#include <QHash>

#include <vector>

namespace lathe::ui {

/// What went wrong, one row per (stage, code, text): repeats are counted. Failed trials, import problems, failed
/// commands.
class IssueModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        CodeColumn,
        CountColumn,
        WhereColumn,
        TextColumn,
        ColumnCount
    };
    enum Role
    {
        TaskIdRole = Qt::UserRole ///< of the first; -1: none
    };

    struct Issue
    {
        QString code; ///< Errc
        QString where; ///< a task's name, a file
        QString text;
        int task = -1;
        int count = 1;
        About about = {}; ///< the text, where it is core's: shown in the window's language
    };

    static constexpr int kMostRows = 2000;

    using QAbstractTableModel::QAbstractTableModel;
    void clear();
    void retranslate();
    /// Adds, or counts up the equal one; once there are so many, the latest of its code.
    void add(const Issue& issue);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Issue> m_issues;
    QHash<QString, int> m_rowOf; ///< by code, place and text
};

} // namespace lathe::ui
