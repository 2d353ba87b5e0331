#include "core/target/target.h"

#include "core/support/message.h"
#include "core/target/detect.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace lathe {
namespace {

constexpr std::string_view kCpuKeys[] = {"host", "mattr", "mcpu", "mtriple", "threads"};
constexpr std::string_view kCudaKeys[] = {"arch", "host"};
constexpr std::string_view kOpenclKeys[] = {"device", "host"};
constexpr std::string_view kVtaKeys[] = {"device", "host", "threads"};
constexpr std::string_view kSimKeys[] = {"cost", "interpret", "like", "script", "seed", "threads"};

struct KindEntry
{
    std::string_view name;
    std::span<const std::string_view> keys;
};

constexpr KindEntry kKinds[] = {
    {"cpu", kCpuKeys}, {"cuda", kCudaKeys}, {"opencl", kOpenclKeys}, {"vta", kVtaKeys}, {"sim", kSimKeys}};

std::string joined(std::span<const std::string_view> words)
{
    std::string text;
    for (const std::string_view word : words) {
        if (!text.empty())
            text += ", ";
        text += word;
    }
    return text;
}

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

std::optional<std::int64_t> toInteger(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

Result<> checkValue(std::string_view kind, std::string_view key, const std::string& value, const std::string& word)
{
    if (value.empty())
        return makeError(Errc::InvalidArgument, say(Msg::TargetNoValue, word));
    if (key == "threads") {
        const auto number = toInteger(value);
        if (!number || *number < 1 || *number > 4096)
            return makeError(Errc::InvalidArgument, say(Msg::TargetThreads, word));
    }
    if (key == "seed" && !toInteger(value))
        return makeError(Errc::InvalidArgument, say(Msg::TargetInteger, word));
    if (kind == "sim" && key == "like" && value != "cpu" && value != "cuda" && value != "opencl" && value != "mali")
        return makeError(Errc::InvalidArgument, say(Msg::TargetLike, word));
    if (kind == "cuda" && key == "arch" && !(value.starts_with("sm_") && toInteger(std::string_view(value).substr(3))))
        return makeError(Errc::InvalidArgument, say(Msg::TargetArchitecture, word));
    return {};
}

} // namespace

Result<Target> Target::parse(std::string_view text)
{
    LATHE_TRY_ASSIGN(const std::vector<std::string> parts, words(text));
    if (parts.empty())
        return makeError(Errc::InvalidArgument, say(Msg::TargetEmpty));
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindEntry& k) { return k.name == parts[0]; });
    if (kind == std::end(kKinds)) {
        std::string message = "target kind '" + parts[0] + "' is not one of cpu, cuda, opencl, vta, sim";
        if (parts[0] == "llvm")
            message += "; the CPU's is named cpu here";
        return makeError(Errc::InvalidArgument, std::move(message));
    }
    Target target;
    target.m_kind = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string& word = parts[i];
        const std::size_t equals = word.find('=');
        if (word.size() < 2 || word[0] != '-' || equals == std::string::npos)
            return makeError(Errc::InvalidArgument, say(Msg::TargetNoForm, word));
        std::string key = word.substr(1, equals - 1);
        std::string value = word.substr(equals + 1);
        if (std::find(kind->keys.begin(), kind->keys.end(), key) == kind->keys.end())
            return makeError(Errc::InvalidArgument,
                             say(Msg::TargetTakes, word, target.m_kind, joined(kind->keys)));
        LATHE_TRY(checkValue(target.m_kind, key, value, word));
        if (!target.m_attributes.emplace(std::move(key), std::move(value)).second)
            return makeError(Errc::InvalidArgument, say(Msg::TargetTwice, word));
    }
    return target;
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

std::string Target::family() const
{
    const std::string device = attribute("device").value_or("");
    const std::string like = attribute("like").value_or("");
    if (m_kind == "opencl" && device == "mali")
        return "mali";
    if (m_kind == "sim" && like == "mali")
        return "mali";
    if (m_kind == "cuda" || m_kind == "opencl" || like == "cuda" || like == "opencl")
        return "gpu";
    return "cpu"; // vta as well: what its array does not do runs on the host
}

unsigned Target::threads() const
{
    if (const auto text = attribute("threads"))
        if (const auto number = toInteger(*text))
            return static_cast<unsigned>(*number);
    return availableThreads();
}

std::string Target::machine() const
{
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
