#pragma once

#include "core/session/farm_view.h"

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace lathe::ui {

/// The programs that wait for devices of a farm, by key and place. Those of who looks are marked.
class FarmQueueModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        PlaceColumn,
        KeyColumn,
        UserColumn,
        WaitedColumn,
        PriorityColumn,
        ProgramColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// `me`: who we are there; empty: nobody who waits.
    void setFarm(const session::FarmView& farm, const QString& me);
    bool isOurs(int row) const;
    void retranslate();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString cell(int row, int column) const;
    std::vector<session::FarmClaimView> m_waiting;
    QString m_me;
};

} // namespace lathe::ui
