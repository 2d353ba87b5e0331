#include "ui/models/compare_model.h"

#include "ui/models/texts.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

QString signedMs(double value)
{
    return std::isfinite(value) ? (value > 0 ? QStringLiteral("+") : QString()) + QString::number(value, 'f', 4)
                                : QStringLiteral("–");
}

QString figure(double ms)
{
    return std::isfinite(ms) ? QString::number(ms, 'f', 4) : QStringLiteral("–");
}

/// As a project's file calls a condition, for people.
QString conditionText(const std::string& name)
{
    static constexpr const char* kNames[] = {QT_TRANSLATE_NOOP("Conditions", "network"),
                                             QT_TRANSLATE_NOOP("Conditions", "contents of the model"),
                                             QT_TRANSLATE_NOOP("Conditions", "target"),
                                             QT_TRANSLATE_NOOP("Conditions", "device"),
                                             QT_TRANSLATE_NOOP("Conditions", "caches"),
                                             QT_TRANSLATE_NOOP("Conditions", "threads"),
                                             QT_TRANSLATE_NOOP("Conditions", "clock"),
                                             QT_TRANSLATE_NOOP("Conditions", "build of Lathe"),
                                             QT_TRANSLATE_NOOP("Conditions", "search policy"),
                                             QT_TRANSLATE_NOOP("Conditions", "strict"),
                                             QT_TRANSLATE_NOOP("Conditions", "seed"),
                                             QT_TRANSLATE_NOOP("Conditions", "repeats"),
                                             QT_TRANSLATE_NOOP("Conditions", "runs per repeat"),
                                             QT_TRANSLATE_NOOP("Conditions", "minimum time of a repeat (ms)"),
                                             QT_TRANSLATE_NOOP("Conditions", "pause between repeats (ms)"),
                                             QT_TRANSLATE_NOOP("Conditions", "runoffs"),
                                             QT_TRANSLATE_NOOP("Conditions", "head start"),
                                             QT_TRANSLATE_NOOP("Conditions", "task scheduler")};
    for (const char* known : kNames)
        if (name == known)
            return QCoreApplication::translate("Conditions", known);
    return QString::fromStdString(name);
}

} // namespace

QString comparedLetter(int i)
{
    return i == 0 ? QCoreApplication::translate("Compared", "now") : QString(QChar(u'A' + (i - 1) % 26));
}

QColor comparedColor(int i)
{
    static constexpr QRgb kColors[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0x999933};
    return QColor::fromRgb(kColors[static_cast<std::size_t>(i) % std::size(kColors)]);
}

QPixmap comparedSwatch(int i)
{
    QPixmap square(10, 10);
    square.fill(comparedColor(i));
    return square;
}

QString comparedName(const session::Baseline& baseline)
{
    QString name = QFileInfo(QString::fromStdString(baseline.project.string())).fileName();
    if (baseline.model > 0)
        name += QCoreApplication::translate("Compared", ", model %1").arg(baseline.model);
    if (baseline.run > 0)
        name += QCoreApplication::translate("Compared", ", run %1").arg(baseline.run);
    if (baseline.untilMs > 0)
        name += QCoreApplication::translate("Compared", ", until %1")
                    .arg(QDateTime::fromMSecsSinceEpoch(baseline.untilMs).toString(QStringLiteral("yyyy-MM-dd HH:mm")));
    if (!baseline.device.empty())
        name += QCoreApplication::translate("Compared", ", on %1").arg(QString::fromStdString(baseline.device));
    return name;
}

QString changeText(double ratio)
{
    const session::Grade grade = session::gradeOf(ratio);
    if (grade == session::Grade::Unknown)
        return QStringLiteral("–");
    const QString percent = QString::number(std::abs(100 * (ratio - 1)), 'f', 1);
    const QString change = ratio > 1 ? QCoreApplication::translate("Grades", "%1 % slower")
                                     : QCoreApplication::translate("Grades", "%1 % faster");
    switch (grade) {
    case session::Grade::MuchFaster: return QStringLiteral("▼▼ ") + change.arg(percent);
    case session::Grade::Faster: return QStringLiteral("▼ ") + change.arg(percent);
    case session::Grade::Slower: return QStringLiteral("▲ ") + change.arg(percent);
    case session::Grade::MuchSlower: return QStringLiteral("▲▲ ") + change.arg(percent);
    default: break;
    }
    return percent == QStringLiteral("0.0")
               ? QCoreApplication::translate("Grades", "same")
               : QCoreApplication::translate("Grades", "%1 (within noise)").arg(change.arg(percent));
}

QVariant changeColor(double ratio)
{
    const session::Grade grade = session::gradeOf(ratio);
    if (grade == session::Grade::Unknown || grade == session::Grade::Same)
        return {};
    QColor color = ratio > 1 ? QColor(0xd5, 0x5e, 0x00) : QColor(0x00, 0x72, 0xb2);
    color.setAlphaF(grade == session::Grade::MuchSlower || grade == session::Grade::MuchFaster ? 0.55f : 0.25f);
    return color;
}

void StandingModel::set(std::shared_ptr<const Compared> compared)
{
    beginResetModel();
    m_compared = std::move(compared);
    endResetModel();
}

int StandingModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_compared == nullptr ? 0 : m_compared->count();
}

int StandingModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant StandingModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::Standing& s = m_compared->at(index.row());
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((index.column() == NameColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::DecorationRole && index.column() == NameColumn)
        return comparedColor(index.row());
    if (role == Qt::ToolTipRole && index.column() == NameColumn)
        return QString::fromStdString(toString(s.what));
    double ratio = session::kUnknown;
    if (index.column() == ChangeColumn && index.row() > 0) {
        const session::Comparison c = session::compare(s, m_compared->now);
        ratio = c.beforeMs > 0 ? c.afterMs / c.beforeMs : session::kUnknown;
    }
    if (role == Qt::BackgroundRole)
        return changeColor(ratio);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case NameColumn: return QStringLiteral("%1: %2").arg(comparedLetter(index.row()), comparedName(s.what));
    case EstimatedColumn: return figure(s.estimatedMs());
    case MeasuredColumn: return figure(s.network.ms);
    case ChangeColumn: return index.row() == 0 ? QString() : changeText(ratio);
    case UntunedColumn: return figure(s.network.untunedMs);
    case CoveredColumn:
        return QStringLiteral("%1 / %2")
            .arg(std::count_if(s.tasks.begin(), s.tasks.end(), [](const auto& task) { return !task.trial.empty(); }))
            .arg(s.tasks.size());
    case TrialsColumn:
        return s.errors > 0 ? tr("%1 (%2 failed)").arg(s.trials).arg(s.errors) : QString::number(s.trials);
    case TimeColumn: return minutesText(s.activeSeconds);
    default: return {};
    }
}

QVariant StandingModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return tr("Compared");
    case EstimatedColumn: return tr("Estimated (ms)");
    case MeasuredColumn: return tr("Measured (ms)");
    case ChangeColumn: return tr("Now vs. this");
    case UntunedColumn: return tr("Untuned (ms)");
    case CoveredColumn: return tr("Tasks with a record");
    case TrialsColumn: return tr("Trials");
    case TimeColumn: return tr("Tuned for");
    default: return {};
    }
}

double CompareModel::Row::harm() const
{
    const double ms0 = ms.size() > 1 ? (ms[0] - ms[1]) * weight : session::kUnknown;
    return std::isfinite(ms0) ? ms0 : -std::numeric_limits<double>::infinity();
}

void CompareModel::set(std::shared_ptr<const Compared> compared)
{
    beginResetModel();
    m_rows.clear();
    m_baselines = compared == nullptr ? 0 : compared->count() - 1;
    for (int i = 0; compared != nullptr && i < compared->count(); ++i)
        for (const session::Standing::Task& task : compared->at(i).tasks) {
            auto row = std::find_if(m_rows.begin(), m_rows.end(), [&task](const Row& r) { return r.key == task.key; });
            if (row == m_rows.end())
                row = m_rows.insert(m_rows.end(), {task.key, task.name, task.weight,
                                                   std::vector<double>(static_cast<std::size_t>(compared->count()),
                                                                       session::kUnknown)});
            row->ms[static_cast<std::size_t>(i)] = task.bestMs;
        }
    std::stable_sort(m_rows.begin(), m_rows.end(), [](const Row& a, const Row& b) { return a.harm() > b.harm(); });
    endResetModel();
}

QString CompareModel::taskKey(int row) const
{
    return row < 0 || row >= rowCount() ? QString() : QString::fromStdString(m_rows[static_cast<std::size_t>(row)].key);
}

int CompareModel::rowOf(const QString& key) const
{
    const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                    [key = key.toStdString()](const Row& row) { return row.key == key; });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int CompareModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : m_baselines > 0 ? networkColumn() + 1 : static_cast<int>(FixedColumns);
}

QVariant CompareModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((column == TaskColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    const bool isNetwork = column == networkColumn(), isBaseline = column >= FixedColumns && !isNetwork;
    const int baseline = isBaseline ? (column - FixedColumns) / 2 : 0;
    const bool isChange = isBaseline && column == changeColumn(baseline);
    const double before = m_baselines > 0 ? row.ms[static_cast<std::size_t>(baseline) + 1] : session::kUnknown;
    if (role == Qt::BackgroundRole && (isChange || isNetwork))
        return changeColor(row.ms[0] / before);
    if (role == Qt::ToolTipRole && column == TaskColumn)
        return QString::fromStdString(row.name);
    if (role != Qt::DisplayRole)
        return {};
    if (isNetwork)
        return signedMs((row.ms[0] - before) * row.weight);
    if (isBaseline)
        return isChange ? changeText(row.ms[0] / before) : figure(before);
    switch (column) {
    case TaskColumn: return QString::fromStdString(row.name);
    case WeightColumn: return QString::number(row.weight);
    case NowColumn: return figure(row.ms[0]);
    default: return {};
    }
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::DecorationRole && section == NowColumn)
        return comparedSwatch(0);
    if (section == networkColumn())
        return role == Qt::DisplayRole   ? QVariant(tr("In the network (ms)"))
               : role == Qt::ToolTipRole ? QVariant(tr("Weighted change from A"))
                                         : QVariant();
    if (role == Qt::DecorationRole && section >= FixedColumns && (section - FixedColumns) % 2 == 0)
        return comparedSwatch((section - FixedColumns) / 2 + 1);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TaskColumn: return tr("Task");
    case WeightColumn: return tr("Weight");
    case NowColumn: return tr("Now (ms)");
    default: {
        const QString letter = comparedLetter((section - FixedColumns) / 2 + 1);
        return (section - FixedColumns) % 2 == 0 ? tr("%1 (ms)").arg(letter) : tr("Now vs. %1").arg(letter);
    }
    }
}

void ConditionModel::set(std::shared_ptr<const Compared> compared)
{
    beginResetModel();
    m_rows.clear();
    m_count = 0;
    if (compared != nullptr) {
        std::vector<session::Standing> all{compared->now};
        all.insert(all.end(), compared->baselines.begin(), compared->baselines.end());
        m_count = compared->count();
        m_rows = session::conditionTable(all);
        std::stable_sort(m_rows.begin(), m_rows.end(), [](const auto& a, const auto& b) {
            return a.differs != b.differs ? a.differs : a.differs && a.serious && !b.serious;
        });
    }
    endResetModel();
}

int ConditionModel::differing() const
{
    return static_cast<int>(std::count_if(m_rows.begin(), m_rows.end(), [](const auto& row) { return row.differs; }));
}

int ConditionModel::serious() const
{
    return static_cast<int>(
        std::count_if(m_rows.begin(), m_rows.end(), [](const auto& row) { return row.differs && row.serious; }));
}

int ConditionModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ConditionModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : 2 + m_count;
}

QVariant ConditionModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const session::ConditionRow& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::BackgroundRole && row.differs
        && (index.column() < 2 || row.values[static_cast<std::size_t>(index.column() - 2)] != row.values.front()))
        return row.serious ? QColor(0xd5, 0x5e, 0x00, 90) : QColor(0xe6, 0x9f, 0x00, 50);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    if (index.column() == 0)
        return conditionText(row.name);
    if (index.column() == 1)
        return !row.differs ? tr("= same") : row.serious ? tr("≠ may not be comparable") : tr("≠ differs");
    const std::string& value = row.values[static_cast<std::size_t>(index.column() - 2)];
    return value.empty() ? QStringLiteral("–") : QString::fromStdString(value);
}

QVariant ConditionModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::DecorationRole && section >= 2)
        return comparedSwatch(section - 2);
    if (role != Qt::DisplayRole)
        return {};
    return section == 0 ? tr("Condition") : section == 1 ? tr("Compared") : comparedLetter(section - 2);
}

} // namespace lathe::ui
