#include "app/cli/output.h"

#include "core/support/message.h"

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace lathe::cli {

namespace {

struct State
{
    std::atomic<bool> used = false, closed = false;
    std::atomic<int> failure = 0; ///< errno of the first write that failed otherwise
};

State& state()
{
    static State state;
    return state;
}

void noteFailure()
{
    if (errno == EPIPE)
        state().closed = true;
    else if (state().failure == 0)
        state().failure = errno;
}

} // namespace

void put(std::string_view text)
{
    state().used = true;
    if (!outputClosed() && std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        noteFailure();
}

std::string latency(double ms)
{
    return std::isfinite(ms) ? latencyDigits(ms) : std::string("-");
}

Result<> flushOutput()
{
    if (!outputClosed() && std::fflush(stdout) != 0)
        noteFailure();
    if (const int failure = state().failure; failure != 0)
        return makeError(Errc::StoreFailed,
                         fmt::format("standard output cannot be written: {}", std::strerror(failure)));
    return {};
}

bool outputClosed()
{
    return state().closed;
}

bool outputUsed()
{
    return state().used;
}

} // namespace lathe::cli
