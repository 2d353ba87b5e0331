#pragma once

#include "core/support/checks.h"

#include <sstream>

namespace lathe::detail {

/// Collects the note of a failed check; its destructor prints place, condition and note, and aborts.
class CheckFailure
{
public:
    CheckFailure(const char* condition, const char* file, int line);
    [[noreturn]] ~CheckFailure();
    CheckFailure(const CheckFailure&) = delete;
    CheckFailure& operator=(const CheckFailure&) = delete;
    std::ostream& stream() { return m_text; }

private:
    std::ostringstream m_text;
};

struct CheckVoidify
{
    void operator&(std::ostream&) const {}
};

} // namespace lathe::detail

/// Our own bug, in release too. No user input, plugin or kernel may be able to reach one.
#define LATHE_CHECK(condition)                                                                                         \
    (condition)                                                                                                        \
        ? static_cast<void>(0)                                                                                         \
        : ::lathe::detail::CheckVoidify() & ::lathe::detail::CheckFailure(#condition, __FILE__, __LINE__).stream()

/// The same in hot loops: looked at where checks are on (checks.h).
#define LATHE_DCHECK(condition) LATHE_CHECK(!::lathe::checksAreOn() || (condition))
