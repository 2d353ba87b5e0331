#pragma once

/// A device beside the processor for tests: its memory is the test's, its kernels are functions, and what is enqueued
/// is done as late as it may be: when somebody waits. So what was forgotten to be waited for gives wrong results.
/// Memory that it shares with the host is the host's while it is mapped. Else the host finds rubbish there, and each
/// byte that it changes is counted, as is a launch on memory that is mapped.

#include "core/runtime/device_driver.h"

#include <algorithm>
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
    bool sharesMemory = false;
    bool failsAtEnd = false; ///< of a run
    std::size_t alignment = 64; ///< of host memory that it can use in place
    bool takesCallers = true; ///< memory of the caller's on the device fits
    // Counted:
    int contexts = 0, queues = 0, launches = 0, pieces = 0; ///< that live
    int uploads = 0; ///< pieces that were allocated with something in them
    int waits = 0;
    int copies = 0; ///< commands that moved bytes
    int maps = 0, unmaps = 0;
    int wraps = 0; ///< pieces around memory of the host's
    int misuses = 0; ///< of shared memory, and what was released within a run
    int runs = 0, endedRuns = 0; ///< that were told
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
    // Of shared memory; the device has its bytes in `own`:
    std::byte* host = nullptr;
    std::vector<std::byte> hostOwn;
    bool isMapped = false;
    bool isCallers = false;
    int launches = 0; ///< that hold it, of shared memory and of the caller's
    bool isHeld() const { return host != nullptr || isCallers; }

    static constexpr std::byte kRubbish{0xDB};
    void hide() { std::fill_n(host, bytes, kRubbish); }
    /// With what the device has.
    void show()
    {
        device().misuses += std::any_of(host, host + bytes, [](std::byte b) { return b != kRubbish; }) ? 1 : 0;
        std::memcpy(host, data, bytes);
    }
};
struct Queue
{
    std::vector<std::function<bool()>> waiting;
};
struct Launch
{
    runtime::LaunchRequest request;
    std::vector<Memory*> buffers;
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
    bool good = true;
    for (const auto& command : all)
        good = command() && good;
    return good ? runtime::Status::Ok : refuse(error, "the device refused a command");
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

inline std::function<bool()> copyOf(std::byte* target, const std::byte* source, std::size_t bytes)
{
    return [=] {
        ++device().copies;
        return std::memcpy(target, source, bytes) != nullptr;
    };
}

/// A command on shared memory, which has to be the host's, or the device's; else that is counted.
inline bool take(Memory& memory, bool mapped)
{
    device().misuses += memory.host == nullptr || memory.isMapped != mapped ? 1 : 0;
    return memory.host != nullptr;
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
                auto* const made = new Memory{std::vector<std::byte>(bytes, std::byte{0xA5}), nullptr, bytes, {}, {}};
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
                auto* const made = new Memory{{}, from.data(), bytes, {}, {}};
                made->isCallers = true;
                *memory = reinterpret_cast<DeviceMemory*>(made);
                return Status::Ok;
            },
        .fits = [](const DeviceMemory*, bool) { return device().takesCallers; },
        .overlaps =
            [](const DeviceMemory* one, const DeviceMemory* other) {
                const auto* const a = reinterpret_cast<const Memory*>(one);
                const auto* const b = reinterpret_cast<const Memory*>(other);
                return a->data < b->data + b->bytes && b->data < a->data + a->bytes;
            },
        .share =
            [](DeviceContext*, void* host, std::size_t bytes, bool, DeviceMemory** memory, ErrorText& error) {
                if (!device().sharesMemory
                    || (host != nullptr && reinterpret_cast<std::uintptr_t>(host) % device().alignment != 0))
                    return Status::Ok;
                if (device().pieces >= device().mostPieces) {
                    error.set("the device has no room for another %zu bytes", bytes);
                    return Status::NoMemory;
                }
                auto* const made = new Memory{{}, nullptr, bytes, {}, {}};
                if (host == nullptr)
                    made->hostOwn.resize(bytes);
                else
                    ++device().wraps;
                made->host = host == nullptr ? made->hostOwn.data() : static_cast<std::byte*>(host);
                made->own.assign(made->host, made->host + bytes);
                made->data = made->own.data();
                made->hide();
                ++device().pieces;
                *memory = reinterpret_cast<DeviceMemory*>(made);
                return Status::Ok;
            },
        .release =
            [](DeviceMemory* memory) {
                device().misuses += device().runs != device().endedRuns ? 1 : 0;
                device().misuses += of(memory)->isMapped || of(memory)->launches > 0 ? 1 : 0;
                if (of(memory)->host != nullptr) {
                    of(memory)->show(); // it is the host's again
                }
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
                    made->buffers.push_back(of(request.buffers[i]));
                made->request.buffers = nullptr;
                ++device().launches;
                *launch = reinterpret_cast<DeviceLaunch*>(made);
                return Status::Ok;
            },
        .point =
            [](DeviceLaunch* launch, std::uint32_t buffer, DeviceMemory* memory, ErrorText&) {
                Memory*& place = reinterpret_cast<Launch*>(launch)->buffers.at(buffer);
                if (place != nullptr && place->isHeld())
                    --place->launches;
                place = of(memory);
                if (place != nullptr && place->isHeld())
                    ++place->launches;
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
                const std::vector<Memory*> memory = made->buffers; // as it is set now
                return enqueue(
                    queue,
                    [made, memory] {
                        std::vector<std::byte*> buffers;
                        for (const Memory* const one : memory) {
                            device().misuses += one != nullptr && one->isMapped ? 1 : 0;
                            buffers.push_back(one != nullptr ? one->data : nullptr);
                        }
                        return made->function(buffers, made->request);
                    },
                    false, error);
            },
        .copy =
            [](DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error) {
                return enqueue(queue, copyOf(of(to)->data, of(from)->data, bytes), false, error);
            },
        .write =
            [](DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait, ErrorText& error) {
                return enqueue(queue, copyOf(of(to)->data, static_cast<const std::byte*>(from), bytes), wait, error);
            },
        .read =
            [](DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error) {
                return enqueue(queue, copyOf(static_cast<std::byte*>(to), of(from)->data, bytes), wait, error);
            },
        .map =
            [](DeviceQueue* queue, DeviceMemory* memory, void** host, ErrorText& error) {
                Memory* const one = of(memory);
                ++device().maps;
                *host = one->host;
                return enqueue(
                    queue,
                    [one] {
                        if (!take(*one, false))
                            return false;
                        one->show();
                        return one->isMapped = true;
                    },
                    false, error);
            },
        .unmap =
            [](DeviceQueue* queue, DeviceMemory* memory, ErrorText& error) {
                Memory* const one = of(memory);
                ++device().unmaps;
                return enqueue(
                    queue,
                    [one] {
                        if (!take(*one, true))
                            return false;
                        std::memcpy(one->data, one->host, one->bytes);
                        one->hide();
                        one->isMapped = false;
                        return true;
                    },
                    false, error);
            },
        .finish = [](DeviceQueue* queue, ErrorText& error) { return drain(of(queue), error); },
        .beginRun =
            [](DeviceQueue*, ErrorText&) { // behind what gives it shared memory
                device().misuses += device().runs != device().endedRuns ? 1 : 0;
                ++device().runs;
                return Status::Ok;
            },
        .endRun =
            [](DeviceQueue*, ErrorText& error) {
                ++device().endedRuns;
                return device().failsAtEnd ? refuse(error, "the device refused a run") : Status::Ok;
            },
    };
    return it;
}

} // namespace lathe::late
