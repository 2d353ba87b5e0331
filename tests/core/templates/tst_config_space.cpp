#include "core/support/random.h"
#include "core/templates/template_table.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

namespace tst_config_space {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

namespace {

/// A knob of each kind.
ConfigSpace sample()
{
    ConfigSpace space;
    must(space.addSplit("tile", {12, 3}));
    must(space.addReorder("order", {3, ReorderPolicy::All}));
    must(space.addAnnotate("marks", {2, "try_unroll_vec"}));
    must(space.addAnnotate("caches", {3, "locate_cache", 2}));
    must(space.addOption("flag", std::vector<JsonValue>{{true}, {false}}));
    must(space.addOption("kind", std::vector<JsonValue>{{std::string("a")}, {std::string("b")}, {Real{0.5}}, {}}));
    return space;
}

} // namespace

class TestConfigSpace : public QObject
{
    Q_OBJECT

private slots:
    void theFirstKnobVariesFastest()
    {
        ConfigSpace space;
        must(space.addOption("x", {1, 2, 3}));
        must(space.addOption("y", {10, 20}));
        QCOMPARE(space.size(), std::uint64_t{6});
        std::string text;
        for (std::uint64_t i = 0; i < space.size(); ++i)
            text += configText(must(space.at(i))) + '\n';
        QCOMPARE(text, std::string("x 1, y 10\nx 2, y 10\nx 3, y 10\nx 1, y 20\nx 2, y 20\nx 3, y 20\n"));
        QVERIFY(space.digits(5) == (std::vector<std::uint32_t>{2, 1}));
        QCOMPARE(space.at(6).error().message, std::string("there is no configuration 6: the space has 6"));
    }

    void anIndexComesBackFromEveryConfiguration()
    {
        const ConfigSpace space = sample();
        QCOMPARE(space.size(), std::uint64_t{18 * 6 * 8 * 3 * 2 * 4});
        for (std::uint64_t i = 0; i < space.size(); ++i)
            QCOMPARE(must(space.indexOf(must(space.at(i)))), i);
    }

    /// Of spaces of up to 10^8 configurations.
    void randomIndicesComeBack()
    {
        bool given = false;
        std::uint64_t seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
        if (!given)
            seed = QRandomGenerator::global()->generate64();
        qInfo("LATHE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
        Random random(seed);
        for (const char* name : {"conv2d_NCHWc.x86", "conv2d_nchw.cuda", "conv2d_nchw_winograd.cuda",
                                 "conv2d_nchw_spatial_pack.mali", "conv2d_nchw_winograd.mali"})
            for (const ResnetTask& task : kResnetTasks) {
                const Result<ConfigSpace> space = spaceOf(convWorkload(name, argsOf(task)));
                if (!space)
                    continue; // no winograd
                const std::size_t length = space->features(must(space->at(0))).size();
                for (int i = 0; i < 50; ++i) {
                    const std::uint64_t index = random.below(space->size());
                    const Config config = must(space->at(index));
                    QCOMPARE(must(space->indexOf(config)), index);
                    QCOMPARE(space->indexOf(space->digits(index)), index);
                    QCOMPARE(space->features(config).size(), length);
                }
                QCOMPARE(must(space->indexOf(must(space->at(space->size() - 1)))), space->size() - 1);
            }
    }

    void theOutermostSizeMayBeWrittenOut()
    {
        ConfigSpace space;
        must(space.addSplit("tile", {10, 2, SplitPolicy::Verbose}));
        Config config;
        config.set("tile", SplitEntity{{3, 4}}); // 10 = 4 + 4 + 2
        QCOMPARE(configText(must(space.at(must(space.indexOf(config))))), std::string("tile [-1, 4]"));
        config.set("tile", SplitEntity{{2, 4}});
        QCOMPARE(space.indexOf(config).error().message,
                 std::string("[2, 4] is not among the choices of the knob tile"));
    }

    void whatIsNotInTheSpaceIsNamed()
    {
        const ConfigSpace space = sample();
        Config config = must(space.at(7));
        config.set("spin", OptionEntity{{std::int64_t{1}}});
        QCOMPARE(space.indexOf(config).error().message, std::string("the configuration space has no knob spin"));
        config.knobs.pop_back();
        config.knobs.erase(config.knobs.begin() + 2);
        QCOMPARE(space.indexOf(config).error().message,
                 std::string("the configuration has no value for the knob marks"));
        config = must(space.at(7));
        config.set("order", SplitEntity{{-1, 2}}); // of another kind
        QVERIFY(space.indexOf(config).error().code == Errc::NotFound);
    }

    /// Its order of knobs may be another: configurations are known by what they choose.
    void theOrderOfKnobsDoesNotMatter()
    {
        const ConfigSpace space = sample();
        Config config = must(space.at(1234));
        std::reverse(config.knobs.begin(), config.knobs.end());
        config.index = 5;
        QCOMPARE(must(space.indexOf(config)), std::uint64_t{1234});
    }

    void featuresAreNumbersOfEachKnob()
    {
        const ConfigSpace space = sample();
        Config config = must(space.at(0));
        config.set("tile", SplitEntity{{-1, 2, 3}});
        config.set("order", ReorderEntity{{2, 0, 1}});
        config.set("marks", AnnotateEntity{{Mark::Unroll, Mark::Vec}});
        config.set("caches", AnchorEntity{{1, 2}});
        config.set("kind", OptionEntity{{std::string("b")}});
        std::vector<float> expected = {-1, 2, 3, 2, 0, 1};
        expected.insert(expected.end(), {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
        expected.insert(expected.end(), {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        expected.insert(expected.end(), {1, 2, 1, 1});
        QVERIFY(space.features(config) == expected);
        Config reversed = config; // as another tool may write it
        std::ranges::reverse(reversed.knobs);
        QVERIFY(space.features(reversed) == expected);
        reversed.knobs.pop_back();
        QCOMPARE(space.features(reversed).size(), expected.size());
    }

    void spacesThatMakeNoSenseAreRefused()
    {
        ConfigSpace space;
        must(space.addOption("x", {1}));
        QVERIFY(space.addOption("x", {2}).error().message.find("the knob x") != std::string::npos);
        QVERIFY(!space.addOption("none", std::vector<JsonValue>()));
        SplitRule nothing{8, 2};
        nothing.filter = [](std::span<const std::int64_t>) { return false; };
        QVERIFY(!space.addSplit("empty", nothing));
        QCOMPARE(space.knobs().size(), std::size_t{1}); // what was refused is not half there
        int knobs = 0;
        while (space.addReorder("r" + std::to_string(knobs), {9, ReorderPolicy::All}))
            ++knobs;
        QCOMPARE(knobs, 3); // 362,880^3 is below 2^63, ^4 is not
        QCOMPARE(must(space.indexOf(must(space.at(space.size() - 1)))), space.size() - 1);
    }

    void theFirstConstraintThatRefusesIsTold()
    {
        ConfigSpace space;
        must(space.addOption("x", {1, 2, 3}));
        space.addConstraint({"odd", [](const Config& config) -> std::optional<Message> {
                                 if (config.number("x") != 2)
                                     return std::nullopt;
                                 return say(Msg::TemplateWrong, "x", "odd");
                             }});
        QVERIFY(!space.refusal(must(space.at(0))));
        QCOMPARE(textOf(space.refusal(must(space.at(1))).value()), std::string("x is not odd"));
        QCOMPARE(space.size(), std::uint64_t{3}); // what is refused keeps its index
    }
};

LATHE_TEST(TestConfigSpace)

} // namespace tst_config_space
#include "tst_config_space.moc"
