#pragma once

#include "core/session/options/tuner_views.h"

#include <QAbstractTableModel>

#include <string>
#include <vector>

namespace lathe::ui {

/// The parameters of a tuner, a row each; the values can be changed. One that is out of its range is not taken.
class TunerParameterModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NameColumn,
        ValueColumn,
        UsualColumn,
        RangeColumn,
        MeaningColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// `settings`: "pop_size=50"; of parameters that the tuner does not have they mean nothing.
    void setTuner(std::vector<session::TunerParameterView> parameters, const std::vector<std::string>& settings);
    /// Of the values that are not the usual ones.
    std::vector<std::string> settings() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    /// "100", "0.0001", without an exponent.
    static QString numberText(double value);

signals:
    void refused(const QString& why); ///< a value that was typed
    void accepted();

private:
    QString rangeText(const session::TunerParameterView& parameter) const;
    std::vector<session::TunerParameterView> m_parameters;
    std::vector<double> m_values; ///< parallel
};

} // namespace lathe::ui
