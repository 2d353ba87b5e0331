#include "core/templates/fallback.h"
#include "core/templates/template_table.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_fallback {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

std::string fallback(const std::string& task, const ConvArgs& args, std::int64_t lanes = 8)
{
    TemplateFacts facts;
    facts.vectorLanes = lanes;
    return configText(must(fallbackOf(convWorkload(task, args), facts)));
}

std::string fallback(const std::string& task, const DenseArgs& args, std::int64_t lanes = 8)
{
    TemplateFacts facts;
    facts.vectorLanes = lanes;
    return configText(must(fallbackOf(denseWorkload(task, args), facts)));
}

std::vector<std::int64_t> split(std::int64_t extent, std::vector<std::int64_t> limits)
{
    return must(fallbackSplit(extent, limits)).sizes;
}

} // namespace

class TestFallback : public QObject
{
    Q_OBJECT

private slots:
    /// The examples of autotvm.md 2.5.
    void sizesAreTheLargestWithinTheirLimits()
    {
        using Sizes = std::vector<std::int64_t>;
        QVERIFY(split(128, {-1, 8, 4}) == (Sizes{4, 8, 4}));
        QVERIFY(split(49, {-1, 8, 4}) == (Sizes{7, 7, 1}));
        QVERIFY(split(512, {-1, 64}) == (Sizes{8, 64}));
        QVERIFY(split(7, {-1, -1}) == (Sizes{1, 7}));
        QVERIFY(!fallbackSplit(8, Sizes{-1, 0}));
        QVERIFY(!fallbackSplit(0, Sizes{-1, 1}));
        QVERIFY(!fallbackSplit(8, {}));
    }

    void processorsHaveRules()
    {
        QCOMPARE(fallback("conv2d_NCHWc.x86", argsOf(kResnetTasks[0])),
                 std::string("tile_ic [1, 3], tile_oc [8, 8], tile_ow [4, 28], unroll_kw false"));
        QCOMPARE(fallback("conv2d_NCHWc.x86", argsOf(kResnetTasks[1]), 16),
                 std::string("tile_ic [4, 16], tile_oc [4, 16], tile_ow [2, 28], unroll_kw false"));
        // 1x1: 28 columns leave room for one row; 7 columns for four, of which only one divides 7.
        QCOMPARE(fallback("conv2d_NCHWc.x86", argsOf(kResnetTasks[2])),
                 std::string("tile_ic [8, 8], tile_oc [8, 8], tile_ow [2, 28], tile_oh 1"));
        ConvArgs narrow = argsOf(kResnetTasks[2]);
        narrow.width = 7;
        QCOMPARE(fallback("conv2d_NCHWc.x86", narrow),
                 std::string("tile_ic [8, 8], tile_oc [8, 8], tile_ow [1, 7], tile_oh 4"));
        QCOMPARE(fallback("depthwise_conv2d_NCHWc.x86", depthwiseArgs(32, 112), 4),
                 std::string("tile_ic [8, 4], tile_oc [8, 4], tile_ow [4, 28], unroll_kw false"));
        QCOMPARE(fallback("dense_pack.x86", DenseArgs{1, 1000, 512}),
                 std::string("tile_y [1, 1, 1], tile_x [25, 4, 10], tile_k [512, 1], tile_inner [1, 1]"));
        QCOMPARE(fallback("dense_pack.x86", DenseArgs{64, 4096, 512}),
                 std::string("tile_y [4, 2, 8], tile_x [4, 64, 16], tile_k [512, 1], tile_inner [8, 8]"));
        QCOMPARE(fallback("dense_nopack.x86", DenseArgs{2, 1000, 512}, 16),
                 std::string("tile_y [1, 2], tile_x [1000, 1], tile_k [16, 32]"));
    }

    void gpusHaveRules()
    {
        QCOMPARE(fallback("dense_small_batch.gpu", DenseArgs{1, 1000, 512}), std::string("tile_k [8, 64]"));
        QCOMPARE(fallback("conv2d_nchw_winograd.mali", argsOf(kResnetTasks[11])),
                 std::string("tile_bna 4, tile_bnb 4, tile_t1 [4, 128], tile_t2 [4, 128], c_unroll [64, 8], yt 8"));
        ConvArgs odd = argsOf(kResnetTasks[1]);
        odd.outChannels = 34;
        QVERIFY(fallback("conv2d_nchw_winograd.mali", odd).starts_with("tile_bna 2, "));
        const Config plain = must(fallbackOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[1]))));
        QVERIFY(plain.fallback && !plain.index);
        QVERIFY(configText(plain).starts_with("tile_f [-1, 1, 1, 1], "));
    }

    void theMostSimilarReferenceIsFollowed()
    {
        const auto space = [](std::size_t row) {
            return must(spaceOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[row]))));
        };
        const ConfigSpace ours = space(5), near = space(6), far = space(0);
        QCOMPARE(likeness(ours, ours), 6.0);
        QVERIFY(likeness(ours, near) > likeness(ours, far));
        Config best = must(near.at(0));
        best.set("tile_f", SplitEntity{{-1, 2, 32, 4}});
        best.set("tile_x", SplitEntity{{-1, 1, 14, 1}});
        best.set("auto_unroll_max_step", OptionEntity{{std::int64_t{1500}}});
        const Config other = must(far.at(0));
        const Reference references[] = {{&far, &other}, {&near, &best}};
        const Config config = fallbackLike(ours, references);
        QCOMPARE(configText(config),
                 std::string("tile_f [1, 1, 32, 4], tile_y [28, 1, 1, 1], tile_x [2, 1, 14, 1], tile_rc [128, 1], "
                             "tile_ry [3, 1], tile_rx [3, 1], auto_unroll_max_step 1500, unroll_explicit 0"));
        QVERIFY(config.fallback);
        QVERIFY(ours.indexOf(config)); // it is one of the space's
        QVERIFY(fallbackLike(ours, {}) == plainFallback(ours));
    }

    void aReferenceOfAnotherVersionDoesNoHarm()
    {
        const ConfigSpace ours = must(spaceOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[5]))));
        Config odd;
        odd.set("tile_f", SplitEntity{{-1, 4}});
        odd.set("tile_y", OptionEntity{{std::int64_t{3}}});
        const Reference references[] = {{&ours, &odd}};
        const Config config = fallbackLike(ours, references);
        QVERIFY(config.sizes("tile_f")->size() == 4);
    }
};

LATHE_TEST(TestFallback)

} // namespace tst_fallback
#include "tst_fallback.moc"
