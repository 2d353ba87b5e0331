#pragma once

#include "plugins/opencl/device/device_facts.h"

#include <string>
#include <vector>

namespace lathe::opencl {

/// The loader, for processes of Lathe's own: it also turns off what drivers keep on disk. Null: `problem` is a
/// sentence.
const Driver* findDriver(std::string& problem);

/// All devices of all platforms. Empty: `problem` is a sentence that names what to install.
std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem);

/// What LatheDeviceApi::enumerate gives.
std::string devicesText();

} // namespace lathe::opencl
