#include "tests/core/templates/step_check.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_launch_template_steps {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;
using compute::ImageLayout;

namespace {

constexpr const char* kGpu = "sim -like=cuda";

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
        const auto alternative = convOf(cases()[static_cast<std::size_t>(which)].second);
        for (const char* target : {kGpu}) {
            const QString wrong = wrongOf(taskOf(alternative, target), 20);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }

    void denseConfigurationsComputeWhatTheTaskSays()
    {
        for (const std::int64_t rows : {1, 6, 32}) {
            std::set<std::string> names;
            const QString wrong = wrongOf(taskOf(denseOf(rows, 20, 24, rows == 6), kGpu), 40, &names);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            QCOMPARE(names.size(), std::size_t{rows < 32 ? 1U : 2U});
        }
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
