#pragma once

#include "core/session/options/tuner_views.h"

#include <QAbstractTableModel>

#include <string>
#include <vector>

namespace lathe::ui {

/// The parameters of a tuner, a row each; the values can be changed. One that the tuner would not take stays in its row
/// as it was typed, and problem() says what is wrong with it.
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
    /// Of the values that are not the usual ones; where one would not be taken, of the one before.
    std::vector<std::string> settings() const;
    /// What is wrong with the first value that would not be taken; empty: all would be.
    QString problem() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    /// "100", "0.0001", without an exponent.
    static QString numberText(double value);

private:
    struct Value
    {
        double number = 0;
        QString refused; ///< what was typed since and would not be taken; empty: nothing was
    };
    void take(std::size_t row, const QString& text);
    QString rangeText(const session::TunerParameterView& parameter) const;
    QString problemOf(std::size_t row) const;
    std::vector<session::TunerParameterView> m_parameters;
    std::vector<Value> m_values; ///< parallel
};

} // namespace lathe::ui
