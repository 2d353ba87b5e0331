#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/measure/builder_client.h"
#include "core/search/reference/annotate.h"
#include "core/serve/device.h"
#include "core/support/files.h"
#include "core/target/kinds.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <map>
#include <optional>

namespace tst_conformance {

using namespace lathe;

/// The definition of a back end: whatever its kind, both halves must do this. Add a target to targets() and it is
/// asked.
namespace {

std::vector<std::string> targets()
{
    std::vector<std::string> all = {"sim", "sim -like=cuda", "sim -like=mali", "opencl"};
#ifdef LATHE_TEST_CPU
    all.push_back("cpu");
#endif
    return all;
}

struct Case
{
    std::string name;
    compute::DagPtr dag;
    std::string steps = "[]";
};

compute::DagPtr finish(compute::DagBuilder& builder, compute::Tensor out)
{
    auto dag = std::move(builder).finish({out});
    return dag ? *dag : nullptr;
}

compute::DagPtr matmul(std::int64_t m, std::int64_t n, std::int64_t k)
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {m, k}, DType::F32);
    const auto y = b.placeholder("B", {k, n}, DType::F32);
    return finish(
        b, b.reduce("C", {m, n}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", k}},
                    [&](const auto& a, const auto& r) { return b.at(x, {a[0], r[0]}) * b.at(y, {r[0], a[1]}); }));
}

/// A 3x3 convolution with padding: the border is where guards go wrong.
compute::DagPtr convolution()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("data", {1, 7, 9, 5}, DType::F32);
    const auto w = b.placeholder("weight", {3, 3, 5, 6}, DType::F32);
    const auto padded = b.compute("pad", {1, 9, 11, 5}, {}, "injective,pad", [&](const auto& i) {
        return ir::ifThenElse(i[1] >= ir::Expr(1) && i[1] < ir::Expr(8) && i[2] >= ir::Expr(1) && i[2] < ir::Expr(10),
                              b.at(x, {i[0], i[1] - ir::Expr(1), i[2] - ir::Expr(1), i[3]}), ir::floatImm(0));
    });
    const auto conv = b.reduce("conv", {1, 7, 9, 6}, {"n", "h", "w", "c"}, "", ir::Combiner::Sum,
                               {{"ry", 3}, {"rx", 3}, {"rc", 5}}, [&](const auto& a, const auto& r) {
                                   return b.at(padded, {a[0], a[1] + r[0], a[2] + r[1], r[2]})
                                          * b.at(w, {r[0], r[1], r[2], a[3]});
                               });
    return finish(b, b.compute("relu", {1, 7, 9, 6}, {}, "elemwise", [&](const auto& i) {
        return ir::max(b.at(conv, {i[0], i[1], i[2], i[3]}), ir::floatImm(0));
    }));
}

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

compute::DagPtr maximum()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {6, 11}, DType::F32);
    return finish(b, b.reduce("m", {6}, {"i"}, "", ir::Combiner::Max, {{"k", 11}},
                              [&](const auto& a, const auto& r) { return b.at(x, {a[0], r[0]}); }));
}

KernelForm formOf(const std::string& target)
{
    return Target::parse(target)->traits().form;
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

std::vector<std::byte> inputBytes(const compute::Dag& dag, std::size_t input)
{
    const compute::Op& op = dag.ops[static_cast<std::size_t>(dag.inputs[input])];
    std::int64_t count = 1;
    for (const std::int64_t extent : op.shape)
        count *= extent;
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * sizeOf(op.dtype)));
    wire::fillSeeded(wire::inputSeed(11, input), op.dtype, {}, bytes);
    return bytes;
}

/// Runs one kernel of an artifact on the device; the outputs in plain layout.
Result<std::vector<std::vector<std::byte>>> runKernel(serve::Device& device, const measure::BuiltProduct& product,
                                                      std::uint32_t kernel, const compute::Dag& dag)
{
    LATHE_TRY_ASSIGN(const serve::DeviceModule module,
                     device.load(std::as_bytes(std::span(product.bytes)), toJson(product.descriptor).dump()));
    const KernelInfo& info = product.descriptor.kernels[kernel];
    std::vector<serve::DeviceBuffer> buffers;
    std::vector<void*> pointers;
    std::size_t input = 0;
    for (const ArgSpec& spec : info.parameters) {
        std::vector<std::byte> physical(static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype)),
                                        std::byte(0xff));
        if (spec.role != ArgRole::Output)
            transformLayout(IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                            inputBytes(dag, input++).data(), spec.map, physical.data(), spec.dtype);
        LATHE_TRY_ASSIGN(serve::DeviceBuffer buffer, device.allocate(physical.size()));
        LATHE_TRY(device.copyIn(buffer, physical));
        pointers.push_back(buffer.get());
        buffers.push_back(std::move(buffer));
    }
    const LatheLaunch launch = {module.get(), kernel, pointers.data(), static_cast<std::uint32_t>(pointers.size()), 1};
    LATHE_TRY_ASSIGN(const LatheTiming timing, device.run({&launch, 1}, 2, 0));
    if (timing.nanoseconds == 0 || timing.clock > 2 || timing.flags != 0)
        return makeError(Errc::Internal, "the timing is empty, of an unknown clock, or of nothing computed");
    std::vector<std::vector<std::byte>> outputs;
    for (std::size_t p = 0; p < info.parameters.size(); ++p) {
        const ArgSpec& spec = info.parameters[p];
        if (spec.role != ArgRole::Output)
            continue;
        std::vector<std::byte> physical(buffers[p].bytes());
        LATHE_TRY(device.copyOut(physical, buffers[p]));
        std::vector<std::byte> plain(static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype)));
        transformLayout(spec.map, physical.data(), IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                        plain.data(), spec.dtype);
        outputs.push_back(std::move(plain));
    }
    return outputs;
}

/// Empty if the outputs are those of the DAG.
std::string compare(const compute::DagPtr& dag, const std::vector<std::vector<std::byte>>& outputs)
{
    std::vector<std::vector<std::byte>> inputs;
    for (std::size_t i = 0; i < dag->inputs.size(); ++i)
        inputs.push_back(inputBytes(*dag, i));
    const auto interpreter = compute::Interpreter::compile(dag);
    if (!interpreter)
        return interpreter.error().message;
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    const auto expected = interpreter->run(views);
    if (!expected)
        return expected.error().message;
    for (std::size_t o = 0; o < expected->size(); ++o) {
        const std::vector<std::byte>& want = (*expected)[o];
        if (outputs[o].size() != want.size())
            return "output " + std::to_string(o) + " has another size";
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(want.size() / 4); ++i) {
            const double a = wire::readElement(outputs[o].data(), i, DType::F32);
            const double r = wire::readElement(want.data(), i, DType::F32);
            if (!(std::fabs(a - r) <= 1e-5 * std::max(1.0, std::fabs(r))))
                return "output " + std::to_string(o) + " is " + std::to_string(a) + " at " + std::to_string(i)
                       + ", not " + std::to_string(r);
        }
    }
    return {};
}

} // namespace

class TestConformance : public QObject
{
    Q_OBJECT

    std::map<std::string, std::unique_ptr<measure::BuilderClient>> m_builders;

    Result<measure::BuiltProduct> build(const std::string& target, const std::vector<Case>& list)
    {
        auto& builder = m_builders[target];
        if (!builder) {
            LATHE_TRY_ASSIGN(builder, measure::BuilderClient::start(target));
        }
        std::vector<measure::KernelJob> jobs;
        for (std::size_t i = 0; i < list.size(); ++i)
            jobs.push_back({"case" + std::to_string(i), compute::toJson(*list[i].dag).dump(), list[i].steps, {}});
        return builder->build(jobs, measure::Product::Artifact, Deadline::inSeconds(60.0 * static_cast<double>(list.size())));
    }

    static Result<std::shared_ptr<serve::Device>> open(const std::string& target)
    {
        LATHE_TRY_ASSIGN(const LatheDeviceApi* api, serve::loadDeviceApi(pluginDir(), Target::parse(target)->kind()));
        const std::string words = target.find(' ') == std::string::npos ? ""
                                                                        : target.substr(target.find(' ') + 1) + ' ';
        return serve::Device::open(api, "", words + "-threads=2 -pin=off");
    }

    /// Why there is no device of the kind: the sentence of the row that stands for all of them. Empty: there is one.
    static std::string missing(const std::string& kind)
    {
        const auto api = serve::loadDeviceApi(pluginDir(), kind);
        if (!api)
            return {}; // which is a failure of its own
        const auto devices = nlohmann::json::parse((*api)->enumerate());
        return devices.size() == 1 ? devices[0].value("error", "") : "";
    }

    static void eachTarget(std::optional<KernelForm> form = {})
    {
        QTest::addColumn<QString>("target");
        for (const std::string& target : targets())
            if (!form || formOf(target) == *form)
                QTest::newRow(target.c_str()) << QString::fromStdString(target);
    }

private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }

    /// A target whose device or driver this machine lacks is skipped.
    void init()
    {
        QFETCH(QString, target);
        const std::string problem = missing(Target::parse(target.toStdString())->kind());
        if (!problem.empty())
            QSKIP(problem.c_str());
    }

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

    void schedulesOfTheReferenceComputeTheirDag_data() { eachTarget(KernelForm::Launches); }
    void schedulesOfTheReferenceComputeTheirDag()
    {
        QFETCH(QString, target);
        const Target parsed = *Target::parse(target.toStdString());
        const Hardware hardware = defaultHardware(parsed);
        search::SketchRuleContext context = search::SketchRuleContext::of(parsed, hardware);
        context.warpSize = 1; // small shapes have few threads
        std::vector<Case> list;
        for (const compute::DagPtr& dag : {matmul(16, 24, 16), convolution(), maximum()})
            for (const schedule::State& state : test::must(search::generateReferenceSketches(dag, parsed, hardware))) {
                const search::ReferenceSketch sketch("s", "direct", state, context);
                Random random(11);
                for (int draw = 0, left = 5; draw < 2000 && left > 0; ++draw) {
                    search::Genome genome;
                    if (const auto sample = sketch.sample(random, genome)) {
                        list.push_back({"drawn", dag, schedule::toJson(sample->steps()).dump()});
                        --left;
                    }
                }
            }
        QVERIFY(list.size() >= 15);
        const auto product = build(target.toStdString(), list);
        QVERIFY2(product, product ? "" : product.error().message.c_str());
        const auto device = open(target.toStdString());
        QVERIFY(device);
        for (std::size_t i = 0; i < list.size(); ++i) {
            QVERIFY2(product->kernels[i].code == Errc::Ok, product->kernels[i].text.c_str());
            const auto outputs = runKernel(**device, *product, static_cast<std::uint32_t>(product->kernels[i].kernel),
                                           *list[i].dag);
            QVERIFY2(outputs, outputs ? "" : (outputs.error().message + '\n' + list[i].steps).c_str());
            QCOMPARE(QString::fromStdString(compare(list[i].dag, *outputs)), QString());
        }
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
