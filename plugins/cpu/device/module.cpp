#include "plugins/cpu/device/module.h"

#include "core/runtime/device_error.h"
#include "core/runtime/read_parameters.h"

#include <dlfcn.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lathe::cpu {

namespace {

using nlohmann::json;

bool writeAll(int fd, const void* data, std::size_t bytes)
{
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t n = ::write(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= static_cast<std::size_t>(n);
    }
    return true;
}

} // namespace

Module::~Module()
{
    if (m_library)
        ::dlclose(m_library);
    if (m_file >= 0)
        ::close(m_file);
}

int Module::readDescriptor(const char* text, LatheDeviceError* error)
{
    // The library throws on missing members; nothing of that may leave the plugin.
    try {
        const json descriptor = json::parse(text);
        if (descriptor.at("format") != "cpu-so")
            return fail(error, LATHE_ERRC_UNSUPPORTED,
                        "the cpu device runs artifacts of format cpu-so, not "
                            + descriptor.at("format").get<std::string>());
        for (const json& entry : descriptor.at("kernels")) {
            Kernel kernel;
            kernel.name = entry.at("name").get<std::string>();
            if (entry.at("form") != "phases")
                return fail(error, LATHE_ERRC_UNSUPPORTED,
                            "kernel " + kernel.name + " is made of launches, which a processor does not run");
            kernel.teamScratchBytes = entry.at("team_scratch_bytes").get<std::size_t>();
            kernel.partScratchBytes = entry.at("part_scratch_bytes").get<std::size_t>();
            readParameters(entry, kernel.parameters, kernel.parameterBytes);
            m_symbols.push_back(entry.at("phases").get<std::vector<std::string>>());
            m_kernels.push_back(std::move(kernel));
        }
    } catch (const json::exception& bad) {
        return fail(error, LATHE_ERRC_BAD_FILE, std::string("the artifact's description is damaged: ") + bad.what());
    }
    for (Kernel& kernel : m_kernels)
        for (const std::string& name : kernel.parameters)
            kernel.parameterNames.push_back(name.c_str());
    return 0;
}

int Module::load(const void* artifact, std::size_t bytes, const char* descriptor, LatheDeviceError* error)
{
    if (const int status = readDescriptor(descriptor, error))
        return status;
    m_file = ::memfd_create("lathe-artifact", MFD_CLOEXEC);
    if (m_file < 0 || !writeAll(m_file, artifact, bytes))
        return fail(error, LATHE_ERRC_DEVICE_LOST,
                    std::string("cannot hold the artifact in memory: ") + std::strerror(errno));
    const std::string path = "/proc/self/fd/" + std::to_string(m_file);
    m_library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!m_library)
        return fail(error, LATHE_ERRC_BAD_FILE, std::string("the artifact does not load: ") + ::dlerror());
    for (std::size_t k = 0; k < m_kernels.size(); ++k)
        for (const std::string& symbol : m_symbols[k]) {
            const auto phase = reinterpret_cast<LathePhase>(::dlsym(m_library, symbol.c_str()));
            if (!phase)
                return fail(error, LATHE_ERRC_BAD_FILE, "the artifact has no phase " + symbol);
            m_kernels[k].phases.push_back(phase);
        }
    return 0;
}

} // namespace lathe::cpu
