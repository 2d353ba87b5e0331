#include "core/ir/print.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/adapt.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>

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

/// The sketches of one alternative, by form.
class DagForms
{
public:
    DagForms(SearchAlternative alternative, const char* target)
        : m_alternative(std::move(alternative))
        , m_sketches(must(latheLaunchSketches(task({m_alternative}, target))))
    {
    }
    bool has(const std::string& form) const { return find(form) != nullptr; }
    ir::LoopNest lowered(const std::string& form, std::uint64_t seed = 1) const
    {
        Random random(seed, 0, 0);
        const Genome genome = drawnGenome(*find(form), random);
        const auto state = must(schedule::State::replay(m_alternative.dag, must(find(form)->instantiate(genome))));
        return must(schedule::lower(state, loweringOf(m_alternative))).nest;
    }

private:
    const PartedSketch* find(const std::string& form) const
    {
        for (const auto& sketch : m_sketches)
            if (sketch->name().ends_with(':' + form))
                return sketch.get();
        return nullptr;
    }

    SearchAlternative m_alternative;
    std::vector<std::shared_ptr<const PartedSketch>> m_sketches;
};

bool stagesOperands(const ir::LoopNest& nest)
{
    return std::any_of(nest.buffers.begin(), nest.buffers.end(), [](const ir::Buffer& buffer) {
        return buffer.scope == ir::Scope::Shared && buffer.name.find(".shared") != std::string::npos;
    });
}

/// What a processor tells that runs launches.
void makeProcessor(Hardware& hardware)
{
    hardware.limits["simd_width"] = {8, "test"};
    hardware.limits["max_vthread_extent"] = {4, "test"};
    hardware.limits["max_threads_per_block"] = {1024, "test"};
    hardware.limits["num_cores"] = {2, "test"};
}

SearchAlternative searchDense()
{
    return test::dense(512, 512);
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
            for (const char* const target :
                 {"cuda", "cuda that copies asynchronously", "opencl", "opencl -device=mali", "opencl on a processor"})
                QTest::addRow("%s, %s", c.name.c_str(), target) << QString::fromStdString(c.name) << target;
    }
    void everyCandidateComputesWhatTheDagSays()
    {
        QFETCH(QString, name);
        QFETCH(QString, target);
        const SearchAlternative alternative = launchCase(name.toStdString());
        const bool isProcessor = target.endsWith("processor"), copies = target.endsWith("asynchronously");
        SearchTask t = task({alternative}, isProcessor ? "opencl" : copies ? "cuda" : target.toUtf8().constData());
        if (isProcessor)
            makeProcessor(t.hardware);
        if (copies)
            t.hardware.limits["async_copies"] = {1, "test"};
        const auto sketches = must(latheLaunchSketches(t));
        for (const auto& sketch : sketches) {
            int taken = 0;
            for (int i = 0; i < genomes(); ++i) {
                Random random(11, contentHash(sketch->name()).low, static_cast<std::uint64_t>(i));
                const Genome genome = drawnGenome(*sketch, random);
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

    /// Threads and shared memory are known before anything is lowered, to the byte.
    void whatABlockTakesIsKnown_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("copies");
        for (const char* const name : {"dense", "dense of primes", "product by a transposed one", "3x3 NCHW",
                                       "3x3 /2 NHWC", "3x3 of primes", "1x1 NHWC, nothing after", "dense in halves"})
            for (const bool copies : {false, true})
                QTest::addRow("%s%s", name, copies ? ", asynchronous copies" : "") << name << copies;
    }
    void whatABlockTakesIsKnown()
    {
        QFETCH(QString, name);
        QFETCH(bool, copies);
        const SearchAlternative alternative = launchCase(name.toStdString());
        SearchTask t = task({alternative}, "cuda");
        if (copies)
            t.hardware.limits["async_copies"] = {1, "test"};
        for (const LaunchForm form : {LaunchForm::Registers, LaunchForm::Shared, LaunchForm::Split, LaunchForm::Slices,
                                      LaunchForm::SplitShared}) {
            const auto sketch = LaunchSketch::create(alternative, t.hardware, t.target.family(), form);
            if (!sketch)
                continue;
            QCOMPARE((*sketch)->partCount(), std::size_t{1});
            for (int i = 0; i < 40; ++i) {
                Random random(5, static_cast<std::uint64_t>(form), static_cast<std::uint64_t>(i));
                const Genome genome = drawnGenome(**sketch, random);
                if (genome.empty())
                    continue;
                const LaunchFacts facts = must((*sketch)->nest(0).facts(genome));
                const auto state = must(schedule::State::replay(alternative.dag, must((*sketch)->instantiate(genome))));
                const ir::LoopNest nest = must(schedule::lower(state, loweringOf(alternative))).nest;
                bool isThere = false;
                std::string took;
                for (const schedule::LaunchSizes& r : schedule::sizesOf(nest)) {
                    isThere = isThere
                              || (r.threads == static_cast<std::int64_t>(facts.threads)
                                  && r.sharedBytes == static_cast<std::int64_t>(facts.sharedBytes)
                                  && r.grid[0] == static_cast<std::int64_t>(facts.blocks));
                    took += ' ' + std::to_string(r.grid[0]) + '/' + std::to_string(r.threads) + '/'
                            + std::to_string(r.sharedBytes);
                }
                QVERIFY2(isThere, qPrintable(QString("%1 %2: %3/%4/%5, not%6")
                                                 .arg((*sketch)->name().c_str())
                                                 .arg(nlohmann::json(genome).dump().c_str())
                                                 .arg(facts.blocks)
                                                 .arg(facts.threads)
                                                 .arg(facts.sharedBytes)
                                                 .arg(took.c_str())));
            }
        }
    }

    void aProductHasSharedTilesAndDividedSums()
    {
        DagForms forms(searchDense(), "cuda");
        QVERIFY(forms.has("shared") && forms.has("split") && forms.has("slices") && forms.has("registers"));
        const ir::LoopNest shared = forms.lowered("shared");
        QCOMPARE(shared.launches.size(), std::size_t{1});
        QVERIFY(stagesOperands(shared));
        const ir::LoopNest split = forms.lowered("split");
        QCOMPARE(split.launches.size(), std::size_t{2});
        QVERIFY(!stagesOperands(split));
        QCOMPARE(forms.lowered("slices").launches.size(), std::size_t{1});
        const ir::LoopNest both = forms.lowered("split-shared");
        QVERIFY(stagesOperands(both));
        QCOMPARE(both.launches.size(), std::size_t{2});
    }

    /// Tiles of steps to come are a choice where a device copies by itself, and nowhere else. The more of them there
    /// are, the less is waited for.
    void tilesAreAheadWhereTheDeviceCopies()
    {
        const SearchAlternative alternative = searchDense();
        SearchTask t = task({alternative}, "cuda");
        const auto hasStages = [](const PartedSketch& sketch) {
            return std::ranges::any_of(sketch.parameters(),
                                       [](const Parameter& p) { return p.name.starts_with("stages "); });
        };
        const auto sketch = [&](LaunchForm form) {
            return must(LaunchSketch::create(alternative, t.hardware, t.target.family(), form));
        };
        QVERIFY(!hasStages(*sketch(LaunchForm::Shared)));
        t.hardware.limits["async_copies"] = {0, "test"}; // as sm_75 says
        QVERIFY(!hasStages(*sketch(LaunchForm::Shared)));
        t.hardware.limits["async_copies"] = {1, "test"};
        for (const LaunchForm form : {LaunchForm::Registers, LaunchForm::Split, LaunchForm::Slices})
            QVERIFY(!hasStages(*sketch(form)));
        QVERIFY(hasStages(*sketch(LaunchForm::SplitShared)));
        const auto shared = sketch(LaunchForm::Shared);
        QVERIFY(hasStages(*shared));
        int compared = 0;
        for (int i = 0; i < 40; ++i) {
            Random random(9, 0, static_cast<std::uint64_t>(i));
            Genome genome = drawnGenome(*shared, random);
            if (genome.empty())
                continue;
            double waits = 1e99;
            for (std::int32_t stages = 0; stages < 4; ++stages) {
                genome.back() = stages;
                const auto facts = shared->nest(0).facts(genome);
                if (!facts)
                    break;
                QVERIFY(facts->waits <= waits);
                QCOMPARE(facts->barriers, (stages > 0 ? 1 : 2) * facts->chunks);
                QCOMPARE(must(shared->analyse(genome)).features[launchFeatureNames().size() - 1],
                         static_cast<float>(stages));
                const std::string steps = schedule::toJson(must(shared->instantiate(genome))).dump();
                QCOMPARE(steps.find("\"SG\"") != std::string::npos, stages > 0);
                waits = facts->waits;
                compared += stages > 0 ? 1 : 0;
            }
        }
        QVERIFY(compared > 20);
    }

    /// For how many blocks a core is to have room is a choice where the compiler can be told, and nowhere else.
    void roomIsAChoiceOfCuda()
    {
        const SearchAlternative alternative = searchDense();
        SearchTask t = task({alternative}, "cuda");
        const auto create = [&](LaunchForm form) {
            return must(LaunchSketch::create(alternative, t.hardware, t.target.family(), form));
        };
        const auto isRoom = [](const Parameter& p) { return p.name.starts_with("room "); };
        QVERIFY(std::ranges::none_of(create(LaunchForm::Shared)->parameters(), isRoom));
        t.hardware.limits["compute_capability"] = {80, "test"};
        for (const LaunchForm form : {LaunchForm::Registers, LaunchForm::Shared, LaunchForm::Split, LaunchForm::Slices,
                                      LaunchForm::SplitShared}) {
            const auto sketch = create(form);
            const auto found = std::ranges::find_if(sketch->parameters(), isRoom);
            QVERIFY(found != sketch->parameters().end());
            const auto gene = static_cast<std::size_t>(found - sketch->parameters().begin());
            int looked = 0;
            for (std::uint64_t seed = 1; seed <= 20; ++seed) {
                Random random(seed);
                Genome genome = drawnGenome(*sketch, random);
                if (genome.empty())
                    continue;
                for (genome[gene] = 0; genome[gene] < found->count; ++genome[gene]) {
                    const auto facts = sketch->nest(0).facts(genome);
                    if (!facts)
                        continue;
                    const std::int64_t room = found->values[static_cast<std::size_t>(genome[gene])];
                    QVERIFY(facts->threads * static_cast<double>(room) <= 2048);
                    const auto state = must(
                        schedule::State::replay(alternative.dag, must(sketch->instantiate(genome))));
                    const ir::LoopNest nest = must(schedule::lower(state, loweringOf(alternative))).nest;
                    // The launch with the sums: of two, that before the one that adds the pieces.
                    QCOMPARE(nest.launches.front().leastBlocks, static_cast<std::int32_t>(room));
                    for (std::size_t other = 1; other < nest.launches.size(); ++other)
                        QCOMPARE(nest.launches[other].leastBlocks, 0);
                    looked += room > 0 ? 1 : 0;
                }
            }
            QVERIFY(looked > 10);
        }
    }

    /// Shared memory is no nearer there than what lies behind it: only pieces of sums are handed over in it.
    void maliStagesNoOperands()
    {
        DagForms forms(searchDense(), "opencl -device=mali");
        QVERIFY(!forms.has("shared"));
        for (const char* const form : {"registers", "split", "slices"})
            QVERIFY(!stagesOperands(forms.lowered(form)));
        bool hasVectors = false;
        for (int i = 0; i < 16; ++i)
            hasVectors = hasVectors
                         || ir::print(forms.lowered("registers", static_cast<std::uint64_t>(i))).find("vectorize")
                                != std::string::npos;
        QVERIFY(hasVectors);
    }

    void rowsAreOneLaunch()
    {
        for (const char* const name : {"softmax", "layer norm"}) {
            DagForms forms(launchCase(name), "cuda");
            QVERIFY(forms.has("rows"));
            QCOMPARE(forms.lowered("rows").launches.size(), std::size_t{1});
        }
    }

    /// A processor's compiler makes vectors of threads that read one place, or neighbouring ones. Of many candidates
    /// the one that the estimate likes best reads nothing else; on a GPU that does not count.
    void processorsReadRows_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"dense", "1x1 NHWC, nothing after"})
            QTest::newRow(name) << name;
    }
    void processorsReadRows()
    {
        QFETCH(QString, name);
        const SearchAlternative alternative = launchCase(name.toStdString());
        SearchTask t = task({alternative}, "opencl");
        const auto bestOf = [&] {
            const auto sketch = must(
                LaunchSketch::create(alternative, t.hardware, t.target.family(), LaunchForm::Registers));
            LaunchFacts best;
            best.seconds = 1e9;
            for (int i = 0; i < 400; ++i) {
                Random random(7, 0, static_cast<std::uint64_t>(i));
                const Genome genome = drawnGenome(*sketch, random);
                if (genome.empty())
                    continue;
                const LaunchFacts facts = must(sketch->nest(0).facts(genome));
                if (facts.seconds < best.seconds)
                    best = facts;
            }
            return best;
        };
        makeProcessor(t.hardware);
        const LaunchFacts best = bestOf();
        QVERIFY(best.seconds < 1);
        QCOMPARE(best.gathered, 0.0);
        QVERIFY2(best.registers <= 60, qPrintable(QString::number(best.registers)));
    }

    /// What was found for one size passes on to another.
    void aGenomeIsAdaptedToOtherExtents()
    {
        const SearchAlternative small = launchCase("dense");
        const SearchTask t = task({small}, "cuda");
        const auto from = must(LaunchSketch::create(small, t.hardware, t.target.family(), LaunchForm::Shared));
        const SearchAlternative large = launchCase("dense in halves");
        const auto to = must(LaunchSketch::create(large, t.hardware, t.target.family(), LaunchForm::Shared));
        QCOMPARE(formOf(*from), formOf(*to));
        Random random(3, 0, 0);
        const Genome genome = drawnGenome(*from, random);
        const auto adapted = adapt(*to, valuesOf(*from, genome));
        QVERIFY(adapted && to->analyse(*adapted));
    }
};

LATHE_TEST(TestLaunchSketches)

} // namespace tst_launch_sketches

#include "tst_launch_sketches.moc"
