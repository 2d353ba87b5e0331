#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/schedule/default_launches.h"
#include "core/serve/device.h"
#include "core/session/back_ends.h"
#include "core/session/device_directory.h"
#include "core/session/exports/exporter.h"
#include "core/support/files.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/device/expected_artifact.h"
#include "plugins/cuda/expected/expectation.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace tst_cuda_expected {

using namespace lathe;
using namespace lathe::cuda;
using namespace lathe::test;

namespace {

const std::string kTarget = "expected -gpu=a6000";

/// Empty: both tools are here.
std::string whyNoTools()
{
    if (const std::string why = whyNoCompiler(); !why.empty())
        return why;
    const auto tool = findDisassembler();
    return tool ? std::string() : tool.error().message;
}

/// An artifact of the format, and its descriptor.
struct Made
{
    std::string bytes, descriptor;
};

Made artifactOf(const std::string& kernels)
{
    return {"{\"kernels\":" + kernels + "}", nlohmann::json{{"format", kExpectedFormat}}.dump()};
}

Result<serve::DeviceModule> loaded(serve::Device& device, const Made& made)
{
    return device.load(std::as_bytes(std::span(made.bytes)), made.descriptor);
}

/// A pooling whose windows end at the image's border.
schedule::LoweredKernel pooling()
{
    compute::DagBuilder b;
    compute::Pool2dParams pool;
    pool.kernel = {3, 3};
    pool.strides = {2, 2};
    pool.padding = {1, 1, 1, 1};
    const compute::Tensor y = pool2d(b, b.placeholder("data", {1, 64, 112, 112}, DType::F32), compute::PoolKind::Max,
                                     pool);
    const auto dag = must(std::move(b).finish({y}));
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    return must(schedule::lower(must(schedule::planDefaultLaunches(dag, {})), options));
}

} // namespace

#define LATHE_NEEDS_NVIDIA_TOOLS()                                                                                     \
    if (const std::string why = whyNoTools(); !why.empty()) {                                                          \
        QVERIFY2(!isCudaDemanded(), why.c_str());                                                                      \
        QSKIP(why.c_str());                                                                                            \
    }

/// The target whose latencies a model expects: nothing of it is measured, and it says so.
class TestCudaExpected : public QObject, Projects
{
    Q_OBJECT

private slots:
    void theTargetSaysWhatItStandsFor()
    {
        for (const auto& [text, other] :
             {std::pair("expected -gpu=a6000", "cuda -arch=sm_86"), std::pair("expected -gpu=a100", "cuda -arch=sm_80"),
              std::pair("expected -gpu=h100", "cuda -arch=sm_90"), std::pair("expected -gpu=h200", "cuda -arch=sm_90"),
              std::pair("expected -gpu=rtx4090", "cuda -arch=sm_89"), std::pair("expected", "cuda -arch=sm_86")}) {
            const Target target = must(session::parseTarget(text));
            QCOMPARE(QString::fromStdString(target.traits().standsFor), QString::fromLatin1(other));
            QVERIFY(target.traits().clock == CostClock::Model);
            QVERIFY(must(session::viewTarget(text)).simulated);
        }
        QVERIFY(!session::parseTarget("expected -gpu=voodoo"));
        const Hardware hardware = defaultHardware(must(session::parseTarget(kTarget)));
        QCOMPARE(hardware.get("num_cores"), std::int64_t{84});
        QCOMPARE(hardware.get("max_shared_memory_per_block"), std::int64_t{99 * 1024});
        QCOMPARE(hardware.get("async_copies"), std::int64_t{1});
    }

    /// The GPUs of "cuda" and these devices are never taken for each other, nor one of these for another.
    void eachGpuHasADeviceOfItsOwnKind()
    {
        QCOMPARE(std::size(kExpectedDevices), knownGpus().size());
        for (std::size_t i = 0; i < knownGpus().size(); ++i) {
            QCOMPARE(QByteArray(kExpectedDevices[i].gpu), QByteArray(knownGpus()[i].key.data()));
            QCOMPARE(QByteArray(kExpectedDevices[i].name), QByteArray(knownGpus()[i].name.data()));
        }
        const auto directory = session::DeviceDirectory::ask();
        std::set<std::string> classes;
        for (const GpuFacts& gpu : knownGpus()) {
            const std::string target = "expected -gpu=" + std::string(gpu.key);
            const auto devices = directory.forTarget(target);
            QCOMPARE(devices.size(), std::size_t{1});
            QVERIFY2(devices.front().name.find(std::string(gpu.name) + " (no GPU is asked") != std::string::npos,
                     devices.front().name.c_str());
            classes.insert(devices.front().deviceKey);
            const std::string own = devices.front().key, other = gpu.key == "a100" ? "expected-h100" : "expected-a100";
            QVERIFY(directory.pick(target, std::span(&own, 1)));
            QVERIFY(!directory.pick(target, std::span(&other, 1)));
            const LatheDeviceApi* const api = must(serve::loadDeviceApi(pluginDir(), "expected"));
            QVERIFY(must(serve::Device::open(api, {}, "-gpu=" + std::string(gpu.key)))->description().find(own)
                    != std::string::npos);
            QVERIFY(!serve::Device::open(api, other, "-gpu=" + std::string(gpu.key)));
        }
        QCOMPARE(classes.size(), knownGpus().size());
        QCOMPARE(must(directory.pick("expected", {})).front().key, std::string("expected-a6000"));
        for (const session::DeviceView& other : directory.forTarget("cuda -arch=sm_86"))
            QVERIFY(other.kind != "expected");
    }

    void aRunTellsTheTimeOfTheArtifactAndComputesNothing()
    {
        const LatheDeviceApi* const api = must(serve::loadDeviceApi(pluginDir(), "expected"));
        const auto device = must(serve::Device::open(api, {}, {}));
        const serve::DeviceModule module = must(loaded(*device, artifactOf(R"([{"ns":1500},{"ns":2.5}])")));
        serve::DeviceBuffer buffer = must(device->allocate(64));
        void* const pointer = buffer.get();
        const LatheLaunch first{module.get(), 0, &pointer, 1, 1}, second{module.get(), 1, &pointer, 1, 1},
            before{module.get(), 0, &pointer, 1, 0};
        const LatheLaunch list[] = {before, first, second};
        const LatheTiming timing = must(device->run(list, 10, 0));
        QCOMPARE(timing.nanoseconds, std::uint64_t{15025});
        QCOMPARE(timing.clock, static_cast<std::uint32_t>(LATHE_CLOCK_MODEL));
        QCOMPARE(timing.flags, LATHE_TIMING_NOT_COMPUTED);
        QVERIFY(device->health().find("\"clock\":\"model\"") != std::string::npos);
        const auto large = device->allocate(std::size_t{1} << 62); // nothing is thrown out of a plugin
        QVERIFY(!large && large.error().code == Errc::Unsupported);
        const LatheLaunch none{module.get(), 2, &pointer, 1, 1};
        QVERIFY(!device->run(std::span(&none, 1), 1, 0));
        for (const char* broken : {R"([{"ns":0}])", R"([{"ns":-1}])", R"([{}])", R"({})", "["})
            QVERIFY2(!loaded(*device, artifactOf(broken)), broken);
    }

    /// What the code cannot tell is bounded by the program that it is of.
    void loopsAtABorderHaveTheirExtents()
    {
        ir::Launch launch;
        launch.block = {32, 1, 1};
        launch.threadIndex[0] = ir::var("threadIdx.x");
        const ir::Expr thread = launch.threadIndex[0], k = ir::var("k"), rx = ir::var("rx"), u = ir::var("u");
        const ir::Stmt body = ir::makeStore(0, {thread}, ir::floatImm(0));
        const ir::Stmt unrolled = ir::makeFor(u, ir::intImm(0), ir::intImm(64), ir::LoopKind::Unrolled, body);
        const ir::Stmt border = ir::makeFor(rx, ir::intImm(0), ir::min(ir::intImm(3), thread + ir::intImm(1)),
                                            ir::LoopKind::Serial, unrolled);
        launch.body = ir::makeFor(k, ir::intImm(0), ir::intImm(16), ir::LoopKind::Serial, border);
        const LoopExtents extents = extentsOf(launch);
        QCOMPARE(extents.open, std::vector<std::uint64_t>{3});
        QCOMPARE(extents.most, std::uint64_t{16});
    }

    void theFootprintIsThatOfAllTensors()
    {
        const schedule::LoweredKernel kernel = pooling();
        const auto source = must(backend::printCuda(kernel.nest));
        const auto questions = questionsOf(kernel.nest, source);
        QCOMPARE(questions.size(), std::size_t{1});
        QCOMPARE(questions.front().footprintBytes, 4.0 * 64 * (112 * 112 + 56 * 56));
    }

    void manyLaunchesAreReadTogetherAsAlone()
    {
        LATHE_NEEDS_NVIDIA_TOOLS();
        std::vector<schedule::LoweredKernel> kernels;
        for (const std::int64_t columns : {64, 96, 128}) {
            compute::DagBuilder b;
            // Quotients: functions behind kernels.
            const compute::Tensor y = softmax(b, b.placeholder("data", {16, columns}, DType::F32), 1);
            const auto dag = must(std::move(b).finish({y}));
            schedule::LowerOptions options;
            options.form = KernelForm::Launches;
            kernels.push_back(must(schedule::lower(must(schedule::planDefaultLaunches(dag, {})), options)));
        }
        kernels.push_back(pooling());
        std::vector<backend::KernelSource> sources;
        for (const schedule::LoweredKernel& kernel : kernels)
            sources.push_back(must(backend::printCuda(kernel.nest)));
        std::vector<LaunchQuestion> questions;
        for (std::size_t k = 0; k < kernels.size(); ++k)
            std::ranges::copy(questionsOf(kernels[k].nest, sources[k]), std::back_inserter(questions));
        const GpuFacts& gpu = *findGpu("a6000");
        const auto together = Expectations(gpu).ask(questions);
        QCOMPARE(together.size(), questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) {
            QVERIFY2(together[i], together[i] ? "" : together[i].error().message.c_str());
            const auto alone = Expectations(gpu).ask(std::span(questions).subspan(i, 1));
            QVERIFY(alone.front());
            QCOMPARE(together[i]->time.seconds, alone.front()->time.seconds);
            QVERIFY(together[i]->time.seconds > 1e-7 && together[i]->time.seconds < 1e-3);
        }
        // A program that does not compile costs the others nothing.
        backend::SourceLaunch broken = sources.front().launches.front();
        broken.symbol = "broken";
        broken.text = "extern \"C\" __global__ void broken() { what; }";
        std::vector<LaunchQuestion> two = {questions.front(), questions.front()};
        two.back().launch = &broken;
        const auto answers = Expectations(gpu).ask(two);
        QVERIFY(answers.front());
        QVERIFY(!answers.back());
        QVERIFY(answers.back().error().code == Errc::BuildFailed);
    }

    void aKernelIsShownWithWhatIsExpectedOfIt()
    {
        LATHE_NEEDS_NVIDIA_TOOLS();
        compute::DagBuilder b;
        const auto x = b.placeholder("x", {64}, DType::F32);
        const auto y = b.compute("y", {64}, {}, "elemwise",
                                 [&](const auto& i) { return b.at(x, {i[0]}) + b.at(x, {i[0]}); });
        const std::string dag = compute::toJson(*must(std::move(b).finish({y}))).dump();
        const auto client = must(measure::BuilderClient::start(kTarget, {}, {}, {}));
        const std::vector<measure::KernelJob> jobs = {{"k", dag, "[]", {}}};
        const auto shown = [&](const char* name) {
            return must(client->build(jobs, measure::Product::Listing, Deadline::inSeconds(60), name))
                .listings.at(0)
                .text;
        };
        QVERIFY(shown("source").find("__global__") != std::string::npos);
        QVERIFY(shown("sass").find("STG.E") != std::string::npos);
        const std::string expected = shown("expected");
        QVERIFY2(expected.find("Expected on RTX A6000, by a model: nothing was run.") == 0, expected.c_str());
        QVERIFY2(expected.find("what binds: latency") != std::string::npos, expected.c_str());
    }

    void aNetworkIsTunedByWhatIsExpected()
    {
        LATHE_NEEDS_NVIDIA_TOOLS();
        session::TuneOptions options = few(8);
        options.policy = "sketch";
        options.trialsPerRound = 4;
        Watcher watcher;
        watcher.run(*open("expected.lathe", kTarget), options);
        const std::vector<Record> records = searched(reader("expected.lathe"));
        QVERIFY(records.size() >= 8);
        for (const Record& record : records) {
            QVERIFY2(record.result.code == Errc::Ok, record.result.text.c_str());
            QVERIFY(record.result.meanNs() > 500); // the gap in front of a launch
            QVERIFY(!record.result.verified);
            const auto conditions = nlohmann::json::parse(record.result.conditions);
            QVERIFY2(conditions.value("clock", "") == "model", record.result.conditions.c_str());
        }
        QVERIFY(watcher.all<session::MeasuredEvent>().empty());
        const auto logs = watcher.all<session::LogEvent>();
        QVERIFY(std::ranges::any_of(logs, [](const session::LogEvent& log) {
            return log.text.find("none is measured and no output is compared") != std::string::npos;
        }));
    }

    /// The library is for GPUs of the kind: neither it nor its outputs were tried, and the report says so.
    void anExportIsForTheGpuAndNotVerified()
    {
        LATHE_NEEDS_NVIDIA_TOOLS();
        session::ModelSpec spec;
        spec.source = "zoo:mlp";
        session::CompileOptions options;
        options.output = file("mlp.so");
        options.allowDefault = true;
        const session::CompileReport report = must(
            session::exportLibrary({must(session::loadModel(spec, kTarget))}, nullptr, options, {}, {}));
        QVERIFY(std::filesystem::exists(options.output));
        QCOMPARE(QString::fromStdString(report.variant), QStringLiteral("cuda -arch=sm_86"));
        QVERIFY2(report.notVerified.find("no output is compared") != std::string::npos, report.notVerified.c_str());
        QCOMPARE(report.notTimed, report.notVerified);
        QVERIFY(!std::isfinite(report.maxRelError) && !std::isfinite(report.latencyMs.median));
    }
};

LATHE_TEST(TestCudaExpected)

} // namespace tst_cuda_expected
#include "tst_cuda_expected.moc"
