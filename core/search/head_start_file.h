#pragma once

#include "core/search/head_start.h"

#include <string>
#include <string_view>

namespace lathe::search {

// The bytes of a head start:
//
//   lathe head start 1               the format
//   {"features": "1:...", ...}       a line of JSON, for people and programs: what it was made from, how much it
//                                    holds, and size and hash of what follows
//   Zstandard frame                  a line of JSON for each task
//
// Rows are written to six digits. Equal values have equal bytes.

inline constexpr std::int32_t kHeadStartFormat = 1;
inline constexpr std::size_t kMaxHeadStartBytes = std::size_t{16} << 20;

Result<std::string> writeHeadStart(const HeadStart& headStart); ///< InvalidArgument: more than the format holds

/// Reads the bytes, whoever made them. Errors: BadFile (with what is wrong), Incompatible (another format). Features of
/// another build are not an error here; see checkFeatures().
Result<HeadStart> readHeadStart(std::string_view bytes);

} // namespace lathe::search
