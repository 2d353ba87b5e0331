#include "app/cli/tune_output.h"

#include "app/cli/event_json.h"
#include "app/cli/output.h"
#include "app/cli/verdict_text.h"
#include "core/session/back_ends.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace lathe::cli {

using namespace session;

namespace {

std::string number(double value, int decimals)
{
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
}

/// The text with the latency in it; nothing while that is unknown.
std::string known(fmt::format_string<std::string> text, double ms)
{
    return std::isfinite(ms) ? fmt::format(text, latency(ms)) : std::string();
}

bool isExpected(const TuningSession& session)
{
    const auto target = parseTarget(session.options().target);
    return target && !target->traits().standsFor.empty();
}

std::string clock(double seconds)
{
    const auto whole = static_cast<long>(seconds);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

} // namespace

TuneOutput::TuneOutput(const TuningSession& session, bool json, bool verbose, std::optional<TemplateProgress> progress)
    : m_session(session)
    , m_json(json)
    , m_verbose(verbose)
    , m_terminal(!json && ::isatty(STDOUT_FILENO) == 1)
    , m_isExpected(isExpected(session))
    , m_word(m_isExpected ? "expected" : "estimated")
    , m_progress(std::move(progress))
    , m_tasks(session.tasks())
{
}

bool TuneOutput::ended() const
{
    const std::scoped_lock lock(m_mutex);
    return m_state == RunState::Stopped || m_state == RunState::Finished || m_state == RunState::Failed;
}

void TuneOutput::waitFor(std::chrono::milliseconds time)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, time);
}

Result<> TuneOutput::result() const
{
    const std::scoped_lock lock(m_mutex);
    if (m_state == RunState::Failed)
        return makeError(Errc::Internal, m_failure);
    return {};
}

void TuneOutput::onEvents(std::span<const Event> events)
{
    const std::scoped_lock lock(m_mutex);
    for (const Event& event : events) {
        m_atSeconds = event.atSeconds;
        if (const auto* trial = std::get_if<TrialEvent>(&event.what)) {
            ++m_trials;
            auto& task = m_tasks[static_cast<std::size_t>(trial->trial.task)];
            ++task.trials;
            if (m_progress)
                m_progress->add(trial->trial);
            if (trial->trial.code != "Ok") {
                ++m_errors;
                ++task.errors;
            }
        } else if (const auto* best = std::get_if<BestEvent>(&event.what)) {
            auto& task = m_tasks[static_cast<std::size_t>(best->task)];
            if (best->final
                || !(best->costMs >= task.bestMs)) { // else the best of this run, but an earlier one had better
                task.bestMs = best->costMs;
                task.bestAlternative = best->alternative;
                task.gflops = task.flop / best->costMs / 1e6;
            }
        } else if (const auto* estimate = std::get_if<EstimateEvent>(&event.what)) {
            m_estimate = *estimate;
        } else if (const auto* measured = std::get_if<MeasuredEvent>(&event.what)) {
            (measured->untuned ? m_untunedMs : m_measuredMs) = measured->ms;
        } else if (const auto* verdict = std::get_if<VerdictEvent>(&event.what)) {
            m_verdict = *verdict;
        } else if (const auto* round = std::get_if<RoundEvent>(&event.what)) {
            m_next = round->task;
        } else if (const auto* state = std::get_if<StateEvent>(&event.what)) {
            if (m_state == RunState::Starting && state->state == RunState::Running)
                m_startSeconds = event.atSeconds;
            m_began = m_began || state->state == RunState::Running;
            m_state = state->state;
            m_failure = state->text;
        }
        if (std::holds_alternative<RunBegunEvent>(event.what))
            continue; // for views that show several runs; a replay tells the same without it
        if (m_json)
            put(eventLine(event, m_isExpected) + "\n");
        else
            printText(event);
    }
    (void)flushOutput(); // a failure is the command's at its end
    m_changed.notify_all();
}

void TuneOutput::printText(const Event& event)
{
    if (const auto* trial = std::get_if<TrialEvent>(&event.what)) {
        if (m_verbose) {
            const TrialView& t = trial->trial;
            print("{} task {} {} {}\n", clock(event.atSeconds), t.task, t.candidate.substr(0, 8),
                  t.code == "Ok" ? latency(t.costMs) + " ms" : t.stage + " " + t.code + ": " + t.text);
            m_drawnLines = 0;
        }
    } else if (std::holds_alternative<RoundDoneEvent>(event.what) && m_progress) {
        printProgress();
    } else if (const auto* round = std::get_if<RoundEvent>(&event.what); round != nullptr && m_progress) {
        // Its line comes when it is over.
    } else if (round != nullptr) {
        if (m_terminal && !m_verbose) {
            printTable();
        } else {
            const auto& task = m_tasks[static_cast<std::size_t>(round->task)];
            print("{}  round {:3}  task {:2} {}  {}, best {} ms | {} {} ms{}, {:.1f} trials/s, {} failed\n",
                  clock(event.atSeconds), round->index, round->task, task.name, counted(round->trials, "trial|trials"),
                  latency(task.bestMs), m_word, latency(estimatedMs()), known(", measured {} ms", m_measuredMs),
                  trialsPerSecond(), m_errors);
        }
    } else if (const auto* measured = std::get_if<MeasuredEvent>(&event.what)) {
        print("{}  whole network{}: {} ms; estimated {}\n", clock(event.atSeconds),
              measured->untuned ? ", untuned" : "", latency(measured->ms), toText(measured->estimated));
        m_drawnLines = 0;
    } else if (const auto* finals = std::get_if<FinalsEvent>(&event.what)) {
        print("{}  finals: {} finalists of {} tasks, {} passes in {:.1f} s; the best changed for {}; estimate "
              "{} -> {} ms\n",
              clock(event.atSeconds), finals->finalists, finals->tasks, finals->passes, finals->seconds,
              counted(finals->changed, "task|tasks"), latency(finals->beforeMs), latency(finals->afterMs));
        m_drawnLines = 0;
    } else if (const auto* state = std::get_if<StateEvent>(&event.what);
               state != nullptr && (state->state == RunState::Starting || state->state == RunState::Finished)
               && !state->text.empty()) {
        print("{}{}\n", state->state == RunState::Finished ? "Finished: " : "",
              state->text); // how far reading earlier results has come; why the run ended early
        m_drawnLines = 0;
    } else if (const auto* log = std::get_if<LogEvent>(&event.what)) {
        print("{}\n", log->text);
        m_drawnLines = 0;
    } else if (const auto* error = std::get_if<ErrorEvent>(&event.what)) {
        fmt::print(stderr, "lathe-cli: {}\n", error->text);
        m_drawnLines = 0;
    } else if (const auto* done = std::get_if<DoneEvent>(&event.what); done != nullptr && m_began) {
        if (const std::string last = m_progress ? m_progress->end() : std::string(); !last.empty())
            print("{}{}\n", m_terminal ? "\r" : "", last);
        m_drawnLines = 0;
        printTable();
        std::string errors;
        for (const auto& [code, count] : done->errors)
            errors += fmt::format(", {} {}", count, code);
        print("{} in {:.0f} s ({:.1f}/s){}\n", counted(done->trials, "trial|trials"), done->seconds, trialsPerSecond(),
              errors);
        if (done->rejected > 0)
            print("{} rejected before building: by the rules of their space, or the limits of the device\n",
                  counted(done->rejected, "candidate was|candidates were"));
        printTime(done->time);
        std::string figures;
        for (const auto& [name, ms] : {std::pair{m_word, estimatedMs()}, std::pair{"measured", done->measuredMs},
                                       std::pair{"untuned", m_untunedMs}})
            if (std::isfinite(ms)) // simulators measure no networks
                figures += fmt::format("{}{} {} ms", figures.empty() ? "" : ", ", name, latency(ms));
        print("{}\n", figures);
        if (m_verdict)
            print("{}", verdictText(*m_verdict));
    }
}

/// On a terminal the line of a task is rewritten in place.
void TuneOutput::printProgress()
{
    const auto line = m_progress ? m_progress->afterRound(m_atSeconds) : std::nullopt;
    if (!line)
        return;
    if (!line->ended.empty())
        print("{}{}\n", m_terminal ? "\r" : "", line->ended);
    print("{}{}{}", m_terminal ? "\r" : "", line->now, m_terminal ? "" : "\n");
}

void TuneOutput::printTime(const TimeSpent& time)
{
    const auto activities = activityRows(time), workers = workerRows(time);
    if (activities.empty())
        return;
    print("time by activity\n");
    for (const TimeRow& row : activities)
        print("  {:<14} {:>8.1f} s {:>5.1f} %  {}\n", row.name, row.seconds, 100 * row.share, row.meaning);
    if (!workers.empty())
        print("builders and runners meanwhile, all processes together (wall time, share, processor time)\n");
    for (const TimeRow& row : workers)
        print("  {:<14} {:>8.1f} s {:>5.1f} % {:>8.1f} s  {}\n", row.name, row.seconds, 100 * row.share, row.processor,
              row.meaning);
}

double TuneOutput::tasksMs() const
{
    double sum = 0;
    for (const auto& task : m_tasks)
        sum += task.bestMs * task.weight; // not a number while one is unknown
    return sum;
}

double TuneOutput::estimatedMs() const
{
    const double beside = m_estimate.ms - m_estimate.tasksMs;
    return tasksMs() + (std::isfinite(beside) ? beside : 0);
}

double TuneOutput::trialsPerSecond() const
{
    return static_cast<double>(m_trials) / std::max(m_atSeconds - m_startSeconds, 0.001);
}

void TuneOutput::printTable()
{
    if (m_drawnLines > 0)
        print("\033[{}A\033[J", m_drawnLines);
    double total = 0;
    for (const auto& task : m_tasks)
        total += std::isfinite(task.bestMs) ? task.bestMs * task.weight : 0;
    print("{:>4} {:>3} {:>10} {:>8} {:>6} {:>7} {:>6}  {}\n", "ID", "x", "ms", "GFLOP/s", "share", "trials", "failed",
          "task");
    for (const auto& task : m_tasks)
        print("{}{:>3} {:>3} {:>10} {:>8} {:>4} % {:>7} {:>6}  {}{}\n", task.id == m_next ? ">" : " ", task.id,
              task.weight, latency(task.bestMs), number(task.gflops, 1),
              number(100 * task.bestMs * task.weight / total, 1), task.trials, task.errors, task.name,
              task.bestAlternative.empty() || task.bestAlternative == "direct" ? ""
                                                                               : " (" + task.bestAlternative + ")");
    print("{}  {} {} ms (tasks {}){}{}  {} trials, {:.1f}/s, {} failed{}\n", clock(m_atSeconds), m_word,
          latency(estimatedMs()), latency(tasksMs()), known("  measured {} ms", m_measuredMs),
          known("  untuned {} ms", m_untunedMs), m_trials, trialsPerSecond(), m_errors,
          std::isfinite(m_estimate.etaSeconds) ? "  " + clock(m_estimate.etaSeconds) + " left" : "");
    if (std::isfinite(m_estimate.forecastMs))
        print("likely {} ms at the end ({} to {})\n", latency(m_estimate.forecastMs), latency(m_estimate.forecastLow),
              latency(m_estimate.forecastHigh));
    m_drawnLines = m_terminal ? static_cast<int>(m_tasks.size()) + (std::isfinite(m_estimate.forecastMs) ? 3 : 2) : 0;
}

} // namespace lathe::cli
