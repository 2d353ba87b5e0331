#pragma once

#include "app/cli/command.h"

namespace lathe::cli {

/// `devices test|drain|resume|remove NAME`: what devices of a farm are told to do.
void addDeviceOrders(CLI::App& devices, Action& run);

} // namespace lathe::cli
