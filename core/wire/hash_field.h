#pragma once

#include "core/support/hash.h"

namespace lathe::wire {

class Hash;

/// A hash as messages carry it.
Hash128 fromWire(const Hash& hash);
void toWire(const Hash128& hash, Hash* out);

} // namespace lathe::wire
