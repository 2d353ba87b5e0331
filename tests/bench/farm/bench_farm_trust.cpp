// Whether times that come over a broker can be trusted: two programs of one task (its untuned schedule and plain
// loops), measured in turns on a runner of this machine behind a broker, in ten runs with a claim of their own each.
// Within a run each program has thirty samples; the median of the ratios of neighbours is to be the same in all runs.
// Beside it, in the same run and in turns with it, the ratio as runners without a broker measure it.

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/policy/default_candidate.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/probe.h"
#include "core/support/median.h"
#include "tests/support/farm_runner.h"
#include "tests/support/nats_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

using namespace lathe;

namespace {

constexpr int kRuns = 10;
constexpr std::size_t kSamples = 30; ///< of each program, in a run
constexpr double kNear = 0.02;
constexpr const char* kTarget = "cpu -threads=1"; ///< of two, one may be taken by others of a shared machine

template<typename T>
T orEnd(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "bench_farm_trust: {}\n", result.error().message);
        std::exit(1);
    }
    return *std::move(result);
}

/// One program as the probe is, the other as plain loops.
std::vector<measure::MeasureRequest> twoPrograms(const DeviceIdentity& device)
{
    measure::MeasureRequest fast = orEnd(session::probeFor(kTarget, device));
    session::ModelSpec spec;
    spec.source = "zoo:mlp"; // as the probe's
    spec.batch = 64;
    const auto model = orEnd(session::loadModel(spec, kTarget));
    measure::MeasureRequest plain = fast;
    for (const auto& part : model->partition.tasks) {
        const search::SearchTask task = session::searchTask(part, *model, true);
        if (orEnd(measure::makeTaskData(task.alternatives.front().dag, task.alternatives.front().constantInputs, 1, {}))
                ->dagHash
            == fast.task->dagHash)
            plain.candidate = policy::plainLoops(task);
    }
    for (measure::MeasureRequest* request : {&fast, &plain}) {
        request->plan.minRepeatMs = 20;
        request->plan.repeat = 1;
        request->built = measure::makeBuiltKernel();
    }
    return {fast, plain};
}

struct Times
{
    double fast = 0, plain = 0; ///< medians, ns
    double ratio = 0; ///< median of those of neighbours: each met the same clock of the processor
    std::string text() const { return fmt::format("{:.4f} ({:.2f} and {:.2f} us)", ratio, fast * 1e-3, plain * 1e-3); }
};

Times timesOf(measure::Measurer& measurer, const std::vector<measure::MeasureRequest>& programs)
{
    std::vector<measure::MeasureRequest> requests;
    for (std::size_t i = 0; i < 2 * kSamples; ++i) {
        requests.push_back(programs[i % 2]);
        requests.back().trial = contentHash(std::to_string(i)).hex();
        requests.back().ordinal = static_cast<std::int64_t>(i % 2);
    }
    std::vector<double> took[2];
    orEnd(measurer.measure(requests, [&](std::size_t index, const TrialResult& result) {
        if (!result.ok())
            orEnd(Result<int>(makeError(result.code, result.text)));
        took[index % 2].push_back(result.meanNs());
    }));
    std::vector<double> ratios;
    for (std::size_t i = 0; i < kSamples; ++i)
        ratios.push_back(took[1][i] / took[0][i]);
    return {medianOf(took[0]), medianOf(took[1]), medianOf(ratios)};
}

void print(const char* what, const std::vector<double>& ratios)
{
    const double middle = medianOf(ratios);
    double furthest = 0;
    for (const double ratio : ratios)
        furthest = std::max(furthest, std::abs(ratio / middle - 1));
    const auto near = std::ranges::count_if(ratios, [&](double r) { return std::abs(r / middle - 1) <= kNear; });
    fmt::print("{:<16} median {:.4f}, furthest from it {:.2f} %; {} of {} runs within {:.0f} %\n", what, middle,
               100 * furthest, near, ratios.size(), 100 * kNear);
}

} // namespace

int main()
{
    std::signal(SIGPIPE, SIG_IGN);
    test::NatsServer server;
    orEnd(server.start());
    auto runner = orEnd(test::FarmRunner::start(server.url(), "trust", fmt::format("trust-{}", ::getpid())));
    std::vector<double> behind, here;
    for (int run = 0; run < kRuns; ++run) {
        measure::MeasurerOptions options;
        options.target = kTarget;
        options.builders = 1;
        const auto local = orEnd(measure::Measurer::create(options));
        options.remote = measure::RemoteClaim{{server.url()}, "trust", "bench"};
        options.devices = {measure::DeviceSpec{"cpu", {}, "-threads=1"}};
        options.probe = [](const DeviceIdentity& device) { return session::probeFor(kTarget, device); };
        options.onNotice = [](const Message& notice) { fmt::print("    {}\n", textOf(notice)); };
        const auto remote = orEnd(measure::Measurer::create(options));
        const auto programs = twoPrograms(remote->devices().front());
        const Times over = timesOf(*remote, programs), direct = timesOf(*local, programs);
        behind.push_back(over.ratio);
        here.push_back(direct.ratio);
        fmt::print("run {:>2}: behind a broker {}, without {}\n", run + 1, over.text(), direct.text());
    }
    print("behind a broker", behind);
    print("without", here);
    return 0;
}
