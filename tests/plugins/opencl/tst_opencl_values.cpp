#include "core/ir/scalar.h"
#include "tests/plugins/opencl/nest_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace tst_opencl_values {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

/// All pairs of values at the ends of a type and around zero.
template<typename T>
void fillPairs(std::vector<T>& a, std::vector<T>& b)
{
    using L = std::numeric_limits<T>;
    const T values[] = {L::min(),
                        static_cast<T>(L::min() + 1),
                        static_cast<T>(-7),
                        static_cast<T>(-2),
                        static_cast<T>(-1),
                        0,
                        1,
                        2,
                        7,
                        static_cast<T>(L::max() - 1),
                        L::max()};
    for (const T x : values)
        for (const T y : values) {
            a.push_back(x);
            b.push_back(y);
        }
}

template<typename T>
constexpr DType dtypeOf()
{
    if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? DType::F32 : DType::F64;
    constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
    constexpr DType kUnsigned[] = {DType::U8, DType::U16, DType::U32, DType::U64};
    constexpr std::size_t kSize = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kSize] : kUnsigned[kSize];
}

} // namespace

/// The table of values (core/compute/README.md) in printed kernels, row by row, where what is printed is not what the
/// language has: on whatever OpenCL device is here. tests/values does so with networks.
class TestOpenClValues : public QObject
{
    Q_OBJECT

    std::shared_ptr<serve::Device> m_device;

    /// Divided, their rest, a power and wrapped sums of all pairs, in one kernel.
    template<typename T>
    void compareIntegers()
    {
        std::vector<T> a, b;
        fillPairs(a, b);
        const auto count = static_cast<std::int64_t>(a.size());
        using Make = ir::Expr (*)(const ir::Expr&, const ir::Expr&);
        constexpr Make kOperations[] = {
            [](const ir::Expr& x, const ir::Expr& y) { return ir::floorDiv(x, y); },
            [](const ir::Expr& x, const ir::Expr& y) { return ir::floorMod(x, y); },
            [](const ir::Expr& x, const ir::Expr& y) {
                return ir::call("pow", x->dtype, {x, y});
            },
            [](const ir::Expr& x, const ir::Expr& y) { return x - y * x; },
            [](const ir::Expr& x, const ir::Expr& y) { return ir::max(x, y); },
            [](const ir::Expr& x, const ir::Expr&) { return ir::call("abs", x->dtype, {x}); }};
        constexpr std::size_t kCount = std::size(kOperations);
        const char* const names[kCount] = {"floorDiv", "floorMod", "pow", "x - y x", "max", "abs"};
        const DType type = dtypeOf<T>();
        const auto results = static_cast<std::int64_t>(kCount) * count;
        NestRun nest(*m_device,
                     {NestRun::buffer("a", type, count, true), NestRun::buffer("b", type, count, true),
                      NestRun::buffer("out", type, results, false)},
                     1, count, [&](const ir::Expr& thread) {
                         std::vector<ir::Stmt> body;
                         for (std::size_t o = 0; o < kCount; ++o)
                             body.push_back(ir::makeStore(
                                 2, {thread + ir::intImm(static_cast<std::int64_t>(o) * count)},
                                 kOperations[o](ir::load(0, type, {thread}), ir::load(1, type, {thread}))));
                         return ir::makeBlock(body);
                     });
        std::vector<T> got(static_cast<std::size_t>(results));
        must(nest.run({bytesOf(a), bytesOf(b), bytesOf(got)}));
        for (std::size_t i = 0; i < a.size(); ++i) {
            using U = std::uint64_t;
            const T x = a[i], y = b[i];
            const T divisor = y == 0 ? T{1} : y;
            const bool isMinusOne = std::is_signed_v<T> && divisor == static_cast<T>(-1);
            T quotient = isMinusOne ? static_cast<T>(U{0} - static_cast<U>(x)) : static_cast<T>(x / divisor);
            T rest = isMinusOne ? T{0} : static_cast<T>(x % divisor);
            if (rest != 0 && (rest < 0) != (divisor < 0)) {
                --quotient;
                rest = static_cast<T>(rest + divisor);
            }
            const T wanted[kCount] = {
                quotient,
                rest,
                static_cast<T>(ir::power(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), type)),
                static_cast<T>(static_cast<U>(x) - static_cast<U>(y) * static_cast<U>(x)),
                std::max(x, y),
                x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x};
            for (std::size_t o = 0; o < kCount; ++o)
                QVERIFY2(got[o * a.size() + i] == wanted[o], fmt::format("{} of {} and {} in {} is {}", names[o], x, y,
                                                                         toString(type), got[o * a.size() + i])
                                                                 .c_str());
        }
    }

    /// From F to each integer type.
    template<typename F>
    void compareCasts()
    {
        std::vector<F> x = {0,     static_cast<F>(-0.0), static_cast<F>(0.9),  static_cast<F>(-0.9), F{1},
                            F{-1}, static_cast<F>(kNan), static_cast<F>(kInf), -static_cast<F>(kInf)};
        for (int bits = 6; bits <= 65; ++bits) // around the ends of all types
            for (const double near : {-1.5, -1.0, 0.0, 1.0, 1.5})
                for (const double sign : {1.0, -1.0})
                    x.push_back(static_cast<F>(sign * (std::ldexp(1.0, bits) + near)));
        constexpr std::int64_t kThreads = 64; // drivers of processors make vectors of them
        x.resize((x.size() + kThreads - 1) / kThreads * kThreads);
        constexpr DType kTypes[] = {DType::I8,  DType::U8,  DType::I16, DType::U16, DType::I32,
                                    DType::U32, DType::I64, DType::U64, DType::Bool};
        const auto count = static_cast<std::int64_t>(x.size());
        std::vector<ir::Buffer> buffers = {NestRun::buffer("x", dtypeOf<F>(), count, true)};
        std::vector<std::vector<std::byte>> got;
        for (const DType type : kTypes) {
            buffers.push_back(NestRun::buffer(toString(type), type, count, false));
            got.emplace_back(x.size() * sizeOf(type));
        }
        NestRun nest(*m_device, buffers, count / kThreads, kThreads, [&](const ir::Expr& thread) {
            std::vector<ir::Stmt> body;
            for (std::size_t t = 0; t < std::size(kTypes); ++t)
                body.push_back(ir::makeStore(static_cast<std::int32_t>(t) + 1, {thread},
                                             ir::cast(kTypes[t], ir::load(0, dtypeOf<F>(), {thread}))));
            return ir::makeBlock(body);
        });
        std::vector<std::span<std::byte>> tensors = {bytesOf(x)};
        tensors.insert(tensors.end(), got.begin(), got.end());
        if (const auto ran = nest.run(tensors); !ran)
            QSKIP(ran.error().message.c_str()); // no doubles
        for (std::size_t t = 0; t < std::size(kTypes); ++t)
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::int64_t is = ir::loadScalar(got[t].data() + i * sizeOf(kTypes[t]), kTypes[t]).i;
                const std::int64_t wanted = ir::convert({static_cast<double>(x[i]), 0}, dtypeOf<F>(), kTypes[t]).i;
                QVERIFY2(is == wanted,
                         fmt::format("{} as {} is {}, not {}", x[i], toString(kTypes[t]), is, wanted).c_str());
            }
    }

private slots:
    void initTestCase()
    {
        auto device = openDevice();
        if (!device)
            QSKIP(device.error().message.c_str());
        m_device = *std::move(device);
    }

    void integersOf8() { compareIntegers<std::int8_t>(); }
    void integersOf16() { compareIntegers<std::uint16_t>(); }
    void integersOf32() { compareIntegers<std::int32_t>(); }
    void integersOf64() { compareIntegers<std::int64_t>(); }
    void integersOf64WithoutASign() { compareIntegers<std::uint64_t>(); }

    void floatsBecomeTheNearestIntegers() { compareCasts<float>(); }
    void doublesBecomeTheNearestIntegers() { compareCasts<double>(); }

    /// Of vectors and of single numbers: minima and maxima keep NaN, products are rounded for themselves.
    void vectorsAreAsSingleNumbers()
    {
        std::vector<float> x, y;
        for (const float a : {0.0F, -0.0F, kNan, kInf, -kInf, 1.5F, -2.0F, 1 + 0x1p-12F})
            for (const float b : {0.0F, -0.0F, kNan, kInf, -kInf, 1.5F, -2.0F, -(1 + 0x1p-11F)}) {
                x.push_back(a);
                y.push_back(b);
            }
        const auto count = static_cast<std::int64_t>(x.size());
        constexpr int kForms = 5;
        NestRun nest(*m_device,
                     {NestRun::buffer("x", DType::F32, count, true), NestRun::buffer("y", DType::F32, count, true),
                      NestRun::buffer("out", DType::F32, 2 * kForms * count, false)},
                     1, count / 4, [&](const ir::Expr& thread) {
                         std::vector<ir::Stmt> body;
                         for (const bool isVector : {true, false}) {
                             const ir::Expr lane = ir::var("lane"), at = thread * ir::intImm(4) + lane;
                             const ir::Expr a = ir::load(0, DType::F32, {at}), b = ir::load(1, DType::F32, {at});
                             const ir::Expr square = ir::call("fma", DType::F32, {a, a, ir::floatImm(-0.0)});
                             std::vector<ir::Stmt> stores;
                             int form = isVector ? 0 : kForms;
                             for (const ir::Expr& value :
                                  {ir::max(a, b), ir::min(a, b), square + b, b - a * a, a * a - (ir::floatImm(0) - b)})
                                 stores.push_back(ir::makeStore(2, {at + ir::intImm(form++ * count)}, value));
                             body.push_back(ir::makeFor(lane, ir::intImm(0), ir::intImm(4),
                                                        isVector ? ir::LoopKind::Vectorized : ir::LoopKind::Serial,
                                                        ir::makeBlock(stores)));
                         }
                         return ir::makeBlock(body);
                     });
        std::vector<float> got(static_cast<std::size_t>(2 * kForms * count));
        must(nest.run({bytesOf(x), bytesOf(y), bytesOf(got)}));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const float a = x[i], b = y[i];
            const volatile float square = a * a;
            const float sum = square + b, difference = b - square;
            const float wanted[] = {std::isnan(a) || a > b ? a : b, std::isnan(a) || a < b ? a : b, sum, difference,
                                    sum};
            for (int form = 0; form < 2 * kForms; ++form) {
                const float is = got[static_cast<std::size_t>(form * count) + i], want = wanted[form % kForms];
                QVERIFY2(is == want || (std::isnan(is) && std::isnan(want)),
                         fmt::format("form {} of {} and {} is {}, not {}", form, a, b, is, want).c_str());
            }
        }
    }

    void constantsAreThoseOfTheirType()
    {
        const double values[] = {static_cast<double>(0.1F), 0.1, 1e300, 0x1p-1074, static_cast<double>(0x1p-149F)};
        constexpr std::int64_t kCount = std::size(values);
        NestRun nest(*m_device,
                     {NestRun::buffer("x", DType::F64, 1, true), NestRun::buffer("out", DType::F64, kCount, false)}, 1,
                     1, [&](const ir::Expr& thread) {
                         std::vector<ir::Stmt> body;
                         for (std::int64_t i = 0; i < kCount; ++i)
                             body.push_back(ir::makeStore(1, {thread + ir::intImm(i)},
                                                          ir::load(0, DType::F64, {thread})
                                                              * ir::floatImm(values[i], DType::F64)));
                         return ir::makeBlock(body);
                     });
        std::vector<double> one = {1}, got(kCount);
        if (const auto ran = nest.run({bytesOf(one), bytesOf(got)}); !ran)
            QSKIP(ran.error().message.c_str()); // no doubles
        QVERIFY(std::equal(got.begin(), got.end(), values));
    }
};

LATHE_TEST(TestOpenClValues)

} // namespace tst_opencl_values

#include "tst_opencl_values.moc"
