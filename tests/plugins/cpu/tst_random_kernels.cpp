#include "tests/core/schedule/random_scheduler.h"
#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/plugins/cpu/dag_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_random_kernels {

using namespace lathe;
using namespace lathe::test;

namespace {

std::uint64_t baseSeed()
{
    bool given = false;
    const qulonglong seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
    return given ? seed : 7000;
}

int roundCount()
{
    const int rounds = qEnvironmentVariableIntValue("LATHE_TEST_ROUNDS");
    return rounds > 0 ? rounds : 8;
}

} // namespace

/// Random schedules, through the generator. Their legality is tested with core/schedule; here all that is lowered must
/// be built, but for unrolling beyond the limit, and compute what the nest says.
class TestRandomKernels : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_codegen = codegenFor();
        QVERIFY(m_codegen);
    }
    void randomSchedulesRunAsTheirNestSays_data();
    void randomSchedulesRunAsTheirNestSays();

private:
    std::unique_ptr<backend::Codegen> m_codegen;
};

void TestRandomKernels::randomSchedulesRunAsTheirNestSays_data()
{
    QTest::addColumn<int>("index");
    int index = 0;
    for (const DagCase& c : smallDagCases())
        QTest::addRow("%s", c.name.c_str()) << index++;
}

void TestRandomKernels::randomSchedulesRunAsTheirNestSays()
{
    QFETCH(int, index);
    const DagCase c = smallDagCases()[static_cast<std::size_t>(index)];
    int built = 0;
    for (int i = 0; i < roundCount(); ++i) {
        const std::uint64_t seed = baseSeed() + static_cast<std::uint64_t>(1000 * index + i);
        const schedule::State state = schedule::test::RandomScheduler(c.dag, seed).run();
        const Result<schedule::LoweredKernel> kernel = schedule::lower(state, {});
        if (!kernel)
            continue;
        ++built;
        Comparison comparison;
        comparison.seed = seed;
        comparison.parts = {3};
        const std::string difference = compareWithInterpreter(*kernel, *m_codegen, comparison);
        if (!difference.empty())
            qWarning("LATHE_TEST_SEED=%llu\n%s",
                     static_cast<unsigned long long>(seed - static_cast<std::uint64_t>(1000 * index)),
                     ir::print(kernel->nest).c_str());
        QVERIFY2(difference.empty(), difference.c_str());
    }
    QVERIFY(built > 0);
}

LATHE_TEST(TestRandomKernels)

} // namespace tst_random_kernels

#include "tst_random_kernels.moc"
