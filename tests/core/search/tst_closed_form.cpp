// What Lathe's features say of a schedule in closed form, against the loops that it lowers to.

#include "core/policy/policy_table.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "tests/support/search/cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tst_closed_form {

using namespace lathe;
using namespace lathe::search;
using lathe::test::searchCase;

namespace {

/// A sum in registers, with the loops around it.
struct Sum
{
    double parallel = 1, vectorized = 1, unrolled = 1, iterations = 1;
    bool ragged = false; ///< some loop's length depends on others: padding is left out, not added
};

class Walk
{
public:
    explicit Walk(const ir::LoopNest& nest)
        : m_nest(nest)
    {
        for (const ir::Stmt& phase : nest.phases)
            visit(phase, {});
    }
    const std::vector<Sum>& sums() const { return m_sums; }

private:
    bool readsItself(const ir::StmtNode& store) const { return reads(store.value, store.buffer); }
    static bool reads(const ir::Expr& e, std::int32_t buffer)
    {
        return (e->kind == ir::ExprKind::Load && e->source == buffer)
               || std::any_of(e->operands.begin(), e->operands.end(),
                              [&](const ir::Expr& operand) { return reads(operand, buffer); });
    }
    void visit(const ir::Stmt& s, Sum around)
    {
        if (s->kind == ir::StmtKind::Store) {
            if (m_nest.buffers[static_cast<std::size_t>(s->buffer)].scope == ir::Scope::Register && readsItself(*s))
                m_sums.push_back(around);
            return;
        }
        if (s->kind == ir::StmtKind::For) {
            const bool constant = s->extent->kind == ir::ExprKind::IntImm;
            const double extent = constant ? static_cast<double>(s->extent->intValue) : 1;
            around.ragged = around.ragged || !constant;
            around.iterations *= extent;
            switch (s->loop) {
            case ir::LoopKind::Parallel: around.parallel *= extent; break;
            case ir::LoopKind::Vectorized: around.vectorized *= extent; break;
            case ir::LoopKind::Unrolled: around.unrolled *= extent; break;
            default: break;
            }
        }
        for (const ir::Stmt& child : s->body)
            visit(child, around);
    }

    const ir::LoopNest& m_nest;
    std::vector<Sum> m_sums;
};

} // namespace

class TestClosedForm : public QObject
{
    Q_OBJECT

private slots:
    void factsOfATileAreThoseOfItsLoops_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"conv1x1", "conv3x3", "depthwise", "dense"})
            QTest::newRow(name) << name;
    }
    void factsOfATileAreThoseOfItsLoops()
    {
        QFETCH(QString, name);
        auto task = searchCase(name.toStdString(), "cpu -mcpu=emeraldrapids -threads=2");
        QVERIFY(task);
        task->alternatives.resize(1); // direct
        const SearchAlternative& direct = task->alternatives.front();
        const auto sketch = LatheSketch::create(direct, task->hardware);
        QVERIFY(sketch);
        PolicyOptions options;
        const auto policy = policy::makePolicy("random", *task, *policy::makeSharedModel("random", 1, options),
                                               options);
        SerialExecutor executor;
        const auto candidates = (*policy)->propose(0, 60, executor);
        QVERIFY(candidates);
        int compared = 0, whole = 0;
        for (const Candidate& candidate : *candidates) {
            const auto steps = (*sketch)->instantiate(candidate.genome);
            QVERIFY(steps);
            auto state = schedule::State::replay(direct.dag, *steps);
            QVERIFY(state);
            schedule::LowerOptions lowering;
            lowering.constantInputs = direct.constantInputs;
            const auto kernel = schedule::lower(*std::move(state), lowering);
            QVERIFY2(bool(kernel), kernel ? "" : kernel.error().message.c_str());
            const Walk walk(kernel->nest);
            const auto [first, count] = (*sketch)->genesOf(0);
            const auto facts = (*sketch)->nest(0).facts(std::span(candidate.genome).subspan(first, count));
            QVERIFY(facts);
            if (walk.sums().size() != 1)
                continue; // loops divided at the border: several copies of the body
            const Sum& sum = walk.sums().front();
            const auto text = candidate.steps.c_str();
            QVERIFY2(sum.vectorized == facts->lanes, text);
            QVERIFY2(sum.unrolled == facts->bodySize, text);
            QVERIFY2(sum.parallel == facts->parallelChunks, text);
            // Two operations a step.
            QVERIFY2(sum.ragged || std::abs(sum.iterations * 2 - facts->flops * facts->waste) < 1e-9 * facts->flops,
                     text);
            ++compared;
            whole += sum.ragged ? 0 : 1;
        }
        QVERIFY2(compared >= 15 && whole >= 8, qPrintable(QString("%1, %2 of them whole").arg(compared).arg(whole)));
    }
};

LATHE_TEST(TestClosedForm)

} // namespace tst_closed_form

#include "tst_closed_form.moc"
