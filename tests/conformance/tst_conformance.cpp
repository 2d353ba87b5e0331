#include "tests/conformance/back_ends.h"
#include "tests/support/test_program.h"

namespace tst_conformance {

using namespace lathe;
using namespace lathe::test;

/// The definition of a back end: whatever its kind, both halves must do this. Add a target to targets() and it is
/// asked.
namespace {

compute::DagPtr intrinsics()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {37}, DType::F32);
    return finish(b, b.compute("y", {37}, {}, "elemwise", [&](const auto& i) {
        const ir::Expr v = b.at(x, {i[0]});
        return ir::call("exp", DType::F32, {v}) + ir::call("tanh", DType::F32, {v}) + ir::call("erf", DType::F32, {v})
               + ir::call("sigmoid", DType::F32, {v});
    }));
}

/// With loops bound to blocks (5, 7) and threads (6, 8), virtual threads (4), a tile of shared memory.
std::vector<Case> launchCases()
{
    return {
        {"matmul, default", matmul(7, 5, 9)},
        {"matmul, blocks and threads", matmul(7, 16, 9),
         R"([["SP", 2, 1, 16, [8], 1], ["AN", 2, 0, 5], ["AN", 2, 2, 6]])"},
        {"matmul, tail of a split", matmul(7, 16, 9), R"([["SP", 2, 0, 7, [4], 1], ["AN", 2, 0, 5], ["AN", 2, 1, 6]])"},
        {"matmul, two axes", matmul(8, 16, 9),
         R"([["SP", 2, 0, 8, [4], 1], ["SP", 2, 2, 16, [8], 1], ["RE", 2, [0, 2, 1, 3, 4]], ["AN", 2, 0, 7],
                 ["AN", 2, 1, 5], ["AN", 2, 2, 8], ["AN", 2, 3, 6]])"},
        {"matmul, virtual threads", matmul(7, 16, 9),
         R"([["SP", 2, 1, 16, [8], 1], ["AN", 2, 1, 4], ["AN", 2, 2, 6]])"},
        {"matmul, unrolled and vectors", matmul(8, 16, 9),
         R"([["SP", 2, 1, 16, [4], 1], ["RE", 2, [0, 1, 3, 2]], ["AN", 2, 0, 5], ["AN", 2, 1, 6], ["AN", 2, 3, 2]])"},
        {"padded convolution", convolution()},
        {"padded convolution, inlined", convolution(), R"([["CI", 1]])"},
        {"intrinsics", intrinsics(), R"([["SP", 1, 0, 37, [16], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 6]])"},
        {"maximum", maximum(), R"([["AN", 1, 0, 6]])"}};
}

std::vector<Case> cases(const std::string& target)
{
    if (formOf(target) == KernelForm::Launches)
        return launchCases();
    return {{"matmul, default", matmul(7, 5, 9)},
            {"matmul, tail of a split", matmul(7, 16, 9), R"([["SP", 2, 0, 7, [4], 1]])"},
            {"matmul, parallel and vectors", matmul(8, 32, 9),
             R"([["SP", 2, 1, 32, [16], 1], ["AN", 2, 0, 3], ["AN", 2, 2, 2]])"},
            {"padded convolution", convolution()},
            {"padded convolution, inlined", convolution(), R"([["CI", 1]])"},
            {"intrinsics", intrinsics()},
            {"maximum", maximum()}};
}

} // namespace

class TestConformance : public QObject, BackEnds
{
    Q_OBJECT

private slots:
    void initTestCase() { prepareDrivers(); }

    void init() { skipWhereThereIsNoDevice(); }

    void theDeviceDescribesItself_data() { eachTarget(); }
    void theDeviceDescribesItself()
    {
        QFETCH(QString, target);
        const auto api = serve::loadDeviceApi(pluginDir(), Target::parse(target.toStdString())->kind());
        QVERIFY2(api, api ? "" : api.error().message.c_str());
        QCOMPARE((*api)->abiVersion, LATHE_DEVICE_ABI_VERSION);
        const auto devices = nlohmann::json::parse((*api)->enumerate());
        QVERIFY(devices.is_array() && !devices.empty());
        for (const auto& device : devices) {
            QVERIFY(device.at("key").is_string() && device.at("name").is_string());
            for (const auto& limit : device.at("hardware"))
                QVERIFY(limit.at("value").is_number_integer() && limit.at("origin").is_string());
        }
        const auto device = open(target.toStdString());
        QVERIFY(device);
        QVERIFY(nlohmann::json::parse((*device)->health()).contains("clock"));
        const auto limits = nlohmann::json::parse((*device)->limits());
        QVERIFY(limits.is_object());
        if (!limits.empty()) {
            QVERIFY(limits.at("gflops").get<double>() > 0);
            QCOMPARE(limits.at("levels").back().at("bytes").get<double>(), 0.0);
            for (const auto& level : limits.at("levels"))
                QVERIFY(level.at("gbytes_per_s").get<double>() > 0 && level.at("name").is_string());
        }
        const auto other = serve::Device::open(*api, "no such key", "");
        QVERIFY(!other);
        QCOMPARE(int(other.error().code), int(Errc::NotFound));
    }

    void buffersKeepWhatIsCopiedIn_data() { eachTarget(); }
    void buffersKeepWhatIsCopiedIn()
    {
        QFETCH(QString, target);
        const auto device = open(target.toStdString());
        QVERIFY(device);
        for (const std::size_t bytes :
             {std::size_t(1), std::size_t(63), std::size_t(64), std::size_t(4097), std::size_t(3) << 20}) {
            auto buffer = (*device)->allocate(bytes);
            QVERIFY(buffer);
            std::vector<std::byte> in(bytes);
            wire::fillSeeded(bytes, DType::U8, {}, in);
            QVERIFY((*device)->copyIn(*buffer, in));
            std::vector<std::byte> out(bytes);
            QVERIFY((*device)->copyOut(out, *buffer));
            QVERIFY(in == out);
            in.resize(bytes + 1);
            const auto beyond = (*device)->copyIn(*buffer, in);
            QVERIFY(!beyond);
            QCOMPARE(int(beyond.error().code), int(Errc::InvalidArgument));
        }
    }

    /// A buffer that no machine has room for: refused with its size, and the device goes on.
    void memoryThatIsNotThereIsRefused_data() { eachTarget(); }
    void memoryThatIsNotThereIsRefused()
    {
        QFETCH(QString, target);
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const auto refused = (*device)->allocate(std::size_t{1} << 60);
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().code), int(Errc::Unsupported));
        QVERIFY2(refused.error().message.find("1152921504606846976 bytes") != std::string::npos,
                 refused.error().message.c_str());
        const std::vector<std::byte> in(64, std::byte{7});
        std::vector<std::byte> out(64);
        const auto buffer = (*device)->allocate(in.size());
        QVERIFY(buffer && (*device)->copyIn(*buffer, in) && (*device)->copyOut(out, *buffer));
        QVERIFY(in == out);
    }

    void kernelsComputeTheirDag_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("index");
        for (const std::string& target : targets()) {
            const auto all = cases(target);
            for (std::size_t i = 0; i < all.size(); ++i)
                QTest::newRow((target + ": " + all[i].name).c_str()) << QString::fromStdString(target) << int(i);
        }
    }
    void kernelsComputeTheirDag()
    {
        QFETCH(QString, target);
        QFETCH(int, index);
        const Case one = cases(target.toStdString())[static_cast<std::size_t>(index)];
        QVERIFY(one.dag);
        const auto product = build(target.toStdString(), {one});
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        QVERIFY2(product->kernels[0].code == Errc::Ok, product->kernels[0].text.c_str());
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const auto outputs = runKernel(**device, *product, 0, *one.dag);
        QVERIFY2(outputs, outputs ? "" : outputs.error().message.c_str());
        QCOMPARE(QString::fromStdString(compare(one.dag, *outputs)), QString());
    }

    void oneArtifactHoldsSeveralAndOneFailureStaysAlone_data() { eachTarget(); }
    void oneArtifactHoldsSeveralAndOneFailureStaysAlone()
    {
        QFETCH(QString, target);
        const std::vector<Case> list = {
            {"a", matmul(4, 4, 4)}, {"bad", matmul(4, 4, 4), R"([["SP", 9, 0, 4, [2], 1]])"}, {"c", maximum()}};
        const auto product = build(target.toStdString(), list);
        QVERIFY(product);
        QCOMPARE(int(product->kernels[1].stage), int(TrialStage::Lower));
        QCOMPARE(int(product->kernels[1].code), int(Errc::IllegalSchedule));
        QCOMPARE(product->descriptor.kernels.size(), std::size_t(2));
        const auto device = open(target.toStdString());
        QVERIFY(device);
        for (const std::size_t i : {std::size_t(0), std::size_t(2)}) {
            QVERIFY2(product->kernels[i].code == Errc::Ok, product->kernels[i].text.c_str());
            const auto outputs = runKernel(**device, *product, static_cast<std::uint32_t>(product->kernels[i].kernel),
                                           *list[i].dag);
            QVERIFY2(outputs, outputs ? "" : outputs.error().message.c_str());
            QCOMPARE(QString::fromStdString(compare(list[i].dag, *outputs)), QString());
        }
    }

    void damagedArtifactsAreRefused_data() { eachTarget(); }
    void damagedArtifactsAreRefused()
    {
        QFETCH(QString, target);
        const auto product = build(target.toStdString(), {{"a", matmul(4, 4, 4)}});
        QVERIFY(product);
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const std::string descriptor = toJson(product->descriptor).dump();
        const std::string cut = product->bytes.substr(0, 40);
        const std::string garbage(5000, 'g');
        for (const std::string& bytes : {std::string(), cut, garbage}) {
            const auto loaded = (*device)->load(std::as_bytes(std::span(bytes)), descriptor);
            QVERIFY(!loaded);
            QCOMPARE(int(loaded.error().code), int(Errc::BadFile));
            QVERIFY(!loaded.error().message.empty());
        }
        QVERIFY(!(*device)->load(std::as_bytes(std::span(product->bytes)), "{}"));
    }

    void launchesThatDoNotFitAreRefused_data() { eachTarget(); }
    void launchesThatDoNotFitAreRefused()
    {
        QFETCH(QString, target);
        const auto product = build(target.toStdString(), {{"a", matmul(4, 4, 4)}});
        QVERIFY(product);
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const auto module = (*device)->load(std::as_bytes(std::span(product->bytes)),
                                            toJson(product->descriptor).dump());
        QVERIFY(module);
        std::vector<serve::DeviceBuffer> buffers;
        std::vector<void*> pointers;
        for (int i = 0; i < 3; ++i) {
            auto buffer = (*device)->allocate(i == 2 ? 8 : 64);
            QVERIFY(buffer);
            pointers.push_back(buffer->get());
            buffers.push_back(*std::move(buffer));
        }
        const auto refused = [&](std::uint32_t kernel, std::uint32_t count) {
            const LatheLaunch launch = {module->get(), kernel, pointers.data(), count, 1};
            const auto ran = (*device)->run({&launch, 1}, 1, 0);
            return !ran && ran.error().code == Errc::InvalidArgument;
        };
        QVERIFY(refused(0, 3)); // the output is too small
        QVERIFY(refused(0, 2)); // one buffer is missing
        QVERIFY(refused(5, 3)); // no such kernel
    }

    /// Where a device compiles kernels itself; elsewhere there is nothing to do.
    void aKernelIsBuiltOnceAndRunsAfterwards_data() { eachTarget(); }
    void aKernelIsBuiltOnceAndRunsAfterwards()
    {
        QFETCH(QString, target);
        const auto product = build(target.toStdString(), {{"a", matmul(4, 4, 4)}, {"b", matmul(4, 4, 4)}});
        QVERIFY(product);
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const auto module = (*device)->load(std::as_bytes(std::span(product->bytes)),
                                            toJson(product->descriptor).dump());
        QVERIFY(module);
        if ((*device)->builds()) {
            const auto absent = (*device)->build(module->get(), 5);
            QVERIFY(!absent);
            QCOMPARE(int(absent.error().code), int(Errc::InvalidArgument));
        }
        std::vector<serve::DeviceBuffer> buffers;
        std::vector<void*> pointers;
        for (int i = 0; i < 3; ++i) {
            auto buffer = (*device)->allocate(64);
            QVERIFY(buffer);
            const std::vector<std::byte> zeros(64);
            QVERIFY((*device)->copyIn(*buffer, zeros));
            pointers.push_back(buffer->get());
            buffers.push_back(*std::move(buffer));
        }
        for (const std::uint32_t kernel : {1u, 1u, 0u}) {
            const auto built = (*device)->build(module->get(), kernel);
            QVERIFY2(built, built ? "" : built.error().message.c_str());
            const LatheLaunch launch = {module->get(), kernel, pointers.data(), 3, 1};
            const auto ran = (*device)->run({&launch, 1}, 1, 0);
            QVERIFY2(ran, ran ? "" : ran.error().message.c_str());
        }
    }

    void theDescriptorSaysTheForm_data() { eachTarget(); }
    void theDescriptorSaysTheForm()
    {
        QFETCH(QString, target);
        const auto product = build(target.toStdString(), {{"a", matmul(4, 4, 4)}});
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        const KernelInfo& kernel = product->descriptor.kernels[0];
        QCOMPARE(int(kernel.form), int(formOf(target.toStdString())));
        QCOMPARE(kernel.launches.empty(), kernel.form == KernelForm::Phases);
        QCOMPARE(kernel.phases.empty(), kernel.form == KernelForm::Launches);
    }

    /// More threads in a block than any device has: refused with the limit, and the device goes on.
    void blocksBeyondTheLimitAreRefused_data() { eachTarget(KernelForm::Launches); }
    void blocksBeyondTheLimitAreRefused()
    {
        QFETCH(QString, target);
        const std::vector<Case> list = {{"large", matmul(2, 32768, 3), R"([["AN", 2, 1, 6]])"}, {"a", matmul(4, 4, 4)}};
        const auto product = build(target.toStdString(), list);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        const auto device = open(target.toStdString());
        QVERIFY(device);
        const auto refused = runKernel(**device, *product, 0, *list[0].dag);
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().code), int(Errc::Unsupported));
        QVERIFY2(refused.error().message.find("32768 threads") != std::string::npos, refused.error().message.c_str());
        QVERIFY(runKernel(**device, *product, 1, *list[1].dag));
    }
};

LATHE_TEST(TestConformance)

} // namespace tst_conformance

#include "tst_conformance.moc"
