#include "core/support/json_fields.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tst_json_fields {

using namespace lathe;
using nlohmann::json;

class TestJsonFields : public QObject
{
    Q_OBJECT

private slots:
    void whatIsThereIsRead()
    {
        const json object = json::parse(
            R"({"n": 1.5, "w": 7, "f": true, "t": "word", "p": {"a": 1, "b": "x", "c": 2}})");
        QCOMPARE(numberIn(object, "n"), 1.5);
        QCOMPARE(numberIn(object, "w"), 7.0);
        QCOMPARE(wholeIn(object, "w"), std::int64_t{7});
        QVERIFY(flagIn(object, "f"));
        QCOMPARE(textIn(object, "t"), std::string("word"));
        QCOMPARE(numbersIn(partIn(object, "p")), (std::map<std::string, double>{{"a", 1}, {"c", 2}}));
    }

    void whatIsAbsentOrOfAnotherKindIsTheFallback_data()
    {
        QTest::addColumn<QByteArray>("text");
        for (const char* text : {"{}", R"({"x": null})", R"({"x": [1]})", "[1]", "3", "null", "{", "\"x\""})
            QTest::newRow(text) << QByteArray(text);
    }
    void whatIsAbsentOrOfAnotherKindIsTheFallback()
    {
        QFETCH(QByteArray, text);
        const json value = json::parse(text.toStdString(), nullptr, false);
        QVERIFY(std::isnan(numberIn(value, "x")));
        QCOMPARE(numberIn(value, "x", 2), 2.0);
        QCOMPARE(wholeIn(value, "x", -3), std::int64_t{-3});
        QVERIFY(!flagIn(value, "x"));
        QCOMPARE(textIn(value, "x", "else"), std::string("else"));
        QVERIFY(partIn(value, "x").is_object() && partIn(value, "x").empty());
    }

    void wholeNumbersThatDoNotFitAreNotTaken()
    {
        QCOMPARE(wholeIn(json::parse(R"({"x": 18446744073709551615})"), "x"), std::int64_t{0});
        QCOMPARE(wholeIn(json::parse(R"({"x": 1.5})"), "x", 4), std::int64_t{4});
        QCOMPARE(wholeIn(json::parse(R"({"x": -9223372036854775808})"), "x"), std::numeric_limits<std::int64_t>::min());
    }
};

LATHE_TEST(TestJsonFields)

} // namespace tst_json_fields

#include "tst_json_fields.moc"
