#pragma once

#include "core/support/result.h"

namespace lathe::wire {

class Failure;

/// An error as it goes over the wire.
void setFailure(Failure* failure, const Error& error);

} // namespace lathe::wire
