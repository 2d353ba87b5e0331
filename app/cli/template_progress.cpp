#include "app/cli/template_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lathe::cli {
namespace {

double gflops(double flop, double ms)
{
    return ms > 0 && std::isfinite(ms) ? flop / ms / 1e6 : 0;
}

} // namespace

TemplateProgress::TemplateProgress(const session::TuningSession& session, std::int64_t trialsPerTask)
{
    const auto tasks = session.tasks();
    for (session::TemplateView& view : session.templates()) {
        if (!view.hasSteps)
            continue;
        Row row;
        row.flop = tasks[static_cast<std::size_t>(view.tasks.front())].flop;
        row.total = static_cast<std::int64_t>(std::min<std::uint64_t>(view.size, std::int64_t{1} << 60));
        if (trialsPerTask > 0)
            row.total = std::min(row.total, trialsPerTask);
        row.view = std::move(view);
        m_rows.push_back(std::move(row));
    }
}

void TemplateProgress::add(const session::TrialView& trial)
{
    const std::string_view name = session::templateOfSketch(trial.sketch);
    if (name.empty())
        return;
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& r) {
        return r.view.name == name && r.view.tasks.front() == trial.task;
    });
    if (row == m_rows.end())
        return; // a task that measures what was best for another one
    const auto index = static_cast<std::size_t>(row - m_rows.begin());
    if (m_round != index)
        row->currentMs = 0;
    m_round = index;
    ++row->done;
    if (trial.code == "Ok" && std::isfinite(trial.costMs)) {
        row->currentMs = trial.costMs;
        row->bestMs = std::min(row->bestMs, trial.costMs);
    }
}

std::optional<TemplateProgress::Line> TemplateProgress::afterRound(double atSeconds)
{
    const double before = std::exchange(m_at, atSeconds);
    if (!m_round)
        return std::nullopt;
    Row& row = m_rows[*m_round];
    row.seconds += atSeconds - before;
    Line line;
    if (m_shown && *m_shown != *m_round)
        line.ended = textOf(*m_shown) + " Done.";
    m_shown = m_round;
    line.now = textOf(*m_round);
    m_round.reset();
    return line;
}

std::string TemplateProgress::end()
{
    if (!m_shown)
        return {};
    const std::size_t row = *m_shown;
    m_shown.reset();
    return textOf(row) + " Done.";
}

std::string TemplateProgress::textOf(std::size_t index) const
{
    const Row& row = m_rows[index];
    return fmt::format("[Task {:2}/{:2}]  Current/Best: {:7.2f}/{:7.2f} GFLOPS | Progress: ({}/{}) | {:.2f} s",
                       index + 1, m_rows.size(), gflops(row.flop, row.currentMs), gflops(row.flop, row.bestMs),
                       row.done, row.total, row.seconds);
}

} // namespace lathe::cli
