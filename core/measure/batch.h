#pragma once

#include "core/measure/jobs.h"
#include "core/measure/measurer.h"
#include "core/measure/worker.h"
#include "core/wire/blob_store.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace lathe::wire {
class BuildResult;
class Message;
} // namespace lathe::wire

namespace lathe::measure {

/// A worker and the request that it has in hand.
struct Slot
{
    using Clock = std::chrono::steady_clock;
    std::unique_ptr<Worker> worker;
    std::vector<std::size_t> requests; ///< in hand; a runner has one
    std::uint64_t job = 0;
    Deadline deadline;
    Clock::time_point since; ///< the job was sent
    TrialStage stage = TrialStage::Build; ///< where it says that it is
    std::string what;
    bool heard = false; ///< it said something about this job
    bool paused = false;
    Clock::time_point pausedSince;
    wire::BlobStore blobs; ///< what it sends

    bool busy() const { return !requests.empty(); }
};

/// The runners, all of devices of one class.
struct Runners
{
    std::vector<Slot>& slots;
    bool oneAtATime; ///< their kernels would slow each other down
    std::size_t& last; ///< that was given something: the others come first
};

/// One call of Measurer::measure: requests on their way through builders and runners.
class Batch
{
public:
    Batch(const MeasurerOptions& options, std::vector<Slot>& builders, Runners runners,
          std::span<const MeasureRequest> requests, const Measurer::ResultCallback& onResult, MeasureTimes& times);
    Result<> run(std::stop_token stop);

private:
    using Clock = Slot::Clock;
    enum class Phase : std::uint8_t
    {
        Waiting,
        Building,
        Built,
        Running,
        Done
    };
    struct Item
    {
        Phase phase = Phase::Waiting;
        bool alone = false; ///< its builder died once: built by itself from now on
        std::uint32_t buildRetries = 0, runRetries = 0;
        std::uint32_t kills = 0; ///< of its workers, from outside
        std::string name;
        BuiltArtifactPtr artifact;
        std::int32_t kernel = -1;
        BuildFacts facts;
        std::map<std::string, double> durations;
        Clock::time_point since; ///< of the present phase
        TrialResult result;
    };

    std::size_t groupSize() const;
    bool shouldBuild() const;
    bool shouldRun() const;
    std::size_t count(Phase phase) const;
    Result<> dispatchBuilds();
    Result<> dispatchRuns();
    Result<> sendBuild(Slot& slot, std::vector<std::size_t> group);
    Result<> sendRun(Slot& slot, std::size_t index);
    void queueBuild(Slot& slot);
    Result<> queueRun(Slot& slot);
    Result<> start(Slot& slot);

    Result<> waitForEvents(int stopFd);
    double* waitingAccount(); ///< the account to which waiting counts now; null: none
    Result<> serve(Slot& slot, bool builder);
    Result<> handle(Slot& slot, bool builder, const wire::Message& message);
    Result<> finishBuild(Slot& slot, const wire::BuildResult& answer);
    void finishRun(Slot& slot, const wire::RunResult& answer);
    void workerEnded(Slot& slot, bool builder, const Error& why);
    void deadlinePassed(Slot& slot, bool builder);
    void enter(std::size_t index, Phase phase, const char* spentOn);
    void finish(std::size_t index, TrialResult result);
    void emit();

    void setQuiet(bool quiet);
    void pause(Slot& slot);
    void resume(Slot& slot);

    const MeasurerOptions& m_options;
    std::vector<Slot>& m_builders;
    std::vector<Slot>& m_runners;
    const bool m_oneAtATime;
    std::size_t& m_lastRunner;
    std::span<const MeasureRequest> m_requests;
    const Measurer::ResultCallback& m_onResult;
    MeasureTimes& m_times;
    std::vector<Item> m_items;
    std::size_t m_emitted = 0;
    bool m_gated = false;
    bool m_quiet = false;
};

} // namespace lathe::measure
