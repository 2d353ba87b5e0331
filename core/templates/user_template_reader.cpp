#include "core/templates/user_template_reader.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lathe::templates {
namespace {

constexpr std::size_t kMostKnobs = 32, kMostOptions = 1000, kMostListed = 64, kMostSteps = 256, kLongestName = 100;

constexpr std::array<std::pair<std::string_view, Pattern>, 3> kPatternWords = {
    {{"conv2d", Pattern::Conv2d}, {"depthwise_conv2d", Pattern::DepthwiseConv2d}, {"dense", Pattern::Dense}}};
constexpr std::array<std::pair<std::string_view, UserVerb>, 7> kVerbWords = {{{"split", UserVerb::Split},
                                                                              {"order", UserVerb::Order},
                                                                              {"sum at", UserVerb::SumAt},
                                                                              {"unroll", UserVerb::Unroll},
                                                                              {"vectorize", UserVerb::Vectorize},
                                                                              {"pack weight", UserVerb::Pack},
                                                                              {"parallel", UserVerb::Parallel}}};
constexpr std::array<std::pair<std::string_view, SplitPolicy>, 3> kPolicyWords = {
    {{"factors", SplitPolicy::Factors}, {"power2", SplitPolicy::Power2}, {"verbose", SplitPolicy::Verbose}}};

/// Null: the word is none of them.
template<typename Value, std::size_t Count>
const Value* meaningOf(const std::array<std::pair<std::string_view, Value>, Count>& words, std::string_view word)
{
    const auto found = std::find_if(words.begin(), words.end(),
                                    [word](const auto& each) { return each.first == word; });
    return found == words.end() ? nullptr : &found->second;
}

/// A stranger's text for a sentence of ours: short, on one line, and not cut within a character.
std::string inQuotes(std::string_view text)
{
    constexpr std::size_t kMostShown = 40;
    std::size_t end = std::min(text.size(), kMostShown);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end;
    std::string out = "'";
    for (const char c : text.substr(0, end))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return out + (end < text.size() ? "...'" : "'");
}

/// Errors name the place in the file.
class DefinitionReader
{
public:
    explicit DefinitionReader(std::string file)
        : m_file(std::move(file))
    {
    }

    Result<UserDefinition> read(std::string_view text)
    {
        const Result<JsonValue> all = parseJson(text); // refuses what nests so deep that walking over it is no good
        if (!all)
            return wrong("the file", all.error());
        if (all->members() == nullptr)
            return wrong("the file", "it is not a JSON object");
        LATHE_TRY(onlyKnows(*all, "the file", {"template", "family", "pattern", "knobs", "steps"}));
        LATHE_TRY_ASSIGN(m_definition.name, name(*all, "template", "the file"));
        LATHE_TRY(readFamily(*all));
        LATHE_TRY(readPattern(*all));
        LATHE_TRY(readKnobs(*all));
        LATHE_TRY(readSteps(*all));
        return std::move(m_definition);
    }

private:
    Error wrong(std::string part, Argument reason) const
    {
        return makeError(Errc::BadFile, say(Msg::TemplateFileWrong, m_file, std::move(part), std::move(reason)));
    }

    Result<> onlyKnows(const JsonValue& object, const std::string& part,
                       std::initializer_list<std::string_view> keys) const
    {
        for (const JsonMember& member : *object.members())
            if (std::find(keys.begin(), keys.end(), member.name) == keys.end())
                return wrong(part, inQuotes(member.name) + " is not known there");
        return {};
    }

    Result<std::string> name(const JsonValue& object, const char* key, const std::string& part) const
    {
        const JsonValue* value = object.member(key);
        const std::string* text = value != nullptr ? value->text() : nullptr;
        if (text == nullptr || text->empty() || text->size() > kLongestName)
            return wrong(part, fmt::format("'{}' is not a name", key));
        return *text;
    }

    Result<> readFamily(const JsonValue& all) const
    {
        const JsonValue* family = all.member("family");
        if (family != nullptr && *family != JsonValue{std::string(kProcessorFamily)})
            return wrong("family", fmt::format("templates of one's own are for the family {}", kProcessorFamily));
        return {};
    }

    Result<> readPattern(const JsonValue& all)
    {
        LATHE_TRY_ASSIGN(const std::string word, name(all, "pattern", "the file"));
        const Pattern* pattern = meaningOf(kPatternWords, word);
        if (pattern == nullptr)
            return wrong("pattern", inQuotes(word) + " is none of conv2d, depthwise_conv2d, dense");
        m_definition.pattern = *pattern;
        // The arguments of a workload are read by its name, as the reference does.
        if (m_definition.name.starts_with("depthwise") != (*pattern == Pattern::DepthwiseConv2d))
            return wrong("template", "names of depthwise templates, and no others, begin with depthwise");
        return {};
    }

    Result<> readKnobs(const JsonValue& all)
    {
        const JsonValue* knobs = all.member("knobs");
        const JsonValue::List* list = knobs != nullptr ? knobs->list() : nullptr;
        if (list == nullptr || list->empty() || list->size() > kMostKnobs)
            return wrong("knobs", fmt::format("it is not a list of 1 to {} knobs", kMostKnobs));
        for (std::size_t i = 0; i < list->size(); ++i) {
            const JsonValue& item = (*list)[i];
            const std::string part = fmt::format("knobs[{}]", i);
            if (item.members() == nullptr)
                return wrong(part, "it is not an object");
            LATHE_TRY(onlyKnows(item, part, {"name", "split", "parts", "policy", "largest", "option"}));
            UserKnob knob;
            LATHE_TRY_ASSIGN(knob.name, name(item, "name", part));
            if (m_definition.find(knob.name) != nullptr)
                return wrong(part, "there is already a knob " + inQuotes(knob.name));
            if (item.member("split") != nullptr)
                LATHE_TRY(readSplit(item, part, knob));
            else
                LATHE_TRY(readOption(item, part, knob));
            m_definition.knobs.push_back(std::move(knob));
        }
        return {};
    }

    Result<> readSplit(const JsonValue& item, const std::string& part, UserKnob& knob) const
    {
        LATHE_TRY_ASSIGN(knob.axis, name(item, "split", part));
        if (findAxis(m_definition.pattern, knob.axis) == nullptr)
            return wrong(part, "the pattern has no axis " + inQuotes(knob.axis));
        if (const JsonValue* parts = item.member("parts")) {
            const std::int64_t* count = parts->whole();
            if (count == nullptr || *count < 2 || *count > 4)
                return wrong(part, "'parts' is not from 2 to 4");
            knob.parts = static_cast<std::size_t>(*count);
        }
        if (const JsonValue* largest = item.member("largest")) {
            const std::int64_t* size = largest->whole();
            if (size == nullptr || *size < 1)
                return wrong(part, "'largest' is not a positive whole number");
            knob.largest = *size;
        }
        if (item.member("policy") != nullptr) {
            LATHE_TRY_ASSIGN(const std::string word, name(item, "policy", part));
            const SplitPolicy* policy = meaningOf(kPolicyWords, word);
            if (policy == nullptr)
                return wrong(part, inQuotes(word) + " is none of factors, power2, verbose");
            knob.policy = *policy;
        }
        return {};
    }

    /// Records hold what an option chooses as a number of 32 bits, and a knob's values are all of the first one's kind
    /// when they are read again (genomeOf(), configOfGenome()): what could not be told apart there is refused here.
    Result<> readOption(const JsonValue& item, const std::string& part, UserKnob& knob) const
    {
        const JsonValue* option = item.member("option");
        const JsonValue::List* list = option != nullptr ? option->list() : nullptr;
        if (list == nullptr || list->empty() || list->size() > kMostOptions)
            return wrong(part, "it is neither a split nor an option with a list of values");
        for (const JsonValue& value : *list) {
            const std::int64_t* number = value.whole();
            if (number == nullptr && !std::holds_alternative<bool>(value.value))
                return wrong(part, "a value is not a whole number, true or false");
            if (number != nullptr && !std::in_range<std::int32_t>(*number))
                return wrong(part, fmt::format("the value {} does not fit in 32 bits", *number));
            if (value.value.index() != list->front().value.index())
                return wrong(part, "some values are numbers, others true or false");
            if (std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end())
                return wrong(part, fmt::format("the value {} stands twice", jsonText(value)));
            knob.values.push_back(value);
        }
        return {};
    }

    Result<UserLoop> loop(const JsonValue& value, const std::string& part) const
    {
        const std::string* text = value.text();
        if (text == nullptr)
            return wrong(part, "a loop is named by a text, such as \"x.1\"");
        const std::optional<UserLoop> found = loopOf(m_definition.pattern, *text);
        if (!found)
            return wrong(part, "there is no loop " + inQuotes(*text));
        return *found;
    }

    Result<std::vector<UserLoop>> loops(const JsonValue& value, const std::string& part) const
    {
        const JsonValue::List* list = value.list();
        if (list == nullptr || list->empty() || list->size() > kMostListed)
            return wrong(part, "it is not a list of loops");
        std::vector<UserLoop> all;
        for (const JsonValue& each : *list) {
            LATHE_TRY_ASSIGN(const UserLoop one, loop(each, part));
            if (std::find(all.begin(), all.end(), one) != all.end())
                return wrong(part, inQuotes(*each.text()) + " stands twice");
            all.push_back(one);
        }
        return all;
    }

    Result<> readSteps(const JsonValue& all)
    {
        const JsonValue* steps = all.member("steps");
        const JsonValue::List* list = steps != nullptr ? steps->list() : nullptr;
        if (list == nullptr || list->empty() || list->size() > kMostSteps)
            return wrong("steps", fmt::format("it is not a list of 1 to {} steps", kMostSteps));
        for (std::size_t i = 0; i < list->size(); ++i) {
            const std::string part = fmt::format("steps[{}]", i);
            if (i > 0 && m_definition.steps.back().verb == UserVerb::Parallel)
                return wrong(part, "no step may follow parallel");
            LATHE_TRY_ASSIGN(UserStep step, readStep((*list)[i], part));
            m_definition.steps.push_back(std::move(step));
        }
        return {};
    }

    Result<UserStep> readStep(const JsonValue& item, const std::string& part) const
    {
        if (item.members() == nullptr)
            return wrong(part, "it is not an object");
        const auto verb = std::find_if(kVerbWords.begin(), kVerbWords.end(),
                                       [&item](const auto& each) { return item.member(each.first) != nullptr; });
        if (verb == kVerbWords.end())
            return wrong(part, "it says nothing that is known");
        UserStep step;
        step.verb = verb->second;
        const JsonValue& what = *item.member(verb->first);
        if (step.verb == UserVerb::Split)
            LATHE_TRY(onlyKnows(item, part, {"split", "by", "if"}));
        else
            LATHE_TRY(onlyKnows(item, part, {verb->first, "if"}));
        switch (step.verb) {
        case UserVerb::Split: LATHE_TRY(readSplitStep(item, what, part, step)); break;
        case UserVerb::Order:
        case UserVerb::Pack: {
            LATHE_TRY_ASSIGN(step.loops, loops(what, part));
            break;
        }
        case UserVerb::SumAt:
        case UserVerb::Unroll:
        case UserVerb::Vectorize: {
            LATHE_TRY_ASSIGN(const UserLoop one, loop(what, part));
            step.loops = {one};
            if (step.verb == UserVerb::SumAt && one.axis->summed)
                return wrong(part, "the store has no loop " + one.axis->name);
            break;
        }
        case UserVerb::Parallel:
            if (what.whole() == nullptr || *what.whole() < 1 || *what.whole() > 8)
                return wrong(part, "the number of loops is not from 1 to 8");
            step.count = static_cast<std::int32_t>(*what.whole());
            break;
        }
        LATHE_TRY(readCondition(item, part, step));
        return step;
    }

    /// A whole axis is split: no part of it.
    Result<> readSplitStep(const JsonValue& item, const JsonValue& what, const std::string& part, UserStep& step) const
    {
        const std::string* axis = what.text();
        if (axis == nullptr)
            return wrong(part, "an axis is named by a text, such as \"x\"");
        step.loops = {{findAxis(m_definition.pattern, *axis)}};
        if (step.loops.front().axis == nullptr)
            return wrong(part, "the pattern has no axis " + inQuotes(*axis));
        LATHE_TRY_ASSIGN(step.knob, name(item, "by", part));
        const UserKnob* knob = m_definition.find(step.knob);
        if (knob == nullptr || knob->axis != *axis)
            return wrong(part, fmt::format("there is no knob {} that splits {}", inQuotes(step.knob), *axis));
        return {};
    }

    Result<> readCondition(const JsonValue& item, const std::string& part, UserStep& step) const
    {
        if (item.member("if") == nullptr)
            return {};
        LATHE_TRY_ASSIGN(step.condition, name(item, "if", part));
        const UserKnob* knob = m_definition.find(step.condition);
        if (knob == nullptr || !knob->axis.empty())
            return wrong(part, "there is no option " + inQuotes(step.condition));
        return {};
    }

    std::string m_file;
    UserDefinition m_definition;
};

} // namespace

Result<UserDefinition> readUserDefinition(std::string_view text, const std::string& file)
{
    return DefinitionReader(file).read(text);
}

} // namespace lathe::templates
