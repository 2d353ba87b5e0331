#include "plugins/opencl/device/module.h"

#include "core/runtime/device_error.h"
#include "core/runtime/read_parameters.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lathe::opencl {
namespace {

using nlohmann::json;

ModuleLaunch moduleLaunch(DescribedLaunch described)
{
    ModuleLaunch launch;
    launch.symbol = std::move(described.symbol);
    launch.buffers = std::move(described.buffers);
    for (std::size_t d = 0; d < 3; ++d) {
        launch.shape.block[d] = described.block[d];
        launch.shape.threads[d] = described.grid[d] * described.block[d];
    }
    launch.localBytes = described.sharedBytes;
    return launch;
}

} // namespace

Module::~Module()
{
    for (ModuleKernel& kernel : m_kernels)
        releaseKernels(kernel.launches);
}

int Module::readDescriptor(const char* text, LatheDeviceError* error)
{
    // The library throws on missing members; nothing of that may leave the plugin.
    try {
        const json descriptor = json::parse(text);
        if (descriptor.at("format") != kFormat)
            return fail(error, LATHE_ERRC_UNSUPPORTED,
                        "OpenCL devices run artifacts of format opencl-c, not "
                            + descriptor.at("format").get<std::string>());
        for (const json& entry : descriptor.at("kernels")) {
            ModuleKernel& kernel = m_kernels.emplace_back();
            kernel.name = entry.at("name").get<std::string>();
            if (entry.at("form") != "launches")
                return fail(error, LATHE_ERRC_UNSUPPORTED,
                            "kernel " + kernel.name + " is made of phases, which an OpenCL device does not run");
            readLaunches(entry, kernel, moduleLaunch);
        }
    } catch (const json::exception& bad) {
        return fail(error, LATHE_ERRC_BAD_FILE, std::string("the artifact's description is damaged: ") + bad.what());
    }
    return 0;
}

int Module::load(std::string_view artifact, const char* descriptor, LatheDeviceError* error)
{
    if (const int status = readDescriptor(descriptor, error))
        return status;
    if (!unpack(artifact, m_packed))
        return fail(error, LATHE_ERRC_BAD_FILE, "the artifact is damaged: its programs do not hold together");
    m_programs.resize(m_packed.size());
    const auto programs = runtime::programsBySymbol(m_packed);
    for (ModuleKernel& kernel : m_kernels)
        for (ModuleLaunch& launch : kernel.launches) {
            const auto found = programs.find(launch.symbol);
            if (found == programs.end())
                return fail(error, LATHE_ERRC_BAD_FILE,
                            "the artifact is damaged: it has no program with the launch " + launch.symbol);
            launch.program = found->second;
        }
    return 0;
}

std::string Module::buildLaunches(std::span<ModuleLaunch> launches)
{
    for (std::size_t first = 0; first < launches.size();) {
        std::size_t end = first + 1;
        while (end < launches.size() && launches[end].program == launches[first].program)
            ++end;
        if (std::string problem = buildProgram(launches.subspan(first, end - first)); !problem.empty()) {
            releaseKernels(launches);
            return problem;
        }
        first = end;
    }
    return {};
}

std::string Module::buildProgram(std::span<ModuleLaunch> launches)
{
    const PackedProgram& packed = m_packed[launches.front().program];
    Program& program = m_programs[launches.front().program];
    if (!packed.binary.empty() && packed.madeFor == m_device.identity) {
        program = Program::fromBinary(m_driver, m_context, m_device.id, packed.binary);
        if (program && makeKernels(launches).empty())
            return {};
        program = {}; // it is not the binary of this source
    }
    std::string problem;
    program = Program::fromSource(m_driver, m_context, m_device.id, packed.source, problem);
    if (!program)
        return problem;
    if (m_device.isProcessor) { // a driver that compiles late does it now, and not while the first launch is waited for
        std::vector<LaunchShape> shapes;
        for (const ModuleLaunch& launch : launches)
            shapes.push_back(launch.shape);
        program.binary(shapes);
    }
    return makeKernels(launches);
}

/// All of them; else none, and a sentence.
std::string Module::makeKernels(std::span<ModuleLaunch> launches) const
{
    for (ModuleLaunch& launch : launches) {
        cl_int code = CL_SUCCESS;
        launch.kernel = m_driver.createKernel(m_programs[launch.program].get(), launch.symbol.c_str(), &code);
        if (launch.kernel == nullptr) {
            releaseKernels(launches);
            return "the program has no kernel " + launch.symbol + ": " + errorText(code);
        }
    }
    return {};
}

void Module::releaseKernels(std::span<ModuleLaunch> launches) const
{
    for (ModuleLaunch& launch : launches)
        if (launch.kernel != nullptr)
            m_driver.releaseKernel(std::exchange(launch.kernel, nullptr));
}

int Module::build(std::size_t number, LatheDeviceError* error)
{
    ModuleKernel& kernel = m_kernels[number];
    runtime::ErrorText problem;
    for (const ModuleLaunch& launch : kernel.launches)
        if (!canStart(m_device, kernel.name.c_str(), launch.shape.block, launch.localBytes, problem))
            return fail(error, LATHE_ERRC_UNSUPPORTED, problem.text);
    if (!kernel.isBuilt && kernel.problem.empty()) {
        kernel.problem = buildLaunches(kernel.launches);
        kernel.isBuilt = kernel.problem.empty();
    }
    if (!kernel.problem.empty())
        return fail(error, LATHE_ERRC_BUILD_FAILED, kernel.problem);
    return 0;
}

} // namespace lathe::opencl
