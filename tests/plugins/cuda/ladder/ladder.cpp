#include "tests/plugins/cuda/ladder/ladder.h"

#include "core/support/files.h"
#include "plugins/cuda/model/nvdisasm.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace lathe::cuda::ladder {
namespace {

/// Where the matrices lie: on different pages, as drivers place them.
const std::vector<std::uint32_t> kParameters = {0x10000000, 0x7f, 0x20000000, 0x7f, 0x30000000, 0x7f};

SassLaunch launch(std::int64_t blocks, std::array<std::int64_t, 3> block)
{
    return {{blocks, blocks, 1}, block, kParameters};
}

/// Of NVRTC's interface: our own declarations of what is called here (a program is a pointer, a status an int).
struct Functions
{
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile)(void*, int, const char* const*) = nullptr;
    int (*logSize)(void*, std::size_t*) = nullptr;
    int (*log)(void*, char*) = nullptr;
    int (*cubinSize)(void*, std::size_t*) = nullptr;
    int (*cubin)(void*, char*) = nullptr;
    int (*destroy)(void**) = nullptr;
    std::filesystem::path folder; ///< of the library
};

Result<Functions> openNvrtc()
{
    std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    if (const char* const told = std::getenv("LATHE_NVRTC"); told != nullptr && told[0] != '\0') {
        if (std::filesystem::is_directory(told))
            for (std::string& name : names)
                name = (std::filesystem::path(told) / name).string();
        else
            names = {told};
    }
    for (const std::string& name : names) {
        void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr)
            continue;
        Functions f;
        const auto load = [library](const char* symbol, auto& function) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
            return function != nullptr;
        };
        if (!load("nvrtcCreateProgram", f.create) || !load("nvrtcCompileProgram", f.compile)
            || !load("nvrtcGetProgramLogSize", f.logSize) || !load("nvrtcGetProgramLog", f.log)
            || !load("nvrtcGetCUBINSize", f.cubinSize) || !load("nvrtcGetCUBIN", f.cubin)
            || !load("nvrtcDestroyProgram", f.destroy))
            continue;
        ::Dl_info where{};
        if (::dladdr(reinterpret_cast<void*>(f.compile), &where) != 0)
            f.folder = std::filesystem::path(where.dli_fname).parent_path();
        // NVRTC opens it by name alone, which programs that intercept dlopen (sanitizers) do not look for beside it.
        std::error_code ignored;
        for (const auto& file : std::filesystem::directory_iterator(f.folder, ignored))
            if (file.path().filename().string().starts_with("libnvrtc-builtins.so"))
                ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
        return f;
    }
    return makeError(Errc::NotFound,
                     "NVRTC is not here: the Python package nvidia-cuda-nvrtc has it, and LATHE_NVRTC may "
                     "name its folder");
}

} // namespace

std::span<const Step> steps()
{
    static const std::vector<Step> kSteps = {
        {"naive",
         "one thread an element",
         launch(128, {32, 32, 1}),
         309.0,
         {.blocks = 16384,
          .threads = 1024,
          .registers = 48,
          .sharedBytes = 0,
          .hasBarriers = false,
          .issueCycles = 25109,
          .aloneCycles = 289348,
          .floats = 4096,
          .integers = 9998,
          .doubles = 0,
          .halves = 0,
          .specials = 4,
          .accessCycles = 139296,
          .fillBytes = 1081344,
          .memoryBytes = 8759304582,
          .flop = kFlop}},
        {"coalesced",
         "lanes along a row",
         launch(128, {1024, 1, 1}),
         1986.5,
         {.blocks = 16384,
          .threads = 1024,
          .registers = 48,
          .sharedBytes = 0,
          .hasBarriers = false,
          .issueCycles = 25110,
          .aloneCycles = 181316,
          .floats = 4096,
          .integers = 10000,
          .doubles = 0,
          .halves = 0,
          .specials = 3,
          .accessCycles = 16386,
          .fillBytes = 1052672,
          .memoryBytes = 8759304582,
          .flop = kFlop}},
        {"shared_tiles",
         "tiles in shared memory",
         launch(128, {1024, 1, 1}),
         2980.3,
         {.blocks = 16384,
          .threads = 1024,
          .registers = 38,
          .sharedBytes = 8192,
          .hasBarriers = true,
          .issueCycles = 11541,
          .aloneCycles = 97214,
          .floats = 4096,
          .integers = 1039,
          .doubles = 0,
          .halves = 0,
          .specials = 3,
          .accessCycles = 13314,
          .fillBytes = 1052672,
          .memoryBytes = 8759304582,
          .flop = kFlop}},
        {"column_tiles",
         "8 elements a thread",
         launch(64, {512, 1, 1}),
         8474.7,
         {.blocks = 4096,
          .threads = 512,
          .registers = 42,
          .sharedBytes = 4096,
          .hasBarriers = true,
          .issueCycles = 63539,
          .aloneCycles = 411777,
          .floats = 32768,
          .integers = 4133,
          .doubles = 0,
          .halves = 0,
          .specials = 4,
          .accessCycles = 46096,
          .fillBytes = 2113536,
          .memoryBytes = 1779982726,
          .flop = kFlop}},
        {"square_tiles",
         "8 x 8 elements a thread",
         launch(32, {256, 1, 1}),
         15971.7,
         {.blocks = 1024,
          .threads = 256,
          .registers = 127,
          .sharedBytes = 8192,
          .hasBarriers = true,
          .issueCycles = 408217,
          .aloneCycles = 725358,
          .floats = 262144,
          .integers = 10836,
          .doubles = 0,
          .halves = 0,
          .specials = 3,
          .accessCycles = 119296,
          .fillBytes = 4718592,
          .memoryBytes = 552849213,
          .flop = kFlop}},
        {"wide_loads",
         "accesses of 16 bytes",
         launch(32, {256, 1, 1}),
         18237.3,
         {.blocks = 1024,
          .threads = 256,
          .registers = 127,
          .sharedBytes = 8192,
          .hasBarriers = true,
          .issueCycles = 330335,
          .aloneCycles = 747699,
          .floats = 262144,
          .integers = 3657,
          .doubles = 0,
          .halves = 0,
          .specials = 4,
          .accessCycles = 114816,
          .fillBytes = 4325376,
          .memoryBytes = 552849213,
          .flop = kFlop}},
        {"tuned",
         "the tile that tuning chose",
         launch(32, {256, 1, 1}),
         19721.0,
         {.blocks = 1024,
          .threads = 256,
          .registers = 127,
          .sharedBytes = 16384,
          .hasBarriers = true,
          .issueCycles = 325725,
          .aloneCycles = 504747,
          .floats = 262144,
          .integers = 3399,
          .doubles = 0,
          .halves = 0,
          .specials = 4,
          .accessCycles = 114816,
          .fillBytes = 4325376,
          .memoryBytes = 552849213,
          .flop = kFlop}},
        {"warp_tiles",
         "tiles of warps",
         launch(32, {128, 1, 1}),
         21779.3,
         {.blocks = 1024,
          .threads = 128,
          .registers = 245,
          .sharedBytes = 16384,
          .hasBarriers = true,
          .issueCycles = 621000,
          .aloneCycles = 1009429,
          .floats = 524288,
          .integers = 5538,
          .doubles = 0,
          .halves = 0,
          .specials = 3,
          .accessCycles = 131328,
          .fillBytes = 4259840,
          .memoryBytes = 552849213,
          .flop = kFlop}},
    };
    return kSteps;
}

Result<std::string> disassembly(std::string_view architecture)
{
    LATHE_TRY_ASSIGN(const Functions nvrtc, openNvrtc());
    LATHE_TRY_ASSIGN(const std::filesystem::path nvdisasm, findNvdisasm({nvrtc.folder}));
    LATHE_TRY_ASSIGN(const std::string source, readFile(LATHE_SOURCE_DIR "/tests/plugins/cuda/ladder/sgemm.cu"));
    void* program = nullptr;
    if (nvrtc.create(&program, source.c_str(), "sgemm.cu", 0, nullptr, nullptr) != 0)
        return makeError(Errc::BuildFailed, "NVRTC makes no program");
    const std::string target = "--gpu-architecture=" + std::string(architecture);
    const char* const options[] = {target.c_str(), "--std=c++17"};
    std::string cubin;
    std::size_t size = 0;
    const bool isMade = nvrtc.compile(program, 2, options) == 0 && nvrtc.cubinSize(program, &size) == 0;
    if (isMade) {
        cubin.resize(size);
        nvrtc.cubin(program, cubin.data());
    } else if (nvrtc.logSize(program, &size) == 0) {
        cubin.resize(size);
        nvrtc.log(program, cubin.data());
    }
    nvrtc.destroy(&program);
    if (!isMade)
        return makeError(Errc::BuildFailed, "NVRTC: " + cubin);
    return disassemble(nvdisasm, cubin);
}

} // namespace lathe::cuda::ladder
