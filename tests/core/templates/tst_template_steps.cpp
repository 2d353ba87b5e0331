#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "tests/core/templates/step_check.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

namespace tst_template_steps {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;
using compute::ImageLayout;

namespace {

constexpr const char* kProcessor = "cpu -mcpu=haswell -threads=2";

} // namespace

class TestTemplateSteps : public QObject
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
        const auto task = taskOf(convOf(cases()[static_cast<std::size_t>(which)].second), kProcessor);
        const QString wrong = wrongOf(task, 40);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }

    void denseConfigurationsComputeWhatTheTaskSays()
    {
        for (const std::int64_t rows : {1, 6}) {
            std::set<std::string> names;
            const QString wrong = wrongOf(taskOf(denseOf(rows, 20, 24, rows == 6), kProcessor), 60, &names);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            QCOMPARE(names, (std::set<std::string>{"dense_nopack.x86", "dense_pack.x86"}));
        }
    }

    /// The workload is told by how the operands are indexed, whatever the layout of the images.
    void aConvolutionIsFoundInItsDag()
    {
        for (const ImageLayout layout : {ImageLayout::Nchw, ImageLayout::Nhwc}) {
            ConvCase c{layout, 2, 9, 6, 12, 3, 2, 1};
            c.residual = true;
            const MatchedNest nest = must(matchNest(convOf(c)));
            QVERIFY(nest.conv() != nullptr);
            QCOMPARE(QString::fromStdString(workloadKey(convWorkload("conv2d_NCHWc.x86", *nest.conv()))),
                     R"(["conv2d_NCHWc.x86", ["TENSOR", [2, 6, 9, 9], "float32"], ["TENSOR", [12, 6, 3, 3], )"
                     R"("float32"], [2, 2], [1, 1, 1, 1], [1, 1], "NCHW", "NCHW", "float32"])");
            QCOMPARE(nest.residuals.size(), std::size_t{1});
            QVERIFY(nest.border >= 0 && nest.weightIsConstant && nest.data.op >= 0);
        }
    }

    void whatNoTemplateComputesIsSaid()
    {
        Message why;
        compute::DagBuilder b;
        const auto data = b.placeholder("data", {4, 5}, DType::F32);
        const auto out = b.compute("relu", {4, 5}, {}, "elemwise", [&](const std::vector<ir::Expr>& a) {
            return ir::max(b.at(data, a), ir::floatImm(0));
        });
        QVERIFY(templatesOf(taskOf(finished(std::move(b), out, 9), kProcessor), &why).empty());
        QVERIFY2(textOf(why).find("not one convolution or dense") != std::string::npos, textOf(why).c_str());
    }

    /// Where channels lie outermost a configuration chooses blocks of them, for what is read and for what is written;
    /// where they are innermost images stay as they are.
    void imagesOfNchwLieInBlocks()
    {
        for (const ImageLayout layout : {ImageLayout::Nchw, ImageLayout::Nhwc}) {
            ConvCase c{layout, 1, 7, 8, 12, 1, 1, 0};
            c.residual = true;
            const auto task = taskOf(convOf(c), kProcessor);
            const TaskTemplate made = templatesOf(task).front();
            Config config = must(made.space.at(0));
            config.set("tile_ic", SplitEntity{{-1, 4}});
            config.set("tile_oc", SplitEntity{{-1, 6}});
            const auto state = schedule::State::replay(made.dag, must(made.steps(config)));
            QVERIFY(state);
            const auto kernel = schedule::lower(*state, {.constantInputs = task.alternatives.front().constantInputs});
            QVERIFY2(kernel, kernel ? "" : kernel.error().message.c_str());
            std::set<std::vector<std::int64_t>> images;
            for (const ArgSpec& spec : kernel->parameters) {
                if (spec.role == ArgRole::Constant)
                    continue;
                std::vector<std::int64_t> extents;
                for (int j = 0; j < spec.map.physicalRank; ++j)
                    extents.push_back(spec.map.axes[j].extent);
                images.insert(extents);
            }
            const std::set<std::vector<std::int64_t>> blocks = {{1, 2, 7, 7, 4}, {1, 2, 7, 7, 6}};
            const std::set<std::vector<std::int64_t>> plain = {{1, 7, 7, 8}, {1, 7, 7, 12}};
            QCOMPARE(images, layout == ImageLayout::Nchw ? blocks : plain);
        }
    }

    void configurationsThatLackAKnobAreRefused()
    {
        const TaskTemplate made = templatesOf(taskOf(convOf(ConvCase{}), kProcessor)).front();
        Config config = must(made.space.at(0));
        config.knobs.erase(config.knobs.begin());
        const auto candidate = made.candidate(config);
        QVERIFY(!candidate);
        QVERIFY2(candidate.error().message.find("tile_ic") != std::string::npos, candidate.error().message.c_str());
        config = must(made.space.at(0));
        config.set("tile_oc", SplitEntity{{-1, 5}});
        QVERIFY(!made.candidate(config));
    }

private:
    static const std::vector<std::pair<const char*, ConvCase>>& cases()
    {
        static const std::vector<std::pair<const char*, ConvCase>> all = {
            {"3x3", {}},
            {"3x3 NHWC", {.layout = ImageLayout::Nhwc}},
            {"3x3/2 residual", {.size = 9, .stride = 2, .residual = true}},
            {"3x3/2 NHWC residual", {.layout = ImageLayout::Nhwc, .size = 9, .stride = 2, .residual = true}},
            {"3x3 of three images", {.batch = 3, .size = 5, .relu = false}},
            {"1x1", {.kernel = 1, .padding = 0}},
            {"1x1/2 NHWC", {.layout = ImageLayout::Nhwc, .kernel = 1, .stride = 2, .padding = 0}},
            {"1x1 without anything behind", {.kernel = 1, .padding = 0, .relu = false}},
            {"5x5 dilated", {.size = 11, .in = 2, .out = 4, .kernel = 3, .padding = 2, .dilation = 2}},
            {"without padding", {.size = 8, .padding = 0, .residual = true}},
            {"depthwise", {.in = 12, .depthwise = true}},
            {"depthwise NHWC", {.layout = ImageLayout::Nhwc, .in = 12, .depthwise = true}},
            {"depthwise/2", {.size = 9, .in = 8, .stride = 2, .depthwise = true, .residual = true}},
            {"seven columns of one channel", {.size = 7, .in = 1, .out = 1, .padding = 1}},
        };
        return all;
    }
};

LATHE_TEST(TestTemplateSteps)

} // namespace tst_template_steps
#include "tst_template_steps.moc"
