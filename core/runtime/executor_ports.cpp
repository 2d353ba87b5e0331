// Inputs and outputs in memory that the processor and the first device share.
//
// Where the device's memory is the processor's, the tensor on the device that an input is copied to, or an output from,
// lies in the caller's buffer itself, and the copy has nothing to do. Where the device cannot use that buffer as it is,
// the tensor lies in memory that the driver made for both, and the caller's bytes are moved once, by this thread.
//
// Memory of the caller's on the device is used in place likewise, from the second run with it on: who binds another
// buffer before each run is not served by launches that are pointed elsewhere each time, which drivers that record
// runs would have to record anew. Buffers that overlap are copied.
//
// Memory that is shared is the processor's while it is mapped, and the device's while it is not. So all of it is
// unmapped when a run begins and mapped when it ends, in the queue, with what waits for the run's end: between two
// launches nobody waits. Between runs callers find their buffers as if there were no device. What the driver knows of a
// buffer is dropped when another one is bound, since the caller may then free it, and made anew by the next run even if
// the address is the same one: other memory may have come to lie there.

#include "core/runtime/clock.h"
#include "core/runtime/executor.h"
#include "core/runtime/executor_steps.h"

#include <cstring>

namespace lathe::runtime {

/// Of all ports that may share, or are bound to memory on the device, until one of the calls fails.
template<typename Visit>
Status Executor::forEachShared(Visit visit)
{
    const ImageHeader& header = *m_model->image().header;
    Status result = Status::Ok;
    const auto over = [&](Storage storage, Port* ports, std::uint64_t count) {
        for (std::uint64_t i = 0; ports != nullptr && i < count && result == Status::Ok; ++i)
            if (ports[i].mayShare || (ports[i].mayPlace && ports[i].device != nullptr))
                result = visit(storage, i, ports[i]);
    };
    over(Storage::Input, m_inputs, header.inputs.count);
    over(Storage::Output, m_outputs, header.outputs.count);
    return result;
}

void Executor::findSharedPorts()
{
    const ImageHeader& header = *m_model->image().header;
    const auto find = [this](Port& port, Storage storage, std::uint64_t index) {
        port.mayPlace = port.bytes > 0 && !port.onHost && m_devices.mayPlace(storage, index);
        port.mayShare = port.mayPlace;
    };
    for (std::uint64_t i = 0; i < header.inputs.count; ++i)
        find(m_inputs[i], Storage::Input, i);
    for (std::uint64_t i = 0; i < header.outputs.count; ++i)
        find(m_outputs[i], Storage::Output, i);
}

/// Of all other ports whose memory on the device has bytes in common with this one's; that two inputs have some does no
/// harm.
template<typename Visit>
void Executor::forEachOverlap(Storage storage, std::uint64_t index, Visit visit)
{
    const ImageHeader& header = *m_model->image().header;
    const Port& one = (storage == Storage::Input ? m_inputs : m_outputs)[index];
    const auto over = [&](Storage of, Port* ports, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i)
            if (Port& other = ports[i];
                &other != &one && other.device != nullptr && m_devices.overlap(one.device, other.device))
                visit(of, i, other);
    };
    if (one.device == nullptr)
        return;
    if (storage == Storage::Output)
        over(Storage::Input, m_inputs, header.inputs.count);
    over(Storage::Output, m_outputs, header.outputs.count);
}

/// The caller's memory on the device, in place of the tensor, where that can be.
Status Executor::settleDevice(Storage storage, std::uint64_t index, Port& port)
{
    if (!port.isKnown) {
        port.isKnown = true;
        return Status::Ok;
    }
    port.isSettled = true;
    bool isApart = m_devices.fits(port.device, storage == Storage::Input);
    forEachOverlap(storage, index, [&isApart](Storage, std::uint64_t, Port&) { isApart = false; });
    if (!isApart)
        return Status::Ok;
    const Status status = m_devices.place(storage, index, port.device, m_error);
    port.isPlaced = true;
    if (status != Status::Ok)
        unplace(storage, index, port);
    return status;
}

/// The tensor lies in the instance's own memory again.
void Executor::unplace(Storage storage, std::uint64_t index, Port& port)
{
    if (!port.isPlaced)
        return;
    ErrorText ignored;
    m_devices.place(storage, index, nullptr, ignored);
    port.isPlaced = false;
}

/// Memory on the device that was bound. What lies in another buffer with which it overlaps would be overwritten, or
/// read, while this one is in use.
void Executor::takeDevice(Storage storage, std::uint64_t index, Port& port, DeviceMemory* memory)
{
    dropDevice(storage, index, port);
    unshare(storage, index, port);
    port.isSettled = false;
    port.device = memory;
    forEachOverlap(storage, index, [this](Storage of, std::uint64_t other, Port& one) { unplace(of, other, one); });
}

/// The device has no more to do with the caller's memory there.
void Executor::dropDevice(Storage storage, std::uint64_t index, Port& port)
{
    unplace(storage, index, port);
    m_devices.release(port.device);
    port.device = nullptr;
    port.isKnown = false;
}

/// What is bound, as memory of the device.
Status Executor::settle(Storage storage, std::uint64_t index, Port& port)
{
    if (port.isSettled)
        return Status::Ok;
    if (port.device != nullptr)
        return settleDevice(storage, index, port);
    const bool isInput = storage == Storage::Input;
    // Buffers of the executor's own are whole pages, and devices like whole lines of a cache.
    const bool isOwn = port.bound == port.staging.data();
    const std::size_t bytes = isOwn ? (port.bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment
                                    : port.bytes;
    DeviceMemory* memory = nullptr;
    Status status = m_devices.share(port.bound, bytes, isInput, &memory, m_error);
    if (status == Status::Ok && memory == nullptr) {
        if (port.own == nullptr)
            status = m_devices.share(nullptr, port.bytes, isInput, &port.own, m_error);
        if (status == Status::Ok && port.own == nullptr)
            port.mayShare = false; // the device has memory of its own
        memory = port.own;
    }
    if (status != Status::Ok || memory == nullptr)
        return status;
    port.moveNs = 0;
    if (memory != port.shared) {
        unshare(storage, index, port);
        port.shared = memory;
        status = m_devices.place(storage, index, memory, m_error);
    }
    if (status == Status::Ok)
        port.isSettled = true;
    else
        unshare(storage, index, port);
    return status;
}

/// The device has no more to do with what is bound.
void Executor::unshare(Storage storage, std::uint64_t index, Port& port)
{
    if (port.shared == nullptr)
        return;
    ErrorText ignored;
    m_devices.place(storage, index, nullptr, ignored);
    if (port.host != nullptr)
        m_devices.unmap(port.shared, ignored);
    m_devices.finish(ignored);
    if (port.shared != port.own)
        m_devices.release(port.shared);
    port.shared = nullptr;
    port.host = nullptr;
}

Status Executor::settlePorts()
{
    const Status status = forEachShared(
        [this](Storage storage, std::uint64_t index, Port& port) { return settle(storage, index, port); });
    if (status != Status::Ok) { // nothing ran, and no buffer stays the device's
        ErrorText ignored;
        takePorts(ignored);
    }
    return status;
}

/// To the device, for what is enqueued from now on.
Status Executor::givePorts()
{
    return forEachShared([this](Storage storage, std::uint64_t, Port& port) {
        Status status = Status::Ok;
        if (port.shared == nullptr)
            return status;
        if (port.shared == port.own && storage == Storage::Input) {
            if (port.host == nullptr) { // of the first run
                status = m_devices.map(port.shared, &port.host, m_error);
                if (status == Status::Ok)
                    status = m_devices.finish(m_error);
                if (status != Status::Ok)
                    return status;
            }
            const std::uint64_t began = nowNanoseconds();
            std::memcpy(port.host, port.bound, port.bytes);
            port.moveNs = nowNanoseconds() - began;
        }
        if (port.host != nullptr)
            status = m_devices.unmap(port.shared, m_error);
        port.host = nullptr;
        return status;
    });
}

/// Back from the device, when all that was enqueued is done.
Status Executor::takePorts(ErrorText& error)
{
    Status mapped = Status::Ok;
    forEachShared([&](Storage, std::uint64_t, Port& port) {
        if (port.shared != nullptr && port.host == nullptr)
            if (const Status status = m_devices.map(port.shared, &port.host, error); status != Status::Ok)
                mapped = status;
        return Status::Ok; // the others are wanted back whatever became of this one
    });
    ErrorText late;
    const Status finished = m_devices.finish(late);
    if (finished != Status::Ok)
        error = late;
    return finished != Status::Ok ? finished : mapped;
}

void Executor::releasePorts()
{
    const ImageHeader& header = *m_model->image().header;
    const auto over = [this](Storage storage, Port* ports, std::uint64_t count) {
        for (std::uint64_t i = 0; ports != nullptr && i < count; ++i) {
            dropDevice(storage, i, ports[i]);
            unshare(storage, i, ports[i]);
            m_devices.release(ports[i].own);
        }
    };
    over(Storage::Input, m_inputs, header.inputs.count);
    over(Storage::Output, m_outputs, header.outputs.count);
}

/// Of a copy that the run's begin or end makes unnecessary; else null.
const Executor::Port* Executor::portOfCarry(const Step& step) const
{
    const Image& image = m_model->image();
    const std::uint32_t* const arguments = image.arguments + image.instructions[step.instruction].firstArgument;
    for (const std::uint32_t k : {0U, 1U}) {
        const ImageTensor& tensor = image.tensors[arguments[k]];
        const auto storage = static_cast<Storage>(tensor.storage);
        if (storage != Storage::Input && storage != Storage::Output)
            continue;
        const Port& port = (storage == Storage::Input ? m_inputs : m_outputs)[tensor.offset];
        const DeviceMemory* const place = port.isPlaced ? port.device : port.shared;
        if (place != nullptr && image.tensors[arguments[1 - k]].device == 1
            && m_devices.memory(arguments[1 - k]) == place)
            return &port;
    }
    return nullptr;
}

bool Executor::isInPlace(std::uint32_t instruction) const
{
    const Step& step = m_steps[m_firstSteps[instruction]];
    const Port* const port = step.kind == StepKind::Carry ? portOfCarry(step) : nullptr;
    return port != nullptr && (port->isPlaced || port->shared != port->own);
}

} // namespace lathe::runtime
