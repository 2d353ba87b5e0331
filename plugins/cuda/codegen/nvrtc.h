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
    ///     3. in /usr/local/cuda/lib64
    ///     4. among Python's packages (nvidia-cuda-nvrtc): the user's, and those of each Python whose folder bin is in
    ///        PATH
    ///
    /// and what was found stays open. Errors: NotFound, with the package to install; Unsupported, with what those that
    /// were found make code for.
    static Result<const Nvrtc*> find(int capability);
    /// The same for a device without a word from a person: an older architecture whose PTX its driver compiles will do.
    /// @return the compiler, and for what it is to make code
    static Result<std::pair<const Nvrtc*, int>> findFor(int deviceCapability);

    /// Compiles for a capability that this one makes code for. Kernels that spill registers, as the compiler lets them
    /// so that more blocks are on a multiprocessor at a time, are compiled once more with all the registers that one
    /// block can have, which is taken if less is spilled. Errors: BuildFailed with the compiler's words.
    Result<Compiled> compile(const std::string& source, int capability) const;
    std::string version() const; ///< "13.5"
    const std::vector<int>& capabilities() const { return m_capabilities; } ///< ascending

private:
    friend struct Search;
    Nvrtc() = default;
    Result<Compiled> compileOnce(const std::string& source, int capability, std::string& log) const;

    const NvrtcFunctions* m_functions = nullptr;
    int m_major = 0, m_minor = 0;
    std::vector<int> m_capabilities;
};

/// The folders of Python's packages that libnvrtc is looked for in, and /usr/local/cuda: those that exist.
std::vector<std::filesystem::path> nvrtcFolders();

} // namespace lathe::cuda
