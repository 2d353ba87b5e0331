#include "core/support/element_count.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>
#include <vector>

namespace tst_element_count {

using namespace lathe;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

class TestElementCount : public QObject
{
    Q_OBJECT

private slots:
    void isTheProductOfTheExtents()
    {
        QCOMPARE(elementCount(Shape{}), 1);
        QCOMPARE(elementCount(Shape{7}), 7);
        QCOMPARE(elementCount(Shape{2, 3, 4}), 24);
        QCOMPARE(elementCount(Shape{2, 0, 4}), 0);
        QCOMPARE(elementCount(Shape{kLargest, 1}), kLargest);
        QCOMPARE(checkedElementCount(Shape{2, 3, 4}), std::optional<std::int64_t>(24));
    }

    void absurdShapesHaveNone()
    {
        QVERIFY(checkedElementCount(Shape{kMostElements}));
        QVERIFY(!checkedElementCount(Shape{kMostElements, 2}));
        QVERIFY(!checkedElementCount(Shape{3, -1}));
        QVERIFY(!checkedElementCount(Shape{0, -1}));
        QVERIFY(!checkedElementCount(Shape{std::numeric_limits<std::int64_t>::min()}));
        QVERIFY(!checkedElementCount(Shape{kLargest, kLargest}, kLargest));
        // Whatever stands beside a zero, in either order.
        QVERIFY(!checkedElementCount(Shape{0, kLargest, kLargest}, kLargest));
        QVERIFY(!checkedElementCount(Shape{kLargest, kLargest, 0}, kLargest));
        QVERIFY(checkedElementCount(Shape{0, kMostElements}));
        QCOMPARE(checkedElementCount(Shape{10, 10}, 100), std::optional<std::int64_t>(100));
        QVERIFY(!checkedElementCount(Shape{10, 10}, 99));
    }
};

LATHE_TEST(TestElementCount)

} // namespace tst_element_count

#include "tst_element_count.moc"
