#include "core/search/lathe/launch_sketches.h"

#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/launch_rows_part.h"
#include "core/support/check.h"
#include "core/support/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe::search {
namespace {

constexpr std::string_view kLaunchVersion = "lathe-gpu/1:";
constexpr std::array kForms = {LaunchForm::Registers, LaunchForm::Shared, LaunchForm::Split,
                               LaunchForm::Slices,    LaunchForm::Tree,   LaunchForm::Rows};

const char* nameOf(LaunchForm form)
{
    switch (form) {
    case LaunchForm::Registers: return "registers";
    case LaunchForm::Shared: return "shared";
    case LaunchForm::Split: return "split";
    case LaunchForm::Slices: return "slices";
    case LaunchForm::Tree: return "tree";
    case LaunchForm::Rows: return "rows";
    }
    return "";
}

} // namespace

const std::vector<std::string>& launchFeatureNames()
{
    static const std::vector<std::string> names = {
        "blocks",     "threads",   "virtual_threads", "sums",         "lanes",        "registers",     "shared_bytes",
        "steps",      "unrolled",  "chunks",          "slices",       "flops",        "waste",         "bytes",
        "arithmetic", "accesses",  "shared_accesses", "segments",     "conflicts",    "waits",         "barriers",
        "packed",     "copied",    "fetch",           "padded",       "resident",     "occupancy",     "waves",
        "last_wave",  "intensity", "compute",         "memory",       "main_seconds", "other_seconds", "launches",
        "form",       "parts",     "sums_per_access", "total_seconds"};
    return names;
}

LaunchSketch::LaunchSketch(std::string name, const SearchAlternative& alternative, const LaunchMachine& machine,
                           LaunchForm form)
    : PartedSketch(std::move(name), alternative.name, alternative.dag)
    , m_machine(machine)
    , m_form(form)
    , m_analysis(alternative.dag)
    , m_plan(planNests(m_analysis))
    , m_constantOps(constantOps(alternative))
{
}

Result<std::shared_ptr<const LaunchSketch>> LaunchSketch::create(const SearchAlternative& alternative,
                                                                 const Hardware& hardware, std::string_view family,
                                                                 LaunchForm form)
{
    LATHE_CHECK(alternative.dag != nullptr) << alternative.name;
    for (const compute::Op& op : alternative.dag->ops) {
        if (op.bodies.size() > 1)
            return makeError(Errc::Unsupported, say(Msg::SeveralOutputs, op.name));
        for (const std::int64_t extent : op.shape)
            if (extent < 1)
                return makeError(Errc::Unsupported, say(Msg::EmptyDimension, op.name));
    }
    std::shared_ptr<LaunchSketch> sketch(
        new LaunchSketch(std::string(kLaunchVersion) + alternative.name + ':' + nameOf(form), alternative,
                         LaunchMachine(hardware, family), form));
    LATHE_TRY(sketch->addParts());
    return std::shared_ptr<const LaunchSketch>(std::move(sketch));
}

Result<> LaunchSketch::addParts()
{
    const LaunchContext context{m_analysis, m_machine, m_constantOps};
    bool takesForm = m_form == LaunchForm::Registers;
    if (m_form == LaunchForm::Rows) {
        const std::optional<RowStages> rows = findRows(m_analysis);
        if (!rows || m_machine.sharedBytes <= 0)
            return makeError(Errc::Unsupported, say(Msg::NotByRows, alternative()));
        takeRowsIn(m_plan, *rows);
        addPart(rows->owner, makeLaunchRowsPart(context, *rows));
        return {};
    }
    for (const Nest& nest : m_plan.nests) {
        std::unique_ptr<LaunchPart> part;
        switch (nest.kind) {
        case NestKind::Map: part = makeLaunchMapPart(context, nest); break;
        case NestKind::Transform: part = makeLaunchTransformPart(context, nest); break;
        case NestKind::Tile:
            if (m_form == LaunchForm::Tree)
                part = makeLaunchTreePart(context, nest);
            else if (m_form != LaunchForm::Registers)
                part = makeLaunchTilePart(context, nest, m_form);
            takesForm = takesForm || part;
            if (!part)
                part = makeLaunchTilePart(context, nest, LaunchForm::Registers);
            break;
        }
        addPart(nest.owner, std::move(part));
    }
    if (!takesForm)
        return makeError(Errc::Unsupported, say(Msg::NoSumForForm, alternative(), nameOf(m_form)));
    return {};
}

void LaunchSketch::addPart(std::int32_t op, std::unique_ptr<LaunchPart> nest)
{
    const std::vector<Parameter> open = nest->parameters();
    m_parts.push_back({op, m_parameters.size(), open.size(), std::move(nest)});
    m_parameters.insert(m_parameters.end(), open.begin(), open.end());
}

bool LaunchSketch::isBorderCopied(std::int32_t op, const Genome& genome) const
{
    for (std::size_t n = 0; n < m_plan.nests.size(); ++n)
        if (m_plan.nests[n].border == op)
            return m_parts[n].nest->copiesBorder(std::span(genome).subspan(m_parts[n].firstGene, m_parts[n].genes));
    return false;
}

Result<std::vector<schedule::Step>> LaunchSketch::instantiate(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    const compute::Dag& dag = *this->dag();
    const auto genesAt = [&](const Part& part) { return std::span(genome).subspan(part.firstGene, part.genes); };
    for (const Part& part : m_parts)
        LATHE_TRY(part.nest->facts(genesAt(part)));
    constexpr std::int64_t kBorderThreads = 64;
    StepEmitter emitter(dag.ops.size());
    // Consumers before producers, so that stages still to come keep their numbers.
    for (auto op = static_cast<std::int32_t>(dag.ops.size()) - 1; op >= 0; --op) {
        switch (m_plan.roles[static_cast<std::size_t>(op)]) {
        case Role::Inline: emitter.inlineOp(op); break;
        case Role::Owner: {
            const auto part = std::find_if(m_parts.begin(), m_parts.end(), [&](const Part& p) { return p.op == op; });
            part->nest->emit(genesAt(*part), emitter);
            break;
        }
        case Role::Border:
            if (isBorderCopied(op, genome))
                emitLaunchMap(emitter, emitter.stageOf(op), dag.ops[static_cast<std::size_t>(op)].shape, 1, 1,
                              std::min(kBorderThreads, m_machine.maxThreads));
            else
                emitter.inlineOp(op);
            break;
        case Role::Gather: // with its reader
        case Role::Anchor:
        case Role::Placeholder: break;
        }
    }
    return emitter.take();
}

Genome LaunchSketch::settled(Genome genome) const
{
    for (const Part& part : m_parts)
        part.nest->settle(std::span(genome).subspan(part.firstGene, part.genes));
    return genome;
}

Result<double> LaunchSketch::secondsOf(std::size_t part, std::span<const std::int32_t> genes) const
{
    LATHE_TRY_ASSIGN(const LaunchFacts facts, m_parts[part].nest->facts(genes));
    return facts.seconds;
}

bool LaunchSketch::draw(std::size_t part, Random& random, std::span<std::int32_t> genes) const
{
    return m_parts[part].nest->draw(random, genes);
}

Result<PartedSketch::Analysis> LaunchSketch::analyse(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    Analysis result;
    LaunchFacts main;
    double mainSeconds = -1, launches = 0;
    for (const Part& part : m_parts) {
        LATHE_TRY_ASSIGN(const LaunchFacts facts,
                         part.nest->facts(std::span(genome).subspan(part.firstGene, part.genes)));
        result.seconds += facts.seconds;
        launches += facts.launches;
        if (facts.flops > main.flops || mainSeconds < 0) {
            main = facts;
            mainSeconds = facts.seconds;
        }
    }
    const double slots = m_machine.cores * main.resident;
    result.features = {loggedFeature(main.blocks),
                       loggedFeature(main.threads),
                       loggedFeature(main.virtualThreads),
                       loggedFeature(main.sums),
                       static_cast<float>(main.lanes),
                       static_cast<float>(main.registers),
                       loggedFeature(main.sharedBytes),
                       loggedFeature(main.steps),
                       loggedFeature(main.unrolled),
                       loggedFeature(main.chunks),
                       loggedFeature(main.slices),
                       loggedFeature(main.flops),
                       static_cast<float>(main.waste),
                       loggedFeature(main.bytes),
                       loggedFeature(main.arithmetic),
                       loggedFeature(main.accesses),
                       loggedFeature(main.sharedAccesses),
                       loggedFeature(main.segments),
                       loggedFeature(main.conflicts),
                       loggedFeature(main.waits),
                       loggedFeature(main.barriers),
                       static_cast<float>(main.packed),
                       static_cast<float>(main.copied),
                       static_cast<float>(main.fetch),
                       static_cast<float>(main.padded),
                       static_cast<float>(main.resident),
                       static_cast<float>(main.occupancy),
                       loggedFeature(main.waves),
                       static_cast<float>(main.blocks / (slots * std::ceil(main.blocks / slots))),
                       loggedFeature(main.flops / std::max(1.0, main.bytes)),
                       loggedFeature(main.computeSeconds * 1e9),
                       loggedFeature(main.memorySeconds * 1e9),
                       loggedFeature(mainSeconds * 1e9),
                       loggedFeature((result.seconds - mainSeconds) * 1e9),
                       static_cast<float>(launches),
                       static_cast<float>(m_form),
                       static_cast<float>(m_parts.size()),
                       loggedFeature(main.arithmetic / std::max(1.0, main.accesses + main.sharedAccesses)),
                       loggedFeature(result.seconds * 1e9)};
    LATHE_DCHECK(result.features.size() == launchFeatureNames().size()) << result.features.size();
    result.features.resize(static_cast<std::size_t>(kLatheFeatures), 0.0F);
    return result;
}

Result<std::vector<std::shared_ptr<const PartedSketch>>> latheLaunchSketches(const SearchTask& task)
{
    std::vector<std::shared_ptr<const PartedSketch>> sketches;
    Message reason = say(Msg::NoAlternative);
    for (const SearchAlternative& alternative : task.alternatives)
        for (const LaunchForm form : kForms) {
            auto sketch = LaunchSketch::create(alternative, task.hardware, task.target.family(), form);
            if (sketch)
                sketches.push_back(*std::move(sketch));
            else if (form == LaunchForm::Registers)
                reason = messageOf(sketch.error());
        }
    if (sketches.empty())
        return makeError(Errc::Unsupported, std::move(reason));
    return sketches;
}

} // namespace lathe::search
