#pragma once

#include "core/serve/device.h"
#include "core/serve/inputs.h"
#include "core/serve/rotation.h"
#include "core/support/hash.h"
#include "core/wire/blob_store.h"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace lathe::wire {
class RunJob;
class RunResult;
} // namespace lathe::wire

namespace lathe::serve {

/// Carries out run jobs on one device: loads artifacts, makes inputs in their physical layouts, warms up, checks,
/// times.
class TrialRunner
{
public:
    explicit TrialRunner(std::shared_ptr<Device> device);
    ~TrialRunner();

    /// Blobs that the job needs and `blobs` does not have.
    static std::vector<Hash128> missing(const wire::RunJob& job, wire::BlobStore& blobs);
    using Progress = std::function<void(std::uint32_t stage, const std::string& what)>;
    /// What the device itself has to compile is compiled before anything runs, as a stage of its own, and counts in no
    /// other time (device_abi.h, build). `progress` is told before each stage (a TrialStage and what is about to
    /// happen), so that a supervisor can explain a crash. Fetched buffers are put into `blobs`. A wrong answer with
    /// constants that were on the device already is tried once more with fresh ones: what an earlier kernel spoiled is
    /// not this one's fault.
    wire::RunResult run(const wire::RunJob& job, wire::BlobStore& blobs, const Progress& progress);

private:
    struct Module;
    struct Resident;
    struct Plan;
    Result<Module*> load(const Hash128& hash, const wire::Blob& blob, const std::string& descriptor);
    wire::RunResult runOnce(const wire::RunJob& job, wire::BlobStore& blobs, const Progress& progress);
    Result<Plan> prepare(const wire::RunJob& job, wire::BlobStore& blobs);
    Result<> build(const Plan& plan);
    Result<std::shared_ptr<DeviceBuffer>> allocate(std::size_t bytes);
    Result<std::shared_ptr<DeviceBuffer>> filled(const wire::Buffer& buffer, const ArgSpec& spec,
                                                 wire::BlobStore& blobs);
    Result<double> check(const wire::RunJob& job, const Plan& plan, wire::BlobStore& blobs);
    /// True: the outputs were checked again meanwhile.
    Result<bool> time(const wire::RunJob& job, const Plan& plan, wire::RunResult& result,
                      const std::function<bool()>& checkAgain);
    Result<std::string> plainValues(const Plan& plan, std::size_t buffer);

    std::shared_ptr<Device> m_device;
    std::list<Module> m_modules; ///< most recently used first; a few
    Inputs m_inputs;
    std::list<Resident>
        m_resident; ///< constants that are on the device, for the next candidates; most recently used first
    bool m_residentUsed = false; ///< by the job at hand
    Rotation m_rotation;
};

} // namespace lathe::serve
