#pragma once

#include "core/search/lathe/launch_part.h"
#include "core/search/lathe/rows_part.h"

namespace lathe::search {

/// One launch for all of a DAG that works by rows, a block for each row: what is kept lies in shared memory, sums are
/// added up by all threads.
std::unique_ptr<LaunchPart> makeLaunchRowsPart(const LaunchContext& context, const RowStages& stages);

} // namespace lathe::search
