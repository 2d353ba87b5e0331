#pragma once

#include "core/serve/loaded_library.h"
#include "core/wire/library_times.h"

namespace lathe::serve {

/// The benchmark's method: a few runs until clocks, caches and page tables settle; then, ten times in alternation, runs
/// of the whole network and sweeps over its instructions, each timed right after the one before it. With plan.wholeOnly
/// just the runs, plan.repeat of them, at least one.
///
/// @param runSeconds  how long a run of the library took just before, on the inputs that it has.
/// Errors: Internal with the library's words. Threads: that of the library; the machine should do nothing else.
Result<wire::LibraryTimes> benchLibrary(LoadedLibrary& library, const wire::LibraryPlan& plan, double runSeconds);

} // namespace lathe::serve
