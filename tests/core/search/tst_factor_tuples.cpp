#include "core/search/factor_tuples.h"
#include "tests/support/test_program.h"

#include <QTest>

namespace tst_factor_tuples {

using namespace lathe::search;

class TestFactorTuples : public QObject
{
    Q_OBJECT

private slots:
    void countsAreTheReferences_data()
    {
        QTest::addColumn<int>("extent");
        QTest::addColumn<QList<int>>("counts"); // of 4, 3, 2 and 1 lengths
        QTest::newRow("7") << 7 << QList<int>{5, 4, 3, 2};
        QTest::newRow("14") << 14 << QList<int>{25, 16, 9, 4};
        QTest::newRow("28") << 28 << QList<int>{75, 40, 18, 6};
        QTest::newRow("56") << 56 << QList<int>{175, 80, 30, 8};
        QTest::newRow("112") << 112 << QList<int>{349, 139, 44, 9};
        QTest::newRow("64") << 64 << QList<int>{210, 84, 28, 7};
        QTest::newRow("128") << 128 << QList<int>{329, 119, 35, 7};
        QTest::newRow("256") << 256 << QList<int>{490, 161, 42, 7};
        QTest::newRow("512") << 512 << QList<int>{700, 210, 49, 7};
    }
    void countsAreTheReferences()
    {
        QFETCH(int, extent);
        QFETCH(QList<int>, counts);
        for (int parts = 4; parts >= 1; --parts)
            QCOMPARE(FactorTuples(extent, parts, 64).count(), counts[4 - parts]);
    }

    void indexAndTupleAreInverse()
    {
        const auto table = FactorTuples::get(112, 3, 64);
        for (std::int32_t i = 0; i < table->count(); ++i) {
            const auto tuple = table->tuple(i);
            QCOMPARE(table->indexOf(tuple), i);
            QCOMPARE(112 % (tuple[0] * tuple[1] * tuple[2]), 0);
            QVERIFY(tuple[2] <= 64);
        }
        const std::int64_t wrong[] = {3, 1, 1}, shorter[] = {1, 1};
        QCOMPARE(table->indexOf(wrong), -1);
        QCOMPARE(table->indexOf(shorter), -1);
        QVERIFY(FactorTuples::get(112, 3, 64) == table);
    }

    void divisorsAscend() { QCOMPARE(divisors(36), (std::vector<std::int64_t>{1, 2, 3, 4, 6, 9, 12, 18, 36})); }
};

LATHE_TEST(TestFactorTuples)

} // namespace tst_factor_tuples

#include "tst_factor_tuples.moc"
