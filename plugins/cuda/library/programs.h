#pragma once

#include "core/runtime/image.h"
#include "core/runtime/package_view.h"
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
    struct Program
    {
        runtime::ProgramView packed;
        LoadedModule module = nullptr;
        runtime::ErrorText* problem = nullptr; ///< why there is none; null: that was not tried
    };
    struct Symbol
    {
        std::string_view name;
        std::size_t program = 0;
        Function function = nullptr;
        std::uint64_t dynamicShared = 0; ///< that was asked for
    };

    runtime::Status damaged(runtime::ErrorText& error, const char* what) const;
    Symbol* find(std::string_view name) const;
    void loadProgram(Program& program) const;
    void refuse(Program& program, int code, const char* log) const;
    runtime::Status ready(Symbol& symbol, const char* name, std::uint64_t threads, std::uint32_t buffers,
                          std::uint64_t dynamicShared, runtime::ErrorText& error);
    static int compare(const void* one, const void* other);

    const Driver* m_driver = nullptr;
    Context m_context = nullptr;
    const Gpu* m_gpu = nullptr;
    Program* m_programs = nullptr;
    std::size_t m_programCount = 0;
    Symbol* m_symbols = nullptr; ///< sorted by name
    std::size_t m_symbolCount = 0;
    pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER; ///< of all that changes behind load()
};

} // namespace lathe::cuda
