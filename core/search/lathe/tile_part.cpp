#include "core/search/lathe/tile_part.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

std::vector<std::int64_t> dividing(std::int64_t extent, std::initializer_list<std::int64_t> candidates)
{
    std::vector<std::int64_t> values;
    for (const std::int64_t c : candidates)
        if (extent % c == 0)
            values.push_back(c);
    return values;
}

} // namespace

TilePart::TilePart(const NestContext& context, const Nest& nest)
    : m_machine(context.machine)
    , m_owner(nest.owner)
    , m_anchor(nest.anchor)
    , m_border(nest.border)
    , m_op(context.analysis.dag().ops[static_cast<std::size_t>(nest.anchor)])
    , m_rank(m_op.shape.size())
    , m_last(static_cast<std::int32_t>(m_rank) - 1)
    , m_operands(operandsOf(context.analysis.dag(), nest.anchor))
{
    if (m_owner != m_anchor)
        m_epilogue = operandsOf(context.analysis.dag(), m_owner);
    m_points = static_cast<double>(compute::spatialSize(m_op));
    m_steps = static_cast<double>(compute::reduceSize(m_op));
    m_epilogueBytes = m_points * static_cast<double>(sizeOf(m_op.dtype));
    m_flopPerStep = m_operands.size() >= 2 ? 2 : 1;
    chooseAxes();
    choosePackable(context.constantOps);

    const std::int64_t lastExtent = extent(m_last);
    m_values.resize(GeneCount);
    m_values[Lanes] = laneChoices(lastExtent, sizeOf(m_op.dtype), m_machine);
    // Packed weights are padded to whole tiles: the last one may go past the edge. Else it overlaps the one before.
    m_pads = m_weight >= 0;
    m_values[Vectors] = {1, 2, 3, 4, 5, 6, 8};
    // Ten columns are too few for two full vectors of eight, and too many for one: vectors of five then.
    const auto fitsAny = [&](std::int64_t l) {
        return std::ranges::any_of(m_values[Vectors], [&](std::int64_t v) { return fits(l * v); });
    };
    if (std::ranges::none_of(m_values[Lanes], fitsAny))
        m_values[Lanes] = {widestDivisor(lastExtent, sizeOf(m_op.dtype), m_machine)};
    std::erase_if(m_values[Vectors], [&](std::int64_t v) {
        return std::none_of(m_values[Lanes].begin(), m_values[Lanes].end(),
                            [&](std::int64_t l) { return fits(l * v); });
    });
    m_values[TileA] = tileChoices(m_axisA, 28, {4, 6, 7, 8, 9, 10, 12, 14, 16});
    m_values[TileB] = tileChoices(m_axisB, 8, {2, 3, 4});
    m_values[Order] = {0, 1, 2};
    m_values[Depth] = {0, 1, 2, 3, 4};
    const std::int64_t longExtent = m_op.reduceExtents[m_long];
    m_values[Unroll] = longExtent <= 7 ? std::vector<std::int64_t>{1, longExtent}
                                       : dividing(longExtent, {1, 2, 4, 8, 16});
    if (longExtent == 1)
        m_values[Unroll] = {1};
    m_values[Kernel] = {0};
    if (m_op.reduceAxes.size() > 1)
        m_values[Kernel] = m_op.reduceAxes.size() > 2 ? std::vector<std::int64_t>{0, 1, 2}
                                                      : std::vector<std::int64_t>{0, 1};
    m_values[Chunk] = {0}; // 0: all of it
    if (m_op.reduceAxes.size() > 1)
        for (const std::int64_t c : {16, 32, 64, 128, 256})
            if (longExtent % c == 0 && c < longExtent)
                m_values[Chunk].push_back(c);
    m_values[Pack] = m_weight >= 0 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{0};
    m_values[Prefetch] = m_weight >= 0 ? std::vector<std::int64_t>{0, 4096, 8192, 16384, kNextPanel}
                                       : std::vector<std::int64_t>{0};
    m_values[Border] = m_border >= 0 ? std::vector<std::int64_t>{Guarded, Divided, Copied}
                                     : std::vector<std::int64_t>{Guarded};
}

/// The pixels of a tile run along the innermost dimensions (but the last) in which some operand stays the same: there a
/// value once loaded serves several sums.
void TilePart::chooseAxes()
{
    for (std::int32_t d = m_last - 1; d >= 0; --d) {
        if (m_op.shape[static_cast<std::size_t>(d)] == 1)
            continue;
        const bool reused = m_operands.size() < 2
                            || std::any_of(m_operands.begin(), m_operands.end(), [&](const Operand& o) {
                                   return !o.usesSpatial(static_cast<std::size_t>(d));
                               });
        if (!reused)
            continue;
        if (m_axisA < 0) {
            m_axisA = d;
        } else {
            m_axisB = d;
            break;
        }
    }
    for (std::size_t r = 1; r < m_op.reduceExtents.size(); ++r)
        if (m_op.reduceExtents[r] >= m_op.reduceExtents[m_long])
            m_long = r;
}

void TilePart::choosePackable(const std::vector<bool>& constantOps)
{
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
        const Operand& o = m_operands[i];
        if (!constantOps[static_cast<std::size_t>(o.producer)] || o.reads != 1)
            continue;
        // Every index is an axis by itself, or a dimension of one element.
        bool plain = true, reduces = false;
        std::vector<bool> seen(m_rank + m_op.reduceAxes.size());
        for (std::size_t d = 0; d < o.indices.size(); ++d) {
            const std::int32_t axis = o.indices[d].plainAxis();
            if (axis < 0) {
                plain = plain && o.shape[d] == 1;
                continue;
            }
            const std::int64_t full = static_cast<std::size_t>(axis) < m_rank
                                          ? m_op.shape[static_cast<std::size_t>(axis)]
                                          : m_op.reduceExtents[static_cast<std::size_t>(axis) - m_rank];
            plain = plain && full == o.shape[d] && !seen[static_cast<std::size_t>(axis)];
            seen[static_cast<std::size_t>(axis)] = true;
            reduces = reduces || static_cast<std::size_t>(axis) >= m_rank;
        }
        if (plain && reduces && m_last >= 0 && o.usesSpatial(static_cast<std::size_t>(m_last))) {
            m_weight = static_cast<std::int32_t>(i);
            return;
        }
    }
}

/// Pixels of a tile along an axis: what divides it, and `more` of which the last tile, moved back, repeats little.
std::vector<std::int64_t> TilePart::tileChoices(std::int32_t axis, std::int64_t limit,
                                                std::initializer_list<std::int64_t> more) const
{
    std::vector<std::int64_t> values;
    for (const std::int64_t d : divisors(extent(axis)))
        if (d <= limit)
            values.push_back(d);
    const bool packed = m_weight >= 0 && axis >= 0
                        && m_operands[static_cast<std::size_t>(m_weight)].usesSpatial(static_cast<std::size_t>(axis));
    if (axis < 0 || packed)
        return values;
    for (const std::int64_t t : more) {
        const std::int64_t covered = (extent(axis) + t - 1) / t * t;
        if (t < extent(axis) && covered > extent(axis) && (covered - extent(axis)) * 7 <= extent(axis))
            values.push_back(t);
    }
    std::sort(values.begin(), values.end());
    return values;
}

std::vector<Parameter> TilePart::parameters() const
{
    static constexpr const char* kNames[GeneCount] = {"lanes",  "vectors", "tile a", "tile b", "order",    "parallel",
                                                      "unroll", "kernel",  "chunk",  "pack",   "prefetch", "border"};
    std::vector<Parameter> parameters;
    for (std::size_t g = 0; g < GeneCount; ++g)
        parameters.push_back({std::string(kNames[g]) + ' ' + m_op.name, Parameter::Kind::Choice,
                              static_cast<std::int32_t>(m_values[g].size()), nullptr, m_values[g]});
    return parameters;
}

bool TilePart::fits(std::int64_t width) const
{
    const std::int64_t last = extent(m_last);
    const std::int64_t wasted = (width - last % width) % width;
    return wasted == 0 || (width <= last && wasted * 3 <= last) || (m_pads && wasted * 3 <= last);
}

TilePart::Choice TilePart::decode(std::span<const std::int32_t> genes) const
{
    const auto value = [&](Gene g) { return m_values[g][static_cast<std::size_t>(genes[g])]; };
    return {value(Lanes),  value(Vectors), value(TileA), value(TileB), value(Order),    value(Depth),
            value(Unroll), value(Kernel),  value(Chunk), value(Pack),  value(Prefetch), value(Border)};
}

bool TilePart::copiesBorder(std::span<const std::int32_t> genes) const
{
    return m_border >= 0 && decode(genes).border == Copied;
}

std::vector<TilePart::Outer> TilePart::outerLoops(const Choice& c) const
{
    std::vector<Outer> others, pixels;
    for (std::int32_t d = 0; d < m_last; ++d) {
        if (d == m_axisA || d == m_axisB)
            continue;
        others.push_back({{d, 0}, extent(d)});
    }
    if (m_axisB >= 0)
        pixels.push_back({{m_axisB, 0}, tiles(m_axisB, c.tileB)});
    if (m_axisA >= 0)
        pixels.push_back({{m_axisA, 0}, tiles(m_axisA, c.tileA)});
    std::vector<Outer> channels;
    if (m_last >= 0)
        channels.push_back({{m_last, 0}, groups(c)});
    // Loops of one iteration go innermost: what is shared out needs no fusing with them.
    std::vector<Outer> order, idle;
    for (std::vector<Outer>* group : {&others, &pixels, &channels}) {
        std::copy_if(group->begin(), group->end(), std::back_inserter(idle),
                     [](const Outer& o) { return o.extent == 1; });
        std::erase_if(*group, [](const Outer& o) { return o.extent == 1; });
    }
    order = others;
    switch (c.order) {
    case 0: // pixels outermost: all weights stream past every tile
        order.insert(order.end(), pixels.begin(), pixels.end());
        order.insert(order.end(), channels.begin(), channels.end());
        break;
    case 1: // channels outermost: a panel of weights serves all pixels
        order.insert(order.end(), channels.begin(), channels.end());
        order.insert(order.end(), pixels.begin(), pixels.end());
        break;
    default: // rows, channels, pixels of a row
        if (!pixels.empty())
            order.push_back(pixels.front());
        order.insert(order.end(), channels.begin(), channels.end());
        for (std::size_t i = 1; i < pixels.size(); ++i)
            order.push_back(pixels[i]);
    }
    order.insert(order.end(), idle.begin(), idle.end());
    return order;
}

std::int32_t TilePart::sharedLoops(const std::vector<Outer>& outer, std::int64_t depth)
{
    std::int32_t count = 0;
    std::int64_t running = 0;
    while (static_cast<std::size_t>(count) < outer.size() && running < depth)
        running += outer[static_cast<std::size_t>(count++)].extent > 1 ? 1 : 0;
    return count;
}

std::vector<LoopPart> TilePart::dividedLoops(const Choice& c, const std::vector<Outer>& outer) const
{
    std::vector<LoopPart> loops;
    if (m_border < 0 || c.border != Divided)
        return loops;
    // A single loop that is shared out keeps its shape and can be divided; a fused one cannot.
    const std::int32_t count = sharedLoops(outer, c.depth);
    for (std::size_t i = count == 1 ? 0 : static_cast<std::size_t>(count); i < outer.size(); ++i)
        if (outer[i].extent > 1 && (outer[i].loop.axis == m_axisA || outer[i].loop.axis == m_axisB))
            loops.push_back(outer[i].loop);
    return loops;
}

std::vector<LoopPart> TilePart::kernelLoops() const
{
    std::vector<LoopPart> kernel;
    for (std::size_t r = 0; r < m_op.reduceAxes.size(); ++r)
        if (r != m_long)
            kernel.push_back({reduceAxis(r), 0});
    return kernel;
}

void TilePart::settle(std::span<std::int32_t> genes) const
{
    // Loops of one iteration, wherever they stand and whether they are unrolled, are none.
    const auto running = [&] {
        std::vector<LoopPart> loops;
        for (const Outer& o : outerLoops(decode(genes)))
            if (o.extent > 1)
                loops.push_back(o.loop);
        return loops;
    };
    const std::vector<LoopPart> loops = running();
    const std::int32_t order = genes[Order];
    for (genes[Order] = 0; genes[Order] < order && running() != loops; ++genes[Order])
        ;
    // Weights of the next tiles are fetched while pixels use those of these once more, if there are such.
    const auto usesWeight = [this](LoopPart loop) {
        return m_operands[static_cast<std::size_t>(m_weight)].usesSpatial(static_cast<std::size_t>(loop.axis));
    };
    if (decode(genes).prefetch == kNextPanel
        && (loops.empty() || usesWeight(loops.back()) || std::none_of(loops.begin(), loops.end(), usesWeight)))
        genes[Prefetch] = 0;
    const std::vector<LoopPart> kernel = kernelLoops();
    while (genes[Kernel] > 0
           && m_op.reduceExtents[static_cast<std::size_t>(
                                     kernel[kernel.size() - static_cast<std::size_t>(genes[Kernel])].axis)
                                 - m_rank]
                  == 1)
        --genes[Kernel];
    if (const Choice c = decode(genes); c.border == Divided && dividedLoops(c, outerLoops(c)).empty())
        genes[Border] = Guarded;
}

std::vector<LoopPart> TilePart::anchorOrder(const Choice& c, const std::vector<Outer>& outer) const
{
    std::vector<LoopPart> order;
    for (const Outer& o : outer)
        order.push_back(o.loop);
    order.push_back({reduceAxis(m_long), 0});
    for (std::size_t r = 0; r < m_op.reduceAxes.size(); ++r)
        if (r != m_long)
            order.push_back({reduceAxis(r), 0});
    order.push_back({reduceAxis(m_long), 1});
    order.push_back({reduceAxis(m_long), 2});
    if (splitsB(c))
        order.push_back({m_axisB, 1});
    if (splitsA(c))
        order.push_back({m_axisA, 1});
    if (m_last >= 0) {
        order.push_back({m_last, 1});
        order.push_back({m_last, 2});
    }
    return order;
}

std::int64_t TilePart::partExtent(const Choice& c, LoopPart loop) const
{
    if (loop.axis == m_last)
        return loop.part == 2 ? c.lanes : loop.part == 1 ? c.vectors : groups(c);
    if (loop.axis == m_axisA)
        return loop.part == 1 ? c.tileA : tiles(m_axisA, c.tileA);
    if (loop.axis == m_axisB)
        return loop.part == 1 ? c.tileB : tiles(m_axisB, c.tileB);
    if (static_cast<std::size_t>(loop.axis) < m_rank)
        return extent(loop.axis);
    const std::int64_t full = m_op.reduceExtents[static_cast<std::size_t>(loop.axis) - m_rank];
    if (loop.axis != reduceAxis(m_long))
        return full;
    const std::int64_t chunk = c.chunk == 0 ? full : c.chunk;
    return loop.part == 2 ? c.unroll : loop.part == 1 ? chunk / c.unroll : full / chunk;
}

std::int64_t TilePart::partDiv(const Choice& c, LoopPart loop) const
{
    std::int64_t div = 1;
    const std::int32_t parts = loop.axis == m_last || loop.axis == reduceAxis(m_long)                         ? 3
                               : (loop.axis == m_axisA && splitsA(c)) || (loop.axis == m_axisB && splitsB(c)) ? 2
                                                                                                              : 1;
    for (std::int32_t p = loop.part + 1; p < parts; ++p)
        div *= partExtent(c, {loop.axis, p});
    return div;
}

void TilePart::emitPacking(const Choice& c, const std::vector<LoopPart>& order, StepEmitter& emitter) const
{
    const Operand& weight = m_operands[static_cast<std::size_t>(m_weight)];
    LayoutStep step{emitter.stageOf(weight.producer), {}};
    // Dimensions of one element stand first, the others in the order in which the loops walk them.
    for (std::size_t d = 0; d < weight.indices.size(); ++d)
        if (weight.indices[d].plainAxis() < 0)
            step.axes.push_back({static_cast<std::int32_t>(d), 1, 1});
    for (const LoopPart& loop : order)
        for (std::size_t d = 0; d < weight.indices.size(); ++d)
            if (weight.indices[d].plainAxis() == loop.axis)
                step.axes.push_back({static_cast<std::int32_t>(d), partDiv(c, loop), partExtent(c, loop)});
    emitter.add(std::move(step));
}

void TilePart::emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const
{
    const Choice c = decode(genes);
    std::int32_t anchorStage, ownerStage;
    if (m_owner == m_anchor) {
        anchorStage = emitter.cacheWrite(m_anchor, "local");
        ownerStage = emitter.stageOf(m_owner);
    } else {
        anchorStage = emitter.stageOf(m_anchor);
        ownerStage = emitter.stageOf(m_owner);
    }
    const std::vector<Outer> outer = outerLoops(c);
    const std::vector<LoopPart> order = anchorOrder(c, outer);
    const auto reduces = static_cast<std::int32_t>(m_op.reduceAxes.size());

    StageLoops anchor(emitter, anchorStage, static_cast<std::int32_t>(m_rank) + reduces);
    StageLoops owner(emitter, ownerStage, static_cast<std::int32_t>(m_rank));
    for (StageLoops* loops : {&anchor, &owner}) {
        for (const auto& [axis, tile] : {std::pair(m_axisB, c.tileB), std::pair(m_axisA, c.tileA)}) {
            if (axis < 0 || tile == 1)
                continue;
            loops->cover(axis, extent(axis), {tile});
        }
        if (m_last >= 0 && m_pads)
            loops->split(m_last, extent(m_last), {c.vectors, c.lanes});
        else if (m_last >= 0)
            loops->cover(m_last, extent(m_last), {c.vectors, c.lanes});
    }
    const std::int64_t full = m_op.reduceExtents[m_long];
    anchor.split(reduceAxis(m_long), full, {(c.chunk == 0 ? full : c.chunk) / c.unroll, c.unroll});
    anchor.reorder(order);
    std::vector<LoopPart> ownerOrder;
    for (const LoopPart& loop : order)
        if (static_cast<std::size_t>(loop.axis) < m_rank)
            ownerOrder.push_back(loop);
    owner.reorder(ownerOrder);
    if (outer.empty()) {
        anchor.annotate({reduceAxis(m_long), 2}, Annotation::Unroll);
        return; // a full reduction to one element: the anchor stays at the root
    }
    emitter.add(ComputeAtStep{anchorStage, ownerStage, owner.position(outer.back().loop)});

    // Register loops.
    if (c.unroll > 1)
        anchor.annotate({reduceAxis(m_long), 2}, Annotation::Unroll);
    const std::vector<LoopPart> kernel = kernelLoops();
    for (std::size_t k = 0; k < static_cast<std::size_t>(c.kernel) && k < kernel.size(); ++k)
        anchor.annotate(kernel[kernel.size() - 1 - k], Annotation::Unroll);
    for (StageLoops* loops : {&anchor, &owner}) {
        if (splitsB(c))
            loops->annotate({m_axisB, 1}, Annotation::Unroll);
        if (splitsA(c))
            loops->annotate({m_axisA, 1}, Annotation::Unroll);
        loops->annotate({m_last, 1}, Annotation::Unroll);
        if (c.lanes > 1)
            loops->annotate({m_last, 2}, Annotation::Vectorize);
    }
    const std::int32_t count = sharedLoops(outer, c.depth);
    for (const LoopPart& loop : dividedLoops(c, outer))
        emitter.add(PartitionStep{ownerStage, owner.position(loop)});
    if (m_weight >= 0 && c.pack != 0)
        emitPacking(c, order, emitter);
    if (c.prefetch != 0)
        emitter.add(PrefetchStep{anchorStage, anchor.position({reduceAxis(m_long), 1}),
                                 emitter.stageOf(m_operands[static_cast<std::size_t>(m_weight)].producer),
                                 c.prefetch == kNextPanel ? 0 : c.prefetch});
    if (c.depth > 0) {
        owner.fuseOuter(count);
        owner.annotateOutermost(Annotation::Parallel);
    }
}

} // namespace lathe::search
