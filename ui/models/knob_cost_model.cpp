#include "ui/models/knob_cost_model.h"

#include "ui/models/texts.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

std::vector<KnobCost> knobCosts(const session::TemplateTrials& trials, std::size_t knob, std::int32_t origin)
{
    const std::size_t count = trials.knobs[knob].values.size();
    std::vector<std::vector<double>> costs(count);
    std::vector<KnobCost> made(count);
    for (const session::TriedConfig& config : trials.configs) {
        if (config.origin != origin)
            continue;
        const auto value = static_cast<std::size_t>(config.values[knob]);
        ++made[value].trials;
        if (std::isfinite(config.costMs))
            costs[value].push_back(config.costMs);
        else
            ++made[value].failed;
    }
    for (std::size_t i = 0; i < count; ++i) {
        made[i].value = static_cast<std::int32_t>(i);
        std::vector<double>& sorted = costs[i];
        if (sorted.empty())
            continue;
        std::sort(sorted.begin(), sorted.end());
        const std::size_t half = sorted.size() / 2;
        made[i].bestMs = sorted.front();
        made[i].medianMs = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
    std::erase_if(made, [](const KnobCost& cost) { return cost.trials == 0; });
    return made;
}

void KnobCostModel::setKnob(const session::TemplateTrials* trials, std::size_t knob, std::int32_t origin)
{
    beginResetModel();
    m_costs.clear();
    m_values.clear();
    m_bestMs = session::kUnknown;
    if (trials != nullptr && knob < trials->knobs.size())
        m_costs = knobCosts(*trials, knob, origin);
    for (const KnobCost& cost : m_costs) {
        m_values.push_back(
            QString::fromStdString(trials->knobs[knob].values[static_cast<std::size_t>(cost.value)].text));
        m_bestMs = std::fmin(m_bestMs, cost.bestMs); // of a number and an unknown one the number
    }
    endResetModel();
}

int KnobCostModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_costs.size());
}

int KnobCostModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant KnobCostModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const KnobCost& cost = m_costs[row];
    if (role == Qt::TextAlignmentRole && index.column() != ValueColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && index.column() == SpeedColumn)
        return tr("The fastest configuration of all as a share of this value's median: 100 % is the best that a value "
                  "can have");
    if (role != Qt::DisplayRole)
        return {};
    const QLocale locale;
    switch (index.column()) {
    case ValueColumn: return m_values[row];
    case MedianColumn: return msText(cost.medianMs);
    case BestColumn: return msText(cost.bestMs);
    case SpeedColumn:
        return std::isfinite(cost.medianMs) ? QStringLiteral("%1 %").arg(std::lround(100 * m_bestMs / cost.medianMs))
                                            : QStringLiteral("–");
    case TrialsColumn: return locale.toString(static_cast<qlonglong>(cost.trials));
    case FailedColumn: return cost.failed == 0 ? QString() : locale.toString(static_cast<qlonglong>(cost.failed));
    default: return {};
    }
}

QVariant KnobCostModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case ValueColumn: return tr("Value");
    case MedianColumn: return tr("Median");
    case BestColumn: return tr("Best");
    case SpeedColumn: return tr("Speed");
    case TrialsColumn: return tr("Trials");
    case FailedColumn: return tr("Failed");
    default: return {};
    }
}

} // namespace lathe::ui
