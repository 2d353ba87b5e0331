#pragma once

#include "core/support/result.h"

namespace lathe::wire {

class Failure;

/// An error as it goes over the wire.
void setFailure(Failure* failure, const Error& error);
/// The error that it was. A code that is not known is Internal.
Error errorOf(const Failure& failure);

} // namespace lathe::wire
