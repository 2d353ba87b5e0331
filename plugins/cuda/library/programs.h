#pragma once

#include "core/runtime/image.h"
#include "core/runtime/package_index.h"
#include "core/runtime/status.h"
#include "plugins/cuda/library/gpu.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lathe::cuda {

/// The kernels of a library on a device. Each program is loaded when one of its launches is asked for first, once for
/// all instances: its cubin if that runs on this device, else its PTX, which the driver compiles and keeps.
class Programs
{
public:
    Programs() = default;
    ~Programs();
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;

    /// @param code  packages (core/runtime/package_view.h) one behind the other, which outlive this, as do driver,
    ///              context and gpu; checked as a file would be: InvalidArgument, if they do not hold together
    runtime::Status load(const Driver& driver, Context context, const Gpu& gpu, std::string_view code,
                         runtime::ErrorText& error);
    /// A kernel that can be launched with so many threads in a block, so many buffers, and that shared memory which it
    /// declares without a size. The context is current. Any thread.
    runtime::Status find(const char* symbol, std::uint64_t threads, std::uint32_t buffers, std::uint64_t dynamicShared,
                         Function& function, runtime::ErrorText& error);

private:
    /// What the driver made of a program of m_index.
    struct Loaded
    {
        LoadedModule module = nullptr;
        runtime::ErrorText* problem = nullptr; ///< why there is none; null: that was not tried
    };
    /// What it made of a launch.
    struct Made
    {
        Function function = nullptr;
        std::uint64_t dynamicShared = 0; ///< that was asked for
    };

    int loadProgram(const runtime::ProgramView& packed, Loaded& program) const;
    void refuse(const runtime::ProgramView& packed, Loaded& program, int code, const char* log) const;
    runtime::Status ready(std::size_t launch, const char* name, std::uint64_t threads, std::uint32_t buffers,
                          std::uint64_t dynamicShared, runtime::ErrorText& error);

    const Driver* m_driver = nullptr;
    Context m_context = nullptr;
    const Gpu* m_gpu = nullptr;
    runtime::PackageIndex m_index;
    Loaded* m_programs = nullptr; ///< of all programs, once there is memory for them
    Made* m_launches = nullptr; ///< of all launches
    pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER; ///< of all that changes behind load()
};

} // namespace lathe::cuda
