#include "core/runtime/lathe_model.h"
#include "core/support/files.h"
#include "hand_library.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace tst_library_misuse {

using namespace lathe;
using namespace lathe::deploy;
using lathe::test::must;

/// What callers of the C interface do wrong is told, where that costs little.
class TestLibraryMisuse : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    void* m_library = nullptr;
    std::vector<float> m_values = std::vector<float>(320);

    template<typename Function>
    Function* find(const char* name) const
    {
        return reinterpret_cast<Function*>(::dlsym(m_library, (std::string("lathe_net_") + name).c_str()));
    }
#define LATHE_CALL(name) find<decltype(lathe_0_##name)>(#name)

    lathe_instance* create(const void* options, QByteArray* said = nullptr) const
    {
        char error[512] = {};
        lathe_instance* const made = LATHE_CALL(create)(static_cast<const lathe_options*>(options), error,
                                                        sizeof error);
        if (said != nullptr)
            *said = error;
        return made;
    }

private slots:
    void initTestCase()
    {
        const auto staged = must(
            test::stageHandLibrary(m_folder.filePath("net.so").toStdString(), "hand_relu", m_folder.path()));
        m_library = ::dlopen(staged.file.c_str(), RTLD_NOW | RTLD_LOCAL);
        QVERIFY2(m_library != nullptr, ::dlerror());
    }

    void optionsOfOtherVersionsAreRead_data()
    {
        QTest::addColumn<std::uint32_t>("size");
        QTest::addColumn<bool>("more"); // something behind what this version knows
        QTest::addColumn<QByteArray>("refusal");
        constexpr std::uint32_t kFirst = offsetof(lathe_options, keep_weights_mapped) + 4;
        constexpr std::uint32_t kNow = sizeof(lathe_options);
        QTest::newRow("first version") << kFirst << true << QByteArray();
        QTest::newRow("this version") << kNow << true << QByteArray();
        QTest::newRow("later version, nothing new is set") << kNow + 16 << false << QByteArray();
        QTest::newRow("later version") << kNow + 16 << true << QByteArray("does not know");
        QTest::newRow("forgotten") << 0U << false << QByteArray("set it to sizeof(lathe_options)");
        QTest::newRow("less than the first version") << kFirst - 4 << false << QByteArray("first version");
        QTest::newRow("not set at all") << 0xccccccccU << true << QByteArray("does not know");
    }
    void optionsOfOtherVersionsAreRead()
    {
        QFETCH(std::uint32_t, size);
        QFETCH(bool, more);
        QFETCH(QByteArray, refusal);
        alignas(lathe_options) unsigned char memory[sizeof(lathe_options) + 64] = {};
        lathe_options options = {};
        options.struct_size = size;
        options.threads = 3;
        std::memcpy(memory, &options, sizeof options);
        if (more)
            std::memset(memory + sizeof options, 0xaa, 64);
        QByteArray said;
        lathe_instance* const made = create(memory, &said);
        QCOMPARE(made != nullptr, refusal.isEmpty());
        QVERIFY2(said.contains(refusal), said);
        if (made != nullptr)
            QCOMPARE(LATHE_CALL(threads)(made), 3U);
        LATHE_CALL(destroy)(made);
    }

    void aSecondCallerIsToldThatTheInstanceIsInUse()
    {
        lathe_instance* const instance = create(nullptr);
        QVERIFY(instance != nullptr);
        std::memset(LATHE_CALL(input_buffer)(instance, 0), 0, 1280);
        struct Meeting
        {
            std::atomic<bool> inside = false, leave = false;
        } meeting;
        LATHE_CALL(set_observer)
        (
            instance,
            [](void* user, uint32_t, const char*, const lathe_tensor_info*, const void*) {
                auto& m = *static_cast<Meeting*>(user);
                m.inside = true;
                while (!m.leave)
                    std::this_thread::yield();
            },
            &meeting);
        std::int32_t first = -1;
        std::thread runs([&] { first = LATHE_CALL(run)(instance); });
        while (!meeting.inside)
            std::this_thread::yield();
        const std::int32_t second = LATHE_CALL(run)(instance);
        const QByteArray said = LATHE_CALL(last_error)(instance);
        const std::int32_t bound = LATHE_CALL(bind_input)(instance, 0, m_values.data(), 1280);
        const void* const buffer = LATHE_CALL(output_buffer)(instance, 0);
        meeting.leave = true;
        runs.join();
        QCOMPARE(second, std::int32_t{LATHE_BUSY});
        QVERIFY2(said.contains("another call") && said.contains("instance of its own"), said);
        QCOMPARE(bound, std::int32_t{LATHE_BUSY});
        QVERIFY(buffer == nullptr);
        QCOMPARE(first, std::int32_t{LATHE_OK});
        QCOMPARE(LATHE_CALL(run)(instance), std::int32_t{LATHE_OK});
        LATHE_CALL(destroy)(instance);
    }

    void aRunsObserverMayAskButNotRun()
    {
        lathe_instance* const instance = create(nullptr);
        std::memset(LATHE_CALL(input_buffer)(instance, 0), 0, 1280);
        struct Seen
        {
            TestLibraryMisuse* test;
            lathe_instance* instance;
            std::int32_t run = -1, bound = -1, boundInput = -1;
            bool buffer = false;
            float other[320] = {};
        } seen{this, instance};
        LATHE_CALL(set_observer)
        (
            instance,
            [](void* user, uint32_t, const char*, const lathe_tensor_info*, const void*) {
                auto& s = *static_cast<Seen*>(user);
                s.run = s.test->LATHE_CALL(run)(s.instance);
                s.bound = s.test->LATHE_CALL(bind_output)(s.instance, 0, s.other, sizeof s.other);
                s.boundInput = s.test->LATHE_CALL(bind_input)(s.instance, 0, s.other, sizeof s.other);
                s.buffer = s.test->LATHE_CALL(input_buffer)(s.instance, 0) != nullptr;
            },
            &seen);
        QCOMPARE(LATHE_CALL(run)(instance), std::int32_t{LATHE_OK});
        QCOMPARE(seen.run, std::int32_t{LATHE_BUSY});
        QVERIFY(seen.buffer);
        QCOMPARE(seen.boundInput, std::int32_t{LATHE_BUSY});
        QCOMPARE(seen.bound, std::int32_t{LATHE_BUSY}); // the run would end in another buffer than it began in
        QVERIFY(QByteArray(LATHE_CALL(last_error)(instance)).contains("may neither start another nor bind buffers"));
        QCOMPARE(LATHE_CALL(output_shape)(instance, 0, nullptr), std::int32_t{LATHE_INVALID_ARGUMENT});
        QVERIFY(QByteArray(LATHE_CALL(last_error)(instance)).contains("the shape of output 0"));
        LATHE_CALL(destroy)(instance);
    }

    void anOutputInTheInputsBufferIsRefused()
    {
        lathe_instance* const instance = create(nullptr);
        QCOMPARE(LATHE_CALL(bind_input)(instance, 0, m_values.data(), 1280), std::int32_t{LATHE_OK});
        QCOMPARE(LATHE_CALL(bind_output)(instance, 0, m_values.data(), 1280), std::int32_t{LATHE_OK});
        QCOMPARE(LATHE_CALL(run)(instance), std::int32_t{LATHE_INVALID_ARGUMENT});
        const QByteArray said = LATHE_CALL(last_error)(instance);
        QVERIFY2(said.contains("overlaps that of input"), said);
        LATHE_CALL(destroy)(instance);
    }
#undef LATHE_CALL
};

LATHE_TEST(TestLibraryMisuse)

} // namespace tst_library_misuse

#include "tst_library_misuse.moc"
