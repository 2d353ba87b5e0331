#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_launch_sketches {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

/// Genomes of each sketch; LATHE_TEST_ROUNDS by hand.
int genomes()
{
    const int asked = qEnvironmentVariableIntValue("LATHE_TEST_ROUNDS");
    return asked > 0 ? asked : 2;
}

schedule::LowerOptions loweringOf(const SearchAlternative& alternative)
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = alternative.constantInputs;
    return options;
}

/// Random ones; empty where there is none.
Genome drawn(const PartedSketch& sketch, Random& random)
{
    Genome genome(sketch.parameters().size());
    for (std::size_t part = 0; part < sketch.partCount(); ++part) {
        const auto [first, count] = sketch.genesOf(part);
        if (!sketch.draw(part, random, std::span(genome).subspan(first, count)))
            return {};
    }
    return genome;
}

/// What is wrong with one candidate; empty: nothing.
std::string wrongWith(const SearchAlternative& alternative, const Hardware& hardware, const PartedSketch& sketch,
                      const Genome& genome)
{
    const auto steps = sketch.instantiate(genome);
    if (!steps)
        return "steps: " + steps.error().message;
    const auto state = schedule::State::replay(alternative.dag, *steps);
    if (!state)
        return "replay: " + state.error().message + " in " + schedule::toJson(*steps).dump();
    const auto kernel = schedule::lower(*state, loweringOf(alternative));
    if (!kernel)
        return "lower: " + kernel.error().message;
    if (const auto runs = schedule::checkLimits(*state, kernel->nest, hardware); !runs)
        return "limits: " + runs.error().message;
    return schedule::test::checkKernel(*state, 1, loweringOf(alternative));
}

} // namespace

class TestLaunchSketches : public QObject
{
    Q_OBJECT

private slots:
    void everyCandidateComputesWhatTheDagSays_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("target");
        for (const LaunchCase& c : launchCases())
            for (const char* const target : {"cuda", "opencl", "opencl -device=mali"})
                QTest::addRow("%s, %s", c.name.c_str(), target) << QString::fromStdString(c.name) << target;
    }
    void everyCandidateComputesWhatTheDagSays()
    {
        QFETCH(QString, name);
        QFETCH(QString, target);
        const SearchAlternative alternative = launchCase(name.toStdString());
        const SearchTask t = task({alternative}, target.toUtf8());
        const auto sketches = must(latheLaunchSketches(t));
        for (const auto& sketch : sketches) {
            int taken = 0;
            for (int i = 0; i < genomes(); ++i) {
                Random random(11, contentHash(sketch->name()).low, static_cast<std::uint64_t>(i));
                const Genome genome = drawn(*sketch, random);
                if (genome.empty() && !sketch->parameters().empty())
                    continue;
                ++taken;
                const std::string wrong = wrongWith(alternative, t.hardware, *sketch, genome);
                QVERIFY2(wrong.empty(), qPrintable(QString("%1 %2: %3")
                                                       .arg(sketch->name().c_str())
                                                       .arg(nlohmann::json(genome).dump().c_str())
                                                       .arg(wrong.c_str())));
                QVERIFY(must(sketch->analyse(genome)).seconds > 0);
            }
            QVERIFY2(taken > 0, sketch->name().c_str());
        }
    }
};

LATHE_TEST(TestLaunchSketches)

} // namespace tst_launch_sketches

#include "tst_launch_sketches.moc"
