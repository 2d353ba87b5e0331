#include "core/backend/c_source.h"
#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/winograd.h"
#include "core/ir/scalar.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/launch_resources.h"
#include "core/search/reference/annotate.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/support/must.h"
#include "tests/support/opencl_run.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <array>
#include <limits>
#include <span>
#include <tuple>

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
    options.form = KernelForm::Launches;
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

schedule::State replayed(const compute::DagPtr& dag, const std::vector<schedule::Step>& steps)
{
    return test::must(schedule::State::replay(dag, steps));
}

ir::LoopNest loweredNest(const schedule::State& state)
{
    return test::must(schedule::lower(state, launches())).nest;
}

// ---- integer division

/// Numbers whose quotients need care, and a few plain ones.
template<typename T>
constexpr std::array<std::pair<T, T>, 8> kQuotients = {{{std::numeric_limits<T>::min(), static_cast<T>(-1)},
                                                        {std::numeric_limits<T>::min(), 0},
                                                        {std::numeric_limits<T>::max(), 0},
                                                        {static_cast<T>(-7), 2},
                                                        {7, static_cast<T>(-2)},
                                                        {static_cast<T>(-7), static_cast<T>(-1)},
                                                        {0, 0},
                                                        {7, 2}}};

/// By the table of core/compute/README.md: a divisor of zero counts as 1, the lowest number by -1 wraps around.
template<typename T>
std::pair<T, T> quotientAndRest(T a, T b)
{
    if (b == 0)
        return {a, 0};
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return {static_cast<T>(0 - static_cast<std::uint64_t>(a)), 0};
    const T rest = static_cast<T>(a % b);
    const bool isDown = rest != 0 && (rest < 0) != (b < 0);
    return {static_cast<T>(a / b - (isDown ? 1 : 0)), static_cast<T>(isDown ? rest + b : rest)};
}

/// Dividends, divisors and what [quotients, rests] are to be.
template<typename T>
std::array<std::vector<std::byte>, 3> hostileQuotients()
{
    constexpr std::size_t kCount = kQuotients<T>.size();
    std::array<T, kCount> a, b;
    std::array<T, 2 * kCount> expected;
    for (std::size_t i = 0; i < kCount; ++i) {
        std::tie(a[i], b[i]) = kQuotients<T>[i];
        std::tie(expected[i], expected[kCount + i]) = quotientAndRest(a[i], b[i]);
    }
    const auto bytes = [](const auto& values) {
        const auto span = std::as_bytes(std::span(values));
        return std::vector<std::byte>(span.begin(), span.end());
    };
    return {bytes(a), bytes(b), bytes(expected)};
}

std::array<std::vector<std::byte>, 3> hostileQuotients(DType dtype)
{
    switch (dtype) {
    case DType::I8: return hostileQuotients<std::int8_t>();
    case DType::I32: return hostileQuotients<std::int32_t>();
    case DType::I64: return hostileQuotients<std::int64_t>();
    case DType::U8: return hostileQuotients<std::uint8_t>();
    default: return hostileQuotients<std::uint32_t>();
    }
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
                    const auto source = backend::printOpenCl(nest);
                    if (!source)
                        return source.error().message;
                    text = source->text();
                    return device.run(*source, nest, parameters);
                });
            QVERIFY2(wrong.empty(), (wrong + "\n" + text).c_str());
        }
    }

    /// A device may stop at these, or give anything, and the compiler may take it that they never come.
    void printedDivisionsAreThoseOfTheTable_data()
    {
        QTest::addColumn<int>("type");
        for (const DType dtype : {DType::I8, DType::I32, DType::I64, DType::U8, DType::U32})
            QTest::newRow(toString(dtype)) << static_cast<int>(dtype);
    }
    void printedDivisionsAreThoseOfTheTable()
    {
        QFETCH(int, type);
        test::OpenClRun device;
        if (!device.isThere())
            QSKIP("There is no OpenCL device; pocl-opencl-icd has one that runs on the processor.");
        const auto dtype = static_cast<DType>(type);
        std::array<std::vector<std::byte>, 3> values = hostileQuotients(dtype);
        const std::int64_t count = static_cast<std::int64_t>(values[0].size()) / sizeOf(dtype);
        DagBuilder b;
        const Tensor x = b.placeholder("x", {count}, dtype), y = b.placeholder("y", {count}, dtype);
        const compute::DagPtr dag = finish(
            std::move(b), b.compute("z", {2, count}, {}, "", [&](const std::vector<ir::Expr>& i) {
                const ir::Expr one = b.at(x, {i[1]}), other = b.at(y, {i[1]});
                return ir::select(ir::eq(i[0], ir::Expr(0)), ir::floorDiv(one, other), ir::floorMod(one, other));
            }));
        const ir::LoopNest nest = loweredNest(test::must(schedule::planDefaultLaunches(dag, {})));
        const backend::KernelSource source = test::must(backend::printOpenCl(nest));
        QVERIFY2(source.text().find("b == 0") != std::string::npos, source.text().c_str()); // some devices do no harm
        std::vector<std::byte> result(values[2].size());
        const std::array<std::span<std::byte>, 3> parameters = {values[0], values[1], result};
        const std::string wrong = device.run(source, nest, parameters);
        QVERIFY2(wrong.empty(), wrong.c_str());
        for (std::int64_t i = 0; i < 2 * count; ++i) {
            const auto value = [&](const std::vector<std::byte>& bytes) {
                return ir::loadScalar(bytes.data() + i * sizeOf(dtype), dtype).i;
            };
            QVERIFY2(value(result) == value(values[2]), qPrintable(QString("element %1 is %2 instead of %3\n%4")
                                                                       .arg(i)
                                                                       .arg(value(result))
                                                                       .arg(value(values[2]))
                                                                       .arg(source.text().c_str())));
        }
    }

    /// Tensors are called as their network says, which may be what a text calls otherwise.
    void namesOfTheTextAreNoNamesOfTensors()
    {
        const std::vector<const char*> names = {"float4", "rint", "fabs", "vload4", "isnan", "max_float"};
        DagBuilder b;
        std::vector<Tensor> inputs;
        for (const char* const name : names)
            inputs.push_back(b.placeholder(name, {8, 33}, DType::F32));
        const compute::DagPtr dag = finish(
            std::move(b), b.compute("lanes", {8, 32}, {}, "", [&](const std::vector<ir::Expr>& i) {
                ir::Expr sum = ir::call("round", DType::F32, {b.at(inputs[0], {i[0], i[1] + ir::Expr(1)})});
                for (const Tensor& input : inputs)
                    sum = sum + ir::max(ir::call("fabs", DType::F32, {b.at(input, {i[0], i[1]})}), ir::floatImm(0.25));
                return sum;
            }));
        const auto stage = static_cast<std::int32_t>(names.size());
        // Lanes along rows lie next to each other; along columns they are stored one by one.
        const std::vector<schedule::Step> rows = {schedule::SplitStep{stage, 1, 32, {4}, true},
                                                  schedule::AnnotateStep{stage, 0, schedule::Annotation::BlockX},
                                                  schedule::AnnotateStep{stage, 1, schedule::Annotation::ThreadX},
                                                  schedule::AnnotateStep{stage, 2, schedule::Annotation::Vectorize}};
        const std::vector<schedule::Step> columns = {schedule::SplitStep{stage, 0, 8, {4}, true},
                                                     schedule::ReorderStep{stage, {0, 2, 1}},
                                                     schedule::AnnotateStep{stage, 0, schedule::Annotation::BlockX},
                                                     schedule::AnnotateStep{stage, 1, schedule::Annotation::ThreadX},
                                                     schedule::AnnotateStep{stage, 2, schedule::Annotation::Vectorize}};
        test::OpenClRun device;
        if (!device.isThere())
            QSKIP("There is no OpenCL device; pocl-opencl-icd has one that runs on the processor.");
        for (const bool isByColumn : {false, true}) {
            std::string text;
            const std::string wrong = schedule::test::checkKernel(
                replayed(dag, isByColumn ? columns : rows), 1, launches(),
                [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters) {
                    const auto source = backend::printOpenCl(nest);
                    text = source ? source->text() : source.error().message;
                    return source ? device.run(*source, nest, parameters) : text;
                });
            QVERIFY2(wrong.empty(), (wrong + "\n" + text).c_str());
            QCOMPARE(text.find(".s3;") != std::string::npos, isByColumn);
            QVERIFY2(text.find("(float4)(") != std::string::npos, text.c_str());
        }
    }

    /// What is read as a vector begins where vectors may.
    void arraysOfAThreadAreAligned()
    {
        DagBuilder b;
        const Tensor x = b.placeholder("x", {64, 2048}, DType::F32);
        const Tensor a = b.compute("a", {64, 2048}, {}, "",
                                   [&](const std::vector<ir::Expr>& i) { return b.at(x, i) + ir::floatImm(1); });
        const compute::DagPtr dag = finish(
            std::move(b), b.compute("y", {64, 2048}, {}, "",
                                    [&](const std::vector<ir::Expr>& i) { return b.at(a, i) * ir::floatImm(2); }));
        const schedule::State state = replayed(dag, {schedule::SplitStep{2, 1, 2048, {4}, true},
                                                     schedule::AnnotateStep{2, 0, schedule::Annotation::ThreadX},
                                                     schedule::AnnotateStep{2, 2, schedule::Annotation::Vectorize},
                                                     schedule::ComputeAtStep{1, 2, 0}});
        const std::string text = test::must(backend::printOpenCl(loweredNest(state))).text();
        QVERIFY2(text.find("float4*)(a + ") != std::string::npos, text.c_str());
        QVERIFY2(text.find("    float a[2048] __attribute__((aligned(16)));") != std::string::npos, text.c_str());
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
            const std::string text = test::must(backend::printOpenCl(nest)).text();
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
                    const auto source = backend::printOpenCl(lowered);
                    return source ? device.run(*source, lowered, parameters) : source.error().message;
                });
            QVERIFY2(printed.empty(), printed.c_str());
        }
    }

    /// What is known before a kernel is built: threads and shared bytes as the text declares them, and more registers
    /// where a thread holds more.
    void resourcesAreThoseOfTheText()
    {
        const std::vector<schedule::State> states = drawn("matmul", "cuda", 4);
        QVERIFY(states.size() >= 4);
        for (const schedule::State& state : states) {
            const ir::LoopNest nest = loweredNest(state);
            const QString text = test::must(backend::printOpenCl(nest)).text().c_str();
            const QStringList kernels = text.split("__kernel").mid(1);
            const auto resources = schedule::resourcesOf(nest, Hardware());
            QCOMPARE(static_cast<qsizetype>(resources.size()), kernels.size());
            std::int64_t tile = 0; // of a thread
            for (const ir::Buffer& buffer : nest.buffers)
                tile += buffer.scope == ir::Scope::Register ? ir::elementCount(buffer) : 0;
            for (std::size_t i = 0; i < resources.size(); ++i) {
                const schedule::LaunchResources& of = resources[i];
                const QString& kernel = kernels[static_cast<qsizetype>(i)];
                static const QRegularExpression kBlock("reqd_work_group_size\\((\\d+), (\\d+), (\\d+)\\)");
                static const QRegularExpression kShared("__local float \\w+\\[(\\d+)\\]");
                const QRegularExpressionMatch block = kBlock.match(kernel);
                std::int64_t threads = 1, shared = 0;
                for (int d = 0; d < 3; ++d) {
                    QCOMPARE(of.block[static_cast<std::size_t>(d)], block.captured(d + 1).toLongLong());
                    threads *= block.captured(d + 1).toLongLong();
                }
                for (auto found = kShared.globalMatch(kernel); found.hasNext();)
                    shared += 4 * found.next().captured(1).toLongLong();
                QCOMPARE(of.threads, threads);
                QCOMPARE(of.sharedBytes, shared);
                QVERIFY(of.localBytes == 0 && of.registers > tile);
            }
            QVERIFY(resources[0].sharedBytes > 0);
        }
        const auto registersOf = [](std::int64_t wantedThreads) {
            schedule::LaunchScheduleOptions options;
            options.wantedThreads = wantedThreads;
            const auto state = test::must(schedule::planDefaultLaunches(dagNamed("convolution NHWC"), options));
            return schedule::resourcesOf(test::must(schedule::lower(state, launches())).nest, Hardware())[0].registers;
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
