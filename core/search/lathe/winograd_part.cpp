#include "core/search/lathe/winograd_part.h"

#include "core/ir/bounds.h"
#include "core/search/lathe/access.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

using namespace schedule;

namespace {

constexpr std::size_t kDataParallel = 2; ///< gene of the data's transform: loops that are shared out

std::int32_t findOp(const compute::Dag& dag, std::string_view name)
{
    for (std::size_t i = 0; i < dag.ops.size(); ++i)
        if (dag.ops[i].name == name)
            return static_cast<std::int32_t>(i);
    return -1;
}

Error illegalBlock(const char* text)
{
    return makeError(Errc::IllegalSchedule, text);
}

} // namespace

std::optional<WinogradStages> findWinograd(const compute::Analysis& analysis)
{
    const compute::Dag& dag = analysis.dag();
    WinogradStages s;
    for (std::size_t i = 0; i < dag.ops.size(); ++i)
        if (dag.ops[i].tag == "conv2d_winograd_nhwc")
            s.image = static_cast<std::int32_t>(i);
    s.data = findOp(dag, "data_pack");
    s.product = findOp(dag, "bgemm");
    s.inverse = findOp(dag, "inverse");
    s.inverseRows = findOp(dag, "inverse_rows");
    if (s.image < 0 || s.data < 0 || s.product < 0 || s.inverse < 0 || dag.outputs.size() != 1)
        return std::nullopt;
    s.owner = dag.outputs.front();
    // All that follows the convolution is done point by point where its tile is.
    std::int32_t end = s.image;
    while (end != s.owner) {
        if (analysis.consumers(end).size() != 1)
            return std::nullopt;
        const std::int32_t reader = analysis.consumers(end).front();
        if (analysis.op(reader).hasReduce || !analysis.elementwiseMatch(s.image, reader))
            return std::nullopt;
        end = reader;
    }
    const compute::Op& inverse = dag.ops[static_cast<std::size_t>(s.inverse)];
    const compute::Op& image = dag.ops[static_cast<std::size_t>(s.image)];
    s.tile = inverse.shape[0];
    s.tilesHigh = ir::ceilDivide(image.shape[1], s.tile);
    s.tilesWide = ir::ceilDivide(image.shape[2], s.tile);
    return s;
}

WinogradPart::WinogradPart(const NestContext& context, const WinogradStages& stages, std::unique_ptr<NestPart> data)
    : m_machine(context.machine)
    , m_stages(stages)
    , m_data(std::move(data))
    , m_output(context.analysis.dag().ops[static_cast<std::size_t>(stages.owner)])
    , m_product(context.analysis.dag().ops[static_cast<std::size_t>(stages.product)])
{
    for (const Operand& operand : operandsOf(context.analysis.dag(), stages.product))
        if (context.constantOps[static_cast<std::size_t>(operand.producer)])
            m_weight = operand.producer;
    const std::int64_t channels = m_product.shape[3], inputs = m_product.reduceExtents[0];
    m_values.resize(GeneCount);
    for (const std::int64_t lanes : laneChoices(channels, sizeOf(m_product.dtype), m_machine))
        if (channels % lanes == 0)
            m_values[Lanes].push_back(lanes);
    if (m_values[Lanes].empty())
        m_values[Lanes] = {1};
    m_values[Vectors] = {1, 2, 3, 4};
    m_values[Tiles] = {3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16};
    for (const std::int64_t d : divisors(stages.tilesHigh))
        if (d * stages.tilesWide <= 128 || d == 1)
            m_values[Rows].push_back(d);
    for (const std::int64_t d : divisors(channels))
        if (d % m_values[Lanes].front() == 0)
            m_values[Block].push_back(d);
    if (m_values[Block].empty())
        m_values[Block] = {channels};
    m_values[Order] = {0, 1};
    m_values[Attach] = {0, 1};
    m_values[Depth] = {1, 2};
    for (const std::int64_t u : {1, 2, 4, 8, 16})
        if (inputs % u == 0)
            m_values[Unroll].push_back(u);
    m_values[Prefetch] = m_weight >= 0 ? std::vector<std::int64_t>{0, 4096, 8192} : std::vector<std::int64_t>{0};
}

std::vector<Parameter> WinogradPart::parameters() const
{
    static constexpr const char* kNames[GeneCount] = {"lanes", "vectors", "tiles",    "rows",   "block",
                                                      "order", "attach",  "parallel", "unroll", "prefetch"};
    std::vector<Parameter> parameters;
    for (std::size_t g = 0; g < GeneCount; ++g)
        parameters.push_back({std::string(kNames[g]) + ' ' + m_product.name, Parameter::Kind::Choice,
                              static_cast<std::int32_t>(m_values[g].size()), nullptr, m_values[g]});
    const std::vector<Parameter> data = m_data->parameters();
    parameters.insert(parameters.end(), data.begin(), data.end());
    return parameters;
}

WinogradPart::Choice WinogradPart::decode(std::span<const std::int32_t> genes) const
{
    const auto value = [&](Gene g) { return m_values[g][static_cast<std::size_t>(genes[g])]; };
    return {value(Lanes), value(Vectors), value(Tiles), value(Rows),   value(Block),
            value(Order), value(Attach),  value(Depth), value(Unroll), value(Prefetch)};
}

/// Those of the data's transform; inside a block of the result nothing is shared out any more.
std::vector<std::int32_t> WinogradPart::dataGenes(std::span<const std::int32_t> genes, const Choice& c) const
{
    std::vector<std::int32_t> data(genes.begin() + GeneCount, genes.end());
    if (c.attach != 0)
        data[kDataParallel] = 0;
    return data;
}

void WinogradPart::settle(std::span<std::int32_t> genes) const
{
    const std::vector<std::int32_t> data = dataGenes(genes, decode(genes));
    std::copy(data.begin(), data.end(), genes.begin() + GeneCount);
    m_data->settle(genes.subspan(GeneCount));
}

Result<NestFacts> WinogradPart::facts(std::span<const std::int32_t> genes) const
{
    const Choice c = decode(genes);
    const std::int64_t points = c.rows * m_stages.tilesWide;
    const std::int64_t channels = m_product.shape[3], inputs = m_product.reduceExtents[0];
    if (c.block % (c.vectors * c.lanes) != 0)
        return illegalBlock("vectors of the product do not divide the block of channels");
    const std::int64_t wasted = (c.tiles - points % c.tiles) % c.tiles;
    if (c.tiles > points || wasted * 7 > points)
        return illegalBlock("tiles of the product do not divide the block of tiles");
    if (c.attach != 0 && c.order != 0)
        return illegalBlock("with channels outermost the data would be transformed once for each block of them");
    const double rowBlocks = static_cast<double>(m_stages.tilesHigh / c.rows * m_output.shape[0]);
    const double channelBlocks = static_cast<double>(channels / c.block);
    if (c.depth == 2 && c.attach != 0)
        return illegalBlock("data that is transformed inside a block of rows is not shared out by channels");
    if (c.depth == 2 && channelBlocks * rowBlocks <= std::max(channelBlocks, rowBlocks))
        return illegalBlock("there are no two loops to share out");

    NestFacts f;
    f.lanes = static_cast<double>(c.lanes);
    f.vectors = static_cast<double>(c.vectors);
    f.tileA = static_cast<double>(c.tiles);
    f.accumulators = f.vectors * f.tileA;
    f.registers = f.accumulators + f.vectors;
    if (f.registers > static_cast<double>(m_machine.registers))
        return makeError(Errc::IllegalSchedule, say(Msg::ProductOverRegisters, "vector_registers"));
    f.unroll = static_cast<double>(c.unroll);
    f.bodySize = f.accumulators * f.unroll;
    if (f.bodySize > kMaxBody)
        return illegalBlock("an unrolled body of the product is too long");
    f.order = c.order == 0 ? 0 : 1;
    f.border = static_cast<double>(c.attach);
    f.prefetchBytes = static_cast<double>(c.prefetch);
    f.chunk = static_cast<double>(points);
    f.reduceSteps = static_cast<double>(inputs);
    f.kernelUnroll = static_cast<double>(c.block);
    f.parallelChunks = c.depth == 2 ? rowBlocks * channelBlocks : c.order == 0 ? rowBlocks : channelBlocks;
    f.balance = imbalance(f.parallelChunks, m_machine.threads);
    const double share = f.balance / static_cast<double>(m_machine.threads);

    const auto positions = static_cast<double>(m_product.shape[0] * m_product.shape[1]);
    const double tiles = static_cast<double>(m_product.shape[2]);
    const double all = static_cast<double>(m_stages.tile * m_stages.tile);
    f.waste = static_cast<double>(points + wasted) / static_cast<double>(points);
    f.flops = positions * tiles * static_cast<double>(channels * inputs) * 2;
    const double perStep = std::max({f.accumulators / m_machine.fmaPerCycle, (f.tileA + f.vectors) / 2, kFmaLatency});
    const double perTile = f.reduceSteps * (perStep + 2.0 / f.unroll) + 3 * f.accumulators + 20;
    const double product = positions * tiles * static_cast<double>(channels) * f.waste / (f.accumulators * f.lanes)
                           * perTile;
    // About two thirds of the entries of a constant matrix are not zero.
    const double operations = m_stages.inverseRows >= 0 ? static_cast<double>(m_stages.tile * m_product.shape[0]
                                                                              * (m_stages.tile + m_product.shape[0]))
                                                              * 2 / 3
                                                        : all * positions * 4 / 9;
    const double inverse = tiles * static_cast<double>(channels) / f.lanes
                           * (operations / m_machine.fmaPerCycle * 1.3 + 3 * all);
    f.computeCycles = (product + inverse) * share;

    // Bytes: of a block of transformed data and of products, and of the weights that meet them.
    const double dataBlock = positions * static_cast<double>(points * inputs) * 4;
    const double productBlock = positions * static_cast<double>(points * c.block) * 4;
    const double panel = positions * static_cast<double>(inputs * c.block) * 4;
    const double weights = panel * channelBlocks, data = dataBlock * rowBlocks;
    f.footprint[0] = static_cast<double>((c.tiles + c.vectors * c.lanes) * inputs) * 4;
    f.footprint[1] = dataBlock + productBlock;
    f.footprint[2] = f.footprint[1] + (c.order == 0 ? weights : panel);
    f.weightPanel = panel;
    f.bytesTouched = weights + data + static_cast<double>(compute::spatialSize(m_output)) * 4;
    const double fast = 0.75 * m_machine.cacheBytes[1];
    const auto cost = [&](double bytes, double inUse) {
        return bytes / m_machine.bytesPerCycle[inUse <= fast ? 1 : inUse <= m_machine.cacheBytes[2] ? 2 : 3];
    };
    // Rows outermost: all weights for each block of rows. Channels outermost: the data once for each block of channels.
    const double weightReads = c.order == 0 ? weights * (rowBlocks - 1) : weights * 0;
    const double dataReads = c.order == 0 ? data : data * channelBlocks;
    f.memoryCycles = (cost(weightReads, f.footprint[2]) + cost(weights, m_machine.cacheBytes[2])
                      + cost(dataReads, c.attach != 0 ? f.footprint[1] : data)
                      + cost(2 * productBlock * rowBlocks * channelBlocks, f.footprint[1])
                      + cost(f.bytesTouched - weights - data, data))
                     * share;
    f.traffic[0] = weightReads + weights + dataReads;
    f.traffic[1] = (f.footprint[2] <= fast ? 0 : weightReads) + weights;
    finishFacts(f, m_machine);

    LATHE_TRY_ASSIGN(const NestFacts transform, m_data->facts(dataGenes(genes, c)));
    // On its own it says what it takes with the threads that it has; inside a block it has those of the block.
    const double factor = c.attach == 0 ? 1.0 : share / transform.balance * static_cast<double>(m_machine.threads);
    f.seconds += transform.seconds * factor;
    f.gathered = transform.seconds * factor * 1e6;
    return f;
}

void WinogradPart::emit(std::span<const std::int32_t> genes, StepEmitter& emitter) const
{
    const Choice c = decode(genes);
    const std::int64_t channels = m_product.shape[3], inputs = m_product.reduceExtents[0];
    // n h w co of the image: rows in blocks of tiles, tiles, points; channels in blocks, vectors, lanes.
    const LoopPart batch{0, 0}, rowBlock{1, 0}, row{1, 1}, y{1, 2}, column{2, 0}, x{2, 1}, channelBlock{3, 0},
        vector{3, 1}, lane{3, 2};
    const std::vector<LoopPart> outer = c.order == 0 ? std::vector{batch, rowBlock, channelBlock}
                                                     : std::vector{channelBlock, batch, rowBlock};
    StageLoops owner(emitter, emitter.stageOf(m_stages.owner), 4);
    owner.split(1, m_output.shape[1], {c.rows, m_stages.tile});
    owner.split(2, m_output.shape[2], {m_stages.tile});
    owner.split(3, channels, {c.block / c.lanes, c.lanes});
    std::vector<LoopPart> order = outer;
    order.insert(order.end(), {row, column, vector, y, x, lane});
    owner.reorder(order);
    owner.annotate(y, Annotation::Unroll);
    owner.annotate(x, Annotation::Unroll);
    if (c.lanes > 1)
        owner.annotate(lane, Annotation::Vectorize);

    // The inverse of one tile and vector: vh vw p co | r_a r_b, all in registers.
    const auto emitInverse = [&](std::int32_t op, std::int32_t sums) {
        StageLoops inverse(emitter, emitter.stageOf(op), 4 + sums);
        std::vector<LoopPart> loops = {{2, 0}, {0, 0}, {1, 0}};
        for (std::int32_t r = 0; r < sums; ++r)
            loops.push_back({4 + r, 0});
        loops.push_back({3, 0});
        inverse.reorder(loops);
        for (std::size_t i = 1; i + 1 < loops.size(); ++i)
            inverse.annotate(loops[i], Annotation::Unroll);
        if (c.lanes > 1)
            inverse.annotate({3, 0}, Annotation::Vectorize);
        emitter.add(ComputeAtStep{inverse.stage(), owner.stage(), owner.position(vector)});
    };
    const bool split = m_stages.inverseRows >= 0;
    emitInverse(m_stages.inverse, split ? 1 : 2);
    if (split)
        emitInverse(m_stages.inverseRows, 1);

    // The products of a block: eps nu p co | ci.
    StageLoops product(emitter, emitter.stageOf(m_stages.product), 5);
    product.cover(2, c.rows * m_stages.tilesWide, {c.tiles});
    product.split(3, c.block, {c.vectors, c.lanes});
    product.split(4, inputs, {c.unroll});
    product.reorder({{0, 0}, {1, 0}, {3, 0}, {2, 0}, {4, 0}, {4, 1}, {2, 1}, {3, 1}, {3, 2}});
    if (c.unroll > 1)
        product.annotate({4, 1}, Annotation::Unroll);
    product.annotate({2, 1}, Annotation::Unroll);
    product.annotate({3, 1}, Annotation::Unroll);
    if (c.lanes > 1)
        product.annotate({3, 2}, Annotation::Vectorize);
    emitter.add(ComputeAtStep{product.stage(), owner.stage(), owner.position(outer.back())});
    if (m_weight >= 0) {
        // eps nu co ci, in the order in which the loops walk them.
        const std::int64_t width = c.vectors * c.lanes;
        const std::int32_t weight = emitter.stageOf(m_weight);
        emitter.add(LayoutStep{weight,
                               {{2, c.block, channels / c.block},
                                {0, 1, m_product.shape[0]},
                                {1, 1, m_product.shape[1]},
                                {2, width, c.block / width},
                                {3, 1, inputs},
                                {2, c.lanes, c.vectors},
                                {2, 1, c.lanes}}});
        if (c.prefetch != 0)
            emitter.add(PrefetchStep{product.stage(), product.position({4, 0}), weight, c.prefetch});
    }

    m_data->emit(dataGenes(genes, c), emitter);
    // Its cache stage came before the others: they have other numbers now.
    const std::int32_t ownerStage = emitter.stageOf(m_stages.owner);
    if (c.attach != 0)
        emitter.add(ComputeAtStep{emitter.stageOf(m_stages.data), ownerStage, owner.position(rowBlock)});
    // Loops that run once do not count among those that are shared out.
    const auto runs = [&](LoopPart loop) {
        return loop == batch ? m_output.shape[0] : loop == rowBlock ? m_stages.tilesHigh / c.rows : channels / c.block;
    };
    std::int32_t count = 0, running = 0;
    while (static_cast<std::size_t>(count) < outer.size() && running < c.depth)
        running += runs(outer[static_cast<std::size_t>(count++)]) > 1 ? 1 : 0;
    if (c.attach != 0) // not past the loop that it is attached to
        count = std::min(count, 2);
    if (count > 1) {
        FuseStep fuse{ownerStage, {}};
        for (std::int32_t i = 0; i < count; ++i)
            fuse.iters.push_back(i);
        emitter.add(std::move(fuse));
    }
    emitter.add(AnnotateStep{ownerStage, 0, Annotation::Parallel});
}

} // namespace lathe::search
