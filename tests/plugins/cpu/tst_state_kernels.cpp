#include "core/schedule/default_schedule.h"
#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/plugins/cpu/dag_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_state_kernels {

using namespace lathe;
using namespace lathe::test;

/// Whole chain below search: compute DAG, state, nest, machine code, against the nest interpreter.
class TestStateKernels : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }
    void kernelsAgreeWithTheInterpreter_data();
    void kernelsAgreeWithTheInterpreter();
    void kernelsForAarch64NeedNothing();
    void aDroppedStepIsSeenInTheCode();

private:
    /// Without the comments: the assembly of the DAG under these steps; empty if they do not apply.
    std::string listingOf(const compute::DagPtr& dag, const std::vector<schedule::Step>& steps) const;
    std::unique_ptr<backend::Codegen> m_codegen;
};

void TestStateKernels::kernelsAgreeWithTheInterpreter_data()
{
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("tuned");
    int index = 0;
    for (const DagCase& c : dagCases()) {
        QTest::addRow("%s, plain loops", c.name.c_str()) << index << false;
        QTest::addRow("%s, default schedule", c.name.c_str()) << index << true;
        ++index;
    }
}

void TestStateKernels::kernelsAgreeWithTheInterpreter()
{
    QFETCH(int, index);
    QFETCH(bool, tuned);
    const DagCase c = dagCases()[static_cast<std::size_t>(index)];
    schedule::DefaultScheduleOptions options;
    options.threads = 2;
    Result<schedule::State> state = schedule::State::initial(c.dag);
    if (tuned)
        state = schedule::defaultSchedule(c.dag, options);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const Result<schedule::LoweredKernel> kernel = schedule::lower(*state, {});
    QVERIFY2(kernel, kernel ? "" : kernel.error().message.c_str());
    Comparison comparison;
    comparison.tolerance = 2e-5;
    comparison.parts = {2};
    comparison.low = -1;
    comparison.high = 1;
    const std::string difference = compareWithInterpreter(*kernel, *m_codegen, comparison);
    QVERIFY2(difference.empty(), difference.c_str());
}

std::string TestStateKernels::listingOf(const compute::DagPtr& dag, const std::vector<schedule::Step>& steps) const
{
    Result<schedule::State> state = schedule::State::replay(dag, steps);
    if (!state || !state->inferBounds())
        return {};
    const auto kernel = schedule::lower(*std::move(state), {});
    if (!kernel)
        return {};
    const auto listing = m_codegen->listing(*kernel, "assembly");
    if (!listing)
        return {};
    const std::string* text = &listing->text;
    std::string code;
    for (std::size_t at = 0; at < text->size();) {
        const std::size_t end = std::min(text->find('\n', at), text->size());
        code += text->substr(at, std::min(text->find('#', at), end) - at) + '\n';
        at = end + 1;
    }
    return code;
}

/// The loops of the machine code are those of the schedule: a step that is left out is missing there.
void TestStateKernels::aDroppedStepIsSeenInTheCode()
{
    const compute::DagPtr dag = convLayer({14, 16, 32, 3, 1});
    schedule::DefaultScheduleOptions options;
    options.threads = 2;
    const auto state = schedule::planDefaultSchedule(dag, options);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const std::vector<schedule::Step> steps = state->steps();
    const std::string whole = listingOf(dag, steps);
    QVERIFY(!whole.empty());
    QCOMPARE(listingOf(dag, steps), whole); // what is compared does not change by itself
    int applied = 0;
    QStringList unseen;
    for (std::size_t dropped = 0; dropped < steps.size(); ++dropped) {
        std::vector<schedule::Step> fewer = steps;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(dropped));
        const std::string code = listingOf(dag, fewer);
        if (code.empty()) // later steps stand on it
            continue;
        ++applied;
        if (code == whole)
            unseen << QString::number(dropped);
    }
    QVERIFY2(applied >= 2, "some steps can be dropped alone");
    // Some steps say what the compiler would do by itself: unrolling a loop of few turns, naming a loop of one.
    QVERIFY2(2 * unseen.size() < applied, qPrintable("left out without a trace: step " + unseen.join(", ")));
}

void TestStateKernels::kernelsForAarch64NeedNothing()
{
    const auto codegen = codegenFor("cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
    QVERIFY(codegen);
    schedule::DefaultScheduleOptions options;
    options.vectorLanes = 4;
    std::vector<schedule::LoweredKernel> kernels;
    for (const DagCase& c : dagCases()) {
        const Result<schedule::State> state = schedule::defaultSchedule(c.dag, options);
        QVERIFY2(state, c.name.c_str());
        schedule::LowerOptions lowering;
        lowering.name = "kernel" + std::to_string(kernels.size());
        Result<schedule::LoweredKernel> kernel = schedule::lower(*state, lowering);
        QVERIFY2(kernel, c.name.c_str());
        kernels.push_back(*std::move(kernel));
    }
    // The link refuses undefined symbols.
    const Result<backend::Artifact> artifact = codegen->build(kernels);
    QVERIFY2(artifact, artifact ? "" : artifact.error().message.c_str());
    QCOMPARE(artifact->descriptor.kernels.size(), kernels.size());
}

LATHE_TEST(TestStateKernels)

} // namespace tst_state_kernels

#include "tst_state_kernels.moc"
