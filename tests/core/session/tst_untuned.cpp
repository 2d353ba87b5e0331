#include "core/compute/definitions/dense.h"
#include "core/policy/default_candidate.h"
#include "core/schedule/default_launches.h"
#include "core/search/lathe/launch_guess.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/untuned.h"
#include "core/target/presets.h"
#include "tests/support/must.h"
#include "tests/support/search/race.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

namespace tst_untuned {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;

namespace {

/// As an NVIDIA H100 tells of itself (tests/data/launches).
Hardware h100()
{
    Hardware hardware;
    for (const auto& [name, value] : std::map<std::string, std::int64_t>{{"blocks_per_core", 32},
                                                                         {"cache_bytes_per_cycle", 5068},
                                                                         {"cache_line_bytes", 128},
                                                                         {"clock_mhz", 1980},
                                                                         {"lanes_per_core", 128},
                                                                         {"max_shared_memory_per_block", 49152},
                                                                         {"max_threads_per_block", 1024},
                                                                         {"max_vthread_extent", 8},
                                                                         {"memory_bytes_per_cycle", 1689},
                                                                         {"num_cores", 132},
                                                                         {"registers_per_core", 65536},
                                                                         {"registers_per_thread", 255},
                                                                         {"shared_memory_per_core", 233472},
                                                                         {"threads_per_core", 2048},
                                                                         {"warp_size", 32}})
        hardware.limits[name] = {value, "device"};
    return hardware;
}

/// Not what search and its estimate go by, but the simulator's formula.
sim::GpuMachine simulatedH100()
{
    sim::GpuMachine machine = sim::GpuMachine::like("cuda");
    machine.ghz = 1.98;
    machine.cores = 132;
    machine.lanes = 128;
    machine.coreThreads = 2048;
    machine.coreBlocks = 32;
    machine.coreSharedBytes = 233472;
    machine.cacheBytesPerCycle = 5068;
    machine.memoryBytesPerCycle = 1689;
    return machine;
}

std::vector<search::SearchTask> tasksOf(const char* network, const char* target,
                                        const std::optional<Hardware>& figures = {})
{
    ModelSpec spec;
    spec.source = network;
    LoadedModel model = *must(loadModel(spec, target));
    if (figures)
        model.hardware.takeDeviceFigures(*figures);
    std::vector<search::SearchTask> tasks;
    for (const graph::Task& task : model.partition.tasks)
        tasks.push_back(searchTask(task, model, false));
    return tasks;
}

search::SearchTask taskNamed(std::string_view start, std::vector<search::SearchTask> tasks)
{
    for (search::SearchTask& task : tasks)
        if (task.name.starts_with(start))
            return std::move(task);
    qFatal("no task has this name");
}

/// The search's sketches take no part in it.
Candidate plainLaunches(const search::SearchTask& task)
{
    schedule::LaunchScheduleOptions options;
    options.mostThreads = std::min<std::int64_t>(256, task.hardware.get("max_threads_per_block", 256));
    options.vectorLanes = static_cast<std::int32_t>(task.hardware.get("vector_unit_bytes", 16) / 4);
    options.simdWidth = task.hardware.get("simd_width");
    options.constantInputs = task.alternatives.front().constantInputs;
    Candidate candidate = policy::plainLoops(task);
    candidate.sketch = "default";
    candidate.steps =
        schedule::toJson(must(schedule::planDefaultLaunches(task.alternatives.front().dag, options)).steps()).dump();
    return candidate;
}

search::SearchTask productOf(std::int64_t rows, std::int64_t steps, std::int64_t columns)
{
    compute::DagBuilder b;
    const compute::Tensor x = b.placeholder("data", {rows, steps}, DType::F32);
    const compute::Tensor w = b.placeholder("weight", {columns, steps}, DType::F32);
    const compute::Tensor y = compute::dense(b, x, w, compute::NameEra::Nested);
    search::SearchTask task;
    task.key = "product";
    task.target = must(Target::parse("sim -like=cuda"));
    task.hardware = defaultHardware(task.target);
    task.alternatives.push_back({"direct", must(std::move(b).finish({y})), {false, true}, true});
    return task;
}

} // namespace

/// What runs on GPUs where nothing was tuned.
class TestUntuned : public QObject
{
    Q_OBJECT

private slots:
    /// Plain launches took 0.65 ms on the device itself where a search found 0.02; by the formula 4.3 times as long.
    void aConvolutionOfFewPlacesIsSeveralTimesFasterThanPlainLaunches()
    {
        const search::SearchTask task = taskNamed("conv2d 3x3 512->512 @7",
                                                  tasksOf("zoo:resnet18_v1", "opencl", h100()));
        test::SimulatedCost costs(task, simulatedH100());
        const double plain = costs.nanoseconds(plainLaunches(task));
        const double untuned = costs.nanoseconds(must(defaultCandidate(task)));
        qInfo("plain %.1f us, untuned %.1f us", plain * 1e-3, untuned * 1e-3);
        QVERIFY(untuned * 4 < plain);
        QVERIFY(must(search::guessLaunches(task)).seconds * 5 < plain * 1e-9);
    }

    void networksAreFasterAndTheirTasksKeepTheLimits_data()
    {
        QTest::addColumn<QString>("network");
        QTest::addColumn<QString>("target");
        QTest::addColumn<double>("mean"); ///< geometric, of the ratios to plain launches
        QTest::newRow("cuda, squeezenet") << "zoo:squeezenet-1.1"
                                          << "sim -like=cuda" << 0.55;
        QTest::newRow("cuda, mobilenet") << "zoo:mobilenet"
                                         << "sim -like=cuda" << 0.75;
        QTest::newRow("mali, squeezenet") << "zoo:squeezenet-1.1"
                                          << "sim -like=mali" << 0.8;
        QTest::newRow("opencl, mobilenet-v2") << "zoo:mobilenet-v2"
                                              << "sim -like=opencl" << 0.7;
        QTest::newRow("H100, resnet") << "zoo:resnet18_v1"
                                      << "opencl" << 0.5;
    }
    void networksAreFasterAndTheirTasksKeepTheLimits()
    {
        QFETCH(QString, network);
        QFETCH(QString, target);
        QFETCH(double, mean);
        const bool isH100 = target == "opencl";
        double logs = 0;
        const auto tasks = tasksOf(network.toUtf8(), target.toUtf8(), isH100 ? std::optional(h100()) : std::nullopt);
        for (const search::SearchTask& task : tasks) {
            test::SimulatedCost costs(
                task, isH100 ? simulatedH100() : sim::GpuMachine::like(task.target.attribute("like").value_or("cuda")));
            const auto untuned = untunedCandidate(task);
            QVERIFY2(untuned, task.name.c_str());
            QCOMPARE(untuned->sketch, std::string("default"));
            QCOMPARE(untuned->alternative, task.alternatives.front().name);
            const double after = costs.nanoseconds(*untuned); // infinite where a limit is broken
            QVERIFY2(std::isfinite(after), task.name.c_str());
            logs += std::log(after / costs.nanoseconds(plainLaunches(task)));
        }
        const double reached = std::exp(logs / static_cast<double>(tasks.size()));
        qInfo("%.2f of plain launches", reached);
        QVERIFY(reached < mean);
    }

    void oddShapesAndSmallLimitsAreKept_data()
    {
        QTest::addColumn<std::int64_t>("rows");
        QTest::addColumn<std::int64_t>("steps");
        QTest::addColumn<std::int64_t>("columns");
        QTest::newRow("one of all") << std::int64_t{1} << std::int64_t{1} << std::int64_t{1};
        QTest::newRow("one sum") << std::int64_t{1} << std::int64_t{997} << std::int64_t{1};
        QTest::newRow("primes") << std::int64_t{13} << std::int64_t{131} << std::int64_t{17};
        QTest::newRow("one row") << std::int64_t{1} << std::int64_t{33} << std::int64_t{1009};
        QTest::newRow("long") << std::int64_t{3} << std::int64_t{100003} << std::int64_t{2};
    }
    void oddShapesAndSmallLimitsAreKept()
    {
        QFETCH(std::int64_t, rows);
        QFETCH(std::int64_t, steps);
        QFETCH(std::int64_t, columns);
        search::SearchTask task = productOf(rows, steps, columns);
        for (const std::int64_t threads : {1024, 64, 32})
            for (const std::int64_t bytes : {49152, 1024, 16}) {
                task.hardware.limits["max_threads_per_block"] = {threads, "user"};
                task.hardware.limits["max_shared_memory_per_block"] = {bytes, "user"};
                test::SimulatedCost costs(task, sim::GpuMachine::like("cuda"));
                QVERIFY(std::isfinite(costs.nanoseconds(must(defaultCandidate(task)))));
            }
    }

    void equalTasksGetEqualSchedulesOnAnyThread()
    {
        const search::SearchTask task = productOf(49, 512, 384);
        const std::string expected = must(defaultCandidate(task)).steps;
        std::vector<std::string> found(4);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < found.size(); ++i)
                threads.emplace_back([&found, i, own = task]() mutable {
                    own.key = own.name = std::to_string(i);
                    found[i] = must(defaultCandidate(own)).steps;
                });
        }
        for (const std::string& steps : found)
            QCOMPARE(steps, expected);
        QVERIFY(expected != plainLaunches(task).steps);
    }

    /// Their default launches were tuned on them.
    void processorsKeepPlainLaunches()
    {
        search::SearchTask task = productOf(49, 512, 384);
        task.hardware.limits["simd_width"] = {8, "device"};
        QCOMPARE(must(defaultCandidate(task)).steps, plainLaunches(task).steps);
    }

    /// Counted blocks bound registers, and what the compiler spills then is known only once it has compiled.
    void guessesCountNoBlocks()
    {
        for (const std::int64_t channels : {128, 256, 384, 512}) {
            search::SearchTask task = productOf(49, 512, channels);
            task.hardware.limits["compute_capability"] = {80, "device"};
            const auto guess = must(search::guessLaunches(task));
            QVERIFY(std::ranges::none_of(guess.steps, [](const schedule::Step& step) {
                return std::holds_alternative<schedule::LeastBlocksStep>(step);
            }));
        }
    }

    void shortSumsAndWhatHasNoLegalGuessFallBack()
    {
        search::SearchTask task = productOf(49, 31, 384);
        QCOMPARE(must(defaultCandidate(task)).steps, plainLaunches(task).steps);
        task = productOf(49, 512, 384);
        QVERIFY(must(defaultCandidate(task)).steps != plainLaunches(task).steps);
        task.hardware.limits["max_blocks_x"] = {1, "user"}; // nothing in closed form looks at it
        const auto guess = search::guessLaunches(task);
        if (guess) // a single block
            QVERIFY(std::isfinite(
                test::SimulatedCost(task, sim::GpuMachine::like("cuda")).nanoseconds(must(defaultCandidate(task)))));
        else
            QCOMPARE(must(defaultCandidate(task)).steps, plainLaunches(task).steps);
    }
};

LATHE_TEST(TestUntuned)

} // namespace tst_untuned

#include "tst_untuned.moc"
