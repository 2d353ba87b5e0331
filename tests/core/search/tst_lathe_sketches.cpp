#include "core/search/lathe/lathe_policy.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "core/compute/definitions/winograd.h"
#include "core/ir/print.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/support/must.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <thread>

using namespace lathe;
using namespace lathe::search;
using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;
using test::must;

namespace {

Hardware avx512()
{
    return defaultHardware(*Target::parse("cpu -mcpu=emeraldrapids -threads=2"));
}

SearchAlternative finish(const char* name, DagBuilder&& builder, Tensor output)
{
    auto dag = std::move(builder).finish({output});
    SearchAlternative alternative{name, dag ? *dag : nullptr, {}, true};
    if (!alternative.dag)
        qFatal("%s", dag.error().message.c_str());
    // Everything but the first input is a weight here.
    alternative.constantInputs.assign(alternative.dag->inputs.size(), true);
    alternative.constantInputs[0] = false;
    return alternative;
}

Tensor addBiasRelu(DagBuilder& b, Tensor x)
{
    const Tensor bias = b.placeholder("bias", {1, 1, 1, b.shape(x).back()}, DType::F32);
    return unary(b, compute::Unary::Relu, binary(b, compute::Binary::Add, x, bias));
}

SearchAlternative conv(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, bool epilogue = true)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, in}, DType::F32);
    const Tensor weight = b.placeholder("weight", {kernel, kernel, in, out}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {stride, stride};
    const std::int64_t pad = kernel / 2;
    p.padding = {pad, pad, pad, pad};
    Tensor y = conv2d(b, data, weight, p, NameEra::Nested);
    if (epilogue)
        y = addBiasRelu(b, y);
    return finish("direct", std::move(b), y);
}

SearchAlternative winograd(std::int64_t size, std::int64_t channels, std::int64_t m, bool split = true)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, channels}, DType::F32);
    const Tensor weight = b.placeholder("weight", {m + 2, m + 2, channels, channels}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    const Tensor y = addBiasRelu(b, conv2dWinograd(b, data, weight, m, p, NameEra::Nested, split));
    return finish(m == 2 ? "winograd:2" : "winograd:4", std::move(b), y);
}

SearchAlternative dense(std::int64_t in, std::int64_t out)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, in}, DType::F32), weight = b.placeholder("weight", {out, in}, DType::F32);
    const Tensor bias = b.placeholder("bias", {1, out}, DType::F32);
    const Tensor y = binary(b, compute::Binary::Add, compute::dense(b, data, weight, NameEra::Nested), bias);
    return finish("direct", std::move(b), y);
}

SearchAlternative depthwise(std::int64_t size, std::int64_t channels, std::int64_t stride)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, channels}, DType::F32);
    const Tensor weight = b.placeholder("weight", {3, 3, channels, 1}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {stride, stride};
    p.padding = {1, 1, 1, 1};
    const Tensor y = addBiasRelu(b, depthwiseConv2d(b, data, weight, p, NameEra::Nested));
    return finish("direct", std::move(b), y);
}

SearchAlternative maxPool()
{
    DagBuilder b;
    compute::Pool2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.kernel = {3, 3};
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    const Tensor y = pool2d(b, b.placeholder("data", {1, 112, 112, 64}, DType::F32), compute::PoolKind::Max, p);
    return finish("direct", std::move(b), y);
}

SearchAlternative globalPool()
{
    DagBuilder b;
    const Tensor y = compute::globalPool<2>(b, b.placeholder("data", {1, 7, 7, 512}, DType::F32), compute::PoolKind::Average,
                                  compute::ImageLayout::Nhwc);
    return finish("direct", std::move(b), y);
}

SearchAlternative softmaxOf(std::int64_t n)
{
    DagBuilder b;
    const Tensor y = softmax(b, b.placeholder("data", {1, n}, DType::F32), -1);
    return finish("direct", std::move(b), y);
}

SearchAlternative softmaxOfRows(std::int64_t rows, std::int64_t n)
{
    DagBuilder b;
    const Tensor y = softmax(b, b.placeholder("data", {2, rows, n}, DType::F32), -1);
    return finish("direct", std::move(b), y);
}

/// (x - mean) / sqrt(variance + eps) * scale, as importers write it.
SearchAlternative layerNorm(std::int64_t rows, std::int64_t n)
{
    using compute::Binary;
    DagBuilder b;
    const Tensor x = b.placeholder("data", {rows, n}, DType::F32);
    const Tensor difference = binary(b, Binary::Subtract, x, reduction(b, compute::Reduction::Mean, x, {1}, true));
    const Tensor variance = reduction(b, compute::Reduction::Mean, binary(b, Binary::Multiply, difference, difference), {1}, true);
    const Tensor inverse = unary(b, compute::Unary::Rsqrt, binaryScalar(b, Binary::Add, variance, 1e-6));
    const Tensor y = binary(b, Binary::Multiply, binary(b, Binary::Multiply, difference, inverse), b.placeholder("scale", {1, n}, DType::F32));
    return finish("direct", std::move(b), y);
}

/// [n, m] read as [m, n].
SearchAlternative transposition(std::int64_t n, std::int64_t m)
{
    DagBuilder b;
    const Tensor y = unary(b, compute::Unary::Relu, transpose(b, b.placeholder("data", {m, n}, DType::F32), {1, 0}));
    return finish("direct", std::move(b), y);
}

SearchTask task(std::vector<SearchAlternative> alternatives, const char* target = "cpu -mcpu=emeraldrapids -threads=2")
{
    SearchTask t;
    t.key = t.name = "task";
    t.alternatives = std::move(alternatives);
    t.target = *Target::parse(target);
    t.hardware = defaultHardware(t.target);
    return t;
}

struct ThreadExecutor final : Executor
{
    void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body, std::stop_token) override
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 2; ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = count; i-- > 0;)
                    if (i % 2 == t)
                        body(i);
            });
    }
    unsigned concurrency() const override { return 2; }
};

std::vector<Candidate> proposals(Policy& policy, std::uint64_t round, std::int32_t count, Executor& executor)
{
    auto candidates = policy.propose(round, count, executor);
    if (!candidates)
        qFatal("%s", candidates.error().message.c_str());
    return *std::move(candidates);
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
    const auto candidate = defaultCandidate(task({alternative}));
    if (!candidate)
        qFatal("%s", candidate.error().message.c_str());
    return *candidate;
}

} // namespace

class TstLatheSketches : public QObject
{
    Q_OBJECT

private slots:
    void everyProposalReplays_data()
    {
        QTest::addColumn<int>("which");
        int i = 0;
        for (const char* name : {"3x3", "3x3 to the output", "1x1", "stem", "7 pixels", "winograd 4", "winograd 2 of 7", "dense",
                                 "depthwise", "depthwise /2", "max pool", "global pool", "softmax"})
            QTest::newRow(name) << i++;
    }
    void everyProposalReplays()
    {
        QFETCH(int, which);
        const std::function<SearchAlternative()> makers[] = {
            [] { return conv(56, 64, 64, 3, 1); }, [] { return conv(28, 128, 128, 3, 2, false); }, [] { return conv(14, 256, 1024, 1, 1); },
            [] { return conv(224, 3, 64, 7, 2); }, [] { return conv(7, 512, 512, 3, 1); }, [] { return winograd(56, 64, 4); },
            [] { return winograd(7, 512, 2); }, [] { return dense(512, 1000); }, [] { return depthwise(56, 144, 1); },
            [] { return depthwise(112, 96, 2); }, maxPool, globalPool, [] { return softmaxOf(1000); }};
        const SearchAlternative alternative = makers[which]();
        const auto t = task({alternative});
        const auto sketches = latheCpuSketches(t);
        QVERIFY(sketches);
        const auto sketchOf = [&](const Candidate& c) {
            return *std::find_if(sketches->begin(), sketches->end(), [&](const auto& s) { return s->name() == c.sketch; });
        };
        PolicyOptions options;
        const auto policy = makePolicy("random", t, *makeSharedModel("random", 1, options), options);
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
        for (const char* name : {"3x3", "1x1", "1x1 of few pixels", "7 pixels", "winograd 4", "winograd 2", "depthwise", "dense"})
            QTest::newRow(name) << i++;
    }
    void genomesOfOneIdentityMakeOneProgram()
    {
        QFETCH(int, which);
        const std::function<SearchAlternative()> makers[] = {
            [] { return conv(28, 32, 64, 3, 1); }, [] { return conv(28, 64, 128, 1, 1); }, [] { return conv(7, 64, 16, 1, 1); }, [] { return conv(7, 64, 64, 3, 1); },
            [] { return winograd(14, 32, 4); }, [] { return winograd(14, 32, 2); }, [] { return depthwise(28, 48, 1); }, [] { return dense(128, 96); }};
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
                if (const Genome& other = genomes.emplace(program, genome).first->second; sketch->identity(other).hex() != identity) {
                    ++unseen;
                    example = text(other) + " and " + text(genome);
                }
                if (sketch->settled(sketch->settled(genome)) != sketch->settled(genome) || sketch->identity(sketch->settled(genome)).hex() != identity)
                    qFatal("%s: not settled: %s", sketch->name().c_str(), text(genome).c_str());
                return true;
            };
            for (int tries = 0; tries < 20000 && taken < 5; ++tries) {
                Genome genome;
                for (const Parameter& parameter : sketch->parameters())
                    genome.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parameter.count))));
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
            QVERIFY2(unseen * 50 <= static_cast<int>(programs.size()), qPrintable(QString("%1: %2 of %3, %4").arg(sketch->name().c_str()).arg(unseen).arg(programs.size()).arg(example.c_str())));
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
        for (const SearchAlternative& alternative : {conv(56, 64, 64, 3, 1), dense(512, 1000), maxPool(), transposition(64, 197), softmaxOfRows(20, 4)})
            QVERIFY(LatheSketch::create(alternative, avx512(), LatheForm::Rows).error().code == Errc::Unsupported);
    }

    void aTransposedTensorIsCopiedAlongItsLines()
    {
        const SearchAlternative alternative = transposition(64, 197);
        auto state = schedule::State::replay(alternative.dag, must(schedule::stepsFromJson(nlohmann::json::parse(bestGuess(alternative).steps))));
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

    void sameSeedSameProposalsOnAnyNumberOfThreads()
    {
        const SearchTask t = task({conv(28, 128, 128, 3, 1), winograd(28, 128, 4)});
        const auto run = [&](Executor& executor, std::uint64_t seed) {
            PolicyOptions options;
            options.seed = seed;
            auto model = *makeSharedModel("sketch", 1, options);
            auto policy = *makePolicy("sketch", t, model, options);
            std::vector<std::string> seen;
            for (std::uint64_t round = 0; round < 3; ++round) {
                const std::vector<Candidate> candidates = proposals(*policy, round, 16, executor);
                std::vector<Measured> results;
                for (const Candidate& c : candidates) {
                    seen.push_back(c.hash().hex());
                    Measured m{c, {}};
                    m.result.costsNs = {1000.0 + static_cast<double>(contentHash(c.steps).low % 5000)};
                    results.push_back(std::move(m));
                }
                if (!policy->tell(results))
                    qFatal("tell failed");
            }
            return seen;
        };
        SerialExecutor serial;
        ThreadExecutor threads;
        const auto one = run(serial, 1);
        QCOMPARE(one.size(), std::size_t(48));
        QCOMPARE(std::set<std::string>(one.begin(), one.end()).size(), std::size_t(48));
        QVERIFY(one == run(threads, 1));
        QVERIFY(one != run(serial, 2));
    }

    void aCandidateIsScoredOnceInARound()
    {
        class CountingModel final : public CostModel
        {
        public:
            explicit CountingModel(std::size_t& programs) : m_programs(programs) { }
            Result<> train(const TrainingSet&, std::stop_token) override
            {
                m_trained = true;
                return {};
            }
            Result<std::vector<float>> predict(const FeatureMatrix& features) const override
            {
                m_programs += features.programs();
                return std::vector<float>(features.programs(), -1.0f);
            }
            bool trained() const override { return m_trained; }
            Result<std::vector<std::byte>> save() const override { return std::vector<std::byte>(); }
            Result<> load(std::span<const std::byte>) override { return {}; }

        private:
            std::size_t& m_programs;
            bool m_trained = false;
        };
        std::size_t programs = 0;
        const auto model = std::make_shared<SharedModel>(std::make_unique<CountingModel>(programs), kLatheFeatures, 0);
        const auto policy = *makePolicy("sketch", task({conv(28, 128, 128, 3, 1)}), model, {});
        SerialExecutor executor;
        Measured known{proposals(*policy, 0, 1, executor).front(), {}};
        known.result.costsNs = {1000.0};
        QVERIFY(policy->tell({&known, 1}));
        QCOMPARE(programs, std::size_t(0)); // no model was there
        constexpr std::size_t kWanted = 16;
        QCOMPARE(proposals(*policy, 1, kWanted, executor).size(), kWanted);
        // All that were drawn or bred and the known one, and once more those that were chosen, for what they are told to take.
        QVERIFY2(programs > 1000, qPrintable(QString::number(programs)));
        QVERIFY2(static_cast<double>(programs) <= policy->statistics()["considered"] + 1 + kWanted, qPrintable(QString::number(programs)));
    }

    void everyAlternativeIsTriedInTheFirstRound()
    {
        const SearchTask t = task({conv(14, 256, 256, 3, 1), winograd(14, 256, 2), winograd(14, 256, 4)});
        PolicyOptions options;
        auto policy = *makePolicy("sketch", t, *makeSharedModel("sketch", 1, options), options);
        SerialExecutor executor;
        std::map<std::string, int> count;
        for (const Candidate& c : proposals(*policy, 0, 32, executor))
            ++count[c.alternative];
        QCOMPARE(count.size(), std::size_t(3));
        for (const auto& [name, n] : count)
            QVERIFY2(n >= 4, name.c_str());
    }

    void anExhaustedSpaceGivesNothing()
    {
        const SearchTask t = task({softmaxOf(3)});
        PolicyOptions options;
        auto policy = *makePolicy("random", t, *makeSharedModel("random", 1, options), options);
        SerialExecutor executor;
        std::size_t total = 0;
        for (std::uint64_t round = 0; round < 200; ++round) {
            const std::vector<Candidate> candidates = proposals(*policy, round, 64, executor);
            total += candidates.size();
            if (candidates.empty())
                return;
        }
        QFAIL(qPrintable(QString("still going after %1").arg(total)));
    }

    void refusals()
    {
        PolicyOptions options;
        QVERIFY(makeSharedModel("magic", 1, options).error().code == Errc::InvalidArgument);
        const auto model = *makeSharedModel("sketch", 1, options);
        QVERIFY(makePolicy("magic", task({softmaxOf(8)}), model, options).error().code == Errc::InvalidArgument);
        QVERIFY(makePolicy("sketch", task({softmaxOf(8)}, "cuda"), model, options).error().code == Errc::Unsupported);
        QVERIFY(makePolicy("sketch", task({}), model, options).error().code == Errc::Unsupported);
        auto policy = *makePolicy("sketch", task({softmaxOf(8)}), model, options);
        std::stop_source stop;
        stop.request_stop();
        SerialExecutor executor;
        QVERIFY(policy->propose(0, 4, executor, stop.get_token()).error().code == Errc::Cancelled);
    }
};

QTEST_APPLESS_MAIN(TstLatheSketches)
#include "tst_lathe_sketches.moc"
