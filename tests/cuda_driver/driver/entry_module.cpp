#include "tests/cuda_driver/driver/state.h"

#include <algorithm>
#include <cstring>

// Entry points: modules, functions, launches.

using namespace lathe::cuda_driver;

namespace {

/// The newest PTX of a version of CUDA: 11.x has 7.x, 12.x 8.x (a step less from 12.6 on), 13.x 9.x.
bool knowsVersion(int cuda, unsigned major, unsigned minor)
{
    const unsigned cudaMajor = static_cast<unsigned>(cuda / 1000), cudaMinor = static_cast<unsigned>(cuda % 1000 / 10);
    const unsigned newestMajor = cudaMajor >= 9 ? cudaMajor - 4 : 0;
    const unsigned newestMinor = cudaMajor == 12 && cudaMinor > 5 ? cudaMinor - 1 : cudaMinor;
    return major < newestMajor || (major == newestMajor && minor <= newestMinor);
}

void writeLog(unsigned count, const int* options, void** values, const std::string& text)
{
    char* buffer = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == kJitErrorLog)
            buffer = static_cast<char*>(values[i]);
        else if (options[i] == kJitErrorLogBytes)
            bytes = reinterpret_cast<size_t>(values[i]) & 0xffffffff;
    }
    if (!buffer || bytes == 0)
        return;
    const size_t written = std::min(bytes - 1, text.size());
    std::memcpy(buffer, text.data(), written);
    buffer[written] = '\0';
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == kJitErrorLogBytes)
            values[i] = reinterpret_cast<void*>(written);
}

/// What a compiler would refuse although the interpreter could run it; empty: nothing.
std::string beyondLimits(const lathe::ptx::Program& program)
{
    for (const lathe::ptx::Kernel& kernel : program.kernels) {
        if (kernel.staticShared > kDefaultShared)
            return "kernel " + kernel.name + " has " + std::to_string(kernel.staticShared)
                   + " bytes of shared memory of its own, more than " + std::to_string(kDefaultShared);
        const bool many = program.versionMajor > 8 || (program.versionMajor == 8 && program.versionMinor >= 1);
        if (kernel.parameterBytes > (many ? 32764U : 4096U))
            return "kernel " + kernel.name + " has " + std::to_string(kernel.parameterBytes) + " bytes of parameters";
    }
    uint64_t constants = 0;
    for (const lathe::ptx::GlobalVariable& variable : program.globals)
        constants += variable.isConst ? variable.size : 0;
    return constants > (64 << 10) ? "the module has " + std::to_string(constants) + " bytes of constants"
                                  : std::string();
}

int loadModule(State& state, Context& context, void** module, const void* image, unsigned count, const int* options,
               void** values)
{
    const auto* const bytes = static_cast<const unsigned char*>(image);
    constexpr unsigned char kFatBinary[] = {0x50, 0xed, 0x55, 0xba};
    const auto refuse = [&](int code, const std::string& text) {
        state.tell("a module is refused with " + std::string(nameOf(code)) + ": " + text, true);
        writeLog(count, options, values, text);
        return code;
    };
    if (std::memcmp(bytes,
                    "\x7f"
                    "ELF",
                    4)
            == 0
        || std::memcmp(bytes, kFatBinary, 4) == 0)
        return refuse(kNoBinaryForGpu, "it is machine code, which the processor cannot run; PTX is taken");
    const std::string text(static_cast<const char*>(image));
    if (text.find(".version") == std::string::npos)
        return refuse(kInvalidImage, "it is no PTX");
    const auto loaded = lathe::ptx::load(text);
    if (const auto* const problem = std::get_if<lathe::ptx::LoadError>(&loaded))
        return refuse(kInvalidPtx, problem->text);
    const auto& program = std::get<std::shared_ptr<const lathe::ptx::Program>>(loaded);
    if (!knowsVersion(state.settings.version, program->versionMajor, program->versionMinor))
        return refuse(kUnsupportedPtxVersion, "PTX " + std::to_string(program->versionMajor) + "."
                                                  + std::to_string(program->versionMinor)
                                                  + " is newer than this driver");
    if (program->target > context.device->capability)
        return refuse(kInvalidPtx, "its target sm_" + std::to_string(program->target) + " is newer than the device, sm_"
                                       + std::to_string(context.device->capability));
    if (const std::string beyond = beyondLimits(*program); !beyond.empty())
        return refuse(kInvalidPtx, beyond);
    auto made = std::make_unique<Module>();
    made->context = &context;
    made->program = program;
    for (const lathe::ptx::GlobalVariable& variable : program->globals) {
        lathe::ptx::Allocation* const place = context.memory->allocate(variable.size);
        if (!place) {
            for (const uint64_t address : made->globals)
                context.memory->release(address);
            return kOutOfMemory;
        }
        place->readOnly = variable.isConst;
        if (!variable.initial.empty())
            std::memcpy(place->bytes.get(), variable.initial.data(), variable.size);
        std::memset(place->initialized.get(), 1, variable.size);
        made->globals.push_back(place->base);
    }
    *module = keep(state.modules, std::move(made));
    return kSuccess;
}

std::vector<uint8_t> parametersOf(const lathe::ptx::Kernel& kernel, void** values)
{
    std::vector<uint8_t> made(kernel.parameterBytes);
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
        std::memcpy(made.data() + kernel.parameters[i].offset, values[i], kernel.parameters[i].size);
    return made;
}

/// The other way of giving parameters: a buffer and its size, in a list that ends with null.
int parametersOf(const lathe::ptx::Kernel& kernel, void** extra, std::vector<uint8_t>& into)
{
    constexpr uintptr_t kBuffer = 1, kBytes = 2;
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (size_t i = 0; extra[i] != nullptr; i += 2) {
        const auto key = reinterpret_cast<uintptr_t>(extra[i]);
        if (key == kBuffer)
            buffer = extra[i + 1];
        else if (key == kBytes)
            bytes = *static_cast<const size_t*>(extra[i + 1]);
        else
            return kInvalidValue;
    }
    if (!buffer || bytes < kernel.parameterBytes || bytes > (kernel.parameterBytes + 7U) / 8 * 8)
        return kInvalidValue;
    into.resize(kernel.parameterBytes);
    std::memcpy(into.data(), buffer, kernel.parameterBytes);
    return kSuccess;
}

} // namespace

LATHE_CUDA_ENTRY cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values)
{
    return enterContext([&](State& state, Context& context) -> int {
        if (!module || !image || (count > 0 && (!options || !values)))
            return kInvalidValue;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused;
        return loadModule(state, context, module, image, count, options, values);
    });
}

LATHE_CUDA_ENTRY cuModuleLoadData(void** module, const void* image)
{
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

LATHE_CUDA_ENTRY cuModuleUnload(void* module)
{
    return enterContext([&](State& state, Context& context) -> int {
        Module* const found = find(state.modules, module);
        if (!found || found->context != &context)
            return kInvalidHandle;
        for (const uint64_t address : found->globals)
            context.memory->release(address);
        std::erase_if(state.functions, [&](const auto& entry) { return entry.second->module == found; });
        state.modules.erase(module);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuModuleGetFunction(void** function, void* module, const char* name)
{
    return enterContext([&](State& state, Context&) -> int {
        if (!function || !name)
            return kInvalidValue;
        Module* const found = find(state.modules, module);
        if (!found)
            return kInvalidHandle;
        const lathe::ptx::Kernel* const kernel = found->program->find(name);
        if (!kernel)
            return kNotFound;
        for (const auto& [handle, known] : state.functions)
            if (known->module == found && known->kernel == kernel) {
                *function = handle;
                return kSuccess;
            }
        auto made = std::make_unique<Function>();
        made->module = found;
        made->kernel = kernel;
        made->maxDynamicShared = static_cast<int>(kDefaultShared - std::min(kernel->staticShared, kDefaultShared));
        *function = keep(state.functions, std::move(made));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, void* module, const char* name)
{
    return enterContext([&](State& state, Context&) -> int {
        Module* const found = find(state.modules, module);
        if (!name)
            return kInvalidValue;
        if (!found)
            return kInvalidHandle;
        for (size_t i = 0; i < found->program->globals.size(); ++i)
            if (found->program->globals[i].name == name) {
                if (address)
                    *address = found->globals[i];
                if (bytes)
                    *bytes = found->program->globals[i].size;
                return kSuccess;
            }
        return kNotFound;
    });
}

LATHE_CUDA_ENTRY cuFuncGetAttribute(int* value, int attribute, void* handle)
{
    return enterContext([&](State& state, Context& context) -> int {
        const Function* const function = find(state.functions, handle);
        if (!value)
            return kInvalidValue;
        if (!function)
            return kInvalidHandle;
        const lathe::ptx::Program& program = *function->module->program;
        switch (attribute) {
        case kFunctionMaxThreads: *value = static_cast<int>(function->mostThreads()); break;
        case kFunctionShared: *value = static_cast<int>(function->kernel->staticShared); break;
        case kFunctionConst: *value = static_cast<int>(function->kernel->parameterBytes); break;
        case kFunctionLocal: *value = static_cast<int>(function->kernel->localBytes); break;
        case kFunctionRegisters: *value = static_cast<int>(function->registers()); break;
        case kFunctionPtxVersion: *value = static_cast<int>(program.target); break;
        case kFunctionBinaryVersion: *value = static_cast<int>(context.device->capability); break;
        case kFunctionCacheModeCa: *value = 0; break;
        case kFunctionMaxDynamicShared: *value = function->maxDynamicShared; break;
        case kFunctionCarveout: *value = function->carveout; break;
        default: return kInvalidValue;
        }
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuFuncSetAttribute(void* handle, int attribute, int value)
{
    return enterContext([&](State& state, Context& context) -> int {
        Function* const function = find(state.functions, handle);
        if (!function)
            return kInvalidHandle;
        if (attribute == kFunctionMaxDynamicShared) {
            if (value < 0
                || static_cast<unsigned>(value) + function->kernel->staticShared > context.device->sharedPerBlockOptin)
                return kInvalidValue;
            function->maxDynamicShared = value;
        } else if (attribute == kFunctionCarveout) {
            if (value < -1 || value > 100)
                return kInvalidValue;
            function->carveout = value;
        } else {
            return kInvalidValue;
        }
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* handle, int threads,
                                                             size_t dynamicShared)
{
    return enterContext([&](State& state, Context& context) -> int {
        const Function* const function = find(state.functions, handle);
        if (!function)
            return kInvalidHandle;
        if (!blocks || threads <= 0)
            return kInvalidValue;
        *blocks = blocksPerMultiprocessor(*function, *context.device, static_cast<unsigned>(threads), dynamicShared);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* handle, int threads,
                                                                      size_t dynamicShared, unsigned)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, dynamicShared);
}

LATHE_CUDA_ENTRY cuLaunchKernel(void* handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                unsigned blockY, unsigned blockZ, unsigned shared, void* streamHandle,
                                void** parameters, void** extra)
{
    return enterContext([&](State& state, Context& context) -> int {
        Function* const function = find(state.functions, handle);
        Stream* const stream = streamOf(state, context, streamHandle);
        if (!function || function->module->context != &context || !stream)
            return kInvalidHandle;
        const LaunchSize size{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared};
        if (const int code = checkLaunch(*function, *context.device, size); code != kSuccess)
            return code;
        const lathe::ptx::Kernel& kernel = *function->kernel;
        std::vector<uint8_t> values;
        if (parameters && extra)
            return kInvalidValue;
        if (parameters)
            values = parametersOf(kernel, parameters);
        else if (extra) {
            if (const int code = parametersOf(kernel, extra, values); code != kSuccess)
                return code;
        } else if (!kernel.parameters.empty())
            return kInvalidValue;
        return perform(*stream, [handle, size, values](Stream& in, bool inGraph) -> int {
            State& now = State::get();
            Function* const found = find(now.functions, handle); // a graph may outlive the module
            return found ? runKernel(now, *found, size, values, in, inGraph) : static_cast<int>(kInvalidHandle);
        });
    });
}
