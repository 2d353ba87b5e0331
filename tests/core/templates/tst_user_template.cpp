#include "core/schedule/state.h"
#include "core/support/files.h"
#include "core/templates/template_policy.h"
#include "core/templates/user_template.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/templates/template_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_user_template {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;

namespace {

constexpr const char* kProcessor = "cpu -mcpu=haswell -threads=2";
const std::string kExample = std::string(LATHE_TEST_DATA) + "/templates/blocked_conv.json";

std::string exampleWith(const std::string& what, const std::string& instead)
{
    std::string text = must(readFile(kExample));
    const std::size_t at = text.find(what);
    if (at == std::string::npos)
        qFatal("the example has no %s", what.c_str());
    return text.replace(at, what.size(), instead);
}

} // namespace

class TestUserTemplate : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        const auto added = addUserTemplate(must(readTemplateFile(kExample)));
        QVERIFY2(added, added ? "" : added.error().message.c_str());
    }

    void theExampleComputesWhatTheTaskSays()
    {
        for (const ConvCase& c : {ConvCase{.size = 9, .in = 3, .out = 12, .stride = 2, .residual = true},
                                  ConvCase{.layout = compute::ImageLayout::Nhwc, .batch = 2, .size = 6},
                                  ConvCase{.size = 8, .kernel = 1, .padding = 0, .relu = false}}) {
            const auto alternative = convOf(c);
            int checked = 0;
            for (const TaskTemplate& made : templatesOf(taskOf(alternative, kProcessor))) {
                if (made.row->name != "blocked_conv.mine")
                    continue;
                for (std::uint64_t i = 0; i < made.space.size(); ++i, ++checked) {
                    const Config config = must(made.space.at(i));
                    const auto state = schedule::State::replay(made.dag, must(made.steps(config)));
                    QVERIFY2(state, state ? "" : state.error().message.c_str());
                    schedule::LowerOptions options;
                    options.constantInputs = alternative.constantInputs;
                    const std::string wrong = schedule::test::checkKernel(*state, 5, options);
                    QVERIFY2(wrong.empty(), (configText(config) + ": " + wrong).c_str());
                }
            }
            QVERIFY(checked > 10);
        }
    }

    /// A tuner finds the configuration that a made-up device likes best.
    void theExampleIsTuned()
    {
        search::SearchTask task = taskOf(convOf({.layout = compute::ImageLayout::Nhwc, .in = 4, .out = 24}),
                                         kProcessor);
        search::PolicyOptions options;
        options.tuner = "gridsearch";
        auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        SerialExecutor executor;
        double best = 1e9;
        std::string bestSketch;
        for (std::uint64_t round = 0; round < 200; ++round) {
            const auto candidates = must(policy->propose(round, 16, executor, {}));
            if (candidates.empty())
                break;
            std::vector<search::Measured> results;
            for (const Candidate& candidate : candidates) {
                search::Measured measured;
                measured.candidate = candidate;
                double ns = 1000;
                if (templateNameOf(candidate) == "blocked_conv.mine") // tile_co, tile_x, unroll
                    ns = std::abs(candidate.genome[0] - 12) + std::abs(candidate.genome[1] - 7) + candidate.genome[2]
                         + 1;
                measured.result.costsNs = {ns};
                if (ns < best) {
                    best = ns;
                    bestSketch = candidate.sketch;
                }
                results.push_back(std::move(measured));
            }
            QVERIFY(policy->tell(results, {}));
        }
        QCOMPARE(best, 1.0);
        QCOMPARE(bestSketch, std::string("template/1:blocked_conv.mine"));
    }

    void wrongFilesAreToldWithThePlace_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("instead");
        QTest::addColumn<QString>("said");
        QTest::newRow("no JSON") << "\"family\": \"cpu\","
                                 << "family"
                                 << "it is no JSON object";
        QTest::newRow("name") << "\"template\": \"blocked_conv.mine\""
                              << "\"template\": 5"
                              << "'template' is no name";
        QTest::newRow("pattern") << "\"pattern\": \"conv2d\""
                                 << "\"pattern\": \"conv9d\""
                                 << "none of conv2d";
        QTest::newRow("family") << "\"cpu\""
                                << "\"vta\""
                                << "family cpu";
        QTest::newRow("axis") << "\"split\": \"co\", \"parts\""
                              << "\"split\": \"oc\", \"parts\""
                              << "knobs[0]";
        QTest::newRow("parts") << "\"parts\": 2, \"largest\": 64"
                               << "\"parts\": 9, \"largest\": 64"
                               << "from 2 to 4";
        QTest::newRow("twice") << "\"name\": \"tile_x\""
                               << "\"name\": \"tile_co\""
                               << "there is a knob";
        QTest::newRow("word") << "\"largest\": 28"
                              << "\"greatest\": 28"
                              << "'greatest' is not known";
        QTest::newRow("verb") << "\"sum at\""
                              << "\"sums at\""
                              << "it says nothing that is known";
        QTest::newRow("loop") << "\"vectorize\": \"co.1\""
                              << "\"vectorize\": \"q.1\""
                              << "there is no loop";
        QTest::newRow("sum") << "\"sum at\": \"x.0\""
                             << "\"sum at\": \"ci\""
                             << "the store has no loop ci";
        QTest::newRow("knob") << "\"by\": \"tile_x\""
                              << "\"by\": \"tile_co\""
                              << "no knob 'tile_co' that splits x";
        QTest::newRow("if") << "\"if\": \"unroll\""
                            << "\"if\": \"tile_x\""
                            << "there is no option 'tile_x'";
        QTest::newRow("behind") << "{\"parallel\": 3}"
                                << "{\"parallel\": 3}, {\"unroll\": \"kx\"}"
                                << "nothing comes behind";
        QTest::newRow("stands twice") << "\"ky\", \"kx\", \"x.1\""
                                      << "\"ky\", \"ky\", \"x.1\""
                                      << "ky stands twice";
    }
    void wrongFilesAreToldWithThePlace()
    {
        QFETCH(QString, what);
        QFETCH(QString, instead);
        QFETCH(QString, said);
        const auto read = userTemplateOf(exampleWith(what.toStdString(), instead.toStdString()), "mine.json");
        QVERIFY(!read);
        QVERIFY(read.error().code == Errc::BadFile);
        QVERIFY2(read.error().message.find(said.toStdString()) != std::string::npos, read.error().message.c_str());
        QVERIFY2(read.error().message.starts_with("mine.json: "), read.error().message.c_str());
    }

    /// What only shows on a task is one error there, and no crash.
    void stepsThatDoNotFitAreRefused()
    {
        const auto read = must(userTemplateOf(exampleWith("\"ky\", \"kx\", \"x.1\"", "\"ky\", \"x.1\""), "short.json"));
        const auto alternative = convOf({});
        const auto nest = must(matchNest(alternative));
        const Workload workload = convWorkload(read->name, *nest.conv());
        const ConfigSpace space = must(read->row.space(workload, {}));
        const auto steps = read->row.steps({*alternative.dag, nest, 32}, must(space.at(0)));
        QVERIFY(!steps);
        QVERIFY2(steps.error().message.find("the order has 8 loops, the sum has 9") != std::string::npos,
                 steps.error().message.c_str());
    }

    void namesOfBuiltInTemplatesAreTaken()
    {
        auto read = must(userTemplateOf(exampleWith("blocked_conv.mine", "conv2d_NCHWc.x86"), "taken.json"));
        const auto added = addUserTemplate(std::move(read));
        QVERIFY(!added);
        QVERIFY2(added.error().message.find("conv2d_NCHWc.x86") != std::string::npos, added.error().message.c_str());
    }
};

LATHE_TEST(TestUserTemplate)

} // namespace tst_user_template
#include "tst_user_template.moc"
