#include "core/runtime/image.h"

#include "core/runtime/layout_transform.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace lathe::runtime {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "descriptions are little endian and read in place");

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

/// Looks at a table only after its place in the block is known to be inside it.
class Checker
{
public:
    Checker(const std::byte* description, std::size_t bytes, Image& image, ErrorText& error)
        : m_data(description)
        , m_bytes(bytes)
        , m_image(image)
        , m_error(error)
    {
    }

    bool run()
    {
        return header() && tables() && devices() && launches() && tensors() && ports() && extents() && instructions();
    }

private:
    bool header()
    {
        if (m_bytes < sizeof(ImageHeader) || reinterpret_cast<std::uintptr_t>(m_data) % 8 != 0)
            return fail("the model description is shorter than its header");
        const auto& h = *reinterpret_cast<const ImageHeader*>(m_data);
        m_image.header = &h;
        if (std::memcmp(h.magic, kImageMagic, sizeof kImageMagic) != 0)
            return fail("this is no model description");
        if (h.version != kImageVersion || h.headerBytes != sizeof(ImageHeader)) {
            m_error.set("the model description has version %u, this runtime reads version %u", h.version,
                        kImageVersion);
            return false;
        }
        if (h.totalBytes != m_bytes)
            return fail("the model description is cut short or too long");
        if (h.checksum != imageChecksum(m_data, m_bytes))
            return fail("the model description is damaged: its checksum differs");
        if (h.arenaBytes > kMostBytes || h.weightsBytes > kMostBytes || h.teamScratchBytes > kMostBytes
            || h.partScratchBytes > kMostBytes || h.partScratchBytes % kTensorAlignment != 0)
            return fail("the model description asks for absurd amounts of memory");
        return true;
    }

    template<typename T>
    bool table(const ImageTable& where, const T*& start, const char* what)
    {
        if (where.offset % 8 != 0 || where.offset > m_bytes || where.count > (m_bytes - where.offset) / sizeof(T)
            || where.count > UINT32_MAX) {
            m_error.set("the model description is damaged: its table of %s lies outside", what);
            return false;
        }
        start = reinterpret_cast<const T*>(m_data + where.offset);
        return true;
    }

    bool tables()
    {
        const ImageHeader& h = *m_image.header;
        if (!table(h.tensors, m_image.tensors, "tensors") || !table(h.axes, m_image.axes, "axes")
            || !table(h.instructions, m_image.instructions, "instructions")
            || !table(h.arguments, m_image.arguments, "arguments") || !table(h.inputs, m_image.inputs, "inputs")
            || !table(h.outputs, m_image.outputs, "outputs") || !table(h.extents, m_image.extents, "extents")
            || !table(h.strings, m_image.strings, "strings") || !table(h.features, m_image.features, "features")
            || !table(h.devices, m_image.devices, "devices") || !table(h.launches, m_image.launches, "launches")
            || !table(h.launchBuffers, m_image.launchBuffers, "launch buffers"))
            return false;
        if (h.strings.count == 0 || m_image.strings[h.strings.count - 1] != '\0' || h.name >= h.strings.count
            || h.target >= h.strings.count)
            return fail("the model description is damaged: its strings do not end");
        for (std::uint64_t i = 0; i < h.features.count; ++i)
            if (m_image.features[i] >= h.strings.count)
                return failAt("feature", i);
        return true;
    }

    bool devices()
    {
        const ImageHeader& h = *m_image.header;
        if (h.devices.count > kMostDevices)
            return fail("the model description is damaged: it has too many devices");
        for (std::uint64_t i = 0; i < h.devices.count; ++i) {
            const ImageDevice& device = m_image.devices[i];
            if (device.target >= h.strings.count || device.reserved != 0 || device.arenaBytes > kMostBytes
                || device.scratchBytes > kMostBytes || device.alignment < kTensorAlignment
                || device.alignment > kMostAlignment || (device.alignment & (device.alignment - 1)) != 0)
                return failAt("device", i);
        }
        return true;
    }

    /// But for scratch, which is that of the instruction's device.
    bool launches()
    {
        const ImageHeader& h = *m_image.header;
        for (std::uint64_t i = 0; i < h.launches.count; ++i) {
            const ImageLaunch& launch = m_image.launches[i];
            std::uint64_t threads = 1;
            bool right = launch.symbol < h.strings.count && m_image.strings[launch.symbol] != '\0'
                         && launch.bufferCount <= kMostLaunches && launch.firstBuffer <= h.launchBuffers.count
                         && launch.bufferCount <= h.launchBuffers.count - launch.firstBuffer
                         && launch.sharedBytes <= kMostSharedBytes;
            for (int d = 0; right && d < 3; ++d) {
                right = launch.grid[d] >= 1 && launch.grid[d] <= kMostBlocks && launch.block[d] >= 1
                        && launch.block[d] <= kMostThreads;
                threads *= launch.block[d];
            }
            right = right && threads <= kMostThreads;
            for (std::uint32_t b = 0; right && b < launch.bufferCount; ++b) {
                const ImageLaunchBuffer& buffer = m_image.launchBuffers[launch.firstBuffer + b];
                right = buffer.reserved == 0
                        && (buffer.argument == kScratchBuffer
                                ? buffer.offset <= kMostBytes && buffer.bytes <= kMostBytes
                                : buffer.argument < launch.argumentCount && buffer.offset == 0 && buffer.bytes == 0);
            }
            if (!right)
                return failAt("launch", i);
        }
        return true;
    }

    /// Whether an instruction may run these launches on the device.
    bool hold(const ImageInstruction& in) const
    {
        const ImageHeader& h = *m_image.header;
        const ImageDevice& device = m_image.devices[in.device - 1];
        if (in.phaseCount == 0 || in.phaseCount > kMostLaunches || in.firstPhase > h.launches.count
            || in.phaseCount > h.launches.count - in.firstPhase)
            return false;
        for (std::uint32_t l = 0; l < in.phaseCount; ++l) {
            const ImageLaunch& launch = m_image.launches[in.firstPhase + l];
            if (launch.argumentCount != in.argumentCount)
                return false;
            for (std::uint32_t b = 0; b < launch.bufferCount; ++b) {
                const ImageLaunchBuffer& buffer = m_image.launchBuffers[launch.firstBuffer + b];
                if (buffer.argument == kScratchBuffer
                    && (buffer.offset % device.alignment != 0 || buffer.offset > device.scratchBytes
                        || buffer.bytes > device.scratchBytes - buffer.offset))
                    return false;
            }
        }
        return true;
    }

    bool tensors()
    {
        const ImageHeader& h = *m_image.header;
        for (std::uint64_t i = 0; i < h.tensors.count; ++i) {
            const ImageTensor& t = m_image.tensors[i];
            if (t.name >= h.strings.count || t.dtype > static_cast<std::uint32_t>(DType::F64) || t.logicalRank < 0
                || t.logicalRank > kMaxRank || t.physicalRank < 0 || t.physicalRank > kMaxPhysicalRank
                || t.firstAxis > h.axes.count
                || static_cast<std::uint64_t>(t.physicalRank) > h.axes.count - t.firstAxis)
                return failAt("tensor", i);
            for (std::uint64_t j = t.firstAxis; j < t.firstAxis + static_cast<std::uint64_t>(t.physicalRank); ++j)
                if (m_image.axes[j].dim < 0 || m_image.axes[j].dim >= t.logicalRank)
                    return failAt("tensor", i);
            const IndexMap map = m_image.map(t);
            if (!isWellFormed(map)
                || t.bytes
                       != static_cast<std::uint64_t>(map.elementCount())
                              * static_cast<std::uint64_t>(sizeOf(static_cast<DType>(t.dtype))))
                return failAt("tensor", i);
            if (t.device > h.devices.count || (t.inPlaceOf != 0 && !mayLieInPlace(t)))
                return failAt("tensor", i);
            bool inside = false;
            switch (static_cast<Storage>(t.storage)) {
            case Storage::Arena:
                inside = t.device == 0 ? holds(h.arenaBytes, t)
                                       : holds(m_image.devices[t.device - 1].arenaBytes, t)
                                             && t.offset % m_image.devices[t.device - 1].alignment == 0;
                break;
            case Storage::Weights: inside = holds(h.weightsBytes, t); break;
            case Storage::Input: inside = t.device == 0 && t.offset < h.inputs.count; break;
            case Storage::Output: inside = t.device == 0 && t.offset < h.outputs.count; break;
            }
            if (!inside)
                return failAt("tensor", i);
        }
        return true;
    }

    static bool holds(std::uint64_t room, const ImageTensor& t)
    {
        return t.offset % kTensorAlignment == 0 && t.offset <= room && t.bytes <= room - t.offset;
    }

    bool mayLieInPlace(const ImageTensor& t) const
    {
        if (t.inPlaceOf > m_image.header->tensors.count || t.device == 0
            || t.storage != static_cast<std::uint32_t>(Storage::Arena))
            return false;
        const ImageTensor& port = m_image.tensors[t.inPlaceOf - 1];
        const auto storage = static_cast<Storage>(port.storage);
        return (storage == Storage::Input || storage == Storage::Output) && port.bytes == t.bytes;
    }

    bool ports(const ImagePort* first, std::uint64_t count, Storage storage, const char* what)
    {
        for (std::uint64_t i = 0; i < count; ++i) {
            const ImagePort& port = first[i];
            if (port.tensor >= m_image.header->tensors.count || port.layout >= m_image.header->strings.count)
                return failAt(what, i);
            const ImageTensor& t = m_image.tensors[port.tensor];
            if (t.storage != static_cast<std::uint32_t>(storage) || t.offset != i || !m_image.map(t).isPlain())
                return failAt(what, i);
        }
        // Other views of a port's buffer (its reshapes) must fit into it.
        for (std::uint64_t i = 0; i < m_image.header->tensors.count; ++i) {
            const ImageTensor& t = m_image.tensors[i];
            if (t.storage == static_cast<std::uint32_t>(storage)
                && t.bytes > m_image.tensors[first[t.offset].tensor].bytes)
                return failAt("tensor", i);
        }
        return true;
    }
    bool ports()
    {
        const ImageHeader& h = *m_image.header;
        return ports(m_image.inputs, h.inputs.count, Storage::Input, "input")
               && ports(m_image.outputs, h.outputs.count, Storage::Output, "output");
    }

    bool extents()
    {
        const ImageHeader& h = *m_image.header;
        for (std::uint64_t i = 0; i < h.extents.count; ++i) {
            const ImageExtent& extent = m_image.extents[i];
            if (extent.output >= h.outputs.count || extent.count >= h.tensors.count || extent.reserved != 0)
                return failAt("extent", i);
            const ImageTensor& output = m_image.tensors[m_image.outputs[extent.output].tensor];
            const ImageTensor& count = m_image.tensors[extent.count];
            if (extent.axis >= static_cast<std::uint32_t>(output.logicalRank)
                || count.dtype != static_cast<std::uint32_t>(DType::I64) || count.bytes != sizeof(std::int64_t)
                || count.device != 0)
                return failAt("extent", i);
        }
        return true;
    }

    bool instructions()
    {
        const ImageHeader& h = *m_image.header;
        for (std::uint64_t i = 0; i < h.arguments.count; ++i)
            if (m_image.arguments[i] >= h.tensors.count)
                return failAt("argument", i);
        Nesting nesting(h.instructions.count);
        for (std::uint64_t i = 0; i < h.instructions.count; ++i) {
            const ImageInstruction& in = m_image.instructions[i];
            nesting.reach(i);
            if (in.name >= h.strings.count || in.firstArgument > h.arguments.count
                || in.argumentCount > h.arguments.count - in.firstArgument || in.outputCount > in.argumentCount
                || in.device > h.devices.count)
                return failAt("instruction", i);
            const std::uint32_t* const arguments = m_image.arguments + in.firstArgument;
            const auto kind = static_cast<InstructionKind>(in.kind);
            if (kind != InstructionKind::Kernel && in.device != 0)
                return failAt("instruction", i);
            for (std::uint32_t k = 0; k < in.argumentCount; ++k)
                if (kind != InstructionKind::Copy && m_image.tensors[arguments[k]].device != in.device)
                    return failAt("instruction", i);
            for (std::uint32_t k = in.argumentCount - in.outputCount; k < in.argumentCount; ++k) {
                const ImageTensor& written = m_image.tensors[arguments[k]];
                const auto storage = static_cast<Storage>(written.storage);
                const bool isInput = storage == Storage::Input
                                     || (kind != InstructionKind::Copy && written.inPlaceOf != 0
                                         && static_cast<Storage>(m_image.tensors[written.inPlaceOf - 1].storage)
                                                == Storage::Input);
                if (storage == Storage::Weights || isInput)
                    return failAt("instruction", i);
            }
            switch (kind) {
            case InstructionKind::Kernel:
                if (in.device != 0 ? !hold(in)
                                   : in.phaseCount == 0 || in.firstPhase > h.phaseCount
                                         || in.phaseCount > h.phaseCount - in.firstPhase)
                    return failAt("instruction", i);
                break;
            case InstructionKind::Copy:
            case InstructionKind::Transform: {
                if (in.argumentCount != 2 || in.outputCount != 1 || in.phaseCount != 0)
                    return failAt("instruction", i);
                const ImageTensor& from = m_image.tensors[arguments[0]];
                const ImageTensor& to = m_image.tensors[arguments[1]];
                bool equal = from.dtype == to.dtype && from.logicalRank == to.logicalRank;
                for (int d = 0; equal && d < from.logicalRank; ++d)
                    equal = from.shape[d] == to.shape[d];
                if (overlap(from, to) || (kind == InstructionKind::Copy ? from.bytes != to.bytes : !equal))
                    return failAt("instruction", i);
                break;
            }
            case InstructionKind::Branch:
                if (in.argumentCount != 1 || in.outputCount != 0 || !isOne(arguments[0], DType::Bool)
                    || !nesting.open(i + 1, in.phaseCount, in.firstPhase))
                    return failAt("instruction", i);
                break;
            case InstructionKind::Loop:
                if (in.argumentCount != 3 || in.outputCount != 1 || in.firstPhase != 0
                    || !isOne(arguments[0], DType::I64) || !isOne(arguments[1], DType::Bool)
                    || !isOne(arguments[2], DType::I64) || !nesting.open(i + 1, in.phaseCount, 0))
                    return failAt("instruction", i);
                break;
            case InstructionKind::Row: {
                if (in.argumentCount != 3 || in.outputCount != 1 || in.phaseCount != 0 || in.firstPhase != 0
                    || !isOne(arguments[1], DType::I64))
                    return failAt("instruction", i);
                const ImageTensor& row = m_image.tensors[arguments[0]];
                const ImageTensor& rows = m_image.tensors[arguments[2]];
                if (row.dtype != rows.dtype || (row.bytes == 0 ? rows.bytes != 0 : rows.bytes % row.bytes != 0)
                    || overlap(row, rows))
                    return failAt("instruction", i);
                break;
            }
            case InstructionKind::Swap:
                if (in.argumentCount != 2 || in.outputCount != 2 || in.phaseCount != 0 || in.firstPhase != 0
                    || !mayTrade(m_image.tensors[arguments[0]], m_image.tensors[arguments[1]]))
                    return failAt("instruction", i);
                break;
            default: return failAt("instruction", i);
            }
        }
        return true;
    }

    /// Where the stretches of instructions that are open at one of them end, the innermost last.
    class Nesting
    {
    public:
        explicit Nesting(std::uint64_t count)
            : m_count(count)
        {
        }
        void reach(std::uint64_t instruction)
        {
            while (m_depth > 0 && m_ends[m_depth - 1] == instruction)
                --m_depth;
        }
        /// Two stretches from `first` on. False if they reach out of what is around them.
        bool open(std::uint64_t first, std::uint64_t one, std::uint64_t other)
        {
            const std::uint64_t end = m_depth > 0 ? m_ends[m_depth - 1] : m_count;
            if (m_depth + 2 > kDeepestControl || one > end - first || other > end - first - one)
                return false;
            m_ends[m_depth++] = first + one + other;
            m_ends[m_depth++] = first + one;
            return true;
        }

    private:
        std::uint64_t m_count;
        std::uint64_t m_ends[kDeepestControl] = {};
        std::uint32_t m_depth = 0;
    };

    bool isOne(std::uint32_t tensor, DType dtype) const
    {
        const ImageTensor& t = m_image.tensors[tensor];
        return t.dtype == static_cast<std::uint32_t>(dtype) && t.bytes == static_cast<std::uint64_t>(sizeOf(dtype));
    }

    /// Whether every tensor of the arena stays inside of it when these two trade places.
    bool mayTrade(const ImageTensor& a, const ImageTensor& b) const
    {
        constexpr auto kArena = static_cast<std::uint32_t>(Storage::Arena);
        if (a.storage != kArena || b.storage != kArena || a.bytes != b.bytes || a.bytes == 0 || overlap(a, b))
            return false;
        const auto isApartOrIn = [](const ImageTensor& t, const ImageTensor& traded) {
            return !overlap(t, traded)
                   || (t.offset >= traded.offset && t.offset + t.bytes <= traded.offset + traded.bytes);
        };
        for (std::uint64_t i = 0; i < m_image.header->tensors.count; ++i)
            if (const ImageTensor& t = m_image.tensors[i];
                t.storage == kArena && t.device == a.device && !(isApartOrIn(t, a) && isApartOrIn(t, b)))
                return false;
        return true;
    }

    static bool overlap(const ImageTensor& a, const ImageTensor& b)
    {
        if (a.storage != b.storage || a.device != b.device)
            return false;
        return a.storage == static_cast<std::uint32_t>(Storage::Output)
                   ? a.offset == b.offset
                   : a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    }

    bool fail(const char* sentence)
    {
        m_error.set("%s", sentence);
        return false;
    }
    bool failAt(const char* what, std::uint64_t index)
    {
        m_error.set("the model description is damaged: its %s %llu does not hold together", what,
                    static_cast<unsigned long long>(index));
        return false;
    }

    const std::byte* m_data;
    std::size_t m_bytes;
    Image& m_image;
    ErrorText& m_error;
};

} // namespace

void ErrorText::set(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

IndexMap Image::map(const ImageTensor& tensor) const
{
    IndexMap map;
    map.logicalRank = tensor.logicalRank;
    map.physicalRank = tensor.physicalRank;
    for (int d = 0; d < tensor.logicalRank; ++d)
        map.logicalShape[d] = tensor.shape[d];
    for (int j = 0; j < tensor.physicalRank; ++j) {
        const ImageAxis& axis = axes[tensor.firstAxis + static_cast<std::uint32_t>(j)];
        map.axes[j] = IndexMap::Axis{static_cast<std::int32_t>(axis.dim), axis.div, axis.extent, axis.stride};
    }
    return map;
}

bool openImage(const std::byte* description, std::size_t bytes, Image& image, ErrorText& error)
{
    image = Image{};
    if (Checker(description, bytes, image, error).run())
        return true;
    image = Image{};
    return false;
}

std::uint64_t imageChecksum(const std::byte* description, std::size_t bytes)
{
    constexpr std::size_t kHole = offsetof(ImageHeader, checksum);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, description + i, bytes - i < 8 ? bytes - i : 8);
        if (i == kHole)
            word = 0;
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32; // high bits of a word would never reach the low half otherwise
    }
    return hash;
}

} // namespace lathe::runtime
