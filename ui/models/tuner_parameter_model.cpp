#include "ui/models/tuner_parameter_model.h"

#include "ui/models/tuner_texts.h"

#include <QFont>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

QString TunerParameterModel::numberText(double value)
{
    return QString::number(value, 'f', QLocale::FloatingPointShortest);
}

void TunerParameterModel::setTuner(std::vector<session::TunerParameterView> parameters,
                                   const std::vector<std::string>& settings)
{
    beginResetModel();
    m_parameters = std::move(parameters);
    m_values.clear();
    for (const session::TunerParameterView& parameter : m_parameters) {
        m_values.push_back({parameter.usual, {}});
        for (const std::string& setting : settings) {
            const QString text = QString::fromStdString(setting);
            if (text.section(QLatin1Char('='), 0, 0).trimmed().toStdString() == parameter.name)
                take(m_values.size() - 1, text.section(QLatin1Char('='), 1));
        }
    }
    endResetModel();
}

/// Nothing stands for the usual value.
void TunerParameterModel::take(std::size_t row, const QString& text)
{
    const session::TunerParameterView& parameter = m_parameters[row];
    const QString typed = text.trimmed();
    bool good = false;
    const double wanted = typed.isEmpty() ? parameter.usual : typed.toDouble(&good);
    good = (good || typed.isEmpty()) && wanted >= parameter.low && wanted <= parameter.high // which NaN is not
           && (!parameter.whole || wanted == std::floor(wanted));
    if (good)
        m_values[row] = {wanted, {}};
    else
        m_values[row].refused = typed;
}

std::vector<std::string> TunerParameterModel::settings() const
{
    std::vector<std::string> said;
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        if (m_values[i].number != m_parameters[i].usual)
            said.push_back(m_parameters[i].name + '=' + numberText(m_values[i].number).toStdString());
    return said;
}

QString TunerParameterModel::problem() const
{
    const auto wrong = std::ranges::find_if(m_values, [](const Value& value) { return !value.refused.isEmpty(); });
    return wrong == m_values.end() ? QString() : problemOf(static_cast<std::size_t>(wrong - m_values.begin()));
}

QString TunerParameterModel::problemOf(std::size_t row) const
{
    const session::TunerParameterView& parameter = m_parameters[row];
    return tr("%1 takes %2 from %3 to %4, not “%5”")
        .arg(QString::fromStdString(parameter.name), parameter.whole ? tr("a whole number") : tr("a number"),
             numberText(parameter.low), numberText(parameter.high), m_values[row].refused);
}

int TunerParameterModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_parameters.size());
}

int TunerParameterModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString TunerParameterModel::rangeText(const session::TunerParameterView& parameter) const
{
    return parameter.whole && parameter.low == 0 && parameter.high == 1
               ? tr("0 or 1")
               : tr("%1 to %2").arg(numberText(parameter.low), numberText(parameter.high));
}

QVariant TunerParameterModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const session::TunerParameterView& parameter = m_parameters[row];
    const Value& value = m_values[row];
    const bool isRefused = !value.refused.isEmpty();
    const int column = index.column();
    if (role == Qt::TextAlignmentRole && (column == ValueColumn || column == UsualColumn))
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && column == ValueColumn && (isRefused || value.number != parameter.usual)) {
        QFont changed;
        changed.setBold(true);
        return changed;
    }
    if (role == Qt::ToolTipRole)
        return isRefused ? problemOf(row) : tunerText(parameter.help);
    if (role != Qt::DisplayRole && role != Qt::EditRole)
        return {};
    switch (column) {
    case NameColumn: return QString::fromStdString(parameter.name);
    case ValueColumn: return isRefused ? value.refused : numberText(value.number);
    case UsualColumn: return numberText(parameter.usual);
    case RangeColumn: return rangeText(parameter);
    case MeaningColumn: return tunerText(parameter.help);
    default: return {};
    }
}

QVariant TunerParameterModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case NameColumn: return tr("Parameter");
    case ValueColumn: return tr("Value");
    case UsualColumn: return tr("Usual");
    case RangeColumn: return tr("Range");
    case MeaningColumn: return tr("Meaning");
    default: return {};
    }
}

Qt::ItemFlags TunerParameterModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == ValueColumn ? usual | Qt::ItemIsEditable : usual;
}

bool TunerParameterModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !index.isValid() || index.column() != ValueColumn)
        return false;
    take(static_cast<std::size_t>(index.row()), value.toString());
    emit dataChanged(index, index);
    return true;
}

} // namespace lathe::ui
