#include "core/session/run/chosen_tasks.h"

#include "core/support/message.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace lathe::session {
namespace {

/// Values that are given one by one, or with commas between them; none where "all" is among them.
std::vector<std::string> pieces(const std::vector<std::string>& texts)
{
    std::vector<std::string> all;
    for (const std::string& text : texts)
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            if (comma > at)
                all.push_back(text.substr(at, comma - at));
            at = comma + 1;
        }
    if (std::ranges::find(all, "all") != all.end())
        all.clear();
    return all;
}

/// "conv2d 3x3 64->64 @56 +relu" is of conv2d.
std::string operatorOf(const graph::Task& task)
{
    return task.name.substr(0, task.name.find(' '));
}

bool isKindOf(const std::string& called, std::string asked)
{
    if (asked.starts_with("nn."))
        asked.erase(0, 3);
    return called == asked || called.ends_with('_' + asked);
}

std::string joined(const auto& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

} // namespace

Result<std::vector<bool>> chosenTasks(const TuneOptions& options, const graph::Partition& partition)
{
    const std::vector<std::string> operators = pieces(options.operators), numbers = pieces(options.tasks);
    std::vector<bool> chosen(partition.tasks.size(), operators.empty() && numbers.empty());
    for (const std::string& text : numbers) {
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size() || number >= chosen.size())
            return makeError(Errc::InvalidArgument, say(Msg::TaskNumberUnknown, text, chosen.size() - 1));
        chosen[number] = true;
    }
    bool found = operators.empty();
    std::set<std::string> known;
    for (std::size_t i = 0; i < partition.tasks.size(); ++i) {
        const std::string op = operatorOf(partition.tasks[i]);
        known.insert(op);
        const bool asked = std::any_of(operators.begin(), operators.end(),
                                       [&op](const std::string& each) { return isKindOf(op, each); });
        found = found || asked;
        if (asked)
            chosen[i] = true;
    }
    if (!found)
        return makeError(Errc::NotFound, say(Msg::NoTaskOfOperators, joined(operators), joined(known)));
    return chosen;
}

} // namespace lathe::session
