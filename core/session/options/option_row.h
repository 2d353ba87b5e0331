#pragma once

/// How a row of an option table is written: for the files of the tables alone.

#include "core/session/options/option_table.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lathe::session {

/// A field of an options struct as an OptionValue, and back.
template<typename T>
struct FieldOf
{
    static OptionValue get(const T& field)
    {
        if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
            return field;
        else if constexpr (std::is_unsigned_v<T>)
            return std::uint64_t{field};
        else if constexpr (std::is_integral_v<T>)
            return std::int64_t{field};
        else if constexpr (std::is_same_v<T, std::filesystem::path>)
            return field.string();
        else
            return field;
    }
    static bool set(T& field, const OptionValue& value)
    {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            const auto* whole = std::get_if<std::int64_t>(&value);
            const auto* natural = std::get_if<std::uint64_t>(&value);
            const bool fits = whole != nullptr ? std::in_range<T>(*whole)
                                               : natural != nullptr && std::in_range<T>(*natural);
            if (fits)
                field = whole != nullptr ? static_cast<T>(*whole) : static_cast<T>(*natural);
            return fits;
        } else {
            using Held = std::conditional_t<std::is_same_v<T, std::filesystem::path>, std::string, T>;
            const auto* held = std::get_if<Held>(&value);
            if (held != nullptr)
                field = *held;
            return held != nullptr;
        }
    }
};
template<typename T>
struct FieldOf<std::optional<T>>
{
    static OptionValue get(const std::optional<T>& field) { return field ? FieldOf<T>::get(*field) : OptionValue(); }
    static bool set(std::optional<T>& field, const OptionValue& value)
    {
        if (std::holds_alternative<std::monostate>(value)) {
            field.reset();
            return true;
        }
        T held{};
        const bool fits = FieldOf<T>::set(held, value);
        if (fits)
            field = held;
        return fits;
    }
};

/// The row of a field: `info`, with `get` and `set` that go to the field.
template<typename Options, typename T>
Option<Options> optionRow(T Options::*field, OptionInfo info)
{
    return {std::move(info),
            [field](const Options& o) { return FieldOf<T>::get(o.*field); },
            [field](Options& o, const OptionValue& value) { return FieldOf<T>::set(o.*field, value); },
            [field](const Options& o) -> const void* { return &(o.*field); },
            {}};
}

/// The row of this key, which the table has.
template<typename Options>
Option<Options>& optionOfKey(OptionTable<Options>& table, std::string_view key)
{
    return *std::find_if(table.begin(), table.end(), [key](const OptionInfo& option) { return option.key == key; });
}

} // namespace lathe::session
