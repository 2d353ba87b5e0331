#pragma once

#include "core/graph/operator.h"
#include "core/wire/blob_store.h"

#include <vector>

namespace lathe::wire {
class ReferenceJob;
}

namespace lathe::backend {

/// Outputs of the job's network on its inputs, by the operators' plain evaluation (graph::interpret).
/// Errors: BadFile (a damaged message), InvalidArgument (inputs that do not fit), those of the operators.
Result<std::vector<graph::HostTensor>> evaluateReference(const wire::ReferenceJob& job, wire::BlobStore& blobs);

} // namespace lathe::backend
