#include "core/backend/c_source.h"
#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/winograd.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/launch_resources.h"
#include "core/search/reference/annotate.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/support/must.h"
#include "tests/support/opencl_run.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

namespace tst_launches {

using namespace lathe;
using namespace lathe::search;
using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;

namespace {

constexpr int kKernels = 8; ///< of each sketch

compute::DagPtr finish(DagBuilder&& builder, Tensor output)
{
    auto dag = std::move(builder).finish({output});
    if (!dag)
        qFatal("%s", dag.error().message.c_str());
    return *dag;
}

compute::DagPtr convolution(std::int64_t channels, std::int64_t size, std::int64_t filters)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, channels, size, size}, DType::F32),
                 weight = b.placeholder("kernel", {filters, channels, 3, 3}, DType::F32);
    compute::Conv2dParams p;
    p.padding = {1, 1, 1, 1};
    Tensor y = conv2d(b, data, weight, p, NameEra::Flat);
    y = binary(b, compute::Binary::Add, y, b.placeholder("bias", {filters, 1, 1}, DType::F32));
    return finish(std::move(b), unary(b, compute::Unary::Relu, y));
}

compute::DagPtr maxPool()
{
    DagBuilder b;
    compute::Pool2dParams p;
    p.kernel = {3, 3};
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    const Tensor y = pool2d(b, b.placeholder("data", {1, 6, 13, 13}, DType::F32), compute::PoolKind::Max, p);
    return finish(std::move(b), y);
}

compute::DagPtr dagNamed(const QString& name)
{
    if (name == "matmul")
        return schedule::test::matmul(32, 48, 16);
    if (name == "matmul of primes")
        return schedule::test::matmul(7, 13, 11);
    if (name == "convolution")
        return convolution(8, 8, 16);
    if (name == "convolution of odd sizes")
        return convolution(3, 7, 5);
    if (name == "winograd") {
        DagBuilder b;
        compute::Conv2dParams p;
        p.padding = {1, 1, 1, 1};
        const Tensor data = b.placeholder("data", {1, 4, 9, 9}, DType::F32);
        const Tensor y = conv2dWinograd(b, data, b.placeholder("kernel", {6, 6, 4, 8}, DType::F32), 4, p,
                                        NameEra::Flat);
        return finish(std::move(b), unary(b, compute::Unary::Relu, y));
    }
    if (name == "depthwise") {
        DagBuilder b;
        compute::Conv2dParams p;
        p.padding = {1, 1, 1, 1};
        const Tensor data = b.placeholder("data", {1, 8, 7, 7}, DType::F32);
        return finish(std::move(b),
                      depthwiseConv2d(b, data, b.placeholder("kernel", {8, 1, 3, 3}, DType::F32), p, NameEra::Flat));
    }
    if (name == "softmax" || name == "long softmax") {
        DagBuilder b;
        const Tensor data = b.placeholder("data", {name == "softmax" ? 7 : 2, name == "softmax" ? 33 : 1000},
                                          DType::F32);
        return finish(std::move(b), softmax(b, data, 1));
    }
    if (name == "shifted") { // rows that begin anywhere
        DagBuilder b;
        const Tensor data = b.placeholder("data", {8, 35}, DType::F32);
        return finish(std::move(b), b.compute("y", {8, 32}, {}, "", [&](const std::vector<ir::Expr>& i) {
            return ir::max(b.at(data, {i[0], i[1] + ir::Expr(1)}), ir::floatImm(0.25))
                   * b.at(data, {i[0], ir::Expr(2)});
        }));
    }
    if (name == "position" || name == "long position") {
        DagBuilder b;
        const bool isLong = name == "long position";
        const Tensor data = b.placeholder("data", {isLong ? 2 : 7, isLong ? 1000 : 33}, DType::F32);
        return finish(std::move(b), argReduction(b, true, data, 1, false));
    }
    if (name == "convolution NHWC")
        return schedule::test::convBiasRelu(9, 7, 4, 8, 3, 2, 1);
    return maxPool();
}

schedule::LowerOptions launches()
{
    schedule::LowerOptions options;
    options.form = schedule::KernelForm::Launches;
    return options;
}

/// Up to `count` schedules of each of the reference's sketches.
std::vector<schedule::State> drawn(const QString& dag, const QString& target, int count)
{
    const Target parsed = *Target::parse(target.toStdString());
    const Hardware hardware = defaultHardware(parsed);
    SketchRuleContext context = SketchRuleContext::of(parsed, hardware);
    context.warpSize = 1; // small shapes have few threads
    const auto sketches = test::must(generateReferenceSketches(dagNamed(dag), parsed, hardware));
    std::vector<schedule::State> states;
    for (std::size_t s = 0; s < sketches.size(); ++s) {
        const ReferenceSketch sketch("s", "direct", sketches[s], context);
        Random random(7 + s);
        int left = count;
        for (int draw = 0; draw < 1000 + 200 * count && left > 0; ++draw) {
            Genome genome;
            if (auto state = sketch.sample(random, genome)) { // many have more threads than the limits allow
                states.push_back(*std::move(state));
                --left;
            }
        }
    }
    return states;
}

} // namespace

/// The reference's schedules for GPUs as launches, in the interpreter of blocks and threads, beside the DAG.
class TestLaunches : public QObject
{
    Q_OBJECT

private slots:
    /// The same kernels as OpenCL C, on whatever OpenCL device there is: PoCL on a machine without a GPU.
    void printedSourceComputesWhatTheDagSays_data()
    {
        QTest::addColumn<QString>("dag");
        QTest::addColumn<QString>("target");
        // PoCL takes a second for each kernel.
        for (const char* const dag : {"matmul", "convolution of odd sizes", "winograd", "long softmax"})
            QTest::addRow("%s, cuda", dag) << dag << "cuda";
        QTest::newRow("convolution, mali") << "convolution"
                                           << "opencl -device=mali";
    }
    void printedSourceComputesWhatTheDagSays()
    {
        QFETCH(QString, dag);
        QFETCH(QString, target);
        test::OpenClRun device;
        if (!device.isThere())
            QSKIP("There is no OpenCL device; pocl-opencl-icd has one that runs on the processor.");
        const std::vector<schedule::State> states = drawn(dag, target, 1);
        QVERIFY(!states.empty());
        for (const schedule::State& state : states) {
            std::string text;
            const std::string wrong = schedule::test::checkKernel(
                state, 1, launches(), [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters) {
                    const auto source = backend::printOpenCl(nest, "kernel");
                    if (!source)
                        return source.error().message;
                    text = source->text;
                    return device.run(*source, nest, parameters);
                });
            QVERIFY2(wrong.empty(), (wrong + "\n" + text).c_str());
        }
    }

    /// As for a large tensor, with vectors and tiles, and as it is.
    void defaultsComputeWhatTheDagSays_data()
    {
        QTest::addColumn<QString>("dag");
        for (const char* const dag :
             {"matmul", "matmul of primes", "convolution", "convolution of odd sizes", "convolution NHWC", "max pool",
              "winograd", "depthwise", "softmax", "long softmax", "position", "long position", "shifted"})
            QTest::addRow("%s", dag) << dag;
    }
    void defaultsComputeWhatTheDagSays()
    {
        QFETCH(QString, dag);
        test::OpenClRun device;
        for (const bool isLarge : {false, true}) {
            schedule::LaunchScheduleOptions options;
            options.wantedThreads = isLarge ? 1 : options.wantedThreads;
            options.constantInputs = {false, true};
            schedule::LowerOptions lowering = launches();
            lowering.constantInputs = options.constantInputs;
            const schedule::State state = test::must(schedule::planDefaultLaunches(dagNamed(dag), options));
            const std::string wrong = schedule::test::checkKernel(state, 1, lowering);
            QVERIFY2(wrong.empty(), wrong.c_str());
            // What threads hand over when they share a long sum.
            const ir::LoopNest nest = test::must(schedule::lower(state, lowering)).nest;
            QVERIFY(!dag.contains("long") || ir::print(nest).find(" barrier\n") != std::string::npos);
            // Neighbours are loaded and stored at once, and added up in vectors.
            const std::string text = test::must(backend::printOpenCl(nest, "kernel")).text;
            const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
            if (isLarge && (dag == "matmul" || dag == "convolution NHWC")) {
                QVERIFY2(has("float4*)(") && has("    float4 "), text.c_str());
                QVERIFY2(!has("    float C") && !has("    float conv"), text.c_str());
            }
            if (isLarge && dag == "shifted")
                QVERIFY2(has("vload4(0, data + ") && has("*(__global float4*)(y"), text.c_str());
            if (!device.isThere() || (dag != "convolution NHWC" && dag != "long position" && dag != "shifted"))
                continue;
            const std::string printed = schedule::test::checkKernel(
                state, 1, lowering, [&](const ir::LoopNest& lowered, std::span<const std::span<std::byte>> parameters) {
                    const auto source = backend::printOpenCl(lowered, "kernel");
                    return source ? device.run(*source, lowered, parameters) : source.error().message;
                });
            QVERIFY2(printed.empty(), printed.c_str());
        }
    }

    /// What is known before a kernel is built: threads and shared bytes as the text declares them, and more registers
    /// where a thread holds more.
    void resourcesAreThoseOfTheText()
    {
        for (const schedule::State& state : drawn("matmul", "cuda", 4)) {
            const ir::LoopNest nest = test::must(schedule::lower(state, launches())).nest;
            const backend::KernelSource source = test::must(backend::printOpenCl(nest, "kernel"));
            const auto resources = schedule::resourcesOf(nest);
            QCOMPARE(resources.size(), source.launches.size());
            std::int64_t tile = 0; // of a thread
            for (const ir::Buffer& buffer : nest.buffers)
                tile += buffer.scope == ir::Scope::Register ? ir::elementCount(buffer) : 0;
            for (std::size_t i = 0; i < resources.size(); ++i) {
                const schedule::LaunchResources& of = resources[i];
                QCOMPARE(of.threads, of.block[0] * of.block[1] * of.block[2]);
                QCOMPARE(of.block, source.launches[i].block);
                QCOMPARE(of.grid, source.launches[i].grid);
                QCOMPARE(of.sharedBytes, source.launches[i].sharedBytes);
                QVERIFY(of.localBytes == 0 && of.registers > tile);
            }
            std::int64_t declared = 0;
            static const QRegularExpression kShared("__local float \\w+\\[(\\d+)\\]");
            for (auto found = kShared.globalMatch(source.text.c_str()); found.hasNext();)
                declared += 4 * found.next().captured(1).toLongLong();
            QCOMPARE(resources[0].sharedBytes, declared);
        }
        const auto registersOf = [](std::int64_t wantedThreads) {
            schedule::LaunchScheduleOptions options;
            options.wantedThreads = wantedThreads;
            const auto state = test::must(schedule::planDefaultLaunches(dagNamed("convolution NHWC"), options));
            return schedule::resourcesOf(test::must(schedule::lower(state, launches())).nest)[0].registers;
        };
        QVERIFY2(registersOf(1) > registersOf(16384) + 8,
                 qPrintable(QString("%1 and %2").arg(registersOf(1)).arg(registersOf(16384))));
    }

    void sketchesComputeWhatTheDagSays_data()
    {
        QTest::addColumn<QString>("dag");
        QTest::addColumn<QString>("target");
        for (const char* const target : {"cuda", "opencl -device=mali"})
            for (const char* const dag :
                 {"matmul", "matmul of primes", "convolution", "convolution of odd sizes", "convolution NHWC",
                  "max pool", "winograd", "depthwise", "softmax", "long softmax"})
                QTest::addRow("%s, %s", dag, target) << dag << target;
    }
    void sketchesComputeWhatTheDagSays()
    {
        QFETCH(QString, dag);
        QFETCH(QString, target);
        const std::vector<schedule::State> states = drawn(dag, target, kKernels);
        QVERIFY(states.size() >= std::size_t{kKernels});
        int barriers = 0;
        std::size_t inMemory = 0; // arrays of one thread that are no registers
        for (const schedule::State& state : states) {
            const std::string wrong = schedule::test::checkKernel(state, 1, launches());
            QVERIFY2(wrong.empty(), wrong.c_str());
            const ir::LoopNest nest = test::must(schedule::lower(state, launches())).nest;
            for (const ir::Buffer& buffer : nest.buffers)
                inMemory += buffer.scope == ir::Scope::Local ? 1 : 0;
            const std::string text = ir::print(nest);
            barriers += text.find(" barrier\n") != std::string::npos ? 1 : 0;
        }
        QVERIFY2(inMemory == 0 || !dag.startsWith("matmul"), QByteArray::number(qsizetype(inMemory)));
        // What the reference caches in shared memory, and sums across threads.
        QCOMPARE(barriers > 0, target == "cuda" && dag != "max pool");
    }
};

LATHE_TEST(TestLaunches)

} // namespace tst_launches

#include "tst_launches.moc"
