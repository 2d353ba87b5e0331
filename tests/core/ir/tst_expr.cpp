#include "core/ir/print.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_expr {

using namespace lathe;
using namespace lathe::ir;

namespace {

QString text(const Expr& e)
{
    return QString::fromStdString(print(e));
}

} // namespace

class TestExpr : public QObject
{
    Q_OBJECT

private slots:
    void indexArithmeticKeepsItsPrintedForm();
    void integerLiteralsFold();
    void integersDivideByFloor();
    void floatsAreLeftAlone();
    void literalsPrintAsTheReferences();
    void variablesAreEqualByIdentity();
    void conditionsFoldWhereOneSideIsKnown();
    void widthsOfIntegersMeet();
    void computeDagSpellingIsAnOption();
};

void TestExpr::indexArithmeticKeepsItsPrintedForm()
{
    const Expr yy = var("yy");
    const Expr ry = var("ry");
    QCOMPARE(text(yy * 2 + ry), QString("((yy*2) + ry)"));
    QCOMPARE(text(floorMod(yy, 4)), QString("floormod(yy, 4)"));
    QCOMPARE(text(load(3, DType::F32, {yy, ry - 1})), QString("b3[yy, (ry - 1)]"));
    QCOMPARE(text(select(yy >= 1 && ry < 3, floatImm(0.5), floatImm(0))),
             QString("select(((yy >= 1) && (ry < 3)), 0.5f, 0f)"));
}

void TestExpr::integerLiteralsFold()
{
    const Expr x = var("x");
    QVERIFY((x * 1).same(x));
    QVERIFY((x + 0).same(x));
    QVERIFY((Expr(0) + x).same(x));
    QVERIFY(isConst(x * 0, 0));
    QVERIFY(isConst(Expr(2) * Expr(3), 6));
    QVERIFY(isConst(floorMod(x, 1), 0));
    QVERIFY(isConst(max(Expr(2), Expr(3)), 3));
}

void TestExpr::integersDivideByFloor()
{
    QVERIFY(isConst(floorDiv(Expr(-7), Expr(2)), -4));
    QVERIFY(isConst(floorMod(Expr(-7), Expr(2)), 1));
    QVERIFY(isConst(floorDiv(Expr(7), Expr(-2)), -4));
    QCOMPARE(text(floorDiv(Expr(7), Expr(0))), QString("floordiv(7, 0)"));
}

void TestExpr::floatsAreLeftAlone()
{
    const Expr x = var("x", DType::F32);
    QCOMPARE(text(x + floatImm(0)), QString("(x + 0f)"));
    QCOMPARE(text(x * 1), QString("(x*1f)"));
}

void TestExpr::literalsPrintAsTheReferences()
{
    QCOMPARE(text(floatImm(-3.4028234663852886e38)), QString("-3.40282e+38f"));
    QCOMPARE(text(floatImm(0.5, DType::F16)), QString("0.5h"));
    QCOMPARE(text(floatImm(2, DType::F64)), QString("2"));
    QCOMPARE(text(intImm(3, DType::I64)), QString("(int64)3"));
    QCOMPARE(text(boolImm(true)), QString("(bool)1"));
    QCOMPARE(text(cast(DType::F32, var("i"))), QString("float32(i)"));
}

void TestExpr::variablesAreEqualByIdentity()
{
    const Expr a = var("i");
    const Expr b = var("i");
    QVERIFY(equal(a + 1, a + 1));
    QVERIFY(!equal(a + 1, b + 1));
    QVERIFY(!equal(load(1, DType::F32, {a}), load(2, DType::F32, {a})));
    QVERIFY(!equal(intImm(1), intImm(1, DType::I64)));
}

void TestExpr::conditionsFoldWhereOneSideIsKnown()
{
    const Expr c = var("i") < 3;
    QVERIFY((c && boolImm(true)).same(c));
    QVERIFY(isConst(c && boolImm(false), 0));
    QVERIFY(isConst(boolImm(true) || c, 1));
    QVERIFY(select(boolImm(false), floatImm(1), floatImm(2))->floatValue == 2.0);
}

void TestExpr::widthsOfIntegersMeet()
{
    const Expr wide = var("n", DType::I64);
    QCOMPARE((var("i") + wide)->dtype, DType::I64);
    QCOMPARE((wide * 2)->dtype, DType::I64);
    QCOMPARE((wide < 2)->dtype, DType::Bool);
}

void TestExpr::computeDagSpellingIsAnOption()
{
    PrintOptions options;
    options.callPrefix = "tir.";
    options.sourceName = [](std::int32_t, std::int32_t) { return std::string("data"); };
    const Expr i = var("i");
    const Expr padded = ifThenElse(i >= 1, call("exp", DType::F32, {load(0, DType::F32, {i})}), floatImm(0));
    QCOMPARE(QString::fromStdString(print(padded, options)),
             QString("tir.if_then_else((i >= 1), tir.exp(data[i]), 0f)"));
}

LATHE_TEST(TestExpr)

} // namespace tst_expr

#include "tst_expr.moc"
