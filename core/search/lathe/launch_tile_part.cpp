#include "core/search/lathe/launch_tile_part.h"

#include "core/ir/bounds.h"
#include "core/ir/substitute.h"
#include "core/search/factor_tuples.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <numeric>

namespace lathe::search {

namespace {

constexpr std::int64_t kLeastDivided = 32; ///< sums of fewer steps are not divided
constexpr std::int64_t kMostThreads = 1024; ///< along an axis

/// Divisors of an extent, and powers of two that leave little of the last part unused.
std::vector<std::int64_t> partChoices(std::int64_t extent, std::int64_t most)
{
    std::vector<std::int64_t> values;
    for (const std::int64_t d : divisors(extent))
        if (d <= most)
            values.push_back(d);
    for (std::int64_t p = 2; p <= std::min(most, extent * 5 / 4); p *= 2)
        if (extent % p != 0)
            values.push_back(p);
    std::sort(values.begin(), values.end());
    return values;
}

/// Whether a condition in what computes `op`, or in what it inlines, depends on its last dimension.
bool branchesByLane(const compute::Analysis& analysis, std::int32_t id)
{
    const compute::Op& op = analysis.dag().ops[static_cast<std::size_t>(id)];
    if (op.kind == compute::OpKind::Placeholder || op.axes.empty() || !op.reduceAxes.empty())
        return false;
    bool found = false;
    for (const ir::Expr& body : op.bodies)
        ir::visit(body, [&](const ir::Expr& e) {
            if (e->kind == ir::ExprKind::Select || e->kind == ir::ExprKind::IfThenElse)
                found = found || ir::uses(e->operands[0], op.axes.back());
        });
    for (const std::int32_t producer : analysis.producers(id))
        found = found || branchesByLane(analysis, producer);
    return found;
}

} // namespace

std::unique_ptr<LaunchTilePart> LaunchTilePart::create(const LaunchContext& context, const Nest& nest, LaunchForm form)
{
    std::unique_ptr<LaunchTilePart> part(new LaunchTilePart(context, nest, form));
    if (form == LaunchForm::Registers)
        return part;
    const bool isIndex = part->m_op.bodies[0]->kind != ir::ExprKind::Reduce
                         || part->m_op.bodies[0]->combiner >= ir::Combiner::ArgMax;
    if (part->m_tiled.empty() || isIndex)
        return nullptr;
    const bool canStage = std::find(part->m_stageable.begin(), part->m_stageable.end(), true)
                          != part->m_stageable.end();
    if (form == LaunchForm::Shared)
        return canStage ? std::move(part) : nullptr;
    // A processor's caches do what staging would, and its barriers are dear.
    if (form == LaunchForm::SplitShared && (!canStage || context.machine.isProcessor))
        return nullptr;
    return compute::reduceSize(part->m_op) >= kLeastDivided && part->m_genes.back().of == Of::Slices ? std::move(part)
                                                                                                     : nullptr;
}

LaunchTilePart::LaunchTilePart(const LaunchContext& context, const Nest& nest, LaunchForm form)
    : m_machine(context.machine)
    , m_dag(context.analysis.dag())
    , m_form(form)
    , m_owner(nest.owner)
    , m_anchor(nest.anchor)
    , m_border(nest.border)
    , m_op(m_dag.ops[static_cast<std::size_t>(nest.anchor)])
    , m_operands(operandsOf(m_dag, nest.anchor))
    , m_rank(m_op.shape.size())
    , m_reduces(m_op.reduceAxes.size())
{
    for (std::size_t a = 0; a < m_rank; ++a)
        if (m_op.shape[a] > 1)
            m_tiled.push_back(a);
    if (!m_tiled.empty())
        m_vector = m_tiled.back();
    for (std::size_t r = 1; r < m_reduces; ++r)
        if (m_op.reduceExtents[r] > m_op.reduceExtents[m_long])
            m_long = r;
    choosePackable(context.constantOps);
    m_stageable.resize(m_operands.size());
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
        const Operand& o = m_operands[i];
        const bool complex = std::any_of(o.indices.begin(), o.indices.end(),
                                         [](const LinearIndex& index) { return index.complex; });
        // What several threads of a block read: they differ in an axis that it does not depend on, or windows overlap.
        const bool isReused = std::any_of(m_tiled.begin(), m_tiled.end(),
                                          [&o](std::size_t a) { return !o.usesSpatial(a); })
                              || std::any_of(o.indices.begin(), o.indices.end(), [](const LinearIndex& index) {
                                     const auto moves = [](std::int64_t c) { return c != 0; };
                                     return std::any_of(index.spatial.begin(), index.spatial.end(), moves)
                                            && std::any_of(index.reduce.begin(), index.reduce.end(), moves);
                                 });
        m_stageable[i] = m_machine.hasSharedMemory && m_machine.sharedBytes > 0 && !complex && o.reads == 1 && isReused
                         && !o.indices.empty();
        if (o.producer == m_border)
            m_laneBorder = branchesByLane(context.analysis, o.producer) && o.usesSpatial(m_vector);
        m_branches.push_back(branchesByLane(context.analysis, o.producer));
    }
    addGenes();
}

/// Constants that one load reads, each dimension by an axis of its own: their layout may follow the loops.
void LaunchTilePart::choosePackable(const std::vector<bool>& constantOps)
{
    for (std::size_t i = 0; i < m_operands.size() && m_weight < 0; ++i) {
        const Operand& o = m_operands[i];
        std::size_t readers = 0;
        for (const compute::Op& op : m_dag.ops)
            for (const ir::Expr& body : op.bodies)
                ir::visit(body, [&](const ir::Expr& e) {
                    readers += e->kind == ir::ExprKind::Load && e->source == o.producer ? 1 : 0;
                });
        if (!constantOps[static_cast<std::size_t>(o.producer)] || o.reads != 1 || readers != 1)
            continue;
        bool plain = true;
        std::vector<bool> seen(m_rank + m_reduces);
        for (std::size_t d = 0; d < o.indices.size(); ++d) {
            const std::int32_t axis = o.indices[d].plainAxis();
            if (axis < 0) {
                plain = plain && o.shape[d] == 1;
                continue;
            }
            plain = plain && !seen[static_cast<std::size_t>(axis)];
            seen[static_cast<std::size_t>(axis)] = true;
        }
        if (plain)
            m_weight = static_cast<std::int32_t>(i);
    }
    if (m_weight < 0)
        return;
    const auto weight = static_cast<std::size_t>(m_weight);
    if (packedOrder(weight) == naturalOrder(weight))
        m_weight = -1;
}

std::vector<std::int32_t> LaunchTilePart::naturalOrder(std::size_t operand) const
{
    std::vector<std::int32_t> order(m_operands[operand].shape.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
}

std::vector<std::int32_t> LaunchTilePart::memoryOrder(const Choice& c, std::size_t operand) const
{
    const bool isPacked = c.pack != 0 && m_weight == static_cast<std::int32_t>(operand);
    return isPacked ? packedOrder(operand) : naturalOrder(operand);
}

/// Dimensions of one element, then those that tell products from each other (of a batch: all operands have them), then
/// those of the steps, then those of the sums, that of the lanes last.
std::vector<std::int32_t> LaunchTilePart::packedOrder(std::size_t operand) const
{
    const Operand& o = m_operands[operand];
    std::vector<std::int32_t> order = naturalOrder(operand);
    const auto rankOf = [&](std::int32_t d) -> std::int64_t {
        const LinearIndex& index = o.indices[static_cast<std::size_t>(d)];
        std::int64_t rank = -1;
        for (std::size_t r = 0; r < m_reduces; ++r)
            if (index.reduce[r] != 0)
                rank = std::max(rank, static_cast<std::int64_t>(m_rank + r));
        for (std::size_t a = 0; a < m_rank; ++a) {
            if (index.spatial[a] == 0)
                continue;
            const bool isBatch = a != m_vector
                                 && std::all_of(m_operands.begin(), m_operands.end(),
                                                [a](const Operand& other) { return other.usesSpatial(a); });
            rank = std::max(rank, static_cast<std::int64_t>(isBatch ? a : m_rank + m_reduces + a));
        }
        return rank;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return rankOf(a) < rankOf(b); });
    return order;
}

void LaunchTilePart::addGenes()
{
    const bool isIndex = m_op.bodies[0]->kind != ir::ExprKind::Reduce
                         || m_op.bodies[0]->combiner >= ir::Combiner::ArgMax;
    const auto add = [this](Of of, std::size_t axis, std::vector<std::int64_t> values) {
        if (values.size() > 1)
            m_genes.push_back({of, axis, std::move(values)});
    };
    for (const std::size_t a : m_tiled)
        add(Of::Threads, a, partChoices(m_op.shape[a], std::min(m_machine.maxThreads, kMostThreads)));
    if (!isIndex) {
        for (const std::size_t a : m_tiled)
            add(Of::Sums, a, partChoices(m_op.shape[a], 16));
        if (m_form != LaunchForm::Slices)
            for (const std::size_t a : m_tiled) {
                std::vector<std::int64_t> values;
                for (std::int64_t v = 1; v <= std::min<std::int64_t>(m_machine.maxVirtual, m_op.shape[a]); v *= 2)
                    values.push_back(v);
                add(Of::Virtual, a, std::move(values));
            }
        for (std::size_t r = 0; r < m_reduces; ++r) {
            std::vector<std::int64_t> values = partChoices(m_op.reduceExtents[r], 64);
            const bool isRich = std::any_of(values.begin(), values.end(),
                                            [&](std::int64_t v) { return v > 3 && m_op.reduceExtents[r] % v == 0; });
            if (isRich || m_op.reduceExtents[r] < 8) // others have a last part that is not whole
                std::erase_if(values, [&](std::int64_t v) { return m_op.reduceExtents[r] % v != 0; });
            add(Of::Steps, r, std::move(values));
        }
        if (!m_tiled.empty() && !m_laneBorder)
            add(Of::Lanes, 0, launchLanes(m_op.shape[m_vector], sizeOf(m_op.dtype), m_machine));
        add(Of::Unroll, 0, {1, 4, 16, 64});
    }
    if (m_border >= 0 && m_form == LaunchForm::Registers)
        add(Of::Border, 0, {0, 1});
    if (m_weight >= 0)
        add(Of::Pack, 0, {0, 1});
    if (stages()) {
        std::vector<std::int64_t> masks;
        std::int64_t all = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(m_operands.size(), 8); ++i)
            all |= m_stageable[i] ? std::int64_t{1} << i : 0;
        masks.push_back(all);
        for (std::size_t i = 0; i < std::min<std::size_t>(m_operands.size(), 8); ++i)
            if (m_stageable[i] && all != std::int64_t{1} << i)
                masks.push_back(std::int64_t{1} << i);
        m_genes.push_back({Of::Staged, 0, std::move(masks)});
        std::int64_t bytes = 1;
        for (const Operand& o : m_operands)
            bytes = std::max(bytes, o.elementBytes);
        std::vector<std::int64_t> fetch;
        for (std::int64_t f = 1; f * bytes <= m_machine.vectorBytes; f *= 2)
            fetch.push_back(f);
        add(Of::Fetch, 0, std::move(fetch));
        for (std::size_t i = 0; i < m_operands.size(); ++i)
            if (m_stageable[i] && packedOrder(i) != naturalOrder(i)) {
                add(Of::Turn, 0, {0, 1});
                break;
            }
        add(Of::Padding, 0, {0, 1, 4});
        if (m_machine.asyncCopies)
            add(Of::Stages, 0, {1, 2, 3, 4});
    }
    if (m_machine.countsBlocks && !isIndex && !m_tiled.empty())
        add(Of::Room, 0, {0, 1, 2, 3, 4});
    if (isSplit() || m_form == LaunchForm::Slices) {
        std::vector<std::int64_t> slices;
        for (const std::int64_t d : divisors(m_op.reduceExtents.empty() ? 1 : m_op.reduceExtents[m_long]))
            if (d > 1 && d <= 64 && m_op.reduceExtents[m_long] / d >= 2)
                slices.push_back(d);
        // A prime number, as the rows of a 7x7 window: one for each slice, which has the other axes.
        if (slices.empty() && !m_op.reduceExtents.empty() && m_op.reduceExtents[m_long] > 1
            && m_op.reduceExtents[m_long] <= 64)
            slices.push_back(m_op.reduceExtents[m_long]);
        if (!slices.empty())
            m_genes.push_back({Of::Slices, 0, std::move(slices)});
    }
}

std::vector<Parameter> LaunchTilePart::parameters() const
{
    static constexpr const char* kNames[] = {"threads", "sums",    "virtual", "steps",  "lanes",
                                             "unroll",  "border",  "pack",    "staged", "fetch",
                                             "turn",    "padding", "slices",  "stages", "room"};
    std::vector<Parameter> open;
    for (const Gene& gene : m_genes) {
        std::string name = kNames[static_cast<std::size_t>(gene.of)];
        if (gene.of <= Of::Virtual)
            name += ' ' + m_op.axes[gene.axis]->name;
        else if (gene.of == Of::Steps)
            name += ' ' + m_op.reduceAxes[gene.axis]->name;
        open.push_back(launchChoice(name + ' ' + m_op.name, gene.values));
    }
    return open;
}

LaunchTilePart::Choice LaunchTilePart::decode(std::span<const std::int32_t> genes) const
{
    Choice c;
    c.threads.assign(m_rank, 1);
    c.sums.assign(m_rank, 1);
    c.virtuals.assign(m_rank, 1);
    c.steps.assign(m_reduces, 1);
    for (std::size_t g = 0; g < m_genes.size(); ++g) {
        const Gene& gene = m_genes[g];
        const std::int64_t value = gene.values[static_cast<std::size_t>(genes[g])];
        switch (gene.of) {
        case Of::Threads: c.threads[gene.axis] = value; break;
        case Of::Sums: c.sums[gene.axis] = value; break;
        case Of::Virtual: c.virtuals[gene.axis] = value; break;
        case Of::Steps: c.steps[gene.axis] = value; break;
        case Of::Lanes: c.lanes = value; break;
        case Of::Unroll: c.unroll = value; break;
        case Of::Border: c.border = value; break;
        case Of::Pack: c.pack = value; break;
        case Of::Staged: c.staged = value; break;
        case Of::Fetch: c.fetch = value; break;
        case Of::Turn: c.turn = value; break;
        case Of::Padding: c.padding = value; break;
        case Of::Slices: c.slices = value; break;
        case Of::Stages: c.stages = value; break;
        case Of::Room: c.room = value; break;
        }
    }
    return c;
}

bool LaunchTilePart::copiesBorder(std::span<const std::int32_t> genes) const
{
    return m_border >= 0 && decode(genes).border != 0;
}

std::int64_t LaunchTilePart::own(const Choice& c, std::size_t axis) const
{
    return c.sums[axis] * (axis == m_vector && !m_tiled.empty() ? c.lanes : 1);
}

std::int64_t LaunchTilePart::tile(const Choice& c, std::size_t axis) const
{
    return c.virtuals[axis] * c.threads[axis] * own(c, axis);
}

std::int64_t LaunchTilePart::reach(const Choice& c, std::size_t axis) const
{
    std::int64_t left = m_op.shape[axis], reached = 1;
    const bool hasLanes = axis == m_vector && !m_tiled.empty();
    for (const std::int64_t part :
         {hasLanes ? c.lanes : std::int64_t{1}, c.sums[axis], c.threads[axis], c.virtuals[axis]}) {
        const std::int64_t kept = std::min(part, left); // no loop is longer than what it divides
        reached *= kept;
        left = ir::ceilDivide(left, kept);
    }
    return reached;
}

std::int64_t LaunchTilePart::threads(const Choice& c) const
{
    return elementCount(c.threads) * (m_form == LaunchForm::Slices ? c.slices : 1);
}

std::int64_t LaunchTilePart::length(const Choice& c, std::size_t r) const
{
    return r == m_long ? m_op.reduceExtents[r] / c.slices : m_op.reduceExtents[r];
}

std::int64_t LaunchTilePart::chunks(const Choice& c) const
{
    std::int64_t count = 1;
    for (std::size_t r = 0; r < m_reduces; ++r)
        count *= ir::ceilDivide(length(c, r), c.steps[r]);
    return count;
}

std::int32_t LaunchTilePart::outerSteps(const Choice& c) const
{
    return c.stages > 1 ? 1 : static_cast<std::int32_t>(m_reduces);
}

/// The innermost inner loops whose steps are together no more than the choice says.
std::vector<std::size_t> LaunchTilePart::unrolledAxes(const Choice& c) const
{
    std::vector<std::size_t> axes;
    std::int64_t count = 1;
    for (std::size_t r = m_reduces; r-- > 0;) {
        if (count * c.steps[r] > c.unroll)
            break;
        count *= c.steps[r];
        axes.push_back(r);
    }
    return axes;
}

std::int64_t LaunchTilePart::unrolledSteps(const Choice& c) const
{
    std::int64_t count = 1;
    for (const std::size_t r : unrolledAxes(c))
        count *= c.steps[r];
    return count;
}

bool LaunchTilePart::isStaged(const Choice& c, std::size_t operand) const
{
    return operand < 8 && (c.staged >> operand & 1) != 0;
}

bool LaunchTilePart::isBorderStaged(const Choice& c) const
{
    for (std::size_t i = 0; i < m_operands.size(); ++i)
        if (m_operands[i].producer == m_border && isStaged(c, i))
            return true;
    return false;
}

void LaunchTilePart::settle(std::span<std::int32_t> genes) const
{
    for (std::size_t g = 0; g < m_genes.size(); ++g) {
        if (m_genes[g].of != Of::Unroll)
            continue;
        const std::int64_t unrolled = unrolledSteps(decode(genes));
        while (genes[g] > 0) {
            --genes[g];
            if (unrolledSteps(decode(genes)) != unrolled) {
                ++genes[g];
                break;
            }
        }
    }
}

bool LaunchTilePart::draw(Random& random, std::span<std::int32_t> genes) const
{
    constexpr int kTries = 64;
    const auto pick = [&random](std::uint64_t count) { return static_cast<std::int32_t>(random.below(count)); };
    for (int t = 0; t < kTries; ++t) {
        // How many threads and sums there are is drawn first, by octaves, then shared out among the axes.
        std::int64_t threadsLeft = std::min<std::int64_t>(m_machine.maxThreads, 32LL << random.below(5));
        std::int64_t sumsLeft = std::int64_t{1} << random.below(8);
        std::int64_t virtualLeft = random.below(2) == 0 ? 1 : m_machine.maxVirtual;
        std::vector<std::size_t> order(m_genes.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[random.below(i)]);
        std::vector<std::int64_t> covered(m_rank, 1);
        for (const std::size_t g : order) {
            const Gene& gene = m_genes[g];
            std::int64_t* const left = gene.of == Of::Threads   ? &threadsLeft
                                       : gene.of == Of::Sums    ? &sumsLeft
                                       : gene.of == Of::Virtual ? &virtualLeft
                                       : gene.of == Of::Lanes   ? &sumsLeft
                                                                : nullptr;
            if (left == nullptr) { // the compiler's choice of registers is good more often than not
                genes[g] = gene.of == Of::Room && random.below(2) == 0 ? 0 : pick(gene.values.size());
                continue;
            }
            const std::size_t axis = gene.of == Of::Lanes ? m_vector : gene.axis;
            const std::int64_t extent = m_op.shape[axis];
            std::vector<std::int32_t> fitting;
            for (std::size_t v = 0; v < gene.values.size(); ++v) {
                const std::int64_t part = covered[axis] * gene.values[v];
                const std::int64_t waste = ir::ceilDivide(extent, part) * part - extent;
                if (gene.values[v] <= *left && waste * 4 <= extent)
                    fitting.push_back(static_cast<std::int32_t>(v));
            }
            if (fitting.empty())
                fitting.push_back(0);
            // The larger ones of two: threads that are left over are no use to anyone.
            std::int32_t chosen = fitting[random.below(fitting.size())];
            if (gene.of == Of::Threads)
                chosen = std::max(chosen, fitting[random.below(fitting.size())]);
            genes[g] = chosen;
            covered[axis] *= gene.values[static_cast<std::size_t>(chosen)];
            *left = std::max<std::int64_t>(1, *left / gene.values[static_cast<std::size_t>(chosen)]);
        }
        if (facts(genes))
            return true;
    }
    return LaunchPart::draw(random, genes);
}

std::unique_ptr<LaunchPart> makeLaunchTilePart(const LaunchContext& context, const Nest& nest, LaunchForm form)
{
    return LaunchTilePart::create(context, nest, form);
}

} // namespace lathe::search
