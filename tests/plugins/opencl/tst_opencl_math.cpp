#include "tests/plugins/opencl/nest_run.h"
#include "tests/support/math_points.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fmt/format.h>

#include <algorithm>

namespace tst_opencl_math {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr std::int64_t kCount = 32768, kThreads = 64, kLanes = 4;
constexpr std::size_t kFunctions = std::size(kMathFunctions);
constexpr std::size_t kPower = kFunctions, kRemainder = kPower + 1, kQuotient = kPower + 2, kAll = kPower + 3;

/// What the language allows where it is more than the table of values; in the order of kMathFunctions, then the other
/// three. Sigmoid and tanh, and erf of f32, are ours: by exp and a quotient.
struct Bounds
{
    double of32, of64;
};
constexpr Bounds kLanguage[kAll] = {
    {3, 3}, // exp
    {3, 3}, // exp2
    {3, 3}, // expm1
    {3, 3}, // log
    {2, 2}, // log1p
    {3, 3}, // log2
    {5, 5}, // tanh
    {6, 6}, // sigmoid
    {8, 16}, // erf
    {4, 4}, // sin
    {4, 4}, // cos
    {5, 5}, // tan
    {5, 5}, // atan
    {3, 0.51}, // sqrt
    {2, 2}, // rsqrt
    {16, 16}, // pow
    {0, 0}, // fmod
    {2.5, 0.51}, // x / y
};
constexpr Bounds kTable[] = {{1, 2}, {0, 0}, {0.51, 0.51}}; ///< of the last three

const char* nameOf(std::size_t function)
{
    constexpr const char* kOfTwo[] = {"pow", "fmod", "x / y"};
    return function < kFunctions ? kMathFunctions[function].name : kOfTwo[function - kFunctions];
}

constexpr std::int64_t kResults = static_cast<std::int64_t>(kAll) * 2 * kCount;
std::int64_t place(std::size_t function, bool isVector)
{
    return (static_cast<std::int64_t>(function) * 2 + (isVector ? 0 : 1)) * kCount;
}

template<typename T>
long double exactly(std::size_t function, T x, T y)
{
    if (function < kFunctions)
        return kMathFunctions[function].exact(x);
    if (function == kRemainder)
        return std::fmod(x, y);
    const auto a = static_cast<long double>(x), b = static_cast<long double>(y);
    return function == kPower ? std::pow(a, b) : a / b;
}

template<typename T>
constexpr DType kType = sizeof(T) == 4 ? DType::F32 : DType::F64;

/// All functions of kCount numbers: out[function][form][number], the forms being vectors and single numbers. One
/// kernel, since it is the compiler that takes the time.
template<typename T>
NestRun allFunctions(serve::Device& device)
{
    const auto body = [](const ir::Expr& thread) {
        std::vector<ir::Stmt> statements;
        for (std::size_t f = 0; f < kAll; ++f)
            for (const bool isVector : {true, false}) {
                const ir::Expr lane = ir::var("lane"), at = thread * ir::intImm(kLanes) + lane;
                const ir::Expr x = ir::load(0, kType<T>, {at}), y = ir::load(1, kType<T>, {at});
                const ir::Expr value = f < kFunctions   ? ir::call(nameOf(f), kType<T>, {x})
                                       : f == kQuotient ? ir::div(x, y)
                                                        : ir::call(nameOf(f), kType<T>, {x, y});
                statements.push_back(ir::makeFor(lane, ir::intImm(0), ir::intImm(kLanes),
                                                 isVector ? ir::LoopKind::Vectorized : ir::LoopKind::Serial,
                                                 ir::makeStore(2, {at + ir::intImm(place(f, isVector))}, value)));
            }
        return ir::makeBlock(statements);
    };
    return NestRun(device,
                   {NestRun::buffer("x", kType<T>, kCount, true), NestRun::buffer("y", kType<T>, kCount, true),
                    NestRun::buffer("out", kType<T>, kResults, false)},
                   kCount / (kThreads * kLanes), kThreads, body);
}

} // namespace

/// The errors of functions on an OpenCL device, over all numbers, against long double: plugins/opencl/README.md.
class TestOpenClMath : public QObject
{
    Q_OBJECT

    std::shared_ptr<serve::Device> m_device;
    bool m_isPocl = false;

    template<typename T>
    void measure()
    {
        NestRun functions = allFunctions<T>(*m_device);
        std::vector<T> results(static_cast<std::size_t>(kResults));
        std::mt19937_64 random(23);
        double worst[kAll][2] = {};
        T at[kAll][2] = {};
        const auto note = [&](std::size_t f, bool isVector, double error, T x) {
            if (error > worst[f][isVector ? 0 : 1]) {
                worst[f][isVector ? 0 : 1] = error;
                at[f][isVector ? 0 : 1] = x;
            }
        };
        for (std::int64_t done = 0; done < mathPoints(); done += kCount) {
            std::vector<T> x, y;
            drawPowers(random, x, y, static_cast<std::size_t>(kCount));
            if (const auto ran = functions.run({bytesOf(x), bytesOf(y), bytesOf(results)}); !ran)
                QSKIP(ran.error().message.c_str()); // no doubles
            for (std::size_t i = 0; i < x.size(); ++i)
                for (std::size_t f = 0; f < kAll; ++f) {
                    const long double want = exactly(f, x[i], y[i]);
                    for (const bool isVector : {true, false})
                        note(f, isVector, ulps<T>(results[static_cast<std::size_t>(place(f, isVector)) + i], want),
                             x[i]);
                }
        }
        for (std::size_t f = 0; f < kAll; ++f)
            for (const bool isVector : {true, false}) {
                const double error = worst[f][isVector ? 0 : 1];
                const std::string text = fmt::format("{} of {}float{}: {:.3f} units, at {}", nameOf(f),
                                                     isVector ? "vectors of " : "", sizeof(T) * 8, error,
                                                     at[f][isVector ? 0 : 1]);
                if (mathPoints() > 1'000'000)
                    qInfo("%s", text.c_str());
                QVERIFY2(error <= bound(f, sizeof(T) == 4), text.c_str());
            }
    }

    /// Of PoCL, the table's; of others, the language's where that is more.
    double bound(std::size_t function, bool isSingle) const
    {
        const Bounds table = function < kFunctions
                                 ? Bounds{kMathFunctions[function].bound32, kMathFunctions[function].bound64}
                                 : kTable[function - kFunctions];
        const double ours = isSingle ? table.of32 : table.of64;
        return m_isPocl ? ours : std::max(ours, isSingle ? kLanguage[function].of32 : kLanguage[function].of64);
    }

private slots:
    void initTestCase()
    {
        auto device = openDevice();
        if (!device)
            QSKIP(device.error().message.c_str());
        m_device = *std::move(device);
        m_isPocl = m_device->description().find("Portable Computing Language") != std::string::npos;
    }

    void functionsOfFloats() { measure<float>(); }
    void functionsOfDoubles() { measure<double>(); }
};

LATHE_TEST(TestOpenClMath)

} // namespace tst_opencl_math

#include "tst_opencl_math.moc"
