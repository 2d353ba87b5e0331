#include "core/templates/conv_layouts.h"
#include "core/templates/space_summary.h"
#include "core/templates/spaces.h"
#include "core/templates/template_table.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_template_spaces {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

std::uint64_t sizeOf(const std::string& task, const ConvArgs& args, const TemplateFacts& facts = {})
{
    return must(spaceOf(convWorkload(task, args), facts)).size();
}

std::string knobsOf(const Workload& workload, const TemplateFacts& facts = {})
{
    const ConfigSpace space = must(spaceOf(workload, facts));
    std::string text;
    for (const Knob& knob : space.knobs())
        text += (text.empty() ? "" : " ") + knob.name + ':' + std::to_string(knob.choices.size());
    return text;
}

} // namespace

/// Golden values are those of autotvm.md 5.1 and 18.
class TestTemplateSpaces : public QObject
{
    Q_OBJECT

private slots:
    void resnetHasTheGoldenSizes_data()
    {
        QTest::addColumn<int>("row");
        for (int row = 0; row < 12; ++row)
            QTest::addRow("task %d", row + 1) << row;
    }
    void resnetHasTheGoldenSizes()
    {
        QFETCH(int, row);
        const ResnetTask& task = kResnetTasks[static_cast<std::size_t>(row)];
        const ConvArgs args = argsOf(task);
        TemplateFacts tutorial;
        tutorial.widthPolicy = SplitPolicy::Factors;
        QCOMPARE(sizeOf("conv2d_NCHWc.x86", args, tutorial), task.factors);
        QCOMPARE(sizeOf("conv2d_NCHWc.x86", args), task.verbose);
        QCOMPARE(sizeOf("conv2d_nchw.cuda", args), task.cuda);
        QCOMPARE(sizeOf("conv2d_nchw_spatial_pack.mali", args), task.mali);
        const Result<ConfigSpace> winograd = spaceOf(convWorkload("conv2d_nchw_winograd.cuda", args));
        QCOMPARE(winograd ? winograd->size() : 0, task.winograd);
    }

    void cudaHasSixteenTasks()
    {
        int tasks = 0;
        for (const ResnetTask& task : kResnetTasks)
            for (const char* name : {"conv2d_nchw.cuda", "conv2d_nchw_winograd.cuda"})
                tasks += spaceOf(convWorkload(name, argsOf(task))) ? 1 : 0;
        QCOMPARE(tasks, 16);
    }

    void depthwiseHasTheGoldenSizes()
    {
        struct Row
        {
            std::int64_t channels, width;
            std::uint64_t x86, cuda; ///< cuda 0: no figure is given
        };
        constexpr Row kRows[] = {{32, 112, 648, 6'585'600}, {64, 56, 784, 3'225'600},  {128, 56, 1'024, 4'608'000},
                                 {128, 28, 768, 1'152'000}, {256, 28, 972, 1'584'000}, {256, 14, 648, 253'440},
                                 {512, 14, 800, 337'920},   {512, 7, 400, 21'120},     {1024, 7, 484, 27'456}};
        for (const Row& row : kRows) {
            const ConvArgs args = depthwiseArgs(row.channels, row.width);
            QCOMPARE(sizeOf("depthwise_conv2d_NCHWc.x86", args), row.x86);
            QCOMPARE(sizeOf("depthwise_conv2d_nchw.cuda", args), row.cuda);
        }
    }

    void denseHasTheGoldenSizes()
    {
        const DenseArgs args{1, 1000, 512, true};
        const auto size = [&args](const char* task) { return must(spaceOf(denseWorkload(task, args))).size(); };
        QCOMPARE(size("dense_nopack.x86"), std::uint64_t{160});
        QCOMPARE(size("dense_pack.x86"), std::uint64_t{1000});
        QCOMPARE(size("dense_small_batch.gpu"), std::uint64_t{10});
    }

    void knobsHaveTheReferencesOrder()
    {
        const ConvArgs three = argsOf(kResnetTasks[1]), one = argsOf(kResnetTasks[2]);
        QCOMPARE(knobsOf(convWorkload("conv2d_NCHWc.x86", three)),
                 std::string("tile_ic:7 tile_oc:7 tile_ow:10 unroll_kw:2"));
        QCOMPARE(knobsOf(convWorkload("conv2d_NCHWc.x86", one)),
                 std::string("tile_ic:7 tile_oc:7 tile_ow:10 tile_oh:2"));
        QCOMPARE(knobsOf(convWorkload("depthwise_conv2d_NCHWc.x86", depthwiseArgs(64, 56))),
                 std::string("tile_ic:7 tile_oc:7 tile_ow:8 unroll_kw:2"));
        QCOMPARE(knobsOf(convWorkload("conv2d_nchw.cuda", three)),
                 std::string("tile_f:84 tile_y:80 tile_x:80 tile_rc:7 tile_ry:2 tile_rx:2 auto_unroll_max_step:3 "
                             "unroll_explicit:2"));
        QCOMPARE(knobsOf(convWorkload("conv2d_nchw_winograd.cuda", three)),
                 std::string("tile_b:1 tile_y:84 tile_x:100 tile_rc:7 auto_unroll_max_step:3 unroll_explicit:2"));
        QCOMPARE(knobsOf(convWorkload("depthwise_conv2d_nchw.cuda", depthwiseArgs(64, 56))),
                 std::string("tile_f:84 tile_y:80 tile_x:80 auto_unroll_max_step:3 unroll_explicit:2"));
        QCOMPARE(knobsOf(convWorkload("conv2d_nchw_spatial_pack.mali", three)),
                 std::string("tile_co:28 tile_oh:30 tile_ow:30 reorder_0:2 ann_reduce:4 ann_spatial:20"));
        QCOMPARE(knobsOf(convWorkload("conv2d_nchw_winograd.mali", three)),
                 std::string("tile_bna:5 tile_bnb:5 tile_t1:7 tile_t2:7 c_unroll:4 yt:6"));
        QCOMPARE(knobsOf(convWorkload("depthwise_conv2d_nchw.mali", depthwiseArgs(64, 56))),
                 std::string("tile_c:28 tile_y:30 tile_x:30 ann_spatial:20"));
        const DenseArgs dense{32, 1000, 512};
        QCOMPARE(knobsOf(denseWorkload("dense_pack.x86", dense)),
                 std::string("tile_y:21 tile_x:100 tile_k:10 tile_inner:5"));
        QCOMPARE(knobsOf(denseWorkload("dense_nopack.x86", dense)), std::string("tile_y:6 tile_x:16 tile_k:10"));
        QCOMPARE(knobsOf(denseWorkload("dense_large_batch.gpu", dense)), std::string("tile_x:56 tile_y:400 tile_k:55"));
        QCOMPARE(knobsOf(denseWorkload("dense.mali", dense)), std::string("tile_y:21 tile_x:100 c_unroll:7"));
        const ConvArgs wide = argsOf(kResnetTasks[11]);
        QCOMPARE(knobsOf(convWorkload("conv2d_nchw_winograd.mali", wide)),
                 std::string("tile_bna:5 tile_bnb:5 tile_t1:8 tile_t2:8 c_unroll:4 yt:6"));
    }

    void aRowHasNoSecondRowToTile()
    {
        ConvArgs args = argsOf(kResnetTasks[2]);
        args.height = 1;
        QCOMPARE(knobsOf(convWorkload("conv2d_NCHWc.x86", args)),
                 std::string("tile_ic:7 tile_oc:7 tile_ow:10 tile_oh:1"));
    }

    void codeThatMustBeUnrolledIsAlways()
    {
        TemplateFacts facts;
        facts.explicitUnroll = true;
        for (const char* task : {"conv2d_nchw.cuda", "conv2d_nchw_winograd.cuda"})
            QVERIFY(QString::fromStdString(knobsOf(convWorkload(task, argsOf(kResnetTasks[1])), facts))
                        .endsWith("unroll_explicit:1"));
    }

    void packedArgumentsHaveTheSameSpace()
    {
        const Workload packed = must(workloadFromKey(R"(["conv2d_NCHWc.x86", ["TENSOR", [1, 4, 56, 56, 16], "float32"],
            ["TENSOR", [2, 4, 3, 3, 16, 32], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "NCHW16c", "NCHW32c", "float32"])"));
        QCOMPARE(must(spaceOf(packed)).size(), kResnetTasks[1].verbose);
    }

    /// autotvm.md 18, check 3.
    void layoutsFollowFromTheBlocks()
    {
        ConvArgs args = argsOf(kResnetTasks[3]);
        Config config;
        config.set("tile_ic", SplitEntity{{-1, 16}});
        config.set("tile_oc", SplitEntity{{-1, 32}});
        const ConvLayouts layouts = must(convLayouts(convWorkload("conv2d_NCHWc.x86", args), config));
        QVERIFY((layouts.input == LaidOut{{1, 4, 56, 56, 16}, "NCHW16c"}));
        QVERIFY((layouts.output == LaidOut{{1, 4, 28, 28, 32}, "NCHW32c"}));
        config.set("tile_ic", SplitEntity{{-1, 48}});
        QVERIFY(convLayouts(convWorkload("conv2d_NCHWc.x86", args), config).error().message.find("[-1, 48]")
                != std::string::npos);
        QVERIFY(!convLayouts(convWorkload("conv2d_nchw.cuda", args), config));
    }

    void whatATemplateCannotComputeIsRefused()
    {
        ConvArgs args = argsOf(kResnetTasks[1]);
        args.strides = {2, 2};
        QCOMPARE(spaceOf(convWorkload("conv2d_nchw_winograd.cuda", args)).error().message,
                 std::string("conv2d_nchw_winograd.cuda: each stride and dilation is not 1"));
        QVERIFY(!spaceOf(convWorkload("conv2d_nchw_winograd.mali", args)));
        args = depthwiseArgs(32, 56);
        args.outChannels = 64;
        QVERIFY(!spaceOf(convWorkload("depthwise_conv2d_NCHWc.x86", args)));
        QVERIFY(spaceOf(convWorkload("depthwise_conv2d_nchw.cuda", args)));
        args = argsOf(kResnetTasks[1]);
        args.height = args.width = 1 << 24;
        args.batch = 1 << 24;
        QVERIFY(!spaceOf(convWorkload("conv2d_nchw_winograd.cuda", args))); // 2^69 tiles
        QVERIFY(spaceOf({"conv3d_ncdhw.x86", {}}).error().code == Errc::NotFound);
        QVERIFY(findTemplate("") == nullptr);
    }

    void everyTemplateHasAName()
    {
        QCOMPARE(allTemplates().size(), std::size_t{13});
        for (const Template& each : allTemplates())
            QCOMPARE(findTemplate(each.name), &each);
        QCOMPARE(findTemplate("dense_nopack.x86")->priority, 5);
    }

    /// In the order in which the reference makes tasks of them, which runs and their logs follow.
    void templatesAreFoundByFamilyAndPattern()
    {
        const auto names = [](std::string_view family, Pattern pattern) {
            QStringList all;
            for (const Template* row : templatesOfFamily(family))
                if (row->pattern == pattern && isBuiltIn(*row))
                    all << QString::fromUtf8(row->name.data(), static_cast<qsizetype>(row->name.size()));
            return all.join(' ');
        };
        QCOMPARE(names("cpu", Pattern::Conv2d), QString("conv2d_NCHWc.x86"));
        QCOMPARE(names("cpu", Pattern::DepthwiseConv2d), QString("depthwise_conv2d_NCHWc.x86"));
        QCOMPARE(names("cpu", Pattern::Dense), QString("dense_nopack.x86 dense_pack.x86"));
        QCOMPARE(names("gpu", Pattern::Conv2d), QString("conv2d_nchw.cuda conv2d_nchw_winograd.cuda"));
        QCOMPARE(names("gpu", Pattern::DepthwiseConv2d), QString("depthwise_conv2d_nchw.cuda"));
        QCOMPARE(names("gpu", Pattern::Dense), QString("dense_small_batch.gpu dense_large_batch.gpu"));
        QCOMPARE(names("mali", Pattern::Conv2d), QString("conv2d_nchw_spatial_pack.mali conv2d_nchw_winograd.mali"));
        QCOMPARE(names("mali", Pattern::DepthwiseConv2d), QString("depthwise_conv2d_nchw.mali"));
        QCOMPARE(names("mali", Pattern::Dense), QString("dense.mali"));
        QVERIFY(templatesOfFamily("vta").empty());
        QVERIFY(!isBuiltIn(Template(allTemplates().front())));
    }

    void largeBatchesHaveATemplateOfTheirOwn()
    {
        const Template* large = findTemplate("dense_large_batch.gpu");
        MatchedNest nest;
        DenseArgs dense;
        for (const auto& [rows, suits] : {std::pair(1, false), {31, false}, {32, true}, {1000, true}}) {
            dense.m = rows;
            nest.args = dense;
            QCOMPARE(large->suits(nest), suits);
        }
        for (const Template& row : allTemplates())
            QCOMPARE(row.suits != nullptr, &row == large);
    }

    /// What foreign records say a size is has no limit; products of such sizes have one.
    void productsOfAbsurdSizesAreRefused()
    {
        TemplateFacts facts;
        facts.maxThreadsPerBlock = 1024;
        ConfigSpace space;
        limitThreads(space, facts, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
        Config config;
        for (const char* knob : {"a", "b", "c", "d"})
            config.set(knob, SplitEntity{{-1, std::int64_t{1} << 20}}); // 2^80, of which 64 bits are 0
        QVERIFY(space.refusal(config));
        config.set("a", SplitEntity{{-1, std::int64_t{1} << 62}});
        QVERIFY(space.refusal(config));
        QVERIFY(cappedProduct({std::int64_t{1} << 40, std::int64_t{1} << 40}) > 0);
        QCOMPARE(innerSize(config, "a"), std::int64_t{1} << 24);
    }

    void threadsBeyondABlockAreRefused()
    {
        TemplateFacts facts;
        facts.maxThreadsPerBlock = 1024;
        const ConfigSpace space = must(spaceOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[1])), facts));
        Config config = must(space.at(0));
        QVERIFY(!space.refusal(config));
        config.set("tile_f", SplitEntity{{-1, 1, 64, 1}});
        config.set("tile_y", SplitEntity{{-1, 1, 56, 1}});
        QCOMPARE(textOf(space.refusal(config).value()), std::string("3584 threads exceed the limit of 1024 per block"));
        const InvalidShare share = invalidShare(space, 2000, 1);
        QVERIFY(!share.exact && share.checked == 2000);
        QVERIFY2(share.share() > 0 && share.share() < 0.5, qPrintable(QString::number(share.share())));
        QCOMPARE(share.byConstraint.at("threads per block"), share.invalid);
        QCOMPARE(invalidShare(space, 2000, 1).invalid, share.invalid);
        QVERIFY(must(spaceOf(convWorkload("conv2d_nchw.cuda", argsOf(kResnetTasks[1])))).constraints().empty());
    }

    void maliRefusesMarksThatItCannotKeep()
    {
        const ConfigSpace space = must(spaceOf(convWorkload("conv2d_nchw_spatial_pack.mali", argsOf(kResnetTasks[1]))));
        Config config = must(space.at(0));
        config.set("ann_spatial", AnnotateEntity{{Mark::Unroll, Mark::None, Mark::Vec}});
        QVERIFY(!space.refusal(config));
        config.set("tile_oh", SplitEntity{{-1, 1, 28}});
        QCOMPARE(textOf(space.refusal(config).value()),
                 std::string("the length 28 of an unrolled axis is not at most 16"));
        config.set("tile_oh", SplitEntity{{-1, 1, 1}});
        config.set("tile_co", SplitEntity{{-1, 1, 32}});
        QCOMPARE(textOf(space.refusal(config).value()),
                 std::string("the length 32 of a vectorized axis is not 1, 2, 4, 8 or 16"));
    }

    void aSpaceShowsItself()
    {
        QCOMPARE(describe(must(spaceOf(convWorkload("conv2d_NCHWc.x86", argsOf(kResnetTasks[0]))))),
                 std::string("308 configurations\n"
                             "tile_ic: split of 3, 2 choices: [-1, 1]; [-1, 3]\n"
                             "tile_oc: split of 64, 7 choices: [-1, 1]; [-1, 2]; [-1, 4]; [-1, 8]; ...; [-1, 64]\n"
                             "tile_ow: split of 112, 11 choices: [-1, 1]; [-1, 2]; [-1, 4]; [-1, 7]; ...; [-1, 64]\n"
                             "unroll_kw: option, 2 choices: true; false\n"));
    }
};

LATHE_TEST(TestTemplateSpaces)

} // namespace tst_template_spaces
#include "tst_template_spaces.moc"
