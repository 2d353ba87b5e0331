#include "core/ir/expr.h"
#include "core/ir/substitute.h"
#include "core/schedule/partition.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_divided_loops {

using namespace lathe;

/// Loops divided where the conditions inside change.
class TestDividedLoops : public QObject
{
    Q_OBJECT

    /// Rows, the first of which is a border, of so many unrolled pixels; divided by rows.
    static ir::Stmt divided(std::int64_t rows, std::int64_t pixels)
    {
        const ir::Expr y = ir::var("y"), x = ir::var("x");
        const ir::Stmt store = ir::makeStore(
            0, {y, x},
            ir::ifThenElse(y >= ir::intImm(1), ir::load(1, DType::F32, {y - ir::intImm(1), x}), ir::floatImm(0)));
        const ir::Stmt body = ir::makeFor(x, ir::intImm(0), ir::intImm(pixels), ir::LoopKind::Unrolled, store);
        ir::Ranges ranges;
        return schedule::partitionLoops(ir::makeFor(y, ir::intImm(0), ir::intImm(rows), ir::LoopKind::Serial, body),
                                        {y.get()}, ranges);
    }
    static int conditions(const ir::Stmt& s)
    {
        int found = 0;
        if (s->value)
            ir::visit(s->value, [&found](const ir::Expr& e) { found += e->kind == ir::ExprKind::IfThenElse ? 1 : 0; });
        for (const ir::Stmt& inner : s->body)
            found += conditions(inner);
        return found;
    }

private slots:
    void theBorderIsALoopOfItsOwn()
    {
        const ir::Stmt s = divided(6, 8);
        QVERIFY(s->kind == ir::StmtKind::Block);
        QCOMPARE(s->body.size(), std::size_t{2});
        QCOMPARE(conditions(s), 0);
    }

    void copiesThatWouldBeTooLongAreNotMade()
    {
        QCOMPARE(conditions(divided(6, 2000)), 0); // 2,000 stores of the border and as many of the rest
        const ir::Stmt s = divided(6, 2001);
        QVERIFY(s->kind == ir::StmtKind::For);
        QCOMPARE(conditions(s), 1);
    }
};

LATHE_TEST(TestDividedLoops)

} // namespace tst_divided_loops

#include "tst_divided_loops.moc"
