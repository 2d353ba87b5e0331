#include "tests/support/test_program.h"

#include <QProcess>
#include <QSet>
#include <QTest>

namespace tst_runtime_symbols {

class TestRuntimeSymbols : public QObject
{
    Q_OBJECT

    /// Archives by machine, those for another one where its compiler was: the runtime, and what is linked with it for
    /// devices.
    static void archives()
    {
        QTest::addColumn<QString>("archive");
        QTest::addColumn<QString>("driver"); ///< its kind; empty: it is the runtime
        QTest::newRow("this machine") << QStringLiteral(LATHE_RUNTIME_ARCHIVE) << QString();
        QTest::newRow("CUDA, this machine") << QStringLiteral(LATHE_CUDA_ARCHIVE) << QStringLiteral("cuda");
        QTest::newRow("OpenCL, this machine") << QStringLiteral(LATHE_OPENCL_ARCHIVE) << QStringLiteral("opencl");
        if (const QString other = QStringLiteral(LATHE_CROSS_ARCHIVE); !other.isEmpty())
            QTest::newRow("aarch64") << other << QString();
        if (const QString other = QStringLiteral(LATHE_CUDA_CROSS_ARCHIVE); !other.isEmpty())
            QTest::newRow("CUDA, aarch64") << other << QStringLiteral("cuda");
        if (const QString other = QStringLiteral(LATHE_OPENCL_CROSS_ARCHIVE); !other.isEmpty())
            QTest::newRow("OpenCL, aarch64") << other << QStringLiteral("opencl");
    }

private slots:
    void theArchiveNeedsNothingButTheCLibrary_data() { archives(); }
    void theArchiveNeedsNothingButTheCLibrary()
    {
        QFETCH(QString, archive);
        QFETCH(QString, driver);
        const bool isDriver = !driver.isEmpty();
        // Each is in glibc 2.28 under a version that the linker finds on any later one; those whose default version is
        // newer must carry the old one in their name.
        static const QSet<QString> allowed = {"clock_gettime",
                                              "close",
                                              "free",
                                              "getauxval",
                                              "madvise",
                                              "malloc",
                                              "memchr",
                                              "memcmp",
                                              "memcpy",
                                              "memmove",
                                              "memset",
                                              "mmap",
                                              "mmap64",
                                              "munmap",
                                              "nanosleep",
                                              "open",
                                              "open64",
                                              "posix_memalign",
                                              "pthread_mutex_lock",
                                              "pthread_mutex_unlock",
                                              "pthread_self",
                                              "read",
                                              "qsort",
                                              "sched_getaffinity",
                                              "sched_getcpu",
                                              "sched_setaffinity",
                                              "sched_yield",
                                              "snprintf",
                                              "strcmp",
                                              "strcpy",
                                              "strlen",
                                              "strncmp",
                                              "strstr",
                                              "syscall",
                                              "sysconf",
                                              "vsnprintf",
                                              "__sched_cpucount",
                                              "_GLOBAL_OFFSET_TABLE_"};
        // Drivers of devices keep programs on disk.
        static const QSet<QString> allowedInDrivers = {"calloc",
                                                       "closedir",
                                                       "dirfd",
                                                       "futimens",
                                                       "geteuid",
                                                       "getpid",
                                                       "mkdir",
                                                       "mkostemp",
                                                       "mkostemp64",
                                                       "opendir",
                                                       "pthread_mutex_destroy",
                                                       "readdir",
                                                       "readdir64",
                                                       "realloc",
                                                       "rename",
                                                       "secure_getenv",
                                                       "statx",
                                                       "strcasestr",
                                                       "strchr",
                                                       "strspn",
                                                       "unlink",
                                                       "unlinkat",
                                                       "write"};
        QSet<QString> pinned = isDriver ? QSet<QString>{"dlopen", "dlsym"}
                                        : QSet<QString>{"pthread_create", "pthread_join"};
        if (driver == "cuda") // whose library a person may name
            pinned.insert("dlerror");
        static const QSet<QString> ofTheLibrary = {
            "lathe_0_code",         "lathe_0_code_end",   "lathe_0_description", "lathe_0_description_end",
            "lathe_0_driver_count", "lathe_0_drivers",    "lathe_0_phase_count", "lathe_0_phases",
            "lathe_0_weights",      "lathe_0_weights_end"};
        QProcess nm;
        nm.start(LATHE_NM, {"-P", archive});
        QVERIFY(nm.waitForFinished());
        QCOMPARE(nm.exitCode(), 0);
        QSet<QString> defined, needed;
        for (const QString& line : QString::fromUtf8(nm.readAllStandardOutput()).split('\n')) {
            const QStringList words = line.split(' ', Qt::SkipEmptyParts);
            if (words.size() < 2 || line.endsWith(':'))
                continue;
            (words[1] == "U" || words[1] == "w" ? needed : defined).insert(words[0]);
        }
        QVERIFY(defined.contains(isDriver ? "lathe_driver_" + driver : QStringLiteral("lathe_0_run")));
        QStringList bad;
        int pins = 0;
        for (const QString& symbol : needed - defined) {
            const QStringList parts = symbol.split('@');
            if (parts.size() > 1 && pinned.contains(parts[0])) {
                ++pins;
                continue;
            }
            const bool isOfTheRuntime = isDriver
                                        && (symbol.startsWith("_ZN5lathe7runtime")
                                            || symbol.startsWith("_ZNK5lathe7runtime"));
            if (!allowed.contains(symbol) && !ofTheLibrary.contains(symbol) && !isOfTheRuntime
                && !(isDriver && allowedInDrivers.contains(symbol)))
                bad.append(symbol);
        }
        QCOMPARE(bad, QStringList());
        QCOMPARE(pins, static_cast<int>(pinned.size()));
    }

    void onlyTheInterfaceHasACName_data() { archives(); }
    void onlyTheInterfaceHasACName()
    {
        QFETCH(QString, archive);
        QFETCH(QString, driver);
        const bool isDriver = !driver.isEmpty();
        QProcess nm;
        nm.start(LATHE_NM, {"-P", "--defined-only", "--extern-only", archive});
        QVERIFY(nm.waitForFinished());
        const QString interface = isDriver ? "lathe_driver_" : "lathe_0_";
        for (const QString& line : QString::fromUtf8(nm.readAllStandardOutput()).split('\n')) {
            const QString symbol = line.section(' ', 0, 0);
            if (symbol.isEmpty() || line.endsWith(':'))
                continue;
            QVERIFY2(symbol.startsWith(interface) || symbol.startsWith("_ZN") || symbol.startsWith("_ZT"),
                     qPrintable(symbol));
            QVERIFY2(!symbol.startsWith("_ZT"), qPrintable(symbol)); // run-time types and virtual tables
        }
    }
};

LATHE_TEST(TestRuntimeSymbols)

} // namespace tst_runtime_symbols

#include "tst_runtime_symbols.moc"
