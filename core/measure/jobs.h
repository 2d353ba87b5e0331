#pragma once

#include "core/backend/codegen.h"
#include "core/measure/types.h"
#include "core/wire/artifact.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lathe::wire {
class BuiltCandidate;
class RunJob;
class RunResult;
} // namespace lathe::wire

namespace lathe::measure {

/// A built artifact, shared by the candidates in it.
struct BuiltArtifact
{
    std::string bytes;
    Hash128 hash;
    ArtifactDescriptor descriptor;
    std::string descriptorJson;
};
using BuiltArtifactPtr = std::shared_ptr<const BuiltArtifact>;

/// Static facts of a built kernel that go into a trial's conditions.
struct BuildFacts
{
    std::int64_t vectorSpills = 0;
    std::int64_t codeBytes = 0;
    std::vector<backend::LaunchFigures> launches = {};
};

/// What a builder says of the launches of a candidate.
std::vector<backend::LaunchFigures> launchFiguresOf(const wire::BuiltCandidate& candidate);

/// A kernel in its artifact.
struct BuiltKernel
{
    BuiltArtifactPtr artifact; ///< null: it has not been built yet
    std::int32_t kernel = -1;
    BuildFacts facts;
    std::optional<TrialResult> failed = {}; ///< of a build ahead: it cannot be built
};

std::string kernelNameOf(const MeasureRequest& request);

/// The run of kernel number `kernel`. Errors: Internal if its parameters are not the DAG's inputs and outputs.
Result<> fillRunJob(const MeasureRequest& request, const BuiltArtifact& artifact, std::int32_t kernel,
                    wire::RunJob& job);

/// What the runner of `device` answers about the trial; a failed one, if that cannot be true (device_words.h).
/// `durations` has what came before. @param runner  its name at a broker, kept in the conditions; empty: it is here
TrialResult toTrialResult(const wire::RunResult& run, const MeasureRequest& request, const BuildFacts& facts,
                          const DeviceIdentity& device, std::map<std::string, double> durations,
                          const std::string& runner = {});

/// @param device  where it went wrong; empty: before it got to one
TrialResult failedTrial(TrialStage stage, Error error, const DeviceIdentity& device,
                        std::map<std::string, double> durations);

} // namespace lathe::measure
