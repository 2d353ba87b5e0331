#include "core/target/target.h"

#include "core/support/message.h"
#include "core/target/detect.h"
#include "core/target/kinds.h"

#include <algorithm>
#include <charconv>

namespace lathe {
namespace {

/// Splits at blanks; a part in double quotes may hold blanks.
Result<std::vector<std::string>> words(std::string_view text)
{
    std::vector<std::string> result;
    std::string word;
    bool inWord = false, quoted = false;
    for (const char c : text) {
        if (c == '"') {
            quoted = !quoted;
            inWord = true;
        } else if (!quoted && (c == ' ' || c == '\t' || c == '\n')) {
            if (inWord)
                result.push_back(std::move(word));
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (quoted)
        return makeError(Errc::InvalidArgument, say(Msg::TargetQuote, text));
    if (inWord)
        result.push_back(std::move(word));
    return result;
}

/// "cpu, cuda, opencl": all that parse() knows.
std::string knownKinds(std::string_view beforeLast)
{
    const std::vector<TargetKindPtr> kinds = targetKinds();
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += (i == 0 ? "" : i + 1 == kinds.size() ? std::string(beforeLast) : ", ") + kinds[i]->name;
    return text;
}

Result<> checkWord(const TargetKind& kind, const std::string& key, const std::string& value, const std::string& word)
{
    const auto known = std::find_if(kind.words.begin(), kind.words.end(),
                                    [&key](const TargetWord& w) { return w.key == key; });
    if (known == kind.words.end()) {
        std::string keys;
        for (const TargetWord& each : kind.words)
            keys += (keys.empty() ? "" : ", ") + each.key;
        return makeError(Errc::InvalidArgument, keys.empty() ? say(Msg::TargetTakesNone, word, kind.name)
                                                             : say(Msg::TargetTakes, word, kind.name, keys));
    }
    if (value.empty())
        return makeError(Errc::InvalidArgument, say(Msg::TargetNoValue, word));
    if (const std::string wants = known->refusal ? known->refusal(value) : std::string(); !wants.empty())
        return makeError(Errc::InvalidArgument, say(Msg::TargetWants, word, wants));
    return {};
}

} // namespace

Result<Target> Target::parse(std::string_view text)
{
    LATHE_TRY_ASSIGN(const std::vector<std::string> parts, words(text));
    if (parts.empty())
        return makeError(Errc::InvalidArgument, say(Msg::TargetEmpty, knownKinds(" or ")));
    const TargetKindPtr kind = findTargetKind(parts[0]);
    if (!kind) {
        return makeError(Errc::InvalidArgument, parts[0] == "llvm"
                                                    ? say(Msg::TargetNamedLlvm, parts[0], knownKinds(", "))
                                                    : say(Msg::TargetOfNoKind, parts[0], knownKinds(", ")));
    }
    Target target;
    target.m_kind = kind->name;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string& word = parts[i];
        const std::size_t equals = word.find('=');
        if (word.size() < 2 || word[0] != '-' || equals == std::string::npos)
            return makeError(Errc::InvalidArgument, say(Msg::TargetNoForm, word));
        std::string key = word.substr(1, equals - 1);
        std::string value = word.substr(equals + 1);
        LATHE_TRY(checkWord(*kind, key, value, word));
        if (!target.m_attributes.emplace(std::move(key), std::move(value)).second)
            return makeError(Errc::InvalidArgument, say(Msg::TargetTwice, word));
    }
    target.m_traits = std::make_shared<const BackendTraits>(kind->traits ? kind->traits(target) : BackendTraits());
    return target;
}

const BackendTraits& Target::traits() const
{
    if (m_traits)
        return *m_traits;
    static const Target plain = *Target::parse("cpu"); // what a target is that nobody read
    return *plain.m_traits;
}

std::optional<std::string> Target::attribute(std::string_view key) const
{
    const auto found = m_attributes.find(key);
    return found == m_attributes.end() ? std::nullopt : std::optional(found->second);
}

std::string Target::text() const
{
    std::string result = m_kind;
    for (const auto& [key, value] : m_attributes) {
        const bool quote = value.find_first_of(" \t\n") != std::string::npos;
        result += " -" + key + '=' + (quote ? '"' + value + '"' : value);
    }
    return result;
}

unsigned Target::threads() const
{
    if (m_traits != nullptr && m_traits->form == KernelForm::Launches) // the processor waits for the device
        return 1;
    if (const auto text = attribute("threads")) {
        unsigned number = 0;
        if (std::from_chars(text->data(), text->data() + text->size(), number).ec == std::errc())
            return number;
    }
    return availableThreads();
}

std::string Target::machine() const
{
    if (m_traits != nullptr && !m_traits->machine.empty())
        return m_traits->machine;
    const std::optional<std::string> triple = attribute("mtriple");
    return triple ? triple->substr(0, triple->find('-')) : thisMachine();
}

std::string thisMachine()
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "this machine";
#endif
}

std::int64_t Hardware::get(std::string_view name, std::int64_t fallback) const
{
    const auto found = limits.find(name);
    return found == limits.end() ? fallback : found->second.value;
}

void Hardware::takeDeviceFigures(const Hardware& device)
{
    for (const auto& [name, figure] : device.limits) {
        const auto [known, fresh] = limits.emplace(name, figure);
        if (!fresh && known->second.origin.starts_with("preset"))
            known->second = figure;
    }
}

std::vector<std::int64_t> Hardware::referenceEight() const
{
    return {get("num_cores"),
            get("vector_unit_bytes"),
            get("cache_line_bytes"),
            get("max_shared_memory_per_block"),
            get("max_local_memory_per_block"),
            get("max_threads_per_block"),
            get("max_vthread_extent"),
            get("warp_size")};
}

} // namespace lathe
