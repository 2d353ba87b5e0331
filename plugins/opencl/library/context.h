#pragma once

#include "core/runtime/device_driver.h"
#include "plugins/opencl/device/device_facts.h"
#include "plugins/opencl/library/programs.h"

#include <cstddef>
#include <cstdint>

/// What the executor holds of OpenCL, and the functions of the table on it (library.cpp).

namespace lathe::runtime {

struct DeviceContext
{
    const opencl::Driver* driver = nullptr;
    opencl::DeviceFacts device;
    cl_context context = nullptr; ///< retained: the caller's own, too
    opencl::Programs programs;
};

struct DeviceMemory
{
    const opencl::Driver* driver = nullptr;
    cl_mem memory = nullptr; ///< retained
    std::size_t bytes = 0;
    bool isForBoth = false; ///< made by us where the device's memory is the host's
    void* mapped = nullptr; ///< where map() put it
    // Of the host's memory alone:
    std::uintptr_t host = 0;
    DeviceMemory *next = nullptr, *before = nullptr; ///< in the list of all such memory
};

} // namespace lathe::runtime

namespace lathe::opencl {

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

} // namespace lathe::opencl
