#pragma once

#include "core/runtime/device_driver.h"
#include "plugins/cuda/library/programs.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What the executor holds of CUDA, and the functions of the table on it (library.cpp).

namespace lathe::runtime {

struct DeviceContext
{
    const cuda::Driver* driver = nullptr;
    cuda::Gpu gpu;
    cuda::Context context = nullptr; ///< the device's primary one, retained, or the caller's own
    bool isCallers = false;
    cuda::Stream uploads = nullptr; ///< for what memory is filled with when it is made
    cuda::Programs programs;
};

struct DeviceMemory
{
    DeviceContext* context = nullptr;
    cuda::Address address = 0;
    std::size_t bytes = 0;
    bool isCallers = false;
    void* host = nullptr; ///< where the processor has the same bytes: of share()
    std::atomic<std::uint32_t> holders{1}; ///< its owner, and the launches that have it as a buffer
};

} // namespace lathe::runtime

namespace lathe::cuda {

bool isHere(const char* target, runtime::ErrorText& missing);
runtime::Status openContext(const runtime::ContextRequest& request, runtime::DeviceContext** context,
                            runtime::ErrorText& error);
void closeContext(runtime::DeviceContext* context);
const char* nameOf(const runtime::DeviceContext* context);

runtime::Status allocate(runtime::DeviceContext* context, std::size_t bytes, const void* host,
                         runtime::DeviceMemory** memory, runtime::ErrorText& error);
runtime::Status adopt(runtime::DeviceContext* context, void* handle, std::size_t bytes, runtime::DeviceMemory** memory,
                      runtime::ErrorText& error);
bool fits(const runtime::DeviceMemory* memory, bool isInput);
bool overlap(const runtime::DeviceMemory* one, const runtime::DeviceMemory* other);
runtime::Status share(runtime::DeviceContext* context, void* host, std::size_t bytes, bool isInput,
                      runtime::DeviceMemory** memory, runtime::ErrorText& error);
void release(runtime::DeviceMemory* memory);
/// One more release() of it. Null is none.
void hold(runtime::DeviceMemory* memory);

} // namespace lathe::cuda
