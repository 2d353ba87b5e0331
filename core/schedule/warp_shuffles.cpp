#include "core/schedule/warp_shuffles.h"

#include "core/schedule/thread_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace lathe::schedule {

using ir::Expr;
using ir::Stmt;

namespace {

std::int64_t powerFrom(std::int64_t n)
{
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

Expr ownOf(const LanePart& part)
{
    return ir::load(part.own, part.dtype, {0});
}
Expr otherOf(const LanePart& part)
{
    return ir::load(part.other, part.dtype, {0});
}

/// Each lane's part becomes that of `lanes` neighbouring lanes, a power of two.
void exchange(std::int64_t lanes, std::int32_t warp, ir::Combiner combiner, const std::vector<LanePart>& parts,
              std::vector<Stmt>& into)
{
    for (std::int64_t distance = lanes / 2; distance > 0; distance /= 2) {
        for (const LanePart& part : parts)
            into.push_back(ir::makeShuffle(part.other, {0}, ownOf(part), static_cast<std::int32_t>(distance), warp));
        if (parts.size() == 1) {
            into.push_back(ir::makeStore(parts[0].own, {0}, combine(combiner, ownOf(parts[0]), otherOf(parts[0]))));
            continue;
        }
        const Expr mine = ownOf(parts[0]), theirs = otherOf(parts[0]);
        const Expr better = (combiner == ir::Combiner::ArgMax ? theirs > mine : theirs < mine)
                            || (ir::eq(theirs, mine) && otherOf(parts[1]) < ownOf(parts[1]));
        std::vector<Stmt> taken;
        for (const LanePart& part : parts)
            taken.push_back(ir::makeStore(part.own, {0}, otherOf(part)));
        into.push_back(ir::makeIf(better, ir::makeBlock(std::move(taken))));
    }
}

} // namespace

std::int64_t warpsOf(std::int64_t threads, std::int32_t warp)
{
    return ir::ceilDivide(threads, warp);
}

std::string whyNoShuffles(std::int64_t threads, std::int32_t warp)
{
    const bool isPart = threads < warp && std::has_single_bit(static_cast<std::uint64_t>(threads));
    if (!isPart && threads % warp != 0)
        return fmt::format("exchanges parts between {} threads, which are neither whole warps of {} lanes nor a power "
                           "of two below one",
                           threads, warp);
    if (warpsOf(threads, warp) > warp)
        return fmt::format("exchanges parts between {} warps, which are more than the {} lanes of one",
                           warpsOf(threads, warp), warp);
    return {};
}

std::vector<Stmt> combineLanes(ir::Ranges& ranges, const Expr& thread, std::int64_t threads, std::int32_t warp,
                               ir::Combiner combiner, const std::vector<LanePart>& parts, std::vector<Stmt> each)
{
    const std::int64_t warps = warpsOf(threads, warp);
    const auto byThreads = [threads](const Expr& t, std::vector<Stmt> body) {
        return ir::makeFor(t, 0, ir::intImm(threads), ir::LoopKind::ThreadX, ir::makeBlock(std::move(body)));
    };
    exchange(std::min<std::int64_t>(threads, warp), warp, combiner, parts, each);
    if (warps == 1)
        return {byThreads(thread, std::move(each))};
    std::vector<Stmt> handed;
    for (const LanePart& part : parts)
        handed.push_back(ir::makeStore(part.warps, {ir::floorDiv(thread, ir::intImm(warp))}, ownOf(part)));
    each.push_back(
        ir::makeIf(ir::eq(ir::floorMod(thread, ir::intImm(warp)), ir::intImm(0)), ir::makeBlock(std::move(handed))));

    const Expr lane = ir::var("lane");
    ranges.setExtent(lane, threads);
    std::vector<Stmt> first;
    for (const LanePart& part : parts) {
        const Expr handedOver = ir::load(part.warps, part.dtype, {lane});
        first.push_back(ir::makeStore(
            part.own, {0},
            warps == warp ? handedOver
                          : ir::ifThenElse(lane < ir::intImm(warps), handedOver, ir::cast(part.dtype, part.identity))));
    }
    exchange(powerFrom(warps), warp, combiner, parts, first);
    return {byThreads(thread, std::move(each)),
            byThreads(lane, {ir::makeIf(lane < ir::intImm(warp), ir::makeBlock(std::move(first)))})};
}

std::string whyNoWholeWarps(const std::array<std::int64_t, 3>& block, const std::array<std::int64_t, 3>& coming,
                            const ir::StmtNode& shuffle)
{
    const std::int64_t all = block[0] * block[1] * block[2];
    // Of a block of less than a warp all threads are lanes of one; what is beyond them is nobody's.
    if (all % shuffle.warp != 0 && all > shuffle.warp)
        return fmt::format("exchanges parts in blocks of {} threads, which are no whole warps of {} lanes", all,
                           shuffle.warp);
    if (block[0] % (2 * shuffle.distance) != 0)
        return fmt::format("exchanges parts between lanes that are {} apart, in rows of {} threads", shuffle.distance,
                           block[0]);
    if (coming[0] < block[0] && (coming[0] % shuffle.warp != 0 || block[0] % shuffle.warp != 0))
        return fmt::format("exchanges parts between {} of {} threads, which are no whole warps of {} lanes", coming[0],
                           block[0], shuffle.warp);
    std::int64_t row = block[0]; // threads of a step along y, then along z
    for (std::size_t axis = 1; axis < 3; ++axis) {
        if (coming[axis] < block[axis]
            && (row * coming[axis] % shuffle.warp != 0 || row * block[axis] % shuffle.warp != 0))
            return fmt::format("exchanges parts in {} of {} rows of {} threads, which are no whole warps of {} lanes",
                               coming[axis], block[axis], row, shuffle.warp);
        row *= block[axis];
    }
    return {};
}

} // namespace lathe::schedule
