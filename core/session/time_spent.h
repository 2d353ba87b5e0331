#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// Where the time of a tuning run goes, in two accounts. Events, projects, reports, lathe-cli and the window all tell
/// these.
///
/// Activities are seconds of the run's own thread. Each moment counts for one of them, so that they add up to the run's
/// active seconds (pauses are left out):
///   start          opening the workers, telling a continued run its earlier results
///   limits         measuring what the device can do at most
///   propose        drawing, breeding and describing candidates
///   score          ranking them by the cost model
///   reference      computing what outputs must be
///   build          waiting for builders, or for devices' own compilers, while no device does anything else
///   measure        waiting for devices: a candidate is loaded, checked or timed
///   store          writing results to disk, and telling of them
///   train          teaching the cost model
///   finals         measuring the best once more, builds included
///   whole network  compiling and timing the network
///   other          all else: handing over, looking for the next task
/// Projects of older versions have "search" for propose and score together, their "measure" and "build" are guessed
/// from what trials said of themselves, and they did not note what was spent between rounds.
///
/// Workers are seconds of the builder and runner processes of the search, all together, finals included. Builders work
/// while devices do where the quiet gate is off, so this is an account of its own: the pieces of the builders add up to
/// builders x active seconds, those of the runners to runners x active seconds.
///   lower, generate, link, builder other (reading jobs, sending programs): seconds on a processor
///   builder idle   all else: nothing to build, stopped while a device is timed, no core free
///   upload (loading a program, filling its buffers), device build (what the device itself compiles), check (comparing
///   outputs), measure (runs of the kernel), runner other
///                  seconds by the clock, and beside them the processor time of all threads
///   runner idle    nothing to measure
/// A worker that dies takes with it what it would have told of its job: that counts as idle.
struct TimePiece
{
    const char* name;
    const char* meaning;
};

/// In the order above; "search" stands behind "score".
std::span<const TimePiece> activityPieces();
std::span<const TimePiece> workerPieces();
bool isBuilderPiece(std::string_view name);

struct WorkerSeconds
{
    double seconds = 0;
    double processor = 0;
};
using WorkerTimes = std::map<std::string, WorkerSeconds>;

/// Both accounts of some stretch of a run.
struct TimeSpent
{
    std::map<std::string, double> activities;
    WorkerTimes workers;

    TimeSpent& operator+=(const TimeSpent& other);
    TimeSpent since(
        const TimeSpent& before) const; ///< pieces that have grown, in whole 2^-30 s: sums of them are exact
    double seconds() const; ///< sum of the activities
};

/// Rows of a table, in the pieces' order; what is unknown comes last. Only what is not zero.
struct TimeRow
{
    std::string name;
    std::string_view meaning; ///< empty: a name that this version does not know
    double seconds = 0;
    double share = 0; ///< of all activities; of all builders, of all runners
    double processor = 0; ///< workers only
};
std::vector<TimeRow> activityRows(const TimeSpent& spent);
std::vector<TimeRow> workerRows(const TimeSpent& spent);

/// Counts each moment for the innermost activity begun, and "other" where there is none. Used on one thread.
class TimeAccount
{
public:
    using Clock = std::function<double()>; ///< seconds
    explicit TimeAccount(Clock clock = {}); ///< empty: the steady clock

    class Scope
    {
    public:
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { m_account.end(); }

    private:
        friend class TimeAccount;
        explicit Scope(TimeAccount& account)
            : m_account(account)
        {
        }
        TimeAccount& m_account;
    };
    /// Until the scope dies. An empty name: a pause, which counts for nothing.
    Scope in(std::string activity);
    /// Of what was counted for one activity, so much belongs to another.
    void move(const std::string& from, const std::string& to, double seconds);

    const std::map<std::string, double>& sums(); ///< until now
    double seconds() const; ///< until now, without pauses

private:
    void end();
    void mark();

    Clock m_clock;
    double m_last;
    double m_total = 0;
    std::vector<std::string> m_open;
    std::map<std::string, double> m_sums;
};

} // namespace lathe::session
