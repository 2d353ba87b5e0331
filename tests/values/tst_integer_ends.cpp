#include "compiled_model.h"
#include "core/deploy/verify.h"
#include "core/graph/input_ranges.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <limits>
#include <type_traits>

namespace tst_integer_ends {

using namespace lathe;
using namespace lathe::test;

namespace {

/// All pairs of values at the ends of a type and around zero.
template<typename T>
struct Pairs
{
    std::vector<T> a, b;
    Pairs()
    {
        using L = std::numeric_limits<T>;
        const std::vector<T> values = {L::min(),
                                       static_cast<T>(L::min() + 1),
                                       static_cast<T>(-2),
                                       static_cast<T>(-1),
                                       0,
                                       1,
                                       2,
                                       static_cast<T>(L::max() - 1),
                                       L::max()};
        for (const T x : values)
            for (const T y : values) {
                a.push_back(x);
                b.push_back(y);
            }
    }
};

/// A driver's compiler takes its time.
constexpr const char* kOthersStandForIt = "on devices other types stand for this one";

const char* const kComparisons[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"};

template<typename T>
bool compared(const std::string& op, T x, T y)
{
    return op == "Equal"         ? x == y
           : op == "Less"        ? x < y
           : op == "LessOrEqual" ? x <= y
           : op == "Greater"     ? x > y
                                 : x >= y;
}

template<typename T>
std::string raw(const std::vector<T>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template<typename T>
void compareAll(wire::DataType type)
{
    const Pairs<T> pairs;
    using L = std::numeric_limits<T>;
    const auto count = static_cast<std::int64_t>(pairs.a.size());
    CompiledModel model;
    model.joins = true;
    model.input("a", type, {count}, pairs.a);
    model.input("b", type, {count}, pairs.b);
    model.model().initializers = {wire::tensor("low", type, {}, raw(std::vector<T>{L::min()})),
                                  wire::tensor("high", type, {}, raw(std::vector<T>{L::max()})),
                                  wire::tensor("four", type, {}, raw(std::vector<T>{4})),
                                  wire::tensor("almost", type, {}, raw(std::vector<T>{L::max() - 1}))};
    for (const char* op : kComparisons) {
        model.node(op, {"a", "b"}, op);
        model.node(op, {"a", "high"}, std::string(op) + "High");
        model.node(op, {"low", "b"}, std::string(op) + "Low");
    }
    model.node("Max", {"a", "b"}, "max");
    model.node("Min", {"a", "b"}, "min");
    model.node("Add", {"a", "b"}, "sum");
    model.node("Clip", {"a", "low", "almost"}, "clip");
    model.model().nodes.push_back(wire::node("Mul", {"a", "four"}, {"product"}, "product"));
    model.node("Div", {"product", "four"}, "quotient");
    must(model.compile());
    const auto bools = [&](const std::string& name) { return valuesOf<std::uint8_t>(model.compiled(name)); };
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
        const T a = pairs.a[i], b = pairs.b[i];
        const QByteArray at = QString("%1 and %2").arg(a).arg(b).toUtf8();
        for (const std::string op : kComparisons) {
            QVERIFY2((bools(op)[i] != 0) == compared(op, a, b), (op + " of " + at.toStdString()).c_str());
            QVERIFY2((bools(op + "High")[i] != 0) == compared(op, a, L::max()),
                     (op + " high " + at.toStdString()).c_str());
            QVERIFY2((bools(op + "Low")[i] != 0) == compared(op, L::min(), b),
                     (op + " low " + at.toStdString()).c_str());
        }
        using U = std::make_unsigned_t<T>;
        const T product = static_cast<T>(static_cast<U>(a) * U{4});
        QVERIFY2(valuesOf<T>(model.compiled("max"))[i] == std::max(a, b), at);
        QVERIFY2(valuesOf<T>(model.compiled("min"))[i] == std::min(a, b), at);
        QVERIFY2(valuesOf<T>(model.compiled("sum"))[i] == static_cast<T>(static_cast<U>(a) + static_cast<U>(b)), at);
        QVERIFY2(valuesOf<T>(model.compiled("clip"))[i] == std::min<T>(a, L::max() - 1), at);
        QVERIFY2(valuesOf<T>(model.compiled("quotient"))[i] == static_cast<T>(product / 4), at);
    }
    for (const std::string& name : model.names())
        QVERIFY2(model.compiled(name).bytes == model.evaluated(name).bytes, name.c_str());
}

/// The operations on bits, and shifts by up to more places than there are.
template<typename T>
void compareBits(wire::DataType type)
{
    const Pairs<T> pairs;
    const auto count = static_cast<std::int64_t>(pairs.a.size());
    CompiledModel model;
    model.joins = true;
    model.model().opset = 18;
    model.input("a", type, {count}, pairs.a);
    model.input("b", type, {count}, pairs.b);
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
        model.node(op, {"a", "b"}, op);
    model.node("BitwiseNot", {"a"}, "BitwiseNot");
    std::vector<T> places;
    if constexpr (std::is_unsigned_v<T>) {
        constexpr T kWidth = sizeof(T) * 8;
        for (std::size_t i = 0; i < pairs.a.size(); ++i)
            places.push_back(
                std::array<T, 7>{0, 1, 3, kWidth - 1, kWidth, kWidth + 1, std::numeric_limits<T>::max()}[i % 7]);
        model.input("n", type, {count}, places);
        model.node("BitShift", {"a", "n"}, "left", wire::textAttribute("direction", "LEFT"));
        model.node("BitShift", {"a", "n"}, "right", wire::textAttribute("direction", "RIGHT"));
    }
    must(model.compile());
    for (const bool evaluated : {false, true}) {
        const auto got = [&](const char* name) {
            return valuesOf<T>(evaluated ? model.evaluated(name) : model.compiled(name));
        };
        for (std::size_t i = 0; i < pairs.a.size(); ++i) {
            const T a = pairs.a[i], b = pairs.b[i];
            QCOMPARE(got("BitwiseAnd")[i], static_cast<T>(a & b));
            QCOMPARE(got("BitwiseOr")[i], static_cast<T>(a | b));
            QCOMPARE(got("BitwiseXor")[i], static_cast<T>(a ^ b));
            QCOMPARE(got("BitwiseNot")[i], static_cast<T>(~a));
            if constexpr (std::is_unsigned_v<T>) {
                const bool fits = places[i] < sizeof(T) * 8;
                const auto wide = static_cast<std::uint64_t>(a);
                QCOMPARE(got("left")[i], fits ? static_cast<T>(wide << places[i]) : T{0});
                QCOMPARE(got("right")[i], fits ? static_cast<T>(wide >> places[i]) : T{0});
            }
        }
    }
}

} // namespace

class TestIntegerEnds : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { skipWhereThereIsNoDevice(); }

    void bitsOfBytes() { compareBits<std::uint8_t>(wire::Uint8); }
    void bitsOfSignedBytes()
    {
        if (valuesTarget() != "cpu")
            QSKIP(kOthersStandForIt);
        compareBits<std::int8_t>(wire::Int8);
    }
    void bitsOf32()
    {
        if (valuesTarget() != "cpu")
            QSKIP(kOthersStandForIt);
        compareBits<std::uint32_t>(wire::Uint32);
    }
    void bitsOfSigned32() { compareBits<std::int32_t>(wire::Int32); }
    void bitsOf64() { compareBits<std::uint64_t>(wire::Uint64); }
    void bitsOfSigned64()
    {
        if (valuesTarget() != "cpu")
            QSKIP(kOthersStandForIt);
        compareBits<std::int64_t>(wire::Int64);
    }

    void comparisonsOfInt32()
    {
        if (valuesTarget() != "cpu")
            QSKIP(kOthersStandForIt);
        compareAll<std::int32_t>(wire::Int32);
    }
    void comparisonsOfInt64() { compareAll<std::int64_t>(wire::Int64); }

    void positionsOfTheLargestAndSmallest()
    {
        constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
        constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();
        CompiledModel model;
        model.input("x", wire::Int32, {2, 3}, std::vector<std::int32_t>{kMost, 5, 3, 3, kMost, 3});
        model.input("z", wire::Int64, {4}, std::vector<std::int64_t>{3, kMost64, -kMost64 - 1, kMost64});
        model.model().initializers = {wire::tensor("k", wire::Int64, {1}, wire::ints({3}))};
        model.node("ArgMax", {"x"}, "largest", wire::intAttribute("axis", 1) + wire::intAttribute("keepdims", 0));
        model.node("ArgMin", {"x"}, "smallest", wire::intAttribute("axis", 1) + wire::intAttribute("keepdims", 0));
        model.model().nodes.push_back(
            wire::node("TopK", {"z", "k"}, {"values", "places"}, "top", wire::intAttribute("axis", 0)));
        for (const char* name : {"values", "places"})
            model.model().outputs.push_back(wire::info(name, {}));
        must(model.compile());
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("largest")), (std::vector<std::int64_t>{0, 1}));
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("smallest")), (std::vector<std::int64_t>{2, 0}));
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("values")), (std::vector<std::int64_t>{kMost64, kMost64, 3}));
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("places")), (std::vector<std::int64_t>{1, 3, 0}));
    }

    void numbersOf64BitsWithoutASign()
    {
        using Numbers = std::vector<std::uint64_t>;
        constexpr std::uint64_t kHigh = std::uint64_t{1} << 63, kMost = std::numeric_limits<std::uint64_t>::max();
        CompiledModel model;
        model.joins = true;
        model.input("x", wire::Uint64, {4}, Numbers{kHigh, kMost, 5, kHigh + 7});
        model.input("y", wire::Uint64, {4}, Numbers{kHigh - 1, 3, kMost, 10});
        model.node("Greater", {"x", "y"}, "greater");
        model.node("Max", {"x", "y"}, "max");
        model.node("Div", {"x", "y"}, "quotient");
        model.node("Mod", {"x", "y"}, "rest");
        model.node("Cast", {"x"}, "float", wire::intAttribute("to", wire::Float));
        model.node("ReduceMin", {"x"}, "least");
        must(model.compile());
        for (const bool compiled : {true, false}) {
            const auto of = [&](const char* name) -> const graph::HostTensor& {
                return compiled ? model.compiled(name) : model.evaluated(name);
            };
            QCOMPARE(valuesOf<std::uint8_t>(of("greater")), (std::vector<std::uint8_t>{1, 1, 0, 1}));
            QCOMPARE(valuesOf<std::uint64_t>(of("max")), (Numbers{kHigh, kMost, kMost, kHigh + 7}));
            QCOMPARE(valuesOf<std::uint64_t>(of("quotient")), (Numbers{1, kMost / 3, 0, (kHigh + 7) / 10}));
            QCOMPARE(valuesOf<std::uint64_t>(of("rest")), (Numbers{1, kMost % 3, 5, (kHigh + 7) % 10}));
            QCOMPARE(valuesOf<float>(of("float")), (std::vector<float>{0x1p63F, 0x1p64F, 5, 0x1p63F}));
            QCOMPARE(valuesOf<std::uint64_t>(of("least")), (Numbers{5}));
        }
    }

    void powersAndProductsWrapAround()
    {
        CompiledModel model;
        model.input("x", wire::Int64, {5}, std::vector<std::int64_t>{200'000'001, 3, -3, -1, 2});
        model.input("n", wire::Int64, {5}, std::vector<std::int64_t>{2, 40, 41, -3, 64});
        model.input("a", wire::Int32, {1, 2}, std::vector<std::int32_t>{2'000'000'000, 2'000'000'000});
        model.input("b", wire::Int32, {2, 1}, std::vector<std::int32_t>{2, 1});
        model.node("Pow", {"x", "n"}, "power");
        model.node("MatMul", {"a", "b"}, "product");
        must(model.compile());
        const std::vector<std::int64_t> powers{40'000'000'400'000'001, -6289078614652622815, 420491770248316829, -1, 0};
        const std::vector<std::int32_t> products{1'705'032'704};
        for (const graph::HostTensor* tensor : {&model.compiled("power"), &model.evaluated("power")})
            QCOMPARE(valuesOf<std::int64_t>(*tensor), powers);
        for (const graph::HostTensor* tensor : {&model.compiled("product"), &model.evaluated("product")})
            QCOMPARE(valuesOf<std::int32_t>(*tensor), products);
    }

    void meansAreOfTheSumAsItWrapped()
    {
        constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
        CompiledModel model;
        model.input("x", wire::Int32, {3, 2}, std::vector<std::int32_t>{-7, 2, kMost, 1, 7, -2});
        model.node("ReduceMean", {"x"}, "mean", wire::intsAttribute("axes", {1}) + wire::intAttribute("keepdims", 0));
        must(model.compile());
        for (const graph::HostTensor* tensor : {&model.compiled("mean"), &model.evaluated("mean")})
            QCOMPARE(valuesOf<std::int32_t>(*tensor), (std::vector<std::int32_t>{-2, -(1 << 30), 2}));
    }

    void indicesOutOfRangeTakeTheNearest()
    {
        constexpr std::int64_t kFar = (std::int64_t{1} << 32) + 1;
        CompiledModel model;
        model.evaluates = false; // the reference executor refuses them
        model.input("x", wire::Float, {3}, std::vector<float>{10, 20, 30});
        model.input("i", wire::Int64, {6}, std::vector<std::int64_t>{kFar, -kFar, 1, -1, 7, -9});
        model.node("Gather", {"x", "i"}, "y");
        must(model.compile());
        QCOMPARE(valuesOf<float>(model.compiled("y")), (std::vector<float>{30, 10, 20, 30, 30, 10}));
    }

    void madeUpIndicesExist()
    {
        if (valuesTarget() != "cpu")
            QSKIP("nothing of it is the device's");
        CompiledModel model;
        model.input("x", wire::Float, {5, 2}, std::vector<float>(10));
        model.input("ids", wire::Int64, {2, 3}, std::vector<std::int64_t>(6));
        model.input("kinds", wire::Int32, {4}, std::vector<std::int32_t>(4));
        model.input("numbers", wire::Int64, {4}, std::vector<std::int64_t>(4));
        model.model().initializers = {wire::tensor("two", wire::Int64, {}, wire::ints({2})),
                                      wire::tensor("table", wire::Float, {3, 1}, wire::floats({1, 2, 3}))};
        model.node("Gather", {"x", "ids"}, "rows");
        model.model().nodes.push_back(wire::node("Reshape", {"ids", "six"}, {"flat"}));
        model.model().initializers.push_back(wire::tensor("six", wire::Int64, {1}, wire::ints({6})));
        model.node("Gather", {"table", "flat"}, "again"); // the smaller table counts
        model.node("Gather", {"x", "kinds"}, "others");
        model.node("Add", {"numbers", "two"}, "sum");
        must(model.compile());
        const std::vector<graph::InputRange> ranges = graph::inputRanges(model.imported());
        QVERIFY(ranges
                == (std::vector<graph::InputRange>{
                    {}, {graph::ValueRange{0, 2}, true}, {graph::ValueRange{0, 4}, true}, {}}));
        // Verification makes them up; values beyond the tables would be refused.
        deploy::VerifyOptions options;
        const auto report = deploy::verifyLibrary(model.library(), graph::interpret, model.imported(), nullptr,
                                                  options);
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY2(report->passed, report->text.c_str());
    }

    void castsStayWithinTheirType()
    {
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const std::vector<float> x = {
            300, -1, std::numeric_limits<float>::quiet_NaN(), kInf, -kInf, 3e9F, -3e9F, 1e19F, -1e19F, 127.9F, -128.9F};
        CompiledModel model;
        model.joins = true;
        model.input("x", wire::Float, {11}, x);
        const std::pair<const char*, wire::DataType> types[] = {{"u8", wire::Uint8},  {"i8", wire::Int8},
                                                                {"i32", wire::Int32}, {"u32", wire::Uint32},
                                                                {"i64", wire::Int64}, {"bool", wire::Bool}};
        for (const auto& [name, type] : types)
            model.node("Cast", {"x"}, name, wire::intAttribute("to", type));
        must(model.compile());
        using U8 = std::vector<std::uint8_t>;
        QCOMPARE(valuesOf<std::uint8_t>(model.compiled("u8")), (U8{255, 0, 0, 255, 0, 255, 0, 255, 0, 127, 0}));
        QCOMPARE(valuesOf<std::int8_t>(model.compiled("i8")),
                 (std::vector<std::int8_t>{127, -1, 0, 127, -128, 127, -128, 127, -128, 127, -128}));
        QCOMPARE(valuesOf<std::int32_t>(model.compiled("i32"))[5], std::numeric_limits<std::int32_t>::max());
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("i64"))[7], std::numeric_limits<std::int64_t>::max());
        QCOMPARE(valuesOf<std::int64_t>(model.compiled("i64"))[8], std::numeric_limits<std::int64_t>::min());
        QCOMPARE(valuesOf<std::uint8_t>(model.compiled("bool")), (U8{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
        for (const auto& [name, type] : types)
            QVERIFY2(model.compiled(name).bytes == model.evaluated(name).bytes, name);
    }
};

LATHE_TEST_GUILESS(TestIntegerEnds)

} // namespace tst_integer_ends

#include "tst_integer_ends.moc"
