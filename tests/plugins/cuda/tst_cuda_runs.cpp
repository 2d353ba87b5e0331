#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/session/device_directory.h"
#include "core/session/devices.h"
#include "core/session/exports/exporter.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/cuda_driver.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

namespace tst_cuda_runs {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

namespace {

/// Sets a variable for the workers that are started meanwhile.
class Meanwhile
{
public:
    Meanwhile(const char* name, const char* value)
        : m_name(name)
        , m_wasSet(qEnvironmentVariableIsSet(name))
        , m_before(qgetenv(name))
    {
        qputenv(name, value);
    }
    ~Meanwhile()
    {
        if (m_wasSet)
            qputenv(m_name, m_before);
        else
            qunsetenv(m_name);
    }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

private:
    const char* m_name;
    bool m_wasSet;
    QByteArray m_before;
};

const std::string kTarget = "cuda -arch=sm_80";

/// Trials of one task, in rounds of two.
TuneOptions ofOneTask(std::int64_t trials)
{
    TuneOptions options = few(trials);
    options.trialsPerRound = 2;
    options.tasks = {"2"};
    options.runoff = "off";
    return options;
}

std::map<Errc, int> codesOf(const std::vector<Record>& records)
{
    std::map<Errc, int> codes;
    for (const Record& record : records)
        ++codes[record.result.code];
    return codes;
}

std::string textOf(const std::vector<Record>& records)
{
    std::string text;
    for (const Record& record : records)
        text += std::string(toString(record.result.code)) + ": " + record.result.text + '\n';
    return text;
}

} // namespace

/// From a network to records, on the driver on the processor, through builders and runners: what is here of a GPU is
/// not tried.
class TestCudaRuns : public QObject, Projects
{
    Q_OBJECT

    static std::vector<DeviceView> devices() { return DeviceDirectory::ask("cuda").forTarget(kTarget); }

private slots:
    void initTestCase()
    {
        LATHE_NEEDS_NVRTC();
        findCudaDriver();
        const auto found = devices();
        std::string missing;
        if (found.front().key.empty())
            missing = "no NVIDIA GPU is here, nor the driver that stands in for one";
        else if (found.front().name.find("modelled times") == std::string::npos)
            missing = "these runs are for the driver on the processor, and a GPU's is here";
        if (!missing.empty()) {
            QVERIFY2(!isCudaDemanded(), missing.c_str());
            QSKIP(missing.c_str());
        }
    }

    /// With the times of a run as users start it: 20 ms each, of a model in which a kernel takes microseconds.
    void aNetworkIsTunedAndResumed()
    {
        TuneOptions options = ofOneTask(6);
        options.policy = "sketch";
        options.runoff = "auto";
        Watcher watcher;
        watcher.run(*open("tuned.lathe", kTarget), options);
        const std::vector<Record> first = searched(reader("tuned.lathe"));
        QCOMPARE(codesOf(first).size(), std::size_t{1});
        for (const Record& record : first) {
            QVERIFY2(record.result.ok() && record.result.verified, record.result.text.c_str());
            QVERIFY(record.result.meanNs() > 0);
            const auto conditions = nlohmann::json::parse(record.result.conditions);
            QVERIFY2(conditions.value("clock", "") == "model", record.result.conditions.c_str());
            QVERIFY(record.result.device.fingerprint.find("modelled times") != std::string::npos);
            QCOMPARE(coldBytes(record), std::int64_t{0}); // a formula's time knows no caches
        }
        // The clock of the processor that stands in for the device says nothing of a network on it.
        QVERIFY(watcher.all<MeasuredEvent>().empty());
        const auto logs = watcher.all<LogEvent>();
        QVERIFY(std::ranges::any_of(logs, [](const LogEvent& log) {
            return log.text.find("by a model: none is measured") != std::string::npos;
        }));
        const auto again = open("tuned.lathe", kTarget)->project()->measureAgain({});
        QVERIFY(!again);
        QVERIFY2(again.error().message.find("by a model") != std::string::npos, again.error().message.c_str());
        options.resume = true;
        options.trials = static_cast<std::int64_t>(first.size()) + 2; // of both lives together
        Watcher().run(*open("tuned.lathe", kTarget), options);
        const std::vector<Record> all = searched(reader("tuned.lathe"));
        QVERIFY2(all.size() >= first.size() + 2, qPrintable(QString::number(all.size())));
    }

    void anExportIsComparedAndNotTimed()
    {
        ModelSpec spec;
        spec.source = "zoo:mlp";
        CompileOptions options;
        options.output = file("mlp.so");
        options.allowDefault = true;
        const CompileReport report = must(exportLibrary({must(loadModel(spec, kTarget))}, nullptr, options, {}, {}));
        QVERIFY2(report.maxRelError < 1e-5, report.notVerified.c_str());
        QVERIFY2(report.notTimed.find("by a model") != std::string::npos, report.notTimed.c_str());
        QVERIFY(!std::isfinite(report.latencyMs.median));
        QVERIFY(std::filesystem::exists(options.output));
    }

    void aRunUsesAllDevicesOfOneClass()
    {
        const Meanwhile two("LATHE_CUDA_DRIVER_DEVICES", "2");
        const auto both = devices();
        QCOMPARE(both.size(), std::size_t{2});
        QCOMPARE(both[0].deviceKey, both[1].deviceKey);
        {
            const Meanwhile hidden("CUDA_VISIBLE_DEVICES", "1");
            QCOMPARE(devices().size(), std::size_t{1});
        }
        Watcher().run(*open("both.lathe", kTarget), ofOneTask(8));
        std::map<std::string, int> measured;
        const std::vector<Record> records = searched(reader("both.lathe"));
        for (const Record& record : records) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            ++measured[record.result.device.fingerprint];
        }
        for (const DeviceView& device : both)
            QVERIFY2(measured[device.fingerprint] >= 2, device.key.c_str());
    }

    void devicesOfTwoClassesAreNotMixed()
    {
        const Meanwhile two("LATHE_CUDA_DRIVER_CAPABILITY", "8.0,9.0");
        const DeviceDirectory directory = DeviceDirectory::ask("cuda");
        const std::vector<std::string> none, both = {"cuda0", "cuda1"};
        QCOMPARE(must(directory.pick(kTarget, none)).size(), std::size_t{1});
        const auto mixed = directory.pick(kTarget, both);
        QVERIFY(!mixed);
        QVERIFY2(mixed.error().message.find('\n') == std::string::npos, mixed.error().message.c_str());
    }

    void withoutDriverOneSentenceSaysSo()
    {
        const Meanwhile nowhere("LATHE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
        const auto picked = DeviceDirectory::ask("cuda").pick(kTarget, {});
        QVERIFY(!picked);
        QVERIFY2(picked.error().message.find("/nowhere/libcuda.so.1") != std::string::npos
                     && picked.error().message.find('\n') == std::string::npos,
                 picked.error().message.c_str());
    }

    void withoutArchitectureAndDeviceOneSentenceAsksForIt()
    {
        const Meanwhile nowhere("LATHE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
        compute::DagBuilder b;
        const auto x = b.placeholder("x", {8, 8}, DType::F32);
        const auto y = b.compute("y", {8, 8}, {}, "elemwise", [&](const auto& i) {
            return ir::call("exp", DType::F32, {b.at(x, {i[0], i[1]})});
        });
        const measure::KernelJob job = {"k", compute::toJson(**std::move(b).finish({y})).dump(), "[]", {}};
        const auto builder = must(measure::BuilderClient::start("cuda", {}));
        const auto built = must(builder->build({&job, 1}, measure::Product::Artifact, Deadline::inSeconds(60)));
        QCOMPARE(built.kernels.size(), std::size_t{1});
        const std::string& said = built.kernels.front().text;
        QVERIFY2(said.find("add -arch=") != std::string::npos && said.find('\n') == std::string::npos, said.c_str());
    }

    /// Each costs the trial that met it, or says that the device is lost: the run comes to its end.
    void aRunOutlivesFaultsOfTheDevice_data()
    {
        QTest::addColumn<QByteArray>("variable");
        QTest::addColumn<int>("code");
        QTest::newRow("memory") << QByteArray("LATHE_CUDA_DRIVER_ECC_AT") << int(Errc::DeviceLost);
    }
    void aRunOutlivesFaultsOfTheDevice()
    {
        QFETCH(QByteArray, variable);
        QFETCH(int, code);
        const std::string project = std::string(QTest::currentDataTag()) + ".lathe";
        TuneOptions options = ofOneTask(6);
        options.cache = "warm"; // some launches a trial, not dozens
        const auto session = open(project.c_str(), kTarget);
        Watcher watcher;
        {
            const Meanwhile fault(variable.constData(), "9"); // of each process of a runner
            watcher.run(*session, options);
        }
        const std::vector<Record> records = searched(reader(project.c_str()));
        auto codes = codesOf(records);
        QVERIFY2(codes[Errc::Ok] > 0 && codes[Errc(code)] > 0, textOf(records).c_str());
        QVERIFY2(codes[Errc::Ok] + codes[Errc(code)] == int(records.size()), textOf(records).c_str());
        for (const Record& record : records)
            QVERIFY2(record.result.ok() || record.result.text.find('\n') == std::string::npos,
                     record.result.text.c_str());
    }
};

LATHE_TEST(TestCudaRuns)

} // namespace tst_cuda_runs

#include "tst_cuda_runs.moc"
