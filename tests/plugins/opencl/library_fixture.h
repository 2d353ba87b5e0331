#pragma once

#include "core/runtime/device_driver.h"
#include "core/wire/artifact.h"
#include "plugins/opencl/device/device_list.h"
#include "plugins/opencl/device/package.h"
#include "plugins/opencl/library/library.h"
#include "tests/support/must.h"

#include <CL/cl_icd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lathe::test {

inline constexpr const runtime::DeviceDriver& kLibrary = lathe_driver_opencl;

struct Release
{
    void operator()(runtime::DeviceContext* context) const { kLibrary.close(context); }
    void operator()(runtime::DeviceMemory* memory) const { kLibrary.release(memory); }
    void operator()(runtime::DeviceQueue* queue) const { kLibrary.end(queue); }
    void operator()(runtime::DeviceLaunch* launch) const { kLibrary.forget(launch); }
};
using Context = std::unique_ptr<runtime::DeviceContext, Release>;
using Memory = std::unique_ptr<runtime::DeviceMemory, Release>;
using Queue = std::unique_ptr<runtime::DeviceQueue, Release>;
using Launch = std::unique_ptr<runtime::DeviceLaunch, Release>;

/// What a function of the table made, or why it did not.
template<typename T>
struct Made
{
    runtime::Status status = runtime::Status::Ok;
    std::string says;
    std::unique_ptr<T, Release> it = {};
};

/// `make` takes where the object goes and the error.
template<typename T, typename Make>
Made<T> made(Make make)
{
    T* object = nullptr;
    runtime::ErrorText error;
    const runtime::Status status = make(&object, error);
    return {status, error.text, std::unique_ptr<T, Release>(object)};
}

template<typename T>
std::unique_ptr<T, Release> must(Made<T> one)
{
    if (one.status != runtime::Status::Ok)
        qFatal("%s", one.says.c_str());
    return std::move(one.it);
}

/// Code of a library as ContextRequest takes it; it outlives the context.
inline Made<runtime::DeviceContext> openLibrary(std::span<const std::byte> code, runtime::ContextRequest request = {})
{
    request.target = "opencl";
    request.code = code.data();
    request.codeBytes = code.size();
    return made<runtime::DeviceContext>(
        [&](auto** context, auto& error) { return kLibrary.open(request, context, error); });
}

inline Made<runtime::DeviceMemory> allocate(const Context& context, std::size_t bytes, const void* host = nullptr)
{
    return made<runtime::DeviceMemory>(
        [&](auto** memory, auto& error) { return kLibrary.allocate(context.get(), bytes, host, memory, error); });
}

inline Made<runtime::DeviceQueue> start(const Context& context, void* handle = nullptr)
{
    return made<runtime::DeviceQueue>(
        [&](auto** queue, auto& error) { return kLibrary.start(context.get(), handle, queue, error); });
}

inline Made<runtime::DeviceLaunch> prepare(const Queue& queue, const LaunchInfo& info,
                                           const std::vector<runtime::DeviceMemory*>& buffers)
{
    runtime::LaunchRequest request;
    request.symbol = info.symbol.c_str();
    for (std::size_t d = 0; d < 3; ++d) {
        request.grid[d] = static_cast<std::uint32_t>(info.grid[d]);
        request.block[d] = static_cast<std::uint32_t>(info.block[d]);
    }
    request.sharedBytes = static_cast<std::uint64_t>(info.sharedBytes);
    request.buffers = buffers.data();
    request.bufferCount = static_cast<std::uint32_t>(buffers.size());
    return made<runtime::DeviceLaunch>(
        [&](auto** launch, auto& error) { return kLibrary.prepare(queue.get(), request, launch, error); });
}

/// Empty, or the sentence of a function that enqueues or waits.
template<typename Function, typename... Arguments>
std::string problemOf(Function function, Arguments... arguments)
{
    runtime::ErrorText error;
    const runtime::Status status = function(arguments..., error);
    return status == runtime::Status::Ok ? std::string() : error.text;
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
