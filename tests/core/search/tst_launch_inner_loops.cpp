#include "core/ir/print.h"
#include "core/ir/substitute.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

namespace tst_launch_inner_loops {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

/// Candidates of one form of the direct convolution, lowered.
class Candidates
{
public:
    Candidates(SearchAlternative alternative, LaunchForm form, bool isProcessor = false)
        : m_alternative(std::move(alternative))
    {
        SearchTask t = task({m_alternative}, "cuda");
        if (isProcessor)
            t.hardware.limits["simd_width"] = {8, "test"};
        m_sketch = must(LaunchSketch::create(m_alternative, t.hardware, t.target.family(), form));
    }

    /// Empty: none was drawn.
    Genome draw(std::uint64_t seed) const
    {
        Random random(seed);
        return drawnGenome(*m_sketch, random);
    }
    std::int64_t value(const Genome& genome, const std::string& name) const
    {
        for (std::size_t p = 0; p < genome.size(); ++p)
            if (m_sketch->parameters()[p].name.starts_with(name + ' '))
                return m_sketch->parameters()[p].values[static_cast<std::size_t>(genome[p])];
        return -1;
    }
    ir::LoopNest lowered(const Genome& genome) const
    {
        const auto state = must(schedule::State::replay(m_alternative.dag, must(m_sketch->instantiate(genome))));
        schedule::LowerOptions options;
        options.form = KernelForm::Launches;
        options.constantInputs = m_alternative.constantInputs;
        return must(schedule::lower(state, options)).nest;
    }

private:
    SearchAlternative m_alternative;
    std::shared_ptr<const LaunchSketch> m_sketch;
};

bool readsItself(const ir::StmtNode& store)
{
    bool found = false;
    ir::visit(store.value, [&](const ir::Expr& e) {
        found = found || (e->kind == ir::ExprKind::Load && e->source == store.buffer);
    });
    return found;
}

/// Statements that add to a sum: all, and those that a condition guards.
struct Additions
{
    int all = 0, guarded = 0;

    void count(const ir::Stmt& s, bool isGuarded = false)
    {
        if (!s)
            return;
        if (s->kind == ir::StmtKind::Store && readsItself(*s)) {
            ++all;
            guarded += isGuarded ? 1 : 0;
        }
        for (const ir::Stmt& inner : s->body)
            count(inner, isGuarded || s->kind == ir::StmtKind::If);
    }
};

/// Whether a condition stands inside of loops that are written out, around a statement that adds to a sum: of a
/// thread's sums some are there and some are not.
bool dividesSums(const ir::Stmt& s, bool isWritten = false, bool isBranch = false)
{
    if (!s)
        return false;
    if (s->kind == ir::StmtKind::Store)
        return isBranch && readsItself(*s);
    if (s->kind == ir::StmtKind::For) {
        const bool isKept = s->loop == ir::LoopKind::Serial;
        return dividesSums(s->body[0], !isKept, !isKept && isBranch);
    }
    isBranch = isBranch || (isWritten && s->kind == ir::StmtKind::If);
    return std::ranges::any_of(s->body, [=](const ir::Stmt& inner) { return dividesSums(inner, isWritten, isBranch); });
}

/// The loops around the first statement that adds to a sum, outermost first.
bool loopsOfAdditions(const ir::Stmt& s, std::vector<const ir::StmtNode*>& loops)
{
    if (!s)
        return false;
    if (s->kind == ir::StmtKind::Store && readsItself(*s))
        return true;
    if (s->kind == ir::StmtKind::For)
        loops.push_back(s.get());
    if (std::ranges::any_of(s->body, [&](const ir::Stmt& inner) { return loopsOfAdditions(inner, loops); }))
        return true;
    if (s->kind == ir::StmtKind::For)
        loops.pop_back();
    return false;
}

} // namespace

/// What stands beside the products in the loops in which nearly all time goes.
class TestLaunchInnerLoops : public QObject
{
    Q_OBJECT

private slots:
    /// Threads at the edge of an image sum up zeros, or what nobody stores: a condition in the innermost loops would
    /// divide their loads and sums into pieces. That they compute what they should is tst_launch_sketches' affair.
    void edgesOfSharedTilesNeedNoConditions_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"3x3 of primes", "3x3 /2 NHWC", "3x3 NHWC", "1x1 NHWC, nothing after"})
            QTest::newRow(name) << name;
    }
    void edgesOfSharedTilesNeedNoConditions()
    {
        QFETCH(QString, name);
        for (const LaunchForm form : {LaunchForm::Shared, LaunchForm::SplitShared}) {
            const Candidates candidates(launchCase(name.toStdString()), form);
            int looked = 0;
            for (std::uint64_t seed = 1; seed <= 60; ++seed) {
                const Genome genome = candidates.draw(seed);
                // Both operands in shared memory; fours of channels of which the last are not whole are another matter.
                if (genome.empty() || candidates.value(genome, "staged") != 3 || candidates.value(genome, "fetch") != 1)
                    continue;
                ++looked;
                const ir::LoopNest nest = candidates.lowered(genome);
                Additions found;
                found.count(nest.launches.front().body);
                QVERIFY(found.all > 0);
                QVERIFY2(found.guarded == 0, ir::print(nest).c_str());
            }
            QVERIFY(looked > 5);
        }
    }

    /// What comes straight from memory is a choice between an element and zero, and what a thread has beyond the edge
    /// of the result is summed up all the same: no branch stands between the loads of one step.
    void edgesOfTilesFromMemoryAreChoices_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"3x3 of primes", "3x3 /2 NHWC", "3x3 NHWC", "7x7 of 3 channels",
                                       "1x1 NHWC, nothing after", "dense of primes"})
            QTest::newRow(name) << name;
    }
    void edgesOfTilesFromMemoryAreChoices()
    {
        QFETCH(QString, name);
        const Candidates candidates(launchCase(name.toStdString()), LaunchForm::Registers);
        int looked = 0, choices = 0;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            const Genome genome = candidates.draw(seed);
            if (genome.empty())
                continue;
            ++looked;
            const ir::LoopNest nest = candidates.lowered(genome);
            QVERIFY2(!dividesSums(nest.launches.back().body), ir::print(nest).c_str());
            ir::visitExprs(nest.launches.back().body, [&choices](const ir::Expr& e) {
                ir::visit(e, [&choices](const ir::Expr& inner) {
                    choices += inner->kind == ir::ExprKind::IfThenElse ? 1 : 0;
                });
            });
        }
        QVERIFY(looked > 20);
        QVERIFY(choices > 0);
    }

    /// Elements of neighbouring channels are loaded one after the other: the steps that are written out stand inside of
    /// the sums and of virtual threads, as many as one access holds. Processors' compilers keep sums in vectors,
    /// whatever comes between.
    void whatLiesTogetherIsLoadedTogether()
    {
        for (const bool isProcessor : {false, true}) {
            const Candidates candidates(launchCase("3x3 of many channels"), LaunchForm::Registers, isProcessor);
            int looked = 0;
            for (std::uint64_t seed = 1; seed <= 200; ++seed) {
                const Genome genome = candidates.draw(seed);
                if (genome.empty() || candidates.value(genome, "steps rc") < 8
                    || candidates.value(genome, "unroll") < 16
                    || candidates.value(genome, "steps rc") > candidates.value(genome, "unroll")
                    || candidates.value(genome, "sums ff") < 2)
                    continue;
                const ir::LoopNest nest = candidates.lowered(genome);
                std::vector<const ir::StmtNode*> loops;
                QVERIFY(loopsOfAdditions(nest.launches.back().body, loops));
                while (!loops.empty() && loops.back()->loop == ir::LoopKind::Vectorized)
                    loops.pop_back();
                QVERIFY(!loops.empty());
                ++looked;
                const bool isStep = loops.back()->variable->name.starts_with("rc");
                QVERIFY2(isStep != isProcessor, ir::print(nest).c_str());
                if (isStep)
                    QVERIFY2(loops.back()->extent->intValue == 4, ir::print(nest).c_str());
            }
            QVERIFY(looked > 2);
        }
    }
};

LATHE_TEST(TestLaunchInnerLoops)

} // namespace tst_launch_inner_loops

#include "tst_launch_inner_loops.moc"
