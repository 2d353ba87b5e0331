#pragma once

#include "plugins/opencl/library/context.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

struct DeviceQueue
{
    DeviceContext* context = nullptr;
    cl_command_queue queue = nullptr; ///< retained: the caller's own, too
};

struct DeviceLaunch
{
    const opencl::Driver* driver = nullptr;
    cl_kernel kernel = nullptr; ///< with all arguments
    std::size_t threads[3] = {}; ///< of all work-groups
    std::size_t block[3] = {};
    cl_mem* buffers = nullptr; ///< retained: kernels do not keep what they point to
    std::uint32_t bufferCount = 0;
    char symbol[200] = ""; ///< for people; cut
};

} // namespace lathe::runtime

namespace lathe::opencl {

runtime::Status startQueue(runtime::DeviceContext* context, void* handle, runtime::DeviceQueue** queue,
                           runtime::ErrorText& error);
void endQueue(runtime::DeviceQueue* queue);
runtime::Status enqueueLaunch(runtime::DeviceQueue* queue, runtime::DeviceLaunch* launch, runtime::ErrorText& error);
runtime::Status enqueueCopy(runtime::DeviceQueue* queue, runtime::DeviceMemory* from, runtime::DeviceMemory* to,
                            std::size_t bytes, runtime::ErrorText& error);
runtime::Status enqueueWrite(runtime::DeviceQueue* queue, runtime::DeviceMemory* to, const void* from,
                             std::size_t bytes, bool wait, runtime::ErrorText& error);
runtime::Status enqueueRead(runtime::DeviceQueue* queue, void* to, runtime::DeviceMemory* from, std::size_t bytes,
                            bool wait, runtime::ErrorText& error);
runtime::Status enqueueMap(runtime::DeviceQueue* queue, runtime::DeviceMemory* memory, void** host,
                           runtime::ErrorText& error);
runtime::Status enqueueUnmap(runtime::DeviceQueue* queue, runtime::DeviceMemory* memory, runtime::ErrorText& error);
runtime::Status finishQueue(runtime::DeviceQueue* queue, runtime::ErrorText& error);

runtime::Status prepareLaunch(runtime::DeviceQueue* queue, const runtime::LaunchRequest& request,
                              runtime::DeviceLaunch** launch, runtime::ErrorText& error);
runtime::Status pointLaunch(runtime::DeviceLaunch* launch, std::uint32_t buffer, runtime::DeviceMemory* memory,
                            runtime::ErrorText& error);
void forgetLaunch(runtime::DeviceLaunch* launch);

} // namespace lathe::opencl
