#include "plugins/opencl/codegen/compiler.h"

#include "core/support/json_fields.h"
#include "plugins/opencl/device/cache.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace lathe::opencl {

Compiler::Compiler(const Driver& driver, DeviceFacts device, cl_context context)
    : m_driver(driver)
    , m_device(std::move(device))
    , m_context(context)
{
}

Compiler::~Compiler()
{
    m_driver.releaseContext(m_context);
}

namespace {

/// Whether the binaries for one that is described so run on `facts`, too: DeviceFacts::identity.
bool isDescribed(const DeviceFacts& facts, const nlohmann::json& description)
{
    return textIn(description, "platform") == facts.platformName && textIn(description, "name") == facts.name
           && textIn(description, "version") == facts.version && textIn(description, "driver") == facts.driver;
}

} // namespace

std::unique_ptr<Compiler> Compiler::find(const std::string& wanted)
{
    std::string problem;
    const Driver* const driver = findDriver(problem);
    if (driver == nullptr)
        return nullptr;
    std::vector<DeviceFacts> devices = listDevices(*driver, problem);
    const nlohmann::json description = nlohmann::json::parse(wanted, nullptr, false);
    const auto found = std::ranges::find_if(
        devices, [&](const DeviceFacts& facts) { return wanted.empty() || isDescribed(facts, description); });
    if (found == devices.end() || !found->hasCompiler)
        return nullptr;
    DeviceFacts& device = *found;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(device.platform), 0};
    cl_int error = CL_SUCCESS;
    cl_context context = driver->createContext(properties, 1, &device.id, nullptr, nullptr, &error);
    if (context == nullptr)
        return nullptr;
    return std::unique_ptr<Compiler>(new Compiler(*driver, std::move(device), context));
}

Result<> Compiler::compile(PackedProgram& program, const LaunchShape& shape) const
{
    program.madeFor = m_device.identity;
    const CacheKey key = {m_device.identity, program.source};
    std::size_t bytes = 0;
    if (char* const kept = findInCache(key, bytes); kept != nullptr) {
        program.binary.assign(kept, bytes);
        std::free(kept);
        return {};
    }
    std::string problem;
    const Program made = Program::fromSource(m_driver, m_context, m_device.id, program.source, problem);
    if (!made)
        return makeError(Errc::BuildFailed, problem);
    program.binary = made.binary({&shape, 1});
    if (!program.binary.empty())
        keepInCache(key, program.binary);
    return {};
}

} // namespace lathe::opencl
