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
constexpr std::array kForms = {LaunchForm::Registers, LaunchForm::Shared, LaunchForm::Split,      LaunchForm::Slices,
                               LaunchForm::Tree,      LaunchForm::Rows,   LaunchForm::SplitShared};

const char* nameOf(LaunchForm form)
{
    switch (form) {
    case LaunchForm::Registers: return "registers";
    case LaunchForm::Shared: return "shared";
    case LaunchForm::Split: return "split";
    case LaunchForm::Slices: return "slices";
    case LaunchForm::Tree: return "tree";
    case LaunchForm::Rows: return "rows";
    case LaunchForm::SplitShared: return "split-shared";
    }
    return "";
}

} // namespace

const std::vector<std::string>& launchFeatureNames()
{
    static const std::vector<std::string> names = {
        "blocks",     "threads",   "virtual_threads", "sums",          "lanes",        "registers",     "shared_bytes",
        "steps",      "unrolled",  "chunks",          "slices",        "flops",        "waste",         "bytes",
        "arithmetic", "accesses",  "shared_accesses", "segments",      "conflicts",    "waits",         "barriers",
        "packed",     "copied",    "fetch",           "padded",        "resident",     "occupancy",     "waves",
        "last_wave",  "intensity", "compute",         "memory",        "main_seconds", "other_seconds", "launches",
        "form",       "parts",     "sums_per_access", "total_seconds", "room",         "ahead"};
    return names;
}

LaunchSketch::LaunchSketch(std::string name, const SearchAlternative& alternative, const LaunchMachine& machine,
                           LaunchForm form)
    : PartedSketch(std::move(name), alternative)
    , m_machine(machine)
    , m_form(form)
{
}

Result<std::shared_ptr<const LaunchSketch>> LaunchSketch::create(const SearchAlternative& alternative,
                                                                 const Hardware& hardware, std::string_view family,
                                                                 LaunchForm form)
{
    LATHE_TRY(checkOperations(alternative));
    std::shared_ptr<LaunchSketch> sketch(
        new LaunchSketch(std::string(kLaunchVersion) + alternative.name + ':' + nameOf(form), alternative,
                         LaunchMachine(hardware, family), form));
    LATHE_TRY(sketch->addParts());
    return std::shared_ptr<const LaunchSketch>(std::move(sketch));
}

Result<> LaunchSketch::addParts()
{
    const LaunchContext context{analysis(), m_machine, constantOps()};
    bool takesForm = m_form == LaunchForm::Registers;
    if (m_form == LaunchForm::Rows) {
        const std::optional<RowStages> rows = findRows(analysis());
        if (!rows || m_machine.sharedBytes <= 0)
            return makeError(Errc::Unsupported, say(Msg::NotByRows, alternative()));
        takeRowsIn(plan(), *rows);
        addPart(rows->owner, makeLaunchRowsPart(context, *rows));
        return {};
    }
    for (const Nest& nest : plan().nests) {
        std::unique_ptr<LaunchPart> part;
        switch (nest.kind) {
        case NestKind::Map: part = makeLaunchMapPart(context, nest); break;
        case NestKind::Transform: part = makeLaunchTransformPart(context, nest); break;
        case NestKind::Tile: {
            // One number has no axis whose elements threads could share among them: a tree divides the sum itself.
            const bool hasAxes = !dag()->ops[static_cast<std::size_t>(nest.anchor)].shape.empty();
            if (m_form == LaunchForm::Tree)
                part = makeLaunchTreePart(context, nest);
            else if (m_form != LaunchForm::Registers && hasAxes)
                part = makeLaunchTilePart(context, nest, m_form);
            takesForm = takesForm || part;
            if (!part && !hasAxes)
                return makeError(Errc::Unsupported, say(Msg::NoSumForForm, alternative(), nameOf(m_form)));
            if (!part)
                part = makeLaunchTilePart(context, nest, LaunchForm::Registers);
            break;
        }
        }
        addPart(nest.owner, std::move(part));
    }
    if (!takesForm)
        return makeError(Errc::Unsupported, say(Msg::NoSumForForm, alternative(), nameOf(m_form)));
    return {};
}

void LaunchSketch::emitBorder(StepEmitter& emitter, std::int32_t op) const
{
    constexpr std::int64_t kThreads = 64;
    emitLaunchMap(emitter, emitter.stageOf(op), dag()->ops[static_cast<std::size_t>(op)].shape, 1, 1,
                  std::min(kThreads, m_machine.maxThreads));
}

Result<PartedSketch::Analysis> LaunchSketch::analyse(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    Analysis result;
    LaunchFacts main;
    double mainSeconds = -1, launches = 0;
    for (std::size_t part = 0; part < partCount(); ++part) {
        LATHE_TRY_ASSIGN(const LaunchFacts facts, nest(part).facts(genesOf(part, genome)));
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
                       static_cast<float>(partCount()),
                       loggedFeature(main.arithmetic / std::max(1.0, main.accesses + main.sharedAccesses)),
                       loggedFeature(result.seconds * 1e9),
                       static_cast<float>(main.room),
                       static_cast<float>(main.ahead)};
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
