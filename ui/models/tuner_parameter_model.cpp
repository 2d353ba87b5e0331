#include "ui/models/tuner_parameter_model.h"

#include "ui/models/tuner_texts.h"

#include <QFont>

#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kMostDigits = 10; ///< behind the point: the smallest usual value has four

} // namespace

QString TunerParameterModel::numberText(double value)
{
    QString text = QString::number(value, 'f', kMostDigits);
    while (text.endsWith(QLatin1Char('0')))
        text.chop(1);
    if (text.endsWith(QLatin1Char('.')))
        text.chop(1);
    return text;
}

void TunerParameterModel::setTuner(std::vector<session::TunerParameterView> parameters,
                                   const std::vector<std::string>& settings)
{
    beginResetModel();
    m_parameters = std::move(parameters);
    m_values.clear();
    for (const session::TunerParameterView& parameter : m_parameters) {
        double value = parameter.usual;
        for (const std::string& setting : settings) {
            const QString text = QString::fromStdString(setting);
            bool good = false;
            const double said = text.mid(text.indexOf(QLatin1Char('=')) + 1).toDouble(&good);
            if (good && text.section(QLatin1Char('='), 0, 0).trimmed().toStdString() == parameter.name)
                value = said;
        }
        m_values.push_back(value);
    }
    endResetModel();
}

std::vector<std::string> TunerParameterModel::settings() const
{
    std::vector<std::string> said;
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        if (m_values[i] != m_parameters[i].usual)
            said.push_back(m_parameters[i].name + '=' + numberText(m_values[i]).toStdString());
    return said;
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
    const int column = index.column();
    if (role == Qt::TextAlignmentRole && (column == ValueColumn || column == UsualColumn))
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::FontRole && column == ValueColumn && m_values[row] != parameter.usual) {
        QFont changed;
        changed.setBold(true);
        return changed;
    }
    if (role == Qt::ToolTipRole)
        return tunerText(parameter.help);
    if (role != Qt::DisplayRole && role != Qt::EditRole)
        return {};
    switch (column) {
    case NameColumn: return QString::fromStdString(parameter.name);
    case ValueColumn: return numberText(m_values[row]);
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
    const auto row = static_cast<std::size_t>(index.row());
    const session::TunerParameterView& parameter = m_parameters[row];
    const QString text = value.toString().trimmed();
    bool good = false;
    const double wanted = text.isEmpty() ? parameter.usual : text.toDouble(&good);
    good = good || text.isEmpty();
    if (!good || wanted < parameter.low || wanted > parameter.high
        || (parameter.whole && wanted != std::floor(wanted))) {
        emit refused(tr("%1 takes %2 from %3 to %4")
                         .arg(QString::fromStdString(parameter.name),
                              parameter.whole ? tr("a whole number") : tr("a number"), numberText(parameter.low),
                              numberText(parameter.high)));
        return false;
    }
    m_values[row] = wanted;
    emit dataChanged(index, index);
    emit accepted();
    return true;
}

} // namespace lathe::ui
