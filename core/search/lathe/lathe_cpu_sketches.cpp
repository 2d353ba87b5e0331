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
    : PartedSketch(std::move(name), alternative.name, alternative.dag)
    , m_machine(hardware)
    , m_analysis(alternative.dag)
    , m_plan(planNests(m_analysis))
    , m_constantOps(constantOps(alternative))
    , m_algorithm(tileOf(alternative.name))
{
}

Result<std::shared_ptr<const LatheSketch>> LatheSketch::create(const SearchAlternative& alternative,
                                                               const Hardware& hardware, LatheForm form)
{
    LATHE_CHECK(alternative.dag != nullptr) << alternative.name;
    for (const compute::Op& op : alternative.dag->ops) {
        if (op.bodies.size() > 1)
            return makeError(Errc::Unsupported, say(Msg::SeveralOutputs, op.name));
        for (const std::int64_t extent : op.shape)
            if (extent < 1)
                return makeError(Errc::Unsupported, say(Msg::EmptyDimension, op.name));
    }
    std::shared_ptr<LatheSketch> sketch(
        new LatheSketch(std::string(kVersion) + alternative.name + suffixOf(form), alternative, hardware));
    const NestContext context{sketch->m_analysis, sketch->m_machine, sketch->m_constantOps};
    std::optional<WinogradStages> winograd;
    if (form == LatheForm::Rows) {
        const std::optional<RowStages> rows = findRows(sketch->m_analysis);
        if (!rows)
            return makeError(Errc::Unsupported, "'" + alternative.name + "' does not work by rows");
        takeRowsIn(sketch->m_plan, *rows);
        sketch->addPart(rows->owner, std::make_unique<RowsPart>(context, *rows));
    } else if (form == LatheForm::Blocks) {
        winograd = findWinograd(sketch->m_analysis);
        if (!winograd)
            return makeError(Errc::Unsupported,
                             "'" + alternative.name + "' is no winograd convolution in NHWC that ends in an epilogue");
        sketch->takeIn(*winograd);
    }
    for (const Nest& nest : sketch->m_plan.nests) {
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

void LatheSketch::addPart(std::int32_t op, std::unique_ptr<NestPart> nest)
{
    const std::vector<Parameter> parameters = nest->parameters();
    m_parts.push_back({op, m_parameters.size(), parameters.size(), std::move(nest)});
    m_parameters.insert(m_parameters.end(), parameters.begin(), parameters.end());
}

/// Leaves one nest for the whole convolution: that of the data's transform, with which the others go.
void LatheSketch::takeIn(const WinogradStages& stages)
{
    for (const std::int32_t op : {stages.product, stages.inverse, stages.data})
        m_plan.roles[static_cast<std::size_t>(op)] = Role::Anchor;
    std::erase_if(m_plan.nests, [&stages](const Nest& n) {
        return n.owner == stages.owner || n.owner == stages.product || n.owner == stages.inverse;
    });
}

Result<std::vector<schedule::Step>> LatheSketch::instantiate(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    const compute::Dag& dag = *this->dag();
    StepEmitter emitter(dag.ops.size());
    const auto genesOf = [&](const Part& part) { return std::span(genome).subspan(part.firstGene, part.genes); };
    for (const Part& part : m_parts)
        LATHE_TRY(part.nest->facts(genesOf(part)));
    // Consumers before producers, so that stages still to come keep their numbers.
    for (auto op = static_cast<std::int32_t>(dag.ops.size()) - 1; op >= 0; --op) {
        switch (m_plan.roles[static_cast<std::size_t>(op)]) {
        case Role::Inline: emitter.inlineOp(op); break;
        case Role::Owner: {
            const auto part = std::find_if(m_parts.begin(), m_parts.end(), [&](const Part& p) { return p.op == op; });
            part->nest->emit(genesOf(*part), emitter);
            break;
        }
        case Role::Border: {
            bool copied = false;
            for (std::size_t n = 0; n < m_plan.nests.size(); ++n)
                if (m_plan.nests[n].border == op)
                    copied = m_parts[n].nest->copiesBorder(genesOf(m_parts[n]));
            if (!copied) {
                emitter.inlineOp(op);
            } else {
                const compute::Op& pad = dag.ops[static_cast<std::size_t>(op)];
                const std::int64_t lanes = laneChoices(pad.shape.back(), sizeOf(pad.dtype), m_machine).front();
                emitMap(emitter, emitter.stageOf(op), pad.shape, lanes, 1, 2);
            }
            break;
        }
        case Role::Gather: // with its reader
        case Role::Anchor:
        case Role::Placeholder: break;
        }
    }
    return emitter.take();
}

Genome LatheSketch::settled(Genome genome) const
{
    for (const Part& part : m_parts)
        part.nest->settle(std::span(genome).subspan(part.firstGene, part.genes));
    return genome;
}

Result<double> LatheSketch::secondsOf(std::size_t part, std::span<const std::int32_t> genes) const
{
    LATHE_TRY_ASSIGN(const NestFacts facts, m_parts[part].nest->facts(genes));
    return facts.seconds;
}

Result<LatheSketch::Analysis> LatheSketch::analyse(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    Analysis result;
    NestFacts main;
    double mainSeconds = -1;
    for (const Part& part : m_parts) {
        LATHE_TRY_ASSIGN(const NestFacts facts,
                         part.nest->facts(std::span(genome).subspan(part.firstGene, part.genes)));
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
                       static_cast<float>(m_parts.size()),
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
