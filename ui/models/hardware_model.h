#pragma once

#include "core/session/views.h"

#include <QAbstractTableModel>

#include <functional>
#include <vector>

namespace lathe::ui {

/// Hardware parameters with value, unit and origin. Values can be edited once setEditor() has set who takes them.
class HardwareModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        ValueColumn,
        UnitColumn,
        OriginColumn,
        MeaningColumn,
        ColumnCount
    };
    /// Takes a value, or says in one sentence why not.
    using Editor = std::function<QString(const std::string& name, std::int64_t value)>;

    using QAbstractTableModel::QAbstractTableModel;

    void setLimits(std::vector<session::DeviceView::Limit> limits);
    void setEditor(Editor editor); ///< empty: nothing can be edited
    const session::DeviceView::Limit& limit(int row) const { return m_limits[static_cast<std::size_t>(row)]; }
    void retranslate();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void refused(const QString& text);

private:
    std::vector<session::DeviceView::Limit> m_limits;
    Editor m_editor;
};

} // namespace lathe::ui
