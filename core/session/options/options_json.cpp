#include "core/session/options/options_json.h"

#include "core/session/head_start.h"
#include "core/session/options/option_table.h"
#include "core/session/options/tune_options.h"
#include "core/support/json_values.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace lathe::session {

using nlohmann::json;

namespace {

json optionToJson(const OptionValue& value)
{
    return std::visit(
        [](const auto& held) -> json {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
                return nullptr;
            else
                return held;
        },
        value);
}

template<typename T>
std::optional<OptionValue> taken(const json& value)
{
    T held{};
    return takeJson(value, held) ? std::optional<OptionValue>(std::move(held)) : std::nullopt;
}

/// Nothing: the value is none of the option's type.
std::optional<OptionValue> optionFromJson(OptionType type, const json& value)
{
    switch (type) {
    case OptionType::Flag: return taken<bool>(value);
    case OptionType::Whole:
        if (auto whole = taken<std::uint64_t>(value))
            return whole;
        return taken<std::int64_t>(value);
    case OptionType::Number:
    case OptionType::Duration: return taken<double>(value);
    case OptionType::Text:
    case OptionType::Word: return taken<std::string>(value);
    case OptionType::Texts: return taken<std::vector<std::string>>(value);
    case OptionType::Shapes: return taken<OptionShapes>(value); // [["x", [1, 3, 224, 224]], ...]
    case OptionType::Sizes: return taken<OptionSizes>(value); // [["height", 640], ...]
    }
    return std::nullopt;
}

template<typename Options>
json storedOptions(const Options& options)
{
    const Options usual;
    json object = json::object();
    for (const Option<Options>& row : optionTable<Options>()) {
        if (row.key.empty() || (row.sparse && row.get(options) == row.get(usual)))
            continue;
        object[row.key] = optionToJson(row.stored ? row.stored(options) : row.get(options));
    }
    return object;
}

template<typename Options>
Result<Options> readOptions(std::string_view text, std::string_view what)
{
    const auto bad = [&what](std::string_view why) {
        return makeError(Errc::BadFile, say(Msg::ProjectPartUnreadable, what, why));
    };
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return bad("it is no JSON object");
    Options options;
    for (const Option<Options>& row : optionTable<Options>()) {
        if (row.key.empty())
            continue;
        if (!object.contains(row.key)) {
            if (!std::holds_alternative<std::monostate>(row.absent))
                row.set(options, row.absent);
            continue;
        }
        const auto value = optionFromJson(row.type, object[row.key]);
        if (!value || !row.set(options, *value))
            return bad(fmt::format("key {} has a value that does not belong there", row.key));
    }
    return options;
}

} // namespace

json toJson(const TuneOptions& options)
{
    return storedOptions(options);
}

Result<TuneOptions> tuneOptionsFromJson(std::string_view text)
{
    return readOptions<TuneOptions>(text, "tuning options");
}

json toJson(const ModelSpec& spec)
{
    return storedOptions(spec);
}

Result<ModelSpec> modelSpecFromJson(std::string_view text)
{
    return readOptions<ModelSpec>(text, "model options");
}

} // namespace lathe::session
