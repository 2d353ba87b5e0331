#include "core/compute/definitions/transform.h"
#include "core/ir/print.h"
#include "core/policy/default_candidate.h"
#include "core/policy/policy_table.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/lathe_policy.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <map>

namespace tst_lathe_sketches {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;
using compute::DagBuilder;
using compute::Tensor;

namespace {

Hardware avx512()
{
    return defaultHardware(*Target::parse("cpu -mcpu=emeraldrapids -threads=2"));
}

/// Every genome of a sketch that has few.
std::vector<Genome> allGenomes(const Sketch& sketch)
{
    std::vector<Genome> genomes{{}};
    for (const Parameter& parameter : sketch.parameters()) {
        std::vector<Genome> longer;
        for (const Genome& genome : genomes)
            for (std::int32_t v = 0; v < parameter.count; ++v) {
                longer.push_back(genome);
                longer.back().push_back(v);
            }
        genomes = std::move(longer);
    }
    return genomes;
}

/// One best guess by the estimate.
Candidate bestGuess(const SearchAlternative& alternative)
{
    const auto candidate = policy::defaultCandidate(task({alternative}));
    if (!candidate)
        qFatal("%s", candidate.error().message.c_str());
    return *candidate;
}

} // namespace

class TestLatheSketches : public QObject
{
    Q_OBJECT

private slots:
    /// Numbers of columns that no full vector divides, on vectors of four, eight and sixteen numbers.
    void denseLayersOfAnyWidthHaveCandidates()
    {
        for (const char* processor : {"x86-64", "haswell", "emeraldrapids"}) {
            const Hardware hardware = defaultHardware(*Target::parse(std::string("cpu -threads=2 -mcpu=") + processor));
            for (std::int64_t columns = 1; columns <= 40; ++columns) {
                const auto sketch = LatheSketch::create(dense(64, columns), hardware);
                QVERIFY2(sketch, sketch ? "" : sketch.error().message.c_str());
                Random random(1);
                Genome genome((*sketch)->parameters().size());
                for (std::size_t part = 0; part < (*sketch)->partCount(); ++part) {
                    const auto [first, count] = (*sketch)->genesOf(part);
                    QVERIFY2((*sketch)->draw(part, random, std::span(genome).subspan(first, count)),
                             qPrintable(QString("%1 columns on %2").arg(columns).arg(processor)));
                }
                QVERIFY((*sketch)->instantiate(genome));
            }
        }
    }

    void everyProposalReplays_data()
    {
        QTest::addColumn<int>("which");
        int i = 0;
        for (const char* name : {"3x3", "3x3 to the output", "1x1", "stem", "7 pixels", "winograd 4", "winograd 2 of 7",
                                 "dense", "depthwise", "depthwise /2", "max pool", "global pool", "softmax"})
            QTest::newRow(name) << i++;
    }
    void everyProposalReplays()
    {
        QFETCH(int, which);
        const std::function<SearchAlternative()> makers[] = {[] { return conv(56, 64, 64, 3, 1); },
                                                             [] { return conv(28, 128, 128, 3, 2, false); },
                                                             [] { return conv(14, 256, 1024, 1, 1); },
                                                             [] { return conv(224, 3, 64, 7, 2); },
                                                             [] { return conv(7, 512, 512, 3, 1); },
                                                             [] { return winograd(56, 64, 4); },
                                                             [] { return winograd(7, 512, 2); },
                                                             [] { return dense(512, 1000); },
                                                             [] { return depthwise(56, 144, 1); },
                                                             [] { return depthwise(112, 96, 2); },
                                                             maxPool,
                                                             globalPool,
                                                             [] { return softmaxOf(1000); }};
        const SearchAlternative alternative = makers[which]();
        const auto t = task({alternative});
        const auto sketches = latheCpuSketches(t);
        QVERIFY(sketches);
        const auto sketchOf = [&](const Candidate& c) {
            return *std::find_if(sketches->begin(), sketches->end(),
                                 [&](const auto& s) { return s->name() == c.sketch; });
        };
        PolicyOptions options;
        const auto policy = policy::makePolicy("random", t, *policy::makeSharedModel("random", 1, options), options);
        QVERIFY(policy);
        SerialExecutor executor;
        const auto candidates = (*policy)->propose(0, 8, executor);
        QVERIFY(candidates);
        QVERIFY(!candidates->empty());
        for (const Candidate& candidate : *candidates) {
            const auto steps = sketchOf(candidate)->instantiate(candidate.genome);
            QVERIFY(steps);
            auto state = schedule::State::replay(alternative.dag, *steps);
            QVERIFY2(bool(state), state ? "" : (state.error().message + " in " + candidate.steps).c_str());
            const auto bounds = state->inferBounds();
            QVERIFY2(bool(bounds), bounds ? "" : (bounds.error().message + " in " + candidate.steps).c_str());
            QVERIFY(state->concrete());
        }
        // What is used untuned also lowers.
        const Candidate guess = bestGuess(alternative);
        auto state = schedule::State::replay(alternative.dag, *sketchOf(guess)->instantiate(guess.genome));
        QVERIFY(state);
        schedule::LowerOptions lowering;
        lowering.constantInputs = alternative.constantInputs;
        const auto kernel = schedule::lower(*std::move(state), lowering);
        QVERIFY2(bool(kernel), kernel ? "" : (kernel.error().message + " in " + guess.steps).c_str());
        QVERIFY(!kernel->nest.phases.empty());
    }

    void genomesOfOneIdentityMakeOneProgram_data()
    {
        QTest::addColumn<int>("which");
        int i = 0;
        for (const char* name :
             {"3x3", "1x1", "1x1 of few pixels", "7 pixels", "winograd 4", "winograd 2", "depthwise", "dense"})
            QTest::newRow(name) << i++;
    }
    void genomesOfOneIdentityMakeOneProgram()
    {
        QFETCH(int, which);
        const std::function<SearchAlternative()> makers[] = {
            [] { return conv(28, 32, 64, 3, 1); }, [] { return conv(28, 64, 128, 1, 1); },
            [] { return conv(7, 64, 16, 1, 1); },  [] { return conv(7, 64, 64, 3, 1); },
            [] { return winograd(14, 32, 4); },    [] { return winograd(14, 32, 2); },
            [] { return depthwise(28, 48, 1); },   [] { return dense(128, 96); }};
        const SearchAlternative alternative = makers[which]();
        const auto sketches = latheCpuSketches(task({alternative}));
        QVERIFY(sketches);
        schedule::LowerOptions lowering;
        lowering.constantInputs = alternative.constantInputs;
        Random random(3, 0, 0);
        for (const auto& sketch : *sketches) {
            std::map<std::string, std::string> programs; // by identity
            std::map<std::string, Genome> genomes; // by program, one each
            int taken = 0, unseen = 0;
            std::string example;
            const auto text = [](const Genome& genome) { return nlohmann::json(genome).dump(); };
            const auto take = [&](const Genome& genome) {
                const auto steps = sketch->instantiate(genome);
                if (!steps)
                    return false;
                auto state = schedule::State::replay(alternative.dag, *steps);
                if (!state)
                    qFatal("%s", state.error().message.c_str());
                const auto kernel = schedule::lower(*std::move(state), lowering);
                if (!kernel)
                    return false;
                const std::string identity = sketch->identity(genome).hex(), program = ir::print(kernel->nest);
                if (programs.emplace(identity, program).first->second != program)
                    qFatal("%s: other programs of one identity: %s", sketch->name().c_str(), text(genome).c_str());
                if (const Genome& other = genomes.emplace(program, genome).first->second;
                    sketch->identity(other).hex() != identity) {
                    ++unseen;
                    example = text(other) + " and " + text(genome);
                }
                if (sketch->settled(sketch->settled(genome)) != sketch->settled(genome)
                    || sketch->identity(sketch->settled(genome)).hex() != identity)
                    qFatal("%s: not settled: %s", sketch->name().c_str(), text(genome).c_str());
                return true;
            };
            for (int tries = 0; tries < 20000 && taken < 5; ++tries) {
                Genome genome;
                for (const Parameter& parameter : sketch->parameters())
                    genome.push_back(
                        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parameter.count))));
                if (!take(genome))
                    continue;
                ++taken;
                for (std::size_t g = 0; g < genome.size(); ++g) { // genomes beside it
                    const std::int32_t kept = genome[g];
                    for (genome[g] = 0; genome[g] < sketch->parameters()[g].count; ++genome[g])
                        if (genome[g] != kept)
                            take(genome);
                    genome[g] = kept;
                }
            }
            QVERIFY(taken > 0);
            // What else leads to one program is rare enough.
            QVERIFY2(unseen * 50 <= static_cast<int>(programs.size()), qPrintable(QString("%1: %2 of %3, %4")
                                                                                      .arg(sketch->name().c_str())
                                                                                      .arg(unseen)
                                                                                      .arg(programs.size())
                                                                                      .arg(example.c_str())));
        }
    }

    void winogradByBlocksLowers_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("channels");
        QTest::addColumn<int>("m");
        QTest::addColumn<bool>("split");
        QTest::newRow("56, tiles of 4") << 56 << 64 << 4 << true;
        QTest::newRow("28, tiles of 4, transforms in one pass") << 28 << 128 << 4 << false;
        QTest::newRow("14, tiles of 2") << 14 << 96 << 2 << true;
        QTest::newRow("7, tiles past the edge") << 7 << 64 << 4 << true;
        QTest::newRow("channels that no vector divides") << 14 << 24 << 2 << true;
    }
    void winogradByBlocksLowers()
    {
        QFETCH(int, size);
        QFETCH(int, channels);
        QFETCH(int, m);
        QFETCH(bool, split);
        const SearchAlternative alternative = winograd(size, channels, m, split);
        const auto sketch = LatheSketch::create(alternative, avx512(), LatheForm::Blocks);
        QVERIFY2(bool(sketch), sketch ? "" : sketch.error().message.c_str());
        Random random(7, 0, 0);
        int lowered = 0;
        for (int tries = 0; tries < 20000 && lowered < 6; ++tries) {
            Genome genome;
            for (const Parameter& parameter : (*sketch)->parameters())
                genome.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parameter.count))));
            if (!(*sketch)->analyse(genome))
                continue;
            const auto steps = (*sketch)->instantiate(genome);
            QVERIFY(steps);
            auto state = schedule::State::replay(alternative.dag, *steps);
            QVERIFY2(bool(state), state ? "" : state.error().message.c_str());
            schedule::LowerOptions lowering;
            lowering.constantInputs = alternative.constantInputs;
            const auto kernel = schedule::lower(*std::move(state), lowering);
            QVERIFY2(bool(kernel), kernel ? "" : kernel.error().message.c_str());
            QVERIFY(kernel->nest.phases.size() <= 2); // the data's transform, the rest
            ++lowered;
        }
        QCOMPARE(lowered, 6);
    }

    void rowsAreDoneInOnePhase_data()
    {
        QTest::addColumn<bool>("norm");
        QTest::addColumn<int>("length");
        for (const int length : {8, 64, 197})
            for (const bool norm : {false, true})
                QTest::addRow("%s of %d", norm ? "layer norm" : "softmax", length) << norm << length;
    }
    void rowsAreDoneInOnePhase()
    {
        QFETCH(bool, norm);
        QFETCH(int, length);
        const SearchAlternative alternative = norm ? layerNorm(20, length) : softmaxOfRows(20, length);
        const auto sketch = LatheSketch::create(alternative, avx512(), LatheForm::Rows);
        QVERIFY2(bool(sketch), sketch ? "" : sketch.error().message.c_str());
        int lowered = 0;
        for (const Genome& genome : allGenomes(**sketch)) {
            if (!(*sketch)->analyse(genome))
                continue;
            auto state = schedule::State::replay(alternative.dag, must((*sketch)->instantiate(genome)));
            QVERIFY2(bool(state), state ? "" : state.error().message.c_str());
            const std::string wrong = schedule::test::checkKernel(*state, 1);
            QVERIFY2(wrong.empty(), wrong.c_str());
            QCOMPARE(must(schedule::lower(*std::move(state), {})).nest.phases.size(), std::size_t{1});
            ++lowered;
        }
        QVERIFY(lowered >= 4);
        // It is what stands before anything is measured.
        QCOMPARE(bestGuess(alternative).sketch, (*sketch)->name());
    }

    void whatDoesNotWorkByRowsIsLeftToTheOtherForms()
    {
        for (const SearchAlternative& alternative :
             {conv(56, 64, 64, 3, 1), dense(512, 1000), maxPool(), transposition(64, 197), softmaxOfRows(20, 4)})
            QVERIFY(LatheSketch::create(alternative, avx512(), LatheForm::Rows).error().code == Errc::Unsupported);
    }

    void aTransposedTensorIsCopiedAlongItsLines()
    {
        const SearchAlternative alternative = transposition(64, 197);
        auto state = schedule::State::replay(
            alternative.dag, must(schedule::stepsFromJson(nlohmann::json::parse(bestGuess(alternative).steps))));
        QVERIFY(state);
        // The dimension along which the source is contiguous runs directly outside the vector.
        const std::vector<schedule::Iterator> loops = state->stages().back().iters;
        QVERIFY(loops.size() >= 3);
        QVERIFY(loops.back().annotation == schedule::Annotation::Vectorize);
        QVERIFY(loops[loops.size() - 2].annotation == schedule::Annotation::None);
        QCOMPARE(loops[loops.size() - 2].extent, std::int64_t{64});
        const std::string wrong = schedule::test::checkKernel(*state, 1);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void everyPieceOfAConcatenationIsCopiedByALoopOfItsOwn()
    {
        DagBuilder b;
        std::vector<Tensor> pieces;
        for (int i = 0; i < 20; ++i)
            pieces.push_back(b.placeholder("x" + std::to_string(i), {1, 14, 14, 32}, DType::F32));
        SearchAlternative joined = finish("direct", std::move(b), addBiasRelu(b, compute::concatenate(b, pieces, 3)));
        const Candidate guess = bestGuess(joined);
        const auto steps = schedule::stepsFromJson(nlohmann::json::parse(guess.steps));
        QVERIFY(steps);
        auto state = schedule::State::replay(joined.dag, *steps);
        QVERIFY(state);
        const auto kernel = schedule::lower(*std::move(state), {});
        QVERIFY2(bool(kernel), kernel ? "" : kernel.error().message.c_str());
        const QString text = QString::fromStdString(ir::print(kernel->nest));
        QVERIFY2(text.contains("vectorize") && text.contains("parallel"), qPrintable(text));
        QVERIFY2(!text.contains("if_then_else"), qPrintable(text));
        for (int i = 0; i < 20; ++i)
            QVERIFY2(text.contains(QString("x%1[").arg(i)), qPrintable(text));
    }

    void theFirstGuessHasAGoodTile()
    {
        const Candidate candidate = bestGuess(conv(56, 64, 64, 3, 1));
        const auto sketch = LatheSketch::create(conv(56, 64, 64, 3, 1), avx512());
        const auto& parameters = (*sketch)->parameters();
        std::map<std::string, std::int64_t> value;
        for (std::size_t g = 0; g < parameters.size(); ++g)
            value[parameters[g].name.substr(0, parameters[g].name.find(" conv2d"))] =
                parameters[g].values[static_cast<std::size_t>(candidate.genome[g])];
        // cpu-kernels.md 4: full vectors, at least two of them, 12 to 28 sums.
        QCOMPARE(value.at("lanes"), 16);
        QVERIFY(value.at("vectors") >= 2);
        const std::int64_t sums = value.at("vectors") * value.at("tile a") * value.at("tile b");
        QVERIFY2(sums >= 12 && sums <= 28, qPrintable(QString::number(sums)));
        QVERIFY(value.at("parallel") >= 1);
    }

    void limitsOfRegistersHold()
    {
        const auto sketch = LatheSketch::create(conv(56, 64, 64, 1, 1), avx512());
        QVERIFY(sketch);
        Genome genome((*sketch)->parameters().size(), 0);
        const auto set = [&](std::string_view name, std::int64_t value) {
            const auto& parameters = (*sketch)->parameters();
            for (std::size_t g = 0; g < parameters.size(); ++g)
                if (parameters[g].name.starts_with(name)) {
                    const auto at = std::find(parameters[g].values.begin(), parameters[g].values.end(), value);
                    QVERIFY(at != parameters[g].values.end());
                    genome[g] = static_cast<std::int32_t>(at - parameters[g].values.begin());
                }
        };
        set("lanes", 16);
        set("vectors", 2);
        set("tile a", 14);
        QVERIFY((*sketch)->analyse(genome));
        set("tile a", 28);
        QVERIFY((*sketch)->analyse(genome).error().code == Errc::IllegalSchedule);
        QVERIFY((*sketch)->instantiate(genome).error().code == Errc::IllegalSchedule);
        genome[0] = 99;
        QVERIFY((*sketch)->analyse(genome).error().code == Errc::InvalidArgument);
        genome.pop_back();
        QVERIFY((*sketch)->instantiate(genome).error().code == Errc::InvalidArgument);
    }
};

LATHE_TEST(TestLatheSketches)

} // namespace tst_lathe_sketches

#include "tst_lathe_sketches.moc"
