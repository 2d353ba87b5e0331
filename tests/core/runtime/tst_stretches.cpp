#include "core/runtime/stretches.h"
#include "tests/support/late_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>
#include <vector>

namespace tst_stretches {

using namespace lathe;
using namespace lathe::runtime;

namespace {

struct Stretch
{
    std::uint64_t offset, bytes;
};

bool overlap(const Stretch& a, const Stretch& b)
{
    return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

} // namespace

class TestStretches : public QObject
{
    Q_OBJECT

private slots:
    void thoseThatOverlapShareABuffer()
    {
        const int before = late::device().pieces;
        {
            ErrorText error;
            Stretches stretches;
            QCOMPARE(stretches.reserve(4, error), Status::Ok);
            stretches.add(0, 64);
            stretches.add(0, 128); // begins at one place with the first
            stretches.add(32, 256);
            stretches.add(1024, 16);
            QCOMPARE(stretches.allocate(late::driver(), nullptr, error), Status::Ok);
            QCOMPARE(late::device().pieces, before + 2);
            QVERIFY(stretches.at(0) != nullptr && stretches.at(0) == stretches.at(32));
            QVERIFY(stretches.at(1024) != nullptr && stretches.at(1024) != stretches.at(0));
            QVERIFY(stretches.at(1) == nullptr && stretches.at(2048) == nullptr);
            QCOMPARE(late::of(stretches.at(0))->bytes, std::size_t{256});
        }
        QCOMPARE(late::device().pieces, before);
    }

    /// What is in use at one time lies apart in the plan, and gets memory apart, large enough.
    void thoseThatLieApartNeverShareOne()
    {
        std::mt19937 random(5);
        for (int round = 0; round < 300; ++round) {
            std::vector<Stretch> all(1 + random() % 40);
            ErrorText error;
            Stretches stretches;
            QCOMPARE(stretches.reserve(all.size(), error), Status::Ok);
            for (Stretch& s : all) {
                s = {random() % 64, 1 + random() % 32};
                stretches.add(s.offset, s.bytes);
            }
            QCOMPARE(stretches.allocate(late::driver(), nullptr, error), Status::Ok);
            for (const Stretch& a : all) {
                QVERIFY(stretches.at(a.offset) != nullptr && late::of(stretches.at(a.offset))->bytes >= a.bytes);
                for (const Stretch& b : all)
                    if (a.offset != b.offset && !overlap(a, b))
                        QVERIFY(stretches.at(a.offset) != stretches.at(b.offset));
            }
        }
    }

    void aDeviceWithoutRoomIsTold()
    {
        const int before = late::device().pieces;
        late::device().most = 100;
        {
            ErrorText error;
            Stretches stretches;
            QCOMPARE(stretches.reserve(2, error), Status::Ok);
            stretches.add(0, 50);
            stretches.add(64, 101);
            QCOMPARE(stretches.allocate(late::driver(), nullptr, error), Status::NoMemory);
            QVERIFY(QByteArray(error.text).contains("101 bytes"));
        }
        late::device().most = SIZE_MAX;
        QCOMPARE(late::device().pieces, before);
    }
};

LATHE_TEST_GUILESS(TestStretches)

} // namespace tst_stretches

#include "tst_stretches.moc"
