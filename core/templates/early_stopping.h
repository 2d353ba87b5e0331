#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace lathe::templates {

/// Ends the tuning of a task after so many trials without a better one (autotvm.md 7): reached when trials >= place of
/// the best + patience, where the first trial has the place 0, and is the best as long as all failed. The reference
/// looks at it between batches only; when to look is the caller's choice here as well.
class EarlyStopping
{
public:
    /// Nothing: never.
    explicit EarlyStopping(std::optional<std::uint64_t> patience)
        : m_patience(patience)
    {
    }

    /// A trial's mean time; infinite: it failed. Equal to the best is not better.
    void add(double seconds)
    {
        if (std::isfinite(seconds) && seconds > 0 && seconds < m_best) {
            m_best = seconds;
            m_bestPlace = m_trials;
        }
        ++m_trials;
    }
    bool reached() const { return m_patience && m_trials - m_bestPlace >= *m_patience; }

    std::uint64_t trials() const { return m_trials; }
    std::uint64_t bestPlace() const { return m_bestPlace; }
    double best() const { return m_best; } ///< infinite: all failed

private:
    std::optional<std::uint64_t> m_patience;
    std::uint64_t m_trials = 0;
    std::uint64_t m_bestPlace = 0;
    double m_best = std::numeric_limits<double>::infinity();
};

} // namespace lathe::templates
