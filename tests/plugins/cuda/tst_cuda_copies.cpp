#include "core/backend/c_source.h"
#include "core/ir/async_copy.h"
#include "core/ir/scratch.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/search/lathe/launch_sketches.h"
#include "core/support/random.h"
#include "plugins/cuda/device/architecture.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/cuda_driver/kernel_run.h"
#include "tests/plugins/cuda/cuda_fixture.h"
#include "tests/support/changed_statement.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <utility>

namespace tst_cuda_copies {

using namespace lathe;
using lathe::test::changed;
using lathe::test::must;

namespace {

/// Each text once for each architecture.
Result<cuda::Compiled> compiled(const ir::LoopNest& nest, int capability)
{
    static std::map<std::pair<std::string, int>, cuda::Compiled> kept;
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(nest));
    const auto [place, isNew] = kept.try_emplace({source.text(), capability});
    if (isNew) {
        LATHE_TRY_ASSIGN(const cuda::Nvrtc* const compiler, cuda::Nvrtc::find(capability));
        LATHE_TRY_ASSIGN(place->second, compiler->compile(source.text(), capability));
    }
    return place->second;
}

/// Runs a nest as printed CUDA in the interpreter of PTX. What is wrong, or nothing.
std::string runPtx(const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters, int capability,
                   ptx::AsyncArrival arrival)
{
    const backend::KernelSource source = must(backend::printCuda(nest));
    const cuda::Compiled made = must(compiled(nest, capability));
    const auto loaded = ptx::load(made.ptx);
    if (const auto* const error = std::get_if<ptx::LoadError>(&loaded))
        return error->text;
    const auto program = std::get<std::shared_ptr<const ptx::Program>>(loaded);
    ptx::DeviceMemory memory(std::uint64_t{1} << 30);
    std::vector<ptx::Allocation*> places;
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
        const auto id = static_cast<std::int32_t>(b);
        const ir::Buffer& buffer = nest.buffers[b];
        ptx::Allocation* const place = memory.allocate(
            static_cast<std::uint64_t>(ir::elementCount(buffer) * sizeOf(buffer.dtype)));
        places.push_back(place);
        const auto parameter = std::ranges::find(nest.parameters, id);
        if (parameter == nest.parameters.end() || !buffer.readOnly)
            continue;
        std::memcpy(place->bytes.get(),
                    parameters[static_cast<std::size_t>(parameter - nest.parameters.begin())].data(), place->size);
        std::memset(place->initialized.get(), 1, place->size);
    }
    for (const backend::SourceLaunch& launch : source.launches) {
        ptx::LaunchRequest request;
        request.program = program;
        request.kernel = program->find(launch.symbol);
        const auto sizeOfAll = [](const std::array<std::int64_t, 3>& sizes) {
            return ptx::Size3{static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
                              static_cast<std::uint32_t>(sizes[2])};
        };
        request.grid = sizeOfAll(launch.grid);
        request.block = sizeOfAll(launch.block);
        request.dynamicShared = static_cast<std::uint32_t>(launch.dynamicSharedBytes);
        request.arrival = arrival;
        std::vector<std::uint8_t> bytes(request.kernel->parameterBytes);
        for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
            const std::uint64_t address = places[static_cast<std::size_t>(launch.buffers[i])]->base;
            std::memcpy(bytes.data() + request.kernel->parameters[i].offset, &address, sizeof address);
        }
        request.parameters = bytes;
        const ptx::LaunchReport report = ptx::runLaunch(request, memory);
        if (report.fault || !report.findings.all().empty())
            return ptx::testing::textOf(report).toStdString();
    }
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (!nest.buffers[static_cast<std::size_t>(nest.parameters[p])].readOnly)
            std::memcpy(parameters[p].data(), places[static_cast<std::size_t>(nest.parameters[p])]->bytes.get(),
                        parameters[p].size());
    return {};
}

/// What is wrong with a state's kernel on a device of the capability, whenever its copies arrive.
std::string wrongWith(const schedule::State& state, const schedule::LowerOptions& options, int capability)
{
    std::string wrong;
    for (const ptx::AsyncArrival arrival : {ptx::AsyncArrival::AtIssue, ptx::AsyncArrival::AtWait})
        if (wrong.empty())
            wrong = schedule::test::checkKernel(
                state, 3, options, [&](const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters) {
                    return runPtx(nest, parameters, capability, arrival);
                });
    return wrong;
}

schedule::LowerOptions launches(std::vector<bool> constantInputs = {})
{
    schedule::LowerOptions options;
    options.form = KernelForm::Launches;
    options.constantInputs = std::move(constantInputs);
    return options;
}

schedule::State replayed(const compute::DagPtr& dag, const std::string& steps)
{
    return must(schedule::State::replay(dag, must(schedule::stepsFromJson(nlohmann::json::parse(steps)))));
}

/// C = A B as in tst_staged_copies: blocks of 16 by 16 elements by 64 threads, 4 steps of the sum at a time, both
/// operands in so many slices.
schedule::State product(int fetch, int slices)
{
    return replayed(schedule::test::matmul(32, 16, 40),
                    fmt::format(R"([["CHW", 2, "local"], ["CHR", 1, "shared", [2]], ["CHR", 0, "shared", [3]],
        ["SP", 5, 1, 0, [8, 2], 1], ["SP", 5, 0, 0, [8, 2], 1], ["RE", 5, [0, 3, 1, 4, 2, 5]], ["FU", 5, [0, 1]],
        ["FU", 5, [1, 2]], ["AN", 5, 0, 5], ["AN", 5, 1, 6], ["CA", 4, 5, 1], ["SP", 4, 2, 0, [4], 1],
        ["RE", 4, [2, 3, 0, 1]], ["AN", 4, 2, 1], ["AN", 4, 3, 1],
        ["CA", 1, 4, 0], ["FU", 1, [0, 1]], ["SP", 1, 0, 0, [64, {0}], 1], ["AN", 1, 1, 6], ["AN", 1, 2, 2],
        ["CA", 3, 4, 0], ["FU", 3, [0, 1]], ["SP", 3, 0, 0, [64, {0}], 1], ["AN", 3, 1, 6], ["AN", 3, 2, 2],
        ["SG", 1, {1}], ["SG", 3, {1}]])",
                                fetch, slices));
}

} // namespace

/// Tiles that are filled ahead by asynchronous copies, as CUDA: NVRTC takes them, and the interpreter of PTX finds
/// their results right and nothing to say, whether copies arrive at once or as late as they may.
class TestCudaCopies : public QObject
{
    Q_OBJECT

private slots:
    void architecturesThatHaveThemCopyAsynchronously_data()
    {
        QTest::addColumn<int>("capability");
        QTest::addColumn<int>("fetch");
        for (const int capability : {75, 80, 90, 120})
            for (const int fetch : {1, 2, 4})
                QTest::addRow("sm_%d, %d bytes", capability, 4 * fetch) << capability << fetch;
    }
    void architecturesThatHaveThemCopyAsynchronously()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(int, capability);
        QFETCH(int, fetch);
        const ir::LoopNest nest = must(schedule::lower(product(fetch, 3), launches())).nest;
        const auto made = compiled(nest, capability);
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        const QString ptx = QString::fromStdString(made->ptx);
        const QString copy = QStringLiteral("cp.async.%1.shared.global").arg(fetch == 4 ? "cg" : "ca");
        QCOMPARE(ptx.contains(copy), capability >= 80);
        QCOMPARE(ptx.contains("cp.async.wait_group \t1;") || ptx.contains("cp.async.wait_group 1;"), capability >= 80);
        QCOMPARE(ptx.contains("cp.async.commit_group;"), capability >= 80);
        QCOMPARE(made->spilledBytes, std::int64_t{0});
    }

    void productsAreRight_data()
    {
        QTest::addColumn<int>("fetch");
        QTest::addColumn<int>("slices");
        QTest::addColumn<int>("capability");
        for (const int capability : {75, 80})
            for (const int fetch : {1, 4})
                for (const int slices : {2, 3, 4})
                    QTest::addRow("sm_%d, %d at once, %d slices", capability, fetch, slices)
                        << fetch << slices << capability;
    }
    void productsAreRight()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(int, fetch);
        QFETCH(int, slices);
        QFETCH(int, capability);
        QCOMPARE(QString::fromStdString(wrongWith(product(fetch, slices), launches(), capability)), QString());
    }

    void faultsAreFound_data()
    {
        QTest::addColumn<bool>("waits");
        QTest::addColumn<int>("late");
        for (const bool late : {false, true}) {
            QTest::addRow("one group less is waited for, %s", late ? "late" : "at once") << true << int(late);
            QTest::addRow("no barrier, %s", late ? "late" : "at once") << false << int(late);
        }
    }
    void faultsAreFound()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(bool, waits);
        QFETCH(int, late);
        ir::LoopNest nest = must(schedule::lower(product(4, 3), launches())).nest;
        nest.launches[0].body = changed(nest.launches[0].body, [waits](const ir::Stmt& s) {
            if (waits && s->kind == ir::StmtKind::AsyncWait)
                return ir::makeAsyncWait(s->count + 1);
            return !waits && s->kind == ir::StmtKind::Barrier ? ir::makeBlock({}) : s;
        });
        std::vector<std::vector<std::byte>> memory;
        for (const std::int64_t elements : {32 * 40, 40 * 16, 32 * 16})
            memory.emplace_back(static_cast<std::size_t>(elements) * sizeof(float));
        const std::vector<std::span<std::byte>> spans(memory.begin(), memory.end());
        const std::string found = runPtx(nest, spans, 80,
                                         late != 0 ? ptx::AsyncArrival::AtWait : ptx::AsyncArrival::AtIssue);
        QVERIFY2(found.find(waits ? "asynchronous copy: " : "race: ") != std::string::npos, found.c_str());
    }

    /// Candidates of Lathe's own sketches that have tiles of steps to come.
    void drawnCandidates_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"dense", "product by a transposed one", "3x3 NCHW", "3x3 /2 NHWC",
                                       "1x1 NHWC, nothing after", "3x3 of primes", "dense in halves"})
            QTest::newRow(name) << name;
    }
    void drawnCandidates()
    {
        LATHE_NEEDS_NVRTC();
        QFETCH(QString, name);
        const int wanted = std::max(2, qEnvironmentVariableIntValue("LATHE_TEST_ROUNDS"));
        const search::SearchAlternative alternative = test::launchCase(name.toStdString());
        search::SearchTask task = test::task({alternative}, "cuda");
        task.hardware.limits["async_copies"] = {1, "test"};
        int had = 0, copied = 0;
        for (const search::LaunchForm form : {search::LaunchForm::Shared, search::LaunchForm::SplitShared}) {
            const auto sketch = search::LaunchSketch::create(alternative, task.hardware, task.target.family(), form);
            for (int i = 0, drawn = 0; sketch && i < 40 && drawn < wanted; ++i) {
                Random random(17, static_cast<std::uint64_t>(form), static_cast<std::uint64_t>(i));
                search::Genome genome((*sketch)->parameters().size());
                bool isLegal = true;
                for (std::size_t part = 0; part < (*sketch)->partCount(); ++part) {
                    const auto [first, count] = (*sketch)->genesOf(part);
                    isLegal = isLegal && (*sketch)->draw(part, random, std::span(genome).subspan(first, count));
                }
                const std::string steps = isLegal ? schedule::toJson(must((*sketch)->instantiate(genome))).dump() : "";
                if (steps.find("\"SG\"") == std::string::npos)
                    continue;
                ++drawn;
                ++had;
                const schedule::State state = replayed(alternative.dag, steps);
                const schedule::LowerOptions options = launches(alternative.constantInputs);
                const ir::LoopNest nest = must(schedule::lower(state, options)).nest;
                const auto fits = schedule::checkLimits(state, nest, task.hardware);
                QVERIFY2(fits, fits ? "" : fits.error().message.c_str());
                for (const int capability : {80, 90, 120}) {
                    const auto made = compiled(nest, capability);
                    QVERIFY2(made, made ? "" : (steps + made.error().message).c_str());
                    copied += made->ptx.find("cp.async.c") != std::string::npos ? 1 : 0;
                }
                const std::string wrong = wrongWith(state, options, 80);
                QVERIFY2(wrong.empty(), (steps + ": " + wrong).c_str());
            }
        }
        QVERIFY2(had >= wanted, qPrintable(QString::number(had)));
        QVERIFY2(copied * 2 >= 3 * had || name == "dense in halves", qPrintable(QString::number(copied)));
    }
};

LATHE_TEST(TestCudaCopies)

} // namespace tst_cuda_copies

#include "tst_cuda_copies.moc"
