#pragma once

#include "core/session/report/comparison.h"

#include <QAbstractTableModel>
#include <QColor>
#include <QPixmap>

#include <memory>

namespace lathe::ui {

/// What is held against each other: first the open project, then the pinned baselines with a letter and a colour each.
struct Compared
{
    session::Standing now;
    std::vector<session::Standing> baselines;

    const session::Standing& at(int i) const { return i == 0 ? now : baselines[static_cast<std::size_t>(i - 1)]; }
    int count() const { return 1 + static_cast<int>(baselines.size()); }
};

/// "now", "A", "B" ...
QString comparedLetter(int i);
/// Told apart by colour-blind people, too; the letter says the same.
QColor comparedColor(int i);
/// A square of it, for headings.
QPixmap comparedSwatch(int i);
/// "mlp.lathe, run 2, until 2026-01-31 18:00"
QString comparedName(const session::Baseline& baseline);
/// "▲ +12.3 %, slower": sign, figure, word. A dash where one of both is unknown.
QString changeText(double ratio);
/// Orange for slower, blue for faster, the stronger the more; none within the noise.
QVariant changeColor(double ratio);

/// The network level: one row per standing.
class StandingModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        EstimatedColumn,
        MeasuredColumn,
        ChangeColumn, ///< of now against it, over the tasks that both have
        UntunedColumn,
        CoveredColumn, ///< tasks with a record
        TrialsColumn,
        TimeColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    void set(std::shared_ptr<const Compared> compared);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::shared_ptr<const Compared> m_compared;
};

/// The task level: most harm against the first baseline on top. After the fixed columns each baseline has two: its
/// latency, and how the open project's changed against it; then comes what the change against the first one means for
/// the network.
class CompareModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        TaskColumn,
        WeightColumn,
        NowColumn,
        FixedColumns
    };
    static int beforeColumn(int baseline) { return FixedColumns + 2 * baseline; }
    static int changeColumn(int baseline) { return FixedColumns + 2 * baseline + 1; }

    /// The last: weighted change against the first baseline, in ms; only while there is one.
    int networkColumn() const { return m_baselines > 0 ? FixedColumns + 2 * m_baselines : -1; }

    using QAbstractTableModel::QAbstractTableModel;
    void set(std::shared_ptr<const Compared> compared);
    /// Key of a row's task.
    QString taskKey(int row) const;
    int rowOf(const QString& key) const; ///< -1: none

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row
    {
        std::string key, name;
        std::int32_t weight = 1;
        std::vector<double> ms; ///< now, then each baseline
        double harm() const;
    };
    std::vector<Row> m_rows;
    int m_baselines = 0;
};

/// Conditions side by side; those that differ first and marked.
class ConditionModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void set(std::shared_ptr<const Compared> compared);
    int differing() const;
    int serious() const; ///< of them, those after which latencies may not compare

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<session::ConditionRow> m_rows;
    int m_count = 0;
};

} // namespace lathe::ui
