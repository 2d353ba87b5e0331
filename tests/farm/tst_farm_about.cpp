#include "core/session/farm_about.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_farm_about {

using namespace lathe::session;

namespace {

FarmDeviceView read(const std::string& about)
{
    FarmDeviceView view;
    readAbout(about, view);
    return view;
}

} // namespace

/// What devices of a farm say of themselves.
class TestFarmAbout : public QObject
{
    Q_OBJECT

private slots:
    void whatItSaysIsTaken()
    {
        const FarmDeviceView view = read(R"({"host": "board7", "version": "0.1.0", "machine": "b00", "devices": [
            {"kind": "cpu", "key": "cpu", "name": "A72", "device_key": "cpu-1",
             "hardware": {"l2_bytes": {"value": 4096, "origin": "detected"}, "odd": {"value": "many"}, "bare": 3}}, {"kind": "opencl", "key": "cl0"}],
            "health": {"load": 0.3, "memory_free_mb": 8123, "temperature_c": 51.0, "clock_mhz": 2400},
            "last_error": "the kernel hung", "trials": 123})");
        QCOMPARE(view.host, std::string("board7"));
        QCOMPARE(view.version, std::string("0.1.0"));
        QCOMPARE(view.machine, std::string("b00"));
        QCOMPARE(view.lastError, std::string("the kernel hung"));
        QCOMPARE(view.trials, std::int64_t(123));
        QCOMPARE(view.parts.size(), std::size_t(2));
        QCOMPARE(view.parts[0].deviceKey, std::string("cpu-1"));
        QCOMPARE(view.parts[1].key, std::string("cl0"));
        QCOMPARE(view.parts[0].hardware, std::string(R"({"l2_bytes":4096})"));
        QCOMPARE(view.parts[1].hardware, std::string());
        QCOMPARE(view.health.size(), std::size_t(4));
        QCOMPARE(view.health.at("memory_free_mb"), 8123.0);
    }

    void whatIsNoneIsLeftOut_data()
    {
        QTest::addColumn<QByteArray>("about");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("host");
        QTest::newRow("a list") << QByteArray("[1]");
        QTest::newRow("an empty object") << QByteArray("{}");
        QTest::newRow("nulls") << QByteArray(
            R"({"host": null, "version": null, "devices": null, "health": null, "trials": null})");
        QTest::newRow("other kinds") << QByteArray(
            R"({"host": 1, "version": [], "devices": {"a": 1}, "health": [1], "last_error": {}, "trials": "many"})");
        QTest::newRow("devices that are none") << QByteArray(R"({"devices": [1, "cpu", null, [], true]})");
        QTest::newRow("figures that are none") << QByteArray(R"({"health": {"load": "high", "clock_mhz": null}})");
        QTest::newRow("fewer trials than none") << QByteArray(R"({"trials": -5})");
        QTest::newRow("too many trials") << QByteArray(R"({"trials": 18446744073709551615})");
        QTest::newRow("deep") << QByteArray(60000, '[');
    }
    void whatIsNoneIsLeftOut()
    {
        QFETCH(QByteArray, about);
        const FarmDeviceView view = read(about.toStdString());
        QVERIFY(view.host.empty() && view.version.empty() && view.machine.empty() && view.lastError.empty());
        QVERIFY(view.parts.empty() && view.health.empty());
        QCOMPARE(view.trials, std::int64_t(0));
    }

    void listsHaveAnEnd()
    {
        std::string devices, health;
        for (int i = 0; i < 5000; ++i) {
            devices += std::string(i == 0 ? "" : ",") + "{}";
            health += std::string(i == 0 ? "" : ",") + "\"" + std::to_string(i) + "\": 1";
        }
        const FarmDeviceView view = read("{\"devices\": [" + devices + "], \"health\": {" + health + "}}");
        QVERIFY(view.parts.size() <= 100 && view.health.size() <= 100);
    }

    /// A device must not write over what the terminal shows of others.
    void textsAreOneLineThatNoTerminalObeys()
    {
        const std::string about = "{\"host\": \"a\\u001b[2J\\nb\\u0007\\u009b1m\"}";
        QCOMPARE(read(about).host, std::string("a [2J b  1m"));
        QCOMPARE(onOneLine("x\xE2\x80\xAEy"), std::string("x y")); // right to left
        QCOMPARE(onOneLine("\xE6\x9D\xBF 7 \xC2\xB0"), std::string("\xE6\x9D\xBF 7 \xC2\xB0"));
    }

    void longTextsAreCutBetweenLetters()
    {
        std::string text;
        for (int i = 0; i < 1000; ++i)
            text += "\xE6\x9D\xBF";
        const std::string line = onOneLine(text);
        QCOMPARE(line.size(), std::size_t(255));
        QVERIFY(QString::fromStdString(line).count(QChar::ReplacementCharacter) == 0);
    }
};

LATHE_TEST(TestFarmAbout)

} // namespace tst_farm_about

#include "tst_farm_about.moc"
