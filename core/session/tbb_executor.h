#pragma once

#include "core/support/executor.h"

#include <memory>

namespace lathe::session {

/// oneTBB behind the Executor interface; the only file that sees TBB is tbb_executor.cpp. 0: availableThreads().
std::unique_ptr<Executor> makeTbbExecutor(unsigned threads = 0);

} // namespace lathe::session
