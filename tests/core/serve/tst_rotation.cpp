#include "core/serve/rotation.h"
#include "tests/support/memory_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>
#include <vector>

namespace tst_rotation {

using namespace lathe;

namespace {

const LatheDeviceApi kMemory = test::memoryDevice("memory");

} // namespace

/// Constants that are somewhere else each time.
class TestRotation : public QObject
{
    Q_OBJECT

    /// A constant of 256 numbers.
    static ArgSpec kilobyte()
    {
        ArgSpec weights{"w", ArgRole::Constant, DType::F32, {}};
        weights.map.logicalRank = weights.map.physicalRank = 1;
        weights.map.logicalShape[0] = weights.map.axes[0].extent = 256;
        return weights;
    }

private slots:
    void aFewAtATimeGoAroundAllOfThem()
    {
        const auto device = serve::Device::open(&kMemory, "one", "");
        QVERIFY(device);
        const ArgSpec weights = kilobyte();
        int own = 0;
        void* buffers[] = {&own};
        const LatheLaunch launch{nullptr, 0, buffers, 1, 1};
        const std::vector<ArgSpec> parameters = {weights};
        serve::Rotation rotation;
        std::vector<void*> seen;
        for (int trial = 0; trial < 5; ++trial) { // each of another kernel, with constants of this size
            const auto all = rotation.around(**device, launch, parameters, 8 * 1024);
            QVERIFY(all);
            QCOMPARE(all->size(), std::size_t{8});
            QCOMPARE((*all)[0].buffers[0], static_cast<void*>(&own));
            for (const LatheLaunch& one : rotation.next(3))
                seen.push_back(one.buffers[0]);
        }
        QCOMPARE(seen.size(), std::size_t{15});
        QVERIFY(std::find(seen.begin(), seen.end(), static_cast<void*>(&own)) == seen.end()); // those have just been written
        // Never the same ones in two trials that follow one another.
        for (std::size_t trial = 1; trial < 5; ++trial) {
            std::set<void*> before(seen.begin() + static_cast<std::ptrdiff_t>(3 * (trial - 1)), seen.begin() + static_cast<std::ptrdiff_t>(3 * trial));
            QCOMPARE(before.size(), std::size_t{3});
            for (std::size_t i = 3 * trial; i < 3 * trial + 3; ++i)
                QVERIFY(!before.contains(seen[i]));
        }
        QVERIFY(std::set<void*>(seen.begin(), seen.end()).size() >= 6);
    }

    void theirOwnIsAmongThemWhereThereAreNoMore()
    {
        const auto device = serve::Device::open(&kMemory, "one", "");
        const ArgSpec weights = kilobyte();
        int own = 0;
        void* buffers[] = {&own};
        const LatheLaunch launch{nullptr, 0, buffers, 1, 1};
        serve::Rotation rotation;
        QCOMPARE(rotation.around(**device, launch, std::vector<ArgSpec>{weights}, 2048)->size(), std::size_t{4}); // a few at least
        for (int trial = 0; trial < 3; ++trial)
            QCOMPARE(rotation.next(4).size(), std::size_t{4});
        QCOMPARE(rotation.next(1).size(), std::size_t{1});
        QCOMPARE(rotation.around(**device, launch, std::vector<ArgSpec>{weights}, 1024)->size(), std::size_t{1}); // they alone have that much
    }
};

LATHE_TEST_GUILESS(TestRotation)

} // namespace tst_rotation

#include "tst_rotation.moc"
