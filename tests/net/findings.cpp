#include "tests/net/findings.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace lathe::net {

void Findings::add(const std::string& what)
{
    constexpr std::size_t kShown = 8;
    if (++wrong <= kShown)
        text += "\n  " + what;
}

bool Findings::excuses(Schedule schedule, const Error& error)
{
    const bool unrolls = schedule == Schedule::Random && error.code == Errc::BuildFailed
                         && error.message.find("unrolling yields more than") != std::string::npos;
    unrolled += unrolls ? 1 : 0;
    return unrolls;
}

const OpenFinding* openFinding(std::span<const OpenFinding> open, std::string_view op)
{
    const auto found = std::ranges::find(open, op, &OpenFinding::op);
    return found != open.end() ? &*found : nullptr;
}

void onAllCores(std::size_t count, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
        threads.emplace_back([&] {
            for (std::size_t i = next++; i < count; i = next++)
                work(i);
        });
}

} // namespace lathe::net
