// The schedules of the reference's winograd templates (autotvm.md 3.2, 3.3), three launches each: data to points of
// tiles, the products, and back to the image with the operations behind it. One thread has all points of a tile.

#include "core/ir/bounds.h"
#include "core/support/message.h"
#include "core/templates/launch_emitter.h"

#include <algorithm>

namespace lathe::templates {
namespace {

using schedule::AnnotateStep;
using schedule::Annotation;
using schedule::ComputeAtStep;
using schedule::LayoutStep;
using schedule::Step;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

using Steps = std::vector<Step>;

constexpr std::int64_t kTransformThreads = 128; ///< of a block of the transforms, on GPUs
// Of [rows, columns, tiles, channels], which points and products are.
constexpr std::int32_t kTiles = 2, kChannels = 3;

/// What the launches of both templates have in common.
class WinogradEmitter
{
public:
    explicit WinogradEmitter(const Scheduled& scheduled)
        : m_scheduled(scheduled)
        , m_nest(*scheduled.winograd)
        , m_emitter(scheduled.dag.ops.size())
    {
    }

    StepEmitter& emitter() { return m_emitter; }
    /// Whether tiles side by side are also side by side in the image, so that neighbouring threads take those; else
    /// they take channels.
    bool channelsOutermost() const { return m_nest.outputDims[1] == 1; }

    /// Data to points. `channelThreads`: threads along the channels alone; 0: blocks of threads over all.
    void emitData(std::int64_t channelThreads)
    {
        const WinogradTransform& t = m_nest.data;
        const std::int32_t sums = m_emitter.cacheWrite(t.op, "local"), owner = m_emitter.stageOf(t.op);
        StageLoops loops(m_emitter, owner, 4);
        std::vector<LoopPart> order = channelsOutermost() && channelThreads == 0
                                          ? std::vector<LoopPart>{{kChannels, 0}, {kTiles, 0}}
                                          : std::vector<LoopPart>{{kTiles, 0}, {kChannels, 0}};
        if (channelThreads > 0) {
            loops.split(kChannels, m_nest.inChannels, {channelThreads});
            order.push_back({kChannels, 1});
        }
        order.insert(order.end(), {{0, 0}, {1, 0}});
        loops.reorder(std::move(order));
        bind(owner, 2, channelThreads);
        m_emitter.add(AnnotateStep{owner, 2, Annotation::Unroll});
        m_emitter.add(AnnotateStep{owner, 3, Annotation::Unroll});
        emitPoints(sums, t.op, owner);
        for (const std::int32_t op : {t.rows, t.gather})
            if (op >= 0)
                emitPoints(m_emitter.stageOf(op), op, owner);
    }

    /// Points to the image. `channelThreads`: as above.
    void emitImage(std::int64_t channelThreads)
    {
        const std::array<std::int32_t, 4>& dims = m_nest.outputDims;
        const std::vector<std::int64_t>& shape = opOf(m_nest.output).shape;
        const auto extent = [&](std::size_t which) { return shape[static_cast<std::size_t>(dims[which])]; };
        const std::int32_t owner = m_emitter.stageOf(m_nest.output);
        StageLoops loops(m_emitter, owner, 4);
        loops.split(dims[2], extent(2), {m_nest.m});
        loops.split(dims[3], extent(3), {m_nest.m});
        if (channelThreads > 0)
            loops.split(dims[1], extent(1), {channelThreads});
        std::vector<LoopPart> order;
        for (std::int32_t a = 0; a < 4; ++a)
            order.push_back({a, 0});
        if (channelThreads > 0)
            order.push_back({dims[1], 1});
        order.insert(order.end(), {{dims[2], 1}, {dims[3], 1}});
        loops.reorder(std::move(order));
        bind(owner, 4, channelThreads);
        m_emitter.add(AnnotateStep{owner, 2, Annotation::Unroll});
        m_emitter.add(AnnotateStep{owner, 3, Annotation::Unroll});
        for (const std::int32_t op : {m_nest.inverse.op, m_nest.inverse.rows})
            if (op >= 0)
                emitPoints(m_emitter.stageOf(op), op, owner);
    }

    /// Gives a tensor of points [rows, columns, b, a] the layout [rows, columns, a / block, b, block].
    void turn(std::int32_t stage, const std::vector<std::int64_t>& shape, std::int32_t a, std::int32_t b,
              std::int64_t block = 1)
    {
        const auto extent = [&shape](std::int32_t dim) { return shape[static_cast<std::size_t>(dim)]; };
        LayoutStep step{
            stage,
            {{0, 1, extent(0)}, {1, 1, extent(1)}, {a, block, ir::ceilDivide(extent(a), block)}, {b, 1, extent(b)}}};
        if (block > 1)
            step.axes.push_back({a, 1, block});
        m_emitter.add(std::move(step));
    }

    const compute::Op& opOf(std::int32_t op) const { return m_scheduled.dag.ops[static_cast<std::size_t>(op)]; }

    Steps finish()
    {
        for (const std::int32_t op : m_nest.inlined)
            m_emitter.inlineOp(op);
        return m_emitter.take();
    }

private:
    /// The outermost `count` loops are blocks, with the threads that the next one is, or fused with theirs.
    void bind(std::int32_t stage, std::int32_t count, std::int64_t threads)
    {
        if (threads == 0) {
            const std::int64_t most = m_scheduled.maxThreads;
            emitFlatLaunch(m_emitter, stage, count, most > 0 ? std::min(most, kTransformThreads) : kTransformThreads);
            return;
        }
        fuseLoops(m_emitter, stage, 0, count);
        m_emitter.add(AnnotateStep{stage, 0, Annotation::BlockX});
        m_emitter.add(AnnotateStep{stage, 1, Annotation::ThreadX});
    }

    /// All points of a tile, written out: the matrices are constants, and most of what they multiply is 0, 1 or -1.
    void emitPoints(std::int32_t stage, std::int32_t op, std::int32_t owner)
    {
        m_emitter.add(ComputeAtStep{stage, owner, 1});
        const auto loops = static_cast<std::int32_t>(opOf(op).shape.size() + opOf(op).reduceAxes.size());
        for (std::int32_t i = 0; i < loops; ++i)
            m_emitter.add(AnnotateStep{stage, i, Annotation::Unroll});
    }

    const Scheduled& m_scheduled;
    const WinogradNest& m_nest;
    StepEmitter m_emitter;
};

Error noWinograd()
{
    return makeError(Errc::Unsupported, say(Msg::TemplateForWinograd));
}

} // namespace

Result<Steps> winogradStepsCuda(const Scheduled& scheduled, const Config& config)
{
    if (scheduled.winograd == nullptr)
        return noWinograd();
    const WinogradNest& nest = *scheduled.winograd;
    LATHE_TRY_ASSIGN(const auto b, splitSizes(config, "tile_b", 4, nest.alpha * nest.alpha));
    LATHE_TRY_ASSIGN(const auto y, splitSizes(config, "tile_y", 4, nest.outChannels));
    LATHE_TRY_ASSIGN(const auto x, splitSizes(config, "tile_x", 4, nest.tiles));
    LATHE_TRY_ASSIGN(const auto rc, splitSizes(config, "tile_rc", 2, nest.inChannels));
    LATHE_TRY_ASSIGN(const std::int64_t unrolled, autoUnrollSteps(config));
    if (b[1] != 1 || b[2] != 1 || b[3] != 1)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateBlocksAlone, "tile_b"));

    WinogradEmitter emit(scheduled);
    StepEmitter& emitter = emit.emitter();
    const bool turned = emit.channelsOutermost();
    std::int32_t sums = emitter.cacheWrite(nest.product, "local");
    const auto staged = stageOperands(emitter, scheduled.dag, {nest.data.op, nest.weight}, Staging::Shared, sums);
    const std::int32_t owner = emitter.stageOf(nest.product);
    std::vector<AxisShare> shares = {shareOfFour(kTiles, nest.tiles, x), shareOfFour(kChannels, nest.outChannels, y)};
    if (turned)
        std::swap(shares[0], shares[1]);
    emitShares(emitter, owner, 4, shares);
    const std::int64_t unrolledOfEach = unrolled / virtualThreadsOf(shares);
    emitUnrolling(emitter, owner, unrolledOfEach);
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, 5);
    loops.split(4, nest.inChannels, {rc[1]});
    loops.reorder({{4, 0}, {4, 1}, {0, 0}, {1, 0}, {2, 0}, {3, 0}});
    emitUnrolling(emitter, sums, unrolledOfEach);

    // In shared memory neighbouring threads read what lies side by side: the sums' steps are outermost there. Where
    // threads of the transforms are neighbours along the tiles, points and products lie so in memory, too.
    const std::vector<std::int32_t> natural, walk = {0, 1, kChannels, kTiles};
    for (const StagedOperand& operand : staged) {
        const bool isWeight = operand.producer == nest.weight;
        emit.turn(operand.shared, emit.opOf(operand.producer).shape, kChannels, kTiles);
        emitFetch(emitter, operand, sums, loops.position({4, 0}), threadsOf(shares), unrolled,
                  (isWeight ? nest.weightIsConstant : turned) ? walk : natural);
    }
    if (nest.weightIsConstant)
        emit.turn(emitter.stageOf(nest.weight), emit.opOf(nest.weight).shape, kChannels, kTiles);
    if (turned)
        for (const std::int32_t op : {nest.data.op, nest.product})
            emit.turn(emitter.stageOf(op), emit.opOf(op).shape, kChannels, kTiles);
    emit.emitImage(0);
    emit.emitData(0);
    return emit.finish();
}

Result<Steps> winogradStepsMali(const Scheduled& scheduled, const Config& config)
{
    if (scheduled.winograd == nullptr)
        return noWinograd();
    const WinogradNest& nest = *scheduled.winograd;
    LATHE_TRY_ASSIGN(const std::int64_t bna, optionOf(config, "tile_bna"));
    LATHE_TRY_ASSIGN(const std::int64_t bnb, optionOf(config, "tile_bnb"));
    LATHE_TRY_ASSIGN(const auto t1, splitSizes(config, "tile_t1", 2, nest.inChannels));
    LATHE_TRY_ASSIGN(const auto t2, splitSizes(config, "tile_t2", 2, nest.outChannels));
    LATHE_TRY_ASSIGN(const auto c, splitSizes(config, "c_unroll", 2, nest.inChannels));
    LATHE_TRY_ASSIGN(const std::int64_t yt, optionOf(config, "yt"));
    for (const std::int64_t size : {bna, bnb, yt})
        if (size < 1 || size > 1024)
            return makeError(Errc::InvalidArgument, say(Msg::TemplateBlockSize, size));

    // A thread has bna channels of bnb tiles; threads of a block lie along the channels.
    WinogradEmitter emit(scheduled);
    StepEmitter& emitter = emit.emitter();
    const std::int32_t sums = emitter.cacheWrite(nest.product, "local"), owner = emitter.stageOf(nest.product);
    const std::int64_t lanes = scheduled.lanesOf(bnb);
    emitShares(emitter, owner, 4,
               {{kChannels, nest.outChannels, 1, yt, bna, 1}, {kTiles, nest.tiles, 1, 1, bnb, lanes}});
    emitter.add(ComputeAtStep{sums, owner, kThreadLoop});
    StageLoops loops(emitter, sums, 5);
    loops.split(4, nest.inChannels, {c[1]});
    loops.split(kTiles, 0, {lanes});
    loops.reorder({{4, 0}, {4, 1}, {0, 0}, {1, 0}, {kChannels, 0}, {kTiles, 0}, {kTiles, 1}});
    loops.annotate({4, 1}, Annotation::Unroll);
    loops.annotate({kChannels, 0}, Annotation::Unroll);
    loops.annotate({kTiles, 0}, Annotation::Unroll);
    if (lanes > 1)
        loops.annotate({kTiles, 1}, Annotation::Vectorize);
    // Points and weights lie as the products read them, in blocks; products with their tiles innermost.
    const std::int32_t data = emitter.stageOf(nest.data.op);
    const std::vector<std::int64_t>& points = emit.opOf(nest.data.op).shape;
    // The reference rounds the number of tiles up to whole blocks. Here the last block would be read where nobody
    // wrote.
    if (nest.tiles % bnb == 0)
        emit.turn(data, points, kTiles, kChannels, bnb);
    else
        emit.turn(data, points, kChannels, kTiles);
    if (nest.weightIsConstant)
        emit.turn(emitter.stageOf(nest.weight), emit.opOf(nest.weight).shape, kTiles, kChannels, bna);
    emit.turn(owner, emit.opOf(nest.product).shape, kChannels, kTiles);
    emit.emitImage(t2[1]);
    emit.emitData(t1[1]);
    return emit.finish();
}

} // namespace lathe::templates
