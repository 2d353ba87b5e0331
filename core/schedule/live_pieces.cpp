#include "core/schedule/live_pieces.h"

#include <algorithm>
#include <unordered_map>

namespace lathe::schedule {

namespace {

constexpr std::int64_t kSharedEarlier = 32; ///< statements by which loads from shared memory come earlier
constexpr std::size_t kMostOrdered = 512; ///< statements of a piece that are put in order

/// The most words at once in the text's order, loads as late as can be or early.
std::int32_t mostAlive(const PieceFacts& facts, std::int32_t piece, std::span<const LiveValue> values, bool isEarly)
{
    std::vector<std::int32_t> change(static_cast<std::size_t>(facts.end - facts.begin + 2));
    for (const LiveValue& value : values) {
        const bool isLoaded = value.piece == piece; // here, so that it is alive at least where it is used
        if (value.end < facts.begin || value.begin >= facts.end || (!isLoaded && value.end == value.begin))
            continue;
        std::int64_t from = value.begin;
        if (isLoaded && isEarly)
            from = std::min(from, std::max(value.earliest, value.isShared ? from - kStep * kSharedEarlier : 0));
        change[static_cast<std::size_t>(std::max(from, facts.begin) - facts.begin)] += value.words;
        change[static_cast<std::size_t>(std::min(value.end, facts.end) - facts.begin) + 1] -= value.words;
    }
    std::int32_t now = 0, most = 0;
    for (const std::int32_t step : change)
        most = std::max(most, now += step);
    return most;
}

} // namespace

void countAlive(PieceFacts& facts, std::int32_t piece, std::span<const LiveValue> values)
{
    CodePiece& made = facts.made;
    made.late = made.least = made.byResults = mostAlive(facts, piece, values, false);
    made.early = mostAlive(facts, piece, values, true);
    made.addends = static_cast<std::int32_t>(std::ranges::count_if(values, [piece](const LiveValue& value) {
        return value.piece == piece && value.isAddend && value.begin == value.end;
    }));
    if (facts.statements.size() > kMostOrdered)
        return;
    std::vector<OrderedValue> ordered;
    std::vector<OrderedStatement> statements = facts.statements;
    std::unordered_map<std::int32_t, std::int32_t> numbers;
    const auto numberOfValue = [&](std::int32_t& value) {
        const auto [known, isNew] = numbers.try_emplace(value, static_cast<std::int32_t>(ordered.size()));
        if (isNew) {
            const LiveValue& of = values[static_cast<std::size_t>(value)];
            ordered.push_back({of.words, of.begin < facts.begin, of.end >= facts.end});
        }
        value = known->second;
    };
    for (OrderedStatement& statement : statements) {
        std::ranges::for_each(statement.uses, numberOfValue);
        if (statement.makes >= 0)
            numberOfValue(statement.makes);
    }
    std::int32_t beside = 0; // words that the piece does not come to
    for (std::size_t v = 0; v < values.size(); ++v)
        if (values[v].begin < facts.begin && values[v].end >= facts.begin
            && !numbers.contains(static_cast<std::int32_t>(v)))
            beside += values[v].words;
    made.least = std::min(made.late, beside + leastAlive(statements, ordered));
    made.byResults = beside + aliveByResults(statements, ordered);
}

} // namespace lathe::schedule
