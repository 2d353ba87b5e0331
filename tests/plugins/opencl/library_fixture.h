#pragma once

#include "core/wire/artifact.h"
#include "plugins/opencl/device/device_list.h"
#include "plugins/opencl/device/package.h"
#include "plugins/opencl/library/library.h"
#include "tests/plugins/library_calls.h"
#include "tests/support/must.h"

#include <CL/cl_icd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace lathe::test {

inline constexpr const runtime::DeviceDriver& kLibrary = lathe_driver_opencl;

using Context = ContextOf<lathe_driver_opencl>;
using Memory = Owned<runtime::DeviceMemory, lathe_driver_opencl>;
using Queue = QueueOf<lathe_driver_opencl>;
using Launch = Owned<runtime::DeviceLaunch, lathe_driver_opencl>;

/// Code of a library as ContextRequest takes it; it outlives the context.
inline auto openLibrary(std::span<const std::byte> code, runtime::ContextRequest request = {})
{
    request.target = "opencl";
    return openCode<lathe_driver_opencl>(code, request);
}

inline auto prepare(const Queue& queue, const LaunchInfo& info, const std::vector<runtime::DeviceMemory*>& buffers)
{
    runtime::LaunchRequest request;
    request.symbol = info.symbol.c_str();
    for (std::size_t d = 0; d < 3; ++d) {
        request.grid[d] = static_cast<std::uint32_t>(info.grid[d]);
        request.block[d] = static_cast<std::uint32_t>(info.block[d]);
    }
    request.sharedBytes = static_cast<std::uint64_t>(info.sharedBytes);
    return prepare(queue, request, buffers);
}

/// The table of functions through which the loader reaches the first platform's driver (CL/cl_icd.h), at the begin of
/// each of the driver's objects; what is changed in it is restored with its owner.
class DriverTable
{
public:
    DriverTable()
    {
        std::string problem;
        cl_platform_id platform = nullptr;
        opencl::findDriver(problem)->getPlatformIds(1, &platform, nullptr);
        m_table = *reinterpret_cast<cl_icd_dispatch**>(platform);
        m_before = *m_table;
        const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); // it may be among the constants
        const auto begin = reinterpret_cast<std::uintptr_t>(m_table) / page * page;
        const auto end = reinterpret_cast<std::uintptr_t>(m_table + 1);
        if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
            qFatal("the driver's table of functions cannot be changed");
    }
    ~DriverTable() { *m_table = m_before; }
    DriverTable(const DriverTable&) = delete;
    DriverTable& operator=(const DriverTable&) = delete;

    cl_icd_dispatch* operator->() const { return m_table; }
    const cl_icd_dispatch& before() const { return m_before; }

private:
    cl_icd_dispatch* m_table = nullptr;
    cl_icd_dispatch m_before;
};

inline opencl::DeviceFacts firstDevice()
{
    std::string problem;
    return opencl::listDevices(*opencl::findDriver(problem), problem).at(0);
}

/// While it lives, counts the programs that are built from source and those that are built from binaries.
class BuildCounter
{
public:
    using Binaries = std::map<std::string, std::string>; ///< by source

    /// @param known  PoCL takes a second for a source: one of these becomes a program by its binary, uncounted
    explicit BuildCounter(const Binaries& known = {})
        : m_known(known)
    {
        s_known = &m_known;
        s_before = &m_table.before();
        s_sources = s_binaries = 0;
        m_table->clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** texts,
                                                const std::size_t* sizes, cl_int* error) {
            ++s_sources;
            const auto found = s_known->find(std::string(*texts, *sizes));
            if (found == s_known->end())
                return s_before->clCreateProgramWithSource(context, count, texts, sizes, error);
            const cl_device_id device = firstDevice().id;
            const std::size_t size = found->second.size();
            const auto* binary = reinterpret_cast<const unsigned char*>(found->second.data());
            return s_before->clCreateProgramWithBinary(context, 1, &device, &size, &binary, nullptr, error);
        };
        m_table->clCreateProgramWithBinary = [](cl_context context, cl_uint count, const cl_device_id* devices,
                                                const std::size_t* sizes, const unsigned char** binaries,
                                                cl_int* status, cl_int* error) {
            ++s_binaries;
            return s_before->clCreateProgramWithBinary(context, count, devices, sizes, binaries, status, error);
        };
    }
    int sources() const { return s_sources; }
    int binaries() const { return s_binaries; }

private:
    static inline std::atomic<int> s_sources = 0, s_binaries = 0;
    static inline const cl_icd_dispatch* s_before = nullptr;
    static inline const Binaries* s_known = nullptr;
    Binaries m_known;
    DriverTable m_table;
};

/// Why a test of the library cannot run here; empty: it can.
inline std::string noDevice()
{
    std::string problem;
    const opencl::Driver* const driver = opencl::findDriver(problem);
    if (driver != nullptr)
        opencl::listDevices(*driver, problem);
    return problem;
}

} // namespace lathe::test
