#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace lathe {

/// A point in time by which something must be over; the default is never.
class Deadline
{
public:
    using Clock = std::chrono::steady_clock;
    Deadline() = default;
    static Deadline never() { return {}; }
    static Deadline at(Clock::time_point time)
    {
        Deadline d;
        d.m_at = time;
        return d;
    }
    static Deadline in(std::chrono::nanoseconds span)
    {
        return at(Clock::now() + std::chrono::duration_cast<Clock::duration>(span));
    }
    static Deadline inSeconds(double seconds)
    {
        return in(std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e8) * 1e9)));
    }
    bool isNever() const { return m_at == Clock::time_point::max(); }
    Clock::time_point time() const { return m_at; } ///< the clock's maximum for never
    bool passed() const { return !isNever() && Clock::now() >= m_at; }
    /// For poll(2): milliseconds left, rounded up; -1 for never.
    int pollMs() const
    {
        if (isNever())
            return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_at - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
    }
    friend bool operator<(const Deadline& a, const Deadline& b) { return a.m_at < b.m_at; }

private:
    Clock::time_point m_at = Clock::time_point::max();
};

} // namespace lathe
