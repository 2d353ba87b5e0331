#include "app/cli/interrupt.h"

#include "app/cli/output.h"
#include "app/cli/tune_output.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

namespace lathe::cli {

namespace {

std::atomic<int> g_interrupts{
    0}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a signal handler has no other place

void onInterrupt(int)
{
    ++g_interrupts;
}

} // namespace

void installInterrupt()
{
    struct sigaction action
    {
    };
    action.sa_handler = onInterrupt;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

void waitForEnd(session::TuningSession& session, TuneOutput& output)
{
    bool stopping = false;
    while (!output.ended()) {
        if ((g_interrupts > 0 || outputClosed()) && !stopping) {
            stopping = true;
            session.stop();
        }
        output.waitFor(std::chrono::milliseconds(100));
    }
    session.wait();
    session.setObserver(nullptr);
}

bool pauseFor(std::chrono::milliseconds time)
{
    constexpr std::chrono::milliseconds kLookEach(50);
    const auto end = std::chrono::steady_clock::now() + time;
    while (g_interrupts == 0 && !outputClosed()) {
        const auto left = end - std::chrono::steady_clock::now();
        if (left <= left.zero())
            return true;
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kLookEach));
    }
    return false;
}

} // namespace lathe::cli
