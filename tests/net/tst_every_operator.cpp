#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/session/back_ends.h"
#include "tests/net/expectation.h"
#include "tests/net/findings.h"
#include "tests/net/kernel_run.h"
#include "tests/net/operator_table.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <list>

namespace tst_every_operator {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

constexpr std::array<OpenFinding, 0> kOpen = {};

/// The node alone, or what passes make of it where it has no definition of its own.
Result<KernelRun> kernelsOf(const OperatorCase& of, const Target& target, Schedule schedule, std::uint64_t seed,
                            KernelBatch& batch)
{
    const auto hasDefinition = [](const graph::Node& node) { return graph::findOperator(node.op)->compute != nullptr; };
    if (std::ranges::all_of(of.graph.nodes, hasDefinition))
        return KernelRun::ofNodes(of.graph, target, schedule, seed, batch);
    graph::PassRunner passes;
    LATHE_TRY_ASSIGN(const graph::Graph prepared, graph::prepare(of.graph, target, "", "lathe", passes));
    return KernelRun::ofNodes(prepared, target, schedule, seed, batch);
}

struct Kernel
{
    Schedule schedule;
    KernelRun run;
};

void check(const OperatorCase& of, const std::list<Kernel>& kernels, const KernelBatch& batch, Findings& findings)
{
    for (const Values values : kAllValues) {
        const std::vector<graph::HostTensor> inputs = of.inputs(values, 7);
        const auto said = [&](const std::string& who, const std::string& what) {
            findings.add(fmt::format("{}, {}, {} values: {}", of.name, who, toString(values), what));
        };
        const auto expected = expect(of.graph, inputs);
        if (!expected)
            return said("evaluated", expected.error().message);
        const auto against = [&](const std::string& who, const Result<std::vector<graph::HostTensor>>& got) {
            if (!got)
                return said(who, got.error().message);
            for (std::size_t i = 0; i < got->size(); ++i)
                if (const std::string text = compare((*got)[i], (*expected)[i]); !text.empty())
                    said(who, text);
        };
        for (const Kernel& kernel : kernels) {
            const auto got = kernel.run.run(batch, inputs, kernel.schedule == Schedule::Default ? 1 : 3);
            if (!got && findings.excuses(kernel.schedule, got.error()))
                continue;
            against(fmt::format("{} schedule", toString(kernel.schedule)), got);
            if (kernel.schedule == Schedule::Default)
                against("interpreted", kernel.run.interpret(inputs));
            findings.covered.emplace(of.dtype, kernel.schedule);
        }
    }
}

Findings findingsOf(const graph::OpDef& entry, const Target& target)
{
    Findings findings;
    // Functions of the runtime and what branches and loops are made of: tests/values and others run them in networks.
    if (entry.function || entry.traits.control != graph::Control::None) {
        findings.byFunction = true;
        return findings;
    }
    const std::vector<OperatorCase> cases = casesOf(entry);
    if (cases.empty())
        findings.add("no case covers it: add a row with its types and attributes to goodRows() of "
                     "tests/core/graph/operator_cases.h");
    KernelBatch batch(target.text());
    std::vector<std::list<Kernel>> kernels(cases.size());
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const Schedule schedule : cases[i].schedules) {
            const OperatorCase& of = cases[i];
            auto run = kernelsOf(of, target, schedule, seed++, batch);
            if (run)
                kernels[i].push_back({schedule, *std::move(run)});
            else if (schedule != Schedule::Sampled || run.error().code != Errc::Unsupported) // no sketch has it
                findings.add(fmt::format("{}, {} schedule: {}", of.name, toString(schedule), run.error().message));
        }
    findings.kernels = batch.size();
    if (const auto built = batch.build(); !built) {
        findings.add(built.error().message);
        return findings;
    }
    for (std::size_t i = 0; i < cases.size(); ++i)
        check(cases[i], kernels[i], batch, findings);
    return findings;
}

} // namespace

/// Each entry of the operator registry by itself, in every element type that its type rule accepts, by default and
/// random schedules, on difficult numbers: what kernels and the interpreter of compute DAGs give against the entry's
/// plain evaluation.
class TestEveryOperator : public QObject
{
    Q_OBJECT

private slots:
    void isRightInEveryType_data()
    {
        const Target target = must(session::parseTarget("cpu"));
        m_findings = findingsOfOperators([&](const graph::OpDef& entry) { return findingsOf(entry, target); });
    }
    void isRightInEveryType()
    {
        QFETCH(int, index);
        const Findings& findings = m_findings[static_cast<std::size_t>(index)];
        if (const OpenFinding* const open = openFinding(kOpen, QTest::currentDataTag())) {
            qInfo("open: %s: %zu: %s%s", QTest::currentDataTag(), findings.wrong, open->reason.data(),
                  findings.text.c_str());
            QCOMPARE(findings.wrong, open->wrong);
            return;
        }
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
    }

    void cleanupTestCase()
    {
        std::size_t triples = 0, kernels = 0, functions = 0, unrolled = 0;
        for (const Findings& findings : m_findings) {
            triples += findings.covered.size();
            kernels += findings.kernels;
            unrolled += findings.unrolled;
            functions += findings.byFunction ? 1 : 0;
        }
        qInfo("%zu triples of operator, element type and kind of schedule; %zu operators, %zu kernels; %zu more "
              "operators are functions of the runtime; %zu runs of kernels left out, which unroll too much",
              triples, m_findings.size() - functions, kernels, functions, unrolled);
    }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryOperator)

} // namespace tst_every_operator

#include "tst_every_operator.moc"
