#pragma once

#include "core/session/history.h"
#include "core/session/options/options.h"
#include "core/support/result.h"

#include <memory>
#include <vector>

namespace lathe::session {

class TuningSession;

/// The playing of a stored run. Any thread. TuningSession::replay().
class Replay
{
public:
    virtual ~Replay() = default;
    virtual RunView run() const = 0;
    virtual std::vector<RunView> runs() const = 0; ///< all of the project, oldest first
    virtual double length() const = 0; ///< seconds of the run
    virtual double position() const = 0; ///< seconds of the run that have been told
    virtual double speed() const = 0;
    /// Run seconds per second, 0.1 to 1,000,000; at once. InvalidArgument.
    virtual Result<> setSpeed(double factor) = 0;
    /// Goes there at once and on from there; to the past by a RewindEvent and all events up to there. Starts a replay
    /// that has ended.
    virtual Result<> seek(double seconds) = 0;
};

/// A session that plays a stored run; TuningSession::open() with OpenOptions::replay. Errors: NotFound (no such project
/// or run), those of loading the model.
Result<std::unique_ptr<TuningSession>> openReplay(OpenOptions options);

} // namespace lathe::session
