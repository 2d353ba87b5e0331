#pragma once

#include "core/backend/c_source.h"
#include "core/ir/scratch.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lathe::test {

/// Runs printed kernels on the first OpenCL device of the machine, without any of Lathe's own device code: so that a
/// text can be judged by itself. The entry points are looked up at run time; types are those of the OpenCL 1.2
/// specification.
class OpenClRun
{
public:
    OpenClRun()
        : m_library(::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL))
    {
        if (m_library == nullptr)
            return;
        ::setenv("POCL_KERNEL_CACHE", "0", 0); // it grows without end
        void* platform = nullptr;
        std::uint32_t count = 0;
        if (call<std::int32_t(std::uint32_t, void**, std::uint32_t*)>("clGetPlatformIDs")(1, &platform, &count) != 0
            || count == 0)
            return;
        constexpr std::uint64_t kAll = 0xffffffff;
        if (call<std::int32_t(void*, std::uint64_t, std::uint32_t, void**, std::uint32_t*)>("clGetDeviceIDs")(
                platform, kAll, 1, &m_device, nullptr)
            != 0)
            return;
        std::int32_t error = 0;
        m_context = call<void*(const void*, std::uint32_t, void**, void*, void*, std::int32_t*)>("clCreateContext")(
            nullptr, 1, &m_device, nullptr, nullptr, &error);
        m_queue = call<void*(void*, void*, std::uint64_t, std::int32_t*)>("clCreateCommandQueue")(m_context, m_device,
                                                                                                  0, &error);
    }
    bool isThere() const { return m_queue != nullptr; }

    /// What went wrong; empty if nothing did. `parameters` as LaunchInterpreter::run takes them.
    std::string run(const backend::KernelSource& source, const ir::LoopNest& nest,
                    std::span<const std::span<std::byte>> parameters)
    {
        std::int32_t error = 0;
        const std::string whole = source.text();
        const char* text = whole.c_str();
        void* const program = call<void*(void*, std::uint32_t, const char**, const std::size_t*, std::int32_t*)>(
            "clCreateProgramWithSource")(m_context, 1, &text, nullptr, &error);
        if (call<std::int32_t(void*, std::uint32_t, void**, const char*, void*, void*)>("clBuildProgram")(
                program, 1, &m_device, "-cl-std=CL1.2", nullptr, nullptr)
            != 0) {
            constexpr std::uint32_t kBuildLog = 0x1183;
            std::string log(65536, '\0');
            call<std::int32_t(void*, void*, std::uint32_t, std::size_t, void*, std::size_t*)>("clGetProgramBuildInfo")(
                program, m_device, kBuildLog, log.size(), log.data(), nullptr);
            return fmt::format("build: {}", log.c_str());
        }
        std::vector<void*> memory(nest.buffers.size());
        constexpr std::uint64_t kReadWriteCopy = 1 | 1 << 5;
        std::vector<std::vector<std::byte>> scratch(nest.buffers.size());
        for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
            std::span<std::byte> bytes;
            for (std::size_t p = 0; p < nest.parameters.size(); ++p)
                if (nest.parameters[p] == static_cast<std::int32_t>(b))
                    bytes = parameters[p];
            if (nest.buffers[b].scope == ir::Scope::Team) {
                scratch[b].resize(
                    static_cast<std::size_t>(ir::elementCount(nest.buffers[b]) * sizeOf(nest.buffers[b].dtype)),
                    std::byte{0xff});
                bytes = scratch[b];
            }
            if (!bytes.empty())
                memory[b] = call<void*(void*, std::uint64_t, std::size_t, void*, std::int32_t*)>("clCreateBuffer")(
                    m_context, kReadWriteCopy, bytes.size(), bytes.data(), &error);
        }
        std::string wrong;
        for (const backend::SourceLaunch& launch : source.launches) {
            void* const kernel = call<void*(void*, const char*, std::int32_t*)>("clCreateKernel")(
                program, launch.symbol.c_str(), &error);
            for (std::size_t i = 0; i < launch.buffers.size(); ++i)
                call<std::int32_t(void*, std::uint32_t, std::size_t, const void*)>("clSetKernelArg")(
                    kernel, static_cast<std::uint32_t>(i), sizeof(void*),
                    &memory[static_cast<std::size_t>(launch.buffers[i])]);
            std::size_t global[3], local[3];
            for (std::size_t d = 0; d < 3; ++d) {
                local[d] = static_cast<std::size_t>(launch.block[d]);
                global[d] = local[d] * static_cast<std::size_t>(launch.grid[d]);
            }
            error = call<std::int32_t(void*, void*, std::uint32_t, const std::size_t*, const std::size_t*,
                                      const std::size_t*, std::uint32_t, void*, void*)>("clEnqueueNDRangeKernel")(
                m_queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr);
            if (error != 0)
                wrong = fmt::format("launch {}: error {}", launch.symbol, error);
            call<std::int32_t(void*)>("clReleaseKernel")(kernel);
        }
        call<std::int32_t(void*)>("clFinish")(m_queue);
        for (std::size_t p = 0; p < nest.parameters.size(); ++p)
            call<std::int32_t(void*, void*, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t, void*,
                              void*)>("clEnqueueReadBuffer")(
                m_queue, memory[static_cast<std::size_t>(nest.parameters[p])], 1, 0, parameters[p].size(),
                parameters[p].data(), 0, nullptr, nullptr);
        for (void* const buffer : memory)
            if (buffer != nullptr)
                call<std::int32_t(void*)>("clReleaseMemObject")(buffer);
        call<std::int32_t(void*)>("clReleaseProgram")(program);
        return wrong;
    }

private:
    template<typename Function>
    Function* call(const char* name) const
    {
        return reinterpret_cast<Function*>(::dlsym(m_library, name));
    }

    void* m_library;
    void* m_device = nullptr;
    void* m_context = nullptr;
    void* m_queue = nullptr;
};

} // namespace lathe::test
