#pragma once

#include "core/serve/device.h"
#include "core/support/files.h"
#include "core/wire/artifact.h"
#include "plugins/opencl/device/package.h"
#include "tests/support/must.h"

#include <QtGlobal>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lathe::test {

inline IndexMap vectorOf(std::int64_t elements)
{
    return IndexMap::plain(&elements, 1);
}

/// "y = 2 x + 1" of 64 floats as two launches, which hand the half of it over in scratch.
inline KernelInfo doubledAndOne()
{
    KernelInfo info;
    info.name = "k";
    info.form = KernelForm::Launches;
    info.parameters = {{"x", ArgRole::Input, DType::F32, vectorOf(64)},
                       {"y", ArgRole::Output, DType::F32, vectorOf(64)}};
    info.scratch = {256};
    info.launches = {{"k_0", {0, 2}, {4, 1, 1}, {16, 1, 1}, 0}, {"k_1", {2, 1}, {8, 1, 1}, {8, 1, 1}, 0}};
    return info;
}

inline const char* const kDoubledAndOne = R"(
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void k_0(__global const float *restrict x, __global float *restrict s)
{
    s[get_global_id(0)] = 2 * x[get_global_id(0)];
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k_1(__global const float *restrict s, __global float *restrict y)
{
    y[get_global_id(0)] = s[get_global_id(0)] + 1;
}
)";

/// The first OpenCL device of this machine; an error where there is none.
inline Result<std::shared_ptr<serve::Device>> openDevice()
{
    LATHE_TRY_ASSIGN(const LatheDeviceApi* api, serve::loadDeviceApi(pluginDir(), "opencl"));
    return serve::Device::open(api, "", "");
}

/// Whether a machine without an OpenCL device is to fail the tests: LATHE_TEST_OPENCL=1, where what has one was
/// installed.
inline bool isDeviceDemanded()
{
    return qEnvironmentVariableIntValue("LATHE_TEST_OPENCL") != 0;
}

struct OpenClArtifact
{
    std::vector<std::byte> bytes;
    std::string descriptor;
};

/// Of a kernel whose launches all are in that program.
inline OpenClArtifact artifactOf(const KernelInfo& info, opencl::PackedProgram program)
{
    for (const LaunchInfo& launch : info.launches)
        program.symbols += launch.symbol + '\n';
    ArtifactDescriptor descriptor;
    descriptor.format = opencl::kFormat;
    descriptor.target = "opencl";
    descriptor.kernels = {info};
    return {opencl::pack(std::span(&program, 1)), toJson(descriptor).dump()};
}

inline Result<serve::DeviceModule> load(serve::Device& device, const KernelInfo& info, opencl::PackedProgram program)
{
    const OpenClArtifact artifact = artifactOf(info, std::move(program));
    return device.load(artifact.bytes, artifact.descriptor);
}

} // namespace lathe::test
