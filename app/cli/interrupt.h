#pragma once

#include <chrono>

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

} // namespace lathe::cli
