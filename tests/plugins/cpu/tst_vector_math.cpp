#include "math_kernel.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_vector_math {

using namespace lathe;
using namespace lathe::test;
using ir::Expr;
using ir::LoopKind;

namespace {

constexpr int kCount = MathKernel<float>::kCount;

template<typename T>
std::vector<T> evaluate(backend::Codegen& codegen, const std::string& name, const std::vector<std::vector<T>>& inputs)
{
    return MathKernel<T>(codegen, name, inputs.size()).run(inputs);
}

template<typename T>
std::vector<T> ramp(double low, double high)
{
    std::vector<T> x(kCount);
    for (int i = 0; i < kCount; ++i)
        x[static_cast<std::size_t>(i)] = static_cast<T>(low + (high - low) * i / (kCount - 1));
    return x;
}

long double reference(const std::string& name, long double x)
{
    if (name == "exp")
        return std::exp(x);
    if (name == "exp2")
        return std::exp2(x);
    if (name == "log")
        return std::log(x);
    if (name == "tanh")
        return std::tanh(x);
    if (name == "sigmoid")
        return 1 / (1 + std::exp(-x));
    if (name == "erf")
        return std::erf(x);
    if (name == "atan")
        return std::atan(x);
    if (name == "sin")
        return std::sin(x);
    if (name == "cos")
        return std::cos(x);
    if (name == "rsqrt")
        return 1 / std::sqrt(x);
    return std::sqrt(x);
}

template<typename T>
double worst(backend::Codegen& codegen, const std::string& name, double low, double high)
{
    const std::vector<T> x = ramp<T>(low, high);
    const std::vector<T> y = evaluate<T>(codegen, name, {x});
    double largest = 0;
    for (std::size_t i = 0; i < kCount; ++i)
        largest = std::max(largest, ulps<T>(y[i], reference(name, x[i])));
    return largest;
}

} // namespace

class TestVectorMath : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }
    void errorsStayWithinTheirBounds_data();
    void errorsStayWithinTheirBounds();
    void powersAgreeWithTheLibrary();
    void wavesStayWithinTheirBounds();
    void remaindersAreExact();
    void specialValuesFollowTheRules();
    void unknownFunctionsAreRefusedByName();

private:
    std::unique_ptr<backend::Codegen> m_codegen;
};

void TestVectorMath::errorsStayWithinTheirBounds_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<double>("bound32");
    QTest::addColumn<double>("bound64");
    const auto row = [](const char* name, double low, double high, double bound32, double bound64) {
        QTest::addRow("%s on [%g, %g]", name, low, high) << QString(name) << low << high << bound32 << bound64;
    };
    row("exp", -1, 1, 1.1, 1.1);
    row("exp", -87, 88, 1.1, 1.1);
    row("exp", -103, -87, 1.1, 1.1);
    row("exp", -700, 709, 1.1, 1.1);
    row("exp2", -125, 127, 1.1, 1.1);
    row("log", 0.5, 2, 1, 1);
    row("log", 1e-30, 1e-3, 1, 1);
    row("log", 1, 1e30, 1, 1);
    row("tanh", -0.7, 0.7, 2, 2);
    row("tanh", -10, 10, 2, 2);
    row("sigmoid", -20, 20, 2.5, 2.5);
    row("erf", -1.1, 1.1, 6, 3);
    row("erf", -6.5, 6.5, 6, 3);
    row("atan", -3, 3, 2.5, 2.5);
    row("atan", -1e3, 1e3, 2.5, 2.5);
    row("sqrt", 0, 1e6, 0.51, 0.51);
    row("rsqrt", 1e-3, 1e6, 1.5, 1.5);
}

void TestVectorMath::errorsStayWithinTheirBounds()
{
    QFETCH(QString, name);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(double, bound32);
    QFETCH(double, bound64);
    const double error32 = worst<float>(*m_codegen, name.toStdString(), low, high);
    QVERIFY2(error32 <= bound32, qPrintable(QString("float32: %1 units of the last place").arg(error32)));
    const double error64 = worst<double>(*m_codegen, name.toStdString(), low, high);
    QVERIFY2(error64 <= bound64, qPrintable(QString("float64: %1 units of the last place").arg(error64)));
}

void TestVectorMath::powersAgreeWithTheLibrary()
{
    const std::vector<float> x = ramp<float>(-3, 9);
    for (const double exponent : {-2.5, -1.0, 0.0, 0.5, 2.0, 3.0}) {
        const std::vector<float> y(kCount, static_cast<float>(exponent));
        const std::vector<float> z = evaluate<float>(*m_codegen, "pow", {x, y});
        for (std::size_t i = 0; i < kCount; ++i)
            QVERIFY2(ulps<float>(z[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(exponent)))
                         <= 1,
                     qPrintable(QString("%1 ^ %2 = %3").arg(x[i]).arg(exponent).arg(z[i])));
    }
}

void TestVectorMath::wavesStayWithinTheirBounds()
{
    for (const char* name : {"sin", "cos"}) {
        for (const double limit : {3.2, 100.0, 1e4}) {
            const std::vector<float> x = ramp<float>(-limit, limit);
            const std::vector<float> y = evaluate<float>(*m_codegen, name, {x});
            const std::vector<double> xd = ramp<double>(-limit, limit);
            const std::vector<double> yd = evaluate<double>(*m_codegen, name, {xd});
            for (std::size_t i = 0; i < kCount; ++i) {
                QVERIFY2(std::abs(y[i] - reference(name, x[i])) < 1.5e-7L,
                         qPrintable(QString("%1(%2) = %3").arg(name).arg(x[i]).arg(y[i])));
                QVERIFY2(std::abs(yd[i] - reference(name, xd[i])) < 3e-16L,
                         qPrintable(QString("%1(%2) = %3").arg(name).arg(xd[i]).arg(yd[i])));
            }
        }
    }
}

void TestVectorMath::remaindersAreExact()
{
    const std::vector<float> x = ramp<float>(-1000, 1000);
    const std::vector<float> y(kCount, 0.7F);
    const std::vector<float> r = evaluate<float>(*m_codegen, "fmod", {x, y});
    for (std::size_t i = 0; i < kCount; ++i)
        QCOMPARE(r[i], std::fmod(x[i], y[i]));
}

void TestVectorMath::specialValuesFollowTheRules()
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> x(kCount, 0.0F);
    x[0] = infinity;
    x[1] = -infinity;
    x[2] = nan;
    x[3] = 0;
    x[4] = -1;
    x[5] = 1e-42F;
    const std::vector<float> e = evaluate<float>(*m_codegen, "exp", {x});
    QVERIFY(e[0] == infinity && e[1] == 0 && std::isnan(e[2]) && e[3] == 1);
    const std::vector<float> l = evaluate<float>(*m_codegen, "log", {x});
    QVERIFY(l[0] == infinity && std::isnan(l[1]) && std::isnan(l[2]) && l[3] == -infinity && std::isnan(l[4]));
    QVERIFY(ulps<float>(l[5], std::log(static_cast<long double>(x[5]))) <= 1);
    const std::vector<float> t = evaluate<float>(*m_codegen, "tanh", {x});
    QVERIFY(t[0] == 1 && t[1] == -1 && std::isnan(t[2]) && t[3] == 0);
    const std::vector<float> s = evaluate<float>(*m_codegen, "sigmoid", {x});
    QVERIFY(s[0] == 1 && s[1] == 0 && std::isnan(s[2]) && s[3] == 0.5F);
    const std::vector<float> f = evaluate<float>(*m_codegen, "erf", {x});
    QVERIFY(f[0] == 1 && f[1] == -1 && std::isnan(f[2]) && f[3] == 0);
}

void TestVectorMath::unknownFunctionsAreRefusedByName()
{
    const ir::Stmt body = loop("i", 4, LoopKind::Vectorized, [&](Expr i) {
        return ir::makeStore(1, {i}, ir::call("bessel", DType::F32, {ir::load(0, DType::F32, {i})}));
    });
    const schedule::LoweredKernel kernel = kernelOf(
        "maths", {buffer("x", DType::F32, {4}), buffer("out", DType::F32, {4})}, {body});
    const Result<backend::Artifact> artifact = m_codegen->build({&kernel, 1});
    QVERIFY(!artifact);
    QVERIFY(artifact.error().code == Errc::Unsupported);
    QVERIFY(artifact.error().message.find("bessel") != std::string::npos);
}

LATHE_TEST(TestVectorMath)

} // namespace tst_vector_math

#include "tst_vector_math.moc"
