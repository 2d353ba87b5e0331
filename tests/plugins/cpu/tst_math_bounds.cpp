#include "math_kernel.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

namespace tst_math_bounds {

using namespace lathe;
using namespace lathe::test;

namespace {

template<typename T>
void check(backend::Codegen& codegen, const MathFunction& row, double bound)
{
    MathKernel<T> kernel(codegen, row.name, 1);
    std::mt19937_64 random(23);
    double worst = 0;
    T at = 0;
    for (std::int64_t done = 0; done < mathPoints(); done += MathKernel<T>::kCount) {
        const std::vector<T> x = drawnPoints<T>(random, MathKernel<T>::kCount), y = kernel.run({x});
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error = ulps<T>(y[i], row.exact(x[i]));
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
    }
    if (mathPoints() > 1'000'000)
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
        for (std::size_t i = 0; i < std::size(kMathFunctions); ++i)
            QTest::newRow(kMathFunctions[i].name) << static_cast<int>(i);
    }
    void anyNumber()
    {
        QFETCH(int, index);
        const MathFunction& function = kMathFunctions[index];
        check<float>(*m_codegen, function, function.bound32);
        check<double>(*m_codegen, function, function.bound64);
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
        for (std::int64_t done = 0; done < mathPoints(); done += MathKernel<T>::kCount) {
            std::vector<T> x, y;
            drawPowers(random, x, y, MathKernel<T>::kCount);
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
        if (mathPoints() > 1'000'000)
            qInfo("pow of float%zu: %.3f units", sizeof(T) * 8, worst);
    }
    template<typename T>
    void remainders()
    {
        MathKernel<T> kernel(*m_codegen, "fmod", 2);
        std::mt19937_64 random(31);
        for (std::int64_t done = 0; done < mathPoints(); done += MathKernel<T>::kCount) {
            std::vector<T> x = drawnPoints<T>(random, MathKernel<T>::kCount),
                           y = drawnPoints<T>(random, MathKernel<T>::kCount);
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
