#include "core/search/lathe/lathe_cpu_sketches.h"

#include "core/compute/flop.h"
#include "core/search/lathe/rows_part.h"
#include "core/search/lathe/winograd_part.h"
#include "core/support/check.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {
namespace {

constexpr std::string_view kVersion = "lathe-cpu/1:";

/// "winograd:4" -> 4
double tileOf(const std::string& alternative)
{
    const std::size_t colon = alternative.find(':');
    return alternative.starts_with("winograd") && colon != std::string::npos
               ? std::atof(alternative.c_str() + colon + 1)
               : 0;
}

/// What tells its sketches from those of the other forms, by name.
constexpr const char* suffixOf(LatheForm form)
{
    switch (form) {
    case LatheForm::Phases: return "";
    case LatheForm::Blocks: return ":blocks";
    case LatheForm::Rows: return ":rows";
    }
    return "";
}

} // namespace

const std::vector<std::string>& latheFeatureNames()
{
    static const std::vector<std::string> names = {
        "lanes",           "vectors",        "tile_a",         "tile_b",         "pixels",          "accumulators",
        "registers",       "free_registers", "body",           "steps",          "unroll",          "kernel_unroll",
        "chunk",           "order_pixels",   "order_channels", "order_rows",     "border_guarded",  "border_divided",
        "border_copied",   "prefetch",       "chunks",         "balance",        "flops",           "bytes",
        "intensity",       "traffic_l1",     "traffic_l2",     "traffic_l3",     "footprint_inner", "footprint_tile",
        "footprint_chunk", "inner_of_l1",    "tile_of_l1",     "tile_of_l2",     "chunk_of_l2",     "weight_panel",
        "panel_of_l1",     "panel_of_l2",    "gathered",       "compute_cycles", "memory_cycles",   "memory_share",
        "main_seconds",    "other_seconds",  "phases",         "algorithm",      "total_seconds"};
    return names;
}

LatheSketch::LatheSketch(std::string name, const SearchAlternative& alternative, const Hardware& hardware)
    : PartedSketch(std::move(name), alternative)
    , m_machine(hardware)
    , m_algorithm(tileOf(alternative.name))
{
}

Result<std::shared_ptr<const LatheSketch>> LatheSketch::create(const SearchAlternative& alternative,
                                                               const Hardware& hardware, LatheForm form)
{
    LATHE_TRY(checkOperations(alternative));
    std::shared_ptr<LatheSketch> sketch(
        new LatheSketch(std::string(kVersion) + alternative.name + suffixOf(form), alternative, hardware));
    const NestContext context{sketch->analysis(), sketch->m_machine, sketch->constantOps()};
    std::optional<WinogradStages> winograd;
    if (form == LatheForm::Rows) {
        const std::optional<RowStages> rows = findRows(sketch->analysis());
        if (!rows)
            return makeError(Errc::Unsupported, "'" + alternative.name + "' does not work by rows");
        takeRowsIn(sketch->plan(), *rows);
        sketch->addPart(rows->owner, std::make_unique<RowsPart>(context, *rows));
    } else if (form == LatheForm::Blocks) {
        winograd = findWinograd(sketch->analysis());
        if (!winograd)
            return makeError(Errc::Unsupported,
                             "'" + alternative.name + "' is no winograd convolution in NHWC that ends in an epilogue");
        sketch->takeIn(*winograd);
    }
    for (const Nest& nest : sketch->plan().nests) {
        std::unique_ptr<NestPart> part;
        switch (nest.kind) {
        case NestKind::Map: part = makeMapPart(context, nest); break;
        case NestKind::Tile: part = makeTilePart(context, nest); break;
        case NestKind::Transform: part = makeTransformPart(context, nest); break;
        }
        if (winograd && nest.owner == winograd->data)
            sketch->addPart(winograd->owner, std::make_unique<WinogradPart>(context, *winograd, std::move(part)));
        else
            sketch->addPart(nest.owner, std::move(part));
    }
    return std::shared_ptr<const LatheSketch>(std::move(sketch));
}

/// Leaves one nest for the whole convolution: that of the data's transform, with which the others go.
void LatheSketch::takeIn(const WinogradStages& stages)
{
    for (const std::int32_t op : {stages.product, stages.inverse, stages.data})
        plan().roles[static_cast<std::size_t>(op)] = Role::Anchor;
    std::erase_if(plan().nests, [&stages](const Nest& n) {
        return n.owner == stages.owner || n.owner == stages.product || n.owner == stages.inverse;
    });
}

void LatheSketch::emitBorder(StepEmitter& emitter, std::int32_t op) const
{
    const compute::Op& pad = dag()->ops[static_cast<std::size_t>(op)];
    const std::int64_t lanes = laneChoices(pad.shape.back(), sizeOf(pad.dtype), m_machine).front();
    emitMap(emitter, emitter.stageOf(op), pad.shape, lanes, 1, 2);
}

Result<LatheSketch::Analysis> LatheSketch::analyse(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    Analysis result;
    NestFacts main;
    double mainSeconds = -1;
    for (std::size_t part = 0; part < partCount(); ++part) {
        LATHE_TRY_ASSIGN(const NestFacts facts, nest(part).facts(genesOf(part, genome)));
        result.seconds += facts.seconds;
        if (facts.flops > main.flops || mainSeconds < 0) {
            main = facts;
            mainSeconds = facts.seconds;
        }
    }
    const double l1 = m_machine.cacheBytes[0], l2 = m_machine.cacheBytes[1];
    const double cycles = main.computeCycles + main.memoryCycles;
    result.features = {loggedFeature(main.lanes),
                       static_cast<float>(main.vectors),
                       static_cast<float>(main.tileA),
                       static_cast<float>(main.tileB),
                       static_cast<float>(main.tileA * main.tileB),
                       static_cast<float>(main.accumulators),
                       static_cast<float>(main.registers),
                       static_cast<float>(static_cast<double>(m_machine.registers) - main.registers),
                       loggedFeature(main.bodySize),
                       loggedFeature(main.reduceSteps),
                       loggedFeature(main.unroll),
                       static_cast<float>(main.kernelUnroll),
                       loggedFeature(main.chunk),
                       main.order == 0 ? 1.0f : 0.0f,
                       main.order == 1 ? 1.0f : 0.0f,
                       main.order == 2 ? 1.0f : 0.0f,
                       main.border == 0 ? 1.0f : 0.0f,
                       main.border == 1 ? 1.0f : 0.0f,
                       main.border == 2 ? 1.0f : 0.0f,
                       loggedFeature(main.prefetchBytes),
                       loggedFeature(main.parallelChunks),
                       static_cast<float>(main.balance),
                       loggedFeature(main.flops),
                       loggedFeature(main.bytesTouched),
                       loggedFeature(main.flops / std::max(1.0, main.bytesTouched)),
                       loggedFeature(main.traffic[0]),
                       loggedFeature(main.traffic[1]),
                       loggedFeature(main.traffic[2]),
                       loggedFeature(main.footprint[0]),
                       loggedFeature(main.footprint[1]),
                       loggedFeature(main.footprint[2]),
                       loggedFeature(main.footprint[0] / l1),
                       loggedFeature(main.footprint[1] / l1),
                       loggedFeature(main.footprint[1] / l2),
                       loggedFeature(main.footprint[2] / l2),
                       loggedFeature(main.weightPanel),
                       loggedFeature(main.weightPanel / l1),
                       loggedFeature(main.weightPanel / l2),
                       static_cast<float>(main.gathered),
                       loggedFeature(main.computeCycles),
                       loggedFeature(main.memoryCycles),
                       static_cast<float>(cycles > 0 ? main.memoryCycles / cycles : 0),
                       loggedFeature(mainSeconds * 1e9),
                       loggedFeature((result.seconds - mainSeconds) * 1e9),
                       static_cast<float>(partCount()),
                       static_cast<float>(m_algorithm),
                       loggedFeature(result.seconds * 1e9)};
    LATHE_DCHECK(result.features.size() == static_cast<std::size_t>(kLatheFeatures)) << result.features.size();
    return result;
}

Result<std::vector<std::shared_ptr<const LatheSketch>>> latheCpuSketches(const SearchTask& task)
{
    std::vector<std::shared_ptr<const LatheSketch>> sketches;
    Message reason = say(Msg::NoAlternative);
    for (const SearchAlternative& alternative : task.alternatives) {
        auto sketch = LatheSketch::create(alternative, task.hardware);
        if (sketch)
            sketches.push_back(*std::move(sketch));
        else
            reason = messageOf(sketch.error());
        if (tileOf(alternative.name) > 0)
            if (auto blocks = LatheSketch::create(alternative, task.hardware, LatheForm::Blocks))
                sketches.push_back(*std::move(blocks));
        if (auto rows = LatheSketch::create(alternative, task.hardware, LatheForm::Rows))
            sketches.push_back(*std::move(rows));
    }
    if (sketches.empty())
        return makeError(Errc::Unsupported, say(Msg::TaskNotSchedulable, task.name, reason));
    return sketches;
}

} // namespace lathe::search
