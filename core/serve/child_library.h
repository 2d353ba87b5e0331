#pragma once

#include "core/serve/machine_lock.h"
#include "core/support/files.h"
#include "core/support/result.h"
#include "core/wire/blob_store.h"
#include "core/wire/messages.h"
#include "core/wire/port.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace lathe::serve {

/// Exported libraries that were sent here, run and timed in a runner process that is supervised: it is started anew,
/// with the library, after a crash, and what became of a question is in the answer whatever happens. One question is
/// worked on at a time.
///
/// A state machine over its port: it is told the time, and does not wait. Threads: one.
class ChildLibrary
{
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    /// @param blobs  where what the other side sent is found; outlives it
    ChildLibrary(std::unique_ptr<wire::Port> port, wire::BlobStore& blobs);

    /// LoadLibrary, RunLibrary, TimeLibrary.
    static bool takes(const wire::Message& message);
    /// Errors: BadFile (the one before has not been answered).
    Result<> take(const wire::Message& question);
    void turn(Time now);
    std::vector<wire::Message> takeAnswers() { return std::exchange(m_answers, {}); }
    bool busy() const { return m_asked.has_value(); }
    /// What has not been begun is not wanted any more.
    void dropWaiting();
    /// The library is gone, and the process ends.
    void reset();

    void watch(std::vector<pollfd>& fds) const;
    Time wake() const;

private:
    Result<> begin(Time now);
    Result<> prepare(wire::LoadLibrary& load);
    void handle(const wire::Message& message);
    void sendMissing(const wire::Message& message);
    void answer(wire::Message message);
    void fail(const Error& why);
    void close(const Error& why);

    std::unique_ptr<wire::Port> m_port;
    wire::BlobStore& m_blobs;
    bool m_open = false; ///< the process runs
    std::optional<TempDir> m_folder; ///< of the library's file
    std::optional<wire::Message> m_load; ///< what is loaded, or was until the process ended
    bool m_reloading = false; ///< the process answers to that, which nobody asked for
    std::optional<wire::Message> m_asked;
    bool m_sent = false; ///< what is asked, to the process
    Time m_by = Time::max();
    Time m_lookAgain = {};
    MeasuringTurn m_turn;
    bool m_more = false; ///< of what the process said
    std::vector<wire::Message> m_answers;
};

} // namespace lathe::serve
