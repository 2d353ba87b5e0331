#pragma once

#include "app/runner/farm_words.h"

namespace lathe::runner {

/// Offers this machine's devices until SIGTERM or SIGINT; a second one ends it at once.
Result<> offerDevices(FarmWords words);

} // namespace lathe::runner
