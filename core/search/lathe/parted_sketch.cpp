#include "core/search/lathe/parted_sketch.h"

#include "core/support/check.h"
#include "core/support/message.h"

#include <algorithm>
#include <cmath>

namespace lathe::search {

namespace {

std::vector<bool> constantOpsOf(const SearchAlternative& alternative)
{
    std::vector<bool> constant(alternative.dag->ops.size());
    for (std::size_t i = 0; i < alternative.dag->inputs.size() && i < alternative.constantInputs.size(); ++i)
        constant[static_cast<std::size_t>(alternative.dag->inputs[i])] = alternative.constantInputs[i];
    return constant;
}

} // namespace

bool SketchPart::draw(Random& random, std::span<std::int32_t> genes) const
{
    constexpr int kTries = 128;
    const std::vector<Parameter> open = parameters();
    for (int t = 0; t < kTries; ++t) {
        for (std::size_t g = 0; g < genes.size(); ++g)
            genes[g] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(open[g].count)));
        if (seconds(genes))
            return true;
    }
    return false;
}

PartedSketch::PartedSketch(std::string name, const SearchAlternative& alternative)
    : Sketch(std::move(name), alternative.name, alternative.dag)
    , m_analysis(alternative.dag)
    , m_plan(planNests(m_analysis))
    , m_constantOps(constantOpsOf(alternative))
{
}

Result<> PartedSketch::checkOperations(const SearchAlternative& alternative)
{
    LATHE_CHECK(alternative.dag != nullptr) << alternative.name;
    for (const compute::Op& op : alternative.dag->ops) {
        if (op.bodies.size() > 1)
            return makeError(Errc::Unsupported, say(Msg::SeveralOutputs, op.name));
        for (const std::int64_t extent : op.shape)
            if (extent < 1)
                return makeError(Errc::Unsupported, say(Msg::EmptyDimension, op.name));
    }
    return {};
}

void PartedSketch::addPart(std::int32_t owner, std::unique_ptr<const SketchPart> nest)
{
    const std::vector<Parameter> open = nest->parameters();
    m_parts.push_back({owner, {m_parameters.size(), open.size()}, std::move(nest)});
    m_parameters.insert(m_parameters.end(), open.begin(), open.end());
}

std::span<const std::int32_t> PartedSketch::genesOf(std::size_t part, const Genome& genome) const
{
    return std::span(genome).subspan(m_parts[part].genes.first, m_parts[part].genes.count);
}

bool PartedSketch::isBorderCopied(std::int32_t op, const Genome& genome) const
{
    bool isCopied = false;
    for (std::size_t n = 0; n < m_plan.nests.size(); ++n)
        if (m_plan.nests[n].border == op)
            isCopied = m_parts[n].nest->copiesBorder(genesOf(n, genome));
    return isCopied;
}

Result<std::vector<schedule::Step>> PartedSketch::instantiate(const Genome& genome) const
{
    LATHE_TRY(check(genome));
    for (std::size_t part = 0; part < m_parts.size(); ++part)
        LATHE_TRY(secondsOf(part, genesOf(part, genome)));
    StepEmitter emitter(dag()->ops.size());
    // Consumers before producers, so that stages still to come keep their numbers.
    for (auto op = static_cast<std::int32_t>(dag()->ops.size()) - 1; op >= 0; --op) {
        switch (m_plan.roles[static_cast<std::size_t>(op)]) {
        case Role::Inline: emitter.inlineOp(op); break;
        case Role::Owner: {
            const auto part = std::ranges::find(m_parts, op, &Part::owner);
            const auto index = static_cast<std::size_t>(part - m_parts.begin());
            part->nest->emit(genesOf(index, genome), emitter);
            break;
        }
        case Role::Border:
            if (isBorderCopied(op, genome))
                emitBorder(emitter, op);
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

Genome PartedSketch::settled(Genome genome) const
{
    for (const Part& part : m_parts)
        part.nest->settle(std::span(genome).subspan(part.genes.first, part.genes.count));
    return genome;
}

float loggedFeature(double x)
{
    return static_cast<float>(std::log2(std::abs(x) + 1));
}

} // namespace lathe::search
