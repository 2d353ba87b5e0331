#include "core/measure/local_worker.h"

#include "core/backend/codegen.h"
#include "core/wire/process_port.h"

#include <utility>

namespace lathe::measure {

std::unique_ptr<Endpoint> makeLocalWorker(WorkerKind kind, const WorkerPrograms& programs,
                                          std::optional<DeviceSpec> device)
{
    const bool builds = kind == WorkerKind::Builder;
    wire::WorkerProgram program = {builds ? "lathe-builder" : "lathe-runner",
                                   builds ? programs.builder : programs.runner, programs.environment};
    EndpointTraits traits;
    traits.device = std::move(device);
    traits.sharesMachine = true;
    if (builds) // it exchanges C++ objects with its plugins
        traits.buildId = backend::buildId();
    return std::make_unique<Endpoint>(std::make_unique<wire::ProcessPort>(std::move(program)), std::move(traits));
}

} // namespace lathe::measure
