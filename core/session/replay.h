#pragma once

#include "core/session/session.h"

namespace lathe::session {

/// A session that plays a stored run; TuningSession::open() with OpenOptions::replay. Errors: NotFound (no such project or run), those
/// of loading the model.
Result<std::unique_ptr<TuningSession>> openReplay(OpenOptions options);

} // namespace lathe::session
