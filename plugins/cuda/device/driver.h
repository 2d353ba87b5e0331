#pragma once

#include "plugins/cuda/device/driver_functions.h"

#include <string>

namespace lathe::cuda {

/// openDriver(), versionName() and errorName() for the two halves.
const Driver* openDriver(std::string& problem);
std::string versionText(int version);
std::string errorText(const Driver& driver, int code);

} // namespace lathe::cuda
