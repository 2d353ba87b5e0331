#include "plugins/cpu/device/memory.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstring>
#include <vector>

namespace tst_device_memory {

using namespace lathe::cpu;

/// Memory that kernels are given: guarded, and kept for the next trial.
class TestDeviceMemory : public QObject
{
    Q_OBJECT

private slots:
    void whatIsWrittenBesideABufferIsNoticedOnce_data()
    {
        QTest::addColumn<int>("bytes");
        QTest::newRow("a few bytes") << 100;
        QTest::newRow("on large pages") << 3'000'010;
    }
    void whatIsWrittenBesideABufferIsNoticedOnce()
    {
        QFETCH(int, bytes);
        Buffer* buffer = Buffer::create(static_cast<std::size_t>(bytes), true);
        QVERIFY(buffer && buffer->marginsIntact());
        auto* data = static_cast<unsigned char*>(buffer->data());
        std::memset(data, 1, static_cast<std::size_t>(bytes));
        QVERIFY(buffer->marginsIntact());
        data[bytes] = 1;
        QVERIFY(!buffer->marginsIntact());
        QVERIFY(buffer->marginsIntact()); // it was put back
        data[-1] = 1;
        QVERIFY(!buffer->marginsIntact());
        Buffer::destroy(buffer);
    }

    void theNextBufferOfASizeTakesTheMemoryOver()
    {
        Buffer* first = Buffer::create(2'000'000, true);
        auto* data = static_cast<unsigned char*>(first->data());
        data[-1] = 1; // nobody looked before it was given back
        Buffer::destroy(first);
        QVERIFY(Buffer::find(data) == nullptr);
        Buffer* other = Buffer::create(1'999'999, true);
        QVERIFY(other->data() != data);
        Buffer* unguarded = Buffer::create(2'000'000, false);
        QVERIFY(unguarded->data() != data);
        Buffer* second = Buffer::create(2'000'000, true);
        QVERIFY(second->data() == data);
        QVERIFY(second->marginsIntact());
        QVERIFY(Buffer::find(data) == second);
        Buffer* third = Buffer::create(2'000'000, true);
        QVERIFY(third->data() != data);
        for (Buffer* buffer : {other, unguarded, second, third})
            Buffer::destroy(buffer);
    }

    void onlySoMuchIsKept()
    {
        constexpr std::size_t kBytes = std::size_t(16) << 20;
        std::vector<Buffer*> buffers;
        std::vector<void*> places;
        for (int i = 0; i < 8; ++i)
            buffers.push_back(Buffer::create(kBytes, false));
        for (Buffer* buffer : buffers) {
            places.push_back(buffer->data());
            Buffer::destroy(buffer);
        }
        // Half of them were let go; the others come back, the latest first.
        buffers.clear();
        for (std::size_t i = 8; i-- > 4;) {
            buffers.push_back(Buffer::create(kBytes, false));
            QVERIFY(buffers.back()->data() == places[i]);
        }
        for (Buffer* buffer : buffers)
            Buffer::destroy(buffer);
    }
};

LATHE_TEST(TestDeviceMemory)

} // namespace tst_device_memory

#include "tst_device_memory.moc"
