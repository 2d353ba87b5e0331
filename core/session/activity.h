#pragma once

#include <chrono>
#include <cstdint>

namespace lathe::session {

inline double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline std::int64_t unixMs()
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Adds the time until it dies to an activity.
class Activity
{
public:
    explicit Activity(double& total) : m_total(total), m_start(std::chrono::steady_clock::now()) { }
    ~Activity() { m_total += secondsSince(m_start); }
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

private:
    double& m_total;
    std::chrono::steady_clock::time_point m_start;
};

} // namespace lathe::session
