#include "core/ir/async_copy.h"
#include "core/ir/interpret_launches.h"
#include "core/search/reference/annotate.h"
#include "core/target/kinds.h"
#include "plugins/sim/interpreter.h"
#include "plugins/sim/launch_cost.h"
#include "plugins/sim/program_writer.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace tst_sim_launches {

using namespace lathe;
using namespace lathe::sim;
using ir::Expr;
using ir::Stmt;

namespace {

/// What the simulated device says of a kernel; empty: it ran.
std::string runOnSim(const ir::LoopNest& nest, std::span<const std::span<std::byte>> parameters)
{
    schedule::LoweredKernel kernel;
    kernel.nest = nest;
    ProgramWriter writer;
    if (const auto added = writer.add(kernel, {}); !added)
        return added.error().message;
    const std::vector<std::byte> bytes = writer.bytes();
    Program program;
    if (std::string problem = program.read(bytes.data(), bytes.size()); !problem.empty())
        return problem;
    std::vector<void*> pointers;
    for (const std::span<std::byte> parameter : parameters)
        pointers.push_back(parameter.data());
    return program.run(program.kernels()[0], pointers.data());
}

std::string runOnSim(const ir::LoopNest& nest)
{
    std::vector<std::vector<std::byte>> memory;
    for (const std::int32_t id : nest.parameters) {
        std::int64_t bytes = sizeOf(nest.buffers[static_cast<std::size_t>(id)].dtype);
        for (const std::int64_t extent : nest.buffers[static_cast<std::size_t>(id)].shape)
            bytes *= extent;
        memory.emplace_back(static_cast<std::size_t>(bytes));
    }
    const std::vector<std::span<std::byte>> spans(memory.begin(), memory.end());
    const std::string oracle = [&] {
        const auto interpreter = test::must(ir::LaunchInterpreter::compile(nest));
        const auto ran = interpreter.run(spans);
        return ran ? std::string() : ran.error().message;
    }();
    const std::string ran = runOnSim(nest, spans);
    if (ran.empty() != oracle.empty())
        qFatal("the oracle says '%s', the device '%s'", oracle.c_str(), ran.c_str());
    return ran;
}

ir::Buffer buffer(const char* name, ir::Scope scope, std::int64_t elements, bool readOnly = false)
{
    return {name, DType::F32, scope, {elements}, {1}, readOnly, false};
}

/// One launch of `blocks` of `threads`; what a thread does is made from its index and that of its block. Buffers: 0
/// "in", 1 "out", 2 "tile" of a block.
ir::LoopNest nestOf(std::int64_t blocks, std::int64_t threads, std::int64_t tile,
                    const std::function<Stmt(const Expr& block, const Expr& thread)>& body)
{
    ir::LoopNest nest;
    nest.name = "k";
    nest.buffers = {buffer("in", ir::Scope::Parameter, 8192, true), buffer("out", ir::Scope::Parameter, 8192),
                    buffer("tile", ir::Scope::Shared, tile)};
    nest.parameters = {0, 1};
    ir::Launch launch;
    launch.name = "stage";
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    for (std::size_t d = 0; d < 3; ++d) {
        launch.blockIndex[d] = ir::var("block" + std::to_string(d));
        launch.threadIndex[d] = ir::var("thread" + std::to_string(d));
    }
    launch.body = body(launch.blockIndex[0], launch.threadIndex[0]);
    nest.launches.push_back(std::move(launch));
    return nest;
}

Expr load(std::int32_t buffer, const Expr& index)
{
    return ir::load(buffer, DType::F32, {index});
}

/// Each thread takes what another one put into the tile.
ir::LoopNest handedOver(bool barrier)
{
    return nestOf(2, 8, 8, [barrier](const Expr& block, const Expr& thread) {
        std::vector<Stmt> steps = {ir::makeStore(2, {thread}, load(0, thread))};
        if (barrier)
            steps.push_back(ir::makeBarrier());
        steps.push_back(ir::makeStore(1, {block * Expr(8) + thread}, load(2, Expr(7) - thread)));
        return ir::makeBlock(std::move(steps));
    });
}

/// An artifact of two kernels: a large one, and one with smaller and fewer buffers, and fewer variables.
std::vector<std::byte> largeAndSmall()
{
    schedule::LoweredKernel large, small;
    large.nest = handedOver(true);
    large.nest.buffers[0].shape = large.nest.buffers[1].shape = {64};
    const Expr j = ir::var("j"), i = ir::var("i");
    ir::Launch& launch = large.nest.launches[0];
    launch.body = ir::makeBlock(
        {launch.body, ir::makeFor(i, 0, 2, ir::LoopKind::Serial,
                                  ir::makeFor(j, 0, 2, ir::LoopKind::Serial,
                                              ir::makeStore(2, {launch.threadIndex[0]}, load(0, i + j))))});
    small.nest = nestOf(1, 2, 1, [](const Expr&, const Expr& thread) {
        return ir::makeBlock({ir::makeStore(1, {thread}, load(0, thread)), ir::makeBarrier()});
    });
    small.nest.buffers.pop_back(); // the tile
    small.nest.buffers[0].shape = small.nest.buffers[1].shape = {2};
    ProgramWriter writer;
    for (const schedule::LoweredKernel* kernel : {&large, &small})
        if (const auto added = writer.add(*kernel, {}); !added)
            qFatal("%s", added.error().message.c_str());
    return writer.bytes();
}

/// An artifact in its parts, to be changed and put together again.
struct Records
{
    std::vector<Kernel> kernels;
    std::vector<Launch> launches;
    std::vector<Buffer> buffers;
    std::vector<Node> nodes;
    std::vector<std::int32_t> children;
    std::vector<char> texts;

    explicit Records(const std::vector<std::byte>& bytes)
    {
        Header header;
        const std::byte* at = bytes.data();
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        const auto take = [&at](auto& records, std::size_t count) {
            records.resize(count);
            std::memcpy(records.data(), at, count * sizeof records[0]);
            at += count * sizeof records[0];
        };
        take(kernels, header.kernels);
        take(launches, header.launches);
        take(buffers, header.buffers);
        take(nodes, header.nodes);
        take(children, header.children);
        take(texts, header.texts);
    }

    std::vector<std::byte> bytes() const
    {
        Header header;
        header.kernels = static_cast<std::uint32_t>(kernels.size());
        header.launches = static_cast<std::uint32_t>(launches.size());
        header.buffers = static_cast<std::uint32_t>(buffers.size());
        header.nodes = static_cast<std::uint32_t>(nodes.size());
        header.children = static_cast<std::uint32_t>(children.size());
        header.texts = static_cast<std::uint32_t>(texts.size());
        std::vector<std::byte> out;
        const auto put = [&out](std::span<const std::byte> part) { out.insert(out.end(), part.begin(), part.end()); };
        put(std::as_bytes(std::span(&header, 1)));
        put(std::as_bytes(std::span(kernels)));
        put(std::as_bytes(std::span(launches)));
        put(std::as_bytes(std::span(buffers)));
        put(std::as_bytes(std::span(nodes)));
        put(std::as_bytes(std::span(children)));
        put(std::as_bytes(std::span(texts)));
        return out;
    }
};

/// Runs a kernel of a damaged program as the device does, with buffers of the bytes that it asks for. False: it is not
/// run, for it takes too much memory or time, or buffers that the device would not have been given.
bool runIfSmall(const Program& program, const Kernel& kernel)
{
    constexpr std::int64_t kMost = 4096;
    std::int64_t threads = 1;
    for (std::uint32_t l = 0; l < kernel.launchCount; ++l) {
        const Launch& launch = program.launches(kernel)[l];
        threads = std::max(threads, launch.block[0] * launch.block[1] * launch.block[2]);
        if (threads > kMost || launch.grid[0] * launch.grid[1] * launch.grid[2] * threads > kMost)
            return false;
    }
    std::vector<std::vector<std::byte>> memory(2);
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b) {
        const Buffer& buffer = program.buffers(kernel)[b];
        if (buffer.parameter >= 2 || buffer.elements * threads > 16 * kMost)
            return false;
    }
    if (kernel.variables * threads > 16 * kMost)
        return false;
    void* pointers[2] = {};
    for (std::uint32_t p = 0; p < 2; ++p) {
        memory[p].resize(program.parameterBytes(kernel, p));
        pointers[p] = memory[p].data();
    }
    (void)program.run(kernel, pointers);
    return true;
}

double timeOf(const ir::LoopNest& nest)
{
    GpuMachine machine = GpuMachine::like("cuda");
    machine.ruggedness = 0;
    return launchTimeNs(nest, machine);
}

} // namespace

/// Launches on the simulated device, beside the interpreter that is the oracle for them.
class TestSimLaunches : public QObject
{
    Q_OBJECT

private slots:
    void schedulesOfTheReferenceComputeWhatTheDagSays_data()
    {
        QTest::addColumn<QString>("dag");
        QTest::addColumn<QString>("target");
        for (const char* target : {"sim -like=cuda", "sim -like=mali"})
            for (const char* dag : {"matmul", "convolution", "pool"})
                QTest::newRow(qPrintable(QString("%1 on %2").arg(dag, target))) << dag << target;
    }
    void schedulesOfTheReferenceComputeWhatTheDagSays()
    {
        QFETCH(QString, dag);
        QFETCH(QString, target);
        const Target parsed = *Target::parse(target.toStdString());
        const Hardware hardware = defaultHardware(parsed);
        const compute::DagPtr made = dag == "matmul"        ? schedule::test::matmul(16, 24, 16)
                                     : dag == "convolution" ? schedule::test::convBiasRelu(7, 7, 4, 8, 3, 1, 1)
                                                            : schedule::test::maxPool(9, 9, 4, 3, 2, 1);
        search::SketchRuleContext context = search::SketchRuleContext::of(parsed, hardware);
        context.warpSize = 1; // small shapes have few threads
        schedule::LowerOptions options;
        options.form = KernelForm::Launches;
        int ran = 0;
        for (const schedule::State& state : test::must(search::generateReferenceSketches(made, parsed, hardware))) {
            const search::ReferenceSketch sketch("s", "direct", state, context);
            Random random(3);
            for (int draw = 0, left = 4; draw < 1000 && left > 0; ++draw) {
                search::Genome genome;
                const auto sample = sketch.sample(random, genome);
                if (!sample)
                    continue;
                const std::string wrong = schedule::test::checkKernel(
                    *sample, 5, options,
                    [](const ir::LoopNest& nest, auto parameters) { return runOnSim(nest, parameters); });
                QVERIFY2(wrong.empty(), wrong.c_str());
                --left;
                ++ran;
            }
        }
        QVERIFY(ran >= 4);
    }

    void whatIsHandedOverWithABarrierIsRight() { QCOMPARE(runOnSim(handedOver(true)), std::string()); }

    void aRaceIsToldWithItsThreadsAndStatement()
    {
        const std::string told = runOnSim(handedOver(false));
        const std::string expected =
            "launch stage of kernel k: thread (0, 0, 0) of block (0, 0, 0) reads tile at 7, and "
            "thread (7, 0, 0) of block (0, 0, 0) stores to it with no barrier between: out[";
        QCOMPARE(QString::fromStdString(told.substr(0, expected.size())), QString::fromStdString(expected));
    }

    void blocksThatMeetAreTold()
    {
        const std::string told = runOnSim(nestOf(2, 4, 4, [](const Expr&, const Expr& thread) {
            return ir::makeStore(1, {thread}, load(0, thread)); // of both blocks
        }));
        QVERIFY2(told.find("in the same launch") != std::string::npos, told.c_str());
    }

    void aBarrierThatNotAllComeToIsTold()
    {
        const std::string told = runOnSim(nestOf(
            1, 8, 8, [](const Expr&, const Expr& thread) { return ir::makeIf(thread < Expr(5), ir::makeBarrier()); }));
        QVERIFY2(told.find("5 of 8 threads come to a barrier") != std::string::npos, told.c_str());
    }

    void aShuffleThatNotAllLanesComeToIsTold()
    {
        const auto shuffled = [](std::int64_t lanes, std::int32_t warp) {
            ir::LoopNest nest = nestOf(1, 8, 8, [&](const Expr&, const Expr& thread) {
                const Stmt give = ir::makeShuffle(3, {0}, load(3, 0), 4, warp);
                return ir::makeBlock({ir::makeStore(3, {0}, load(0, thread)),
                                      lanes < 8 ? ir::makeIf(thread < ir::intImm(lanes), give) : give,
                                      ir::makeStore(1, {thread}, load(3, 0))});
            });
            nest.buffers.push_back(buffer("own", ir::Scope::Register, 1));
            return runOnSim(nest);
        };
        QCOMPARE(shuffled(8, 8), std::string());
        QCOMPARE(shuffled(8, 32), std::string()); // a block of less than a warp
        const std::string told = shuffled(5, 32);
        QVERIFY2(told.find("divergent shuffle: 5 of 8 lanes of the warp of thread (0, 0, 0) of block (0, 0, 0) come to "
                           "it: shuffle own[0] = own[0] of lane ^ 4 of 32")
                     != std::string::npos,
                 told.c_str());
    }

    void sumsOfWarpsAreRight()
    {
        const auto steps = nlohmann::json::parse(
            R"([["AN", 2, 0, 5], ["AN", 2, 1, 7], ["SP", 2, 2, 210, [96], 1], ["AN", 2, 3, 6], ["SH", 2, 3, 32]])");
        const auto state = test::must(
            schedule::State::replay(schedule::test::matmul(3, 4, 210), test::must(schedule::stepsFromJson(steps))));
        schedule::LowerOptions options;
        options.form = KernelForm::Launches;
        const std::string wrong = schedule::test::checkKernel(
            state, 5, options, [](const ir::LoopNest& nest, auto parameters) { return runOnSim(nest, parameters); });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void whatNobodyWroteIsTold()
    {
        const std::string told = runOnSim(nestOf(
            1, 8, 8, [](const Expr&, const Expr& thread) { return ir::makeStore(1, {thread}, load(2, thread)); }));
        QVERIFY2(told.find("which nobody has written") != std::string::npos, told.c_str());
    }

    void tilesThatAreFilledAheadAreRight()
    {
        const auto steps = nlohmann::json::parse(R"([["CHR", 0, "shared", [2]], ["SP", 3, 2, 0, [4], 1],
            ["AN", 3, 0, 5], ["AN", 3, 1, 6], ["CA", 1, 3, 2], ["FU", 1, [0, 1]], ["SP", 1, 0, 0, [8, 2], 1],
            ["AN", 1, 1, 6], ["AN", 1, 2, 2], ["SG", 1, 3]])");
        const schedule::State state = test::must(
            schedule::State::replay(schedule::test::matmul(7, 8, 16), test::must(schedule::stepsFromJson(steps))));
        schedule::LowerOptions options;
        options.form = KernelForm::Launches;
        const auto onSim = [](const ir::LoopNest& nest, auto parameters) { return runOnSim(nest, parameters); };
        QCOMPARE(schedule::test::checkKernel(state, 5, options, onSim), std::string());
        // Nobody stands still for what is on its way.
        schedule::State least = state;
        auto other = test::must(schedule::stepsFromJson(steps));
        other.pop_back();
        least = test::must(schedule::State::replay(state.baseDag(), other));
        QVERIFY(timeOf(test::must(schedule::lower(state, options)).nest)
                < timeOf(test::must(schedule::lower(least, options)).nest));
    }

    void copiesThatNobodyWaitedForAreTold()
    {
        const auto copied = [](std::vector<Stmt> between) {
            return nestOf(2, 8, 8, [&between](const Expr& block, const Expr& thread) {
                std::vector<Stmt> steps = {ir::makeAsyncCopy(2, {thread}, load(0, thread), 1)};
                steps.insert(steps.end(), between.begin(), between.end());
                steps.push_back(ir::makeStore(1, {block * Expr(8) + thread}, load(2, Expr(7) - thread)));
                return ir::makeBlock(std::move(steps));
            });
        };
        const Stmt commit = ir::makeAsyncCommit(), barrier = ir::makeBarrier();
        QCOMPARE(runOnSim(copied({commit, ir::makeAsyncWait(0), barrier})), std::string());
        const std::string early = "reads tile at 7 before the asynchronous copy of thread (7, 0, 0) of block (0, 0, 0) "
                                  "was waited for";
        for (const auto& between : std::vector<std::vector<Stmt>>{
                 {commit, ir::makeAsyncWait(1), barrier}, {ir::makeAsyncWait(0), barrier}, {commit, barrier}}) {
            const std::string told = runOnSim(copied(between));
            QVERIFY2(told.find(early) != std::string::npos, told.c_str());
        }
        const std::string told = runOnSim(copied({commit, barrier, ir::makeAsyncWait(0)}));
        QVERIFY2(told.find("with no barrier between") != std::string::npos, told.c_str());
    }

    void anIndexOutsideIsTold()
    {
        const std::string told = runOnSim(nestOf(
            1, 8, 4, [](const Expr&, const Expr& thread) { return ir::makeStore(2, {thread}, load(0, thread)); }));
        QVERIFY2(told.find("thread (4, 0, 0) of block (0, 0, 0)") != std::string::npos, told.c_str());
    }

    void damagedProgramsAreRefusedOrRunWithinTheirBuffers()
    {
        const std::vector<std::byte> whole = largeAndSmall();
        Program program;
        QCOMPARE(program.read(whole.data(), whole.size()), std::string());
        for (std::size_t n = 0; n < whole.size(); n += 3)
            QVERIFY(!Program().read(whole.data(), n).empty());
        int ran = 0;
        for (std::size_t at = 0; at < whole.size(); ++at)
            for (const int value : {0, 1, 2, 5, 13, 0x7f, 0xff}) {
                std::vector<std::byte> bytes = whole;
                bytes[at] = static_cast<std::byte>(value);
                Program damaged; // the sanitizers see what is read or written beside it
                if (damaged.read(bytes.data(), bytes.size()).empty())
                    for (const Kernel& kernel : damaged.kernels())
                        ran += runIfSmall(damaged, kernel) ? 1 : 0;
            }
        QVERIFY2(ran > 1000, qPrintable(QString::number(ran)));
    }

    void statementsOfAnotherKernelAreRefused_data()
    {
        QTest::addColumn<int>("what");
        QTest::newRow("body of a launch") << 0;
        QTest::newRow("child of a statement") << 1;
        QTest::newRow("kernels in the wrong order") << 2;
        QTest::newRow("kernels of one root") << 3;
    }
    void statementsOfAnotherKernelAreRefused()
    {
        QFETCH(int, what);
        Records records(largeAndSmall());
        std::vector<Kernel>& kernels = records.kernels;
        QCOMPARE(kernels.size(), std::size_t(2));
        if (what == 0) {
            records.launches[kernels[1].firstLaunch].body = records.launches[kernels[0].firstLaunch].body;
        } else if (what == 1) {
            Node& body = records.nodes[static_cast<std::size_t>(records.launches[kernels[1].firstLaunch].body)];
            QVERIFY(body.kind == NodeKind::Block && body.childCount > 1);
            records.children[body.firstChild] = records.launches[kernels[0].firstLaunch].body;
        } else if (what == 2) {
            std::swap(kernels[0], kernels[1]);
        } else {
            kernels.insert(kernels.begin(), kernels[0]);
        }
        const std::vector<std::byte> bytes = records.bytes();
        const std::string told = Program().read(bytes.data(), bytes.size());
        QVERIFY(!told.empty());
        QCOMPARE(QString::fromStdString(told), what == 0   ? "the artifact has a launch that is out of range"
                                               : what == 1 ? "the artifact has a statement that contains one of "
                                                             "another kernel"
                                                           : "the artifact has kernels whose statements are not apart");
    }

    void aParameterThatIsNamedTwiceNeedsTheLargerBuffer()
    {
        Records records(largeAndSmall());
        const Kernel& small = records.kernels[1];
        Buffer& second = records.buffers[small.firstBuffer + 1];
        second.parameter = 0;
        second.shape[0] = second.elements = 3;
        const std::vector<std::byte> bytes = records.bytes();
        Program program;
        QCOMPARE(program.read(bytes.data(), bytes.size()), std::string());
        QCOMPARE(program.parameterBytes(program.kernels()[1], 0), std::size_t(12));
        QCOMPARE(program.parameterBytes(program.kernels()[1], 1), std::size_t(0));
    }

    void accessesSideBySideAreQuickerThanApart()
    {
        const auto copy = [](std::int64_t stride) {
            return nestOf(128, 64, 1, [stride](const Expr& block, const Expr& thread) {
                const Expr at = stride == 1 ? block * Expr(64) + thread : thread * Expr(128) + block;
                return ir::makeStore(1, {at}, load(0, at));
            });
        };
        QVERIFY(timeOf(copy(1)) < timeOf(copy(128)));
    }

    void conflictsOfBanksCost()
    {
        const auto transposed = [](std::int64_t pitch) {
            return nestOf(2000, 32, 33 * 32, [pitch](const Expr&, const Expr& thread) {
                const Expr i = ir::var("i");
                return ir::makeFor(i, 0, 32, ir::LoopKind::Serial,
                                   ir::makeStore(2, {thread * ir::intImm(pitch) + i}, load(0, thread)));
            });
        };
        QVERIFY(timeOf(transposed(33)) < timeOf(transposed(32)));
    }

    void fewBlocksLeaveCoresIdle()
    {
        const auto work = [](std::int64_t blocks) {
            return nestOf(blocks, 64, 1, [blocks](const Expr& block, const Expr& thread) {
                const Expr i = ir::var("i");
                return ir::makeFor(i, 0, ir::intImm(65536 / blocks), ir::LoopKind::Serial,
                                   ir::makeStore(1, {thread}, load(0, block) * load(0, thread) + load(0, i)));
            });
        };
        QVERIFY(timeOf(work(64)) < timeOf(work(4)));
    }

    void sharedMemoryKeepsBlocksOut()
    {
        const auto filled = [](std::int64_t tile) {
            return nestOf(4000, 64, tile, [](const Expr&, const Expr& thread) {
                const Expr i = ir::var("i");
                return ir::makeFor(i, 0, 64, ir::LoopKind::Serial,
                                   ir::makeStore(2, {thread}, load(0, thread * Expr(64) + i)));
            });
        };
        QVERIFY(timeOf(filled(64)) < timeOf(filled(12000)));
    }

    void eachLaunchHasItsGap()
    {
        ir::LoopNest twice = handedOver(true);
        const double once = timeOf(twice);
        twice.launches.push_back(twice.launches[0]);
        QVERIFY(timeOf(twice) >= 2 * once - 1);
        QVERIFY(once >= GpuMachine::like("cuda").launchNs);
    }

    void aCostFileNamesWhatItChanges()
    {
        GpuMachine machine;
        QVERIFY(machine.take(R"({"warp": 64, "launch_ns": 100})"));
        QCOMPARE(machine.warp, 64.0);
        QCOMPARE(machine.launchNs, 100.0);
        QVERIFY(!machine.take(R"({"l1_bytes": 1})")); // of a processor
        QVERIFY(!machine.take("[]"));
    }
};

LATHE_TEST(TestSimLaunches)

} // namespace tst_sim_launches

#include "tst_sim_launches.moc"
