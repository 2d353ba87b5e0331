#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lathe::cuda {

/// What NVRTC made of one source.
struct Compiled
{
    std::string ptx, cubin;
    int registers = 0; ///< of a thread; the most of all functions
    std::int64_t spilledBytes = 0; ///< written to and read from memory since registers were lacking, of all functions
};

struct NvrtcFunctions;

/// NVIDIA's compiler of CUDA C++ as a library, opened at run time: nothing here needs a GPU or its driver. Any thread.
class Nvrtc
{
public:
    /// One that makes code for a compute capability. It is looked for
    ///
    ///     1. where LATHE_NVRTC says, a file or a folder; if that is set, nowhere else
    ///     2. where the loader finds libraries
    ///     3. in the folders of nvrtcFolders()
    ///
    /// and what was found stays open. Errors: NotFound, with the package to install; Unsupported, with what those that
    /// were found make code for.
    /// @param driverMajor of the driver that is to load what is made ("CUDA 12.4": 12); 0: it is not known. A driver
    /// takes neither machine code nor PTX of a later major version, so a compiler that is no newer comes first.
    static Result<const Nvrtc*> find(int capability, int driverMajor = 0);
    /// The same for a device without a word from a person: an older architecture whose PTX its driver compiles will do.
    /// @return the compiler, and for what it is to make code
    static Result<std::pair<const Nvrtc*, int>> findFor(int deviceCapability, int driverMajor = 0);

    /// Compiles for a capability that this one makes code for. Kernels that spill registers, as the compiler lets them
    /// so that more blocks are on a multiprocessor at a time, are compiled once more with all the registers that one
    /// block can have, which is taken if less is spilled. Errors: BuildFailed with the compiler's words.
    Result<Compiled> compile(const std::string& source, int capability) const;
    std::string version() const; ///< "13.5"
    int major() const { return m_major; }
    const std::vector<int>& capabilities() const { return m_capabilities; } ///< ascending

private:
    friend struct Search;
    Nvrtc() = default;
    Result<Compiled> compileOnce(const std::string& source, int capability, std::string& log) const;

    const NvrtcFunctions* m_functions = nullptr;
    int m_major = 0, m_minor = 0;
    std::vector<int> m_capabilities;
};

// Python's packages with a compiler: the newest, and the last one that makes code for what is older than sm_75.
inline constexpr const char *kNvrtcPackage = "nvidia-cuda-nvrtc", *kNvrtc12Package = "nvidia-cuda-nvrtc-cu12";

/// The folders that libnvrtc is looked for in, those that exist: of the packages in Lathe's data folder (wheels.h),
/// /usr/local/cuda, those of Python's packages.
std::vector<std::filesystem::path> nvrtcFolders();

/// findNvdisasm() with all places where a compiler may be, that of LATHE_NVRTC first.
Result<std::filesystem::path> findDisassembler();

} // namespace lathe::cuda
