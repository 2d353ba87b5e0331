#include "core/schedule/state.h"
#include "core/support/files.h"
#include "core/templates/template_policy.h"
#include "core/templates/user_template.h"
#include "tests/core/schedule/kernel_check.h"
#include "tests/core/templates/template_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <set>

namespace tst_user_template {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;

namespace {

constexpr const char* kProcessor = "cpu -mcpu=haswell -threads=2";
const std::string kExample = std::string(LATHE_TEST_DATA) + "/templates/blocked_conv.json";

std::string with(std::string text, const std::string& what, const std::string& instead)
{
    const std::size_t at = text.find(what);
    if (at == std::string::npos)
        qFatal("the example has no %s", what.c_str());
    return text.replace(at, what.size(), instead);
}

std::string exampleWith(const std::string& what, const std::string& instead)
{
    return with(must(readFile(kExample)), what, instead);
}

/// Iterations of a stage's loops that are marked so, all together.
std::int64_t markedOf(const schedule::Stage& stage, schedule::Annotation mark)
{
    std::int64_t product = 1;
    for (const schedule::Iterator& iter : stage.iters)
        if (iter.annotation == mark)
            product *= iter.extent;
    return product;
}

/// Makes no steps, but where both options are 0: of some 10^7 configurations the first, and few others.
constexpr const char* kHardlyEverRunnable = R"({"template": "dense_rare.mine", "pattern": "dense",
    "knobs": [{"name": "a", "option": [%1]}, {"name": "b", "option": [%1]}, {"name": "tile", "split": "n"}],
    "steps": [{"order": ["m", "n"], "if": "a"}, {"order": ["m", "n"], "if": "b"}, {"parallel": 1}]})";

void addHardlyEverRunnable()
{
    QStringList numbers;
    for (int i = 0; i < 1000; ++i)
        numbers << QString::number(i);
    const QString text = QString(kHardlyEverRunnable).arg(numbers.join(','));
    QVERIFY(addUserTemplate(must(userTemplateOf(text.toStdString(), "rare.json"))));
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
                                 << "the file: not JSON";
        QTest::newRow("name") << "\"template\": \"blocked_conv.mine\""
                              << "\"template\": 5"
                              << "'template' is not a name";
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
                               << "there is already a knob 'tile_co'";
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
        QTest::newRow("after parallel") << "{\"parallel\": 3}"
                                        << "{\"parallel\": 3}, {\"unroll\": \"kx\"}"
                                        << "no step may follow parallel";
        QTest::newRow("stands twice") << "\"ky\", \"kx\", \"x.1\""
                                      << "\"ky\", \"ky\", \"x.1\""
                                      << "'ky' stands twice";
        // Records could not tell such values apart, or not hold them.
        QTest::newRow("equal values") << "[0, 1]"
                                      << "[0, 1, 1]"
                                      << "knobs[2]: the value 1 stands twice";
        QTest::newRow("mixed values") << "[0, 1]"
                                      << "[0, true]"
                                      << "some values are numbers, others true or false";
        QTest::newRow("large value") << "[0, 1]"
                                     << "[0, 2147483648]"
                                     << "the value 2147483648 does not fit in 32 bits";
        QTest::newRow("small value") << "[0, 1]"
                                     << "[0, -2147483649]"
                                     << "does not fit in 32 bits";
        QTest::newRow("fraction") << "[0, 1]"
                                  << "[0, 1.0]"
                                  << "a value is not a whole number, true or false";
        QTest::newRow("part of an axis") << "{\"split\": \"co\", \"by\""
                                         << "{\"split\": \"co.9\", \"by\""
                                         << "the pattern has no axis 'co.9'";
        QTest::newRow("first part of an axis") << "{\"split\": \"co\", \"by\""
                                               << "{\"split\": \"co.0\", \"by\""
                                               << "the pattern has no axis 'co.0'";
        QTest::newRow("list for a loop") << "\"vectorize\": \"co.1\""
                                         << "\"vectorize\": [[\"co.1\"]]"
                                         << "a loop is named by a text";
        QTest::newRow("long name") << "\"vectorize\": \"co.1\""
                                   << "\"vectorize\": \"\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
                                      "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4q\u00e4\u00e4\""
                                   << "q...'"; // not cut within a character
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

    /// Whatever walks over what was read has one frame of the stack for each level.
    void whatNestsDeepIsRefused()
    {
        const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
        for (const std::string& text : {deep, std::string(100'000, '['), exampleWith("\"x.0\"},", deep + "},"),
                                        exampleWith("\"cpu\"", deep), exampleWith("[0, 1]", "[" + deep + "]")}) {
            const auto read = userTemplateOf(text, "deep.json");
            QVERIFY(!read);
            QVERIFY(read.error().code == Errc::BadFile);
            QVERIFY2(read.error().message.find("nested") != std::string::npos, read.error().message.c_str());
        }
    }

    /// What only shows on a task is one error there, and no crash.
    void stepsThatDoNotFitAreRefused()
    {
        const auto read = must(userTemplateOf(exampleWith("\"ky\", \"kx\", \"x.1\"", "\"ky\", \"x.1\""), "short.json"));
        const auto alternative = convOf(ConvCase{});
        const auto nest = must(matchNest(alternative));
        const Workload workload = convWorkload(read->name, *nest.conv());
        const ConfigSpace space = must(read->row.space(workload, {}));
        const auto steps = read->row.steps({*alternative.dag, nest, 32}, must(space.at(0)));
        QVERIFY(!steps);
        QVERIFY2(steps.error().message.find("the order has 8 loops, the sum has 9") != std::string::npos,
                 steps.error().message.c_str());
    }

    /// A template whose steps fit no configuration is not searched.
    void templatesWithoutStepsAreNotOffered()
    {
        const auto names = [](const search::SearchTask& task) {
            std::set<std::string> all;
            for (const TaskTemplate& made : templatesOf(task))
                all.insert(std::string(made.row->name));
            return all;
        };
        const auto before = names(taskOf(convOf(ConvCase{}), kProcessor));
        std::string text = exampleWith("\"ky\", \"kx\", \"x.1\"", "\"ky\", \"x.1\"");
        QVERIFY(addUserTemplate(must(userTemplateOf(with(text, "blocked_conv", "short_conv"), "short.json"))));
        text = exampleWith("\"x.1\"},", "\"x.7\"},");
        QVERIFY(addUserTemplate(must(userTemplateOf(with(text, "blocked_conv", "no_part"), "part.json"))));
        QVERIFY(findTemplate("short_conv.mine") != nullptr && findTemplate("no_part.mine") != nullptr);
        QCOMPARE(names(taskOf(convOf(ConvCase{}), kProcessor)), before);
        QVERIFY(before.contains("blocked_conv.mine"));
    }

    /// A search does not walk through a space in which next to nothing can be run, and goes on with other templates.
    void hardlyEverRunnableTemplatesAreGivenUp()
    {
        addHardlyEverRunnable();
        const search::SearchTask task = taskOf(denseOf(4, 6, 4, true), kProcessor);
        search::PolicyOptions options;
        options.tuner = "gridsearch";
        auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        SerialExecutor executor;
        std::map<std::string, int> proposed;
        for (std::uint64_t round = 0;; ++round) {
            const auto candidates = must(policy->propose(round, 16, executor, {}));
            if (candidates.empty())
                break;
            QVERIFY(round > 0 || !policy->whyNothing());
            std::vector<search::Measured> results;
            for (const Candidate& candidate : candidates) {
                // Of the rare one the first time nothing is told: it is given again, though it was given up.
                if (proposed[std::string(templateNameOf(candidate))]++ == 0
                    && templateNameOf(candidate) == "dense_rare.mine")
                    continue;
                search::Measured& measured = results.emplace_back();
                measured.candidate = candidate;
                measured.result.costsNs = {1000};
            }
            QVERIFY(policy->tell(results, {}));
        }
        QCOMPARE(proposed["dense_rare.mine"], 2);
        QVERIFY(proposed["dense_pack.x86"] > 16 && proposed["dense_nopack.x86"] > 16);
        const double rejected = policy->statistics().at("rejected");
        const auto most = static_cast<double>(TemplatePolicy::kMostRefusedInARow);
        QVERIFY2(rejected >= most && rejected < most + 16, std::to_string(rejected).c_str());
        const auto why = policy->whyNothing();
        QVERIFY(why);
        QVERIFY2(textOf(*why).find("the order has 2 loops, the sum has 3") != std::string::npos, textOf(*why).c_str());
    }

    /// However much a file asks for, no more is written out than compiles in a moment.
    void unrollingHasALimit()
    {
        std::string text = exampleWith("{\"unroll\": \"x.1\"}",
                                       "{\"unroll\": \"x.1\"}, {\"unroll\": \"ci\"}, {\"unroll\": \"ky\"}");
        text = with(text, "\"largest\": 64", "\"largest\": 1024");
        const auto read = must(userTemplateOf(with(text, "blocked_conv", "greedy_conv"), "greedy.json"));
        const auto alternative = convOf(ConvCase{.size = 28, .in = 16, .out = 1024});
        const auto nest = must(matchNest(alternative));
        const ConfigSpace space = must(read->row.space(convWorkload(read->name, *nest.conv()), {}));
        const Scheduled scheduled{*alternative.dag, nest, 32};
        std::set<std::int64_t> unrolled, vectors;
        for (std::uint64_t i = 0; i < space.size(); ++i) {
            const auto steps = must(read->row.steps(scheduled, must(space.at(i))));
            auto state = must(schedule::State::replay(alternative.dag, steps));
            must(state.inferBounds());
            for (const schedule::Stage& stage : state.stages()) {
                const std::int64_t lanes = markedOf(stage, schedule::Annotation::Vectorize);
                const std::int64_t written = markedOf(stage, schedule::Annotation::Unroll);
                QVERIFY2(written == 1 || written * ((lanes + 7) / 8) <= kMostUnrolled,
                         (std::to_string(written) + " times " + std::to_string(lanes)).c_str());
                QVERIFY(lanes <= 8 * kMostAccumulators);
                unrolled.insert(written);
                vectors.insert(lanes);
            }
        }
        QVERIFY(unrolled.contains(28) && unrolled.contains(16 * 14) && *unrolled.rbegin() > 128);
        QVERIFY(vectors.contains(512));
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
