#include "core/wire/known_blobs.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_known_blobs {

using namespace lathe;
using wire::KnownBlobs;

class TestKnownBlobs : public QObject
{
    Q_OBJECT

private slots:
    void nothingIsSentTwice()
    {
        KnownBlobs known;
        QVERIFY(known.add({1, 2}));
        QVERIFY(!known.add({1, 2}));
        QVERIFY(known.has({1, 2}) && !known.has({2, 1}));
        known.forget({1, 2});
        QVERIFY(known.add({1, 2}));
    }

    void whatIsKnownIsBounded()
    {
        KnownBlobs known;
        for (std::uint64_t i = 0; i < KnownBlobs::kMost; ++i)
            QVERIFY(known.add({0, i}));
        QVERIFY(!known.add({0, 0})); // which makes no room for itself
        QVERIFY(known.has({0, KnownBlobs::kMost - 1}));
        QVERIFY(known.add({1, 0}));
        QVERIFY(known.has({1, 0}) && !known.has({0, 0}));
    }
};

LATHE_TEST(TestKnownBlobs)

} // namespace tst_known_blobs

#include "tst_known_blobs.moc"
