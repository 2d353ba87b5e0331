#include "ui/models/knob_model.h"

#include <QLocale>
#include <QStringList>

namespace lathe::ui {

namespace {

constexpr int kTipChoices = 20; ///< of a knob, in its tool tip

} // namespace

QString KnobModel::kindText(const std::string& kind)
{
    static const std::pair<const char*, const char*> kKinds[] = {{"split", QT_TR_NOOP("split of an axis")},
                                                                 {"reorder", QT_TR_NOOP("order of loops")},
                                                                 {"annotate", QT_TR_NOOP("marks of loops")},
                                                                 {"option", QT_TR_NOOP("option")}};
    for (const auto& [name, text] : kKinds)
        if (kind == name)
            return tr(text);
    return QString::fromStdString(kind);
}

void KnobModel::setTemplate(const std::vector<session::KnobView>& knobs, const session::TemplateTrials* trials,
                            const session::TriedConfig* best)
{
    beginResetModel();
    m_rows.clear();
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        Row row{knobs[k], 0, {}};
        if (trials != nullptr && k < trials->knobs.size()) {
            row.tried = trials->knobs[k].values.size();
            if (best != nullptr)
                row.best = QString::fromStdString(
                    trials->knobs[k].values[static_cast<std::size_t>(best->values[k])].text);
        }
        m_rows.push_back(std::move(row));
    }
    endResetModel();
}

int KnobModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int KnobModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant KnobModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == Qt::TextAlignmentRole && (column == ExtentColumn || column == ChoicesColumn || column == TriedColumn))
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        QStringList choices;
        for (const std::string& choice : row.knob.choices) {
            if (choices.size() == kTipChoices)
                break;
            choices << QString::fromStdString(choice);
        }
        if (row.knob.choiceCount > static_cast<std::uint64_t>(choices.size()))
            choices << QStringLiteral("…");
        return tr("Choices: %1").arg(choices.join(QStringLiteral("; ")));
    }
    if (role != Qt::DisplayRole)
        return {};
    const QLocale locale;
    switch (column) {
    case NameColumn: return QString::fromStdString(row.knob.name);
    case KindColumn: return kindText(row.knob.kind);
    case ExtentColumn:
        return row.knob.extent == 0 ? QString() : locale.toString(static_cast<qlonglong>(row.knob.extent));
    case ChoicesColumn: return locale.toString(static_cast<qulonglong>(row.knob.choiceCount));
    case TriedColumn: return locale.toString(static_cast<qulonglong>(row.tried));
    case BestColumn: return row.best.isEmpty() ? QStringLiteral("–") : row.best;
    default: return {};
    }
}

QVariant KnobModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case NameColumn: return tr("Knob");
    case KindColumn: return tr("Kind");
    case ExtentColumn: return tr("Extent");
    case ChoicesColumn: return tr("Choices");
    case TriedColumn: return tr("Tried");
    case BestColumn: return tr("In the fastest");
    default: return {};
    }
}

} // namespace lathe::ui
