#include "core/serve/rotation.h"
#include "core/wire/seeded.h"
#include "tests/support/memory_device.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace tst_rotation {

using namespace lathe;

namespace {

/// Memory that keeps what is copied.
LatheDeviceApi keepingDevice()
{
    LatheDeviceApi api = test::memoryDevice("memory");
    api.copyIn = [](LatheDevice*, void* buffer, std::size_t offset, const void* host, std::size_t bytes,
                    LatheDeviceError*) {
        std::memcpy(static_cast<std::byte*>(buffer) + offset, host, bytes);
        return 0;
    };
    api.copyOut = [](LatheDevice*, void* host, const void* buffer, std::size_t offset, std::size_t bytes,
                     LatheDeviceError*) {
        std::memcpy(host, static_cast<const std::byte*>(buffer) + offset, bytes);
        return 0;
    };
    return api;
}

const LatheDeviceApi kMemory = keepingDevice();

} // namespace

/// Constants that are somewhere else each time.
class TestRotation : public QObject
{
    Q_OBJECT

    /// A constant of 1,024 bytes.
    static ArgSpec kilobyte(DType dtype = DType::F32)
    {
        ArgSpec weights{"w", ArgRole::Constant, dtype, {}};
        weights.map.logicalRank = weights.map.physicalRank = 1;
        weights.map.logicalShape[0] = weights.map.axes[0].extent = 1024 / sizeOf(dtype);
        return weights;
    }

    static std::vector<std::byte> held(const LatheLaunch& launch)
    {
        const auto* const bytes = static_cast<const std::byte*>(launch.buffers[0]);
        return {bytes, bytes + 1024};
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
        const std::vector<serve::Rotation::Parameter> parameters = {{weights, nullptr}};
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
        QVERIFY(std::find(seen.begin(), seen.end(), static_cast<void*>(&own))
                == seen.end()); // those have just been written
        // Never the same ones in two trials that follow one another.
        for (std::size_t trial = 1; trial < 5; ++trial) {
            std::set<void*> before(seen.begin() + static_cast<std::ptrdiff_t>(3 * (trial - 1)),
                                   seen.begin() + static_cast<std::ptrdiff_t>(3 * trial));
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
        const std::vector<serve::Rotation::Parameter> parameters = {{weights, nullptr}};
        QCOMPARE(rotation.around(**device, launch, parameters, 2048)->size(), std::size_t{4}); // a few at least
        for (int trial = 0; trial < 3; ++trial)
            QCOMPARE(rotation.next(4).size(), std::size_t{4});
        QCOMPARE(rotation.next(1).size(), std::size_t{1});
        QCOMPARE(rotation.around(**device, launch, parameters, 1024)->size(),
                 std::size_t{1}); // they alone have that much
    }

    void constantsOfEveryTypeTakeTurns_data()
    {
        QTest::addColumn<int>("dtype");
        for (int d = 0; d <= static_cast<int>(DType::F64); ++d)
            QTest::newRow(toString(static_cast<DType>(d))) << d;
    }

    void constantsOfEveryTypeTakeTurns()
    {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        const auto device = serve::Device::open(&kMemory, "one", "");
        auto own = (*device)->allocate(1024);
        QVERIFY(own);
        std::vector<std::byte> values(1024);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<std::byte>(type == DType::Bool ? i % 2 : i % 7);
        QVERIFY((*device)->copyIn(*own, values));
        void* buffers[] = {own->get()};
        const LatheLaunch launch{nullptr, 0, buffers, 1, 1};
        const std::vector<serve::Rotation::Parameter> parameters = {{kilobyte(type), &*own}};
        serve::Rotation rotation;
        const auto all = rotation.around(**device, launch, parameters, 8 * 1024);
        QVERIFY(all);
        QCOMPARE(all->size(), std::size_t{8});
        std::set<void*> places;
        for (const LatheLaunch& one : *all) {
            places.insert(one.buffers[0]);
            if (!isFloat(type))
                QVERIFY(held(one) == values); // they may be indices
            else if (one.buffers[0] != own->get())
                QVERIFY(std::fabs(wire::readElement(one.buffers[0], 1024 / sizeOf(type) - 1, type) - 0.01) < 1e-4);
        }
        QCOMPARE(places.size(), std::size_t{8});
    }

    void indicesOfTheNextTrialAreItsOwn()
    {
        const auto device = serve::Device::open(&kMemory, "one", "");
        serve::Rotation rotation;
        for (const std::int64_t first : {3, 5}) {
            auto own = (*device)->allocate(1024);
            std::vector<std::int64_t> values(128, first);
            QVERIFY((*device)->copyIn(*own, std::as_bytes(std::span(values))));
            void* buffers[] = {own->get()};
            const LatheLaunch launch{nullptr, 0, buffers, 1, 1};
            const std::vector<serve::Rotation::Parameter> parameters = {{kilobyte(DType::I64), &*own}};
            const auto all = rotation.around(**device, launch, parameters, 8 * 1024);
            QVERIFY(all);
            for (const LatheLaunch& one : *all)
                QCOMPARE(static_cast<const std::int64_t*>(one.buffers[0])[127], first);
        }
    }
};

LATHE_TEST_GUILESS(TestRotation)

} // namespace tst_rotation

#include "tst_rotation.moc"
