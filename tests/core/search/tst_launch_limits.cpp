#include "core/policy/policy_table.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/lower.h"
#include "core/search/reference/reference_policy.h"
#include "core/support/message.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_launch_limits {

using namespace lathe;
using namespace lathe::schedule;
using compute::DagBuilder;
using compute::Tensor;
using lathe::test::must;

namespace {

constexpr std::int64_t kElements = 131072;

/// y = 2 a with a = x + 1, one launch over kElements; stages: x, a, y.
compute::DagPtr twoSteps()
{
    DagBuilder b;
    const Tensor x = b.placeholder("x", {kElements}, DType::F32);
    const Tensor a = b.compute("a", {kElements}, {"i"}, "",
                               [&](const std::vector<ir::Expr>& i) { return b.at(x, i) + ir::floatImm(1); });
    const Tensor y = b.compute("y", {kElements}, {"i"}, "",
                               [&](const std::vector<ir::Expr>& i) { return b.at(a, i) * ir::floatImm(2); });
    return must(std::move(b).finish({y}));
}

State made(const std::vector<Step>& steps)
{
    State state = State::initial(twoSteps());
    for (const Step& step : steps)
        must(state.apply(step));
    must(state.inferBounds());
    return state;
}

/// Blocks along `axis` of `threads` each, with a in the place where y reads it.
State blocksOf(std::int64_t threads, Annotation axis = Annotation::BlockX)
{
    return made({ComputeInlineStep{1}, SplitStep{2, 0, kElements, {threads}, true}, AnnotateStep{2, 0, axis},
                 AnnotateStep{2, 1, Annotation::ThreadX}});
}

/// Each thread has `count` elements in a row: as a vector, or as virtual threads.
State elementsOf(std::int64_t count, Annotation what)
{
    const std::int32_t at = what == Annotation::VThread ? 1 : 2;
    const std::int64_t inner = at == 1 ? 32 : count, outer = at == 1 ? count : 32;
    return made({ComputeInlineStep{1}, SplitStep{2, 0, kElements, {outer, inner}, true},
                 AnnotateStep{2, 0, Annotation::BlockX}, AnnotateStep{2, at, what},
                 AnnotateStep{2, 3 - at, Annotation::ThreadX}});
}

/// A block keeps a's part of 4 `threads` bytes for all its threads.
State sharedOf(std::int64_t threads)
{
    return made({SplitStep{2, 0, kElements, {threads}, true}, AnnotateStep{2, 0, Annotation::BlockX},
                 AnnotateStep{2, 1, Annotation::ThreadX}, ComputeAtStep{1, 2, 0},
                 AnnotateStep{1, 0, Annotation::ThreadX}});
}

/// A thread keeps `count` elements of a, too many for registers.
State arraysOf(std::int64_t count)
{
    return made({SplitStep{2, 0, kElements, {32, count}, true}, AnnotateStep{2, 0, Annotation::BlockX},
                 AnnotateStep{2, 1, Annotation::ThreadX}, ComputeAtStep{1, 2, 1}});
}

Result<> checked(const State& state, const Hardware& hardware)
{
    LowerOptions options;
    options.form = KernelForm::Launches;
    return checkLimits(state, must(lower(state, options)).nest, hardware);
}

} // namespace

/// What a device cannot run is known before anything is built.
class TestLaunchLimits : public QObject
{
    Q_OBJECT

private slots:
    /// A tensor, or scratch between two launches, that the device cannot give memory for in one piece.
    void buffersBeyondTheLargestAllocationAreNamed()
    {
        const State state = blocksOf(64);
        Hardware hardware;
        hardware.limits["max_buffer_bytes"] = {4 * kElements, "test"};
        QVERIFY(checked(state, hardware));
        hardware.limits["max_buffer_bytes"].value -= 1;
        const auto refused = checked(state, hardware);
        QVERIFY(!refused);
        QVERIFY(refused.error().code == Errc::IllegalSchedule);
        QVERIFY2(refused.error().message.find("has 524288 bytes") != std::string::npos,
                 refused.error().message.c_str());
    }

    /// Each limit by its name: what just fits, and what is just beyond.
    void whatIsJustBeyondALimitIsNamed()
    {
        struct Row
        {
            const char* limit;
            std::int64_t most;
            State fits, exceeds;
        };
        const Row rows[] = {
            {"max_threads_per_block", 64, blocksOf(64), blocksOf(128)},
            {"max_blocks_x", 1024, blocksOf(128), blocksOf(64)},
            {"max_blocks_y", 1024, blocksOf(128, Annotation::BlockY), blocksOf(64, Annotation::BlockY)},
            {"max_blocks_z", 1024, blocksOf(128, Annotation::BlockZ), blocksOf(64, Annotation::BlockZ)},
            {"max_shared_memory_per_block", 256, sharedOf(64), sharedOf(128)},
            {"max_local_memory_per_block", 8192, arraysOf(2048), arraysOf(4096)},
            {"vector_unit_bytes", 16, elementsOf(4, Annotation::Vectorize), elementsOf(8, Annotation::Vectorize)},
            {"max_vthread_extent", 2, elementsOf(2, Annotation::VThread), elementsOf(4, Annotation::VThread)},
        };
        for (const Row& row : rows) {
            Hardware hardware;
            QVERIFY2(checked(row.exceeds, hardware), row.limit); // no limit is named
            hardware.limits[row.limit].value = row.most;
            const auto fits = checked(row.fits, hardware), exceeds = checked(row.exceeds, hardware);
            QVERIFY2(fits, fits ? "" : fits.error().message.c_str());
            QVERIFY2(!exceeds, row.limit);
            QVERIFY(exceeds.error().code == Errc::IllegalSchedule);
            QCOMPARE(exceeds.error().about->text("limit"), std::string(row.limit));
            hardware.limits[row.limit].value = 0; // as if it were not there
            QVERIFY2(checked(row.exceeds, hardware), row.limit);
        }
    }

    /// The reference's policy keeps to itself what its sketches draw and the device cannot run, and counts it.
    void aPolicyProposesOnlyWhatFits()
    {
        search::SearchTask task = lathe::test::task({lathe::test::dense(64, 128)}, "cuda");
        task.hardware.limits["max_shared_memory_per_block"].value = 512;
        search::ReferenceSearchParameters few;
        few.population = 128;
        few.iterations = 1;
        const auto policy = must(
            search::ReferencePolicy::create(task, must(policy::makeSharedModel("reference", 1, {})), {}, few));
        SerialExecutor executor;
        const std::vector<Candidate> candidates = lathe::test::proposals(*policy, 0, 16, executor);
        QVERIFY(!candidates.empty());
        const double rejected = policy->statistics().at("rejected");
        QVERIFY2(rejected > 0, "the limit must be one that some exceed");
        LowerOptions options;
        options.form = KernelForm::Launches;
        options.constantInputs = task.alternatives[0].constantInputs;
        for (const Candidate& candidate : candidates) {
            const State state = must(
                State::replay(task.alternatives[0].dag, must(stepsFromJson(nlohmann::json::parse(candidate.steps)))));
            const auto fits = checkLimits(state, must(lower(state, options)).nest, task.hardware);
            QVERIFY2(fits, fits ? "" : fits.error().message.c_str());
        }
    }
};

LATHE_TEST(TestLaunchLimits)

} // namespace tst_launch_limits

#include "tst_launch_limits.moc"
