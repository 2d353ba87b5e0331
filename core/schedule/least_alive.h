#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::schedule {

/// A statement of straight code, in numbers of values.
struct OrderedStatement
{
    std::vector<std::int32_t> uses; ///< each once, with a sum that goes on in its register
    std::int32_t makes = -1; ///< the value that it writes, new or gone on with; -1: it goes to memory
    std::int32_t array = 0; ///< the number of what it writes among those that the code writes one after the other
};

/// A value of straight code. What is neither there before nor made by a statement is loaded, or is a constant, where it
/// is used first.
struct OrderedValue
{
    std::int32_t words = 1;
    bool isBefore = false, isBehind = false; ///< it is alive before the code, behind it
};

/// The most words that are alive at once in an order that keeps them few: of the statements that can come next always
/// the one after which the fewest are, of equals the one that loads less, then the one whose values are used least
/// after it; but an array is not begun before the one that was written before it is done, unless that makes values
/// fewer. Each statement comes behind those whose values it needs, and values are loaded as late as can be.
std::int32_t leastAlive(std::span<const OrderedStatement> statements, std::span<const OrderedValue> values);

/// Likewise, one result after the other, in the order in which the code writes them, each with all that it still needs
/// just in front of it. A result is what nothing in the code needs.
std::int32_t aliveByResults(std::span<const OrderedStatement> statements, std::span<const OrderedValue> values);

} // namespace lathe::schedule
