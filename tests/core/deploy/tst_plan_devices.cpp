// Networks of which a device beside the processor runs some kernels: what the planner puts where, and that the results
// stay what they are. The device does everything as late as it may.

#include "hand_network.h"
#include "hand_run.h"
#include "tests/support/late_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>

namespace tst_plan_devices {

using namespace lathe;
using namespace lathe::deploy;

extern "C" {
std::int32_t hand_clear(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_scale(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_relu(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
std::int32_t hand_add(const LatheArgs*, void*, std::uint32_t, std::uint32_t);
}

namespace {

const std::map<std::string, LathePhase>& handPhases()
{
    static const std::map<std::string, LathePhase> phases = {
        {"hand_clear", hand_clear}, {"hand_scale", hand_scale}, {"hand_relu", hand_relu}, {"hand_add", hand_add}};
    return phases;
}

/// The kernel as one of launches, each of which does what a phase did.
KernelInfo onDevice(const KernelInfo& kernel)
{
    KernelInfo beside;
    beside.name = kernel.name;
    beside.parameters = kernel.parameters;
    beside.form = KernelForm::Launches;
    std::vector<std::int32_t> all;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        all.push_back(static_cast<std::int32_t>(i));
    for (const std::string& phase : kernel.phases) {
        beside.launches.push_back({phase, all, {1, 1, 1}, {1, 1, 1}, 0});
        late::device().functions[phase] = [run = handPhases().at(phase)](const std::vector<std::byte*>& buffers,
                                                                         const runtime::LaunchRequest&) {
            std::vector<void*> tensors(buffers.begin(), buffers.end());
            float scratch[16] = {};
            const LatheArgs args{tensors.data(), nullptr};
            return run(&args, scratch, 0, 1) == 0;
        };
    }
    return beside;
}

std::vector<float> runImage(const ModelImage& image)
{
    std::vector<LathePhase> phases;
    for (const std::string& phase : image.phases)
        phases.push_back(handPhases().at(phase));
    return ::runImage(image, phases, &late::driver());
}

/// @param beside  bit k: kernel k runs on the device
Result<ModelImage> plan(HandNetwork& network, unsigned beside)
{
    makeHandNetwork(network);
    late::device() = {};
    for (std::size_t k = 0; k < network.kernels.size(); ++k)
        if ((beside >> k & 1) != 0)
            network.kernels[k] = onDevice(network.kernels[k]);
    LATHE_TRY_ASSIGN(const KernelSet set, collectKernels(network.graph, network.partition, network.choices));
    PlanOptions options;
    options.target = "late";
    return planModel(network.graph, network.partition, network.choices, set, network.kernels, options);
}

} // namespace

class TestPlanDevices : public QObject
{
    Q_OBJECT
private slots:
    void copiesStandWhereValuesChangeSides_data()
    {
        QTest::addColumn<unsigned>("beside");
        QTest::addColumn<QStringList>("instructions");
        const QString turn = "transform layout of positive";
        QTest::newRow("all") << 7U
                             << QStringList{"copy write x", "kernel scale",    "kernel relu",  "copy read positive",
                                            turn,           "copy write flat", "kernel shift", "copy read y"};
        QTest::newRow("the first") << 1U << QStringList{"copy write x", "kernel scale", "copy read scaled",
                                                        "kernel relu",  turn,           "kernel shift"};
        QTest::newRow("the middle") << 2U << QStringList{"kernel scale", "copy write scaled",
                                                         "kernel relu",  "copy read positive",
                                                         turn,           "kernel shift"};
        QTest::newRow("the last") << 4U << QStringList{"kernel scale",    "kernel relu",  turn,
                                                       "copy write flat", "kernel shift", "copy read y"};
        QTest::newRow("none") << 0U << QStringList{"kernel scale", "kernel relu", turn, "kernel shift"};
    }
    void copiesStandWhereValuesChangeSides()
    {
        QFETCH(unsigned, beside);
        HandNetwork network;
        const auto image = plan(network, beside);
        QVERIFY2(image, image ? "" : image.error().message.c_str());
        QTEST(kindsOf(*image), "instructions");
    }

    void resultsAreTheSameWhereverKernelsRun()
    {
        for (unsigned beside = 0; beside < 8; ++beside) {
            HandNetwork network;
            const auto image = plan(network, beside);
            QVERIFY2(image, image ? "" : image.error().message.c_str());
            const auto expected = graph::interpret(network.graph, {someInput()});
            QVERIFY(expected);
            const std::vector<float> got = runImage(*image);
            QCOMPARE(got.size(), 320U);
            const auto reference = (*expected)[0].as<float>();
            for (std::size_t i = 0; i < got.size(); ++i)
                QVERIFY2(qAbs(got[i] - reference[i]) < 1e-6F, qPrintable(QString("on the device: %1").arg(beside)));
            QCOMPARE(late::device().contexts, 0);
            QCOMPARE(late::device().pieces, 0);
        }
    }

    /// Tensors on the device lie in the caller's buffers, but for what a kernel of the processor reads or writes.
    void inputsAndOutputsAreUsedInPlaceWhereMemoryIsShared_data()
    {
        QTest::addColumn<unsigned>("beside");
        QTest::addColumn<int>("wraps");
        QTest::newRow("all") << 7U << 2;
        QTest::newRow("the first") << 1U << 1;
        QTest::newRow("the middle") << 2U << 0;
        QTest::newRow("the last") << 4U << 1;
    }
    void inputsAndOutputsAreUsedInPlaceWhereMemoryIsShared()
    {
        QFETCH(unsigned, beside);
        QFETCH(int, wraps);
        HandNetwork network;
        const auto image = plan(network, beside);
        QVERIFY2(image, image ? "" : image.error().message.c_str());
        const std::vector<float> expected = runImage(*image);
        const int copies = late::device().copies;
        late::device().copies = 0;
        late::device().sharesMemory = true;
        QCOMPARE(runImage(*image), expected);
        QCOMPARE(late::device().wraps, wraps);
        QCOMPARE(late::device().copies, copies - 3 * wraps); // three runs
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().pieces, 0);
    }

    /// Each side has memory of its own, at multiples that its device asks for.
    void eachSideHasItsOwnMemory()
    {
        HandNetwork network;
        const auto image = plan(network, 7);
        QVERIFY(image);
        std::vector<std::uint64_t> description(image->description.size() / 8 + 1);
        std::memcpy(description.data(), image->description.data(), image->description.size());
        runtime::Image opened;
        runtime::ErrorText error;
        QVERIFY2(runtime::openImage(reinterpret_cast<const std::byte*>(description.data()), image->description.size(),
                                    opened, error),
                 error.text);
        QCOMPARE(opened.header->devices.count, 1U);
        QCOMPARE(QString(opened.string(opened.devices[0].target)), QString("late"));
        // On the device: x (1280), scaled (2048), positive (2048), flat (1280), y (1280); of these two live at once,
        // and x's place is used again. On the processor: positive as it was, and in its other layout.
        QVERIFY(opened.devices[0].arenaBytes > 0);
        QVERIFY(opened.devices[0].arenaBytes < 1280U * 3 + 2048U * 2);
        QCOMPARE(opened.header->arenaBytes, 2048U + 1280U);
        for (std::uint64_t i = 0; i < opened.header->tensors.count; ++i) {
            const runtime::ImageTensor& tensor = opened.tensors[i];
            if (tensor.storage == static_cast<std::uint32_t>(runtime::Storage::Weights))
                QCOMPARE(tensor.device, 1U);
        }
    }
};

LATHE_TEST(TestPlanDevices)

} // namespace tst_plan_devices

#include "tst_plan_devices.moc"
