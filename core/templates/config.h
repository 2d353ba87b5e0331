#pragma once

#include "core/templates/entity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::templates {

/// One choice for each knob of a template, in the order in which the template defines them. A value; it may be none of
/// a space's, as the reference's fallbacks are.
struct Config
{
    std::vector<std::pair<std::string, Entity>> knobs;
    /// Its place in the space that it was made for. Of logs of others it may mean another configuration
    /// (split_choices.h says where): what a configuration is, `knobs` alone tell.
    std::optional<std::uint64_t> index = {};
    JsonValue codeHash = {}; ///< the checksum of the template's source that the reference may write; kept, not read
    bool fallback = false; ///< made by a rule, since nothing was measured

    const Entity* find(std::string_view knob) const; ///< null: there is no such knob
    /// The sizes of a split, the value of an option that is a whole number (true is 1); null or nothing: there is none.
    const std::vector<std::int64_t>* sizes(std::string_view knob) const;
    std::optional<std::int64_t> number(std::string_view knob) const;
    /// Adds the knob or gives it another choice.
    void set(std::string_view knob, Entity entity);

    bool operator==(const Config& other) const { return knobs == other.knobs; }
};

/// One choice, for people: "[-1, 8, 4]", "unroll, none", "true".
std::string entityText(const Entity& entity);
/// "tile_ic [-1, 3], unroll_kw true".
std::string configText(const Config& config);

} // namespace lathe::templates
