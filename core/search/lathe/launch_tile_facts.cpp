#include "core/ir/bounds.h"
#include "core/search/lathe/launch_tile_part.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lathe::search {

namespace {

constexpr std::int64_t kSegment = 32; ///< bytes that memory moves at least
constexpr std::int64_t kBanks = 32; ///< of shared memory, 4 bytes wide
constexpr double kMostWaiting = 16; ///< accesses that a thread has on their way at a time

std::vector<std::int64_t> stridesOf(const std::vector<std::int64_t>& shape, const std::vector<std::int32_t>& order)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    std::int64_t next = 1;
    for (std::size_t j = order.size(); j-- > 0;) {
        strides[static_cast<std::size_t>(order[j])] = next;
        next *= shape[static_cast<std::size_t>(order[j])];
    }
    return strides;
}

std::size_t uniqueCount(std::vector<std::int64_t>& values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values.size();
}

/// Segments of memory that accesses to so many elements from each of these places on touch.
double segmentsOf(const std::vector<std::int64_t>& offsets, std::int64_t elementBytes, std::int64_t elements)
{
    std::vector<std::int64_t> touched;
    touched.reserve(offsets.size() * static_cast<std::size_t>(elements));
    for (const std::int64_t offset : offsets)
        for (std::int64_t e = 0; e < elements; ++e)
            touched.push_back(ir::floorDivide((offset + e) * elementBytes, kSegment));
    return static_cast<double>(uniqueCount(touched));
}

/// Cycles more than needed that banks take for these accesses.
double conflictsOf(const std::vector<std::int64_t>& offsets, std::int64_t elementBytes, std::int64_t elements)
{
    std::vector<std::int64_t> words;
    words.reserve(offsets.size() * static_cast<std::size_t>(elements));
    for (const std::int64_t offset : offsets)
        for (std::int64_t e = 0; e < elements; ++e)
            words.push_back(ir::floorDivide((offset + e) * elementBytes, 4));
    uniqueCount(words);
    std::array<int, kBanks> held{};
    for (const std::int64_t word : words)
        ++held[static_cast<std::size_t>(ir::floorModulo(word, kBanks))];
    const double ideal = std::ceil(static_cast<double>(offsets.size()) * static_cast<double>(elements * elementBytes)
                                   / static_cast<double>(4 * kBanks));
    return std::max(0.0, *std::max_element(held.begin(), held.end()) - std::max(1.0, ideal));
}

} // namespace

/// By how many elements a thread's place in the operand differs from its neighbour's along each axis, with these
/// strides of the operand's dimensions; last, from that of the next slice.
std::vector<std::int64_t> LaunchTilePart::moves(const Choice& c, const std::vector<std::int64_t>& strides,
                                                std::size_t operand) const
{
    const Operand& o = m_operands[operand];
    std::vector<std::int64_t> moves(m_rank + 1, 0);
    for (const std::size_t a : m_tiled)
        for (std::size_t d = 0; d < o.indices.size(); ++d)
            moves[a] += o.indices[d].spatial[a] * strides[d] * own(c, a);
    for (std::size_t d = 0; d < o.indices.size() && m_reduces > 0; ++d)
        moves[m_rank] += o.indices[d].reduce[m_long] * strides[d] * length(c, m_long);
    return moves;
}

/// Where the threads of a warp read, relative to the first.
std::vector<std::int64_t> LaunchTilePart::laneOffsets(const Choice& c, const std::vector<std::int64_t>& moves) const
{
    std::vector<std::int64_t> offsets;
    for (std::int64_t lane = 0; lane < std::min(m_machine.warp, threads(c)); ++lane) {
        std::int64_t rest = lane, offset = 0;
        for (std::size_t i = m_tiled.size(); i-- > 0;) {
            offset += rest % c.threads[m_tiled[i]] * moves[m_tiled[i]];
            rest /= c.threads[m_tiled[i]];
        }
        // Of a tile of few threads, a warp has several slices, which lie far apart.
        offsets.push_back(offset + rest * moves[m_rank]);
    }
    return offsets;
}

/// Elements that a processor loads one by one for a vector of threads: none only where its compiler sees that all
/// threads of a block read one place, or neighbours neighbouring ones. It sees nothing through a division of the
/// thread's number.
double LaunchTilePart::gathered(const Choice& c, const std::vector<std::int64_t>& moves, std::int64_t elements) const
{
    bool isOne = true, isRow = elements == 1;
    std::int64_t count = 1; // of threads
    for (std::size_t i = m_tiled.size(); i-- > 0;) {
        const std::size_t a = m_tiled[i];
        if (c.threads[a] == 1)
            continue;
        isOne = isOne && moves[a] == 0;
        isRow = isRow && moves[a] == count;
        count *= c.threads[a];
    }
    return isOne || isRow ? 0 : static_cast<double>(std::min(m_machine.warp, count) * elements);
}

/// Steps whose elements a compiler loads at once: they are written out, lie side by side, and their first one is
/// aligned. One, where it cannot see that.
std::int64_t LaunchTilePart::wideSteps(const Choice& c, std::size_t operand, const std::vector<std::int32_t>& order,
                                       const std::vector<std::int64_t>& strides) const
{
    const Operand& o = m_operands[operand];
    if (m_machine.isProcessor || order.empty() || o.reads != 1)
        return 1;
    const auto last = static_cast<std::size_t>(order.back());
    const std::int32_t axis = o.indices[last].plainAxis();
    if (axis < static_cast<std::int32_t>(m_rank)) // none, or one along which threads differ
        return 1;
    const std::size_t r = static_cast<std::size_t>(axis) - m_rank;
    const std::vector<std::size_t> written = unrolledAxes(c);
    if (std::find(written.begin(), written.end(), r) == written.end())
        return 1;
    const auto fits = [&](std::int64_t width) {
        bool good = c.steps[r] % width == 0 && width * o.elementBytes <= m_machine.vectorBytes;
        for (std::size_t d = 0; d < strides.size(); ++d)
            good = good && (d == last || o.shape[d] == 1 || strides[d] % width == 0);
        return good;
    };
    std::int64_t width = 1;
    while (fits(2 * width))
        width *= 2;
    return width;
}

/// By reduce axis: steps of which an operand's elements are loaded at once.
std::vector<std::int64_t> LaunchTilePart::stepsTogether(const Choice& c) const
{
    std::vector<std::int64_t> together(m_reduces, 1);
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
        const Operand& o = m_operands[i];
        const std::vector<std::int32_t> order = isStaged(c, i) ? box(c, i).order : memoryOrder(c, i);
        const std::int64_t wide = wideSteps(c, i, order,
                                            isStaged(c, i) ? box(c, i).strides : stridesOf(o.shape, order));
        if (wide == 1)
            continue;
        std::int64_t& known =
            together[static_cast<std::size_t>(o.indices[static_cast<std::size_t>(order.back())].plainAxis()) - m_rank];
        known = std::max(known, wide);
    }
    return together;
}

/// Loads of one step by one thread, of so many elements each.
double LaunchTilePart::loads(const Choice& c, std::size_t operand, std::int64_t together) const
{
    double count = 1;
    for (const std::size_t a : m_tiled)
        if (m_operands[operand].usesSpatial(a))
            count *= static_cast<double>(own(c, a) * c.virtuals[a]);
    return count / static_cast<double>(together);
}

void LaunchTilePart::countDirect(const Choice& c, std::size_t operand, LaunchFacts& facts) const
{
    const Operand& o = m_operands[operand];
    const std::vector<std::int64_t> strides = stridesOf(o.shape, memoryOrder(c, operand));
    std::int64_t along = 0;
    for (std::size_t d = 0; d < o.indices.size(); ++d)
        along += o.indices[d].spatial[m_vector] * strides[d];
    const bool isWide = along == 1 && c.lanes > 1 && o.usesSpatial(m_vector);
    const bool isJoined = m_machine.joinsLoads && o.elementBytes == 4; // as SourceText::loadTogether() has it
    const std::int64_t together = isWide     ? c.lanes
                                  : isJoined ? wideSteps(c, operand, memoryOrder(c, operand), strides)
                                             : 1;
    const double each = loads(c, operand, together) * static_cast<double>(o.reads);
    facts.accesses += each * facts.steps;
    if (o.producer == m_border && c.border == 0)
        facts.arithmetic += each * facts.steps;
    const std::vector<std::int64_t> apart = moves(c, strides, operand), offsets = laneOffsets(c, apart);
    facts.segments += each * facts.steps * segmentsOf(offsets, o.elementBytes, together);
    facts.gathered += each * facts.steps * gathered(c, apart, together);
    const double waiting = std::min(kMostWaiting, each * static_cast<double>(unrolledSteps(c)));
    facts.waits += each * facts.steps / std::max(1.0, waiting);
}

void LaunchTilePart::countStaged(const Choice& c, std::size_t operand, LaunchFacts& facts) const
{
    const Operand& o = m_operands[operand];
    const Box b = box(c, operand);
    const std::int64_t elements = elementCount(b.shape), block = threads(c);
    const auto rounds = static_cast<double>(ir::ceilDivide(elements, block * c.fetch));
    facts.accesses += rounds * facts.chunks;
    facts.sharedAccesses += rounds * facts.chunks
                            * (b.order.back() == memoryOrder(c, operand).back() ? 1.0 : static_cast<double>(c.fetch));
    facts.waits += std::max(1.0, rounds / kMostWaiting) * facts.chunks;
    // Places: from one number to several dimensions and back, by divisions. By what 2,300 candidates took on an H100
    // (tests/bench/launches/estimates.cpp); drivers for processors see more of these at compile time.
    const double places = o.producer == m_border ? 120 : 60;
    facts.arithmetic += rounds * facts.chunks * (m_machine.isProcessor ? places / 20 : places);
    // Neighbouring threads fetch neighbouring elements of a row, then of the next.
    const auto row = static_cast<double>(b.shape[static_cast<std::size_t>(memoryOrder(c, operand).back())]
                                         * o.elementBytes);
    const auto warp = static_cast<double>(std::min(m_machine.warp, block) * c.fetch * o.elementBytes);
    facts.segments += rounds * facts.chunks * std::ceil(warp / row)
                      * std::ceil(std::min(warp, row) / static_cast<double>(kSegment));
    std::int64_t along = 0;
    for (std::size_t d = 0; d < o.indices.size(); ++d)
        along += o.indices[d].spatial[m_vector] * b.strides[d];
    const bool isWide = along == 1 && c.lanes > 1;
    const std::int64_t together = isWide ? c.lanes : wideSteps(c, operand, b.order, b.strides);
    const double each = loads(c, operand, together);
    facts.sharedAccesses += each * facts.steps;
    const std::vector<std::int64_t> apart = moves(c, b.strides, operand), offsets = laneOffsets(c, apart);
    facts.gathered += each * facts.steps * gathered(c, apart, together);
    facts.conflicts += each * facts.steps * conflictsOf(offsets, o.elementBytes, together);
    facts.bytes += static_cast<double>(elementCount(o.shape) * o.elementBytes);
}

/// Times that a thread stands still for what it has copied to shared memory: the steps that it is ahead take their time
/// as well.
double LaunchTilePart::waitsFor(const Choice& c, double copies, const LaunchFacts& facts) const
{
    const double step = (facts.arithmetic + facts.accesses + facts.sharedAccesses) / facts.chunks;
    const double seen = std::max(0.0, 1 - static_cast<double>(c.stages - 1) * step / m_machine.latency);
    return std::min(copies, copies / facts.chunks + copies * seen); // the first ones are waited for in any case
}

Result<LaunchFacts> LaunchTilePart::facts(std::span<const std::int32_t> genes) const
{
    const Choice c = decode(genes);
    LATHE_TRY(check(c));
    LaunchFacts f;
    double points = 1;
    f.blocks = isSplit() ? static_cast<double>(c.slices) : 1;
    for (std::size_t a = 0; a < m_rank; ++a) {
        const std::int64_t t = tile(c, a), count = ir::ceilDivide(m_op.shape[a], t);
        f.blocks *= static_cast<double>(count);
        f.waste *= static_cast<double>(count * t) / static_cast<double>(m_op.shape[a]);
        f.sums *= static_cast<double>(own(c, a) * c.virtuals[a]);
        points *= static_cast<double>(m_op.shape[a]);
    }
    f.threads = static_cast<double>(threads(c));
    f.virtualThreads = static_cast<double>(elementCount(c.virtuals));
    f.lanes = static_cast<double>(c.lanes);
    f.registers = registers(c);
    f.sharedBytes = static_cast<double>(sharedBytes(c));
    for (std::size_t r = 0; r < m_reduces; ++r)
        f.steps *= static_cast<double>(length(c, r));
    f.unrolled = f.sums / f.lanes * static_cast<double>(unrolledSteps(c));
    f.slices = static_cast<double>(c.slices);
    f.chunks = static_cast<double>(chunks(c));
    f.packed = static_cast<double>(c.pack);
    f.copied = static_cast<double>(c.border);
    f.fetch = static_cast<double>(c.fetch);
    f.padded = static_cast<double>(c.padding);
    f.ahead = static_cast<double>(c.stages - 1);
    f.room = static_cast<double>(c.room);
    f.mostRegisters = mostRegisters(c);
    f.flops = 2 * points * static_cast<double>(compute::reduceSize(m_op)) * f.waste;
    f.bytes = points * static_cast<double>(sizeOf(m_op.dtype));

    f.arithmetic = f.sums * f.steps + 3 * f.steps / static_cast<double>(unrolledSteps(c)) + 4 * f.sums;
    f.accesses = f.sums / f.lanes; // stores
    double copies = 0; // that are waited for
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
        if (isStaged(c, i)) {
            const double before = f.waits;
            countStaged(c, i, f);
            if (c.stages > 1)
                copies += std::exchange(f.waits, before) - before;
        } else {
            f.bytes += static_cast<double>(elementCount(m_operands[i].shape) * m_operands[i].elementBytes);
            countDirect(c, i, f);
        }
    }
    if (c.stages > 1)
        f.waits += waitsFor(c, copies, f);
    if (stages())
        f.barriers = (c.stages > 1 ? 1 : 2) * f.chunks;
    if (m_form == LaunchForm::Slices) {
        f.barriers = 1;
        f.sharedAccesses += f.sums / f.lanes * (1 + f.slices);
        f.arithmetic += f.sums * f.slices;
    }
    if (isSplit()) { // the pieces go through memory once more
        const double pieces = points * f.slices * static_cast<double>(sizeOf(m_op.dtype));
        f.bytes += pieces;
        f.seconds += m_machine.launchSeconds
                     + std::max(pieces / m_machine.memoryBytesPerCycle,
                                m_machine.latency * std::ceil(f.slices / kMostWaiting))
                           / m_machine.cyclesPerSecond;
        f.launches = 2;
    }
    if (c.border != 0) {
        const auto& border = m_dag.ops[static_cast<std::size_t>(m_border)];
        f.seconds += m_machine.launchSeconds
                     + 2 * static_cast<double>(elementCount(border.shape) * sizeOf(border.dtype))
                           / m_machine.memoryBytesPerCycle / m_machine.cyclesPerSecond;
        f.launches += 1;
    }
    f.finish(m_machine);
    return f;
}

} // namespace lathe::search
