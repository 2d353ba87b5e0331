// How far the analytic model of NVIDIA's GPUs is from what candidates took on one: those of a project that was tuned
// there for a target of the kind "cuda", or of tests/data/launches (an H100, by OpenCL, with code of its time). The
// same schedules are compiled as CUDA C++, and the model is asked. Needs NVRTC and nvdisasm, no GPU.
//
// Usage: cuda_measured GPU FILE... [--gap MICROSECONDS] [--task WORD] [--every N] [--calibrate N] [--rows]
//
// Prints for each task how the model's order agrees with the measured one (Spearman's rank correlation) beside that of
// whoever proposed the trials, the model's time by the measured one (its 10th, 50th and 90th percentile), and what the
// trial that it likes best took beside the fastest; at the end the same of all trials, and the error of single ones:
// as it stands, and with one factor that is set by some of the trials, 30 unless told otherwise, spread over all, and
// is tried on the others. --gap: what a launch takes beside its own work; unless told otherwise that of a graph for
// projects, and 6.5 for tests/data/launches: the shortest trials of an H100 by OpenCL took 6.2 to 7.5. --task: only
// those whose name has that word. --every: only one trial of so many. --rows: each trial.

#include "plugins/cuda/expected/expectation.h"
#include "tests/bench/launches/trials.h"
#include "tests/plugins/cuda/gpu_named.h"
#include "tests/plugins/cuda/kernels/printed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

using namespace lathe;
using namespace lathe::cuda;

namespace {

constexpr std::size_t kTogether = 16; ///< kernels whose machine code is made in one call
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Options
{
    std::optional<double> gap; ///< seconds
    std::size_t every = 1, calibrating = 30;
    bool rows = false;
    std::string task; ///< a word of its name; empty: all
};

struct Candidate
{
    const bench::MeasuredKernel* measured = nullptr;
    kernels::PrintedKernel kernel;
    double expected = 0; ///< seconds
    std::string bound; ///< of the launch that takes longest
};

Result<Candidate> candidateOf(const bench::MeasuredKernel& kernel, const search::SearchTask& task)
{
    Candidate made;
    made.measured = &kernel;
    const search::SearchAlternative& alternative = task.alternatives[kernel.alternative];
    LATHE_TRY_ASSIGN(const auto state, schedule::State::replay(alternative.dag, kernel.steps));
    LATHE_TRY_ASSIGN(made.kernel, kernels::printed(state, alternative.constantInputs));
    return made;
}

void expect(std::span<Candidate> candidates, double gap, Expectations& expectations)
{
    std::vector<LaunchQuestion> questions;
    for (const Candidate& one : candidates)
        std::ranges::copy(questionsOf(one.kernel.lowered.nest, one.kernel.source), std::back_inserter(questions));
    const auto answers = expectations.ask(questions);
    std::size_t next = 0;
    for (Candidate& one : candidates) {
        double longest = 0;
        bool isKnown = true;
        for (std::size_t i = 0; i < one.kernel.source.launches.size(); ++i) {
            const auto& answer = answers[next++];
            isKnown = isKnown && answer.has_value();
            if (!isKnown)
                continue;
            one.expected += answer->time.seconds + gap;
            if (answer->time.seconds > longest) {
                longest = answer->time.seconds;
                one.bound = toString(answer->time.bound);
            }
        }
        if (!isKnown)
            one.expected = 0;
    }
}

/// Of the trials of a task, or of all tasks.
struct Comparison
{
    std::vector<double> correlations, estimates, liked, likedByEstimate; ///< of tasks
    std::vector<double> factors; ///< of trials, expected by measured

    std::string range() const
    {
        std::vector<double> sorted = factors;
        std::ranges::sort(sorted);
        const auto at = [&](double part) { return sorted[static_cast<std::size_t>(part * double(sorted.size() - 1))]; };
        return fmt::format("{:.2f} {:.2f} {:.2f}", at(0.1), at(0.5), at(0.9));
    }

    /// How far single trials are off, in percent, half and nine in ten of them at most: as they stand, and those that
    /// do not set a factor with it.
    std::string errors(std::size_t calibrating) const
    {
        const auto text = [](const std::vector<double>& ofTrials, double by) {
            std::vector<double> off;
            for (const double factor : ofTrials)
                off.push_back(100 * std::abs(factor * by - 1));
            std::ranges::sort(off);
            const auto at = [&](double part) { return off[static_cast<std::size_t>(part * double(off.size() - 1))]; };
            return fmt::format("half of {} trials within {:.0f} %, nine in ten within {:.0f} %", off.size(), at(0.5),
                               at(0.9));
        };
        std::string all = "error of single trials: " + text(factors, 1);
        const std::size_t step = factors.size() / std::max<std::size_t>(calibrating, 1);
        if (calibrating == 0 || step < 2)
            return all;
        std::vector<double> setting, others;
        for (std::size_t i = 0; i < factors.size(); ++i)
            (i % step == 0 && setting.size() < calibrating ? setting : others).push_back(factors[i]);
        std::ranges::sort(setting);
        const double by = 1 / setting[setting.size() / 2];
        return all + fmt::format("\ncalibrated by {} of them (times {:.2f}): {}", setting.size(), by, text(others, by));
    }
};

/// The mean of what is known of tasks; "-" if it is known of none.
std::string mean(std::vector<double> values)
{
    std::erase_if(values, [](double value) { return std::isnan(value); });
    return values.empty()
               ? "-"
               : fmt::format("{:.2f}", std::accumulate(values.begin(), values.end(), 0.0) / double(values.size()));
}

void compare(const std::string& task, const std::vector<Candidate>& candidates, bool rows, Comparison& all)
{
    std::vector<double> estimated, expected, measured;
    Comparison own;
    for (const Candidate& one : candidates) {
        if (one.expected == 0)
            continue;
        estimated.push_back(one.measured->estimated);
        expected.push_back(one.expected);
        measured.push_back(one.measured->seconds);
        own.factors.push_back(one.expected / measured.back());
        if (rows)
            fmt::print("{}|{}|{:.2f}|{:.2f}|{:.2f}|{}\n", task, one.measured->sketch, measured.back() * 1e6,
                       expected.back() * 1e6, estimated.back() * 1e6, one.bound);
    }
    if (measured.size() < 2)
        return;
    const double fastest = std::ranges::min(measured);
    const auto liked = [&](const std::vector<double>& by) {
        return measured[static_cast<std::size_t>(std::ranges::min_element(by) - by.begin())] / fastest;
    };
    all.correlations.push_back(bench::rankCorrelation(expected, measured));
    all.liked.push_back(liked(expected));
    // Not all that propose trials say what they expect.
    const bool isTold = std::ranges::none_of(estimated, [](double seconds) { return std::isnan(seconds); });
    all.estimates.push_back(isTold ? bench::rankCorrelation(estimated, measured) : kUnknown);
    all.likedByEstimate.push_back(isTold ? liked(estimated) : kUnknown);
    all.factors.insert(all.factors.end(), own.factors.begin(), own.factors.end());
    fmt::print("{:45} {:4} trials, rank correlation {:>5} (estimate {:>5}), liked {:>5} times the fastest "
               "({:>5}), expected by measured {}\n",
               task, measured.size(), mean({all.correlations.back()}), mean({all.estimates.back()}),
               mean({all.liked.back()}), mean({all.likedByEstimate.back()}), own.range());
    std::fflush(stdout);
}

Result<> run(const std::string& key, const std::string& file, const Options& options, Comparison& all)
{
    LATHE_TRY_ASSIGN(const GpuFacts* const gpu, gpuNamed(key));
    LATHE_TRY_ASSIGN(const std::vector<bench::MeasuredTask> tasks, bench::readMeasured(file));
    constexpr double kOpenclGap = 6.5e-6;
    const double gap = options.gap.value_or(file.ends_with(".lathe") ? gpu->launchGapSeconds : kOpenclGap);
    Expectations expectations(*gpu);
    std::size_t refused = 0;
    std::string why;
    for (const bench::MeasuredTask& task : tasks) {
        if (task.task.name.find(options.task) == std::string::npos)
            continue;
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < task.kernels.size(); i += options.every) {
            if (auto one = candidateOf(task.kernels[i], task.task)) {
                candidates.push_back(*std::move(one));
            } else {
                ++refused;
                why = one.error().message;
            }
        }
        for (std::size_t i = 0; i < candidates.size(); i += kTogether)
            expect(std::span(candidates).subspan(i, std::min(kTogether, candidates.size() - i)), gap, expectations);
        compare(task.task.name, candidates, options.rows, all);
    }
    if (refused > 0)
        fmt::print(stderr, "{}: {} trials are left out, the last one since {}\n", file, refused, why);
    return {};
}

/// Whether the whole text is a number.
template<typename T>
bool readNumber(std::string_view text, T& value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    std::vector<std::string> words;
    bool isClear = true;
    for (int i = 1; i < argc && isClear; ++i) {
        const std::string_view word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        double gap = 0;
        if (word == "--rows")
            options.rows = true;
        else if (!word.starts_with("--"))
            words.emplace_back(word);
        else if (++i; word == "--gap" && readNumber(value, gap) && gap >= 0)
            options.gap = 1e-6 * gap;
        else if (word == "--task")
            options.task = value;
        else
            isClear = (word == "--every" && readNumber(value, options.every) && options.every > 0)
                      || (word == "--calibrate" && readNumber(value, options.calibrating));
    }
    if (!isClear || words.size() < 2) {
        fmt::print(stderr, "Usage: cuda_measured GPU FILE... [--gap MICROSECONDS] [--task WORD] [--every N] "
                           "[--calibrate N] [--rows]\n");
        return 2;
    }
    Comparison all;
    for (std::size_t i = 1; i < words.size(); ++i)
        if (const auto done = run(words[0], words[i], options, all); !done) {
            fmt::print(stderr, "{}: {}\n", words[i], done.error().message);
            return 1;
        }
    if (!all.factors.empty())
        fmt::print("{} trials of {} tasks: mean rank correlation {} (estimate {}), liked {} times the fastest "
                   "({}), expected by measured {}\n{}\n",
                   all.factors.size(), all.liked.size(), mean(all.correlations), mean(all.estimates), mean(all.liked),
                   mean(all.likedByEstimate), all.range(), all.errors(options.calibrating));
    return 0;
}
