#include "core/ir/loop_nest.h"
#include "core/ir/print.h"
#include "core/schedule/conditions.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_conditions {

using namespace lathe;

/// Where conditions stand once they have been moved outward.
class TestConditions : public QObject
{
    Q_OBJECT

    static ir::Stmt store() { return ir::makeStore(0, {ir::intImm(0)}, ir::floatImm(1)); }
    /// Table 1 has entries for what is below 5 alone.
    static ir::Expr entry(const ir::Expr& x) { return ir::load(1, DType::I32, {x}) > ir::intImm(7); }
    static ir::Stmt loop(const ir::Expr& x, std::int64_t extent, const ir::Stmt& body,
                         ir::LoopKind kind = ir::LoopKind::Unrolled)
    {
        return ir::makeFor(x, ir::intImm(0), ir::intImm(extent), kind, body);
    }
    static ir::Stmt placed(const ir::Stmt& s)
    {
        ir::Ranges ranges;
        return schedule::placeConditions(s, ranges);
    }
    /// Of one statement in the other: "for x if ((x < 5)) if (...) store".
    static QString text(const ir::Stmt& s)
    {
        switch (s->kind) {
        case ir::StmtKind::For:
            return QString("%1 %2 ").arg(ir::toString(s->loop).c_str(), s->variable->name.c_str()) + text(s->body[0]);
        case ir::StmtKind::If: return QString("if %1 ").arg(ir::print(s->condition, {}).c_str()) + text(s->body[0]);
        case ir::StmtKind::Store: return "store";
        default: return "?";
        }
    }

private slots:
    /// Code computes both sides of a conjunction: joined, the entries behind the table's end would be read.
    void aConditionThatReadsStaysBehindTheOneThatGuardsIt()
    {
        const ir::Expr x = ir::var("x");
        const ir::Stmt nested = ir::makeIf(x < ir::intImm(5), ir::makeIf(entry(x), store()));
        QCOMPARE(text(placed(nested)), "if (x < 5) if (b1[x] > 7) store");
        QCOMPARE(text(placed(loop(x, 8, nested))), "unroll x if (x < 5) if (b1[x] > 7) store");
    }

    void aConditionThatReadsDoesNotLeaveTheLoopsThatTheGuardNeeds()
    {
        const ir::Expr x = ir::var("x"), y = ir::var("y");
        const ir::Stmt guarded = ir::makeIf(x < ir::intImm(5), ir::makeIf(entry(x), store()));
        QCOMPARE(text(placed(loop(x, 8, loop(y, 4, guarded)))), "unroll x if (x < 5) unroll y if (b1[x] > 7) store");
    }

    void conditionsThatReadNothingAreJoinedAndMovedOutward()
    {
        const ir::Expr x = ir::var("x"), y = ir::var("y");
        const ir::Stmt nested = ir::makeIf(x < ir::intImm(5), ir::makeIf(y < ir::intImm(3), store()));
        QCOMPARE(text(placed(nested)), "if ((x < 5) && (y < 3)) store");
        QCOMPARE(text(placed(loop(x, 8, loop(y, 4, nested)))), "unroll x if (x < 5) unroll y if (y < 3) store");
    }

    void aSerialLoopEndsWhereItsConditionDoes()
    {
        const ir::Expr x = ir::var("x");
        const ir::Stmt s = placed(
            loop(x, 8, ir::makeIf(x < ir::intImm(5), ir::makeIf(entry(x), store())), ir::LoopKind::Serial));
        QCOMPARE(text(s), "for x if (b1[x] > 7) store");
        QCOMPARE(ir::print(s->extent, {}), std::string("5"));
    }

    /// Threads step together: what one of them has less to do than another is a condition. What all of a block have
    /// less to do ends the loop.
    void whatDiffersBetweenThreadsEndsNoLoop()
    {
        const ir::Expr x = ir::var("x"), thread = ir::var("thread"), block = ir::var("block");
        ir::Ranges ranges;
        ranges.setExtent(thread, 4);
        ranges.setExtent(block, 4);
        const auto bounded = [&](const ir::Expr& index) {
            return schedule::placeConditions(
                loop(x, 8, ir::makeIf(x * ir::intImm(4) + index < ir::intImm(30), store()), ir::LoopKind::Serial),
                ranges, std::span(&thread, 1));
        };
        const ir::Stmt ofThread = bounded(thread), ofBlock = bounded(block);
        QVERIFY2(text(ofThread).startsWith("for x if "), qPrintable(text(ofThread)));
        QCOMPARE(ir::print(ofThread->extent, {}), std::string("8"));
        QCOMPARE(text(ofBlock), "for x store");
        QVERIFY(ofBlock->extent->kind != ir::ExprKind::IntImm);
    }
};

LATHE_TEST(TestConditions)

} // namespace tst_conditions

#include "tst_conditions.moc"
