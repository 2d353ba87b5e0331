#include "plugins/sim/interpreter.h"

#include "core/runtime/kernel_form.h"
#include "plugins/sim/launch_machine.h"
#include "plugins/sim/machine.h"

#include <algorithm>
#include <cstring>

namespace lathe::sim {

namespace {

/// How many children a node must at least have.
std::uint32_t minChildren(NodeKind kind)
{
    switch (kind) {
    case NodeKind::IntImm:
    case NodeKind::FloatImm:
    case NodeKind::Var:
    case NodeKind::Load:
    case NodeKind::Block:
    case NodeKind::Barrier:
    case NodeKind::Commit:
    case NodeKind::Wait: return 0;
    case NodeKind::Not:
    case NodeKind::Cast:
    case NodeKind::Call:
    case NodeKind::Copy:
    case NodeKind::Store:
    case NodeKind::Shuffle: return 1;
    case NodeKind::Select:
    case NodeKind::For: return 3;
    default: return 2;
    }
}

template<typename T>
bool take(const char*& at, const char* end, std::uint32_t count, std::vector<T>& out)
{
    if (static_cast<std::size_t>(end - at) / sizeof(T) < count)
        return false;
    out.resize(count);
    if (count > 0)
        std::memcpy(out.data(), at, count * sizeof(T));
    at += count * sizeof(T);
    return true;
}

} // namespace

std::string Program::read(const void* bytes, std::size_t size)
{
    const auto* at = static_cast<const char*>(bytes);
    const char* const end = at + size;
    Header header;
    if (size < sizeof header)
        return "the artifact is cut off";
    std::memcpy(&header, at, sizeof header);
    at += sizeof header;
    if (header.magic != kMagic)
        return "the artifact is no program of the simulator";
    if (!take(at, end, header.kernels, m_kernels) || !take(at, end, header.launches, m_launches)
        || !take(at, end, header.buffers, m_buffers) || !take(at, end, header.nodes, m_nodes)
        || !take(at, end, header.children, m_children) || !take(at, end, header.texts, m_texts) || at != end)
        return "the artifact is cut off";
    for (const Buffer& b : m_buffers) {
        if (b.dims > kMaxDims || b.elements < 1 || b.elements > (std::int64_t(1) << 36) || b.dtype > DType::F64)
            return "the artifact has a buffer that is out of range";
        std::int64_t last = 0;
        for (int d = 0; d < b.dims; ++d) {
            if (b.shape[d] < 1 || b.strides[d] < 0 || b.shape[d] > (std::int64_t(1) << 30)
                || b.strides[d] > (std::int64_t(1) << 30))
                return "the artifact has a buffer that is out of range";
            last += (b.shape[d] - 1) * b.strides[d];
            if (last >= b.elements)
                return "the artifact has a buffer that is larger than it says";
        }
    }
    if (std::string problem = checkKernels(); !problem.empty())
        return problem;
    return checkNodes();
}

std::string Program::checkKernels() const
{
    const auto isText = [this](std::uint32_t at) { return at < m_texts.size(); };
    if (m_texts.empty() || m_texts.back() != '\0')
        return "the artifact has texts without an end";
    for (const Buffer& b : m_buffers)
        if (!isText(b.name) || b.place > Place::Thread)
            return "the artifact has a buffer that is out of range";
    std::int32_t before = -1; // root of the kernel before: the nodes above it are of this one alone
    for (const Kernel& k : m_kernels) {
        if (k.root <= before)
            return "the artifact has kernels whose statements are not apart";
        if (k.bufferCount > m_buffers.size() || k.firstBuffer > m_buffers.size() - k.bufferCount
            || static_cast<std::size_t>(k.root) >= m_nodes.size() || k.variables > 65536
            || k.launchCount > m_launches.size() || k.firstLaunch > m_launches.size() - k.launchCount)
            return "the artifact has a kernel that is out of range";
        for (std::uint32_t l = 0; l < k.launchCount; ++l) {
            const Launch& launch = m_launches[k.firstLaunch + l];
            // Between two roots, and so one of the kernel's own statements, which keep to its limits.
            bool right = isText(launch.name) && launch.body > before && launch.body < k.root && launch.sharedBytes >= 0;
            std::int64_t threads = 1, blocks = 1;
            for (int d = 0; d < 3 && right; ++d) {
                right = launch.grid[d] >= 1 && launch.grid[d] <= kMostBlocks && launch.block[d] >= 1
                        && launch.block[d] <= kMostThreads
                        && static_cast<std::uint32_t>(launch.blockSlots[d]) < k.variables
                        && static_cast<std::uint32_t>(launch.threadSlots[d]) < k.variables
                        && blocks <= kMostBlocks / launch.grid[d];
                threads *= launch.block[d];
                blocks *= launch.grid[d];
            }
            if (!right || threads > kMostThreads)
                return "the artifact has a launch that is out of range";
        }
        before = k.root;
    }
    return {};
}

std::string Program::checkNodes() const
{
    const Kernel* kernel = m_kernels.data(); // nodes lie in the order of kernels, roots last
    std::size_t first = 0; // of the kernel's nodes
    for (std::size_t n = 0; n < m_nodes.size(); ++n) {
        while (kernel != m_kernels.data() + m_kernels.size() && static_cast<std::size_t>(kernel->root) < n) {
            first = n;
            ++kernel;
        }
        if (kernel == m_kernels.data() + m_kernels.size())
            return "the artifact has statements of no kernel";
        const Node& node = m_nodes[n];
        const bool stores = node.kind == NodeKind::Store || node.kind == NodeKind::Copy
                            || node.kind == NodeKind::Shuffle;
        const bool access = node.kind == NodeKind::Load || stores;
        const std::uint32_t limit = access ? kernel->bufferCount : kernel->variables;
        if (node.kind > NodeKind::Shuffle || node.dtype > DType::F64
            || node.function > static_cast<int>(Function::Log1p) || node.childCount < minChildren(node.kind)
            || node.childCount > m_children.size() || node.firstChild > m_children.size() - node.childCount
            || ((access || node.kind == NodeKind::Var || node.kind == NodeKind::For)
                && (node.index < 0 || static_cast<std::uint32_t>(node.index) >= limit)))
            return "the artifact has a statement that is out of range";
        if (node.kind == NodeKind::Shuffle
            && (node.reserved > 7 || node.function >= node.reserved
                || m_buffers[kernel->firstBuffer + static_cast<std::uint32_t>(node.index)].place != Place::Thread))
            return "the artifact has a shuffle that is out of range";
        const bool isStatement = node.kind >= NodeKind::For;
        if (isStatement && (node.intValue < 0 || static_cast<std::uint64_t>(node.intValue) >= m_texts.size()))
            return "the artifact has a statement without its text";
        if (access
            && node.childCount - (stores ? 1u : 0u)
                   != m_buffers[kernel->firstBuffer + static_cast<std::uint32_t>(node.index)].dims)
            return "the artifact has an access with the wrong number of indices";
        for (std::uint32_t c = 0; c < node.childCount; ++c) {
            const std::int32_t child = m_children[node.firstChild + c];
            if (child < 0 || static_cast<std::size_t>(child) >= n)
                return "the artifact has a statement that contains itself";
            if (static_cast<std::size_t>(child) < first)
                return "the artifact has a statement that contains one of another kernel";
        }
    }
    return {};
}

std::size_t Program::parameterBytes(const Kernel& kernel, std::uint32_t parameter) const
{
    std::size_t bytes = 0;
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
        const Buffer& buffer = m_buffers[kernel.firstBuffer + b];
        if (buffer.parameter == static_cast<std::int32_t>(parameter)) // a damaged program may name it twice
            bytes = std::max(bytes, static_cast<std::size_t>(buffer.elements * sizeOf(buffer.dtype)));
    }
    return bytes;
}

std::string Program::run(const Kernel& kernel, void* const* parameters) const
{
    const ProgramView view{buffers(kernel), m_nodes.data(), m_children.data(), launches(kernel), m_texts.data()};
    if (kernel.launchCount > 0) {
        LaunchMachine machine(kernel, view, parameters);
        machine.run();
        return machine.problem();
    }
    PhaseMachine machine(kernel, view, parameters);
    machine.execute(kernel.root);
    return machine.problem();
}

} // namespace lathe::sim
