#pragma once

#include "core/session/history.h"
#include "ui/models/history_reader.h"

#include <QAbstractTableModel>
#include <QCache>
#include <QElapsedTimer>
#include <QStringList>
#include <QTimer>

#include <array>
#include <vector>

namespace lathe::ui {

/// The trials of a project, a million and more: knows the row numbers that a query yields (8 bytes each) and holds the
/// texts of what was shown lately. A query, and rows not yet held, are read on a thread; until they come their cells
/// are empty.
class RecordModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        TimeColumn,
        TaskColumn,
        LatencyColumn,
        PredictedColumn,
        StateColumn,
        AlgorithmColumn,
        SketchColumn,
        RoundColumn,
        VerifiedColumn,
        TrialColumn,
        TextColumn,
        NoteColumn,
        RepeatsColumn,
        ColumnCount
    };
    enum Role
    {
        RowIdRole = Qt::UserRole, ///< of the project, known for every row
        RunIdRole, ///< 0: none, or not read yet
        TaskIdRole, ///< -1: none, or not read yet
        TrialIdRole, ///< whole; empty: not read yet
        NoteRole, ///< whole
        FailedRole
    };

    explicit RecordModel(QObject* parent = nullptr);
    ~RecordModel() override;

    /// Forgets all and reads anew. Null: empty.
    void setHistory(std::unique_ptr<session::History> history);
    void setTaskNames(const QStringList& names);
    /// The order stays that of sort().
    void setQuery(const session::TrialQuery& query);
    const session::TrialQuery& query() const { return m_query; }
    /// Takes in what was stored since: added where the order is that of time, else read anew.
    void refresh();
    void reread() { read(); }
    /// What was read shows again, in the window's language.
    void retranslate();
    bool isReading() const { return m_finding; }
    /// A note was changed: its cells are read again.
    void forgetNote(const QString& trial);
    /// How long the latest query took.
    double seconds() const { return m_seconds; }
    const std::vector<std::int64_t>& rowIds() const { return m_rows; }
    /// Position of a row of the project, -1: not listed.
    int find(std::int64_t row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

    /// The texts of a trial's columns.
    static std::array<QString, ColumnCount> texts(const session::TrialRow& row, const QStringList& taskNames);

signals:
    void queryStarted();
    void queryEnded(); ///< rowIds() is the answer
    void queryFailed(const QString& text);

private:
    struct Shown
    {
        std::array<QString, ColumnCount> cells;
        int task = -1;
        qint64 run = 0;
        bool failed = false;
        QString tip, trial, note;
    };

    void read();
    void take(std::vector<std::int64_t> rows);
    void want(int row) const;
    void fetch();

    HistoryReader m_finder, m_fetcher; ///< two: scrolling goes on while a query runs
    session::TrialQuery m_query;
    QStringList m_taskNames;
    std::vector<std::int64_t> m_rows;
    QCache<std::int64_t, Shown> m_shown;
    mutable std::vector<int> m_wanted; ///< first rows of blocks, latest last
    mutable QTimer m_fetchTimer;
    bool m_fetching = false, m_finding = false;
    Job m_find;
    QElapsedTimer m_clock;
    double m_seconds = 0;
};

} // namespace lathe::ui
