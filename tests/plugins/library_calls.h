#pragma once

#include "core/runtime/device_driver.h"

#include <QtGlobal>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

// The functions of a driver of exported libraries, with owners and sentences: D is the table of the back end's own.

template<const runtime::DeviceDriver& D>
struct Release
{
    void operator()(runtime::DeviceContext* context) const { D.close(context); }
    void operator()(runtime::DeviceMemory* memory) const { D.release(memory); }
    void operator()(runtime::DeviceQueue* queue) const { D.end(queue); }
    void operator()(runtime::DeviceLaunch* launch) const { D.forget(launch); }
};
template<typename T, const runtime::DeviceDriver& D>
using Owned = std::unique_ptr<T, Release<D>>;
template<const runtime::DeviceDriver& D>
using ContextOf = Owned<runtime::DeviceContext, D>;
template<const runtime::DeviceDriver& D>
using QueueOf = Owned<runtime::DeviceQueue, D>;

/// What a function of the table made, or why it did not.
template<typename T, const runtime::DeviceDriver& D>
struct Made
{
    runtime::Status status = runtime::Status::Ok;
    std::string says;
    Owned<T, D> it = {};
};

/// `make` takes where the object goes and the error.
template<typename T, const runtime::DeviceDriver& D, typename Make>
Made<T, D> madeBy(Make make)
{
    T* object = nullptr;
    runtime::ErrorText error;
    const runtime::Status status = make(&object, error);
    return {status, error.text, Owned<T, D>(object)};
}

template<typename T, const runtime::DeviceDriver& D>
Owned<T, D> must(Made<T, D> one)
{
    if (one.status != runtime::Status::Ok)
        qFatal("%s", one.says.c_str());
    return std::move(one.it);
}

/// Code of a library as ContextRequest takes it; it outlives the context.
template<const runtime::DeviceDriver& D>
Made<runtime::DeviceContext, D> openCode(std::span<const std::byte> code, runtime::ContextRequest request)
{
    request.code = code.data();
    request.codeBytes = code.size();
    return madeBy<runtime::DeviceContext, D>(
        [&](auto** context, auto& error) { return D.open(request, context, error); });
}

template<const runtime::DeviceDriver& D>
Made<runtime::DeviceMemory, D> allocate(const ContextOf<D>& context, std::size_t bytes, const void* host = nullptr)
{
    return madeBy<runtime::DeviceMemory, D>(
        [&](auto** memory, auto& error) { return D.allocate(context.get(), bytes, host, memory, error); });
}

/// The caller's memory on the device.
template<const runtime::DeviceDriver& D>
Made<runtime::DeviceMemory, D> adopt(const ContextOf<D>& context, void* handle, std::size_t bytes)
{
    return madeBy<runtime::DeviceMemory, D>(
        [&](auto** memory, auto& error) { return D.adopt(context.get(), handle, bytes, memory, error); });
}

template<const runtime::DeviceDriver& D>
Made<runtime::DeviceQueue, D> start(const ContextOf<D>& context, void* handle = nullptr)
{
    return madeBy<runtime::DeviceQueue, D>(
        [&](auto** queue, auto& error) { return D.start(context.get(), handle, queue, error); });
}

template<const runtime::DeviceDriver& D>
Made<runtime::DeviceLaunch, D> prepare(const QueueOf<D>& queue, runtime::LaunchRequest request,
                                       const std::vector<runtime::DeviceMemory*>& buffers)
{
    request.buffers = buffers.data();
    request.bufferCount = static_cast<std::uint32_t>(buffers.size());
    return madeBy<runtime::DeviceLaunch, D>(
        [&](auto** launch, auto& error) { return D.prepare(queue.get(), request, launch, error); });
}

/// Empty, or the sentence of a function that enqueues or waits.
template<typename Function, typename... Arguments>
std::string problemOf(Function function, Arguments... arguments)
{
    runtime::ErrorText error;
    const runtime::Status status = function(arguments..., error);
    return status == runtime::Status::Ok ? std::string() : error.text;
}

} // namespace lathe::test
