#pragma once

/// A device beside the processor for tests: its memory is the test's, its kernels are functions, and what is enqueued
/// is done as late as it may be: when somebody waits. So what was forgotten to be waited for gives wrong results.

#include "core/runtime/device_driver.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lathe::late {

/// A function of the device: what its parameters point to, and the grid and block that it was started with.
using Function = std::function<bool(const std::vector<std::byte*>& buffers, const runtime::LaunchRequest& request)>;

/// What the device has been asked for; of the whole program, as there is one device.
struct Device
{
    std::map<std::string, Function> functions;
    Function others; ///< instead of those that are not there; empty: these are refused
    bool isHere = true;
    std::size_t most = SIZE_MAX; ///< bytes of one piece of memory
    int mostPieces = INT_MAX;
    // Counted:
    int contexts = 0, queues = 0, launches = 0, pieces = 0; ///< that live
    int uploads = 0; ///< pieces that were allocated with something in them
    int waits = 0;
    std::string code; ///< of the context that was opened last
};
inline Device& device()
{
    static Device it;
    return it;
}

struct Context
{
    std::string name = "late device";
};
struct Memory
{
    std::vector<std::byte> own;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
};
struct Queue
{
    std::vector<std::function<bool()>> waiting;
};
struct Launch
{
    runtime::LaunchRequest request;
    std::vector<std::byte*> buffers;
    Function function;
};

inline runtime::Status refuse(runtime::ErrorText& error, const char* sentence)
{
    error.set("%s", sentence);
    return runtime::Status::KernelFailed;
}

inline runtime::Status drain(Queue& queue, runtime::ErrorText& error)
{
    ++device().waits;
    std::vector<std::function<bool()>> all;
    all.swap(queue.waiting);
    for (const auto& command : all)
        if (!command())
            return refuse(error, "the device refused a command");
    return runtime::Status::Ok;
}

inline Memory* of(runtime::DeviceMemory* memory)
{
    return reinterpret_cast<Memory*>(memory);
}
inline Queue& of(runtime::DeviceQueue* queue)
{
    return *reinterpret_cast<Queue*>(queue);
}

inline runtime::Status enqueue(runtime::DeviceQueue* queue, std::function<bool()> command, bool wait,
                               runtime::ErrorText& error)
{
    of(queue).waiting.push_back(std::move(command));
    return wait ? drain(of(queue), error) : runtime::Status::Ok;
}

inline const runtime::DeviceDriver& driver()
{
    using namespace runtime;
    static const DeviceDriver it = {
        .kind = "late",
        .isHere =
            [](const char*, ErrorText& missing) {
                missing.set("it was taken away");
                return device().isHere;
            },
        .open =
            [](const ContextRequest& request, DeviceContext** context, ErrorText&) {
                device().code.assign(reinterpret_cast<const char*>(request.code), request.codeBytes);
                ++device().contexts;
                *context = reinterpret_cast<DeviceContext*>(new Context);
                return Status::Ok;
            },
        .close =
            [](DeviceContext* context) {
                --device().contexts;
                delete reinterpret_cast<Context*>(context);
            },
        .name = [](const DeviceContext* context) { return reinterpret_cast<const Context*>(context)->name.c_str(); },
        .allocate =
            [](DeviceContext*, std::size_t bytes, const void* host, DeviceMemory** memory, ErrorText& error) {
                if (bytes > device().most) {
                    error.set("%zu bytes are more than the device has", bytes);
                    return Status::NoMemory;
                }
                if (device().pieces >= device().mostPieces) {
                    error.set("the device has no room for another %zu bytes", bytes);
                    return Status::NoMemory;
                }
                auto* const made = new Memory{std::vector<std::byte>(bytes, std::byte{0xA5}), nullptr, bytes};
                made->data = made->own.data();
                if (host != nullptr) {
                    std::memcpy(made->data, host, bytes);
                    ++device().uploads;
                }
                ++device().pieces;
                *memory = reinterpret_cast<DeviceMemory*>(made);
                return Status::Ok;
            },
        .adopt =
            [](DeviceContext*, void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error) {
                auto& from = *static_cast<std::vector<std::byte>*>(handle);
                if (handle == nullptr || from.size() != bytes) {
                    error.set("it is none of %zu bytes", bytes);
                    return Status::InvalidArgument;
                }
                ++device().pieces;
                *memory = reinterpret_cast<DeviceMemory*>(new Memory{{}, from.data(), bytes});
                return Status::Ok;
            },
        .release =
            [](DeviceMemory* memory) {
                --device().pieces;
                delete of(memory);
            },
        .start =
            [](DeviceContext*, void*, DeviceQueue** queue, ErrorText&) {
                ++device().queues;
                *queue = reinterpret_cast<DeviceQueue*>(new Queue);
                return Status::Ok;
            },
        .end =
            [](DeviceQueue* queue) {
                --device().queues;
                delete &of(queue);
            },
        .prepare =
            [](DeviceQueue*, const LaunchRequest& request, DeviceLaunch** launch, ErrorText& error) {
                const auto known = device().functions.find(request.symbol);
                const Function function = known != device().functions.end() ? known->second : device().others;
                if (!function)
                    return refuse(error, "there is no such function");
                auto* const made = new Launch{request, {}, function};
                for (std::uint32_t i = 0; i < request.bufferCount; ++i)
                    made->buffers.push_back(request.buffers[i] != nullptr ? of(request.buffers[i])->data : nullptr);
                made->request.buffers = nullptr;
                ++device().launches;
                *launch = reinterpret_cast<DeviceLaunch*>(made);
                return Status::Ok;
            },
        .forget =
            [](DeviceLaunch* launch) {
                --device().launches;
                delete reinterpret_cast<Launch*>(launch);
            },
        .launch =
            [](DeviceQueue* queue, DeviceLaunch* launch, ErrorText& error) {
                const auto* const made = reinterpret_cast<Launch*>(launch);
                return enqueue(
                    queue, [made] { return made->function(made->buffers, made->request); }, false, error);
            },
        .copy =
            [](DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error) {
                std::byte *const source = of(from)->data, *const target = of(to)->data;
                return enqueue(
                    queue, [=] { return std::memcpy(target, source, bytes) != nullptr; }, false, error);
            },
        .write =
            [](DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait, ErrorText& error) {
                std::byte* const target = of(to)->data;
                return enqueue(
                    queue, [=] { return std::memcpy(target, from, bytes) != nullptr; }, wait, error);
            },
        .read =
            [](DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error) {
                const std::byte* const source = of(from)->data;
                return enqueue(
                    queue, [=] { return std::memcpy(to, source, bytes) != nullptr; }, wait, error);
            },
        .finish = [](DeviceQueue* queue, ErrorText& error) { return drain(of(queue), error); },
    };
    return it;
}

} // namespace lathe::late
