#include "core/runtime/cpu_features.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QMap>
#include <QSet>
#include <QTest>

namespace tst_cpu_features {

using namespace lathe::runtime;

/// The kernel's list is the other opinion.
class TestCpuFeatures : public QObject
{
    Q_OBJECT

private slots:
    void thisProcessorHasWhatTheKernelSays()
    {
#if !defined(__x86_64__)
        QSKIP("the kernel lists features by these names on x86-64 alone");
#endif
        QFile file("/proc/cpuinfo");
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray flags;
        for (const QByteArray& line : file.readAll().split('\n'))
            if (line.startsWith("flags"))
                flags = line + ' ';
        QVERIFY(!flags.isEmpty());
        static const QMap<QByteArray, QByteArray> other = {{"sse3", "pni"},
                                                           {"sse4.1", "sse4_1"},
                                                           {"sse4.2", "sse4_2"},
                                                           {"bmi", "bmi1"},
                                                           {"lzcnt", "abm"},
                                                           {"prfchw", "3dnowprefetch"},
                                                           {"avx512vbmi2", "avx512_vbmi2"},
                                                           {"avx512vnni", "avx512_vnni"},
                                                           {"avx512bitalg", "avx512_bitalg"},
                                                           {"avx512vpopcntdq", "avx512_vpopcntdq"},
                                                           {"avx512fp16", "avx512_fp16"},
                                                           {"avx512bf16", "avx512_bf16"},
                                                           {"avxvnni", "avx_vnni"},
                                                           {"avxifma", "avx_ifma"}};
        // Kernels of today do not list these.
        static const QSet<QByteArray> unlisted = {"avxvnniint8", "avxneconvert", "avxvnniint16", "avxifma"};
        int checked = 0;
        const char* name = nullptr;
        for (std::uint32_t i = 0; (name = checkedFeature("x86_64", i)) != nullptr; ++i) {
            if (unlisted.contains(name))
                continue;
            QVERIFY2(processorHas(name) == flags.contains(' ' + other.value(name, name) + ' '), name);
            ++checked;
        }
        QVERIFY(checked > 30);
    }

    void namesThatAreNotKnownAreNotThere()
    {
        QVERIFY(!processorHas("avx1024") && !processorHas(""));
        QVERIFY(checkedFeature("riscv64", 0) == nullptr);
        QCOMPARE(checkedFeature("aarch64", 0), "lse");
    }
};

LATHE_TEST(TestCpuFeatures)

} // namespace tst_cpu_features

#include "tst_cpu_features.moc"
