#pragma once

#include "core/measure/endpoint.h"
#include "core/measure/types.h"

#include <memory>
#include <optional>

namespace lathe::measure {

enum class WorkerKind : std::uint8_t
{
    Builder,
    Runner
};

/// A builder or runner process of this machine, not started yet. @param device  that a runner opens; nothing: none
std::unique_ptr<Endpoint> makeLocalWorker(WorkerKind kind, const WorkerPrograms& programs,
                                          std::optional<DeviceSpec> device = {});

} // namespace lathe::measure
