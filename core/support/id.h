#pragma once

#include <cstdint>
#include <functional>

namespace lathe {

/// An index that cannot be mixed up with another kind's: using TaskId = Id<struct TaskTag>.
template<typename Tag>
struct Id
{
    std::int32_t value = -1;
    constexpr Id() = default;
    constexpr explicit Id(std::int64_t v)
        : value(static_cast<std::int32_t>(v))
    {
    }
    constexpr bool valid() const { return value >= 0; }
    constexpr auto operator<=>(const Id&) const = default;
};

} // namespace lathe

template<typename Tag>
struct std::hash<lathe::Id<Tag>>
{
    std::size_t operator()(lathe::Id<Tag> id) const noexcept { return static_cast<std::size_t>(id.value); }
};
