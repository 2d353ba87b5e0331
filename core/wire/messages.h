#pragma once

/// The generated messages. For .cpp files of folders that speak the protocol; no other header includes it.

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include "core/wire/lathe.pb.h"
