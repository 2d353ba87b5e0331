#include "compiled_model.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tst_hostile_values {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kLargest = std::numeric_limits<float>::max();

/// A count that is no multiple of a vector.
const std::vector<float> kHostile = {
    0.0F,   -0.0F,  kNan,  kInf,  -kInf,  kTiny, -kTiny,   1e-30F,    kLargest, -kLargest, 1.0F,   -1.0F,   0.5F,
    -0.5F,  1.5F,   2.5F,  -2.5F, 3.0F,   -3.5F, 7e6F,     1e7F,      -1e9F,    3e38F,     89.0F,  -89.0F,  1e20F,
    -1e20F, -20.0F, 20.0F, 1e-4F, -1e-4F, 0.25F, 0.99999F, -0.99999F, 0.1F,     88.0F,     100.0F, -100.0F, 1.0001F};

/// Right within so many units of the last place (and of a number where digits cancel), NaN where NaN is due, zeros with
/// their sign.
struct Bound
{
    double ulps = 4;
    double absolute = 0;
    bool anyZero = false; ///< of two zeros a maximum may be either
};

bool isRight(float got, long double want, const Bound& bound)
{
    const auto rounded = static_cast<float>(want);
    if (std::isnan(rounded) || std::isnan(got))
        return std::isnan(rounded) && std::isnan(got);
    if (rounded == 0 && got == 0)
        return bound.anyZero || std::signbit(rounded) == std::signbit(got);
    if (got == rounded)
        return true;
    if (std::isinf(got) && std::isfinite(rounded)) // rounded up to it
        return std::abs(rounded) == kLargest;
    if (std::isinf(rounded))
        return std::abs(got) == kLargest && std::signbit(got) == std::signbit(rounded);
    const float next = std::nextafter(std::abs(rounded), kInf);
    const long double unit = static_cast<long double>(next) - std::abs(rounded);
    return std::abs(got - want) <= bound.ulps * unit + bound.absolute;
}

using Function = long double (*)(long double);

struct Unary
{
    const char* op;
    Function function;
    Bound bound = {};
};

long double softplus(long double x)
{
    return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x)));
}

long double kept(long double x, long double y) // NaN is kept
{
    return std::isnan(x) ? x : y;
}

const std::vector<Unary> kUnary = {
    {"Relu", [](long double x) { return kept(x, std::max(x, 0.0L)); }, {0, 0, true}},
    {"Neg", [](long double x) { return -x; }, {0}},
    {"Abs", [](long double x) { return std::abs(x); }, {0}},
    {"Sign", [](long double x) { return kept(x, x > 0   ? 1.0L
                                                : x < 0 ? -1.0L
                                                        : 0.0L); }, {0}},
    {"Reciprocal", [](long double x) { return 1 / x; }, {0.51}},
    {"Floor", [](long double x) { return std::floor(x); }, {0}},
    {"Ceil", [](long double x) { return std::ceil(x); }, {0}},
    {"Round", [](long double x) { return std::nearbyint(x); }, {0}},
    {"Sqrt", [](long double x) { return std::sqrt(x); }, {0.51}},
    {"Exp", [](long double x) { return std::exp(x); }},
    {"Log", [](long double x) { return std::log(x); }},
    {"Sin", [](long double x) { return std::sin(x); }},
    {"Cos", [](long double x) { return std::cos(x); }},
    {"Tan", [](long double x) { return std::tan(x); }},
    {"Asin", [](long double x) { return std::asin(x); }},
    {"Acos", [](long double x) { return std::acos(x); }, {6}},
    {"Atan", [](long double x) { return std::atan(x); }},
    {"Sinh", [](long double x) { return std::sinh(x); }},
    {"Cosh", [](long double x) { return std::cosh(x); }},
    {"Tanh", [](long double x) { return std::tanh(x); }},
    {"Asinh", [](long double x) { return std::asinh(x); }},
    {"Acosh", [](long double x) { return std::acosh(x); }},
    {"Atanh", [](long double x) { return std::atanh(x); }},
    {"Erf", [](long double x) { return std::erf(x); }, {6}},
    {"Sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {"Softplus", softplus},
    {"Elu", [](long double x) { return x > 0 ? x : std::expm1(x); }},
    {"Selu",
     [](long double x) {
         return 1.05070102214813232421875L * (x > 0 ? x : 1.67326319217681884765625L * std::expm1(x));
     }},
    {"Celu", [](long double x) { return kept(x, std::max(x, 0.0L) + std::min(std::expm1(x), 0.0L)); }, {4, 0, true}},
    {"HardSigmoid",
     [](long double x) { return kept(x, std::min(std::max(0.2F * x + 0.5L, 0.0L), 1.0L)); },
     {4, 0, true}},
    {"LeakyRelu", [](long double x) { return x < 0 ? 0.01F * x : x; }},
    {"Softsign", [](long double x) { return x / (1 + std::abs(x)); }},
    {"Mish", [](long double x) { return x * std::tanh(softplus(x)); }, {8, 1e-41}}, // e^x is subnormal
    // The tails cancel: a bound that is not relative.
    {"Gelu",
     [](long double x) { return 0.5L * x * (1 + std::erf(x / std::numbers::sqrt2_v<long double>)); },
     {6, 4e-7, true}},
};

} // namespace

class TestHostileValues : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { skipWhereThereIsNoDevice(); }

    void functionsOfOneNumber_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < kUnary.size(); ++i)
            QTest::newRow(kUnary[i].op) << static_cast<int>(i);
        const auto count = static_cast<std::int64_t>(kHostile.size());
        m_unary = std::make_unique<CompiledModel>();
        m_unary->input("x", wire::Float, {count}, kHostile);
        m_unary->model().opset = 20;
        m_unary->joins = true;
        for (const Unary& unary : kUnary)
            m_unary->node(unary.op, {"x"}, unary.op);
        must(m_unary->compile());
    }
    void functionsOfOneNumber()
    {
        QFETCH(int, index);
        const Unary& unary = kUnary[static_cast<std::size_t>(index)];
        for (const graph::HostTensor* tensor : {&m_unary->compiled(unary.op), &m_unary->evaluated(unary.op)}) {
            const std::vector<float> got = valuesOf<float>(*tensor);
            for (std::size_t i = 0; i < got.size(); ++i) {
                const long double want = unary.function(kHostile[i]);
                QVERIFY2(isRight(got[i], want, unary.bound),
                         qPrintable(QString("%1 of %2 is %3, not %4%5")
                                        .arg(unary.op)
                                        .arg(static_cast<double>(kHostile[i]), 0, 'g', 9)
                                        .arg(static_cast<double>(got[i]), 0, 'g', 9)
                                        .arg(static_cast<double>(want), 0, 'g', 9)
                                        .arg(tensor == &m_unary->evaluated(unary.op) ? " (evaluated)" : "")));
            }
        }
    }

    void functionsOfTwoNumbers()
    {
        std::vector<float> left, right;
        for (const float a : kHostile)
            for (const float b : kHostile) {
                left.push_back(a);
                right.push_back(b);
            }
        const auto count = static_cast<std::int64_t>(left.size());
        CompiledModel model;
        model.joins = true;
        model.input("a", wire::Float, {count}, left);
        model.input("b", wire::Float, {count}, right);
        model.model().opset = 20;
        for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"})
            model.node(op, {"a", "b"}, op);
        model.node("Mod", {"a", "b"}, "Mod", wire::intAttribute("fmod", 1));
        must(model.compile());
        const std::map<std::string, long double (*)(long double, long double)> functions = {
            {"Add", [](long double a, long double b) { return a + b; }},
            {"Sub", [](long double a, long double b) { return a - b; }},
            {"Mul", [](long double a, long double b) { return a * b; }},
            {"Div", [](long double a, long double b) { return a / b; }},
            {"Max", [](long double a, long double b) { return std::isnan(a) || a > b ? a : b; }},
            {"Min", [](long double a, long double b) { return std::isnan(a) || a < b ? a : b; }},
            {"Pow", [](long double a, long double b) { return std::pow(a, b); }},
            {"Mod", [](long double a, long double b) { return std::fmod(a, b); }}};
        for (const auto& [op, function] : functions) {
            const Bound bound{op == "Pow" ? 1.0 : 0.51, 0, op == "Max" || op == "Min"};
            for (const graph::HostTensor* tensor : {&model.compiled(op), &model.evaluated(op)}) {
                const std::vector<float> got = valuesOf<float>(*tensor);
                for (std::size_t i = 0; i < got.size(); ++i)
                    QVERIFY2(isRight(got[i], function(left[i], right[i]), bound),
                             qPrintable(QString("%1 of %2 and %3 is %4, not %5")
                                            .arg(op.c_str())
                                            .arg(static_cast<double>(left[i]), 0, 'g', 9)
                                            .arg(static_cast<double>(right[i]), 0, 'g', 9)
                                            .arg(static_cast<double>(got[i]), 0, 'g', 9)
                                            .arg(static_cast<double>(function(left[i], right[i])), 0, 'g', 9)));
            }
        }
    }

    void constantsAreNoShortCuts()
    {
        CompiledModel model;
        model.joins = true;
        const std::vector<float> x = {kInf, -kInf, kNan, -0.0F, 0.0F, 2.0F, -3.0F};
        model.input("x", wire::Float, {7}, x);
        for (const auto& [name, value] : {std::pair{"zero", 0.0F}, {"one", 1.0F}, {"two", 2.0F}})
            model.model().initializers.push_back(wire::tensor(name, wire::Float, {}, wire::floats({value})));
        model.node("Mul", {"x", "zero"}, "product");
        model.node("Add", {"x", "zero"}, "sum");
        model.node("Sub", {"zero", "x"}, "difference");
        model.node("Clip", {"x", "two", "one"}, "clip"); // an empty interval gives its upper end
        model.node("Clip", {"x", "one", "two"}, "within");
        must(model.compile());
        const auto expect = [&](const char* name, const std::vector<float>& want, bool anyZero = false) {
            for (const graph::HostTensor* tensor : {&model.compiled(name), &model.evaluated(name)}) {
                const std::vector<float> got = valuesOf<float>(*tensor);
                for (std::size_t i = 0; i < want.size(); ++i)
                    QVERIFY2(isRight(got[i], want[i], {0, 0, anyZero}),
                             qPrintable(QString("%1 at %2 is %3").arg(name).arg(i).arg(static_cast<double>(got[i]))));
            }
        };
        expect("product", {kNan, kNan, kNan, -0.0F, 0.0F, 0.0F, -0.0F});
        expect("sum", {kInf, -kInf, kNan, 0.0F, 0.0F, 2.0F, -3.0F}, true); // adding 0 may be left out
        expect("difference", {-kInf, kInf, kNan, 0.0F, 0.0F, -2.0F, 3.0F});
        expect("clip", {1, 1, kNan, 1, 1, 1, 1});
        expect("within", {2, 1, kNan, 1, 1, 2, 1});
    }

    void reductionsAndPoolsKeepInfinitiesAndNan()
    {
        // Three rows: of -infinity alone, with a NaN, plain.
        std::vector<float> rows(3 * 35, -kInf);
        for (std::size_t i = 0; i < 35; ++i) {
            rows[35 + i] = static_cast<float>(i);
            rows[70 + i] = -static_cast<float>(i) - 1;
        }
        rows[35 + 7] = kNan;
        CompiledModel model;
        model.input("x", wire::Float, {1, 3, 5, 7}, rows);
        const std::string axes = wire::intsAttribute("axes", {2, 3}) + wire::intAttribute("keepdims", 0);
        model.node("ReduceMax", {"x"}, "largest", axes);
        model.node("ReduceMin", {"x"}, "smallest", axes);
        model.node("ReduceLogSumExp", {"x"}, "exponents", axes);
        model.node("GlobalMaxPool", {"x"}, "global");
        model.node("MaxPool", {"x"}, "pool",
                   wire::intsAttribute("kernel_shape", {3, 3}) + wire::intsAttribute("pads", {1, 1, 1, 1}));
        must(model.compile());
        const auto first = [&](const char* name) { return valuesOf<float>(model.compiled(name)); };
        QVERIFY(first("largest")[0] == -kInf && std::isnan(first("largest")[1]) && first("largest")[2] == -1);
        QVERIFY(first("smallest")[0] == -kInf && std::isnan(first("smallest")[1]) && first("smallest")[2] == -35);
        QVERIFY2(first("exponents")[0] == -kInf && std::isnan(first("exponents")[1]),
                 qPrintable(QString("%1 %2").arg(first("exponents")[0]).arg(first("exponents")[1])));
        QVERIFY(first("global")[0] == -kInf && std::isnan(first("global")[1]) && first("global")[2] == -1);
        const std::vector<float> pooled = first("pool");
        for (std::size_t i = 0; i < 35; ++i)
            QVERIFY2(pooled[i] == -kInf, "a window of -infinity");
        for (const char* name : {"largest", "smallest", "exponents", "global", "pool"}) {
            const std::vector<float> got = first(name), want = valuesOf<float>(model.evaluated(name));
            for (std::size_t i = 0; i < got.size(); ++i)
                QVERIFY2(isRight(got[i], want[i], {4}),
                         qPrintable(QString("%1 at %2: %3").arg(name).arg(i).arg(static_cast<double>(got[i]))));
        }
    }

    void comparisonsAndPositionsOfNan()
    {
        CompiledModel model;
        model.joins = true;
        model.input("a", wire::Float, {8}, std::vector<float>{kNan, 1, kNan, 2, kInf, -kInf, 3, kTiny});
        model.input("b", wire::Float, {8}, std::vector<float>{1, kNan, kNan, 2, kNan, -kInf, 1, 0});
        for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
            model.node(op, {"a", "b"}, op);
        model.node("ThresholdedRelu", {"a"}, "ThresholdedRelu");
        must(model.compile());
        const std::map<std::string, std::vector<std::uint8_t>> wanted = {{"Equal", {0, 0, 0, 1, 0, 1, 0, 0}},
                                                                         {"Less", {0, 0, 0, 0, 0, 0, 0, 0}},
                                                                         {"LessOrEqual", {0, 0, 0, 1, 0, 1, 0, 0}},
                                                                         {"Greater", {0, 0, 0, 0, 0, 0, 1, 1}},
                                                                         {"GreaterOrEqual", {0, 0, 0, 1, 0, 1, 1, 1}}};
        for (const auto& [name, values] : wanted)
            for (const graph::HostTensor* tensor : {&model.compiled(name), &model.evaluated(name)})
                QCOMPARE(valuesOf<std::uint8_t>(*tensor), values);
        QCOMPARE(valuesOf<float>(model.compiled("ThresholdedRelu")), (std::vector<float>{0, 0, 0, 2, kInf, 0, 3, 0}));

        CompiledModel positions;
        std::vector<float> rows(2 * 300, 0.5F);
        rows[7] = rows[200] = 4; // the first of equals
        rows[250] = rows[3] = kNan; // passed over
        rows[300 + 299] = -1;
        positions.input("x", wire::Float, {2, 300}, rows);
        const std::string attributes = wire::intAttribute("axis", 1) + wire::intAttribute("keepdims", 0);
        positions.node("ArgMax", {"x"}, "largest", attributes);
        positions.node("ArgMin", {"x"}, "smallest", attributes);
        must(positions.compile());
        QCOMPARE(valuesOf<std::int64_t>(positions.compiled("largest")), (std::vector<std::int64_t>{7, 0}));
        QCOMPARE(valuesOf<std::int64_t>(positions.compiled("smallest")), (std::vector<std::int64_t>{0, 299}));
    }

    /// Halves to even, the lowest number for NaN, quotients that are rounded as processors round them.
    void numbersAreQuantized()
    {
        std::vector<float> x = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, kNan, kInf, -kInf, 1e9F, -1e9F, 244.5F, 245.5F};
        constexpr float kScale = 0.1F;
        for (int step = -300; step <= 300; ++step) // around halves
            for (const float next : {-kInf, kInf})
                x.push_back(std::nextafter((static_cast<float>(step) + 0.5F) * kScale, next));
        const auto count = static_cast<std::int64_t>(x.size());
        CompiledModel model;
        model.input("x", wire::Float, {count}, x);
        model.model().initializers = {wire::tensor("one", wire::Float, {}, wire::floats({1})),
                                      wire::tensor("tenth", wire::Float, {}, wire::floats({kScale})),
                                      wire::tensor("ten", wire::Uint8, {}, std::string(1, '\x0a')),
                                      wire::tensor("zero", wire::Int8, {}, std::string(1, '\0'))};
        model.node("QuantizeLinear", {"x", "one", "ten"}, "bytes");
        model.node("QuantizeLinear", {"x", "tenth", "zero"}, "signed");
        must(model.compile());
        const auto bytes = valuesOf<std::uint8_t>(model.compiled("bytes"));
        const std::vector<std::uint8_t> wanted = {10, 12, 12, 10, 8, 0, 255, 0, 255, 0, 254, 255};
        QCOMPARE(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 12), wanted);
        const auto got = valuesOf<std::int8_t>(model.compiled("signed"));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const float whole = std::nearbyint(x[i] / kScale);
            const int want = std::isnan(whole) ? -128 : static_cast<int>(std::clamp(whole, -128.0F, 127.0F));
            QVERIFY2(got[i] == want,
                     qPrintable(QString("%1 is %2").arg(static_cast<double>(x[i]), 0, 'g', 9).arg(int{got[i]})));
        }
        for (const char* name : {"bytes", "signed"})
            QVERIFY2(model.compiled(name).bytes == model.evaluated(name).bytes, name);
    }

    /// Beside numbers that cancel, in any order, f32 would lose the ones.
    void longSumsAreKeptInDoubles()
    {
        constexpr std::int64_t kCount = 120'000;
        std::vector<float> x(kCount, 1.0F);
        for (std::size_t i = 0; i < x.size(); i += 3)
            x[i] = i % 2 == 0 ? 0x1p30F : -0x1p30F;
        CompiledModel model;
        model.input("x", wire::Float, {1, 1, 300, 400}, x);
        model.node("ReduceSum", {"x"}, "sum", wire::intAttribute("keepdims", 0));
        model.node("GlobalAveragePool", {"x"}, "mean");
        model.model().opset = 12;
        must(model.compile());
        QCOMPARE(valuesOf<float>(model.compiled("sum")), std::vector<float>{80'000});
        QCOMPARE(valuesOf<float>(model.compiled("mean")), std::vector<float>{80'000.0F / kCount});
    }

    void longSumsKeepTheirDigits()
    {
        if (valuesTarget() != "cpu")
            QSKIP("there longSumsAreKeptInDoubles says the same in less time");
        constexpr std::int64_t kCount = 20'000'000; // beyond 2^24, where f32 no longer counts
        std::vector<float> x(static_cast<std::size_t>(2 * kCount), 1.0F);
        std::fill(x.begin() + kCount, x.end(), 0.1F);
        CompiledModel model;
        model.input("x", wire::Float, {2, 1, 4000, 5000}, x);
        x = {};
        const std::string axes = wire::intsAttribute("axes", {1, 2, 3}) + wire::intAttribute("keepdims", 0);
        for (const char* op : {"ReduceMean", "ReduceSum", "ReduceL2"})
            model.node(op, {"x"}, op, axes);
        model.node("GlobalAveragePool", {"x"}, "GlobalAveragePool");
        model.model().opset = 12;
        must(model.compile());
        const auto close = [&](const char* name, std::size_t at, double want) {
            const double got = valuesOf<float>(model.compiled(name))[at];
            QVERIFY2(std::abs(got - want) <= 2e-6 * want, qPrintable(QString("%1: %2").arg(name).arg(got, 0, 'g', 9)));
        };
        for (const char* name : {"ReduceMean", "GlobalAveragePool"}) {
            close(name, 0, 1);
            close(name, 1, 0.1);
        }
        close("ReduceSum", 0, 2e7);
        close("ReduceSum", 1, 2e6);
        close("ReduceL2", 0, std::sqrt(2e7));
    }

    void meansOfHalfFloatsExistWhereTheirSumsDoNot()
    {
        const std::vector<std::uint16_t> hundreds(2 * 1024, 0x5640); // 100 as float16
        CompiledModel model;
        model.input("x", wire::Float16, {1, 2, 32, 32}, hundreds);
        model.node("GlobalAveragePool", {"x"}, "global");
        model.node("ReduceMean", {"x"}, "mean", wire::intsAttribute("axes", {2, 3}));
        model.node("AveragePool", {"x"}, "pool", wire::intsAttribute("kernel_shape", {32, 32}));
        if (!model.compileHalf())
            QSKIP("this device has no half floats");
        for (const char* name : {"global", "mean", "pool"})
            QCOMPARE(valuesOf<std::uint16_t>(model.compiled(name)), std::vector<std::uint16_t>(2, 0x5640));
    }

    void sumsOfProductsOfHalfFloatsKeepTheirDigits()
    {
        constexpr std::int64_t kCount = 4096; // f16 counts to 2048
        const std::vector<std::uint16_t> ones(kCount, 0x3c00);
        CompiledModel model;
        model.input("x", wire::Float16, {1, kCount}, ones);
        model.input("w", wire::Float16, {kCount, 1}, ones);
        model.input("image", wire::Float16, {1, 16, 16, 16}, ones);
        model.input("kernel", wire::Float16, {1, 16, 16, 16}, ones);
        model.node("MatMul", {"x", "w"}, "product");
        model.node("Conv", {"image", "kernel"}, "convolution");
        if (!model.compileHalf())
            QSKIP("this device has no half floats");
        for (const char* name : {"product", "convolution"})
            QCOMPARE(valuesOf<std::uint16_t>(model.compiled(name)), std::vector<std::uint16_t>{0x6c00}); // 4096
    }

    void functionsOfHalfFloatsRoundOnce()
    {
        CompiledModel model;
        const std::vector<std::uint16_t> x = {0x7b53, 0xbe00, 0x3800, 0xc000}; // 60000, -1.5, 0.5, -2
        model.input("x", wire::Float16, {4}, x);
        model.model().opset = 20;
        for (const char* op : {"Asinh", "Sinh", "Gelu", "Mish", "Softplus", "HardSwish", "Softmax"})
            model.node(op, {"x"}, op);
        if (!model.compileHalf())
            QSKIP("this device has no half floats");
        for (const char* op : {"Asinh", "Sinh", "Gelu", "Mish", "Softplus", "HardSwish", "Softmax"}) {
            const auto got = valuesOf<std::uint16_t>(model.compiled(op));
            const auto want = valuesOf<std::uint16_t>(model.evaluated(op)); // in double, rounded
            for (std::size_t i = 0; i < x.size(); ++i)
                QVERIFY2(
                    std::abs(int{got[i]} - int{want[i]}) <= 1,
                    qPrintable(QString("%1 at %2: %3, not %4").arg(op).arg(i).arg(got[i], 0, 16).arg(want[i], 0, 16)));
        }
    }

    void zerosAreQuantizedAsZeros()
    {
        CompiledModel model;
        model.input("x", wire::Float, {5}, std::vector<float>(5, 0.0F));
        model.model().nodes.push_back(wire::node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "point"}, "q"));
        for (const char* name : {"y", "scale", "point"})
            model.model().outputs.push_back(wire::info(name, {}));
        must(model.compile());
        QCOMPARE(valuesOf<std::uint8_t>(model.compiled("y")), std::vector<std::uint8_t>(5, 0));
        QCOMPARE(valuesOf<float>(model.compiled("scale")), std::vector<float>{1});
        QCOMPARE(valuesOf<std::uint8_t>(model.compiled("point")), std::vector<std::uint8_t>{0});
    }

private:
    std::unique_ptr<CompiledModel> m_unary;
};

LATHE_TEST_GUILESS(TestHostileValues)

} // namespace tst_hostile_values

#include "tst_hostile_values.moc"
