#include "math_kernel.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

namespace tst_math_bounds {

using namespace lathe;
using namespace lathe::test;

namespace {

/// 100,000 points of each function; by hand LATHE_MATH_POINTS=10000000 (tests/README.md).
std::int64_t points()
{
    bool given = false;
    const std::int64_t count = qEnvironmentVariable("LATHE_MATH_POINTS").toLongLong(&given);
    return given ? count : 100'000;
}

using Function = long double (*)(long double);

struct Row
{
    const char* name;
    Function exact;
    double bound32, bound64; ///< units of the last place
};

const std::vector<Row> kRows = {
    {"exp", [](long double x) { return std::exp(x); }, 1.1, 1.1},
    {"exp2", [](long double x) { return std::exp2(x); }, 1.1, 1.1},
    {"expm1", [](long double x) { return std::expm1(x); }, 2.5, 2.5},
    {"log", [](long double x) { return std::log(x); }, 1.1, 1.1},
    {"log1p", [](long double x) { return std::log1p(x); }, 2.5, 2.5},
    {"log2", [](long double x) { return std::log2(x); }, 3, 3},
    {"tanh", [](long double x) { return std::tanh(x); }, 2, 2},
    {"sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5, 2.5},
    {"erf", [](long double x) { return std::erf(x); }, 6, 4},
    {"sin", [](long double x) { return std::sin(x); }, 2, 2},
    {"cos", [](long double x) { return std::cos(x); }, 2, 2},
    {"tan", [](long double x) { return std::tan(x); }, 4, 4},
    {"atan", [](long double x) { return std::atan(x); }, 2.5, 2.5},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0.51, 0.51},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
};

/// Numbers of every exponent and sign alike, subnormals among them; half of them where functions bend.
template<typename T>
std::vector<T> drawn(std::mt19937_64& random)
{
    std::vector<T> x(MathKernel<T>::kCount);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint64_t bits = random();
        if constexpr (sizeof(T) == 4) {
            const auto narrow = static_cast<std::uint32_t>(bits);
            std::memcpy(&x[i], &narrow, sizeof(T));
        } else
            std::memcpy(&x[i], &bits, sizeof(T));
        if (i % 2 == 0) // 2^-12 to 2^12
            x[i] = static_cast<T>(
                       std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52, static_cast<int>(bits % 24) - 12))
                   * ((bits & 0x800) != 0 ? T{-1} : T{1});
    }
    return x;
}

template<typename T>
void check(backend::Codegen& codegen, const Row& row, double bound)
{
    MathKernel<T> kernel(codegen, row.name, 1);
    std::mt19937_64 random(23);
    double worst = 0;
    T at = 0;
    for (std::int64_t done = 0; done < points(); done += MathKernel<T>::kCount) {
        const std::vector<T> x = drawn<T>(random), y = kernel.run({x});
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error = ulps<T>(y[i], row.exact(x[i]));
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
    }
    if (points() > 1'000'000)
        qInfo("%s of float%zu: %.3f units, at %.17g", row.name, sizeof(T) * 8, worst, static_cast<double>(at));
    QVERIFY2(worst <= bound, qPrintable(QString("%1 of float%2 is %3 units off at %4")
                                            .arg(row.name)
                                            .arg(sizeof(T) * 8)
                                            .arg(worst)
                                            .arg(static_cast<double>(at), 0, 'g', 17)));
}

} // namespace

/// The bounds that plugins/cpu/codegen/vector_math.h states, over all numbers, against long double.
class TestMathBounds : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }

    void anyNumber_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < kRows.size(); ++i)
            QTest::newRow(kRows[i].name) << static_cast<int>(i);
    }
    void anyNumber()
    {
        QFETCH(int, index);
        const Row& row = kRows[static_cast<std::size_t>(index)];
        check<float>(*m_codegen, row, row.bound32);
        check<double>(*m_codegen, row, row.bound64);
    }

    void remaindersAreExact()
    {
        remainders<float>();
        remainders<double>();
    }

    void powersOfAnyNumbers()
    {
        powers<float>(*m_codegen, 1);
        powers<double>(*m_codegen, 2);
    }
    void powersWithoutFusedMultiplyAdd()
    {
        const auto plain = codegenFor("cpu -mcpu=nehalem");
        QVERIFY(plain);
        powers<double>(*plain, 4);
    }

private:
    template<typename T>
    void powers(backend::Codegen& codegen, double bound)
    {
        MathKernel<T> kernel(codegen, "pow", 2);
        std::mt19937_64 random(29);
        double worst = 0;
        for (std::int64_t done = 0; done < points(); done += MathKernel<T>::kCount) {
            std::vector<T> x = drawn<T>(random), y = drawn<T>(random);
            for (std::size_t i = 1; i < x.size(); i += 2) { // results that are neither 0 nor infinite, of any base
                x[i] = std::abs(x[i]);
                if (std::isfinite(x[i]) && x[i] > 0)
                    y[i] = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * 745
                                          / std::log(static_cast<double>(x[i])));
            }
            const std::vector<T> z = kernel.run({x, y});
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double error = ulps<T>(z[i],
                                             std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i])));
                worst = std::max(worst, error);
                QVERIFY2(error <= bound, qPrintable(QString("%1 ^ %2 = %3, %4 units off")
                                                        .arg(static_cast<double>(x[i]), 0, 'g', 17)
                                                        .arg(static_cast<double>(y[i]), 0, 'g', 17)
                                                        .arg(static_cast<double>(z[i]), 0, 'g', 17)
                                                        .arg(error)));
            }
        }
        if (points() > 1'000'000)
            qInfo("pow of float%zu: %.3f units", sizeof(T) * 8, worst);
    }
    template<typename T>
    void remainders()
    {
        MathKernel<T> kernel(*m_codegen, "fmod", 2);
        std::mt19937_64 random(31);
        for (std::int64_t done = 0; done < points(); done += MathKernel<T>::kCount) {
            std::vector<T> x = drawn<T>(random), y = drawn<T>(random);
            x[0] = std::ldexp(T{1}, std::numeric_limits<T>::max_exponent - 1); // by the smallest: the largest quotient
            y[0] = 5 * std::numeric_limits<T>::denorm_min();
            const std::vector<T> z = kernel.run({x, y});
            for (std::size_t i = 0; i < x.size(); ++i) {
                const T want = std::fmod(x[i], y[i]);
                QVERIFY2(z[i] == want || (std::isnan(z[i]) && std::isnan(want)),
                         qPrintable(QString("the rest of %1 by %2 is %3, not %4")
                                        .arg(static_cast<double>(x[i]), 0, 'g', 17)
                                        .arg(static_cast<double>(y[i]), 0, 'g', 17)
                                        .arg(static_cast<double>(z[i]), 0, 'g', 17)
                                        .arg(static_cast<double>(want), 0, 'g', 17)));
            }
        }
    }

    std::unique_ptr<backend::Codegen> m_codegen;
};

LATHE_TEST(TestMathBounds)

} // namespace tst_math_bounds

#include "tst_math_bounds.moc"
