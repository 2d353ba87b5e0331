#pragma once

#include "core/session/views.h"

#include <QAbstractTableModel>
#include <QHash>

#include <vector>

namespace lathe::ui {

/// What a person can do about a row of the Issues.
struct IssueAction
{
    enum class Kind
    {
        None,
        InputSizes, ///< say how large the inputs of `subject`, a model or project, are
        ListUnsupported, ///< all that Lathe lacks for `subject`, a model
        ShowTask, ///< `subject`: its index
        ShowNode, ///< of the network that is open; `subject`: its name
        Manual ///< `subject`: the topic
    };
    Kind kind = Kind::None;
    QString subject;
    bool operator==(const IssueAction&) const = default;
};

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
        IssueAction action = {}; ///< what helps most; without one it is worked out of the others
        About title = {}, cure = {}; ///< of a diagnosis: instead of what the code says
    };

    static constexpr int kMostRows = 2000;

    using QAbstractTableModel::QAbstractTableModel;
    void clear();
    void retranslate();
    /// Adds, or counts up the equal one; once there are so many, the latest of its code.
    void add(const Issue& issue);
    /// Those that were found by rules, in place of the ones before: first of all rows.
    void setDiagnoses(std::vector<Issue> found);

    /// What can be done about a row: what helps most comes first, the manual last. Never empty.
    std::vector<IssueAction> actionsOf(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Issue> m_issues;
    QHash<QString, int> m_rowOf; ///< by code, place and text
};

} // namespace lathe::ui
