#pragma once

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe {

// One set of rules for what a value of JSON, written by others or damaged, can be read as: what is not exactly of the
// kind, or not in the range, is not taken. Nothing is converted. Each returns false then, and `out` keeps what it had.

inline bool takeJson(const nlohmann::json& value, bool& out)
{
    if (value.is_boolean())
        out = value.get<bool>();
    return value.is_boolean();
}

/// Whole numbers, written without a fraction.
template<std::integral T>
bool takeJson(const nlohmann::json& value, T& out)
{
    if (!value.is_number_integer())
        return false;
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (fits)
        out = value.is_number_unsigned() ? static_cast<T>(value.get<std::uint64_t>())
                                         : static_cast<T>(value.get<std::int64_t>());
    return fits;
}

/// Any number.
inline bool takeJson(const nlohmann::json& value, double& out)
{
    if (value.is_number())
        out = value.get<double>();
    return value.is_number();
}

inline bool takeJson(const nlohmann::json& value, std::string& out)
{
    if (value.is_string())
        out = value.get<std::string>();
    return value.is_string();
}

template<typename A, typename B>
bool takeJson(const nlohmann::json& value, std::pair<A, B>& out);

/// Lists of which every element is taken.
template<typename T>
bool takeJson(const nlohmann::json& value, std::vector<T>& out)
{
    if (!value.is_array())
        return false;
    std::vector<T> taken;
    for (const nlohmann::json& item : value) {
        T element{};
        if (!takeJson(item, element))
            return false;
        taken.push_back(std::move(element));
    }
    out = std::move(taken);
    return true;
}

/// Lists of two.
template<typename A, typename B>
bool takeJson(const nlohmann::json& value, std::pair<A, B>& out)
{
    std::pair<A, B> taken;
    if (!value.is_array() || value.size() != 2 || !takeJson(value[0], taken.first) || !takeJson(value[1], taken.second))
        return false;
    out = std::move(taken);
    return true;
}

/// A member of an object; false if it is absent, or not taken.
template<typename T>
bool takeMember(const nlohmann::json& object, const char* key, T& out)
{
    if (!object.is_object())
        return false;
    const auto found = object.find(key);
    return found != object.end() && takeJson(*found, out);
}

} // namespace lathe
