#include "core/session/farm_history.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_farm_history {

using namespace lathe::session;
using std::chrono::seconds;

namespace {

FarmDeviceView device(const std::string& name, FarmDeviceState state, const std::string& lastError = {})
{
    FarmDeviceView made;
    made.key = "board";
    made.name = name;
    made.state = state;
    made.lastError = lastError;
    made.health = {{"load", 0.5}};
    return made;
}

FarmView farm(std::vector<FarmDeviceView> devices, bool connected = true)
{
    FarmView view;
    view.connected = connected;
    view.devices = std::move(devices);
    return view;
}

/// "sick 12: too hot, back 14": kinds, seconds after the beginning, texts.
std::string faultsOf(const FarmHistory& history, const std::string& name)
{
    std::string text;
    const FarmHistory::Device* found = history.find("board", name);
    if (found == nullptr)
        return "unknown";
    for (const FarmFault& fault : found->faults) {
        const char* const kinds[] = {"lost", "sick", "failed", "back"};
        text += (text.empty() ? "" : ", ") + std::string(kinds[static_cast<int>(fault.kind)]) + " "
                + std::to_string(std::chrono::duration_cast<seconds>(fault.at.time_since_epoch()).count())
                + (fault.text.empty() ? "" : ": " + fault.text);
    }
    return text;
}

} // namespace

/// What is remembered of a farm's devices, by views made by hand.
class TestFarmHistory : public QObject
{
    Q_OBJECT

    static FarmHistory::Time at(int second) { return FarmHistory::Time(seconds(second)); }

private slots:
    void faultsAreToldOnceEach()
    {
        using enum FarmDeviceState;
        FarmHistory history;
        int second = 0;
        const auto look = [&](FarmDeviceState state, const std::string& lastError) {
            history.take(farm({device("b1", state, lastError)}), at(second++));
        };
        look(Free, "of yesterday"); // nobody knows when
        for (int i = 0; i < 9; ++i)
            look(Busy, "of yesterday");
        look(Busy, "a kernel hung");
        look(Free, "a kernel hung");
        look(Sick, "too hot");
        look(Sick, "too hot");
        look(Free, "too hot");
        look(Lost, "too hot");
        look(Lost, "too hot");
        look(Drained, "too hot");
        QCOMPARE(faultsOf(history, "b1"),
                 std::string("failed 10: a kernel hung, sick 12: too hot, back 14, lost 15, back 17"));
        QCOMPARE(faultsOf(history, "b2"), std::string("unknown"));
    }

    void aBrokerThatIsAwayIsNoFaultOfTheDevices()
    {
        using enum FarmDeviceState;
        FarmHistory history;
        for (int i = 0; i < 10; ++i)
            history.take(farm({device("b1", Free), device("b2", Free)}), at(i));
        for (int i = 10; i < 30; ++i)
            history.take(farm({device("b1", Lost), device("b2", Lost)}, false), at(i));
        // It answers again; one device is heard at once, the other one never.
        for (int i = 30; i < 40; ++i)
            history.take(farm({device("b1", i < 32 ? Lost : Free), device("b2", Lost)}), at(i));
        QCOMPARE(faultsOf(history, "b1"), std::string());
        QCOMPARE(faultsOf(history, "b2"), std::string("lost 35"));
        QCOMPARE(history.find("board", "b1")->health.at("load").size(), std::size_t(18));
    }

    void aLongTimeIsKeptCoarsely()
    {
        FarmHistory history;
        constexpr int kDay = 24 * 3600;
        for (int i = 0; i <= kDay; ++i) {
            FarmDeviceView one = device("b1", FarmDeviceState::Free);
            one.health["load"] = i;
            history.take(farm({one}), at(i));
        }
        const auto& samples = history.find("board", "b1")->health.at("load");
        QVERIFY2(samples.size() < FarmHistory::kMostSamples, qPrintable(QString::number(samples.size())));
        QVERIFY2(samples.size() > FarmHistory::kMostSamples / 4, qPrintable(QString::number(samples.size())));
        QCOMPARE(samples.front().seconds, 0.0);
        QVERIFY2(samples.back().seconds > kDay * 0.98, qPrintable(QString::number(samples.back().seconds)));
        for (std::size_t i = 0; i < samples.size(); ++i) {
            QCOMPARE(samples[i].value, samples[i].seconds);
            QVERIFY(i == 0 || samples[i - 1].seconds < samples[i].seconds);
        }
        QCOMPARE(history.seconds(), double(kDay));
    }

    void aFloodOfDevicesFiguresAndFaultsFillsNoMemory()
    {
        FarmHistory history;
        for (int i = 0; i < 1000; ++i) {
            FarmDeviceView one = device("b" + std::to_string(i), FarmDeviceState::Free);
            for (int figure = 0; figure < 100; ++figure)
                one.health["figure" + std::to_string(figure)] = 1;
            const std::string error = "error " + std::to_string(i);
            history.take(farm({device("steady", FarmDeviceState::Free, error), one}), at(i));
        }
        QCOMPARE(history.find("board", "steady")->faults.size(), FarmHistory::kMostFaults);
        QCOMPARE(history.find("board", "steady")->faults.back().text, std::string("error 999"));
        QCOMPARE(history.find("board", "b999")->health.size(), FarmHistory::kMostFigures);
        QCOMPARE(history.find("board", "b0"), nullptr); // those that were not seen for longest are forgotten
        QVERIFY(history.find("board", "b600") != nullptr);
        // More at once than are kept: the first ones stay.
        std::vector<FarmDeviceView> many;
        for (int i = 0; i < 2000; ++i)
            many.push_back(device("c" + std::to_string(10000 + i), FarmDeviceState::Free));
        history.take(farm(many), at(1000));
        QVERIFY(history.find("board", "c10000") != nullptr);
        QCOMPARE(history.find("board", "c11999"), nullptr);
    }

    void aClockThatIsSetBackBreaksNoCurve()
    {
        FarmHistory history;
        double before = 0;
        for (const int second : {100, 101, 102, 40, 41, 103}) {
            history.take(farm({device("b1", FarmDeviceState::Free)}), at(second));
            QVERIFY(history.seconds() >= before);
            before = history.seconds();
        }
        const auto& samples = history.find("board", "b1")->health.at("load");
        for (std::size_t i = 1; i < samples.size(); ++i)
            QVERIFY(samples[i - 1].seconds <= samples[i].seconds);
        QCOMPARE(history.seconds(), 3.0);
    }
};

LATHE_TEST(TestFarmHistory)

} // namespace tst_farm_history

#include "tst_farm_history.moc"
