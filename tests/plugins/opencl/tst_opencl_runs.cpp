#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/session/devices.h"
#include "tests/plugins/opencl/opencl_fixture.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

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

    static opencl::PackedKernel built(const std::string& target)
    {
        const auto builder = must(measure::BuilderClient::start(target));
        const measure::KernelJob one = job();
        const auto product = must(builder->build({&one, 1}, measure::Product::Artifact, Deadline::inSeconds(60)));
        std::vector<opencl::PackedKernel> kernels;
        if (product.descriptor.format != opencl::kFormat || product.descriptor.kernels.size() != 1
            || !opencl::unpack(product.bytes, kernels) || kernels.size() != 1)
            qFatal("the artifact is not one kernel of OpenCL C");
        return kernels.front();
    }

private slots:
    void initTestCase()
    {
        const auto device = openDevice();
        if (!device)
            QSKIP(device.error().message.c_str());
    }

    void aBuilderHandsOverTheBinaryAndTheSource()
    {
        const opencl::PackedKernel here = built("opencl");
        QVERIFY(here.source.find("__kernel") != std::string::npos && here.source.find("exp(") != std::string::npos);
        QVERIFY(!here.binary.empty() && !here.madeFor.empty());
    }

    void aBuilderForAnotherMachineHandsOverSource()
    {
        const opencl::PackedKernel there = built("opencl -device=mali -host=riscv64-linux-gnu");
        QVERIFY(!there.source.empty() && there.binary.empty());
        const auto measurable = checkMeasurable("opencl -host=riscv64-linux-gnu");
        QVERIFY(!measurable && measurable.error().message.find("code for riscv64") != std::string::npos);
    }

    void theSelfTestPasses()
    {
        const SelfTest test = must(selfTestDevice("opencl"));
        QVERIFY(test.maxRelError < 1e-4 && test.runMs > 0 && !test.device.empty());
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
