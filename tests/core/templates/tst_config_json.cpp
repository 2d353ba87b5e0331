#include "core/support/random.h"
#include "core/templates/config_json.h"
#include "core/templates/config_space.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <cstring>

namespace tst_config_json {

using namespace lathe;
using namespace lathe::templates;
using lathe::test::must;

namespace {

Result<Config> read(std::string_view text)
{
    LATHE_TRY_ASSIGN(const JsonValue json, parseJson(text));
    return configFromJson(json);
}

} // namespace

class TestConfigJson : public QObject
{
    Q_OBJECT

private slots:
    void aConfigurationIsWrittenAsTheReferenceDoes_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("splits and a flag")
            << QByteArray(R"({"index": 279, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 64]], )"
                          R"(["tile_oc", "sp", [-1, 16]], ["tile_ow", "sp", [4, 14]], ["unroll_kw", "ot", true]]})");
        QTest::newRow("orders and marks")
            << QByteArray(R"({"index": 0, "code_hash": null, "entity": [["reorder_0", "re", [0, 2, 1]], )"
                          R"(["ann", "an", ["none", "unroll", "vec"]], ["cache", "an", [0, 3]]]})");
        QTest::newRow("options of all kinds")
            << QByteArray(R"({"index": 3, "code_hash": "0x12ab", "entity": [["a", "ot", 1500], ["b", "ot", -0.5], )"
                          R"(["c", "ot", "f16"], ["d", "ot", null], ["e", "ot", false], ["f", "ot", 1e-05]]})");
        QTest::newRow("all marks") << QByteArray(
            R"({"index": 1, "code_hash": null, "entity": [["m", "an", ["fuse", "blockIdx.z", )"
            R"("blockIdx.y", "blockIdx.x", "vthread", "threadIdx.z", "threadIdx.y", "threadIdx.x"]]]})");
        QTest::newRow("nothing to choose") << QByteArray(R"({"index": 0, "code_hash": null, "entity": []})");
        QTest::newRow("the last index") << QByteArray(
            R"({"index": 9223372036854775807, "code_hash": null, "entity": []})");
        QTest::newRow("no index") << QByteArray(R"({"index": null, "code_hash": null, "entity": []})");
    }
    void aConfigurationIsWrittenAsTheReferenceDoes()
    {
        QFETCH(QByteArray, text);
        QCOMPARE(QByteArray::fromStdString(jsonText(configToJson(must(read(text.toStdString()))))), text);
    }

    void hostileConfigurationsAreRefusedWithThePlace_data()
    {
        QTest::addColumn<QByteArray>("entity");
        QTest::addColumn<QByteArray>("place");
        const auto row = [](const char* name, const char* entity, const char* place) {
            QTest::newRow(name) << QByteArray(entity) << QByteArray(place);
        };
        row("no list", "7", "config.entity is");
        row("an object", R"({"tile": [1]})", "config.entity is");
        row("a knob that is no list", "[7]", "config.entity[0]");
        row("a knob of two", R"([["a", "sp"]])", "config.entity[0]");
        row("a kind that does not exist", R"([["a", "xx", [1]]])", "config.entity[0]");
        row("a name that is a number", R"([[1, "sp", [1]]])", "config.entity[0]");
        row("no name", R"([["", "sp", [1]]])", "config.entity[0][0]");
        row("a knob twice", R"([["a", "ot", 1], ["a", "ot", 2]])", "config.entity[1][0]");
        row("a split without sizes", R"([["a", "sp", []]])", "config.entity[0]");
        row("a split of texts", R"([["a", "sp", ["4"]]])", "config.entity[0]");
        row("a split of fractions", R"([["a", "sp", [-1, 4.0]]])", "config.entity[0]");
        row("a negative factor", R"([["a", "sp", [-1, -4]]])", "config.entity[0]");
        row("a first size of -2", R"([["a", "sp", [-2, 4]]])", "config.entity[0]");
        row("a size of nothing", R"([["a", "sp", [-1, 0]]])", "config.entity[0]");
        row("a size of 2^31", R"([["a", "sp", [-1, 2147483648]]])", "config.entity[0]");
        row("a size beyond 64 bits", R"([["a", "sp", [-1, 99999999999999999999999]]])", "config.entity[0]");
        row("a size between 63 and 64 bits", R"([["a", "sp", [-1, 9223372036854775808]]])", "config.entity[0]");
        row("an order that leaves one out", R"([["a", "re", [0, 2]]])", "config.entity[0]");
        row("an order with one twice", R"([["a", "re", [0, 0]]])", "config.entity[0]");
        row("an order of a negative axis", R"([["a", "re", [0, -1]]])", "config.entity[0]");
        row("an unknown mark", R"([["a", "an", ["spin"]]])", "config.entity[0]");
        row("a mark among axes", R"([["a", "an", [0, "vec"]]])", "config.entity[0]");
        row("an axis of a million", R"([["a", "an", [1000000]]])", "config.entity[0]");
        row("an option that is a list", R"([["a", "ot", [1]]])", "config.entity[0]");
        row("an option that is an object", R"([["a", "ot", {}]])", "config.entity[0]");
    }
    void hostileConfigurationsAreRefusedWithThePlace()
    {
        QFETCH(QByteArray, entity);
        QFETCH(QByteArray, place);
        const Result<Config> config = read(R"({"index": 0, "code_hash": null, "entity": )" + entity.toStdString()
                                           + "}");
        QVERIFY(!config);
        QVERIFY(config.error().code == Errc::BadFile);
        QVERIFY2(config.error().message.starts_with(place.toStdString()), config.error().message.c_str());
    }

    void damagedConfigurationsAreRefused()
    {
        for (const char* text :
             {"[]", "null", "{}", R"({"index": -1, "entity": []})", R"({"index": 1.5, "entity": []})",
              R"({"index": 9223372036854775808, "entity": []})", R"({"index": "1", "entity": []})",
              R"({"index": 1, "code_hash": [], "entity": []})", R"({"index": 1})"})
            QVERIFY2(!read(text), text);
        std::string many = R"({"index": 0, "entity": [)";
        for (int i = 0; i < 300; ++i)
            many += (i == 0 ? "[\"k" : ", [\"k") + std::to_string(i) + "\", \"ot\", 1]";
        QVERIFY(!read(many + "]}"));
    }

    void textThatIsNoJsonIsRefused()
    {
        for (const std::string& text :
             {std::string(), std::string("{"), std::string("[1,]"), std::string("nul"), std::string("[1] 2"),
              std::string("NaN"), std::string("[1e999]"), std::string("[\"\xff\"]")})
            QCOMPARE(parseJson(text).error().message, std::string("not JSON"));
        QCOMPARE(parseJson(std::string("[1]\0x", 5)).error().message, std::string("binary data"));
        QCOMPARE(parseJson(std::string(1'000'000, '[')).error().message,
                 std::string("JSON nested deeper than any record"));
        std::string wide = "[0";
        for (int i = 0; i < 70'000; ++i)
            wide += ",0";
        QVERIFY(parseJson(wide + "]").error().code == Errc::BadFile);
        QVERIFY(parseJson(std::string(64, '[') + std::string(64, ']')));
        QVERIFY(!parseJson(std::string(65, '[') + std::string(65, ']')));
    }

    /// As Python's repr(): checked with Python by hand.
    void numbersAreSpeltAsPythonDoes_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QByteArray>("text");
        const auto row = [](double value, const char* text) { QTest::newRow(text) << value << QByteArray(text); };
        row(0.0, "0.0");
        row(-0.0, "-0.0");
        row(1.0, "1.0");
        row(0.1, "0.1");
        row(0.00041, "0.00041");
        row(0.0001, "0.0001");
        row(0.00001, "1e-05");
        row(1.2345e-7, "1.2345e-07");
        row(1e9, "1000000000.0");
        row(1660000000.5, "1660000000.5");
        row(1e15, "1000000000000000.0");
        row(1e16, "1e+16");
        row(1.5e16, "1.5e+16");
        row(1.2345678901234567e17, "1.2345678901234566e+17");
        row(1e100, "1e+100");
        row(5e-324, "5e-324");
        row(1.7976931348623157e308, "1.7976931348623157e+308");
        row(-2.5, "-2.5");
        row(123456.789, "123456.789");
    }
    void numbersAreSpeltAsPythonDoes()
    {
        QFETCH(double, value);
        QFETCH(QByteArray, text);
        QCOMPARE(QByteArray::fromStdString(pythonDigits(value)), text);
    }

    void spelledNumbersReadAsTheSame()
    {
        Random random(20'260'401);
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t bits = random.next();
            double value = 0;
            std::memcpy(&value, &bits, sizeof value);
            if (!std::isfinite(value))
                continue;
            const std::string text = pythonDigits(value);
            const JsonValue back = must(parseJson(text));
            QVERIFY2(std::get<Real>(back.value).value == value, text.c_str());
            QVERIFY2(jsonText(back) == text && std::get<Real>(back.value).spelling.empty(), text.c_str());
        }
    }

    void textIsEscapedAsPythonDoes()
    {
        const std::string text =
            "[\"a\\\"b\\\\c\", \"\\n\\r\\t\\b\\f\\u0001\\u007f\", \"\\u00e9\\u6a21\\ud83d\\ude00\", \"/\"]";
        QCOMPARE(jsonText(must(parseJson(text))), text);
        QCOMPARE(jsonText(must(parseJson("[1, {\"a\": [], \"b\": {}}]")), JsonStyle::Compact),
                 std::string(R"([1,{"a":[],"b":{}}])"));
    }
};

LATHE_TEST(TestConfigJson)

} // namespace tst_config_json
#include "tst_config_json.moc"
