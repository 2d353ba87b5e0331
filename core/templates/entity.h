#pragma once

#include "core/templates/json_value.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe::templates {

/// What an axis is marked as. The values are the places of the marks in knob features (autotvm.md 2.3).
enum class Mark : std::uint8_t
{
    None,
    Vec,
    Unroll,
    BlockX,
    BlockY,
    BlockZ,
    ThreadX,
    ThreadY,
    ThreadZ,
    VThread,
    Fuse
};
inline constexpr std::int32_t kMarkCount = 11;

/// Nested sizes of one axis, the innermost last; the first is usually -1, what is left (log tag "sp").
struct SplitEntity
{
    std::vector<std::int64_t> sizes;
    bool operator==(const SplitEntity&) const = default;
};

/// The order of loops: which axis comes first, second, ... ("re").
struct ReorderEntity
{
    std::vector<std::int32_t> order;
    bool operator==(const ReorderEntity&) const = default;
};

/// One mark for each axis ("an").
struct AnnotateEntity
{
    std::vector<Mark> marks;
    bool operator==(const AnnotateEntity&) const = default;
};

/// The axes that caches are attached to, by position ("an", of the policy locate_cache).
struct AnchorEntity
{
    std::vector<std::int32_t> positions;
    bool operator==(const AnchorEntity&) const = default;
};

/// One of a list of values that are no lists ("ot").
struct OptionEntity
{
    JsonValue value;
    bool operator==(const OptionEntity&) const = default;
};

/// What a configuration chooses for a knob.
using Entity = std::variant<SplitEntity, ReorderEntity, AnnotateEntity, AnchorEntity, OptionEntity>;

} // namespace lathe::templates
