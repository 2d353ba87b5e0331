#pragma once

#include "core/session/session.h"

#include <limits>
#include <optional>

namespace lathe::cli {

/// The progress line of the reference's template tuner (autotvm.md 10), one task after another:
///
///     [Task  3/12]  Current/Best:   15.30/  23.24 GFLOPS | Progress: (480/1000) | 123.45 s Done.
///
/// "Current" is the last configuration of a round that worked, 0 where none did.
class TemplateProgress
{
public:
    /// @param trialsPerTask  0: all configurations of a space
    TemplateProgress(const session::TuningSession& session, std::int64_t trialsPerTask);

    void add(const session::TrialView& trial);
    /// What stands on the line behind a round at a time of the run; nothing: no task of a template had it.
    struct Line
    {
        std::string ended; ///< the line of the task before, with "Done."; empty: it goes on
        std::string now;
    };
    std::optional<Line> afterRound(double atSeconds);
    /// The last line with its "Done."; empty: there is none.
    std::string end();

private:
    struct Row
    {
        session::TemplateView view;
        double flop = 0; ///< of the task that is searched
        std::int64_t done = 0, total = 0;
        double currentMs = 0, bestMs = std::numeric_limits<double>::infinity(); ///< current 0: none worked
        double seconds = 0;
    };
    std::string textOf(std::size_t index) const; ///< of the row

    std::vector<Row> m_rows;
    std::optional<std::size_t> m_shown; ///< row whose line goes on
    std::optional<std::size_t> m_round; ///< row of the trials of the round at hand
    double m_at = 0; ///< end of the last round
};

} // namespace lathe::cli
