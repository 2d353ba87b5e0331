#pragma once

#include "core/support/hash.h"

namespace lathe::broker {

/// A new name that nobody else has or can guess: of a session, or a ticket.
Hash128 unguessable();

} // namespace lathe::broker
