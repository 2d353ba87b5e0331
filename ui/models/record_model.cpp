#include "ui/models/record_model.h"

#include "ui/models/core_text.h"
#include "ui/models/error_advice.h"

#include <QBrush>
#include <QDateTime>
#include <QGuiApplication>
#include <QPalette>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

namespace {

constexpr int kBlock = 128; ///< rows read at once
constexpr std::size_t kMaxWanted = 4; ///< blocks; who drags the scroll bar past a thousand needs the last ones
constexpr int kHeld = 8192; ///< rows whose texts are held

QString figure(double value)
{
    return std::isfinite(value) ? QString::number(value, 'f', value < 1 ? 5 : 4) : QString();
}

} // namespace

RecordModel::RecordModel(QObject* parent)
    : QAbstractTableModel(parent)
    , m_shown(kHeld)
{
    m_query.descending = true; // newest first
    m_fetchTimer.setSingleShot(true);
    m_fetchTimer.setInterval(0);
    connect(&m_fetchTimer, &QTimer::timeout, this, &RecordModel::fetch);
}

RecordModel::~RecordModel() = default;

void RecordModel::setHistory(std::unique_ptr<session::History> history)
{
    // Two connections: one answers queries, one what scrolls into view.
    std::unique_ptr<session::History> second = history ? history->again() : nullptr;
    m_finder.setHistory(std::move(history));
    m_fetcher.setHistory(std::move(second));
    m_fetching = m_finding = false;
    m_wanted.clear();
    m_shown.clear();
    beginResetModel();
    m_rows.clear();
    endResetModel();
    read();
}

void RecordModel::setTaskNames(const QStringList& names)
{
    m_taskNames = names;
    m_shown.clear();
    if (rowCount() > 0)
        emit dataChanged(index(0, TaskColumn), index(rowCount() - 1, TaskColumn));
}

void RecordModel::setQuery(const session::TrialQuery& query)
{
    const auto order = m_query.order;
    const bool descending = m_query.descending;
    m_query = query;
    m_query.order = order;
    m_query.descending = descending;
    m_query.afterRow = 0;
    read();
}

void RecordModel::sort(int column, Qt::SortOrder order)
{
    using Order = session::TrialQuery::Order;
    switch (column) {
    case TaskColumn: m_query.order = Order::Task; break;
    case LatencyColumn: m_query.order = Order::Latency; break;
    case PredictedColumn: m_query.order = Order::Predicted; break;
    case StateColumn: m_query.order = Order::State; break;
    case AlgorithmColumn: m_query.order = Order::Alternative; break;
    case SketchColumn: m_query.order = Order::Sketch; break;
    case RoundColumn: m_query.order = Order::Round; break;
    case VerifiedColumn: m_query.order = Order::Verified; break;
    case TrialColumn: m_query.order = Order::Trial; break;
    case TextColumn: m_query.order = Order::Text; break;
    case NoteColumn: m_query.order = Order::Note; break;
    case RepeatsColumn: m_query.order = Order::Repeats; break;
    default: m_query.order = Order::Time; break;
    }
    m_query.descending = order == Qt::DescendingOrder;
    read();
}

void RecordModel::read()
{
    m_find.drop();
    m_finding = m_finder.isOpen();
    if (!m_finding) {
        emit queryEnded();
        return;
    }
    emit queryStarted();
    m_clock.start();
    m_find = m_finder.ask(
        [query = m_query](session::History& history, std::stop_token stop) { return history.find(query, stop); },
        [this](Result<std::vector<std::int64_t>> rows) {
            m_finding = false;
            m_seconds = static_cast<double>(m_clock.elapsed()) / 1000;
            if (rows)
                take(*std::move(rows));
            else
                emit queryFailed(errorText(rows.error()));
            emit queryEnded();
        });
}

void RecordModel::take(std::vector<std::int64_t> rows)
{
    if (rows == m_rows)
        return;
    beginResetModel();
    m_rows = std::move(rows);
    m_wanted.clear();
    endResetModel();
}

void RecordModel::refresh()
{
    if (m_finding || !m_finder.isOpen())
        return;
    if (m_query.order != session::TrialQuery::Order::Time) {
        read();
        return;
    }
    session::TrialQuery query = m_query;
    if (!m_rows.empty())
        query.afterRow = std::max(m_rows.front(), m_rows.back());
    m_finding = true;
    m_clock.start();
    m_find = m_finder.ask(
        [query](session::History& history, std::stop_token stop) { return history.find(query, stop); },
        [this](Result<std::vector<std::int64_t>> rows) {
            m_finding = false;
            m_seconds = static_cast<double>(m_clock.elapsed()) / 1000;
            if (!rows || rows->empty())
                return;
            const auto count = static_cast<int>(rows->size());
            const int at = m_query.descending ? 0 : rowCount();
            m_wanted.clear();
            beginInsertRows({}, at, at + count - 1);
            m_rows.insert(m_rows.begin() + at, rows->begin(), rows->end());
            endInsertRows();
            emit queryEnded();
        });
}

void RecordModel::forgetNote(const QString& trial)
{
    for (const std::int64_t row : m_shown.keys())
        if (m_shown.object(row)->trial == trial)
            m_shown.remove(row);
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int RecordModel::find(std::int64_t row) const
{
    const auto found = std::find(m_rows.begin(), m_rows.end(), row);
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

void RecordModel::want(int row) const
{
    const int block = row / kBlock * kBlock;
    const auto there = std::find(m_wanted.begin(), m_wanted.end(), block);
    if (there != m_wanted.end())
        m_wanted.erase(there);
    m_wanted.push_back(block);
    if (m_wanted.size() > kMaxWanted)
        m_wanted.erase(m_wanted.begin());
    if (!m_fetching && !m_fetchTimer.isActive())
        m_fetchTimer.start();
}

void RecordModel::fetch()
{
    if (m_fetching || m_wanted.empty() || !m_fetcher.isOpen())
        return;
    const int block = m_wanted.back();
    m_wanted.pop_back();
    if (block >= rowCount())
        return;
    std::vector<std::int64_t> rows(m_rows.begin() + block, m_rows.begin() + std::min(block + kBlock, rowCount()));
    m_fetching = true;
    m_fetcher.ask(
        [rows](session::History& history, std::stop_token) { return history.rows(rows); },
        [this, block, first = rows.front()](Result<std::vector<session::TrialRow>> read) {
            m_fetching = false;
            if (!read) {
                emit queryFailed(errorText(read.error()));
                return;
            }
            for (const session::TrialRow& row : *read) {
                const bool failed = row.code != "Ok";
                QString tip = coreLine(row.text, row.about);
                if (failed)
                    tip += QStringLiteral("\n\n") + errorAdvice(QString::fromStdString(row.code)).advice;
                m_shown.insert(row.row, new Shown{texts(row, m_taskNames), row.task, row.run, failed, tip,
                                                  QString::fromStdString(row.trial), QString::fromStdString(row.note)});
            }
            // The rows may have moved since.
            if (block < rowCount() && m_rows[static_cast<std::size_t>(block)] == first)
                emit dataChanged(index(block, 0), index(std::min(block + kBlock, rowCount()) - 1, ColumnCount - 1));
            else if (rowCount() > 0)
                emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
            if (!m_wanted.empty())
                fetch();
        });
}

std::array<QString, RecordModel::ColumnCount> RecordModel::texts(const session::TrialRow& row,
                                                                 const QStringList& taskNames)
{
    std::array<QString, ColumnCount> cells;
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(row.timeMs);
    cells[TimeColumn] = time.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    cells[TaskColumn] = row.task >= 0 && row.task < taskNames.size() ? taskNames[row.task] : tr("(other network)");
    cells[LatencyColumn] = figure(row.costMs);
    cells[PredictedColumn] = figure(row.predictedMs);
    cells[StateColumn] = row.code == "Ok" ? tr("valid") : errorAdvice(QString::fromStdString(row.code)).title;
    cells[AlgorithmColumn] = QString::fromStdString(row.alternative);
    cells[SketchColumn] = QString::fromStdString(row.sketch);
    cells[RoundColumn] = row.run == 0    ? QString()
                         : row.runoff    ? tr("runoff")
                         : row.round < 0 ? tr("finals")
                                         : QStringLiteral("%1.%2").arg(row.round).arg(row.index); // no part of a run
    cells[VerifiedColumn] = row.verified ? tr("yes") : QString();
    cells[TrialColumn] = QString::fromStdString(row.trial.substr(0, 8));
    cells[TextColumn] = coreLine(row.text, row.about);
    cells[NoteColumn] = QString::fromStdString(row.note).simplified();
    cells[RepeatsColumn] = QString::fromStdString(row.repeats.substr(0, 8));
    return cells;
}

void RecordModel::retranslate()
{
    m_shown.clear();
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int RecordModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RecordModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RecordModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const std::int64_t row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == RowIdRole)
        return static_cast<qlonglong>(row);
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() == LatencyColumn || index.column() == PredictedColumn;
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole && role != TaskIdRole && role != RunIdRole && role != Qt::ToolTipRole
        && role != Qt::ForegroundRole && role != TrialIdRole && role != NoteRole && role != FailedRole)
        return {};
    const Shown* shown = m_shown.object(row);
    if (shown == nullptr) {
        if (role == Qt::DisplayRole)
            want(index.row());
        return role == TaskIdRole ? QVariant(-1) : QVariant();
    }
    switch (role) {
    case Qt::DisplayRole: return shown->cells[static_cast<std::size_t>(index.column())];
    case TaskIdRole: return shown->task;
    case RunIdRole: return shown->run;
    case TrialIdRole: return shown->trial;
    case NoteRole: return shown->note;
    case FailedRole: return shown->failed;
    case Qt::ToolTipRole:
        return index.column() == NoteColumn && !shown->note.isEmpty() ? QVariant(shown->note)
               : shown->failed                                        ? QVariant(shown->tip)
                                                                      : QVariant();
    case Qt::ForegroundRole:
        return shown->failed ? QVariant(QGuiApplication::palette().brush(QPalette::PlaceholderText)) : QVariant();
    default: return {};
    }
}

QVariant RecordModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::ToolTipRole && section == PredictedColumn)
        return tr("Predicted by the search when it chose this candidate");
    if (role == Qt::ToolTipRole && section == RepeatsColumn)
        return tr("The trial whose candidate was measured again");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TimeColumn: return tr("Time");
    case TaskColumn: return tr("Task");
    case LatencyColumn: return tr("Latency (ms)");
    case PredictedColumn: return tr("Predicted (ms)");
    case StateColumn: return tr("State");
    case AlgorithmColumn: return tr("Algorithm");
    case SketchColumn: return tr("Sketch");
    case RoundColumn: return tr("Round");
    case VerifiedColumn: return tr("Verified");
    case TrialColumn: return tr("Trial");
    case TextColumn: return tr("Text");
    case NoteColumn: return tr("Note");
    case RepeatsColumn: return tr("Repeats");
    default: return {};
    }
}

} // namespace lathe::ui
