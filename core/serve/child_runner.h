#pragma once

#include "core/serve/machine_lock.h"
#include "core/support/result.h"
#include "core/wire/blob_store.h"
#include "core/wire/job_clock.h"
#include "core/wire/known_blobs.h"
#include "core/wire/messages.h"
#include "core/wire/port.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::serve {

struct ChildRunnerOptions
{
    std::chrono::milliseconds cooldown{0}; ///< from one job to the next
    double hottest = 0; ///< in °C: no job is begun while the machine is hotter; 0: however hot it is
    std::chrono::seconds coolBy = std::chrono::minutes(5); ///< what waits is given up then
    std::function<std::optional<double>()> temperature = {}; ///< of the machine, in °C; nothing: it does not tell
};

/// A runner process that is supervised: started when there is work, killed when a job hangs, started anew when it
/// crashed or may be spoilt; what became of a job is in the job's result whatever happened. For who speaks with it it
/// is one runner that never ends. Jobs that wait are held, one is worked on. Where the device itself compiles, that has
/// a time of its own (RunPlan.build_deadline_ms), which does not count in the job's: a compiler that hangs or crashes
/// is told as one, and costs one job like a kernel that does.
///
/// A state machine over its port: it is told the time, and does not wait. Threads: one.
class ChildRunner
{
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    /// @param blobs  where artifacts that the other side sent are found; outlives it
    ChildRunner(std::unique_ptr<wire::Port> port, wire::BlobStore& blobs, ChildRunnerOptions options = {});

    /// What the other side sent: OpenDevice, RunJob, Health. Errors: BadFile (a
    /// runner takes no such message, or no more jobs).
    Result<> take(const wire::Message& message, Time now);
    void turn(Time now);
    std::vector<wire::Message> takeAnswers() { return std::exchange(m_answers, {}); }

    bool busy() const { return m_running || m_opening || m_asked; }
    /// Jobs that wait are dropped; the one that is worked on goes on.
    void dropWaiting();
    /// Nothing of what was asked counts any more, and the process ends.
    void reset();

    void watch(std::vector<pollfd>& fds) const;
    Time wake() const;

private:
    struct Running
    {
        wire::RunJob job;
        std::uint32_t stage = 0; ///< lathe::TrialStage, as the process said last
        std::string what;
        wire::JobClock clock; ///< begun once the process has the job
    };
    bool isCool(Time now);
    void startJob(Time now);
    void takeJob(); ///< the first that waits
    void jobDone(Time now);
    void deadlinePassed(Time now);
    void ensureOpen(Time now);
    void handle(const wire::Message& message, Time now);
    void sendJob(Time now);
    void ended(const Error& why, Time now);
    void answerFailure(std::uint32_t stage, const Error& error, Time now);
    void close(const Error& why);

    std::unique_ptr<wire::Port> m_port;
    ChildRunnerOptions m_options;
    wire::BlobStore& m_blobs;
    std::optional<wire::OpenDevice> m_device; ///< that is open, or is to be
    bool m_tellOpened = false; ///< the other side waits for the answer to it
    bool m_open = false; ///< the process runs, and the device in it
    bool m_opening = false;
    Time m_openBy = Time::max();
    std::deque<wire::RunJob> m_jobs;
    std::optional<Running> m_running;
    Time m_nextJob = {}; ///< not before then
    std::optional<Time> m_hotSince; ///< jobs wait for it to cool
    MeasuringTurn m_turn;
    bool m_more = false; ///< of what the process said
    std::optional<wire::Message> m_asked; ///< a question about its health that it has not answered
    wire::KnownBlobs m_sent; ///< to this process
    std::vector<wire::Message> m_answers;
};

} // namespace lathe::serve
