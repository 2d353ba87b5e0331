#pragma once

#include "core/session/exports/coverage.h"

#include <QAbstractTableModel>

namespace lathe::ui {

/// What each function of a network runs in an export: its record, a near match, or a default schedule and why.
class CoverageModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        FunctionColumn,
        RunsColumn,
        ShareColumn, ///< of the estimated sum
        FlopColumn, ///< of the operations
        EstimatedColumn,
        MeasuredColumn,
        AlgorithmColumn,
        RecordColumn,
        ReasonColumn,
        ColumnCount
    };
    enum Role
    {
        SortRole = Qt::UserRole ///< numbers as numbers
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setSubgraphs(std::vector<session::SubgraphReport> subgraphs);
    static QString coverText(session::Cover cover);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<session::SubgraphReport> m_subgraphs;
};

} // namespace lathe::ui
