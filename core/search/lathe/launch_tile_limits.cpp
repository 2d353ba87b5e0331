#include "core/ir/bounds.h"
#include "core/schedule/bound_inference.h"
#include "core/search/lathe/launch_tile_part.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <cmath>

// What a tile takes of a block's memory and a thread's registers, and which tiles a device can run or should.

namespace lathe::search {

namespace {

constexpr std::int64_t kMostSums = 128; ///< statements of a tile
constexpr double kMostGuarded = 128; ///< statements that are written out where each has a condition of its own: padding

} // namespace

LaunchTilePart::Box LaunchTilePart::box(const Choice& c, std::size_t operand) const
{
    const Operand& o = m_operands[operand];
    Box b;
    for (std::size_t d = 0; d < o.indices.size(); ++d) {
        std::int64_t span = 1;
        for (std::size_t a = 0; a < m_rank; ++a)
            span += std::abs(o.indices[d].spatial[a]) * (reach(c, a) - 1);
        for (std::size_t r = 0; r < m_reduces; ++r)
            span += std::abs(o.indices[d].reduce[r]) * (std::min(c.steps[r], length(c, r)) - 1);
        b.shape.push_back(schedule::isPastEdge(span, o.shape[d]) ? span : std::min(span, o.shape[d]));
    }
    b.order = c.turn != 0 ? packedOrder(operand) : memoryOrder(c, operand);
    std::int64_t stride = 1;
    b.strides.assign(b.shape.size(), 1);
    for (std::size_t j = b.order.size(); j-- > 0;) {
        const auto d = static_cast<std::size_t>(b.order[j]);
        if (j + 2 == b.order.size())
            stride += c.padding;
        b.strides[d] = stride;
        stride *= b.shape[d];
    }
    b.elements = 1;
    for (std::size_t d = 0; d < b.shape.size(); ++d)
        b.elements += (b.shape[d] - 1) * b.strides[d];
    return b;
}

std::int64_t LaunchTilePart::sharedBytes(const Choice& c) const
{
    constexpr std::int64_t kAligned = 16;
    std::int64_t bytes = 0;
    const auto add = [&bytes](std::int64_t more) { bytes += ir::ceilDivide(more, kAligned) * kAligned; };
    for (std::size_t i = 0; i < m_operands.size(); ++i)
        if (isStaged(c, i))
            add(box(c, i).elements * m_operands[i].elementBytes);
    bytes *= c.stages;
    if (m_form == LaunchForm::Slices) {
        std::int64_t elements = c.slices;
        for (std::size_t a = 0; a < m_rank; ++a) {
            const std::int64_t region = std::min(tile(c, a), m_op.shape[a]), part = std::min(own(c, a), region);
            elements *= ir::ceilDivide(region, part) * part;
        }
        add(elements * sizeOf(m_op.dtype));
    }
    return bytes;
}

double LaunchTilePart::registers(const Choice& c) const
{
    double sums = 1;
    for (const std::size_t a : m_tiled)
        sums *= static_cast<double>(own(c, a) * c.virtuals[a]);
    double fragments = 0;
    for (const Operand& o : m_operands) {
        double elements = 1;
        for (const std::size_t a : m_tiled)
            if (o.usesSpatial(a))
                elements *= static_cast<double>(own(c, a) * c.virtuals[a]);
        fragments += elements;
    }
    return 20 + sums * static_cast<double>(std::max<std::int64_t>(4, sizeOf(m_op.dtype))) / 4 + fragments;
}

double LaunchTilePart::mostRegisters(const Choice& c) const
{
    if (c.room == 0)
        return 255;
    const std::int64_t threadsOfAll = c.room * ir::ceilDivide(threads(c), m_machine.warp) * m_machine.warp;
    return std::min(255.0, std::floor(m_machine.coreRegisters / static_cast<double>(threadsOfAll) / 8) * 8);
}

Result<> LaunchTilePart::check(const Choice& c) const
{
    const auto refuse = [](const char* why) { return makeError(Errc::IllegalSchedule, why); };
    double points = 1, wanted = 1, sums = 1, virtuals = 1;
    for (const std::size_t a : m_tiled) {
        const std::int64_t t = tile(c, a), covered = ir::ceilDivide(m_op.shape[a], t) * t;
        if ((covered - m_op.shape[a]) * 4 > m_op.shape[a])
            return refuse("more than a fifth of a tile's points lie beyond the edge");
        if ((c.threads[a] - 1) * own(c, a) >= m_op.shape[a])
            return refuse("whole threads lie beyond the edge");
        points *= static_cast<double>(covered);
        wanted *= static_cast<double>(m_op.shape[a]);
        sums *= static_cast<double>(c.sums[a]);
        virtuals *= static_cast<double>(c.virtuals[a]);
    }
    if (points > 1.4 * wanted)
        return refuse("too many points lie beyond the edge");
    for (std::size_t r = 0; r < m_reduces; ++r) {
        const std::int64_t covered = ir::ceilDivide(length(c, r), c.steps[r]) * c.steps[r];
        if ((covered - length(c, r)) * 4 > length(c, r))
            return refuse("more than a fifth of the steps lie beyond the end");
    }
    if (virtuals > static_cast<double>(m_machine.maxVirtual))
        return refuse("there are more virtual threads than the device takes");
    const std::int64_t block = threads(c);
    if (block > m_machine.maxThreads)
        return refuse("there are more threads than a block may have");
    const double least = std::min(static_cast<double>(std::clamp<std::int64_t>(m_machine.warp, 16, 32)),
                                  wanted / (sums * virtuals * static_cast<double>(c.lanes)));
    if (static_cast<double>(block) < least)
        return refuse("there are fewer threads than take each step together");
    if (sums * virtuals > kMostSums
        || registers(c) > std::min<double>(255, 2.0 * static_cast<double>(m_machine.registers)))
        return refuse("the sums of a thread do not fit in its registers");
    const bool isGuarded = m_border >= 0 && c.border == 0 && !isBorderStaged(c);
    if (sums * virtuals * static_cast<double>(unrolledSteps(c)) > (isGuarded ? kMostGuarded : m_machine.mostWritten))
        return refuse("too many statements are written out");
    if (static_cast<double>(c.room * block) > m_machine.coreThreads
        || static_cast<double>(c.room * sharedBytes(c)) > m_machine.coreShared)
        return refuse("a core has no room for so many blocks");
    if (c.stages > chunks(c))
        return refuse("there are fewer steps than tiles of them");
    if (sharedBytes(c) > (stages() || m_form == LaunchForm::Slices ? m_machine.sharedBytes : 0))
        return refuse("a block's tiles do not fit in shared memory");
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
        if (!isStaged(c, i) || c.fetch == 1)
            continue;
        const Box b = box(c, i);
        if (m_branches[i] || b.order.back() != memoryOrder(c, i).back()
            || b.shape[static_cast<std::size_t>(b.order.back())] % c.fetch != 0)
            return refuse("what is fetched at once does not lie together");
    }
    return {};
}

} // namespace lathe::search
