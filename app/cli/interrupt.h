#pragma once

#include "core/support/event_bell.h"

#include <chrono>
#include <stop_token>
#include <thread>

namespace lathe::session {
class TuningSession;
}

namespace lathe::cli {

class TuneOutput;

/// The first Ctrl+C stops the run in order (everything measured is kept), the second ends the program.
void installInterrupt();

/// Until the run has ended; Ctrl+C, or a reader of the output that goes away, ends it. Removes the observer.
void waitForEnd(session::TuningSession& session, TuneOutput& output);

/// Waits so long. False, at once: Ctrl+C was pressed, or the reader of the output went away.
bool pauseFor(std::chrono::milliseconds time);

/// The first Ctrl+C or SIGTERM as a request to stop, for what takes a stop token; the second ends the program. One at a
/// time.
class StopOnInterrupt
{
public:
    StopOnInterrupt();
    ~StopOnInterrupt();
    StopOnInterrupt(const StopOnInterrupt&) = delete;
    StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

    std::stop_token token() const { return m_stop.get_token(); }

private:
    std::stop_source m_stop;
    EventBell m_bell; ///< a signal handler may do no more than ring it
    std::jthread m_listener; ///< ends first
};

} // namespace lathe::cli
