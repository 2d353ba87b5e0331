#include "core/runtime/executor.h"

#include "core/runtime/array.h"
#include "core/runtime/clock.h"
#include "core/runtime/executor_steps.h"
#include "core/runtime/processors.h"
#include "core/runtime/true_shape.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace lathe::runtime {

namespace {

/// Where a tensor without elements lies: somewhere, as callers may hand over no address for it.
alignas(kTensorAlignment) std::byte g_nothing[kTensorAlignment];

} // namespace

Executor* Executor::create(const Model& model, const ExecutorOptions& options, Status& status, ErrorText& error)
{
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, sizeof(Executor)) != 0) {
        status = Status::NoMemory;
        error.set("no memory for an instance");
        return nullptr;
    }
    Executor* const executor = new (memory) Executor;
    status = executor->prepare(model, options);
    if (status == Status::Ok)
        return executor;
    error = executor->m_error;
    destroy(executor);
    return nullptr;
}

void Executor::destroy(Executor* executor)
{
    if (executor == nullptr)
        return;
    executor->~Executor();
    std::free(executor);
}

Executor::~Executor()
{
    Pool::destroy(m_pool);
    if (m_model == nullptr)
        return;
    const ImageHeader& header = *m_model->image().header;
    releasePorts();
    freeArray(m_inputs, header.inputs.count);
    freeArray(m_outputs, header.outputs.count);
    freeArray(m_pointers, header.arguments.count);
    freeArray(m_args, header.instructions.count);
    freeArray(m_loops, header.instructions.count);
    for (std::uint64_t i = 0; m_exchanges != nullptr && i < header.instructions.count; ++i)
        freeArray(m_exchanges[i].arguments, m_exchanges[i].all);
    freeArray(m_exchanges, header.instructions.count);
    freeArray(m_transforms, header.instructions.count);
    freeArray(m_profiles, header.instructions.count);
    freeArray(m_steps, m_stepCount);
    freeArray(m_firstSteps, header.instructions.count);
}

Status Executor::fail(Status status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(m_error.text, sizeof m_error.text, format, arguments);
    va_end(arguments);
    return status;
}

Status Executor::prepare(const Model& model, const ExecutorOptions& options)
{
    m_model = &model;
    const ImageHeader& header = *model.image().header;
    m_inputs = makeArray<Port>(header.inputs.count);
    m_outputs = makeArray<Port>(header.outputs.count);
    m_pointers = makeArray<void*>(header.arguments.count);
    m_args = makeArray<LatheArgs>(header.instructions.count);
    m_loops = makeArray<LoopState>(header.instructions.count);
    m_exchanges = makeArray<Exchange>(header.instructions.count);
    m_transforms = makeArray<LayoutTransform>(header.instructions.count);
    m_profiles = makeArray<Profile>(header.instructions.count);
    if (m_inputs == nullptr || m_outputs == nullptr || m_pointers == nullptr || m_args == nullptr || m_loops == nullptr
        || m_exchanges == nullptr || m_transforms == nullptr || m_profiles == nullptr)
        return fail(Status::NoMemory, "no memory for an instance");

    PoolOptions pool = options.pool;
    // Threads of the processor would wait for the device, and take the processor from one that is made of it.
    if (pool.threads == 0 && header.devices.count > 0)
        pool.threads = 1;
    if (options.parallelFor != nullptr) {
        m_parallelFor = options.parallelFor;
        m_parallelForUser = options.parallelForUser;
        m_parts = pool.threads > 0 ? pool.threads : processorCount(pool.systemRoot);
    } else {
        m_pool = Pool::create(pool);
        if (m_pool == nullptr)
            return fail(Status::NoMemory, "%u threads were asked for and could not be started", pool.threads);
        m_parts = m_pool->parts();
    }
    // An odd number of lines apart, so that equal offsets in the scratch of two parts do not fall into one cache set.
    m_partScratchStride = header.partScratchBytes > 0 ? header.partScratchBytes + 64 : 0;
    if (m_parts > (std::uint64_t{1} << 46) / (m_partScratchStride + 1)
        || !m_arena.allocate(header.arenaBytes, header.arenaBytes >= (1U << 21))
        || !m_teamScratch.allocate(header.teamScratchBytes, header.teamScratchBytes >= (1U << 21))
        || !m_partScratch.allocate(m_partScratchStride * m_parts, m_partScratchStride * m_parts >= (1U << 21)))
        return fail(Status::NoMemory, "no memory for %llu bytes of activations and scratch",
                    static_cast<unsigned long long>(header.arenaBytes + header.teamScratchBytes
                                                    + m_partScratchStride * m_parts));
    for (std::uint64_t i = 0; i < header.inputs.count; ++i)
        m_inputs[i].bytes = model.image().tensors[model.image().inputs[i].tensor].bytes;
    for (std::uint64_t i = 0; i < header.outputs.count; ++i)
        m_outputs[i].bytes = model.image().tensors[model.image().outputs[i].tensor].bytes;
    resetShapes();
    if (header.devices.count > 0) {
        if (const Status status = m_devices.prepare(model.image(), model.devices(), options.deviceQueue, m_error);
            status != Status::Ok)
            return status;
        findHostPorts();
        findSharedPorts();
    }
    return prepareSteps();
}

/// Ports that an instruction of the processor reads or writes: their memory on a device alone will not do.
void Executor::findHostPorts()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->instructions.count; ++i) {
        const ImageInstruction& in = image.instructions[i];
        const std::uint32_t* const arguments = image.arguments + in.firstArgument;
        if (static_cast<InstructionKind>(in.kind) == InstructionKind::Copy
            && (image.tensors[arguments[0]].device == 1 || image.tensors[arguments[1]].device == 1))
            continue;
        for (std::uint32_t k = 0; k < in.argumentCount; ++k) {
            const ImageTensor& tensor = image.tensors[arguments[k]];
            if (tensor.storage == static_cast<std::uint32_t>(Storage::Input))
                m_inputs[tensor.offset].onHost = true;
            else if (tensor.storage == static_cast<std::uint32_t>(Storage::Output))
                m_outputs[tensor.offset].onHost = true;
        }
    }
    for (std::uint64_t i = 0; i < image.header->extents.count; ++i) { // they are cut and looked at
        m_outputs[image.extents[i].output].onHost = true;
        if (const ImageTensor& count = image.tensors[image.extents[i].count];
            count.storage == static_cast<std::uint32_t>(Storage::Output))
            m_outputs[count.offset].onHost = true;
    }
}

Status Executor::bind(Storage storage, std::uint32_t index, std::byte* data, std::size_t bytes)
{
    const bool isInput = storage == Storage::Input;
    Port* const ports = isInput ? m_inputs : m_outputs;
    const ImageHeader& header = *m_model->image().header;
    const std::uint64_t count = isInput ? header.inputs.count : header.outputs.count;
    const char* const what = isInput ? "input" : "output";
    if (index >= count)
        return fail(Status::InvalidArgument, "there is no %s %u, the network has %llu", what, index,
                    static_cast<unsigned long long>(count));
    Port& port = ports[index];
    if (data == nullptr && bytes == 0 && port.bytes == 0)
        data = g_nothing;
    if (data == nullptr)
        return fail(Status::InvalidArgument, "%s %u was bound to a null pointer", what, index);
    if (bytes != port.bytes)
        return fail(Status::InvalidArgument, "%s %u has %zu bytes, the bound buffer %zu", what, index, port.bytes,
                    bytes);
    std::byte* used = data;
    if (reinterpret_cast<std::uintptr_t>(data) % kTensorAlignment != 0) {
        if (port.staging.data() == nullptr && !port.staging.allocate(port.bytes, false))
            return fail(Status::NoMemory, "no memory for a copy of %s %u", what, index);
        used = port.staging.data();
    }
    dropDevice(storage, index, port);
    if (port.shared != port.own) // the caller may do what he likes with what was bound before
        unshare(storage, index, port);
    port.isSettled = false;
    port.bound = data;
    port.used = used;
    m_stalePointers = true;
    return Status::Ok;
}

Status Executor::bindDevice(Storage storage, std::uint32_t index, void* handle, std::size_t bytes)
{
    const bool isInput = storage == Storage::Input;
    Port* const ports = isInput ? m_inputs : m_outputs;
    const ImageHeader& header = *m_model->image().header;
    const std::uint64_t count = isInput ? header.inputs.count : header.outputs.count;
    const char* const what = isInput ? "input" : "output";
    if (!m_devices.any())
        return fail(Status::InvalidArgument,
                    "%s %u was bound to a device's memory, and the network runs on the processor", what, index);
    if (index >= count)
        return fail(Status::InvalidArgument, "there is no %s %u, the network has %llu", what, index,
                    static_cast<unsigned long long>(count));
    Port& port = ports[index];
    if (bytes != port.bytes)
        return fail(Status::InvalidArgument, "%s %u has %zu bytes, the bound buffer %zu", what, index, port.bytes,
                    bytes);
    if (port.staging.data() == nullptr && !port.staging.allocate(port.bytes, false))
        return fail(Status::NoMemory, "no memory for a copy of %s %u", what, index);
    DeviceMemory* memory = nullptr;
    if (bytes > 0)
        if (const Status status = m_devices.adopt(handle, bytes, &memory, m_error); status != Status::Ok)
            return status;
    takeDevice(storage, index, port, memory);
    port.bound = port.used = bytes > 0 ? port.staging.data() : g_nothing;
    m_stalePointers = true;
    return Status::Ok;
}

Status Executor::bindDeviceInput(std::uint32_t index, void* handle, std::size_t bytes)
{
    return bindDevice(Storage::Input, index, handle, bytes);
}

Status Executor::bindDeviceOutput(std::uint32_t index, void* handle, std::size_t bytes)
{
    return bindDevice(Storage::Output, index, handle, bytes);
}

Status Executor::bindInput(std::uint32_t index, const void* data, std::size_t bytes)
{
    // Inputs are only read: openImage() refuses instructions that write to them.
    return bind(Storage::Input, index, static_cast<std::byte*>(const_cast<void*>(data)), bytes);
}

Status Executor::bindOutput(std::uint32_t index, void* data, std::size_t bytes)
{
    return bind(Storage::Output, index, static_cast<std::byte*>(data), bytes);
}

Status Executor::portBuffer(Port* ports, std::uint64_t count, std::uint32_t index)
{
    if (index >= count)
        return fail(Status::InvalidArgument, "there is no tensor %u, the network has %llu", index,
                    static_cast<unsigned long long>(count));
    Port& port = ports[index];
    if (port.bound != nullptr)
        return Status::Ok;
    if (!port.staging.allocate(port.bytes, false))
        return fail(Status::NoMemory, "no memory for a buffer of %zu bytes", port.bytes);
    port.bound = port.used = port.bytes > 0 ? port.staging.data() : g_nothing;
    m_stalePointers = true;
    return Status::Ok;
}

void* Executor::ownBuffer(Port* ports, std::uint64_t count, std::uint32_t index)
{
    if (portBuffer(ports, count, index) != Status::Ok)
        return nullptr;
    Port& port = ports[index]; // memory on a device gives way to its buffer in the processor's
    m_devices.release(port.device);
    port.device = nullptr;
    return port.bound;
}

void* Executor::inputBuffer(std::uint32_t index)
{
    return ownBuffer(m_inputs, m_model->image().header->inputs.count, index);
}

void* Executor::outputBuffer(std::uint32_t index)
{
    return ownBuffer(m_outputs, m_model->image().header->outputs.count, index);
}

std::byte* Executor::pointerTo(const ImageTensor& tensor) const
{
    if (tensor.device != 0) // nothing of the processor reads it
        return nullptr;
    switch (static_cast<Storage>(tensor.storage)) {
    case Storage::Arena: return m_arena.data() + tensor.offset;
    case Storage::Weights: return const_cast<std::byte*>(m_model->weightsAt(tensor.offset));
    case Storage::Input: return m_inputs[tensor.offset].used;
    case Storage::Output: return m_outputs[tensor.offset].used;
    }
    return nullptr;
}

/// A kernel may write to an output before all of an input is read.
Status Executor::refuseOverlaps()
{
    const Image& image = m_model->image();
    const auto overlap = [](const Port& a, const Port& b) {
        return a.bytes > 0 && b.bytes > 0 && a.bound < b.bound + b.bytes && b.bound < a.bound + a.bytes;
    };
    const auto refuse = [&](std::uint64_t output, const char* what, const ImagePort& other) {
        return fail(Status::InvalidArgument, "the buffer of output \"%s\" overlaps that of %s \"%s\"",
                    image.string(image.tensors[image.outputs[output].tensor].name), what,
                    image.string(image.tensors[other.tensor].name));
    };
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i) {
        for (std::uint64_t k = 0; k < image.header->inputs.count; ++k)
            if (overlap(m_outputs[i], m_inputs[k]))
                return refuse(i, "input", image.inputs[k]);
        for (std::uint64_t k = 0; k < i; ++k)
            if (overlap(m_outputs[i], m_outputs[k]))
                return refuse(i, "output", image.outputs[k]);
    }
    return Status::Ok;
}

void Executor::refreshPointers()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->arguments.count; ++i)
        m_pointers[i] = pointerTo(image.tensors[image.arguments[i]]);
    m_stalePointers = false;
}

/// Buffers for every port, and pointers to them.
Status Executor::prepareRun()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->inputs.count; ++i) {
        Port& port = m_inputs[i];
        if (port.bound == nullptr)
            return fail(Status::InvalidArgument, "input \"%s\" is not bound",
                        image.string(image.tensors[image.inputs[i].tensor].name));
    }
    for (std::uint32_t i = 0; i < image.header->outputs.count; ++i)
        if (const Status status = portBuffer(m_outputs, image.header->outputs.count, i); status != Status::Ok)
            return status;
    if (m_stalePointers) {
        if (const Status status = refuseOverlaps(); status != Status::Ok)
            return status;
        refreshPointers();
    }
    if (const Status status = settlePorts(); status != Status::Ok)
        return status;
    for (std::uint64_t i = 0; i < image.header->inputs.count; ++i) {
        const Port& port = m_inputs[i];
        if (port.used != port.bound && port.shared == nullptr)
            std::memcpy(port.used, port.bound, port.bytes);
        if (port.device != nullptr && port.onHost)
            if (const Status status = m_devices.read(1, port.used, port.device, port.bytes, true, m_error);
                status != Status::Ok) {
                ErrorText ignored;
                takePorts(ignored);
                return status;
            }
    }
    return Status::Ok;
}

Status Executor::run()
{
    if (const Status status = prepareRun(); status != Status::Ok)
        return status;
    Run run{this, 0, m_stepCount};
    if (const Status status = runSteps(run); status != Status::Ok)
        return status;
    if (const Status status = cutOutputs(); status != Status::Ok)
        return status;
    for (std::uint64_t i = 0; i < m_model->image().header->outputs.count; ++i) {
        Port& port = m_outputs[i];
        if (port.shared != nullptr && port.shared == port.own) {
            const std::uint64_t began = nowNanoseconds();
            std::memcpy(port.bound, port.host, port.bytes);
            port.moveNs = nowNanoseconds() - began;
        } else if (port.used != port.bound && port.shared == nullptr) {
            std::memcpy(port.bound, port.used, port.bytes);
        }
        if (port.device != nullptr && port.onHost)
            if (const Status status = m_devices.write(1, port.device, port.used, port.bytes, true, m_error);
                status != Status::Ok)
                return status;
    }
    return Status::Ok;
}

void Executor::resetShapes()
{
    const Image& image = m_model->image();
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i)
        std::memcpy(m_outputs[i].shape, image.tensors[image.outputs[i].tensor].shape, sizeof m_outputs[i].shape);
}

/// Outputs with extents that depend on data are cut to what this run found.
Status Executor::cutOutputs()
{
    const Image& image = m_model->image();
    if (image.header->extents.count == 0)
        return Status::Ok;
    const auto countOf = [&](const ImageExtent& extent) {
        std::int64_t count = 0;
        std::memcpy(&count, pointerTo(image.tensors[extent.count]), sizeof count);
        return count;
    };
    for (std::uint64_t i = 0; i < image.header->extents.count; ++i) { // before any shape is another
        const ImageExtent& extent = image.extents[i];
        const ImageTensor& output = image.tensors[image.outputs[extent.output].tensor];
        const std::int64_t count = countOf(extent), most = output.shape[extent.axis];
        if (count < 0 || count > most)
            return fail(Status::KernelFailed,
                        "extent %u of output \"%s\" came out as %lld, the most that it can be is %lld", extent.axis,
                        image.string(output.name), static_cast<long long>(count), static_cast<long long>(most));
    }
    resetShapes();
    for (std::uint64_t i = 0; i < image.header->extents.count; ++i) { // all before any is cut: a count may be an output
        const ImageExtent& extent = image.extents[i];
        m_outputs[extent.output].shape[extent.axis] = countOf(extent);
    }
    for (std::uint64_t i = 0; i < image.header->outputs.count; ++i) {
        const ImageTensor& tensor = image.tensors[image.outputs[i].tensor];
        packToShape(m_outputs[i].used, sizeOf(static_cast<DType>(tensor.dtype)), tensor.logicalRank, tensor.shape,
                    m_outputs[i].shape);
    }
    return Status::Ok;
}

Status Executor::outputShape(std::uint32_t index, std::int64_t* shape)
{
    const Image& image = m_model->image();
    if (index >= image.header->outputs.count)
        return fail(Status::InvalidArgument, "there is no output %u, the network has %llu", index,
                    static_cast<unsigned long long>(image.header->outputs.count));
    if (shape == nullptr)
        return fail(Status::InvalidArgument, "the shape of output %u was asked for without a place for it", index);
    std::memcpy(shape, m_outputs[index].shape, sizeof m_outputs[index].shape);
    return Status::Ok;
}

Status Executor::runChain(std::uint32_t first, std::uint32_t last)
{
    const std::uint64_t count = m_model->image().header->instructions.count;
    if (first > last || last >= count)
        return fail(Status::InvalidArgument, "there are no instructions %u to %u, the network has %llu", first, last,
                    static_cast<unsigned long long>(count));
    if (const Status status = prepareRun(); status != Status::Ok)
        return status;
    Run run{this, m_firstSteps[first], last + 1 < count ? m_firstSteps[last + 1] : m_stepCount, true, last};
    return runSteps(run);
}

void Executor::setProfiling(bool on)
{
    if (on)
        for (std::uint64_t i = 0; i < m_model->image().header->instructions.count; ++i)
            m_profiles[i] = Profile{};
    m_profiling = on;
}

void Executor::setObserver(Observer observer, void* user)
{
    m_observer = observer;
    m_observerUser = user;
}

/// Whether an output's values lie in the processor's memory within a run.
bool Executor::isFilled(const ImageTensor& tensor) const
{
    return tensor.storage != static_cast<std::uint32_t>(Storage::Output) || m_outputs[tensor.offset].there() == nullptr
           || m_outputs[tensor.offset].onHost;
}

Status Executor::observe(std::uint32_t instruction)
{
    const Image& image = m_model->image();
    const ImageInstruction& in = image.instructions[instruction];
    for (std::uint32_t k = in.argumentCount - in.outputCount; k < in.argumentCount; ++k) {
        const std::uint32_t index = image.arguments[in.firstArgument + k];
        const ImageTensor& tensor = image.tensors[index];
        const void* data = m_pointers[in.firstArgument + k];
        Pages fetched;
        if (tensor.device != 0 || !isFilled(tensor)) {
            DeviceMemory* const memory = tensor.device != 0 ? m_devices.memory(index)
                                                            : m_outputs[tensor.offset].there();
            if (!fetched.allocate(tensor.bytes, false))
                return fail(Status::NoMemory, "no memory to show tensor \"%s\"", image.string(tensor.name));
            if (const Status status = m_devices.read(tensor.device != 0 ? tensor.device : 1, fetched.data(), memory,
                                                     tensor.bytes, true, m_error);
                status != Status::Ok)
                return status;
            data = tensor.bytes > 0 ? fetched.data() : g_nothing;
        }
        const IndexMap map = image.map(tensor);
        if (map.isPlain()) {
            m_observer(m_observerUser, instruction, tensor, data);
            continue;
        }
        const IndexMap plain = IndexMap::plain(map.logicalShape, map.logicalRank);
        const auto dtype = static_cast<DType>(tensor.dtype);
        Pages copy;
        LayoutTransform transform;
        if (!copy.allocate(static_cast<std::size_t>(plain.elementCount() * sizeOf(dtype)), false)
            || !transform.prepare(map, plain, dtype))
            return fail(Status::NoMemory, "no memory to show tensor \"%s\"", image.string(tensor.name));
        transform.copy(data, copy.data(), 0, 1);
        m_observer(m_observerUser, instruction, tensor, copy.data());
    }
    return Status::Ok;
}

} // namespace lathe::runtime
