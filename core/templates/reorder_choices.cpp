#include "core/templates/reorder_choices.h"

#include "core/support/message.h"
#include "core/templates/split_choices.h"

#include <algorithm>
#include <numeric>

namespace lathe::templates {
namespace {

using Order = std::vector<std::int32_t>;

/// At each step the chain with most axes left goes on, of equal ones the first.
Order mergeChains(const std::vector<Order>& chains)
{
    Order merged;
    std::vector<std::size_t> taken(chains.size(), 0);
    for (;;) {
        std::size_t longest = 0, left = 0;
        for (std::size_t i = 0; i < chains.size(); ++i)
            if (chains[i].size() - taken[i] > left) {
                longest = i;
                left = chains[i].size() - taken[i];
            }
        if (left == 0)
            return merged;
        merged.push_back(chains[longest][taken[longest]++]);
    }
}

Order interleaved(const ReorderRule& rule)
{
    std::vector<Order> outer, inner;
    for (const Order& chain : rule.spatial) {
        outer.emplace_back(chain.begin(), chain.empty() ? chain.end() : chain.end() - 1);
        inner.emplace_back(chain.empty() ? chain.end() : chain.end() - 1, chain.end());
    }
    Order order = mergeChains(outer);
    const auto append = [&order](const Order& more) { order.insert(order.end(), more.begin(), more.end()); };
    if (rule.policy == ReorderPolicy::InterleaveCuda) {
        append(mergeChains(rule.reduce));
        for (const Order& innermost : inner)
            append(innermost);
    } else {
        inner.insert(inner.end(), rule.reduce.begin(), rule.reduce.end());
        append(mergeChains(inner));
    }
    return order;
}

bool isPermutation(Order order, std::int32_t axes)
{
    std::sort(order.begin(), order.end());
    for (std::int32_t i = 0; i < std::ssize(order); ++i)
        if (order[static_cast<std::size_t>(i)] != i)
            return false;
    return std::ssize(order) == axes;
}

Error badReorder(std::string part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

Result<std::vector<Order>> permutations(const std::string& knob, const ReorderRule& rule)
{
    std::int32_t begin = 0, end = rule.axes;
    if (rule.policy == ReorderPolicy::IntervalAll) {
        begin = rule.begin;
        end = rule.end;
    }
    if (begin < 0 || end > rule.axes || begin > end)
        return badReorder("the interval of " + knob, "among its axes");
    std::size_t count = 1;
    for (std::int32_t i = 2; i <= end - begin && count <= kMaxChoices; ++i)
        count *= static_cast<std::size_t>(i);
    if (count > kMaxChoices)
        return badReorder("the number of choices of " + knob, "at most " + std::to_string(kMaxChoices));
    Order order(static_cast<std::size_t>(rule.axes));
    std::iota(order.begin(), order.end(), 0);
    std::vector<Order> choices;
    do
        choices.push_back(order);
    while (std::next_permutation(order.begin() + begin, order.begin() + end));
    return choices;
}

} // namespace

Result<std::vector<Order>> reorderChoices(const std::string& knob, const ReorderRule& rule)
{
    if (rule.axes < 1 || rule.axes > 64)
        return badReorder("the number of axes of " + knob, "between 1 and 64");
    std::vector<Order> choices;
    switch (rule.policy) {
    case ReorderPolicy::All:
    case ReorderPolicy::IntervalAll: return permutations(knob, rule);
    case ReorderPolicy::Identity:
        choices.emplace_back(static_cast<std::size_t>(rule.axes));
        std::iota(choices[0].begin(), choices[0].end(), 0);
        return choices;
    case ReorderPolicy::Candidates: choices = rule.candidates; break;
    case ReorderPolicy::Interleave:
    case ReorderPolicy::InterleaveCuda: choices.push_back(interleaved(rule)); break;
    }
    for (const Order& order : choices)
        if (!isPermutation(order, rule.axes))
            return badReorder("an order of " + knob, "a permutation of " + std::to_string(rule.axes) + " axes");
    return choices;
}

} // namespace lathe::templates
