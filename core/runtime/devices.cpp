#include "core/runtime/devices.h"

#include "core/runtime/array.h"
#include "core/runtime/executor.h"

#include <cstring>

namespace lathe::runtime {

namespace {

/// Whether `target` begins with the driver's kind as a word.
bool isFor(const DeviceDriver& driver, const char* target)
{
    const std::size_t length = std::strlen(driver.kind);
    return std::strncmp(target, driver.kind, length) == 0 && (target[length] == '\0' || target[length] == ' ');
}

bool isWeight(const ImageTensor& tensor)
{
    return tensor.storage == static_cast<std::uint32_t>(Storage::Weights);
}

/// Each buffer that a launch on the device has beside arguments.
template<typename Visit>
void forEachScratch(const Image& image, std::uint32_t device, Visit visit)
{
    for (std::uint64_t i = 0; i < image.header->instructions.count; ++i) {
        const ImageInstruction& in = image.instructions[i];
        for (std::uint32_t l = 0; in.device == device && l < in.phaseCount; ++l) {
            const ImageLaunch& launch = image.launches[in.firstPhase + l];
            for (std::uint32_t b = 0; b < launch.bufferCount; ++b)
                if (const ImageLaunchBuffer& buffer = image.launchBuffers[launch.firstBuffer + b];
                    buffer.argument == kScratchBuffer && buffer.bytes > 0)
                    visit(buffer);
        }
    }
}

Status noMemory(ErrorText& error)
{
    error.set("no memory for an instance");
    return Status::NoMemory;
}

} // namespace

const DeviceDriver* findDriver(const ModelSource& source, const char* target)
{
    for (std::size_t i = 0; i < source.driverCount; ++i)
        if (isFor(*source.drivers[i], target))
            return source.drivers[i];
    return nullptr;
}

ModelDevices::~ModelDevices()
{
    if (m_image == nullptr)
        return;
    const std::uint64_t tensors = m_image->header->tensors.count;
    for (std::uint64_t i = 0; m_weights != nullptr && i < tensors; ++i) {
        if (m_weights[i] == nullptr)
            continue;
        for (std::uint64_t k = i + 1; k < tensors; ++k) // equal ones are released once
            if (m_weights[k] == m_weights[i])
                m_weights[k] = nullptr;
        driver(m_image->tensors[i].device).release(m_weights[i]);
    }
    freeArray(m_weights, tensors);
    for (std::uint32_t i = 0; i < m_count; ++i)
        if (m_devices[i].context != nullptr)
            m_devices[i].driver->close(m_devices[i].context);
    freeArray(m_devices, m_count);
}

Status ModelDevices::open(const Image& image, const ModelSource& source, ErrorText& error)
{
    m_image = &image;
    m_devices = makeArray<Opened>(image.header->devices.count);
    m_weights = makeArray<DeviceMemory*>(image.header->tensors.count);
    if (m_devices == nullptr || m_weights == nullptr)
        return noMemory(error);
    m_count = static_cast<std::uint32_t>(image.header->devices.count);
    for (std::uint32_t device = 1; device <= m_count; ++device)
        if (const Status status = openDevice(image, source, device, error); status != Status::Ok)
            return status;
    return fill(image, source, error);
}

Status ModelDevices::openDevice(const Image& image, const ModelSource& source, std::uint32_t device, ErrorText& error)
{
    const ImageDevice& wanted = image.devices[device - 1];
    const char* const target = image.string(wanted.target);
    Opened& opened = m_devices[device - 1];
    opened.driver = findDriver(source, target);
    if (opened.driver == nullptr) {
        error.set("the network has kernels for \"%s\", and this runtime has no driver for that kind of device", target);
        return Status::Damaged;
    }
    ContextRequest request;
    request.target = target;
    request.key = source.deviceKey;
    request.code = source.code;
    request.codeBytes = source.codeBytes;
    request.context = device == 1 ? source.deviceContext : nullptr;
    return opened.driver->open(request, &opened.context, error);
}

/// Uploads each stretch of weights once, however many tensors name it.
Status ModelDevices::fill(const Image& image, const ModelSource& source, ErrorText& error)
{
    for (std::uint64_t i = 0; i < image.header->tensors.count; ++i) {
        const ImageTensor& tensor = image.tensors[i];
        if (!isWeight(tensor) || tensor.device == 0 || tensor.bytes == 0)
            continue;
        for (std::uint64_t k = 0; k < i && m_weights[i] == nullptr; ++k) {
            const ImageTensor& other = image.tensors[k];
            if (isWeight(other) && other.device == tensor.device && other.offset == tensor.offset
                && other.bytes == tensor.bytes)
                m_weights[i] = m_weights[k];
        }
        if (m_weights[i] != nullptr)
            continue;
        const Status status = driver(tensor.device)
                                  .allocate(context(tensor.device), tensor.bytes, source.weights + tensor.offset,
                                            &m_weights[i], error);
        if (status != Status::Ok)
            return status;
    }
    return Status::Ok;
}

InstanceDevices::~InstanceDevices()
{
    if (m_devices == nullptr)
        return;
    const ImageHeader& header = *m_image->header;
    for (std::uint32_t i = 0; m_own != nullptr && i < m_devices->count(); ++i)
        if (m_own[i].queue != nullptr) { // nothing is released while the device uses it
            ErrorText ignored;
            m_devices->driver(i + 1).finish(m_own[i].queue, ignored);
        }
    for (std::uint64_t i = 0, launch = 0; m_launches != nullptr && i < header.instructions.count; ++i) {
        const ImageInstruction& in = m_image->instructions[i];
        if (in.device == 0)
            continue;
        for (std::uint32_t k = 0; k < in.phaseCount; ++k, ++launch)
            if (m_launches[launch] != nullptr)
                m_devices->driver(in.device).forget(m_launches[launch]);
    }
    freeArray(m_launches, m_launchCount);
    freeArray(m_firstLaunches, header.instructions.count);
    freeArray(m_memory, header.tensors.count);
    for (std::uint32_t i = 0; m_own != nullptr && i < m_devices->count(); ++i)
        if (m_own[i].queue != nullptr)
            m_devices->driver(i + 1).end(m_own[i].queue);
    freeArray(m_own, m_devices->count());
}

Status InstanceDevices::prepare(const Image& image, const ModelDevices& devices, void* queue, ErrorText& error)
{
    m_image = &image;
    m_devices = &devices;
    const ImageHeader& header = *image.header;
    std::uint64_t launches = 0;
    for (std::uint64_t i = 0; i < header.instructions.count; ++i)
        launches += image.instructions[i].device != 0 ? image.instructions[i].phaseCount : 0;
    if (launches > UINT32_MAX)
        return noMemory(error);
    m_own = makeArray<Own>(devices.count());
    m_memory = makeArray<DeviceMemory*>(header.tensors.count);
    m_firstLaunches = makeArray<std::uint32_t>(header.instructions.count);
    m_launches = makeArray<DeviceLaunch*>(launches);
    if (m_own == nullptr || m_memory == nullptr || m_firstLaunches == nullptr || m_launches == nullptr)
        return noMemory(error);
    m_launchCount = static_cast<std::uint32_t>(launches);
    for (std::uint32_t device = 1; device <= devices.count(); ++device)
        if (const Status status = devices.driver(device).start(devices.context(device), device == 1 ? queue : nullptr,
                                                               &m_own[device - 1].queue, error);
            status != Status::Ok)
            return status;
    if (const Status status = allocate(error); status != Status::Ok)
        return status;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < header.instructions.count; ++i) {
        m_firstLaunches[i] = first;
        if (image.instructions[i].device == 0)
            continue;
        if (const Status status = prepareLaunches(i, error); status != Status::Ok)
            return status;
        first += image.instructions[i].phaseCount;
    }
    return Status::Ok;
}

Status InstanceDevices::allocate(ErrorText& error)
{
    const ImageHeader& header = *m_image->header;
    const auto isOf = [](const ImageTensor& tensor, std::uint32_t device) {
        return tensor.device == device && tensor.bytes > 0 && !isWeight(tensor);
    };
    for (std::uint32_t device = 1; device <= m_devices->count(); ++device) {
        Own& own = m_own[device - 1];
        std::size_t scratch = 0;
        forEachScratch(*m_image, device, [&scratch](const ImageLaunchBuffer&) { ++scratch; });
        Status status = own.arena.reserve(header.tensors.count, error);
        if (status == Status::Ok)
            status = own.scratch.reserve(scratch, error);
        if (status != Status::Ok)
            return status;
        for (std::uint64_t i = 0; i < header.tensors.count; ++i)
            if (const ImageTensor& tensor = m_image->tensors[i]; isOf(tensor, device))
                own.arena.add(tensor.offset, tensor.bytes);
        forEachScratch(*m_image, device,
                       [&own](const ImageLaunchBuffer& buffer) { own.scratch.add(buffer.offset, buffer.bytes); });
        const DeviceDriver& driver = m_devices->driver(device);
        status = own.arena.allocate(driver, m_devices->context(device), error);
        if (status == Status::Ok)
            status = own.scratch.allocate(driver, m_devices->context(device), error);
        if (status != Status::Ok)
            return status;
        for (std::uint64_t i = 0; i < header.tensors.count; ++i) {
            const ImageTensor& tensor = m_image->tensors[i];
            if (tensor.device == device && tensor.bytes > 0)
                m_memory[i] = isWeight(tensor) ? m_devices->weights(static_cast<std::uint32_t>(i))
                                               : own.arena.at(tensor.offset);
        }
    }
    return Status::Ok;
}

Status InstanceDevices::prepareLaunches(std::uint32_t instruction, ErrorText& error)
{
    const ImageInstruction& in = m_image->instructions[instruction];
    const DeviceDriver& driver = m_devices->driver(in.device);
    const Own& own = m_own[in.device - 1];
    for (std::uint32_t l = 0; l < in.phaseCount; ++l) {
        const ImageLaunch& launch = m_image->launches[in.firstPhase + l];
        DeviceMemory** const buffers = makeArray<DeviceMemory*>(launch.bufferCount);
        if (buffers == nullptr)
            return noMemory(error);
        for (std::uint32_t b = 0; b < launch.bufferCount; ++b) {
            const ImageLaunchBuffer& buffer = m_image->launchBuffers[launch.firstBuffer + b];
            if (buffer.argument != kScratchBuffer)
                buffers[b] = m_memory[m_image->arguments[in.firstArgument + buffer.argument]];
            else if (buffer.bytes > 0)
                buffers[b] = own.scratch.at(buffer.offset);
        }
        LaunchRequest request;
        request.symbol = m_image->string(launch.symbol);
        std::memcpy(request.grid, launch.grid, sizeof request.grid);
        std::memcpy(request.block, launch.block, sizeof request.block);
        request.sharedBytes = launch.sharedBytes;
        request.buffers = buffers;
        request.bufferCount = launch.bufferCount;
        const Status status = driver.prepare(own.queue, request, &m_launches[m_firstLaunches[instruction] + l], error);
        freeArray(buffers, launch.bufferCount);
        if (status != Status::Ok)
            return status;
    }
    return Status::Ok;
}

Status InstanceDevices::adopt(void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error) const
{
    return m_devices->driver(1).adopt(m_devices->context(1), handle, bytes, memory, error);
}

bool InstanceDevices::fits(const DeviceMemory* memory, bool isInput) const
{
    return m_devices->driver(1).fits(memory, isInput);
}

bool InstanceDevices::overlap(const DeviceMemory* one, const DeviceMemory* other) const
{
    return m_devices->driver(1).overlaps(one, other);
}

void InstanceDevices::release(DeviceMemory* memory) const
{
    if (memory != nullptr)
        m_devices->driver(1).release(memory);
}

Status InstanceDevices::share(void* host, std::size_t bytes, bool isInput, DeviceMemory** memory,
                              ErrorText& error) const
{
    return m_devices->driver(1).share(m_devices->context(1), host, bytes, isInput, memory, error);
}

Status InstanceDevices::map(DeviceMemory* memory, void** host, ErrorText& error) const
{
    return m_devices->driver(1).map(m_own[0].queue, memory, host, error);
}

Status InstanceDevices::unmap(DeviceMemory* memory, ErrorText& error) const
{
    return m_devices->driver(1).unmap(m_own[0].queue, memory, error);
}

bool InstanceDevices::isInPlaceOf(const ImageTensor& tensor, Storage storage, std::uint64_t port) const
{
    if (tensor.inPlaceOf == 0 || tensor.device != 1)
        return false;
    const ImageTensor& of = m_image->tensors[tensor.inPlaceOf - 1];
    return of.storage == static_cast<std::uint32_t>(storage) && of.offset == port;
}

bool InstanceDevices::mayPlace(Storage storage, std::uint64_t port) const
{
    for (std::uint64_t i = 0; i < m_image->header->tensors.count; ++i)
        if (isInPlaceOf(m_image->tensors[i], storage, port))
            return true;
    return false;
}

Status InstanceDevices::place(Storage storage, std::uint64_t port, DeviceMemory* memory, ErrorText& error)
{
    const ImageHeader& header = *m_image->header;
    for (std::uint64_t i = 0; i < header.tensors.count; ++i)
        if (const ImageTensor& tensor = m_image->tensors[i]; isInPlaceOf(tensor, storage, port))
            m_memory[i] = memory != nullptr ? memory : m_own[0].arena.at(tensor.offset);
    for (std::uint64_t i = 0; i < header.instructions.count; ++i) {
        const ImageInstruction& in = m_image->instructions[i];
        for (std::uint32_t l = 0; in.device == 1 && l < in.phaseCount; ++l) {
            const ImageLaunch& launch = m_image->launches[in.firstPhase + l];
            for (std::uint32_t b = 0; b < launch.bufferCount; ++b) {
                const ImageLaunchBuffer& buffer = m_image->launchBuffers[launch.firstBuffer + b];
                if (buffer.argument == kScratchBuffer)
                    continue;
                const std::uint32_t tensor = m_image->arguments[in.firstArgument + buffer.argument];
                if (!isInPlaceOf(m_image->tensors[tensor], storage, port))
                    continue;
                if (const Status status = m_devices->driver(1).point(m_launches[m_firstLaunches[i] + l], b,
                                                                     m_memory[tensor], error);
                    status != Status::Ok)
                    return status;
            }
        }
    }
    return Status::Ok;
}

Status InstanceDevices::run(std::uint32_t instruction, ErrorText& error) const
{
    const ImageInstruction& in = m_image->instructions[instruction];
    const DeviceDriver& driver = m_devices->driver(in.device);
    for (std::uint32_t l = 0; l < in.phaseCount; ++l) {
        DeviceLaunch* const launch = m_launches[m_firstLaunches[instruction] + l];
        if (const Status status = driver.launch(m_own[in.device - 1].queue, launch, error); status != Status::Ok)
            return status;
    }
    return Status::Ok;
}

Status InstanceDevices::copy(std::uint32_t device, DeviceMemory* from, DeviceMemory* to, std::size_t bytes,
                             ErrorText& error) const
{
    return bytes == 0 ? Status::Ok : m_devices->driver(device).copy(m_own[device - 1].queue, from, to, bytes, error);
}

Status InstanceDevices::write(std::uint32_t device, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                              ErrorText& error) const
{
    return bytes == 0 ? Status::Ok
                      : m_devices->driver(device).write(m_own[device - 1].queue, to, from, bytes, wait, error);
}

Status InstanceDevices::read(std::uint32_t device, void* to, DeviceMemory* from, std::size_t bytes, bool wait,
                             ErrorText& error) const
{
    return bytes == 0 ? Status::Ok
                      : m_devices->driver(device).read(m_own[device - 1].queue, to, from, bytes, wait, error);
}

Status InstanceDevices::finish(ErrorText& error) const
{
    Status result = Status::Ok;
    for (std::uint32_t device = 1; any() && device <= m_devices->count(); ++device) {
        const Status status = m_devices->driver(device).finish(m_own[device - 1].queue, error);
        result = result == Status::Ok ? status : result;
    }
    return result;
}

Status InstanceDevices::beginRun(ErrorText& error) const
{
    Status result = Status::Ok;
    for (std::uint32_t device = 1; any() && device <= m_devices->count() && result == Status::Ok; ++device)
        if (const DeviceDriver& driver = m_devices->driver(device); driver.beginRun != nullptr)
            result = driver.beginRun(m_own[device - 1].queue, error);
    return result;
}

Status InstanceDevices::endRun(ErrorText& error) const
{
    Status result = Status::Ok;
    for (std::uint32_t device = 1; any() && device <= m_devices->count(); ++device)
        if (const DeviceDriver& driver = m_devices->driver(device); driver.endRun != nullptr) {
            ErrorText why;
            const Status status = driver.endRun(m_own[device - 1].queue, why);
            if (result == Status::Ok && status != Status::Ok)
                error = why;
            result = result == Status::Ok ? status : result;
        }
    return result;
}

} // namespace lathe::runtime
