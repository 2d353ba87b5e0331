#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/measure/measurer.h"
#include "core/session/device_directory.h"
#include "core/session/devices.h"
#include "core/session/exports/exporter.h"
#include "core/session/exports/network_bench.h"
#include "core/session/loaded_model.h"
#include "plugins/opencl/device/cache.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/double_requests.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace tst_opencl_runs {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// From a network to records, through builders and runners, on whatever OpenCL device is here.
class TestOpenClRuns : public QObject, Projects
{
    Q_OBJECT

    static measure::KernelJob job()
    {
        compute::DagBuilder b;
        const auto x = b.placeholder("x", {8, 8}, DType::F32);
        const auto y = b.compute("y", {8, 8}, {}, "elemwise", [&](const auto& i) {
            return ir::call("exp", DType::F32, {b.at(x, {i[0], i[1]})});
        });
        return {"k", compute::toJson(**std::move(b).finish({y})).dump(), "[]", {}};
    }

    static opencl::PackedProgram built(const std::string& target, const std::string& device = {},
                                       measure::Product form = measure::Product::Artifact,
                                       const std::string& name = "k", const measure::WorkerPrograms& workers = {})
    {
        const auto builder = must(measure::BuilderClient::start(target, workers, {}, device));
        measure::KernelJob one = job();
        one.name = name;
        const auto product = must(builder->build({&one, 1}, form, Deadline::inSeconds(60)));
        std::vector<opencl::PackedProgram> programs;
        if (product.descriptor.kernels.size() != 1 || !opencl::unpack(product.bytes, programs) || programs.size() != 1)
            qFatal("the product is not one program of OpenCL C");
        if (product.descriptor.kernels.front().launches.front().symbol + '\n' != programs.front().symbols)
            qFatal("the kernel's launch is not that of its program");
        return programs.front();
    }

    /// All that are here, in the order of their keys.
    static std::vector<DeviceView> devices() { return DeviceDirectory::ask("opencl").forTarget("opencl"); }
    /// As its driver calls it, like DeviceFacts::identity.
    static std::string identityOf(const DeviceView& device)
    {
        const auto said = nlohmann::json::parse(device.fingerprint);
        const auto word = [&said](const char* name) { return said[name].get<std::string>(); };
        return word("platform") + " | " + word("name") + " | " + word("version") + " | " + word("driver");
    }

    static std::set<std::string> sourcesIn(const std::filesystem::path& library)
    {
        std::ifstream in(library, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(in)), {});
        std::set<std::string> sources;
        for (std::size_t at = bytes.find("LATHECL2"); at != std::string::npos; at = bytes.find("LATHECL2", at + 8)) {
            runtime::PackageReader reader(std::string_view(bytes).substr(at));
            for (runtime::ProgramView program; reader.next(program);)
                sources.emplace(program.source);
        }
        return sources;
    }

private slots:
    void initTestCase()
    {
        qputenv("POCL_DEVICES", "pthread pthread basic"); // two equal ones and another
        qputenv("XDG_CACHE_HOME", file("cache").c_str()); // where libraries keep what they compile
        const auto device = openDevice();
        if (!device)
            QSKIP(device.error().message.c_str());
    }

    void aBuilderHandsOverTheBinaryAndTheSource()
    {
        const opencl::PackedProgram here = built("opencl");
        QVERIFY(here.source.find("__kernel") != std::string::npos && here.source.find("exp(") != std::string::npos);
        QVERIFY(!here.binary.empty() && !here.madeFor.empty());
    }

    void aBuilderCompilesForTheDeviceThatIsMeasuredOn()
    {
        for (const DeviceView& device : devices())
            QCOMPARE(built("opencl", device.fingerprint).madeFor, identityOf(device));
        auto elsewhere = nlohmann::json::parse(devices().front().fingerprint);
        elsewhere["driver"] = "of another machine";
        const opencl::PackedProgram there = built("opencl", elsewhere.dump());
        QVERIFY(!there.source.empty() && there.binary.empty() && there.madeFor.empty());
    }

    /// So that what was compiled for a trial need not be compiled for a library, and is what was measured.
    void aLibraryIsMadeOfTheProgramsThatWereMeasured()
    {
        const opencl::PackedProgram trial = built("opencl");
        const opencl::PackedProgram library = built("opencl", {}, measure::Product::Object, "another_name");
        QCOMPARE(library.source, trial.source);
        QCOMPARE(library.binary, trial.binary);
    }

    void aBuilderTakesWhatAnotherCompiled()
    {
        qputenv("XDG_CACHE_HOME", file("another cache").c_str());
        const auto back = qScopeGuard([this] { qputenv("XDG_CACHE_HOME", file("cache").c_str()); });
        const opencl::PackedProgram first = built("opencl");
        const opencl::CacheKey key = {first.madeFor, first.source};
        std::size_t bytes = 0;
        char* const kept = opencl::findInCache(key, bytes);
        QVERIFY(kept != nullptr);
        const std::string known(kept, bytes);
        std::free(kept);
        QCOMPARE(known, first.binary);
        opencl::keepInCache(key, "another binary");
        QCOMPARE(built("opencl").binary, std::string("another binary"));
    }

    void aBuilderForAnotherMachineHandsOverSource()
    {
        const opencl::PackedProgram there = built("opencl -device=mali -host=riscv64-linux-gnu");
        QVERIFY(!there.source.empty() && there.binary.empty());
        const auto measurable = checkMeasurable("opencl -host=riscv64-linux-gnu");
        QVERIFY(!measurable && measurable.error().message.find("code for riscv64") != std::string::npos);
    }

    /// The builder's machine has no driver, the device's has: what the runner compiles is build.
    void whereTheBuilderHasNoCompilerTheRunnerCompiles()
    {
        measure::WorkerPrograms workers;
        workers.builder = file("builder");
        const std::string builder = must(findProgram("lathe-builder")).string();
        must(writeFileAtomically(workers.builder,
                                 "#!/bin/sh\nOCL_ICD_VENDORS=/nowhere exec '" + builder + "' \"$@\"\n"));
        std::filesystem::permissions(workers.builder, std::filesystem::perms::owner_all);
        QVERIFY(built("opencl", {}, measure::Product::Artifact, "k", workers).binary.empty());
        measure::MeasurerOptions options;
        options.target = "opencl";
        options.builders = 1;
        options.buildTimeoutSeconds = 120;
        options.programs = workers;
        const auto measurer = must(measure::Measurer::create(options));
        std::vector<TrialResult> results;
        must(measurer->measure(doubleRequests(1),
                               [&](std::size_t, TrialResult result) { results.push_back(std::move(result)); }));
        QCOMPARE(results.size(), std::size_t{1});
        QVERIFY2(results[0].ok() && results[0].verified, results[0].text.c_str());
        const auto conditions = nlohmann::json::parse(results[0].conditions);
        QVERIFY2(conditions.contains("device_build_ms"), results[0].conditions.c_str());
        QVERIFY(results[0].durationsMs.at("build") > conditions["device_build_ms"].get<double>());
    }

    void theSelfTestPasses()
    {
        const SelfTest test = must(selfTestDevice("opencl"));
        QVERIFY(test.maxRelError < 1e-4 && test.runMs > 0 && !test.device.empty());
    }

    /// PoCL's devices share the processor: one after the other is measured on.
    void aRunUsesAllDevicesOfOneClass()
    {
        std::vector<DeviceView> equal = devices();
        const std::string of = equal.back().deviceKey; // whichever the driver lists first
        std::erase_if(equal, [&of](const DeviceView& one) { return one.deviceKey != of; });
        if (equal.size() < 2)
            QSKIP("there are no two equal OpenCL devices");
        TuneOptions options = few(8);
        options.policy = "reference";
        options.trialsPerRound = 4;
        options.minRepeatMs = 5;
        options.runoff = "off";
        options.devices = {of};
        Watcher().run(*open("both.lathe", "opencl"), options);
        std::map<std::string, int> measured;
        for (const Record& record : searched(reader("both.lathe"))) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            ++measured[record.result.device.fingerprint];
        }
        QCOMPARE(measured.size(), equal.size());
        for (const DeviceView& device : equal)
            QVERIFY2(measured[device.fingerprint] >= 2, device.key.c_str());
    }

    /// The whole network of a run.
    void aNetworkIsTimedOnTheDeviceThatIsAskedFor()
    {
        ModelSpec spec;
        spec.source = "zoo:mlp";
        const auto model = must(loadModel(spec, "opencl"));
        NetworkBench bench([model] { return model; }, nullptr);
        NetworkRequest request;
        request.device = devices().back().fingerprint;
        request.build = NetworkBuild::Untuned;
        QVERIFY(must(bench.measure(request, {})).measured.ms > 0);
        auto absent = nlohmann::json::parse(request.device);
        absent["key"] = "cl99";
        request.device = absent.dump();
        const auto refused = bench.measure(request, {});
        QVERIFY(!refused);
        QVERIFY2(refused.error().message.find("no OpenCL device has the key cl99; there are cl0 (")
                     != std::string::npos,
                 refused.error().message.c_str());
    }

    /// Untuned, and without a project that knows the device.
    void aLibraryHasTheSchedulesOfItsDevice()
    {
        const auto compiled = [this](const char* name, const Hardware& hardware) {
            ModelSpec spec;
            spec.source = "zoo:mlp"; // its rows are longer than any processor's vector
            spec.batch = 256; // enough for a GPU to give each thread several sums
            auto model = std::make_shared<LoadedModel>(*must(loadModel(spec, "opencl")));
            model->hardware.takeDeviceFigures(hardware);
            CompileOptions options;
            options.output = file(name);
            options.allowDefault = true;
            options.verify = options.benchmark = false;
            must(exportLibrary({model}, nullptr, options, {}, {}));
            return sourcesIn(file(name));
        };
        const Hardware figures = figuresOf(devices().front().fingerprint);
        QVERIFY(figures.get("simd_width") > 1);
        const std::set<std::string> here = compiled("here.so", {});
        QVERIFY(!here.empty());
        QVERIFY(here == compiled("told.so", figures));
        Hardware other;
        other.limits["simd_width"] = {0, "a run"}; // as GPUs have it
        QVERIFY(here != compiled("other.so", other));
    }

    void aNetworkIsTuned()
    {
        TuneOptions options = few(12);
        options.policy = "reference";
        options.trialsPerRound = 4;
        options.minRepeatMs = 5;
        Watcher().run(*open("opencl.lathe", "opencl"), options);
        std::map<std::string, int> good;
        for (const Record& record : searched(reader("opencl.lathe"))) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            QVERIFY(record.result.verified);
            QVERIFY(record.result.device.fingerprint.find("\"driver\"") != std::string::npos);
            ++good[record.candidate.task];
        }
        QVERIFY2(good.size() >= 2, qPrintable(QString::number(good.size())));
    }
};

LATHE_TEST(TestOpenClRuns)

} // namespace tst_opencl_runs

#include "tst_opencl_runs.moc"
