#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "plugins/opencl/device/driver.h"

namespace lathe::opencl {

/// The names of a device's extensions with blanks between them, for free(). Null: the driver does not tell.
char* listExtensions(const Driver& driver, cl_device_id device);

/// Whether such a list has the name among others.
bool listsExtension(const char* listed, const char* name);

} // namespace lathe::opencl
