#include "core/ir/print.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_exchange.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_launch_exchange {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

constexpr LaunchForm kForms[] = {LaunchForm::Tree, LaunchForm::Rows};

std::shared_ptr<const LaunchSketch> sketchOf(const SearchTask& task, LaunchForm form)
{
    auto sketch = LaunchSketch::create(task.alternatives.front(), task.hardware, task.target.family(), form);
    return sketch ? *std::move(sketch) : nullptr;
}

/// Which gene says how parts are exchanged; -1: none.
int exchangeGene(const LaunchSketch& sketch)
{
    for (std::size_t g = 0; g < sketch.parameters().size(); ++g)
        if (sketch.parameters()[g].name.starts_with("exchange "))
            return static_cast<int>(g);
    return -1;
}

/// All of them: these sketches have few.
std::vector<Genome> allGenomes(const LaunchSketch& sketch)
{
    std::vector<Genome> all = {Genome()};
    for (const Parameter& parameter : sketch.parameters()) {
        std::vector<Genome> longer;
        for (const Genome& genome : all)
            for (std::int32_t choice = 0; choice < parameter.count; ++choice) {
                longer.push_back(genome);
                longer.back().push_back(choice);
            }
        all = std::move(longer);
    }
    return all;
}

schedule::LowerOptions loweringOf(const SearchAlternative& alternative)
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = alternative.constantInputs;
    return options;
}

} // namespace

/// How threads of a block hand over parts of sums: what is offered, what it takes, what comes out.
class TestLaunchExchange : public QObject
{
    Q_OBJECT

private slots:
    void shufflesAreAChoiceWhereLanesExchange_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("width"); ///< that the driver tells; 0: nothing
        QTest::addColumn<int>("ways");
        QTest::newRow("cuda") << "cuda" << 0 << 2;
        QTest::newRow("sim -like=cuda") << "sim -like=cuda" << 0 << 2;
        QTest::newRow("opencl") << "opencl" << 0 << 1;
        QTest::newRow("opencl with subgroups") << "opencl" << 16 << 2;
        QTest::newRow("opencl -device=mali") << "opencl -device=mali" << 0 << 1;
    }
    void shufflesAreAChoiceWhereLanesExchange()
    {
        QFETCH(QString, target);
        QFETCH(int, width);
        QFETCH(int, ways);
        SearchTask rows = task({launchCase("softmax")}, qPrintable(target)),
                   tree = task({launchCase("sum of rows")}, qPrintable(target));
        for (SearchTask* const one : {&rows, &tree})
            if (width > 0)
                one->hardware.limits["shuffle_width"] = {width, "test"};
        for (const auto& sketch : {sketchOf(rows, LaunchForm::Rows), sketchOf(tree, LaunchForm::Tree)}) {
            QVERIFY(sketch);
            const int gene = exchangeGene(*sketch);
            QCOMPARE(gene >= 0 ? sketch->parameters()[static_cast<std::size_t>(gene)].count : 1, ways);
        }
    }

    void warpsAreAsWideAsTheDevices()
    {
        SearchTask t = task({launchCase("sum of rows")}, "opencl");
        t.hardware.limits["shuffle_width"] = {16, "test"};
        const auto sketch = sketchOf(t, LaunchForm::Tree);
        const int gene = exchangeGene(*sketch);
        int lowered = 0;
        for (const Genome& genome : allGenomes(*sketch)) {
            if (genome[static_cast<std::size_t>(gene)] != 1 || !sketch->nest(0).facts(genome))
                continue;
            const schedule::State state = must(
                schedule::State::replay(t.alternatives.front().dag, must(sketch->instantiate(genome))));
            const ir::LoopNest nest = must(schedule::lower(state, loweringOf(t.alternatives.front()))).nest;
            QVERIFY2(ir::print(nest).find(" of 16\n") != std::string::npos, ir::print(nest).c_str());
            QVERIFY(schedule::checkLimits(state, nest, t.hardware));
            ++lowered;
        }
        QVERIFY(lowered > 0);
    }

    /// Threads and shared memory are known to the byte before anything is lowered, a schedule replays from its text to
    /// the same kernel, and what it computes is right.
    void candidatesAreWhatTheyAreEstimatedToBe_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"softmax", "softmax of short rows", "layer norm", "sum of rows",
                                       "maximum of all", "mean of columns", "position", "dense of one sample",
                                       "dense to one", "dense in halves", "global pool NHWC", "global pool NCHW"})
            QTest::newRow(name) << name;
    }
    void candidatesAreWhatTheyAreEstimatedToBe()
    {
        QFETCH(QString, name);
        const SearchTask t = task({launchCase(name.toStdString())}, "cuda");
        const SearchAlternative& alternative = t.alternatives.front();
        int shuffled = 0;
        for (const LaunchForm form : kForms) {
            const auto sketch = sketchOf(t, form);
            if (!sketch || sketch->partCount() != 1)
                continue;
            const int gene = exchangeGene(*sketch);
            for (const Genome& genome : allGenomes(*sketch)) {
                const auto facts = sketch->nest(0).facts(genome);
                if (!facts) {
                    QCOMPARE(int(facts.error().code), int(Errc::IllegalSchedule));
                    continue;
                }
                const std::string text = schedule::toJson(must(sketch->instantiate(genome))).dump();
                const auto steps = must(schedule::stepsFromJson(nlohmann::json::parse(text)));
                const auto state = must(schedule::State::replay(alternative.dag, steps));
                const ir::LoopNest nest = must(schedule::lower(state, loweringOf(alternative))).nest;
                const auto resources = schedule::sizesOf(nest);
                const QString which = QString("%1 %2").arg(sketch->name().c_str(),
                                                           nlohmann::json(genome).dump().c_str());
                QCOMPARE(resources.size(), std::size_t{1});
                QVERIFY2(resources[0].threads == static_cast<std::int64_t>(facts->threads), qPrintable(which));
                QVERIFY2(resources[0].sharedBytes == static_cast<std::int64_t>(facts->sharedBytes),
                         qPrintable(QString("%1: %2 bytes, not %3\n%4")
                                        .arg(which)
                                        .arg(resources[0].sharedBytes)
                                        .arg(facts->sharedBytes)
                                        .arg(ir::print(nest).c_str())));
                const bool isShuffled = gene >= 0 && genome[static_cast<std::size_t>(gene)] == 1;
                QCOMPARE(text.find("[\"SH\",") != std::string::npos, isShuffled);
                QCOMPARE(ir::print(nest).find("shuffle ") != std::string::npos, isShuffled);
                QVERIFY(schedule::checkLimits(state, nest, t.hardware));
                shuffled += isShuffled ? 1 : 0;
                const std::string wrong = schedule::test::checkKernel(state, 1, loweringOf(alternative));
                QVERIFY2(wrong.empty(), qPrintable(which + QString::fromStdString(wrong)));
            }
        }
        // Blocks of nine threads have no halves, and a sum of less than 32 steps is not worth a block.
        const bool hasNone = name == "softmax of short rows" || name == "mean of columns";
        QVERIFY(hasNone ? true : shuffled > 0);
    }

    void fewerBarriersCountAsLess()
    {
        const SearchTask t = task({launchCase("sum of rows")}, "cuda");
        const auto sketch = sketchOf(t, LaunchForm::Tree);
        const Genome shared = {2, 0, 0}, shuffles = {2, 0, 1}; // 64 threads
        const LaunchFacts a = must(sketch->nest(0).facts(shared)), b = must(sketch->nest(0).facts(shuffles));
        QCOMPARE(a.barriers, 7.0);
        QCOMPARE(b.barriers, 1.0);
        QVERIFY(b.seconds < a.seconds);
        QVERIFY(b.sharedBytes < a.sharedBytes);
    }
};

LATHE_TEST(TestLaunchExchange)

} // namespace tst_launch_exchange

#include "tst_launch_exchange.moc"
