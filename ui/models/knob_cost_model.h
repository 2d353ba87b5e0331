#pragma once

#include "core/session/template_trials.h"

#include <QAbstractTableModel>

#include <vector>

namespace lathe::ui {

/// What the trials say of one value of a knob, whatever the other knobs were.
struct KnobCost
{
    std::int32_t value = 0; ///< index into TriedKnob::values
    double medianMs = session::kUnknown, bestMs = session::kUnknown; ///< unknown where all failed
    std::int64_t trials = 0, failed = 0; ///< the failed ones count among the trials
};

/// One per value that was tried, in the order of the knob's choices. Trials of one origin alone: others do not compare.
std::vector<KnobCost> knobCosts(const session::TemplateTrials& trials, std::size_t knob, std::int32_t origin);

/// Cost by the values of a knob, a row each.
class KnobCostModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        ValueColumn,
        MedianColumn,
        BestColumn,
        SpeedColumn, ///< the fastest of all by this value's median, in per cent: what a bar shows
        TrialsColumn,
        FailedColumn,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// Null: empty.
    void setKnob(const session::TemplateTrials* trials, std::size_t knob, std::int32_t origin);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<KnobCost> m_costs;
    std::vector<QString> m_values; ///< parallel
    double m_bestMs = session::kUnknown; ///< of all
};

} // namespace lathe::ui
