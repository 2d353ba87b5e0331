#pragma once

#include "core/session/events.h"
#include "core/support/message.h"

#include <optional>

namespace lathe::session {

/// A session whose project another program held when it was opened: it shows what is stored, and tells its observer
/// within a second what that program adds, as if the run were its own: events, and the run's state. Nothing can be
/// written, even after that program has ended: opening the project anew takes it over. TuningSession::follow(). Any
/// thread.
class FollowPart
{
public:
    virtual ~FollowPart() = default;
    /// Who writes, as looked up last; nothing: it has ended.
    virtual std::optional<ProjectWriter> writer() const = 0;
};

} // namespace lathe::session
