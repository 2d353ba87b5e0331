#include "core/session/options_json.h"

#include "core/session/option_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

bool isWhole(const json& value)
{
    return value.is_number_unsigned() || value.is_number_integer();
}

OptionValue wholeOf(const json& value)
{
    return value.is_number_unsigned() ? OptionValue(value.get<std::uint64_t>())
                                      : OptionValue(value.get<std::int64_t>());
}

/// [["x", [1, 3, 224, 224]], ...]; nothing: it is no such thing.
std::optional<OptionShapes> shapesOf(const json& value)
{
    OptionShapes shapes;
    if (!value.is_array())
        return std::nullopt;
    for (const json& entry : value) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_array())
            return std::nullopt;
        std::vector<std::int64_t> shape;
        for (const json& dim : entry[1]) {
            if (!isWhole(dim) || (dim.is_number_unsigned() && !std::in_range<std::int64_t>(dim.get<std::uint64_t>())))
                return std::nullopt;
            shape.push_back(dim.get<std::int64_t>());
        }
        shapes.emplace_back(entry[0].get<std::string>(), std::move(shape));
    }
    return shapes;
}

/// Nothing: the value is none of the option's type.
std::optional<OptionValue> optionFromJson(OptionType type, const json& value)
{
    switch (type) {
    case OptionType::Flag: return value.is_boolean() ? std::optional<OptionValue>(value.get<bool>()) : std::nullopt;
    case OptionType::Whole: return isWhole(value) ? std::optional(wholeOf(value)) : std::nullopt;
    case OptionType::Number:
    case OptionType::Duration:
        return value.is_number() ? std::optional<OptionValue>(value.get<double>()) : std::nullopt;
    case OptionType::Text:
    case OptionType::Word:
        return value.is_string() ? std::optional<OptionValue>(value.get<std::string>()) : std::nullopt;
    case OptionType::Texts:
        if (!value.is_array()
            || !std::all_of(value.begin(), value.end(), [](const json& each) { return each.is_string(); }))
            return std::nullopt;
        return value.get<std::vector<std::string>>();
    case OptionType::Shapes:
        if (auto shapes = shapesOf(value))
            return OptionValue(*std::move(shapes));
        return std::nullopt;
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
        return makeError(Errc::BadFile, fmt::format("the project's {} cannot be read: {}", what, why));
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
