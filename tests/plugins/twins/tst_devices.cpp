#include "core/backend/rules.h"
#include "core/measure/measurer.h"
#include "core/session/device_directory.h"
#include "core/session/run/measure_plan.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fstream>
#include <map>
#include <set>

namespace tst_devices {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

namespace {

DeviceView device(const char* kind, const char* key, const char* deviceKey, const char* state = "ready")
{
    DeviceView view;
    view.kind = kind;
    view.key = key;
    view.deviceKey = deviceKey;
    view.name = std::string("A ") + kind;
    view.state = state;
    return view;
}

std::vector<std::string> keysOf(const std::vector<DeviceView>& devices)
{
    std::vector<std::string> keys;
    for (const DeviceView& one : devices)
        keys.push_back(one.key);
    return keys;
}

using Keys = std::vector<std::string>;

} // namespace

/// What can be picked, and that records name what was: on three simulated devices, of which two are equal
/// (tests/plugins/twins).
class TestDevices : public QObject, Projects
{
    Q_OBJECT

    const DeviceDirectory m_directory{
        {device("cpu", "cpu", "cpu-1"), device("cuda", "0", "h100", "absent: the driver is too old"),
         device("cuda", "1", "h100"), device("cuda", "2", "h100"), device("cuda", "3", "a100"),
         device("opencl", "", "", "absent: no OpenCL here")}};

private slots:
    void aTargetHasItsKindsDevicesUsableOnesFirst()
    {
        QCOMPARE(keysOf(m_directory.forTarget("cuda -arch=sm_90")), (Keys{"1", "2", "3", "0"}));
        QCOMPARE(keysOf(m_directory.forTarget("cpu -threads=2")), (Keys{"cpu"}));
    }

    void aTargetWithoutADeviceHereSaysWhy()
    {
        const std::pair<const char*, const char*> cases[] = {
            {"opencl", "no OpenCL here"},
            {"vta", "no vta back end"},
            {"cpu -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu", "remote boards are not supported yet"},
            {"abacus", "target kind 'abacus'"}};
        for (const auto& [target, reason] : cases) {
            const auto devices = m_directory.forTarget(target);
            QCOMPARE(devices.size(), std::size_t{1});
            QVERIFY(!devices[0].ready() && devices[0].key.empty());
            QVERIFY2(devices[0].reason().find(reason) != std::string::npos, devices[0].reason().c_str());
            const auto picked = m_directory.pick(target, {});
            QVERIFY(!picked && picked.error().message == devices[0].reason());
        }
        const auto nobody = DeviceDirectory({device("", "", "", "absent: lathe-runner is not there")}).forTarget("cpu");
        QCOMPARE(nobody.at(0).reason(), std::string("lathe-runner is not there"));
    }

    void aDeviceThatLacksWhatTheCodeNeedsIsAbsent()
    {
        backend::BackendRules rules;
        rules.kind.name = "picky";
        rules.kind.words = {integerWord("least")};
        rules.kind.presets = [](const Target& target) {
            Hardware hardware;
            if (const auto least = target.attribute("least"))
                hardware.limits["age"] = {std::stoll(*least), "user"};
            return hardware;
        };
        rules.needs = {"age"};
        backend::addRules(rules);
        std::vector<DeviceView> devices = {device("picky", "p0", "old"), device("picky", "p1", "new"),
                                           device("picky", "p2", "silent")};
        devices[0].hardware = {{"age", 5, "driver"}};
        devices[1].hardware = {{"age", 9, "driver"}};
        const DeviceDirectory directory(devices);
        QCOMPARE(keysOf(must(directory.pick("picky", {}))), (Keys{"p0"}));
        QCOMPARE(keysOf(must(directory.pick("picky -least=5", {}))), (Keys{"p0"}));
        QCOMPARE(keysOf(must(directory.pick("picky -least=6", {}))), (Keys{"p1"}));
        QCOMPARE(keysOf(must(directory.pick("picky -least=10", {}))), (Keys{"p2"})); // it tells nothing
        const auto named = directory.pick("picky -least=6", Keys{"p0"});
        QVERIFY(!named && named.error().message.find("available: p1, p2") != std::string::npos);
        const auto none = DeviceDirectory({devices[0], devices[1]}).pick("picky -least=10", {});
        QVERIFY(!none && none.error().code == Errc::NotFound);
        QCOMPARE(none.error().message,
                 std::string("A picky does not run code for picky -least=10: its age is 5, and 10 is needed"));
    }

    void devicesArePickedByTheirOwnNameOrThatOfTheirClass()
    {
        QCOMPARE(keysOf(must(m_directory.pick("cuda", {}))), (Keys{"1", "2"})); // all of the first one's class
        QCOMPARE(keysOf(must(m_directory.pick("cuda", Keys{"2"}))), (Keys{"2"}));
        QCOMPARE(keysOf(must(m_directory.pick("cuda", Keys{"2", "1", "2"}))), (Keys{"1", "2"}));
        QCOMPARE(keysOf(must(m_directory.pick("cuda", Keys{"h100"}))), (Keys{"1", "2"}));
        const auto absent = m_directory.pick("cuda", Keys{"0"});
        QVERIFY(!absent && absent.error().code == Errc::NotFound);
        QVERIFY2(absent.error().message.find("available: 1, 2, 3") != std::string::npos,
                 absent.error().message.c_str());
        const auto unequal = m_directory.pick("cuda", Keys{"1", "3"});
        QVERIFY(!unequal && unequal.error().code == Errc::InvalidArgument);
        QVERIFY2(unequal.error().message.find("h100") != std::string::npos
                     && unequal.error().message.find("a100") != std::string::npos,
                 unequal.error().message.c_str());
    }

    void whatIsOpenedIsOfOneClass()
    {
        QCOMPARE(must(classOf(std::vector<DeviceIdentity>{{"a", "1"}, {"a", "2"}})), std::string("a"));
        QVERIFY(classOf(std::vector<DeviceIdentity>{{"a", "1"}, {"b", "1"}}).error().code == Errc::InvalidArgument);
        QVERIFY(classOf({}).error().code == Errc::NotFound);
    }

    void whatBackEndsListCanBePicked()
    {
        const DeviceDirectory here = DeviceDirectory::ask();
        const auto twins = here.forTarget("sim");
        QCOMPARE(keysOf(twins), (Keys{"left", "right", "odd"}));
        QCOMPARE(twins[0].deviceKey, twins[1].deviceKey);
        QVERIFY(twins[0].deviceKey != twins[2].deviceKey);
        QCOMPARE(keysOf(must(here.pick("sim", Keys{twins[0].deviceKey}))), (Keys{"left", "right"}));
        // What people look for is named.
        QVERIFY(std::any_of(here.all().begin(), here.all().end(), [](const DeviceView& view) {
            return view.kind == "cuda" && !view.ready() && !view.reason().empty();
        }));
    }

    void everyRecordNamesTheDeviceThatMeasuredIt()
    {
        TuneOptions options = few(48);
        options.policy = "sketch";
        options.runoff = "on";
        options.devices = {"left", "right"};
        Watcher().run(*open("twins.lathe"), options);
        const auto project = reader("twins.lathe");
        std::map<std::string, int> measured; // by what the device is called
        std::set<std::string> classes;
        for (const Record& record : must(project.sessionRecords(1))) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            const DeviceIdentity& by = record.result.device;
            QVERIFY(by == identityOf(by.fingerprint));
            ++measured[by.fingerprint.find("\"left\"") != std::string::npos    ? "left"
                       : by.fingerprint.find("\"right\"") != std::string::npos ? "right"
                                                                               : by.fingerprint];
            classes.insert(by.key);
        }
        QCOMPARE(measured.size(), std::size_t{2});
        QVERIFY2(measured["left"] > 4 && measured["right"] > 4,
                 qPrintable(QStringLiteral("%1, %2").arg(measured["left"]).arg(measured["right"])));
        QCOMPARE(classes.size(), std::size_t{1});
        // They compete with each other: one figure for each task, whoever measured it.
        const auto conditions = must(project.conditions("sim"));
        QCOMPARE(conditions.size(), std::size_t{1});
        QCOMPARE(conditions[0].deviceKey, *classes.begin());
    }

    void devicesThatShareCoresMeasureInTurns()
    {
        qputenv("LATHE_TWIN_LOCK", file("lock").c_str());
        measure::MeasurerOptions some;
        some.target = "sim";
        some.devices = {{"sim", "left", ""}, {"sim", "right", ""}};
        QCOMPARE(must(measure::Measurer::create(some))->measuringAtOnce(), std::size_t{1});
        TuneOptions options = few(24);
        options.policy = "random";
        Watcher().run(*open("turns.lathe"), options);
        qunsetenv("LATHE_TWIN_LOCK");
        QCOMPARE(must(measure::Measurer::create(some))->measuringAtOnce(), std::size_t{2});
        int left = 0, right = 0;
        for (const Record& record : must(reader("turns.lathe").sessionRecords(1))) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            left += record.result.device.fingerprint.find("\"left\"") != std::string::npos;
            right += record.result.device.fingerprint.find("\"right\"") != std::string::npos;
        }
        QVERIFY2(left >= 12 && std::abs(left - right) <= 1, qPrintable(QStringLiteral("%1, %2").arg(left).arg(right)));
    }

    void aResultThatNeverGotToADeviceNamesNone()
    {
        std::ofstream(file("faults.json"))
            << R"({"rules": [{"fault": "build-failed", "ordinal": 3}, {"fault": "crash", "ordinal": 4}]})";
        TuneOptions options = few(8);
        options.devices = {"left"};
        Watcher().run(*open("failed.lathe", "sim -script=" + file("faults.json").string()), options);
        int built = 0, ran = 0;
        for (const Record& record : searched(reader("failed.lathe"))) {
            built += record.result.stage == TrialStage::Build && record.result.device == DeviceIdentity();
            ran += record.result.code == Errc::WorkerCrashed
                   && record.result.device.fingerprint.find("\"left\"") != std::string::npos;
        }
        QCOMPARE(built, 1);
        QCOMPARE(ran, 1);
    }

    void aRunOnUnequalDevicesOrOnNoneIsRefused()
    {
        const std::pair<Keys, const char*> cases[] = {{{"left", "odd"}, "cannot be compared"},
                                                      {{"middle"}, "available: left, right, odd"}};
        for (const auto& [keys, says] : cases) {
            TuneOptions options = few(8);
            options.devices = keys;
            const Watcher watcher(*open("refused.lathe"), options);
            QVERIFY(watcher.all<TrialEvent>().empty());
            const StateEvent last = watcher.all<StateEvent>().back();
            QVERIFY(last.state == RunState::Failed);
            QVERIFY2(last.text.find(says) != std::string::npos, last.text.c_str());
        }
    }

    void whatIsMeasuredAgainNamesItsDeviceToo()
    {
        TuneOptions options = few(8);
        options.devices = {"right"};
        const auto session = open("again.lathe");
        Watcher().run(*session, options);
        const std::vector<std::string> trials = {searched(reader("again.lathe")).front().trial};
        const auto again = must(session->project()->remeasure(trials, {}, {}, {}));
        QCOMPARE(again.size(), std::size_t{1});
        const Record record = must(reader("again.lathe").record(again[0].trial));
        QVERIFY(record.result.device.fingerprint.find("\"right\"") != std::string::npos);
        QVERIFY(record.result.device == identityOf(record.result.device.fingerprint));
    }

    void aSelfTestIsOfTheDeviceThatWasAskedFor()
    {
        QCOMPARE(must(selfTestDevice("sim", "odd")).device, std::string("Simulated device"));
        QVERIFY(selfTestDevice("sim", "middle").error().message.find("middle") != std::string::npos);
    }
};

LATHE_TEST_GUILESS(TestDevices)

} // namespace tst_devices

#include "tst_devices.moc"
