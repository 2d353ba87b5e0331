#include "core/runtime/pool.h"
#include "core/runtime/processors.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <ctime>
#include <memory>
#include <thread>

namespace tst_processors {

using namespace lathe::runtime;

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

using Files = QList<QPair<QString, QByteArray>>;

const QByteArray kSecond = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const QByteArray kFirst = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
                          "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                          "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

double processorSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

class TestProcessors : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_root;

    QByteArray makeRoot(const Files& files)
    {
        m_root = std::make_unique<QTemporaryDir>();
        for (const auto& [name, text] : files) {
            const QString path = m_root->filePath(name);
            QDir().mkpath(QFileInfo(path).path());
            QFile file(path);
            if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
                return {};
        }
        return m_root->path().toUtf8();
    }

private slots:
    void theTightestGroupCounts_data()
    {
        QTest::addColumn<QByteArray>("groups"); // proc/self/cgroup
        QTest::addColumn<QByteArray>("mounts"); // proc/self/mountinfo
        QTest::addColumn<Files>("files");
        QTest::addColumn<std::uint32_t>("thousandths");
        const QByteArray second = "0::/machine.slice/app\n";
        QTest::newRow("version 2, own group") << second << kSecond
                                              << Files{{"sys/fs/cgroup/machine.slice/app/cpu.max", "150000 100000\n"},
                                                       {"sys/fs/cgroup/machine.slice/cpu.max", "max 100000\n"}}
                                              << 1500U;
        QTest::newRow("version 2, a group around it")
            << second << kSecond
            << Files{{"sys/fs/cgroup/machine.slice/app/cpu.max", "400000 100000\n"},
                     {"sys/fs/cgroup/machine.slice/cpu.max", "20000 40000\n"}}
            << 500U;
        QTest::newRow("version 2, no limit")
            << second << kSecond << Files{{"sys/fs/cgroup/machine.slice/app/cpu.max", "max 100000\n"}} << kNone;
        QTest::newRow("version 2, a container's root")
            << QByteArray("0::/\n") << kSecond << Files{{"sys/fs/cgroup/cpu.max", "33333 100000\n"}} << 334U;
        QTest::newRow("version 2, folders with blanks")
            << QByteArray("0::/my app\n") << QByteArray("30 23 0:26 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n")
            << Files{{"sys/fs/c group/my app/cpu.max", "100000 100000\n"}} << 1000U;
        const QByteArray first = "9:cpuset:/else\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n";
        QTest::newRow("version 1") << first << kFirst
                                   << Files{{"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n"},
                                            {"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n"},
                                            {"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n"},
                                            {"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n"}}
                                   << 2500U;
        QTest::newRow("version 1, no limit")
            << first << kFirst
            << Files{{"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n"},
                     {"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n"}}
            << kNone;
        QTest::newRow("version 1, a container sees its own part")
            << first
            << QByteArray("32 31 0:29 /docker/x /sys/fs/cgroup/cpu ro master:3 - cgroup cgroup rw,cpuacct,cpu\n")
            << Files{{"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"},
                     {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n"}}
            << 2000U;
        QTest::newRow("version 1, the mount shows another part")
            << first << QByteArray("32 31 0:29 /elsewhere /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n")
            << Files{{"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n"},
                     {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}
            << 3000U;
        QTest::newRow("both versions") << first + second << kFirst + kSecond
                                       << Files{{"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n"},
                                                {"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n"},
                                                {"sys/fs/cgroup/machine.slice/cpu.max", "70000 100000\n"}}
                                       << 700U;
        QTest::newRow("damaged") << second << kSecond
                                 << Files{{"sys/fs/cgroup/machine.slice/app/cpu.max", "100000 0\n"},
                                          {"sys/fs/cgroup/machine.slice/cpu.max", "nonsense\n"}}
                                 << kNone;
        QTest::newRow("nothing") << QByteArray() << QByteArray() << Files{} << kNone;
    }
    void theTightestGroupCounts()
    {
        QFETCH(QByteArray, groups);
        QFETCH(QByteArray, mounts);
        QFETCH(Files, files);
        QFETCH(std::uint32_t, thousandths);
        files.append({"proc/self/cgroup", groups});
        files.append({"proc/self/mountinfo", mounts});
        const QByteArray root = makeRoot(files);
        QVERIFY(!root.isEmpty());
        QCOMPARE(processorQuota(root.constData()), thousandths);
        const std::uint32_t all = processorCount("/nothing/here");
        QCOMPARE(processorCount(root.constData()), thousandths == kNone ? all : qMin((thousandths + 999) / 1000, all));
    }

    void aPoolHasAsManyThreadsAsItsQuotaAllows()
    {
        const QByteArray root = makeRoot({{"proc/self/cgroup", "0::/\n"},
                                          {"proc/self/mountinfo", kSecond},
                                          {"sys/fs/cgroup/cpu.max", "20000 100000\n"}});
        PoolOptions options;
        options.systemRoot = root.constData();
        const std::unique_ptr<Pool, PoolDeleter> pool(Pool::create(options));
        QVERIFY(pool);
        QCOMPARE(pool->parts(), 1U);
        options.threads = 3; // as many as are asked for, all the same
        const std::unique_ptr<Pool, PoolDeleter> larger(Pool::create(options));
        QCOMPARE(larger->parts(), 3U);
    }

    /// Processor time is what counts against a quota.
    void spinningEndsEarlyWhereTheQuotaIsBelowTheThreads()
    {
        if (processorCount("/nothing/here") < 2)
            QSKIP("one processor");
        const auto spent = [this](const QByteArray& quota) {
            const QByteArray root = makeRoot(
                {{"proc/self/cgroup", "0::/\n"}, {"proc/self/mountinfo", kSecond}, {"sys/fs/cgroup/cpu.max", quota}});
            const std::unique_ptr<Pool, PoolDeleter> pool(Pool::create({2, false, 300'000, root.constData()}));
            pool->run([](void*, std::uint32_t, std::uint32_t) {}, nullptr); // behind it the worker spins
            const double before = processorSeconds();
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            return processorSeconds() - before;
        };
        const double free = spent("max 100000\n"), bound = spent("150000 100000\n");
        QVERIFY2(free > 0.03, qPrintable(QString::number(free))); // of 0.3, on a machine that others use as well
        QVERIFY2(bound < 0.01, qPrintable(QString::number(bound)));
    }
};

LATHE_TEST(TestProcessors)

} // namespace tst_processors

#include "tst_processors.moc"
