#pragma once

#include "core/measure/endpoint.h"
#include "core/measure/jobs.h"
#include "core/measure/measurer.h"
#include "core/wire/job_clock.h"

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace lathe::wire {
class BuildResult;
class Message;
class Progress;
class RunResult;
} // namespace lathe::wire

namespace lathe::measure {

class Steadiness;

/// What is common to all requests of a batch.
struct BatchOptions
{
    std::string target;
    std::string device; ///< fingerprint of one that code is made for (DeviceIdentity)
    double buildTimeoutSeconds = 15;
    double runTimeoutSeconds = 10;
    std::uint32_t candidatesPerBuild = 0;
    std::uint32_t retireAfter = 5000;
    bool quietGate = true;
    std::function<void(bool quiet)> onQuiet;
    /// A device behind a supervisor. `isOfNoUse`: it would be offered again at once, and be no better.
    std::function<void(const Endpoint& device, const Error& why, bool isOfNoUse)> onLost;
    /// A program that shows whether a device behind a supervisor stayed as it was (steadiness.h); it has been built
    /// already, and outlives the batch. Null: nobody looks.
    const MeasureRequest* probe = nullptr;
    Steadiness* steadiness = nullptr; ///< judges the probes; outlives the batch; there where `probe` is
};

/// One call of Measurer::measure: requests on their way through builders and runners. A state machine: turn() takes
/// what came and hands out what can be, and never waits; who calls it waits as watch() and wake() say.
///
/// Builders and runners work at the same time, except where a runner takes the cores that builders would disturb it
/// on: with the quiet gate, builders are stopped while such a runner measures, and of these one measures at a time.
///
/// A crash costs the request that caused it (of several in one artifact, which one is found out by building them one
/// by one). A device behind a supervisor that is lost costs nobody anything: what it had is given to another. One whose
/// answers cannot be true, or are to what nobody asked, is lost with Errc::BadFile.
///
/// What a device itself compiles before it runs a candidate is that candidate's build: it has the time-out of a build,
/// beside that of the run, and what goes wrong there is told as one.
///
/// With a probe, such a device measures candidates in shares, each between two probes: where these differ, the share is
/// measured again, and the samples that were rejected stay with the result (conditions: `probe_drift`, `rejected`).
class Batch
{
public:
    using Clock = Endpoint::Clock;
    using Time = Endpoint::Time;
    /// For a probe that is the last thing to come: a device that is ended in the middle is given back.
    static constexpr std::chrono::seconds kProbeWait{3};
    enum class Activity : std::uint8_t
    {
        None,
        Building, ///< builders, or devices' own compilers, and no device does anything else
        Measuring
    };

    /// What is given by reference or span outlives the batch. @param lastRunner  that was given something: the others
    /// come first
    Batch(const BatchOptions& options, std::span<Endpoint* const> builders, std::span<Endpoint* const> runners,
          std::size_t& lastRunner, std::span<const MeasureRequest> requests, const Measurer::ResultCallback& onResult,
          MeasureTimes& times, Time now);
    /// What workers have in hand is nobody's any more: they are ended.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// A device that came since.
    void addRunner(Endpoint& runner);
    /// Whether builders work while devices measure: not with the quiet gate.
    bool buildsMeanwhile() const { return !m_gated; }
    /// Requests of a later batch, each with its MeasureRequest::built: they are built while this one's are measured, as
    /// far as builders have nothing else to do, and not measured. What has not been begun by its end is not built.
    void buildAhead(std::vector<MeasureRequest> requests);
    /// Whether it has something to do with it: a device behind a supervisor that was lost is none of it any more.
    bool has(const Endpoint& runner) const;

    /// Errors: what keeps workers from running at all.
    Result<> turn(Time now);
    /// All results were given, no device has a probe in hand that it may still answer (kProbeWait), and no builder
    /// something that was begun ahead.
    bool done() const { return isMeasured() && !isProbing() && !anyBusy(true); }
    /// Nothing more is measured: what waits for a probe counts without.
    void giveHeld();
    void watch(std::vector<pollfd>& fds) const;
    Time wake(Time now) const;
    Activity activity() const;

private:
    enum class Phase : std::uint8_t
    {
        Waiting,
        Building,
        Built,
        Running,
        Held, ///< measured; the probe that follows says whether that counts
        Done
    };
    struct Item
    {
        Phase phase = Phase::Waiting;
        bool alone = false; ///< its builder died once: built by itself from now on
        std::uint32_t buildRetries = 0, runRetries = 0;
        std::uint32_t kills = 0; ///< of its workers, from outside
        std::uint32_t losses = 0; ///< of the devices that had it
        struct Rejected
        {
            std::vector<double> costsNs;
            std::optional<double> drift; ///< of the probe; nothing: the device was not to be believed
        };
        std::vector<Rejected> rejected;
        std::string name;
        BuiltArtifactPtr artifact;
        std::int32_t kernel = -1;
        BuildFacts facts;
        std::map<std::string, double> durations;
        Time since; ///< of the present phase
        TrialResult result;
    };
    /// A request to a worker that is not answered yet: several candidates for a builder, one for a runner.
    struct Flight
    {
        std::vector<std::size_t> items;
        std::uint64_t job = 0;
        Time deadline = Time::max(); ///< once it is worked on
        wire::JobClock clock = {}; ///< of a runner, as far as it is begun
        Time since; ///< the job was sent, or the one before it was done
        TrialStage stage = TrialStage::Build; ///< where the worker says that it is
        std::string what;
        bool heard = false; ///< the worker said something about this job
        std::uint32_t sends = 0; ///< of the job, since the worker misses something each time
        bool isProbe = false; ///< and of no item
    };
    /// Of a device that is probed.
    struct Share
    {
        bool isOpen = false; ///< a probe ran
        std::vector<std::size_t> held; ///< measured since
        std::size_t given = 0; ///< to the device, since the probe that was given to it last
        std::optional<Time> probed; ///< when that was
        bool fails = false; ///< it does not run there
    };
    struct Lane
    {
        Endpoint* endpoint;
        bool builder;
        std::deque<Flight> flights = {}; ///< the first is worked on
        bool paused = false;
        Time pausedSince = {};
        std::uint32_t failures = 0; ///< to open it, in a row
        Share share = {};
        std::uint32_t nonsense = 0; ///< answers that cannot be true, in a row

        bool busy() const { return !flights.empty(); }
        bool full() const { return flights.size() >= endpoint->traits().capacity; }
    };

    bool isMeasured() const { return m_emitted == m_requests.size(); }
    bool isAhead(std::size_t item) const { return item >= m_requests.size(); }
    const MeasureRequest& requestOf(std::size_t item) const
    {
        return isAhead(item) ? m_ahead[item - m_requests.size()] : m_requests[item];
    }
    std::size_t waiting(bool ahead) const;
    std::size_t groupSize(bool ahead) const;
    std::vector<std::size_t> nextGroup() const;
    bool shouldBuild() const;
    bool mayShareCores() const;
    std::size_t count(Phase phase) const;
    Result<> dispatchBuilds();
    Result<> dispatchRuns();
    Result<bool> prepared(Lane& lane);
    void sendBuild(Lane& lane, std::vector<std::size_t> group);
    void queueBuild(Lane& lane, Flight& flight);
    Result<> queueRun(Lane& lane, Flight& flight);
    double runSeconds(const Flight& flight) const; ///< that a run of it may take
    void startClock(const Lane& lane, Flight& flight) const;
    void takeProgress(const Lane& lane, Flight& flight, const wire::Progress& progress) const;
    wire::JobClock runClock(const Flight& flight) const;

    Result<> receive(Lane& lane);
    Result<> handle(Lane& lane, const wire::Message& message);
    Flight* flightOf(Lane& lane, std::uint64_t job);
    Result<> finishBuild(Lane& lane, const wire::BuildResult& answer);
    bool isAskedAgain(Lane& lane, Flight& flight, const wire::RunResult& answer);
    void finishRun(Lane& lane, Flight flight, const wire::RunResult& answer);
    // Probes (batch_probes.cpp)
    bool isProbing() const;
    bool isProbed(const Lane& lane) const;
    bool wantsProbe(const Lane& lane) const;
    Result<> giveProbe(Lane& lane);
    Result<> closeShares();
    void finishProbe(Lane& lane, const wire::RunResult& answer);
    void acceptHeld(Lane& lane, std::optional<double> drift);
    void rejectHeld(Lane& lane, std::optional<double> drift);
    void workerEnded(Lane& lane, const Error& why);
    void deviceLost(Lane& lane, Error why, bool isOfNoUse = false);
    void deadlinePassed(Lane& lane);
    void enter(std::size_t index, Phase phase, const char* spentOn);
    void finish(std::size_t index, TrialResult result);
    void giveResults();

    void setQuiet(bool quiet);
    void pause(Lane& lane);
    void resume(Lane& lane);
    bool anyBusy(bool builders) const;
    bool sharingBusy() const;

    const BatchOptions& m_options;
    std::vector<Lane> m_builders;
    std::vector<Lane> m_runners;
    std::size_t& m_lastRunner;
    std::span<const MeasureRequest> m_requests;
    std::vector<MeasureRequest> m_ahead; ///< their items come after those of m_requests
    const Measurer::ResultCallback& m_onResult;
    MeasureTimes& m_times;
    std::vector<Item> m_items; ///< requestOf()
    std::size_t m_emitted = 0;
    bool m_gated = false;
    bool m_quiet = false;
    Time m_now; ///< of this turn
};

} // namespace lathe::measure
