#include "core/backend/c_source.h"
#include "core/compute/definitions/reduction.h"
#include "core/ir/scratch.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/cuda_driver/opened_driver.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>

namespace tst_cuda_shuffles {

using namespace lathe;
using namespace lathe::test;
using cuda_driver::testing::OpenedDriver;

namespace {

constexpr int kCapability = 80;

schedule::LowerOptions loweringOf(const std::vector<bool>& constantInputs = {})
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = constantInputs;
    return options;
}

compute::DagPtr rows(ir::Combiner combiner, std::int64_t count, std::int64_t length, DType dtype)
{
    compute::DagBuilder b;
    const compute::Tensor x = b.placeholder("x", {count, length}, dtype);
    if (combiner >= ir::Combiner::ArgMax)
        return must(std::move(b).finish({compute::argReduction(b, combiner == ir::Combiner::ArgMax, x, 1, false)}));
    return must(std::move(b).finish(
        {b.reduce("y", {count}, {"i"}, "", combiner, {{"k", length}}, [&](const auto& i, const auto& r) {
            return b.at(x, {i[0], r[0]});
        })}));
}

schedule::State stateOf(const compute::DagPtr& dag, std::int64_t length, std::int64_t threads)
{
    const nlohmann::json steps = {
        {"AN", 1, 0, 5}, {"SP", 1, 1, length, nlohmann::json::array({threads}), 1}, {"AN", 1, 2, 6}, {"SH", 1, 2, 32}};
    return must(schedule::State::replay(dag, must(schedule::stepsFromJson(steps))));
}

/// A kernel's launches as CUDA C++, compiled by NVRTC for the driver on the CPU and run there.
class OnDriver
{
public:
    OnDriver()
        : m_driver(cuda_driver::testing::Environment{{"LATHE_CUDA_DRIVER_STRICT", "1"}})
    {
        m_driver.context();
    }

    QString log() const { return m_driver.log(); }

    /// What went wrong; empty: nothing. `change`: of each source, before it is compiled.
    std::string run(const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters,
                    const std::function<void(std::string&)>& change = {})
    {
        const auto printed = backend::printCuda(nest);
        if (!printed)
            return printed.error().message;
        std::map<std::int32_t, std::uint64_t> at;
        for (std::size_t p = 0; p < parameters.size(); ++p)
            at[nest.parameters[p]] = m_driver.put(std::vector<std::byte>(parameters[p].begin(), parameters[p].end()));
        for (const backend::SourceLaunch& launch : printed->launches) {
            std::string source = printed->head + launch.text;
            if (change)
                change(source);
            const auto compiled = must(cuda::Nvrtc::find(kCapability))->compile(source, kCapability);
            if (!compiled)
                return compiled.error().message + '\n' + source;
            std::vector<void*> arguments;
            for (const std::int32_t buffer : launch.buffers) {
                const ir::Buffer& of = nest.buffers[static_cast<std::size_t>(buffer)];
                if (!at.contains(buffer))
                    at[buffer] = m_driver.allocate(static_cast<std::size_t>(ir::elementCount(of) * sizeOf(of.dtype)));
                arguments.push_back(&at[buffer]);
            }
            const auto sizes = [](const std::array<std::int64_t, 3>& from) {
                return std::array<unsigned, 3>{static_cast<unsigned>(from[0]), static_cast<unsigned>(from[1]),
                                               static_cast<unsigned>(from[2])};
            };
            void* const function = m_driver.function(compiled->ptx, launch.symbol.c_str());
            if (function == nullptr)
                return "it is not loaded: " + log().toStdString();
            const int code = m_driver.launch(function, sizes(launch.grid), sizes(launch.block), arguments,
                                             static_cast<unsigned>(launch.dynamicSharedBytes));
            if (code != 0 || m_driver.synchronize() != 0)
                return "it fails: " + log().toStdString();
        }
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            const auto got = m_driver.get<std::byte>(at[nest.parameters[p]], parameters[p].size());
            std::copy(got.begin(), got.end(), parameters[p].begin());
        }
        return log().toStdString();
    }

private:
    OpenedDriver m_driver;
};

std::size_t countOf(const std::string& text, const std::string& what)
{
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
        ++count;
    return count;
}

} // namespace

/// Sums whose parts go from register to register, as NVRTC compiles them and as the driver that interprets PTX runs
/// them, which is strict: a finding is a failure.
class TestCudaShuffles : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { LATHE_NEEDS_NVRTC(); }

    void eachArchitectureHasThem_data()
    {
        QTest::addColumn<int>("capability");
        for (const int capability : {75, 80, 90, 120})
            QTest::newRow(std::to_string(capability).c_str()) << capability;
    }
    void eachArchitectureHasThem()
    {
        QFETCH(int, capability);
        const auto compiler = cuda::Nvrtc::find(capability);
        if (!compiler)
            QSKIP(compiler.error().message.c_str());
        for (const DType dtype :
             {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I8, DType::U8, DType::I32, DType::I64}) {
            const auto kernel = must(
                schedule::lower(stateOf(rows(ir::Combiner::Sum, 2, 300, dtype), 300, 128), loweringOf()));
            const backend::KernelSource source = must(backend::printCuda(kernel.nest));
            const auto compiled = (*compiler)->compile(source.text(), capability);
            QVERIFY2(compiled, compiled ? "" : (compiled.error().message + source.text()).c_str());
            // Five steps in each warp and two among the warps; a value of 64 bits goes in halves.
            QCOMPARE(countOf(compiled->ptx, "shfl.sync.bfly"), std::size_t(sizeOf(dtype) == 8 ? 14 : 7));
            QCOMPARE(countOf(compiled->ptx, "bar.sync"), std::size_t{1});
            QCOMPARE(compiled->spilledBytes, std::int64_t{0});
        }
    }

    void resultsAreRight_data()
    {
        QTest::addColumn<int>("combiner");
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("length");
        QTest::addColumn<int>("threads");
        const auto row = [](ir::Combiner combiner, DType dtype, int length, int threads) {
            QTest::addRow("%d of %s, %d by %d", int(combiner), toString(dtype), length, threads)
                << int(combiner) << int(dtype) << length << threads;
        };
        using enum ir::Combiner;
        for (const ir::Combiner combiner : {Sum, Prod, Max, Min, ArgMax, ArgMin})
            for (const int threads : {16, 32, 96, 256})
                row(combiner, DType::F32, 301, threads);
        for (const DType dtype :
             {DType::F16, DType::BF16, DType::F64, DType::I8, DType::U8, DType::I16, DType::I32, DType::I64})
            row(Max, dtype, 49, 32);
        row(Sum, DType::F32, 1031, 1024);
    }
    void resultsAreRight()
    {
        QFETCH(int, combiner);
        QFETCH(int, dtype);
        QFETCH(int, length);
        QFETCH(int, threads);
        OnDriver driver;
        const schedule::State state = stateOf(rows(ir::Combiner(combiner), 3, length, DType(dtype)), length, threads);
        const std::string wrong = schedule::test::checkKernel(
            state, 9, loweringOf(),
            [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> p) { return driver.run(nest, p); });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// What the search offers, with shuffles, on the most threads that the task has.
    void sketchesAreRight_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("form");
        for (const char* const name : {"softmax", "layer norm"})
            QTest::addRow("%s by rows", name) << name << int(search::LaunchForm::Rows);
        for (const char* const name : {"dense of one sample", "long dense", "dense in halves", "sum of rows",
                                       "position", "global pool NHWC", "global pool NCHW", "maximum of all"})
            QTest::addRow("%s by trees", name) << name << int(search::LaunchForm::Tree);
    }
    void sketchesAreRight()
    {
        QFETCH(QString, name);
        QFETCH(int, form);
        const search::SearchTask t = task(
            {name == "long dense" ? test::dense(2050, 10) : launchCase(name.toStdString())}, "cuda");
        const auto sketch = must(search::LaunchSketch::create(t.alternatives.front(), t.hardware, t.target.family(),
                                                              search::LaunchForm(form)));
        search::Genome genome;
        bool hasExchange = false;
        for (const search::Parameter& parameter : sketch->parameters()) {
            const bool isExchange = parameter.name.starts_with("exchange ");
            hasExchange = hasExchange || isExchange;
            genome.push_back(isExchange || parameter.name.starts_with("threads ") ? parameter.count - 1 : 0);
        }
        QVERIFY(hasExchange);
        const auto state = must(schedule::State::replay(t.alternatives.front().dag, must(sketch->instantiate(genome))));
        OnDriver driver;
        const std::string wrong = schedule::test::checkKernel(
            state, 9, loweringOf(t.alternatives.front().constantInputs),
            [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> p) {
                if (must(backend::printCuda(nest)).text().find("__shfl_xor_sync(0x") == std::string::npos
                    && must(backend::printCuda(nest)).text().find("shuffle_float16(0x") == std::string::npos)
                    return std::string("nothing is exchanged");
                return driver.run(nest, p);
            });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// A mask that lacks lanes, and lanes that stay away, are found.
    void divergenceIsFound_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("by");
        QTest::addColumn<QString>("words");
        QTest::newRow("a mask of half the lanes") << "__shfl_xor_sync(0xffffffffu,"
                                                  << "__shfl_xor_sync(0xffffu,"
                                                  << "divergent shuffle";
        const QString first = "y_pairs[0] = __shfl_xor_sync(0xffffffffu, y_own[0], 16);";
        QTest::newRow("a lane that has ended")
            << first << "if (threadIdx.x == 5) return; " + first << "divergent shuffle";
        QTest::newRow("a lane that stays away") << first << "if (threadIdx.x != 5) " + first << "for other lanes";
    }
    void divergenceIsFound()
    {
        QFETCH(QString, what);
        QFETCH(QString, by);
        QFETCH(QString, words);
        OnDriver driver;
        bool isChanged = false;
        const std::string wrong = schedule::test::checkKernel(
            stateOf(rows(ir::Combiner::Sum, 1, 64, DType::F32), 64, 64), 9, loweringOf(),
            [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> p) {
                return driver.run(nest, p, [&](std::string& source) {
                    const std::string changed = QString::fromStdString(source).replace(what, by).toStdString();
                    isChanged = isChanged || changed != source;
                    source = changed;
                });
            });
        QVERIFY(isChanged);
        QVERIFY2(QString::fromStdString(wrong).contains(words), wrong.c_str());
    }
};

LATHE_TEST(TestCudaShuffles)

} // namespace tst_cuda_shuffles

#include "tst_cuda_shuffles.moc"
