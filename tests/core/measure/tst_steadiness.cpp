#include "core/measure/steadiness.h"
#include "core/wire/messages.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <limits>

namespace tst_steadiness {

using namespace lathe;
using namespace lathe::measure;

namespace {

wire::RunResult answer(const std::vector<double>& samples)
{
    wire::RunResult result;
    for (const double sample : samples)
        result.add_costs_ns(sample);
    return result;
}

} // namespace

class TestSteadiness : public QObject
{
    Q_OBJECT

private slots:
    void theFastestOfTheSamplesCounts()
    {
        QCOMPARE(*probeTime(answer({300, 100, 110})), 100.0);
        QVERIFY(!probeTime(answer({})));
        for (const double none :
             {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
            QVERIFY(!probeTime(answer({100, none})));
        wire::RunResult failed = answer({100});
        failed.mutable_failure()->set_code(static_cast<std::uint32_t>(Errc::DeviceLost));
        QVERIFY(!probeTime(failed));
    }

    void aDeviceIsSteadyWithinThreeHundredths()
    {
        ProbeCourse course;
        QVERIFY(!course.take(100));
        QVERIFY(!course.take(102.9)->moved);
        QVERIFY(course.take(110)->moved);
        QVERIFY(course.take(106)->moved); // faster is another device too
        course.interrupt();
        QVERIFY(!course.take(200));
    }

    /// Where probes seldom agree, only what is unusual there counts: else all would be measured again, each time.
    void whatIsUsualThereDoesNotCount()
    {
        ProbeCourse course;
        double took = 100;
        course.take(took);
        for (int i = 0; i < 4; ++i)
            QVERIFY(course.take(took *= i % 2 == 0 ? 1.1 : 1 / 1.1)->moved);
        for (int i = 0; i < 20; ++i) {
            const auto step = course.take(took *= i % 2 == 0 ? 1.1 : 1 / 1.1);
            QVERIFY(!step->moved);
            QVERIFY(step->limit > 0.17 && step->limit < 0.21);
        }
        QVERIFY(course.take(took *= 1.3)->moved);
        for (int i = 0; i < 8; ++i)
            course.take(took *= 1.001); // it became steady
        QVERIFY(course.take(took * 1.04)->moved);
    }

    void anotherClockIsNoNoise()
    {
        ProbeCourse course;
        for (int i = 0; i < 20; ++i)
            if (const auto step = course.take(i % 2 == 0 ? 100.0 : 160.0))
                QVERIFY(step->moved && step->limit <= 0.25);
    }

    void eachThingIsToldOnce()
    {
        std::vector<std::string> told;
        Steadiness steadiness("boards", [&](const Message& message) { told.push_back(textOf(message)); });
        const Steadiness::Time start;
        for (int i = 0; i < 20; ++i) {
            const auto verdict = steadiness.take("one", i % 2 == 0 ? 100.0 : 110.0);
            QCOMPARE(verdict.drift.has_value(), i > 0);
            QVERIFY(!verdict.setAside);
        }
        QCOMPARE(told.size(), std::size_t(1));
        QVERIFY2(told[0].starts_with("one is not steady: "), told[0].c_str());
        told.clear();
        for (int i = 0; i < 61; ++i)
            steadiness.rejected("one", 2, 0.05, start + std::chrono::seconds(i));
        QCOMPARE(told.size(), std::size_t(2));
        QVERIFY2(told[0].starts_with("2 trials of one "), told[0].c_str());
        QVERIFY2(told[1].starts_with("120 trials of one "), told[1].c_str());
        told.clear();
        for (int i = 0; i < 3; ++i)
            steadiness.take("two", i == 0 ? 150.0 : 151.0);
        QCOMPARE(told.size(), std::size_t(1));
        QVERIFY2(told[0].find("nobody can say") != std::string::npos, told[0].c_str());
    }

    void whatIsOfNoUseIsSetAside()
    {
        Steadiness steadiness("boards", [](const Message&) {});
        QVERIFY(!steadiness.take("a", 100.0).setAside);
        QVERIFY(!steadiness.take("b", 101.0).setAside);
        const auto stray = steadiness.take("c", 150.0);
        QVERIFY(stray.setAside && stray.setAside->id == Msg::DeviceStrays);
        QVERIFY(!steadiness.take("a", 100.0).setAside); // two again
        QVERIFY(steadiness.take("b", makeError(Errc::WrongAnswer, "an output differs")).setAside);
        QVERIFY(!steadiness.take("b", makeError(Errc::RunTimeout, "too long")).setAside);
        const Error down = makeError(Errc::DeviceLost, "it went down");
        QVERIFY(!steadiness.lost("a", down) && !steadiness.lost("b", down) && !steadiness.lost("a", down));
        QVERIFY(!steadiness.take("a", 100.0).setAside); // not in a row
        QVERIFY(!steadiness.lost("a", down) && !steadiness.lost("a", down));
        QVERIFY(steadiness.lost("a", down));
    }

    void oneDeviceIsLikeItself()
    {
        Peers peers;
        QVERIFY(!peers.take("a", 100));
        QVERIFY(!peers.take("a", 300));
    }

    void ofTwoNobodyKnowsWhichOneStrays()
    {
        Peers peers;
        QVERIFY(!peers.take("a", 100));
        QVERIFY(!peers.take("b", 109));
        const auto stray = peers.take("b", 150);
        QVERIFY(stray);
        QCOMPARE(stray->other, std::string("a"));
        QCOMPARE(stray->ratio, 1.5);
    }

    void ofThreeTheOneThatDiffersStrays()
    {
        Peers peers;
        QVERIFY(!peers.take("slow", 150));
        QVERIFY(peers.take("b", 100));
        QVERIFY(!peers.take("c", 101)); // most are like it, though not the one that came first
        const auto stray = peers.take("slow", 150);
        QVERIFY(stray && stray->other.empty());
        QCOMPARE(stray->ratio, 150 / 101.0);
        peers.forget("slow");
        const auto fast = peers.take("fast", 80);
        QVERIFY(fast && fast->ratio < 1);
    }
};

LATHE_TEST(TestSteadiness)

} // namespace tst_steadiness

#include "tst_steadiness.moc"
