#pragma once

#include "core/support/result.h"
#include "core/templates/config.h"

namespace lathe::templates {

/// A configuration as the reference's logs have it (autotvm.md 9): {"index": 279, "code_hash": null, "entity":
/// [["tile_ic", "sp", [-1, 64]], ["unroll_kw", "ot", true]]}.
JsonValue configToJson(const Config& config);
/// The list under "entity" alone.
JsonValue entitiesToJson(const Config& config);

/// Reads the same. A configuration may be of any template, known or not.
/// Errors: BadFile, with the place: kinds that do not exist, payloads of another kind, sizes below 1 (the first may be
/// -1) or of 2^31 and more, orders that are no permutation, a knob that is set twice, a negative index, more than 256
/// knobs.
Result<Config> configFromJson(const JsonValue& json);

} // namespace lathe::templates
