#include "core/record/json_fields.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lathe {

using nlohmann::json;

namespace {

/// Null where it is absent.
const json& member(const json& object, const char* key)
{
    static const json nothing;
    if (!object.is_object())
        return nothing;
    const auto found = object.find(key);
    return found == object.end() ? nothing : *found;
}

} // namespace

double numberIn(const json& object, const char* key, double fallback)
{
    const json& value = member(object, key);
    return value.is_number() ? value.get<double>() : fallback;
}

std::int64_t wholeIn(const json& object, const char* key, std::int64_t fallback)
{
    const json& value = member(object, key);
    const bool fits = value.is_number_integer() && (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
    return fits ? value.get<std::int64_t>() : fallback;
}

bool flagIn(const json& object, const char* key)
{
    const json& value = member(object, key);
    return value.is_boolean() && value.get<bool>();
}

std::string textIn(const json& object, const char* key, std::string fallback)
{
    const json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : fallback;
}

json partIn(const json& object, const char* key)
{
    const json& value = member(object, key);
    return value.is_object() ? value : json::object();
}

std::map<std::string, double> numbersIn(const json& object)
{
    std::map<std::string, double> numbers;
    if (object.is_object())
        for (const auto& [name, value] : object.items())
            if (value.is_number())
                numbers[name] = value.get<double>();
    return numbers;
}

} // namespace lathe
