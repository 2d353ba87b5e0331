// Tuners of templates raced on spaces whose costs are known: how far from the best they are after 50, 100, 150 and 200
// trials, in batches of 8 as a builder would take them. By hand only: bench_tuners [options] [FILE...]

#include "core/support/random.h"
#include "core/templates/gaussian_tuner.h"
#include "core/templates/genetic_tuner.h"
#include "core/templates/random_tuner.h"
#include "core/templates/xgb_tuner.h"
#include "tests/bench/templates/tuned_space.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

namespace {

using namespace lathe;
using namespace lathe::bench;
using namespace lathe::templates;

constexpr std::size_t kBatch = 8;

struct Race
{
    std::vector<std::string> tuners = {"random", "ga", "xgb-reg", "xgb-rank", "gaussian"};
    std::vector<std::size_t> trials = {50, 100, 150, 200};
    std::uint64_t seeds = 10;
    double noise = 0.02;
};

std::unique_ptr<Tuner> make(const std::string& name, const ConfigSpace& space, std::uint64_t seed)
{
    if (name == "random")
        return std::make_unique<RandomTuner>(space, RandomOptions{{}, seed});
    if (name == "ga")
        return std::make_unique<GeneticTuner>(space, GeneticOptions{100, 3, 0.1, seed});
    if (name == "xgb-reg" || name == "xgb-rank") {
        XgbOptions options;
        options.seed = seed;
        options.trees.loss = name == "xgb-reg" ? TreeLoss::Reg : TreeLoss::Rank;
        return std::make_unique<XgbTuner>(space, options);
    }
    if (name == "gaussian") {
        GaussianOptions options;
        options.seed = seed;
        return std::make_unique<GaussianTuner>(space, options);
    }
    std::fprintf(stderr, "there is no tuner %s\n", name.c_str());
    std::exit(1);
}

struct Run
{
    std::vector<double> costs; ///< of the best, as it is without noise, after so many trials each
    double seconds = 0; ///< that the tuner itself took
    double failed = 0; ///< trials
    double slowest = 0; ///< of its rounds
};

Run play(Tuner& tuner, const TunedSpace& tuned, const Race& race, std::uint64_t seed)
{
    using Clock = std::chrono::steady_clock;
    Run run;
    double best = std::numeric_limits<double>::infinity(), really = best;
    std::size_t trials = 0;
    while (run.costs.size() < race.trials.size()) {
        const std::size_t until = race.trials[run.costs.size()];
        if (trials >= until || tuner.exhausted()) {
            run.costs.push_back(really);
            continue;
        }
        const auto start = Clock::now();
        const Result<std::vector<std::uint64_t>> round = tuner.next(std::min(kBatch, until - trials));
        const double took = std::chrono::duration<double>(Clock::now() - start).count();
        run.seconds += took;
        run.slowest = std::max(run.slowest, took);
        if (!round || (round->empty() && !tuner.exhausted())) {
            std::fprintf(stderr, "%s\n", round ? "a round without anything" : round.error().message.c_str());
            std::exit(1);
        }
        for (const std::uint64_t index : *round) {
            ++trials;
            const double seconds = tuned.seconds(index);
            Random random(seed, 99, index);
            double measured = seconds;
            run.failed += std::isfinite(seconds) ? 0 : 1;
            if (std::isfinite(seconds)) {
                double gauss = -6;
                for (int i = 0; i < 12; ++i)
                    gauss += random.uniform();
                measured *= std::exp(race.noise * gauss);
            }
            tuner.tell(index, measured);
            if (measured < best) {
                best = measured;
                really = seconds;
            }
        }
    }
    return run;
}

void print(const std::string& name, const std::vector<double>& ratios, const Run& run)
{
    std::string line = fmt::format("  {:<22}", name);
    for (const double ratio : ratios)
        line += fmt::format("{:>9.3f}", ratio);
    std::printf("%s %6.0f failed, %7.3f s, slowest round %.3f s\n", line.c_str(), run.failed, run.seconds, run.slowest);
    std::fflush(stdout);
}

void race(const Race& race, const std::vector<TunedSpace>& spaces)
{
    std::map<std::string, std::vector<double>> means; // of all spaces
    for (const TunedSpace& tuned : spaces) {
        std::uint64_t failing = 0, looked = 0;
        Random random(1);
        for (; looked < 2000; ++looked)
            failing += std::isfinite(tuned.seconds(random.below(tuned.space.size()))) ? 0 : 1;
        std::printf("%s: %llu configurations, %.0f %% fail, the best %.4g ms\n", tuned.name.c_str(),
                    static_cast<unsigned long long>(tuned.space.size()),
                    100 * static_cast<double>(failing) / static_cast<double>(looked), tuned.best * 1e3);
        for (const std::string& name : race.tuners) {
            std::vector<double> ratios(race.trials.size());
            Run all;
            for (std::uint64_t seed = 0; seed < race.seeds; ++seed) {
                const Run run = play(*make(name, tuned.space, seed), tuned, race, seed);
                for (std::size_t i = 0; i < ratios.size(); ++i)
                    ratios[i] += run.costs[i] / tuned.best / static_cast<double>(race.seeds);
                all.seconds += run.seconds / static_cast<double>(race.seeds);
                all.failed += run.failed / static_cast<double>(race.seeds);
                all.slowest = std::max(all.slowest, run.slowest);
            }
            print(name, ratios, all);
            std::vector<double>& mean = means[name];
            mean.resize(ratios.size() + 3);
            for (std::size_t i = 0; i < ratios.size(); ++i)
                mean[i] += ratios[i] / static_cast<double>(spaces.size());
            mean[ratios.size()] += all.seconds / static_cast<double>(spaces.size());
            mean[ratios.size() + 1] += all.failed / static_cast<double>(spaces.size());
            mean.back() = std::max(mean.back(), all.slowest);
        }
    }
    std::printf("all: mean of %zu spaces and %llu seeds\n", spaces.size(), static_cast<unsigned long long>(race.seeds));
    for (const std::string& name : race.tuners) {
        std::vector<double> mean = means[name];
        const Run run{{}, mean[race.trials.size()], mean[race.trials.size() + 1], mean.back()};
        mean.resize(race.trials.size());
        print(name, mean, run);
    }
}

} // namespace

int main(int argc, char** argv)
{
    Race options;
    bool huge = false, factors = false;
    std::vector<std::string> files;
    CLI::App app(
        "Cost of the best configuration, relative to the best of the space, after so many trials: mean of seeds.");
    app.add_option("--tuners", options.tuners, "random, ga, xgb-reg, xgb-rank, gaussian")->delimiter(',');
    app.add_option("--trials", options.trials, "after which to look")->delimiter(',');
    app.add_option("--seeds", options.seeds);
    app.add_option("--noise", options.noise, "of a measured time");
    app.add_flag("--huge", huge, "spaces for GPUs instead");
    app.add_flag("--factors", factors, "widths of files are split into factors (autotvm.md 5.1)");
    app.add_option("files", files, "measured spaces; none: made up ones");
    CLI11_PARSE(app, argc, argv);

    TemplateFacts facts;
    if (factors)
        facts.widthPolicy = SplitPolicy::Factors;
    std::vector<TunedSpace> spaces;
    for (const std::string& file : files) {
        Result<TunedSpace> space = readMeasuredSpace(file, facts);
        if (!space) {
            std::fprintf(stderr, "%s\n", space.error().message.c_str());
            return 1;
        }
        spaces.push_back(*std::move(space));
    }
    race(options, files.empty() ? madeUpSpaces(huge) : spaces);
    return 0;
}
