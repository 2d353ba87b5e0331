#pragma once

#include "core/target/target.h"

#include <filesystem>

namespace lathe {

/// Hardware parameters as people write them: lines "l2_bytes = 1048576" ('#' begins a comment), or one JSON object
/// {"l2_bytes": 1048576} or {"l2_bytes": {"value": 1048576, "origin": "detected"}} as `lathe-cli devices --json` prints
/// it. Values without an origin get `origin`. Errors: InvalidArgument names the line or key that is off.
Result<Hardware> parseHardware(std::string_view text, std::string_view origin);

/// Of a file, or, where there is none of that name, of a CPU known by its -mcpu name; or the JSON object itself.
/// Errors: NotFound, those of parseHardware().
Result<Hardware> readHardware(const std::string& fileOrDevice);

/// Whether `name` may be `value` in place of what `target` says. InvalidArgument: no such parameter (known ones are
/// named), not sensible.
Result<> checkLimit(const Target& target, std::string_view name, std::int64_t value);

/// What a device says of itself, parseHardware()'s JSON. It may be on another machine, and what it says is divided by
/// and counted up to: figures that are true of no device are left out, with a warning, and all of them if the text
/// cannot be read.
Hardware deviceFigures(std::string_view text);

/// One JSON object with values and origins; parseHardware() reads it.
std::string hardwareText(const Hardware& hardware);

} // namespace lathe
