#include "core/deploy/estimate_parts.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

namespace tst_estimate_parts {

using namespace lathe::deploy;

/// What a network should take, in parts: they add up, and survive being written down.
class TestEstimateParts : public QObject
{
    Q_OBJECT

private slots:
    void partsAddUp()
    {
        const EstimateParts parts{4, -0.5, 0.25, 0.125};
        QCOMPARE(parts.totalMs(), 3.875);
        QVERIFY(std::isnan(EstimateParts().totalMs()));
        QVERIFY(std::isnan(EstimateParts({1, 1, 1}).totalMs()));
    }

    void theyAreReadBackAsWritten()
    {
        const EstimateParts parts{4, -0.5, 0.25, 0.125};
        const auto json = toJson(parts);
        QCOMPARE(json["with_overheads"].get<double>(), 3.875);
        const EstimateParts again = estimatePartsIn(nlohmann::json::parse(json.dump()));
        QCOMPARE(again.tasksMs, 4.0);
        QCOMPARE(again.chainMs, -0.5);
        QCOMPARE(again.untunedMs, 0.25);
        QCOMPARE(again.callMs, 0.125);
        const auto unknown = toJson({1});
        QVERIFY(unknown["chain"].is_null() && unknown["with_overheads"].is_null());
        QCOMPARE(estimatePartsIn(nlohmann::json::parse(unknown.dump())).tasksMs, 1.0);
    }

    void whatIsDamagedIsUnknown()
    {
        for (const char* text :
             {"3", "[]", "{}", "null", R"({"tasks": "long", "chain": [1], "untuned": null, "call": {}})"}) {
            const EstimateParts parts = estimatePartsIn(nlohmann::json::parse(text));
            QVERIFY2(std::isnan(parts.tasksMs) && std::isnan(parts.chainMs) && std::isnan(parts.untunedMs)
                         && std::isnan(parts.callMs),
                     text);
        }
    }

    void peopleSeeTheSignOfTheChain()
    {
        QCOMPARE(toText({4, 0.5, 0.25, 0.125}),
                 std::string("4.875 ms: tasks 4.000, chain +0.500, untuned functions 0.250, call 0.125"));
        QCOMPARE(toText({4, -0.5, 0.25, 0.125}),
                 std::string("3.875 ms: tasks 4.000, chain -0.500, untuned functions 0.250, call 0.125"));
        QCOMPARE(toText({}), std::string("unknown"));
    }
};

LATHE_TEST(TestEstimateParts)

} // namespace tst_estimate_parts

#include "tst_estimate_parts.moc"
