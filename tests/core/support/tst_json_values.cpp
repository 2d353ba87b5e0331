#include "core/support/json_fields.h"
#include "core/support/json_values.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QtTest>

#include <cstdint>

namespace tst_json_values {

using namespace lathe;
using nlohmann::json;

/// What a value of JSON may be read as: the one set of rules of all readers.
class TestJsonValues : public QObject
{
    Q_OBJECT

    template<typename T>
    static bool isTaken(const char* text, T expected)
    {
        T out{};
        return takeJson(json::parse(text), out) && out == expected;
    }
    /// And `out` keeps what it had.
    template<typename T>
    static bool isRefused(const char* text, T kept)
    {
        T out = kept;
        return !takeJson(json::parse(text), out) && out == kept;
    }

private slots:
    void wholeNumbersFitTheirType()
    {
        QVERIFY(isTaken("-128", std::int8_t(-128)));
        QVERIFY(isRefused("128", std::int8_t(5)));
        QVERIFY(isRefused("-1", std::uint32_t(5)));
        QVERIFY(isTaken("18446744073709551615", ~std::uint64_t(0)));
        QVERIFY(isRefused("18446744073709551615", std::int64_t(5)));
        QVERIFY(isRefused("9223372036854775808", std::int64_t(5)));
        QVERIFY(isTaken("-9223372036854775808", INT64_MIN));
        QVERIFY(isRefused("1.0", std::int64_t(5)));
        QVERIFY(isRefused("true", std::int64_t(5)));
        QVERIFY(isRefused("\"1\"", std::int64_t(5)));
        QVERIFY(isRefused("null", std::int64_t(5)));
    }

    void nothingIsConverted()
    {
        QVERIFY(isTaken("true", true));
        QVERIFY(isRefused("1", true));
        QVERIFY(isTaken("1", 1.0));
        QVERIFY(isTaken("2.5", 2.5));
        QVERIFY(isRefused("false", 2.5));
        QVERIFY(isTaken("\"a\"", std::string("a")));
        QVERIFY(isRefused("1", std::string("a")));
    }

    void listsAreTakenWholeOrNotAtAll()
    {
        QVERIFY(isTaken("[1, 2]", std::vector<std::int32_t>{1, 2}));
        QVERIFY(isTaken("[]", std::vector<std::int32_t>{}));
        QVERIFY(isRefused("[1, 2147483648]", std::vector<std::int32_t>{7}));
        QVERIFY(isRefused("{\"a\": 1}", std::vector<std::int32_t>{7}));
        using Shapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
        QVERIFY(isTaken(R"([["x", [1, 3]], ["y", []]])", Shapes{{"x", {1, 3}}, {"y", {}}}));
        QVERIFY(isRefused(R"([["x", [1, 3], 2]])", Shapes{{"x", {}}}));
    }

    void membersThatAreOffReadAsTheFallback()
    {
        const json object = json::parse(R"({"n": 3, "t": "x", "o": {"a": 1}, "huge": 18446744073709551615})");
        QCOMPARE(wholeIn(object, "n"), std::int64_t(3));
        QCOMPARE(wholeIn(object, "huge", 9), std::int64_t(9));
        QCOMPARE(wholeIn(object, "t", 9), std::int64_t(9));
        QCOMPARE(wholeIn(json(3), "n", 9), std::int64_t(9));
        QCOMPARE(textIn(object, "t"), std::string("x"));
        QCOMPARE(textIn(object, "n", "none"), std::string("none"));
        QVERIFY(partIn(object, "o").contains("a") && partIn(object, "n").empty());
        std::int32_t n = 0;
        QVERIFY(takeMember(object, "n", n) && n == 3);
        QVERIFY(!takeMember(object, "huge", n) && !takeMember(object, "none", n) && !takeMember(json(3), "n", n)
                && n == 3);
    }

    /// Ranges of whole numbers are looked at in one place (compute DAGs and workload keys read bits and hashes).
    void readersShareThem()
    {
        QDirIterator it(QStringLiteral(LATHE_SOURCE_DIR) + "/core", {"*.cpp", "*.h"}, QDir::Files,
                        QDirIterator::Subdirectories);
        int files = 0;
        while (it.hasNext()) {
            QFile file(it.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            ++files;
            if (file.fileName().contains("/core/support/") || file.fileName().contains("/core/compute/"))
                continue;
            QVERIFY2(!file.readAll().contains("is_number_unsigned"),
                     qPrintable(file.fileName() + " has a range check of its own"));
        }
        QVERIFY(files > 300);
    }
};

LATHE_TEST(TestJsonValues)

} // namespace tst_json_values

#include "tst_json_values.moc"
