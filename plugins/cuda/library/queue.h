#pragma once

#include "plugins/cuda/library/context.h"
#include "plugins/cuda/library/recorder.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

struct DeviceQueue
{
    DeviceContext* context = nullptr;
    cuda::Stream stream = nullptr;
    bool isCallers = false;
    cuda::Recorder recorder;
};

struct DeviceLaunch
{
    DeviceContext* context = nullptr;
    cuda::Function function = nullptr;
    unsigned grid[3] = {}, block[3] = {};
    unsigned dynamicShared = 0;
    DeviceMemory** buffers = nullptr; ///< held
    cuda::Address* addresses = nullptr; ///< of these, as the kernel is given them
    void** parameters = nullptr; ///< to these
    std::uint32_t bufferCount = 0;
    std::uint64_t number = 0; ///< of no other launch; another one with each buffer that it gets
    char symbol[200] = ""; ///< for people; cut
};

} // namespace lathe::runtime

namespace lathe::cuda {

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
runtime::Status beginRun(runtime::DeviceQueue* queue, runtime::ErrorText& error);
runtime::Status endRun(runtime::DeviceQueue* queue, runtime::ErrorText& error);

runtime::Status prepareLaunch(runtime::DeviceQueue* queue, const runtime::LaunchRequest& request,
                              runtime::DeviceLaunch** launch, runtime::ErrorText& error);
runtime::Status pointLaunch(runtime::DeviceLaunch* launch, std::uint32_t buffer, runtime::DeviceMemory* memory,
                            runtime::ErrorText& error);
void forgetLaunch(runtime::DeviceLaunch* launch);
/// As it is now. The context is current.
runtime::Status startLaunch(const runtime::DeviceLaunch& launch, Stream stream, runtime::ErrorText& error);

} // namespace lathe::cuda
