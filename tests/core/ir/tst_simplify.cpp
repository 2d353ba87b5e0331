#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/support/random.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <limits>
#include <map>

namespace tst_simplify {

using namespace lathe;
using namespace lathe::ir;

namespace {

/// Value of an integer expression under an assignment of variables.
std::int64_t value(const Expr& e, const std::map<const Node*, std::int64_t>& at)
{
    const auto v = [&](std::size_t i) { return value(e->operands[i], at); };
    switch (e->kind) {
    case ExprKind::IntImm: return e->intValue;
    case ExprKind::Var: return at.at(e.get());
    case ExprKind::Add: return v(0) + v(1);
    case ExprKind::Sub: return v(0) - v(1);
    case ExprKind::Mul: return v(0) * v(1);
    case ExprKind::FloorDiv: return floorDivide(v(0), v(1));
    case ExprKind::FloorMod: return floorModulo(v(0), v(1));
    case ExprKind::Min: return std::min(v(0), v(1));
    case ExprKind::Max: return std::max(v(0), v(1));
    case ExprKind::Eq: return v(0) == v(1);
    case ExprKind::Ne: return v(0) != v(1);
    case ExprKind::Lt: return v(0) < v(1);
    case ExprKind::Le: return v(0) <= v(1);
    case ExprKind::Gt: return v(0) > v(1);
    case ExprKind::Ge: return v(0) >= v(1);
    case ExprKind::And: return v(0) != 0 && v(1) != 0;
    case ExprKind::Or: return v(0) != 0 || v(1) != 0;
    case ExprKind::Not: return v(0) == 0;
    case ExprKind::Select: return v(0) != 0 ? v(1) : v(2);
    default: return 0;
    }
}

class RandomExpr
{
public:
    RandomExpr(const std::vector<Expr>& variables, std::uint64_t seed)
        : m_variables(variables)
        , m_random(seed)
    {
    }

    Expr integer(int depth)
    {
        if (depth == 0 || below(5) == 0)
            return below(3) == 0 ? intImm(below(12) - 4) : m_variables[m_random.below(m_variables.size())];
        switch (below(9)) {
        case 0:
        case 1:
        case 2: return integer(depth - 1) + integer(depth - 1);
        case 3: return integer(depth - 1) - integer(depth - 1);
        case 4: return integer(depth - 1) * intImm(below(20) - 3);
        case 5: return floorDiv(integer(depth - 1), intImm(1 + below(16)));
        case 6: return floorMod(integer(depth - 1), intImm(1 + below(16)));
        case 7:
            return below(2) == 0 ? min(integer(depth - 1), integer(depth - 1))
                                 : max(integer(depth - 1), integer(depth - 1));
        default: return select(condition(depth - 1), integer(depth - 1), integer(depth - 1));
        }
    }

    Expr condition(int depth)
    {
        switch (depth == 0 ? 0 : below(4)) {
        case 1: return condition(depth - 1) && condition(depth - 1);
        case 2: return condition(depth - 1) || condition(depth - 1);
        case 3: return !condition(depth - 1);
        default: break;
        }
        const auto kind = static_cast<ExprKind>(static_cast<int>(ExprKind::Eq) + static_cast<int>(below(6)));
        return binary(kind, integer(depth), integer(depth));
    }

private:
    std::int64_t below(std::uint64_t n) { return static_cast<std::int64_t>(m_random.below(n)); }

    const std::vector<Expr>& m_variables;
    Random m_random;
};

QString simplified(const Expr& e, const Ranges& ranges)
{
    return QString::fromStdString(print(simplify(e, ranges)));
}

} // namespace

class TestSimplify : public QObject
{
    Q_OBJECT

private slots:
    void simplifyingKeepsTheValue();
    void splitsAndLayoutsCancel();
    void fusedLoopsComeApart();
    void lanesDoNotDecideWhereAThreadIs();
    void conditionsAreDecidedByBounds();
    void inequalitiesAreCanonical();
    void boundsHoldForEveryValue();
    void zerosOfConstantMatricesLeaveSums();
    void dataMayWrapAround();
    void loopsOfOneIterationGoAway();
};

void TestSimplify::simplifyingKeepsTheValue()
{
    bool given = false;
    const qulonglong asked = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
    const std::uint64_t first = given ? asked : 1;
    for (std::uint64_t seed = first; seed < first + (given ? 1 : 1500); ++seed) {
        std::vector<Expr> variables{var("a"), var("b"), var("c"), var("d")};
        Random random(seed);
        Ranges ranges;
        std::vector<Interval> intervals;
        for (const Expr& v : variables) {
            const auto lo = static_cast<std::int64_t>(random.below(6)) - 2;
            intervals.push_back({lo, lo + static_cast<std::int64_t>(random.below(18))});
            ranges.set(v, intervals.back());
        }
        RandomExpr make(variables, seed ^ 0x5555);
        const Expr e = seed % 3 == 0 ? make.condition(3) : make.integer(4);
        const Expr s = simplify(e, ranges);
        const Interval bounds = boundsOf(e, ranges);
        for (int trial = 0; trial < 12; ++trial) {
            std::map<const Node*, std::int64_t> at;
            for (std::size_t i = 0; i < variables.size(); ++i) {
                const auto width = static_cast<std::uint64_t>(intervals[i].hi - intervals[i].lo + 1);
                at[variables[i].get()] = intervals[i].lo + static_cast<std::int64_t>(random.below(width));
            }
            const std::int64_t want = value(e, at);
            QVERIFY2(
                value(s, at) == want && bounds.lo <= want && want <= bounds.hi,
                qPrintable(
                    QString("LATHE_TEST_SEED=%1: %2 became %3").arg(seed).arg(print(e).c_str(), print(s).c_str())));
        }
    }
}

void TestSimplify::splitsAndLayoutsCancel()
{
    const Expr a = var("a");
    const Expr b = var("b");
    const Expr c = var("c");
    Ranges ranges;
    ranges.setExtent(a, 4);
    ranges.setExtent(b, 2);
    ranges.setExtent(c, 16);
    const Expr index = a * 32 + b * 16 + c;
    QCOMPARE(simplified(floorDiv(index, 32), ranges), QString("a"));
    QCOMPARE(simplified(floorMod(floorDiv(index, 16), 2), ranges), QString("b"));
    QCOMPARE(simplified(floorMod(index, 16), ranges), QString("c"));
    QCOMPARE(simplified((a * 4 + 3) - a * 4, ranges), QString("3"));
    QCOMPARE(simplified(floorDiv(floorDiv(var("x"), 4), 8), Ranges()), QString("floordiv(x, 32)"));
    QCOMPARE(simplified(floorMod(floorMod(var("x"), 32), 8), Ranges()), QString("floormod(x, 8)"));
}

void TestSimplify::fusedLoopsComeApart()
{
    const Expr f = var("f");
    Ranges ranges;
    ranges.setExtent(f, 56);
    QCOMPARE(simplified(floorDiv(f, 7) * 7 + floorMod(f, 7), ranges), QString("f"));
    QCOMPARE(simplified(floorMod(floorDiv(f, 7), 8), ranges), QString("floordiv(f, 7)"));
    QCOMPARE(simplified(floorDiv(floorMod(f, 14) * 16 + 3, 16), ranges), QString("floormod(f, 14)"));
}

/// Threads fetch elements of a tile by fours: rows and columns of it, and its end, are the same for all four.
void TestSimplify::lanesDoNotDecideWhereAThreadIs()
{
    const Expr round = var("round"), thread = var("thread"), lane = var("lane");
    Ranges ranges;
    ranges.setExtent(round, 3);
    ranges.setExtent(thread, 224);
    ranges.setExtent(lane, 4);
    const Expr element = round * 896 + thread * 4 + lane;
    QCOMPARE(simplified(floorDiv(element, 256), ranges), QString("((round*3) + floordiv(((round*32) + thread), 64))"));
    QCOMPARE(simplified(floorMod(element, 16), ranges), QString("(lane + (floormod(thread, 4)*4))"));
    QCOMPARE(simplified(element < 2560, ranges), QString("(((round*224) + thread) < 640)"));
    // An end between the lanes of a thread, and a lane more than there is room for.
    QVERIFY(simplified(element < 2562, ranges).contains("lane"));
    ranges.setExtent(lane, 5);
    QVERIFY(simplified(floorDiv(element, 256), ranges).contains("lane"));
    // Whatever the sizes are.
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        const auto upTo = [&random](std::uint64_t most) { return static_cast<std::int64_t>(1 + random.below(most)); };
        const Expr a = var("a"), b = var("b"), c = var("c");
        const std::array<std::int64_t, 3> extents = {upTo(5), upTo(9), upTo(6)};
        Ranges known;
        known.setExtent(a, extents[0]);
        known.setExtent(b, extents[1]);
        known.setExtent(c, extents[2]);
        const std::int64_t unit = upTo(6), divisor = unit * upTo(4), end = unit * upTo(40) + upTo(2) - 1;
        const Expr sum = a * intImm(unit * upTo(12)) - b * intImm(unit) + c + intImm(upTo(9) - 4);
        for (const Expr& e : {floorDiv(sum, intImm(divisor)), floorMod(sum, intImm(divisor)), sum < intImm(end),
                              sum >= intImm(end), intImm(end) < sum}) {
            const Expr s = simplify(e, known);
            for (std::int64_t i = 0; i < extents[0] * extents[1] * extents[2]; ++i) {
                const std::map<const Node*, std::int64_t> at = {{a.get(), i / extents[1] / extents[2]},
                                                                {b.get(), i / extents[2] % extents[1]},
                                                                {c.get(), i % extents[2]}};
                QVERIFY2(value(s, at) == value(e, at),
                         qPrintable(QString("%1: %2 became %3").arg(seed).arg(print(e).c_str(), print(s).c_str())));
            }
        }
    }
}

void TestSimplify::conditionsAreDecidedByBounds()
{
    const Expr oh = var("oh");
    const Expr kh = var("kh");
    Ranges ranges;
    ranges.set(oh, {1, 54});
    ranges.setExtent(kh, 3);
    QVERIFY(provablyTrue(oh + kh - 1 >= 0, ranges));
    QVERIFY(provablyTrue(oh + kh - 1 < 56, ranges));
    QVERIFY(!provablyTrue(oh + kh - 1 < 55, ranges));
    QVERIFY(provablyFalse(oh + kh > 56, ranges));
    QCOMPARE(simplified(max(Expr(0), Expr(1) - oh), ranges), QString("0"));
}

void TestSimplify::inequalitiesAreCanonical()
{
    const Expr x = var("x");
    const Expr y = var("y");
    QCOMPARE(simplified(Expr(1) <= x * 2 + y, Ranges()), QString("(((x*2) + y) >= 1)"));
    QCOMPARE(simplified(x * 4 + 3 < 22, Ranges()), QString("(x < 5)"));
    QCOMPARE(simplified(!(x < 3), Ranges()), QString("(x >= 3)"));
    QCOMPARE(simplified(x + y >= y + 2, Ranges()), QString("(x >= 2)"));
}

void TestSimplify::boundsHoldForEveryValue()
{
    const Expr x = var("x");
    Ranges ranges;
    ranges.set(x, {-3, 10});
    QCOMPARE(boundsOf(x * -2 + 1, ranges), (Interval{-19, 7}));
    QCOMPARE(boundsOf(floorMod(x, 4), ranges), (Interval{0, 3}));
    QCOMPARE(boundsOf(max(x, 2) - min(x, 5), ranges).hi, std::int64_t{13});
    QCOMPARE(boundsOf(var("free"), ranges), Interval::all());
    QCOMPARE(boundsOf(var("free") - var("free") + 3, Ranges()).hi, Interval::kUnbounded);
}

void TestSimplify::dataMayWrapAround()
{
    const Expr a = load(0, DType::I32, {0}), b = load(1, DType::I32, {0}), i = var("i");
    Ranges ranges;
    ranges.setExtent(i, 100);
    // y + 1 is no number where y is the largest: a comparison of data stays what it is.
    const Expr greater = simplify(a > b, ranges);
    QVERIFY(greater->kind == ExprKind::Gt && greater->operands[0].same(a) && greater->operands[1].same(b));
    QVERIFY(simplify(a <= intImm(std::numeric_limits<std::int32_t>::max()), ranges)->kind == ExprKind::Le);
    QVERIFY(simplify(floorDiv(a * 4, 4), ranges)->kind == ExprKind::FloorDiv);
    QVERIFY(simplify(floorDiv(i * 4, 4), ranges).same(i));
    QVERIFY(simplify(max(a + 1, a), ranges)->kind == ExprKind::Max);
    QVERIFY(simplify(a + 1 > a, ranges)->kind == ExprKind::Gt);
    QVERIFY(isConst(simplify(i + 1 > i, ranges), 1));
    QVERIFY(boundsOf(a * 4, ranges) == Interval::all());
    // A quotient of a quotient, where the divisors together are beyond the type.
    const Expr wide = max(load(2, DType::I64, {0}), intImm(0, DType::I64)),
               large = intImm(std::int64_t{1} << 32, DType::I64);
    QVERIFY(simplify(floorDiv(floorDiv(wide, large), large), ranges)->kind == ExprKind::FloorDiv);
    const Expr narrow = max(a, 0);
    const Expr nested = simplify(floorDiv(floorDiv(narrow, 65536), 65536), ranges);
    QVERIFY(nested->kind == ExprKind::FloorDiv && isConst(nested->operands[1], 65536));
    // Narrow integers wrap at their own ends, unsigned ones at 0.
    const Expr u = load(3, DType::U8, {0}), v = load(4, DType::U8, {0}), s = load(5, DType::I8, {0});
    QVERIFY(boundsOf(u + v < u, ranges) == (Interval{0, 1}));
    QVERIFY(boundsOf(u - v > u, ranges) == (Interval{0, 1}));
    QVERIFY(boundsOf(cast(DType::I64, cast(DType::U32, s)) < intImm(1000, DType::I64), ranges) == (Interval{0, 1}));
    // What is known to be small does not.
    const Expr index = min(max(a, 0), 9);
    QVERIFY(isConst(simplify(index * 4 < 40, ranges), 1));
    // Sums of literals wrap as machines do.
    QCOMPARE((intImm(std::numeric_limits<std::int32_t>::max()) + 1)->intValue,
             std::int64_t{std::numeric_limits<std::int32_t>::min()});
    QCOMPARE((intImm(std::numeric_limits<std::int64_t>::min(), DType::I64) - 1)->intValue,
             std::numeric_limits<std::int64_t>::max());
}

void TestSimplify::zerosOfConstantMatricesLeaveSums()
{
    const Expr x = var("x", DType::F32);
    QVERIFY(simplify(x * vanishingZero(DType::F32) + x, Ranges()).same(x));
    // Any other: an infinity times 0 is no number, and -0 + 0 is 0.
    QVERIFY(simplify(x * floatImm(0), Ranges())->kind == ExprKind::Mul);
    QVERIFY(simplify(x + floatImm(0), Ranges())->kind == ExprKind::Add);
    QVERIFY(simplify(x - floatImm(0), Ranges()).same(x));
    QVERIFY(!equal(floatImm(0), floatImm(-0.0)));
    QVERIFY(simplify(x * floatImm(1), Ranges()).same(x));
}

void TestSimplify::loopsOfOneIterationGoAway()
{
    const Expr i = var("i");
    const Expr j = var("j");
    const Stmt store = makeStore(0, {i, j}, floatImm(1));
    const Stmt nest = makeFor(i, 0, 1, LoopKind::Serial,
                              makeFor(j, 2, 1, LoopKind::Unrolled, makeIf(i + j < 3, store)));
    Ranges ranges;
    const Stmt s = simplify(nest, ranges);
    QVERIFY(s->kind == StmtKind::Store);
    QVERIFY(isConst(s->indices[0], 0) && isConst(s->indices[1], 2));
    QVERIFY(simplify(makeFor(i, 0, 0, LoopKind::Serial, store), ranges) == nullptr);
    QVERIFY(simplify(makeStore(0, {i}, load(0, DType::F32, {i})), ranges) == nullptr);
}

LATHE_TEST(TestSimplify)

} // namespace tst_simplify

#include "tst_simplify.moc"
