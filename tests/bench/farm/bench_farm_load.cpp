// How a farm carries a load: one process holds 1,000 boards of 20 keys, and 20 runs measure 2,000 trials a second on
// them (Measurer: Endpoint and Batch, without building). A board's gap, from the answer that it gives to the next thing
// that it is asked, beside that of bare NATS requests of the same size to the same boards at the same rate, in turns.
// Then the broker is killed in the middle of a phase of trials, and started again: each trial is answered once.
//
//     bench_farm_load            the gaps, then the broker killed
//     bench_farm_load day        a day's messages of 50 boards, and what the three programs have of memory on the way

#include "core/broker/connection.h"
#include "core/broker/subjects.h"
#include "core/measure/jobs.h"
#include "core/measure/measurer.h"
#include "core/session/farm_history.h"
#include "core/session/farm_watch.h"
#include "tests/bench/farm/boards.h"
#include "tests/support/nats_server.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

using namespace lathe;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kArtifactBytes = 8000; ///< of a kernel for this machine's processor, about
constexpr double kPhaseSeconds = 10, kWarmSeconds = 2;
constexpr int kRounds = 3;

template<typename T>
T orEnd(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "bench_farm_load: {}\n", result.error().message);
        std::_Exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return *std::move(result);
}

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A process of its own, before this one has threads.
pid_t startBoards(const bench::BoardsOptions& options, bench::Shared& shared)
{
    const pid_t child = ::fork();
    if (child != 0)
        return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench::runBoards(options, shared);
}

measure::TaskDataPtr emptyTask()
{
    auto data = std::make_shared<measure::TaskData>();
    data->dagJson = "{}";
    data->dagHash = contentHash(data->dagJson);
    return data;
}

/// A trial that has been built: its program is its own, as in a run.
measure::MeasureRequest trial(const measure::TaskDataPtr& task, std::uint64_t number)
{
    auto artifact = std::make_shared<measure::BuiltArtifact>();
    artifact->bytes = std::to_string(number);
    artifact->bytes.resize(kArtifactBytes, 'k');
    artifact->hash = contentHash(artifact->bytes);
    KernelInfo kernel;
    kernel.name = "trial";
    kernel.phases = {"trial_p0"};
    artifact->descriptor = {"sim", "sim", {kernel}};
    artifact->descriptorJson = toJson(artifact->descriptor).dump();
    measure::MeasureRequest request;
    request.trial = contentHash("trial " + std::to_string(number)).hex();
    request.task = task;
    request.built = std::make_shared<measure::BuiltKernel>(measure::BuiltKernel{artifact, 0, {}});
    return request;
}

std::unique_ptr<measure::Measurer> measurerOf(const std::string& url, int key)
{
    measure::MeasurerOptions options;
    options.target = "sim";
    options.builders = 1; // that never starts
    options.remote = measure::RemoteClaim{{url}, bench::keyName(key), fmt::format("user{}", key)};
    options.devices = {measure::DeviceSpec{"sim", {}, {}}};
    return orEnd(measure::Measurer::create(options));
}

/// One run for each key, with all of its boards.
class Runs
{
public:
    Runs(const std::string& url, const bench::BoardsOptions& options)
    {
        for (int key = 0; key < options.keys; ++key)
            m_measurers.push_back(measurerOf(url, key));
    }

    struct Outcome
    {
        std::uint64_t results = 0, failed = 0, twice = 0;
    };
    /// So many trials on each key at once.
    Outcome measure(std::size_t trials)
    {
        Outcome sum;
        std::mutex mutex;
        std::vector<std::jthread> threads;
        for (auto& measurer : m_measurers) {
            std::vector<measure::MeasureRequest> requests;
            for (std::size_t i = 0; i < trials; ++i)
                requests.push_back(trial(m_task, ++m_last));
            threads.emplace_back([&sum, &mutex, &measurer, requests = std::move(requests)] {
                Outcome mine;
                std::vector<bool> seen(requests.size());
                const auto measured = measurer->measure(requests, [&](std::size_t index, const TrialResult& result) {
                    mine.twice += seen[index] ? 1 : 0;
                    seen[index] = true;
                    ++mine.results;
                    mine.failed += result.ok() ? 0 : 1;
                });
                if (!measured)
                    fmt::print(stderr, "{}\n", measured.error().message);
                const std::scoped_lock lock(mutex);
                sum.results += mine.results;
                sum.failed += mine.failed;
                sum.twice += mine.twice;
            });
        }
        threads.clear();
        return sum;
    }
    std::size_t boards() const
    {
        std::size_t sum = 0;
        for (const auto& measurer : m_measurers)
            sum += measurer->measuringAtOnce();
        return sum;
    }

private:
    std::vector<std::unique_ptr<measure::Measurer>> m_measurers;
    measure::TaskDataPtr m_task = emptyTask();
    std::uint64_t m_last = 0;
};

/// Requests to the same boards, each as soon as the one before it was answered; a connection for each key.
class BareRequests
{
public:
    BareRequests(const std::string& url, const bench::BoardsOptions& options)
        : m_options(options)
    {
        for (int key = 0; key < options.keys; ++key)
            m_connections.push_back(orEnd(broker::Connection::open({url})));
    }

    /// Answers that came.
    std::uint64_t ask(double seconds)
    {
        std::atomic<std::uint64_t> answers = 0;
        std::atomic<bool> ends = false;
        std::vector<std::unique_ptr<broker::Subscription>> subscriptions;
        const std::string request(kArtifactBytes + 400, 'q');
        for (int key = 0; key < m_options.keys; ++key)
            for (int board = 0; board < m_options.boards; ++board)
                subscriptions.push_back(orEnd(m_connections[static_cast<std::size_t>(key)]->subscribe(
                    bench::bareFrom(key, board), [&, key, board](std::string_view, std::string_view) {
                        ++answers;
                        if (!ends)
                            m_connections[static_cast<std::size_t>(key)]->publish(bench::bareTo(key, board), request);
                    })));
        for (const auto& connection : m_connections)
            connection->settle();
        for (int key = 0; key < m_options.keys; ++key)
            for (int board = 0; board < m_options.boards; ++board)
                m_connections[static_cast<std::size_t>(key)]->publish(bench::bareTo(key, board), request);
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        ends = true;
        std::this_thread::sleep_for(2 * m_options.busy); // what is on its way
        return answers;
    }

private:
    const bench::BoardsOptions& m_options;
    std::vector<std::shared_ptr<broker::Connection>> m_connections;
};

/// Counts gaps once the phase has gone on for a while.
std::jthread countGaps(bench::Shared& shared, int phase)
{
    return std::jthread([&shared, phase] {
        std::this_thread::sleep_for(std::chrono::duration<double>(kWarmSeconds));
        shared.gaps.clear();
        shared.phase = phase;
    });
}

double processorSeconds()
{
    rusage used = {};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
           + 1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

struct Gaps
{
    double half = 0, p99 = 0; ///< ms
};

Gaps gapsOf(const bench::Shared& shared)
{
    return {shared.gaps.at(0.5) * 1e-6, shared.gaps.at(0.99) * 1e-6};
}

int gaps(bench::Shared& shared)
{
    bench::BoardsOptions options;
    test::NatsServer server;
    options.url = server.url();
    orEnd(server.start());
    startBoards(options, shared);
    Runs runs(server.url(), options);
    BareRequests bare(server.url(), options);
    const auto perKey = static_cast<std::size_t>((kPhaseSeconds + kWarmSeconds) * options.boards
                                                 / std::chrono::duration<double>(options.busy).count());
    (void)runs.measure(static_cast<std::size_t>(4 * options.boards)); // all boards are taken
    fmt::print("{} boards of {} keys are taken\n", runs.boards(), options.keys);
    std::vector<double> bareTail, trialTail;
    for (int round = 0; round < kRounds; ++round) {
        auto counted = countGaps(shared, 2 * round + 1);
        auto start = Clock::now();
        const std::uint64_t answers = bare.ask(kPhaseSeconds + kWarmSeconds);
        counted.join();
        const Gaps ofBare = gapsOf(shared);
        shared.phase = 0;
        fmt::print("round {}: bare requests  {:>6.0f}/s, gap {:.2f} ms in the middle, p99 {:.2f} ms\n", round + 1,
                   static_cast<double>(answers) / secondsSince(start), ofBare.half, ofBare.p99);
        counted = countGaps(shared, 2 * round + 2);
        start = Clock::now();
        const double processor = processorSeconds();
        const Runs::Outcome outcome = runs.measure(perKey);
        counted.join();
        const Gaps ofTrials = gapsOf(shared);
        shared.phase = 0;
        const double seconds = secondsSince(start);
        fmt::print("         trials         {:>6.0f}/s, gap {:.2f} ms in the middle, p99 {:.2f} ms; {} failed; this "
                   "process took {:.2f} of a core\n",
                   static_cast<double>(outcome.results) / seconds, ofTrials.half, ofTrials.p99, outcome.failed,
                   (processorSeconds() - processor) / seconds);
        bareTail.push_back(ofBare.p99);
        trialTail.push_back(ofTrials.p99);
    }
    std::ranges::sort(bareTail);
    std::ranges::sort(trialTail);
    fmt::print("p99 of the gap, middle of {} rounds: trials {:.2f} ms, bare requests {:.2f} ms, ratio {:.2f}\n",
               kRounds, trialTail[kRounds / 2], bareTail[kRounds / 2], trialTail[kRounds / 2] / bareTail[kRounds / 2]);

    const auto start = Clock::now();
    Runs::Outcome outcome;
    std::jthread measuring([&] { outcome = runs.measure(perKey); });
    std::this_thread::sleep_for(std::chrono::seconds(4));
    server.kill();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    orEnd(server.start()); // it ends with the thread that started it
    measuring.join();
    fmt::print("the broker killed and back after 2 s: {} of {} trials have a result, {} failed, {} twice; {:.1f} s\n",
               outcome.results, perKey * static_cast<std::size_t>(options.keys), outcome.failed, outcome.twice,
               secondsSince(start));
    return outcome.results == perKey * static_cast<std::size_t>(options.keys) && outcome.twice == 0 ? 0 : 1;
}

/// Memory that a process has, in MB.
double residentMb(pid_t process)
{
    FILE* const file = std::fopen(fmt::format("/proc/{}/statm", process).c_str(), "r");
    long all = 0, resident = 0;
    if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (file != nullptr)
        std::fclose(file);
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Fifty boards in ten keys: their notices of a day, a trial every ten seconds of it, and the looks of a window.
int day(bench::Shared& shared)
{
    constexpr std::uint64_t kSeconds = 86400;
    bench::BoardsOptions options;
    options.keys = 10;
    options.boards = 5;
    options.busy = std::chrono::microseconds(0);
    options.noticesAtOnce = 500;
    test::NatsServer server;
    options.url = server.url();
    orEnd(server.start());
    const pid_t boards = startBoards(options, shared);
    Runs runs(server.url(), options);
    const auto watch = orEnd(session::FarmWatch::open(server.url()));
    session::FarmHistory history;
    const std::uint64_t notices = kSeconds * 50, trials = kSeconds / 10 * 50, looks = kSeconds * 2;
    std::jthread looker([&](const std::stop_token& stop) {
        for (std::uint64_t look = 0; look < looks && !stop.stop_requested(); ++look) {
            const double share = static_cast<double>(shared.notices) / static_cast<double>(notices);
            if (static_cast<double>(look) > share * static_cast<double>(looks)) {
                --look;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                continue;
            }
            history.take(watch->snapshot(), session::FarmHistory::Time(std::chrono::milliseconds(500 * look)));
        }
    });
    std::uint64_t measured = 0;
    double first[3] = {}, last[3] = {};
    fmt::print("{:>6} {:>10} {:>9} {:>10} {:>10} {:>10}\n", "tenth", "notices", "trials", "runs MB", "boards MB",
               "broker MB");
    for (int tenth = 1; tenth <= 10; ++tenth) {
        shared.wantedNotices = notices / 10 * static_cast<std::uint64_t>(tenth);
        while (shared.notices < shared.wantedNotices) {
            if (measured < trials / 10 * static_cast<std::uint64_t>(tenth))
                measured += runs.measure(500).results;
            else
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        while (measured < trials / 10 * static_cast<std::uint64_t>(tenth))
            measured += runs.measure(500).results;
        const double now[3] = {residentMb(::getpid()), residentMb(boards), residentMb(server.pid())};
        fmt::print("{:>6} {:>10} {:>9} {:>10.1f} {:>10.1f} {:>10.1f}\n", tenth, shared.notices.load(), measured, now[0],
                   now[1], now[2]);
        std::copy_n(now, 3, tenth == 1 ? first : last);
    }
    looker.request_stop();
    looker.join();
    for (const auto& [name, at] : {std::pair{"runs", 0}, std::pair{"boards", 1}, std::pair{"broker", 2}})
        fmt::print("{}: {:.2f} times what it had at a tenth\n", name, last[at] / first[at]);
    return 0;
}

} // namespace

int main(int count, char** words)
{
    std::signal(SIGPIPE, SIG_IGN);
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // seen while it goes on, and not written twice by the boards' process
    void* const memory = ::mmap(nullptr, sizeof(bench::Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                0);
    auto* const shared = new (memory) bench::Shared;
    return count > 1 && std::strcmp(words[1], "day") == 0 ? day(*shared) : gaps(*shared);
}
