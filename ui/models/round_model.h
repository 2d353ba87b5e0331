#pragma once

#include "core/session/events.h"
#include "core/session/history.h"
#include "core/session/verdict/network_latency.h"
#include "ui/models/history_reader.h"
#include "ui/models/named_numbers.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace lathe::ui {

class Workspace;

/// The rounds of the project's latest run, newest first: which task got the trials, and why. Read from the project when
/// it is opened, then fed by events. Shared by the pages about a run.
class RoundModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        IndexColumn,
        AtColumn,
        TaskColumn,
        TrialsColumn,
        WhyColumn,
        PromiseColumn,
        NextColumn,
        BestColumn,
        EstimateColumn,
        ColumnCount
    };
    enum Role
    {
        TaskIdRole = Qt::UserRole
    };
    /// As session::RoundView tells it.
    struct Round
    {
        int index = 0, task = -1, trials = 0;
        NamedNumbers terms, activitySeconds;
        const std::string* reason = nullptr; ///< shared: there are only a few
        double atSeconds = 0, estimateMs = session::kUnknown, bestMs = session::kUnknown;
        double tasksMs = session::kUnknown; ///< the tasks' sum, without what the network has beside them
        qint64 rejected = 0; ///< candidates that went to no builder: the device could not run them
    };
    struct Band
    {
        double atSeconds = 0, low = 0, high = 0; ///< ms
    };
    struct Finals
    {
        double atSeconds = 0, ms = session::kUnknown; ///< estimate of the network after them
    };
    /// Time that no round tells of: finals, and what came after the last round.
    struct TimePiece
    {
        double atSeconds = 0; ///< its end
        NamedNumbers activitySeconds;
    };
    using Measured = session::RunView::Measured;

    /// The one of a workspace; made when first asked for.
    static RoundModel& of(Workspace& workspace);

    /// Oldest first. The last one may still go on: then its activities are empty and `atSeconds` is where it began.
    const std::vector<Round>& rounds() const { return m_rounds; }
    bool isLastOpen() const { return m_open; }
    const std::vector<Measured>& measured() const { return m_measured; }
    const std::vector<Finals>& finals() const { return m_finals; }
    const std::vector<TimePiece>& timePieces() const { return m_timePieces; }
    /// Both accounts of all rounds and pieces (core/session/time_spent.h).
    const session::TimeSpent& time() const { return m_time; }
    /// Of the estimate, while some task had no valid program.
    const std::vector<Band>& band() const { return m_band; }
    double untunedMs() const { return m_network.untunedMs; }
    double seconds() const { return m_seconds; } ///< of the run, active time
    const QStringList& taskNames() const { return m_taskNames; }
    QString taskName(int task) const;
    /// In whole sentences.
    QString why(int row) const;
    /// "12 min left, likely 8.9–9.3 ms; the last 5 min gained 0.4 %"; empty: nothing to go by.
    QString forecast() const;
    /// Seconds that the budget leaves; NaN: there is no limit, or no run.
    double leftSeconds() const { return m_eta; }
    /// Trials of the run so far.
    qint64 trials() const;
    /// "12 candidates were rejected before building: ...", of the run so far; empty: none were.
    QString rejectedText() const;

    /// While held, nothing changes; what comes is taken in afterwards.
    bool isHeld() const { return m_held; }
    void setHeld(bool held);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void changed(); ///< once per batch
    void heldChanged(bool held);

private:
    explicit RoundModel(Workspace& workspace);
    void onOpened();
    void onEvents(const std::vector<session::Event>& events);
    void keep(const std::vector<session::Event>& events);
    void takeStored(const session::RunView& run, const std::vector<session::RoundView>& rounds);
    void takeEarly();
    void showTurns();
    void take(const std::vector<session::Event>& events);
    void clear();
    void addPiece(double at, const session::TimeSpent& time);
    const Round& at(int row) const { return m_rounds[m_rounds.size() - 1 - static_cast<std::size_t>(row)]; }
    double estimateAt(double seconds) const;
    QString whyThisTask(int row) const;
    static QString rejected(qint64 count);

    Workspace& m_workspace;
    HistoryReader m_reader;
    std::vector<Round> m_rounds;
    std::vector<Measured> m_measured;
    std::vector<Finals> m_finals;
    std::vector<TimePiece> m_timePieces;
    session::TimeSpent m_time;
    std::vector<Band> m_band;
    QStringList m_taskNames;
    session::NetworkLatency m_network;
    double m_seconds = 0, m_eta = session::kUnknown;
    double m_forecastLow = session::kUnknown, m_forecastHigh = session::kUnknown; ///< where the run is likely to end
    bool m_open = false, m_held = false;
    bool m_reading = false; ///< what is stored of a run that is followed
    std::vector<session::Event> m_early; ///< that came meanwhile
    std::vector<session::Event> m_kept; ///< while held
    double m_keptBest = session::kUnknown; ///< of the latest round among them
};

} // namespace lathe::ui
