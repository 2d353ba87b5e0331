#include "core/frontend/zoo.h"
#include "core/graph/passes.h"
#include "core/graph/task.h"
#include "core/schedule/lower.h"
#include "core/search/lathe/launch_sketches.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/core/search/launch_cases.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

namespace tst_launch_split {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

/// NHWC, batch 1.
graph::Graph networkOf(const Target& target)
{
    return must(graph::optimize(must(frontend::buildZoo("resnet-18", {.layout = "NHWC", .weights = false})), target));
}

/// Which forms of sketches divide sums among blocks by a number of slices that is open.
std::vector<std::string> splitForms(const SearchTask& task)
{
    std::vector<std::string> forms;
    for (const auto& sketch : must(latheLaunchSketches(task))) {
        const auto isOpen = [](const Parameter& p) { return p.name.starts_with("slices ") && p.count > 0; };
        const std::string form = sketch->name().substr(sketch->name().rfind(':') + 1);
        if (form.starts_with("split") && std::ranges::any_of(sketch->parameters(), isOpen))
            forms.push_back(form);
    }
    return forms;
}

/// Whether one of its alternatives has a sum that is long enough, and more than one of it.
bool hasLongSums(const SearchTask& task)
{
    return std::ranges::any_of(task.alternatives, [](const SearchAlternative& alternative) {
        return std::ranges::any_of(alternative.dag->ops, [](const compute::Op& op) {
            return compute::reduceSize(op) >= 32 && compute::spatialSize(op) > 1;
        });
    });
}

} // namespace

/// Sums that are divided among blocks, whose pieces a second launch adds: at batch 1 few blocks are full without.
class TestLaunchSplit : public QObject
{
    Q_OBJECT

private slots:
    void longSumsOfOneImageMayBeDivided_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name :
             {"dense of one sample", "dense", "3x3 NHWC", "3x3 NCHW", "1x1 NHWC, nothing after"})
            QTest::newRow(name) << name;
    }
    void longSumsOfOneImageMayBeDivided()
    {
        QFETCH(QString, name);
        const std::vector<std::string> forms = splitForms(task({launchCase(name.toStdString())}, "cuda"));
        QVERIFY2(std::ranges::count(forms, "split") == 1, qPrintable(name));
        QVERIFY2(std::ranges::count(forms, "split-shared") == 1, qPrintable(name));
    }

    /// Windows of a prime number of rows are divided row by row.
    void dividedSumsAreRight_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"7x7 of 3 channels", "global pool NHWC", "dense of one sample"})
            QTest::newRow(name) << name;
    }
    void dividedSumsAreRight()
    {
        QFETCH(QString, name);
        const SearchTask t = task({launchCase(name.toStdString())}, "cuda");
        int tried = 0;
        for (const auto& sketch : must(latheLaunchSketches(t))) {
            if (sketch->name().find(":split") == std::string::npos)
                continue;
            schedule::LowerOptions options;
            options.form = KernelForm::Launches;
            options.constantInputs = t.alternatives.front().constantInputs;
            Random random(7, 0, 0);
            const auto steps = must(sketch->instantiate(drawnGenome(*sketch, random)));
            const auto state = must(schedule::State::replay(t.alternatives.front().dag, steps));
            const std::string wrong = schedule::test::checkKernel(state, 3, options);
            QVERIFY2(wrong.empty(), wrong.c_str());
            QCOMPARE(must(schedule::lower(state, options)).nest.launches.size(), std::size_t{2});
            ++tried;
        }
        QVERIFY(tried > 0);
    }

    /// Each task of resnet-18 whose sum is long enough to be divided.
    void resnet18MayDivideItsSums_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<int>("count");
        // All but the softmax of one row and the maxima of nine.
        QTest::newRow("reference") << "reference" << 22;
        QTest::newRow("lathe") << "lathe" << 22;
    }
    void resnet18MayDivideItsSums()
    {
        QFETCH(QString, kind);
        QFETCH(int, count);
        const Target target = must(Target::parse("cuda"));
        const graph::Graph network = networkOf(target);
        const graph::Partition partition = must(graph::partition(network, target, kind.toStdString()));
        QVERIFY(kind != "reference" || partition.tasks.size() == 24);
        int divided = 0;
        for (const graph::Task& one : partition.tasks) {
            SearchTask t;
            t.name = one.name;
            t.target = target;
            t.hardware = defaultHardware(target);
            for (const graph::Alternative& alternative : one.alternatives)
                t.alternatives.push_back({alternative.name, alternative.dag, {}, alternative.isReference});
            const std::vector<std::string> forms = splitForms(t);
            QVERIFY2(forms.empty() != hasLongSums(t), one.name.c_str());
            for (const auto& sketch : must(latheLaunchSketches(t))) {
                Random random(7, 0, 0);
                if (sketch->name().find(":split") != std::string::npos)
                    QVERIFY2(!drawnGenome(*sketch, random).empty(), (one.name + sketch->name()).c_str());
            }
            divided += forms.empty() ? 0 : 1;
        }
        QCOMPARE(divided, count);
    }
};

LATHE_TEST(TestLaunchSplit)

} // namespace tst_launch_split

#include "tst_launch_split.moc"
