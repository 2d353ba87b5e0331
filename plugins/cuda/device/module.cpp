#include "plugins/cuda/device/module.h"

#include "core/runtime/read_parameters.h"
#include "plugins/cuda/device/architecture.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace lathe::cuda {
namespace {

using nlohmann::json;

ModuleLaunch moduleLaunch(DescribedLaunch described)
{
    ModuleLaunch launch;
    launch.symbol = std::move(described.symbol);
    launch.buffers = std::move(described.buffers);
    std::ranges::copy(described.grid, launch.grid);
    std::ranges::copy(described.block, launch.block);
    launch.sharedBytes = described.sharedBytes;
    return launch;
}

/// ".version 9.5" of a text of PTX; empty: it says none.
std::string ptxVersion(std::string_view ptx)
{
    constexpr std::string_view kWord = ".version ";
    const std::size_t at = ptx.find(kWord);
    if (at == std::string_view::npos)
        return {};
    const std::string_view rest = ptx.substr(at + kWord.size());
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

} // namespace

Module::~Module()
{
    for (LoadedModule module : m_loaded)
        if (module != nullptr)
            m_driver.moduleUnload(module);
}

int Module::readDescriptor(const char* text, LatheDeviceError* error)
{
    // The library throws on missing members; nothing of that may leave the plugin.
    try {
        const json descriptor = json::parse(text);
        if (descriptor.at("format") != kFormat)
            return fail(error, LATHE_ERRC_UNSUPPORTED,
                        "NVIDIA GPUs run artifacts of format " + std::string(kFormat) + ", not "
                            + descriptor.at("format").get<std::string>());
        for (const json& entry : descriptor.at("kernels")) {
            ModuleKernel& kernel = m_kernels.emplace_back();
            kernel.name = entry.at("name").get<std::string>();
            if (entry.at("form") != "launches")
                return fail(error, LATHE_ERRC_UNSUPPORTED,
                            "kernel " + kernel.name + " is made of phases, which a GPU does not run");
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
    if (!runtime::unpack(artifact, m_packed))
        return fail(error, LATHE_ERRC_BAD_FILE, "the artifact is damaged: its programs do not hold together");
    m_loaded.resize(m_packed.size());
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

LatheErrc Module::kindOfFailure(int code, LatheErrc usual)
{
    if (!isLasting(code))
        return code == kOutOfMemory ? kindOf(code) : usual;
    m_lastingError = code;
    return kindOf(code);
}

/// What the driver says when it takes neither form.
std::string Module::refusal(int code, const std::string& log, const runtime::PackedProgram& packed, LatheErrc& kind)
{
    kind = kindOfFailure(code, LATHE_ERRC_BUILD_FAILED);
    if (isLasting(code) || code == kOutOfMemory)
        return "CUDA refuses to load a kernel: " + errorText(m_driver, code);
    if (code == kUnsupportedPtxVersion || (code == kInvalidPtx && log.find(".version") != std::string::npos)) {
        kind = LATHE_ERRC_INCOMPATIBLE;
        return "the NVIDIA driver is older than the compiler: it supports CUDA " + versionText(m_driver.version)
               + " and does not take PTX " + ptxVersion(packed.source)
               + "; update the driver, or install an older compiler where kernels are built (Python's package "
                 "nvidia-cuda-nvrtc-cu12; the manual says where to)";
    }
    if (code == kNoBinaryForDevice || code == kInvalidImage || code == kNoJitCompiler) {
        kind = LATHE_ERRC_INCOMPATIBLE;
        return "the kernel was compiled for " + packed.madeFor + ", and this device, "
               + architectureName(m_device.capability)
               + ", runs nothing of it: " + (code == kNoJitCompiler ? kNoJitCompilerText : errorText(m_driver, code));
    }
    return "the NVIDIA driver refuses the kernel: " + (log.empty() ? errorText(m_driver, code) : log);
}

std::string Module::loadProgram(std::size_t program, LatheErrc& kind)
{
    if (m_loaded[program] != nullptr)
        return {};
    const runtime::PackedProgram& packed = m_packed[program];
    const std::optional<int> madeFor = capabilityOf(packed.madeFor);
    int code = kNoBinaryForDevice;
    // The processor that stands in for a GPU runs no machine code, and would say so for each trial.
    const bool takesBinaries = !m_driver.isOnProcessor || packed.source.empty();
    if (takesBinaries && !packed.binary.empty() && madeFor && runsOn(*madeFor, m_device.capability)) {
        code = m_driver.moduleLoad(&m_loaded[program], packed.binary.data(), 0, nullptr, nullptr);
        if (code == kSuccess)
            return {};
        m_loaded[program] = nullptr;
        if (isLasting(code) || code == kOutOfMemory)
            return refusal(code, {}, packed, kind);
    }
    if (packed.source.empty())
        return refusal(code, {}, packed, kind);
    // The driver's compiler reads to the zero behind the text, and writes its log with one.
    std::array<char, 8192> log = {};
    std::array<int, 2> options = {kErrorLog, kErrorLogBytes};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    code = m_driver.moduleLoad(&m_loaded[program], packed.source.c_str(), 2, options.data(), values.data());
    if (code == kSuccess)
        return {};
    m_loaded[program] = nullptr;
    return refusal(code, log.data(), packed, kind);
}

std::string Module::loadLaunch(const std::string& kernel, ModuleLaunch& launch, LatheErrc& kind)
{
    if (std::string problem = loadProgram(launch.program, kind); !problem.empty())
        return problem;
    if (const int code = m_driver.moduleGetFunction(&launch.function, m_loaded[launch.program], launch.symbol.c_str());
        code != kSuccess) {
        launch.function = nullptr;
        kind = kindOfFailure(code, LATHE_ERRC_BUILD_FAILED);
        return "the program has no kernel " + launch.symbol + ": " + errorText(m_driver, code);
    }
    int most = 0, registers = 0;
    const std::uint64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (m_driver.functionGetAttribute(&most, kMostThreadsOfFunction, launch.function) == kSuccess && most > 0
        && threads > static_cast<std::uint64_t>(most)) {
        m_driver.functionGetAttribute(&registers, kRegistersOfFunction, launch.function);
        kind = LATHE_ERRC_UNSUPPORTED;
        return "kernel " + kernel + " takes " + std::to_string(registers)
               + " registers a thread; this device starts at most " + std::to_string(most)
               + " threads of it in a block, not " + std::to_string(threads);
    }
    const std::uint64_t dynamic = dynamicSharedBytes(launch.sharedBytes);
    if (dynamic > 0)
        if (const int code = m_driver.functionSetAttribute(launch.function, kMostDynamicShared,
                                                           static_cast<int>(dynamic));
            code != kSuccess) {
            kind = kindOfFailure(code, LATHE_ERRC_UNSUPPORTED);
            return "CUDA refuses " + std::to_string(dynamic) + " bytes of shared memory for kernel " + kernel + ": "
                   + errorText(m_driver, code);
        }
    return {};
}

int Module::prepare(std::size_t number, LatheDeviceError* error)
{
    ModuleKernel& kernel = m_kernels[number];
    if (!kernel.isLoaded && kernel.problem.empty()) {
        for (ModuleLaunch& launch : kernel.launches) {
            if (!kernel.problem.empty())
                break;
            kernel.kind = LATHE_ERRC_UNSUPPORTED;
            kernel.problem = whyNotStarted(m_device, kernel.name, launch.grid, launch.block, launch.sharedBytes);
            if (kernel.problem.empty())
                kernel.problem = loadLaunch(kernel.name, launch, kernel.kind);
        }
        kernel.isLoaded = kernel.problem.empty();
    }
    if (!kernel.problem.empty())
        return fail(error, kernel.kind, kernel.problem);
    return 0;
}

} // namespace lathe::cuda
