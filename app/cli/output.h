#pragma once

#include "core/support/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

namespace lathe::cli {

// Standard output, for any thread. When its reader goes away (| head) what follows is dropped without a word: the
// command ends as other tools of a pipe do.

void put(std::string_view text);

template<typename... T>
void print(fmt::format_string<T...> format, T&&... arguments)
{
    put(fmt::format(format, std::forward<T>(arguments)...));
}

/// A latency in ms: three decimals, below 0.1 ms three digits ("12.345", "0.00234"); "-" if it is not known.
std::string latency(double ms);

/// Hands on what was put so far. Errors: StoreFailed (a full disk); a reader that went away is none.
Result<> flushOutput();
/// The reader went away.
bool outputClosed();
/// Something was put.
bool outputUsed();

} // namespace lathe::cli
