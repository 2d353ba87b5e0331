#pragma once

#include "core/backend/c_source.h"
#include "core/backend/kernel_info.h"
#include "tests/plugins/opencl/opencl_fixture.h"

namespace lathe::test {

/// A nest of one launch over buffers in a row, which is printed, compiled and run on a device. What is read only is
/// its input.
class NestRun
{
public:
    /// The buffers' own texts; all of one dimension.
    static ir::Buffer buffer(const std::string& name, DType dtype, std::int64_t extent, bool isInput)
    {
        return {name, dtype, ir::Scope::Parameter, {extent}, {1}, isInput, false};
    }

    /// @param body  of the number of a thread, of `threads` in each of `blocks`
    template<typename Body>
    NestRun(serve::Device& device, std::vector<ir::Buffer> buffers, std::int64_t blocks, std::int64_t threads,
            Body&& body)
        : m_device(device)
    {
        schedule::LoweredKernel kernel;
        kernel.nest.name = "nest";
        for (const ir::Buffer& one : buffers) {
            kernel.nest.parameters.push_back(static_cast<std::int32_t>(kernel.nest.parameters.size()));
            kernel.parameters.push_back(
                {one.name, one.readOnly ? ArgRole::Input : ArgRole::Output, one.dtype, vectorOf(one.shape[0])});
            m_memory.push_back(must(device.allocate(static_cast<std::size_t>(one.shape[0] * sizeOf(one.dtype)))));
            m_isInput.push_back(one.readOnly);
        }
        kernel.nest.buffers = std::move(buffers);
        ir::Launch launch;
        launch.name = "nest";
        launch.grid = {blocks, 1, 1};
        launch.block = {threads, 1, 1};
        for (std::size_t d = 0; d < 3; ++d) {
            launch.blockIndex[d] = ir::var("block");
            launch.threadIndex[d] = ir::var("thread");
        }
        launch.body = body(launch.blockIndex[0] * ir::intImm(threads) + launch.threadIndex[0]);
        kernel.nest.launches = {std::move(launch)};
        const backend::KernelSource source = must(backend::printOpenCl(kernel.nest));
        KernelInfo info = backend::kernelInfo(kernel);
        info.launches.at(0).symbol = source.launches.at(0).symbol;
        m_module = must(load(device, info, {source.text(), {}, {}}));
    }

    /// Of all buffers, in order. An error is the compiler's, too, which is asked here.
    Result<> run(const std::vector<std::span<std::byte>>& tensors)
    {
        std::vector<void*> buffers;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (m_isInput[i])
                LATHE_TRY(m_device.copyIn(m_memory[i], tensors[i]));
            buffers.push_back(m_memory[i].get());
        }
        const LatheLaunch launch = {m_module.get(), 0, buffers.data(), static_cast<std::uint32_t>(buffers.size()), 1};
        LATHE_TRY(m_device.run({&launch, 1}, 1, 0));
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (!m_isInput[i])
                LATHE_TRY(m_device.copyOut(tensors[i], m_memory[i]));
        return {};
    }

private:
    serve::Device& m_device;
    serve::DeviceModule m_module;
    std::vector<serve::DeviceBuffer> m_memory;
    std::vector<bool> m_isInput;
};

template<typename T>
std::span<std::byte> bytesOf(std::vector<T>& values)
{
    return std::as_writable_bytes(std::span(values));
}

} // namespace lathe::test
