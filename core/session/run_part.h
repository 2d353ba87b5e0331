#pragma once

#include "core/session/events.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

namespace lathe::session {

/// The run of a session: one that tunes, or a stored one that plays. start(), pause(), resumeRun() and stop() return at
/// once; what they cause arrives as events.
class RunPart
{
public:
    virtual ~RunPart() = default;

    /// One observer; set before start(), null to remove. Returns when no call is in flight any more.
    virtual void setObserver(SessionObserver* observer) = 0;
    /// Tunes; a replay plays from its beginning, whatever the options. Errors: InvalidArgument (options that no run can
    /// follow, a run that goes on, trials that are measured again), Unsupported, StoreFailed (a project that is only
    /// read).
    virtual Result<> start(TuneOptions options) = 0;
    virtual void pause() = 0;
    virtual void resumeRun() = 0;
    virtual void stop() = 0;
    virtual void wait() = 0; ///< until the run has ended
    virtual RunState state() const = 0;
    /// True if the project holds a run that can go on.
    virtual bool canResume() const = 0;
};

} // namespace lathe::session
