// What a register-tiled reduction costs, in closed form: cycles of the arithmetic from the tile alone, bytes moved
// between the caches from the loop order and the operands' footprints.

#include "core/search/lathe/tile_part.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {
namespace {

Error illegalTile(std::string text)
{
    return makeError(Errc::IllegalSchedule, std::move(text));
}

} // namespace

bool TilePart::vectorLoad(const Operand& o, const Choice& c) const
{
    if (m_last < 0 || c.lanes == 1 || !o.usesSpatial(static_cast<std::size_t>(m_last)))
        return true; // a broadcast, at least
    const bool packed = m_weight >= 0 && c.pack != 0 && &o == &m_operands[static_cast<std::size_t>(m_weight)];
    return packed || o.contiguousIn(static_cast<std::size_t>(m_last));
}

Result<NestFacts> TilePart::facts(std::span<const std::int32_t> genes) const
{
    const Choice c = decode(genes);
    if (!fits(c.lanes * c.vectors))
        return illegalTile("vectors of " + std::to_string(c.lanes * c.vectors) + " do not divide "
                           + std::to_string(extent(m_last)));
    const std::int64_t chunk = c.chunk == 0 ? m_op.reduceExtents[m_long] : c.chunk;
    if (chunk % c.unroll != 0)
        return illegalTile("the reduction of " + std::to_string(chunk) + " is not divided by "
                           + std::to_string(c.unroll));
    if (c.tileB > 1 && c.tileA == 1 && extent(m_axisA) > 1)
        return illegalTile("a tile of two dimensions has more than one pixel in both");

    NestFacts f;
    f.lanes = static_cast<double>(c.lanes);
    f.vectors = static_cast<double>(c.vectors);
    f.tileA = static_cast<double>(c.tileA);
    f.tileB = static_cast<double>(c.tileB);
    f.accumulators = f.vectors * f.tileA * f.tileB;
    f.registers = f.accumulators + f.vectors;
    if (f.registers > static_cast<double>(m_machine.registers))
        return makeError(Errc::IllegalSchedule, say(Msg::TileOverRegisters, static_cast<int>(f.accumulators), c.vectors,
                                                    m_machine.registers, "vector_registers"));
    f.unroll = static_cast<double>(c.unroll);
    f.chunk = static_cast<double>(chunk);
    f.order = static_cast<double>(c.order);
    f.border = static_cast<double>(c.border);
    const std::int64_t weightBytes = m_weight >= 0 ? m_operands[static_cast<std::size_t>(m_weight)].elementBytes : 4;
    f.prefetchBytes = c.prefetch == kNextPanel ? m_steps * static_cast<double>(c.vectors * c.lanes * weightBytes)
                                               : static_cast<double>(c.prefetch);
    f.reduceSteps = m_steps;
    f.flops = m_points * m_steps * m_flopPerStep;

    // The unrolled body.
    double taps = 1;
    std::size_t left = static_cast<std::size_t>(c.kernel);
    for (std::size_t r = m_op.reduceExtents.size(); r-- > 0 && left > 0;) {
        if (r == m_long)
            continue;
        taps *= static_cast<double>(m_op.reduceExtents[r]);
        --left;
    }
    f.kernelUnroll = static_cast<double>(c.kernel);
    f.bodySize = f.accumulators * f.unroll * taps;
    const double copies = m_border >= 0 && c.border == Divided ? 4 : 1;
    if (f.bodySize * copies > kMaxBody)
        return illegalTile("an unrolled body of " + std::to_string(static_cast<int>(f.bodySize * copies))
                           + " operations is too long");

    // One step of the reduction over one tile.
    double loads = 0, gatherCycles = 0;
    for (const Operand& o : m_operands) {
        double values = 1;
        if (m_axisA >= 0 && o.usesSpatial(static_cast<std::size_t>(m_axisA)))
            values *= f.tileA;
        if (m_axisB >= 0 && o.usesSpatial(static_cast<std::size_t>(m_axisB)))
            values *= f.tileB;
        if (m_last >= 0 && o.usesSpatial(static_cast<std::size_t>(m_last)))
            values *= f.vectors;
        if (vectorLoad(o, c)) {
            loads += values;
        } else {
            f.gathered += values;
            gatherCycles += values * f.lanes;
        }
    }
    const double perStep = std::max({f.accumulators / m_machine.fmaPerCycle, loads / 2, kFmaLatency}) + gatherCycles;
    const double loopOverhead = 2.0 / f.unroll / taps;
    const double guard = m_border >= 0 && c.border == Guarded ? 2.0 * f.tileA * f.tileB / f.unroll : 0;
    const double padded = m_last < 0 ? 1
                                     : static_cast<double>(groups(c) * c.lanes * c.vectors)
                                           / static_cast<double>(extent(m_last));
    const double repeated = static_cast<double>(tiles(m_axisA, c.tileA) * c.tileA * tiles(m_axisB, c.tileB) * c.tileB)
                            / static_cast<double>(extent(m_axisA) * extent(m_axisB));
    f.waste = padded * repeated;
    const double count = m_points * f.waste / (f.accumulators * f.lanes);
    const double perTile = m_steps * (perStep + loopOverhead + guard) + 3 * f.accumulators + 20;

    // Threads.
    const std::vector<Outer> outer = outerLoops(c);
    std::int64_t running = 0;
    for (std::size_t i = 0; i < outer.size() && running < c.depth; ++i) {
        if (outer[i].extent > 1) {
            ++running;
            f.parallelChunks *= static_cast<double>(outer[i].extent);
        }
    }
    if (running < c.depth)
        return illegalTile("there are no " + std::to_string(c.depth) + " loops to share out");
    f.balance = c.depth == 0 ? static_cast<double>(m_machine.threads) : imbalance(f.parallelChunks, m_machine.threads);
    const double share = f.balance / static_cast<double>(m_machine.threads);

    traffic(c, outer, f);
    f.computeCycles = count * perTile * share;
    f.memoryCycles = 0;
    for (std::size_t level = 0; level < 3; ++level)
        f.memoryCycles += f.traffic[level] * share / m_machine.bytesPerCycle[level + 1];
    if (m_border >= 0 && c.border == Copied) {
        double bytes = 0;
        for (const Operand& o : m_operands)
            if (o.producer == m_border) {
                bytes = static_cast<double>(o.elementBytes);
                for (const std::int64_t e : o.shape)
                    bytes *= static_cast<double>(e);
            }
        f.memoryCycles += 3 * bytes / m_machine.bytesPerCycle[2] / static_cast<double>(m_machine.threads) + 300;
    }
    finishFacts(f, m_machine);
    return f;
}

void TilePart::traffic(const Choice& c, const std::vector<Outer>& outer, NestFacts& f) const
{
    // Loops outermost first, each with its axis and what it multiplies.
    struct Loop
    {
        std::int32_t axis;
        std::int64_t extent;
    };
    std::vector<Loop> loops;
    for (const Outer& o : outer)
        loops.push_back({o.loop.axis, o.extent});
    const std::size_t tileLevel = loops.size();
    loops.push_back({reduceAxis(m_long), partExtent(c, {reduceAxis(m_long), 0})});
    for (std::size_t r = 0; r < m_op.reduceAxes.size(); ++r)
        if (r != m_long)
            loops.push_back({reduceAxis(r), m_op.reduceExtents[r]});
    loops.push_back({reduceAxis(m_long), partExtent(c, {reduceAxis(m_long), 1})});

    std::vector<std::int64_t> spatial(m_rank, 1), reduce(m_op.reduceAxes.size(), 1);
    if (m_axisA >= 0)
        spatial[static_cast<std::size_t>(m_axisA)] = c.tileA;
    if (m_axisB >= 0)
        spatial[static_cast<std::size_t>(m_axisB)] = c.tileB;
    if (m_last >= 0)
        spatial[static_cast<std::size_t>(m_last)] = c.lanes * c.vectors;
    reduce[m_long] = c.unroll;

    // Bytes in use below each loop, per operand, inside out.
    const std::size_t count = m_operands.size() + 1;
    std::vector<std::vector<double>> inUse(loops.size() + 1, std::vector<double>(count));
    const auto measure = [&](std::vector<double>& bytes) {
        for (std::size_t i = 0; i < m_operands.size(); ++i)
            bytes[i] = static_cast<double>(m_operands[i].footprint(spatial, reduce) * m_operands[i].elementBytes);
        bytes.back() = static_cast<double>(sizeOf(m_op.dtype));
        for (const std::int64_t e : spatial)
            bytes.back() *= static_cast<double>(e);
    };
    measure(inUse[loops.size()]);
    for (std::size_t k = loops.size(); k-- > 0;) {
        const auto axis = static_cast<std::size_t>(loops[k].axis);
        (axis < m_rank ? spatial[axis] : reduce[axis - m_rank]) *= loops[k].extent;
        measure(inUse[k]);
    }
    const auto total = [&](std::size_t k) {
        double sum = 0;
        for (const double b : inUse[k])
            sum += b;
        return sum;
    };
    f.bytesTouched = total(0);
    f.footprint[0] = total(loops.size() - 1);
    f.footprint[1] = total(tileLevel);
    f.footprint[2] = f.bytesTouched;
    if (c.depth > 0) {
        std::size_t k = 0;
        for (std::int64_t running = 0; k < outer.size() && running < c.depth; ++k)
            running += outer[k].extent > 1 ? 1 : 0;
        f.footprint[2] = total(k);
    }
    f.weightPanel = m_weight >= 0 ? inUse[tileLevel][static_cast<std::size_t>(m_weight)] : 0;

    for (std::size_t level = 0; level < 3; ++level) {
        const double cache = m_machine.cacheBytes[level] * 0.75;
        std::size_t fit = loops.size();
        while (fit > 0 && total(fit - 1) <= cache)
            --fit;
        for (std::size_t i = 0; i < count; ++i) {
            double bytes = inUse[fit][i];
            bool kept = bytes <= 0.5 * cache;
            for (std::size_t k = fit; k-- > 0;) {
                const auto axis = static_cast<std::size_t>(loops[k].axis);
                const bool uses = i + 1 == count  ? axis < m_rank
                                  : axis < m_rank ? m_operands[i].usesSpatial(axis)
                                                  : m_operands[i].usesReduce(axis - m_rank);
                // A small operand outlives loops that do not move it; afterwards it has to come again.
                if (!uses && (kept || (i + 1 == count)))
                    continue;
                kept = kept && inUse[k][i] <= 0.5 * cache;
                if (uses)
                    bytes = std::max(
                        inUse[k][i],
                        bytes * static_cast<double>(loops[k].extent)
                            * (inUse[k][i] / std::max(1.0, inUse[k + 1][i] * static_cast<double>(loops[k].extent))));
                else
                    bytes *= static_cast<double>(loops[k].extent);
            }
            f.traffic[level] += bytes;
        }
        f.traffic[level] += m_owner != m_anchor ? m_epilogueBytes : 0;
    }
}

} // namespace lathe::search
