#pragma once

#include "tests/plugins/cuda/library_fixture.h"

#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace lathe::test {

/// Does what is enqueued as late as it may be: when somebody waits. What was not waited for, or was overwritten too
/// early, gives wrong results.
class LateDriver
{
public:
    LateDriver()
    {
        s_waiting.clear();
        m_table->launch = [](cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, cuda::Stream stream, void** parameters, void**) {
            // The driver has read the parameters when the call returns. All kernels here have two.
            const std::array<cuda::Address, 2> addresses = {*static_cast<cuda::Address*>(parameters[0]),
                                                            *static_cast<cuda::Address*>(parameters[1])};
            return later([=] {
                std::array<cuda::Address, 2> own = addresses;
                void* pointers[] = {&own[0], &own[1]};
                return DriverTable::before().launch(function, gx, gy, gz, bx, by, bz, shared, stream, pointers,
                                                    nullptr);
            });
        };
        m_table->copyToDevice = [](cuda::Address to, const void* from, std::size_t bytes, cuda::Stream stream) {
            return later([=] { return DriverTable::before().copyToDevice(to, from, bytes, stream); });
        };
        m_table->copyToHost = [](void* to, cuda::Address from, std::size_t bytes, cuda::Stream stream) {
            return later([=] { return DriverTable::before().copyToHost(to, from, bytes, stream); });
        };
        m_table->graphLaunch = [](cuda::GraphExec graph, cuda::Stream stream) {
            return later([=] { return DriverTable::before().graphLaunch(graph, stream); });
        };
        m_table->beginCapture = [](cuda::Stream stream, int mode) {
            s_isCapturing = true;
            return DriverTable::before().beginCapture(stream, mode);
        };
        m_table->endCapture = [](cuda::Stream stream, cuda::Graph* graph) {
            s_isCapturing = false;
            return DriverTable::before().endCapture(stream, graph);
        };
        m_table->streamSynchronize = [](cuda::Stream stream) {
            for (const auto& command : std::exchange(s_waiting, {}))
                if (const int code = command(); code != cuda::kSuccess)
                    return code;
            return DriverTable::before().streamSynchronize(stream);
        };
    }

    DriverTable& table() { return m_table; }

private:
    static int later(std::function<int()> command)
    {
        if (s_isCapturing)
            return command();
        s_waiting.push_back(std::move(command));
        return cuda::kSuccess;
    }

    static inline std::vector<std::function<int()>> s_waiting;
    static inline bool s_isCapturing = false;
    DriverTable m_table;
};

} // namespace lathe::test
