#pragma once

#include "core/runtime/device_driver.h"
#include "core/runtime/package.h"
#include "plugins/cuda/library/library.h"
#include "plugins/cuda/library/queue.h"
#include "tests/support/cuda_driver.h"

#include <QtGlobal>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

inline constexpr const runtime::DeviceDriver& kLibrary = lathe_driver_cuda;

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
    if (request.target[0] == '\0')
        request.target = "cuda -arch=sm_50";
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

inline Made<runtime::DeviceMemory> adopt(const Context& context, cuda::Address address, std::size_t bytes)
{
    return made<runtime::DeviceMemory>([&](auto** memory, auto& error) {
        return kLibrary.adopt(context.get(), reinterpret_cast<void*>(address), bytes, memory, error);
    });
}

inline Made<runtime::DeviceQueue> start(const Context& context, void* handle = nullptr)
{
    return made<runtime::DeviceQueue>(
        [&](auto** queue, auto& error) { return kLibrary.start(context.get(), handle, queue, error); });
}

inline Made<runtime::DeviceLaunch> prepare(const Queue& queue, runtime::LaunchRequest request,
                                           const std::vector<runtime::DeviceMemory*>& buffers)
{
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

/// A kernel of PTX that reads one float of its first parameter, has `body` make %f2 of it as %f1, and writes that to
/// the second: a thread for each.
inline std::string kernelOfPtx(const std::string& name, const std::string& body)
{
    return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0,\n\t.param .u64 " + name
           + "_param_1\n)\n{\n"
             "\t.reg .b32 %r<5>;\n\t.reg .b64 %rd<8>;\n\t.reg .f32 %f<4>;\n"
             "\tld.param.u64 %rd1, ["
           + name + "_param_0];\n\tld.param.u64 %rd2, [" + name
           + "_param_1];\n"
             "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
             "\tmad.lo.s32 %r4, %r1, %r2, %r3;\n\tmul.wide.s32 %rd3, %r4, 4;\n"
             "\tcvta.to.global.u64 %rd4, %rd1;\n\tcvta.to.global.u64 %rd5, %rd2;\n"
             "\tadd.s64 %rd6, %rd4, %rd3;\n\tadd.s64 %rd7, %rd5, %rd3;\n\tld.global.f32 %f1, [%rd6];\n\t"
           + body + "\n\tst.global.f32 [%rd7], %f2;\n\tret;\n}\n";
}

/// "y = 2 x + 1" of 64 floats in two launches, as PTX.
inline std::string doubledAndOnePtx(const std::string& version = "7.0")
{
    return ".version " + version + "\n.target sm_50\n.address_size 64\n" + kernelOfPtx("k_0", "add.f32 %f2, %f1, %f1;")
           + kernelOfPtx("k_1", "add.f32 %f2, %f1, 0f3F800000;");
}
inline constexpr std::size_t kFloats = 64, kFloatBytes = kFloats * sizeof(float);

inline runtime::LaunchRequest launchOf(const char* symbol)
{
    runtime::LaunchRequest request;
    request.symbol = symbol;
    request.grid[0] = 4;
    request.block[0] = 16;
    return request;
}

inline std::vector<std::byte> packed(const runtime::PackedProgram& program)
{
    return runtime::pack({&program, 1});
}

/// The driver's functions, some of which a test replaces; they are restored with their owner. Counts what is started.
class DriverTable
{
public:
    DriverTable()
        : m_driver(table())
    {
        s_before = m_driver;
        s_launches = s_graphs = s_captures = 0;
        m_driver.launch = [](cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, cuda::Stream stream, void** parameters, void** extra) {
            ++s_launches;
            return s_before.launch(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
        };
        m_driver.graphLaunch = [](cuda::GraphExec graph, cuda::Stream stream) {
            ++s_graphs;
            return s_before.graphLaunch(graph, stream);
        };
        m_driver.beginCapture = [](cuda::Stream stream, int mode) {
            ++s_captures;
            return s_before.beginCapture(stream, mode);
        };
    }
    ~DriverTable() { m_driver = s_before; }
    DriverTable(const DriverTable&) = delete;
    DriverTable& operator=(const DriverTable&) = delete;

    cuda::Driver* operator->() const { return &m_driver; }
    static const cuda::Driver& before() { return s_before; }

    /// Since the last call: launches that were made or captured, captures, graphs that were started.
    struct Counts
    {
        int launches = 0, captures = 0, graphs = 0;
        bool operator==(const Counts&) const = default;
    };
    static Counts take()
    {
        return {std::exchange(s_launches, 0), std::exchange(s_captures, 0), std::exchange(s_graphs, 0)};
    }

private:
    static cuda::Driver& table()
    {
        const char* problem = "";
        const cuda::Driver* const driver = cuda::openDriver(problem);
        if (driver == nullptr)
            qFatal("%s", problem);
        return const_cast<cuda::Driver&>(*driver); // an object of the process that is not constant
    }

    static inline cuda::Driver s_before;
    static inline int s_launches = 0, s_graphs = 0, s_captures = 0;
    cuda::Driver& m_driver;
};

/// Why a test of the library cannot run here; empty: it can. A machine without NVIDIA's driver has that on the
/// processor.
inline std::string noDevice()
{
    findCudaDriver();
    runtime::ErrorText missing;
    return kLibrary.isHere("cuda", missing) ? std::string() : missing.text;
}

} // namespace lathe::test
