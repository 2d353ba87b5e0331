#include "core/runtime/array.h"
#include "core/runtime/executor.h"

#include <cstring>

namespace lathe::runtime {

Status Model::open(const ModelSource& source, bool copyWeights, ErrorText& error)
{
    if (!openImage(source.description, source.descriptionBytes, m_image, error))
        return Status::Damaged;
    const ImageHeader& header = *m_image.header;
    if (header.weightsBytes > source.weightsBytes || header.phaseCount != source.phaseCount) {
        error.set("the library's weights or kernels do not belong to its model description");
        return Status::Damaged;
    }
    m_phases = source.phases;
    if (header.devices.count > 0)
        if (const Status status = m_devices.open(m_image, source, error); status != Status::Ok)
            return status;
    m_weights = source.weights;
    const bool aligned = reinterpret_cast<std::uintptr_t>(source.weights) % kTensorAlignment == 0;
    if (header.weightsBytes == 0 || (!copyWeights && aligned))
        return Status::Ok;
    if (!findStretches()) {
        error.set("no memory for the model");
        return Status::NoMemory;
    }
    const Stretch* const last = m_stretches + m_stretchCount - 1;
    const std::uint64_t bytes = m_stretchCount > 0 ? last->place + (last->end - last->first) : 0;
    if (bytes > 0 && !m_copy.allocate(bytes, true)) {
        error.set("no memory for %llu bytes of weights", static_cast<unsigned long long>(bytes));
        return Status::NoMemory;
    }
    for (const Stretch* stretch = m_stretches; stretch != m_stretches + m_stretchCount; ++stretch)
        std::memcpy(m_copy.data() + stretch->place, source.weights + stretch->first, stretch->end - stretch->first);
    m_weights = m_copy.data();
    return Status::Ok;
}

Model::~Model()
{
    freeArray(m_stretches, m_stretchRoom);
}

/// Sorts what the tensors use, and joins what touches.
bool Model::findStretches()
{
    const ImageHeader& header = *m_image.header;
    const auto isWeight = [&](std::uint64_t i) {
        return m_image.tensors[i].storage == static_cast<std::uint32_t>(Storage::Weights)
               && m_image.tensors[i].device == 0 && m_image.tensors[i].bytes > 0;
    };
    for (std::uint64_t i = 0; i < header.tensors.count; ++i)
        m_stretchRoom += isWeight(i) ? 1 : 0;
    m_stretches = makeArray<Stretch>(m_stretchRoom);
    if (m_stretches == nullptr)
        return false;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < header.tensors.count; ++i) {
        if (!isWeight(i))
            continue;
        // Mostly they come in order already.
        const ImageTensor& tensor = m_image.tensors[i];
        std::uint64_t at = count++;
        for (; at > 0 && m_stretches[at - 1].first > tensor.offset; --at)
            m_stretches[at] = m_stretches[at - 1];
        m_stretches[at] = Stretch{tensor.offset, tensor.offset + tensor.bytes, 0};
    }
    const auto roundUp = [](std::uint64_t bytes) {
        return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
        const Stretch next = m_stretches[i];
        Stretch* const last = m_stretchCount > 0 ? m_stretches + m_stretchCount - 1 : nullptr;
        if (last != nullptr && next.first <= roundUp(last->end))
            last->end = next.end > last->end ? next.end : last->end;
        else
            m_stretches[m_stretchCount++] = Stretch{
                next.first, next.end, last != nullptr ? last->place + roundUp(last->end - last->first) : 0};
    }
    return true;
}

const std::byte* Model::weightsAt(std::uint64_t offset) const
{
    if (m_stretches == nullptr)
        return m_weights + offset;
    if (m_stretchCount == 0 || offset < m_stretches[0].first)
        return m_weights; // of a tensor without elements
    std::uint64_t low = 0, high = m_stretchCount; // the last one that begins at or before it
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (m_stretches[middle].first <= offset ? low : high) = middle;
    }
    return m_weights + m_stretches[low].place + (offset - m_stretches[low].first);
}

} // namespace lathe::runtime
