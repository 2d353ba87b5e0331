#include "app/cli/interrupt.h"

#include "app/cli/output.h"
#include "app/cli/tune_output.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

namespace lathe::cli {

namespace {

std::atomic<int> g_interrupts{
    0}; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a signal handler has no other place

std::atomic<const EventBell*> g_bell; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): as above

void onInterrupt(int)
{
    const int error = errno;
    ++g_interrupts;
    if (const EventBell* const bell = g_bell)
        bell->ring(); // a write, which a signal handler may make
    errno = error;
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

StopOnInterrupt::StopOnInterrupt()
{
    g_bell = &m_bell;
    installInterrupt();
    m_listener = std::jthread([this] {
        pollfd watched = m_bell.watched();
        while (::poll(&watched, 1, -1) < 0)
            ;
        m_stop.request_stop();
    });
}

StopOnInterrupt::~StopOnInterrupt()
{
    g_bell = nullptr;
    m_bell.ring(); // so that the listener ends
}

} // namespace lathe::cli
