#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/lower.h"
#include "core/templates/template_policy.h"
#include "tests/core/templates/step_check.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_launch_template_steps {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;
using compute::ImageLayout;

namespace {

constexpr const char* kGpu = "sim -like=cuda";
constexpr const char* kMali = "sim -like=mali";

/// With the alternatives that a network's task has.
search::SearchTask convTask(const ConvCase& c, const char* target, bool splitTransforms)
{
    search::SearchTask task = taskOf(convOf(c), target);
    if (!c.depthwise && compute::winogradApplies(DType::F32, c.kernel, c.kernel, parametersOf(c)))
        for (const std::int64_t m : {2, 4})
            task.alternatives.push_back(convOf(c, m, splitTransforms));
    return task;
}

using Names = std::set<std::string>;

Names namesOf(const ConvCase& c, const char* target)
{
    const bool isMali = target == kMali;
    if (c.depthwise)
        return {isMali ? "depthwise_conv2d_nchw.mali" : "depthwise_conv2d_nchw.cuda"};
    Names names = {isMali ? "conv2d_nchw_spatial_pack.mali" : "conv2d_nchw.cuda"};
    if (c.kernel == 3 && c.stride == 1 && c.dilation == 1)
        names.insert(isMali ? "conv2d_nchw_winograd.mali" : "conv2d_nchw_winograd.cuda");
    return names;
}

} // namespace

/// Schedules of GPUs' templates: what the interpreter of blocks and threads makes of them.
class TestLaunchTemplateSteps : public QObject
{
    Q_OBJECT

private slots:
    void configurationsComputeWhatTheTaskSays_data()
    {
        QTest::addColumn<int>("which");
        for (int i = 0; i < std::ssize(cases()); ++i)
            QTest::addRow("%s", cases()[static_cast<std::size_t>(i)].first) << i;
    }
    void configurationsComputeWhatTheTaskSays()
    {
        QFETCH(int, which);
        const ConvCase& c = cases()[static_cast<std::size_t>(which)].second;
        for (const char* target : {kGpu, kMali}) {
            Names names;
            const QString wrong = wrongOf(convTask(c, target, which % 2 == 1), 20, &names);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            QCOMPARE(names, namesOf(c, target));
        }
    }

    void denseConfigurationsComputeWhatTheTaskSays()
    {
        for (const char* target : {kGpu, kMali})
            for (const std::int64_t rows : {1, 6, 32}) {
                Names names;
                const QString wrong = wrongOf(taskOf(denseOf(rows, 20, 24, rows == 6), target), 40, &names);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
                Names expected = {target == kMali ? "dense.mali" : "dense_small_batch.gpu"};
                if (target == kGpu && rows == 32)
                    expected.insert("dense_large_batch.gpu");
                QCOMPARE(names, expected);
            }
    }

    /// On devices that have little the rules of the spaces refuse what cannot be run, and nothing else.
    void limitsOfTheDeviceAreKept()
    {
        for (const ConvCase& c : {ConvCase{}, ConvCase{.layout = ImageLayout::Nhwc, .size = 8, .stride = 2},
                                  ConvCase{.in = 12, .depthwise = true}})
            for (const char* target : {kGpu, kMali}) {
                search::SearchTask task = convTask(c, target, false);
                task.hardware.limits["max_threads_per_block"].value = 16;
                task.hardware.limits["max_shared_memory_per_block"].value = 1200;
                task.hardware.limits["max_vthread_extent"].value = 3;
                const QString wrong = wrongOf(task, 10);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            }
    }

    /// The tile of winograd's transforms goes by the rows of the input; a task without that alternative has no such
    /// template.
    void winogradTakesTheAlternativeOfItsTile()
    {
        for (const auto& [size, alternative] :
             {std::pair{7, "winograd:2"}, std::pair{8, "winograd:4"}, std::pair{12, "winograd:2"}}) {
            search::SearchTask task = convTask({.size = size}, kGpu, true);
            const std::vector<TaskTemplate> made = templatesOf(task);
            QCOMPARE(made.size(), std::size_t{2});
            QCOMPARE(made[0].alternative, std::string("direct"));
            QCOMPARE(made[1].alternative, std::string(alternative));
            QCOMPARE(must(made[1].candidate(must(made[1].space.at(0)))).alternative, std::string(alternative));
            std::erase_if(task.alternatives, [&](const auto& each) { return each.name == alternative; });
            QCOMPARE(templatesOf(task).size(), std::size_t{1});
        }
        QCOMPARE(templatesOf(convTask({.size = 12}, kMali, true))[1].alternative, std::string("winograd:4"));
    }

    /// Sizes of a configuration are blocks, virtual threads, threads and what one thread has.
    void aConfigurationDecidesTheLaunch()
    {
        const TaskTemplate made =
            templatesOf(taskOf(convOf({.batch = 2, .size = 8, .in = 6, .out = 32}), kGpu)).front();
        Config config = must(made.space.at(0));
        config.set("tile_f", SplitEntity{{-1, 2, 4, 2}});
        config.set("tile_y", SplitEntity{{-1, 1, 4, 1}});
        config.set("tile_x", SplitEntity{{-1, 2, 2, 1}});
        config.set("tile_rc", SplitEntity{{-1, 3}});
        config.set("tile_ry", SplitEntity{{-1, 3}});
        const auto state = schedule::State::replay(made.dag, must(made.steps(config)));
        QVERIFY2(state, state ? "" : state.error().message.c_str());
        const auto kernel = schedule::lower(
            *state, {.form = KernelForm::Launches, .name = "kernel", .constantInputs = made.constantInputs});
        QVERIFY2(kernel, kernel ? "" : kernel.error().message.c_str());
        const auto launches = schedule::sizesOf(kernel->nest);
        QCOMPARE(launches.size(), std::size_t{1});
        QCOMPARE(launches[0].grid[0], std::int64_t{2 * (32 / 16) * (8 / 4) * (8 / 4)}); // images, f, y, x
        QCOMPARE(launches[0].threads, std::int64_t{4 * 4 * 2});
        // 3 channels of 6 x 4 elements and 16 x 3 x 3 x 1 weights; each begins at a vector.
        QCOMPARE(launches[0].sharedBytes, std::int64_t{4 * (3 * 6 * 4 + 16 * 3 * 3)});
        QCOMPARE(launches[0].localBytes, std::int64_t{0}); // sums are in registers
    }

    /// Rules of the spaces know what a configuration says; the rest is known once it is lowered, before it is built.
    void whatCannotRunIsNotProposed()
    {
        search::SearchTask task = taskOf(convOf({.layout = ImageLayout::Nchw, .size = 16, .in = 4, .out = 32}), kGpu);
        // The rules of the space have nothing to go by; arrays of sums that are too many for registers are limited.
        for (const char* limit : {"max_threads_per_block", "max_vthread_extent", "max_shared_memory_per_block"})
            task.hardware.limits[limit].value = 0;
        QVERIFY(templatesOf(task).front().space.constraints().empty());
        task.hardware.limits["max_local_memory_per_block"].value = 512;
        search::PolicyOptions options;
        options.tuner = "random";
        const auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        SerialExecutor executor;
        std::size_t count = 0;
        for (std::uint64_t round = 0; round < 4; ++round) {
            std::vector<search::Measured> results;
            for (const Candidate& candidate : must(policy->propose(round, 32, executor, {}))) {
                const auto state = schedule::State::replay(
                    task.alternatives.front().dag,
                    must(schedule::stepsFromJson(nlohmann::json::parse(candidate.steps))));
                QVERIFY(state);
                QVERIFY(schedule::checkRunnable(*state, KernelForm::Launches, task.alternatives.front().constantInputs,
                                                task.hardware));
                results.push_back({candidate, {}});
                ++count;
            }
            must(policy->tell(results, {}));
        }
        QCOMPARE(count, std::size_t{128});
        QVERIFY(policy->statistics().at("rejected") > 0);
    }

private:
    static const std::vector<std::pair<const char*, ConvCase>>& cases()
    {
        static const std::vector<std::pair<const char*, ConvCase>> all = {
            {"3x3", {}},
            {"3x3 NHWC", {.layout = ImageLayout::Nhwc}},
            {"3x3/2 residual", {.size = 9, .stride = 2, .residual = true}},
            {"3x3/2 NHWC residual", {.layout = ImageLayout::Nhwc, .size = 9, .stride = 2, .residual = true}},
            {"3x3 of two images", {.batch = 2, .size = 6, .relu = false}},
            {"1x1/2 NHWC of two images",
             {.layout = ImageLayout::Nhwc, .batch = 2, .kernel = 1, .stride = 2, .padding = 0}},
            {"1x1 without anything behind", {.kernel = 1, .padding = 0, .relu = false}},
            {"3x3 of eight rows residual", {.size = 8, .in = 4, .out = 8, .residual = true}},
            {"3x3 NHWC of eight rows, two images", {.layout = ImageLayout::Nhwc, .batch = 2, .size = 8, .in = 3}},
            {"3x3 dilated", {.size = 8, .in = 2, .out = 4, .padding = 2, .dilation = 2}},
            {"depthwise", {.in = 12, .depthwise = true}},
            {"depthwise NHWC of two images", {.layout = ImageLayout::Nhwc, .batch = 2, .in = 6, .depthwise = true}},
            {"depthwise/2", {.size = 9, .in = 8, .stride = 2, .depthwise = true, .residual = true}},
        };
        return all;
    }
};

LATHE_TEST(TestLaunchTemplateSteps)

} // namespace tst_launch_template_steps
#include "tst_launch_template_steps.moc"
