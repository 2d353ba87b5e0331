#pragma once

#include "core/runtime/package.h"
#include "plugins/cuda/library/library.h"
#include "plugins/cuda/library/queue.h"
#include "tests/plugins/library_calls.h"
#include "tests/support/cuda_driver.h"

#include <QtGlobal>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

inline constexpr const runtime::DeviceDriver& kLibrary = lathe_driver_cuda;

using Context = ContextOf<lathe_driver_cuda>;
using Memory = Owned<runtime::DeviceMemory, lathe_driver_cuda>;
using Queue = QueueOf<lathe_driver_cuda>;
using Launch = Owned<runtime::DeviceLaunch, lathe_driver_cuda>;

/// Code of a library as ContextRequest takes it; it outlives the context.
inline auto openLibrary(std::span<const std::byte> code, runtime::ContextRequest request = {})
{
    if (request.target[0] == '\0')
        request.target = "cuda -arch=sm_50";
    return openCode<lathe_driver_cuda>(code, request);
}

inline auto adopt(const Context& context, cuda::Address address, std::size_t bytes)
{
    return adopt(context, reinterpret_cast<void*>(address), bytes);
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
