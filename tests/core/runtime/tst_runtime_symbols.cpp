#include "tests/support/test_program.h"

#include <QProcess>
#include <QSet>
#include <QTest>

namespace tst_runtime_symbols {

class TestRuntimeSymbols : public QObject
{
    Q_OBJECT

    /// Archives by machine; that for another one is there where its compiler was.
    static void archives()
    {
        QTest::addColumn<QString>("archive");
        QTest::newRow("this machine") << QStringLiteral(LATHE_RUNTIME_ARCHIVE);
        if (const QString other = QStringLiteral(LATHE_CROSS_ARCHIVE); !other.isEmpty())
            QTest::newRow("aarch64") << other;
    }

private slots:
    void theArchiveNeedsNothingButTheCLibrary_data() { archives(); }
    void theArchiveNeedsNothingButTheCLibrary()
    {
        QFETCH(QString, archive);
        // Each is in glibc 2.28 under a version that the linker finds on any later one; those whose default version is
        // newer must carry the old one in their name.
        static const QSet<QString> allowed = {"clock_gettime",
                                              "close",
                                              "free",
                                              "getauxval",
                                              "madvise",
                                              "malloc",
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
                                              "sched_getaffinity",
                                              "sched_getcpu",
                                              "sched_setaffinity",
                                              "sched_yield",
                                              "snprintf",
                                              "strcmp",
                                              "strlen",
                                              "strncmp",
                                              "strstr",
                                              "syscall",
                                              "sysconf",
                                              "vsnprintf",
                                              "__sched_cpucount",
                                              "_GLOBAL_OFFSET_TABLE_"};
        static const QSet<QString> pinned = {"pthread_create", "pthread_join"};
        static const QSet<QString> ofTheLibrary = {"lathe_0_description", "lathe_0_description_end",
                                                   "lathe_0_weights",     "lathe_0_weights_end",
                                                   "lathe_0_phases",      "lathe_0_phase_count"};
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
        QVERIFY(defined.contains("lathe_0_run"));
        QStringList bad;
        int pins = 0;
        for (const QString& symbol : needed - defined) {
            const QStringList parts = symbol.split('@');
            if (parts.size() > 1 && pinned.contains(parts[0])) {
                ++pins;
                continue;
            }
            if (!allowed.contains(symbol) && !ofTheLibrary.contains(symbol))
                bad.append(symbol);
        }
        QCOMPARE(bad, QStringList());
        QCOMPARE(pins, static_cast<int>(pinned.size()));
    }

    void onlyTheInterfaceHasACName_data() { archives(); }
    void onlyTheInterfaceHasACName()
    {
        QFETCH(QString, archive);
        QProcess nm;
        nm.start(LATHE_NM, {"-P", "--defined-only", "--extern-only", archive});
        QVERIFY(nm.waitForFinished());
        for (const QString& line : QString::fromUtf8(nm.readAllStandardOutput()).split('\n')) {
            const QString symbol = line.section(' ', 0, 0);
            if (symbol.isEmpty() || line.endsWith(':'))
                continue;
            QVERIFY2(symbol.startsWith("lathe_0_") || symbol.startsWith("_ZN") || symbol.startsWith("_ZT"),
                     qPrintable(symbol));
            QVERIFY2(!symbol.startsWith("_ZT"), qPrintable(symbol)); // run-time types and virtual tables
        }
    }
};

LATHE_TEST(TestRuntimeSymbols)

} // namespace tst_runtime_symbols

#include "tst_runtime_symbols.moc"
