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

namespace tst_every_launch {

using namespace lathe;
using namespace lathe::net;
using lathe::test::must;

namespace {

Findings findingsOf(const graph::OpDef& entry, const Target& target)
{
    Findings findings;
    if (entry.function || entry.traits.control != graph::Control::None) {
        findings.byFunction = true;
        return findings;
    }
    // As for large tensors, with vectors and tiles; as they are, where sums are divided among threads; as for a device
    // of few threads without vectors; as for a processor.
    schedule::LaunchScheduleOptions large, few, processor;
    processor.simdWidth = 2;
    large.wantedThreads = 1;
    few.mostThreads = 8;
    few.vectorLanes = 1;
    for (const OperatorCase& of : casesOf(entry)) {
        if (std::ranges::find(of.schedules, Schedule::Default) == of.schedules.end())
            continue;
        const auto run = KernelRun::ofOperator(of.graph, target);
        if (!run) {
            findings.add(fmt::format("{}: {}", of.name, run.error().message));
            continue;
        }
        const auto check = [&](const char* who, Values values, const schedule::LaunchScheduleOptions& options) {
            const auto said = [&](const std::string& what) {
                findings.add(fmt::format("{}, {}, {} values: {}", of.name, who, toString(values), what));
            };
            const std::vector<graph::HostTensor> inputs = of.inputs(values, 7);
            const auto expected = expect(of.graph, inputs);
            if (!expected)
                return said(expected.error().message);
            ++findings.kernels;
            const auto got = run->runLaunches(inputs, options);
            if (!got)
                return said(got.error().message);
            for (std::size_t i = 0; i < got->size(); ++i)
                if (const std::string text = compare((*got)[i], (*expected)[i]); !text.empty())
                    said(text);
        };
        check("as a large tensor", Values::Hostile, large);
        check("as it is", Values::Hostile, {});
        check("few threads", Values::Halves, few);
        check("a processor", Values::Hostile, processor);
    }
    return findings;
}

} // namespace

/// Each entry of the operator registry as launches of its default schedule, in every element type, in the interpreter
/// of blocks and threads.
class TestEveryLaunch : public QObject
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
        QVERIFY2(findings.wrong == 0,
                 qPrintable(QString("%1 wrong:%2").arg(findings.wrong).arg(findings.text.c_str())));
        QVERIFY2(findings.kernels > 0 || findings.byFunction, "no launch was run");
    }

    void cleanupTestCase()
    {
        std::size_t runs = 0;
        for (const Findings& findings : m_findings)
            runs += findings.kernels;
        std::string onProcessor;
        for (const graph::OpDef* entry : graph::allOperators())
            if (entry->function || entry->traits.control != graph::Control::None)
                onProcessor += fmt::format(" {}", entry->name);
        qInfo("%zu runs of launches; functions of the runtime and control flow stay on the processor:%s", runs,
              onProcessor.c_str());
    }

private:
    std::vector<Findings> m_findings;
};

LATHE_TEST(TestEveryLaunch)

} // namespace tst_every_launch

#include "tst_every_launch.moc"
