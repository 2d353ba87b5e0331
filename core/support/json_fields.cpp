#include "core/support/json_fields.h"

#include "core/support/json_values.h"

namespace lathe {

using nlohmann::json;

double numberIn(const json& object, const char* key, double fallback)
{
    takeMember(object, key, fallback);
    return fallback;
}

std::int64_t wholeIn(const json& object, const char* key, std::int64_t fallback)
{
    takeMember(object, key, fallback);
    return fallback;
}

bool flagIn(const json& object, const char* key)
{
    bool flag = false;
    takeMember(object, key, flag);
    return flag;
}

std::string textIn(const json& object, const char* key, std::string fallback)
{
    takeMember(object, key, fallback);
    return fallback;
}

json partIn(const json& object, const char* key)
{
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_object() ? *found : json::object();
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
