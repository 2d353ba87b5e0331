// The schedules of the reference's templates for processors (autotvm.md 3.1).

#include "core/ir/bounds.h"
#include "core/support/message.h"
#include "core/templates/template_steps.h"

#include <algorithm>
#include <numeric>

namespace lathe::templates {
namespace {

using schedule::Annotation;
using schedule::Step;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

using Steps = std::vector<Step>;

/// The first of the loops is that of the kernel, the others are the tile's, whose sums stay in registers.
void unrollTile(StageLoops& sum, StageLoops& store, std::span<const std::pair<LoopPart, std::int64_t>> loops)
{
    if (const auto tile = unrollWithin(sum, loops.subspan(1), 1, kMostAccumulators))
        unrollWithin(sum, loops.first(1), *tile, kMostUnrolled);
    unrollWithin(store, loops.subspan(1), 1, kMostAccumulators);
}

/// What the two kinds of convolutions have in common.
class ConvEmitter
{
public:
    explicit ConvEmitter(const Scheduled& scheduled)
        : m_scheduled(scheduled)
        , m_nest(scheduled.nest)
        , m_conv(*scheduled.nest.conv())
        , m_emitter(scheduled.dag.ops.size())
    {
    }

    /// Operations after the padding come first: stages before them keep their numbers. Returns the stage that sums; the
    /// owner's stores.
    std::int32_t begin()
    {
        for (const std::int32_t op : m_nest.inlined)
            if (op > m_nest.border)
                m_emitter.inlineOp(op);
        return sumStage(m_emitter, m_nest.anchor, m_nest.owner);
    }

    /// Images in blocks of channels, unless the channels are innermost anyway; and the padding, which is copied by
    /// loops of its own into blocks.
    Steps finish(std::int64_t inBlock, std::int64_t outBlock)
    {
        const bool blocks = !m_scheduled.channelsInnermost();
        if (blocks) {
            blockImage(m_nest.output, outBlock);
            for (const ImageTensor& residual : m_nest.residuals)
                blockImage(residual, outBlock);
        }
        if (m_nest.border >= 0)
            copyBorder(inBlock);
        for (const std::int32_t op : m_nest.inlined)
            if (op < m_nest.border)
                m_emitter.inlineOp(op);
        if (blocks && m_nest.data.op >= 0)
            blockImage(m_nest.data, inBlock);
        return m_emitter.take();
    }

    /// Puts the sum's loops in order, the store's as it has them, and one inside of the other: what a thread has of the
    /// image is a row of tiles.
    /// @param reduceLoops  what lies between the loops over tiles and those of a tile
    /// @param unrolled     loops with their extents, as unrollTile() takes them
    void finishTile(StageLoops& sum, StageLoops& store, std::initializer_list<LoopPart> reduceLoops,
                    std::span<const std::pair<LoopPart, std::int64_t>> unrolled, std::int64_t lanes)
    {
        const std::vector<LoopPart> outer = {spatial(0), spatial(1), spatial(2), spatial(3)};
        const std::vector<LoopPart> tile = {spatial(2, 1), spatial(3, 1), spatial(1, 1), spatial(1, 2)};
        std::vector<LoopPart> order = outer;
        order.insert(order.end(), reduceLoops);
        order.insert(order.end(), tile.begin(), tile.end());
        sum.reorder(std::move(order));
        order = outer;
        order.insert(order.end(), tile.begin(), tile.end());
        store.reorder(std::move(order));
        m_emitter.add(schedule::ComputeAtStep{sum.stage(), store.stage(), store.position(spatial(3))});
        unrollTile(sum, store, unrolled);
        if (lanes > 1)
            for (StageLoops* loops : {&sum, &store})
                loops->annotate(spatial(1, 2), Annotation::Vectorize);
    }

    StepEmitter& emitter() { return m_emitter; }
    /// A loop of the sum that the definition has, by what it is.
    LoopPart spatial(std::size_t which, std::int32_t part = 0) const { return {m_nest.spatial[which], part}; }
    LoopPart reduce(std::size_t which, std::int32_t part = 0) const { return {m_nest.reduce[which], part}; }

private:
    void blockImage(const ImageTensor& image, std::int64_t block)
    {
        blockChannels(m_emitter, m_emitter.stageOf(image.op), image,
                      m_scheduled.dag.ops[static_cast<std::size_t>(image.op)].shape, block);
    }

    /// Rows of blocks of channels are shared out, the channels of a block are vectors.
    void copyBorder(std::int64_t block)
    {
        const compute::Op& pad = m_scheduled.dag.ops[static_cast<std::size_t>(m_nest.border)];
        const std::array<std::int32_t, 4>& dims = m_nest.padded.dims;
        if (!m_scheduled.channelsInnermost())
            blockImage(m_nest.padded, block);
        StageLoops loops(m_emitter, m_emitter.stageOf(m_nest.border), 4);
        const std::int64_t lanes = m_scheduled.lanesOf(block);
        loops.split(dims[1], pad.shape[static_cast<std::size_t>(dims[1])], {block / lanes, lanes});
        loops.reorder({{dims[0], 0}, {dims[1], 0}, {dims[2], 0}, {dims[3], 0}, {dims[1], 1}, {dims[1], 2}});
        if (lanes > 1)
            loops.annotate({dims[1], 2}, Annotation::Vectorize);
        loops.fuseOuter(3);
        loops.annotateOutermost(Annotation::Parallel);
    }

    const Scheduled& m_scheduled;
    const MatchedNest& m_nest;
    const ConvArgs& m_conv;
    StepEmitter m_emitter;
};

/// The loops that sum and those that store share these parts: blocks of channels (block, vectors, lanes), rows, tiles
/// of columns.
void splitTile(StageLoops& loops, const MatchedNest& nest, std::int64_t channels, std::int64_t block,
               std::int64_t lanes, std::int64_t height, std::int64_t tileHeight, std::int64_t width,
               std::int64_t tileWidth)
{
    loops.split(nest.spatial[1], channels, {block / lanes, lanes});
    loops.cover(nest.spatial[2], height, {tileHeight});
    loops.cover(nest.spatial[3], width, {tileWidth});
}

Result<> checkBlock(const char* knob, std::int64_t extent, std::int64_t block)
{
    if (extent % block == 0)
        return {};
    return makeError(Errc::InvalidArgument, say(Msg::TemplateBlockUneven, knob, block, extent));
}

} // namespace

Result<Steps> convStepsX86(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, convOf(nest));
    LATHE_TRY_ASSIGN(const auto ic, splitSizes(config, "tile_ic", 2, conv.inChannels));
    LATHE_TRY_ASSIGN(const auto oc, splitSizes(config, "tile_oc", 2, conv.outChannels));
    LATHE_TRY_ASSIGN(const auto ow, splitSizes(config, "tile_ow", 2, conv.outWidth()));
    const bool small = conv.kernelHeight == 1 && conv.kernelWidth == 1;
    LATHE_TRY_ASSIGN(const std::int64_t option, optionOf(config, small ? "tile_oh" : "unroll_kw"));
    LATHE_TRY(checkBlock("tile_ic", conv.inChannels, ic[1]));
    LATHE_TRY(checkBlock("tile_oc", conv.outChannels, oc[1]));
    const std::int64_t tileWidth = std::min(ow[1], conv.outWidth());
    const std::int64_t tileHeight = small ? std::clamp<std::int64_t>(option, 1, conv.outHeight()) : 1;
    const std::int64_t lanes = scheduled.lanesOf(oc[1]), vectors = oc[1] / lanes;

    ConvEmitter emit(scheduled);
    StageLoops sum(emit.emitter(), emit.begin(), nest.loops);
    StageLoops store(emit.emitter(), emit.emitter().stageOf(nest.owner), 4);
    for (StageLoops* loops : {&sum, &store})
        splitTile(*loops, nest, conv.outChannels, oc[1], lanes, conv.outHeight(), tileHeight, conv.outWidth(),
                  tileWidth);
    sum.split(nest.reduce[0], conv.inChannels, {ic[1]});

    const bool unrollsKernel = !small && option != 0; // a kernel of one element has loops, too, of one iteration
    const std::array<std::pair<LoopPart, std::int64_t>, 4> unrolled = {
        {{emit.reduce(2), unrollsKernel ? conv.kernelWidth : 1},
         {emit.spatial(2, 1), tileHeight},
         {emit.spatial(3, 1), tileWidth},
         {emit.spatial(1, 1), vectors}}};
    if (unrollsKernel)
        emit.finishTile(sum, store, {emit.reduce(0, 0), emit.reduce(1), emit.reduce(0, 1), emit.reduce(2)}, unrolled,
                        lanes);
    else
        emit.finishTile(sum, store, {emit.reduce(0, 0), emit.reduce(1), emit.reduce(2), emit.reduce(0, 1)}, unrolled,
                        lanes);
    packKernel(emit.emitter(), nest, ic[1], oc[1]);
    store.fuseOuter(3);
    store.annotateOutermost(Annotation::Parallel);
    return emit.finish(ic[1], oc[1]);
}

Result<Steps> depthwiseStepsX86(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const ConvArgs conv, depthwiseOf(nest));
    LATHE_TRY_ASSIGN(const auto ic, splitSizes(config, "tile_ic", 2, conv.inChannels));
    LATHE_TRY_ASSIGN(const auto oc, splitSizes(config, "tile_oc", 2, conv.outChannels));
    LATHE_TRY_ASSIGN(const auto ow, splitSizes(config, "tile_ow", 2, conv.outWidth()));
    LATHE_TRY_ASSIGN(const std::int64_t unrollsKernel, optionOf(config, "unroll_kw"));
    LATHE_TRY(checkBlock("tile_ic", conv.inChannels, ic[1]));
    LATHE_TRY(checkBlock("tile_oc", conv.outChannels, oc[1]));
    const std::int64_t tileWidth = std::min(ow[1], conv.outWidth());
    // Vectors do not reach over a block of the input's channels either.
    const std::int64_t lanes = scheduled.channelsInnermost() || ic[1] % oc[1] == 0
                                   ? scheduled.lanesOf(oc[1])
                                   : scheduled.lanesOf(std::gcd(ic[1], oc[1]));
    const std::int64_t vectors = oc[1] / lanes;

    ConvEmitter emit(scheduled);
    StageLoops sum(emit.emitter(), emit.begin(), nest.loops);
    StageLoops store(emit.emitter(), emit.emitter().stageOf(nest.owner), 4);
    for (StageLoops* loops : {&sum, &store})
        splitTile(*loops, nest, conv.outChannels, oc[1], lanes, conv.outHeight(), 1, conv.outWidth(), tileWidth);
    const std::array<std::pair<LoopPart, std::int64_t>, 3> unrolled = {
        {{emit.reduce(2), unrollsKernel != 0 ? conv.kernelWidth : 1},
         {emit.spatial(3, 1), tileWidth},
         {emit.spatial(1, 1), vectors}}};
    emit.finishTile(sum, store, {emit.reduce(1), emit.reduce(2)}, unrolled, lanes);
    packKernel(emit.emitter(), nest, 1, oc[1]);
    store.fuseOuter(3);
    store.annotateOutermost(Annotation::Parallel);
    return emit.finish(ic[1], oc[1]);
}

Result<Steps> densePackStepsX86(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseOf(nest));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 3, dense.m));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 3, dense.n));
    LATHE_TRY_ASSIGN(const auto k, splitSizes(config, "tile_k", 2, dense.k));
    LATHE_TRY_ASSIGN(const auto inner, splitSizes(config, "tile_inner", 2, dense.m));
    LATHE_TRY(checkBlock("tile_x", dense.n, cappedProduct({x[1], x[2]})));
    LATHE_TRY(checkBlock("tile_y", dense.m, cappedProduct({y[1], y[2]})));
    const std::int64_t lanes = scheduled.lanesOf(x[2]), vectors = x[2] / lanes;
    // The rows of a tile are unrolled by tile_inner, as far as that divides them.
    const std::int64_t rows = std::gcd(inner[1], y[2]);

    StepEmitter emitter(scheduled.dag.ops.size());
    inlineWithBorder(emitter, nest);
    const std::int32_t m = 0, n = 1, depth = 2;
    StageLoops sum(emitter, sumStage(emitter, nest.anchor, nest.owner), nest.loops);
    StageLoops store(emitter, emitter.stageOf(nest.owner), 2);
    for (StageLoops* loops : {&sum, &store}) {
        loops->split(m, dense.m, {y[1], y[2] / rows, rows});
        loops->split(n, dense.n, {x[1], vectors, lanes});
    }
    sum.split(depth, dense.k, {k[1]});
    const std::vector<LoopPart> outer = {{m, 0}, {n, 0}, {m, 1}, {n, 1}};
    std::vector<LoopPart> order = outer;
    order.insert(order.end(), {{depth, 0}, {m, 2}, {depth, 1}, {m, 3}, {n, 2}, {n, 3}});
    sum.reorder(order);
    std::vector<LoopPart> storeOrder = outer;
    storeOrder.insert(storeOrder.end(), {{m, 2}, {m, 3}, {n, 2}, {n, 3}});
    store.reorder(storeOrder);
    emitter.add(schedule::ComputeAtStep{sum.stage(), store.stage(), store.position({n, 1})});
    const std::array<std::pair<LoopPart, std::int64_t>, 4> small = {
        {{{m, 2}, y[2] / rows}, {{depth, 1}, k[1]}, {{m, 3}, rows}, {{n, 2}, vectors}}};
    if (const auto tile = unrollWithin(sum, std::span(small).subspan(2), 1, kMostAccumulators))
        unrollWithin(sum, std::span(small).first(2), *tile, kMostUnrolled);
    unrollWithin(store, std::span(small).subspan(2), 1, kMostAccumulators);
    if (lanes > 1)
        for (StageLoops* loops : {&sum, &store})
            loops->annotate({n, 3}, Annotation::Vectorize);
    packRows(emitter, nest, dense, x[2]);
    store.fuseOuter(2);
    store.annotateOutermost(Annotation::Parallel);
    return emitter.take();
}

Result<Steps> denseNopackStepsX86(const Scheduled& scheduled, const Config& config)
{
    const MatchedNest& nest = scheduled.nest;
    LATHE_TRY_ASSIGN(const DenseArgs dense, denseOf(nest));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 2, dense.m));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 2, dense.n));
    LATHE_TRY_ASSIGN(const auto k, splitSizes(config, "tile_k", 2, dense.k));
    LATHE_TRY(checkBlock("tile_x", dense.n, x[1]));
    LATHE_TRY(checkBlock("tile_y", dense.m, y[1]));
    LATHE_TRY(checkBlock("tile_k", dense.k, k[1]));

    // Partial sums first, one for each element of a vector along K; then their sum.
    StepEmitter emitter(scheduled.dag.ops.size());
    inlineWithBorder(emitter, nest);
    const std::int32_t m = 0, n = 1, depth = 2;
    {
        StageLoops whole(emitter, emitter.stageOf(nest.anchor), nest.loops);
        whole.split(depth, dense.k, {k[1]});
    }
    const std::int32_t partial = emitter.rfactor(nest.anchor, 3, 2);
    StageLoops sum(emitter, sumStage(emitter, nest.anchor, nest.owner), nest.loops);
    StageLoops store(emitter, emitter.stageOf(nest.owner), 2);
    for (StageLoops* loops : {&sum, &store}) {
        loops->split(m, dense.m, {y[1]});
        loops->split(n, dense.n, {x[1]});
    }
    const std::vector<LoopPart> tile = {{m, 0}, {n, 0}, {m, 1}, {n, 1}};
    std::vector<LoopPart> order = tile;
    order.push_back({depth, 0});
    sum.reorder(order);
    store.reorder(tile);
    const std::int32_t at = store.position({n, 0});
    emitter.add(schedule::ComputeAtStep{sum.stage(), store.stage(), at});
    // Loops of the partial sums: m, n, the vector, K / vector.
    StageLoops parts(emitter, partial, 4);
    const std::int64_t lanes = scheduled.lanesOf(k[1]), vectors = k[1] / lanes;
    parts.split(2, k[1], {vectors, lanes});
    parts.reorder({{0, 0}, {1, 0}, {3, 0}, {2, 0}, {2, 1}, {2, 2}});
    emitter.add(schedule::ComputeAtStep{partial, store.stage(), at});
    const std::array<std::pair<LoopPart, std::int64_t>, 1> vectorLoop = {{{{2, 1}, vectors}}};
    unrollWithin(parts, vectorLoop, 1, kMostAccumulators);
    if (lanes > 1)
        parts.annotate({2, 2}, Annotation::Vectorize);
    const std::array<std::pair<LoopPart, std::int64_t>, 1> last = {{{{depth, 0}, k[1]}}};
    unrollWithin(sum, last, 1, kMostAccumulators);
    store.fuseOuter(2);
    store.annotateOutermost(Annotation::Parallel);
    return emitter.take();
}

} // namespace lathe::templates
