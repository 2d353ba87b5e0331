#include "core/store/project.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <sqlite3.h>

#include <cstdint>
#include <cstring>

namespace tst_full_disk {

using namespace lathe;
using lathe::test::must;
using store::Project;

namespace {

/// A file system below SQLite on which all goes well for so many writes, and then every write or sync fails.
struct Disk
{
    sqlite3_vfs vfs{};
    sqlite3_vfs* real = nullptr;
    std::int64_t left = INT64_MAX;
    int failure = SQLITE_FULL;
    bool syncsFail = false;
};
Disk g_disk; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): SQLite's callbacks have no other place

struct File
{
    sqlite3_file base;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File& of(sqlite3_file* file)
{
    return *reinterpret_cast<File*>(file);
}

bool fails()
{
    return g_disk.left-- <= 0;
}

int writeFile(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset)
{
    sqlite3_file* real = of(file).real();
    if (!g_disk.syncsFail && fails()) {
        if (bytes > 1) // what there was room for
            real->pMethods->xWrite(real, data, bytes / 2, offset);
        return g_disk.failure;
    }
    return real->pMethods->xWrite(real, data, bytes, offset);
}
int syncFile(sqlite3_file*, int)
{
    return g_disk.syncsFail && fails() ? SQLITE_IOERR_FSYNC
                                       : SQLITE_OK; // what else is on the machine's disk is not waited for
}

// Passed through.
int closeFile(sqlite3_file* f)
{
    return of(f).real()->pMethods->xClose(of(f).real());
}
int readFile(sqlite3_file* f, void* to, int bytes, sqlite3_int64 at)
{
    return of(f).real()->pMethods->xRead(of(f).real(), to, bytes, at);
}
int truncateFile(sqlite3_file* f, sqlite3_int64 size)
{
    return of(f).real()->pMethods->xTruncate(of(f).real(), size);
}
int sizeOfFile(sqlite3_file* f, sqlite3_int64* size)
{
    return of(f).real()->pMethods->xFileSize(of(f).real(), size);
}
int lockFile(sqlite3_file* f, int level)
{
    return of(f).real()->pMethods->xLock(of(f).real(), level);
}
int unlockFile(sqlite3_file* f, int level)
{
    return of(f).real()->pMethods->xUnlock(of(f).real(), level);
}
int checkLock(sqlite3_file* f, int* held)
{
    return of(f).real()->pMethods->xCheckReservedLock(of(f).real(), held);
}
int controlFile(sqlite3_file* f, int op, void* argument)
{
    return of(f).real()->pMethods->xFileControl(of(f).real(), op, argument);
}
int sectorSize(sqlite3_file* f)
{
    return of(f).real()->pMethods->xSectorSize(of(f).real());
}
int characteristics(sqlite3_file* f)
{
    return of(f).real()->pMethods->xDeviceCharacteristics(of(f).real());
}
int shmMap(sqlite3_file* f, int page, int size, int extend, void volatile** at)
{
    return of(f).real()->pMethods->xShmMap(of(f).real(), page, size, extend, at);
}
int shmLock(sqlite3_file* f, int offset, int n, int flags)
{
    return of(f).real()->pMethods->xShmLock(of(f).real(), offset, n, flags);
}
void shmBarrier(sqlite3_file* f)
{
    of(f).real()->pMethods->xShmBarrier(of(f).real());
}
int shmUnmap(sqlite3_file* f, int remove)
{
    return of(f).real()->pMethods->xShmUnmap(of(f).real(), remove);
}

const sqlite3_io_methods kMethods = {2,           closeFile,  readFile,        writeFile,  truncateFile,
                                     syncFile,    sizeOfFile, lockFile,        unlockFile, checkLock,
                                     controlFile, sectorSize, characteristics, shmMap,     shmLock,
                                     shmBarrier,  shmUnmap,   nullptr,         nullptr};

int openFile(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got)
{
    of(file).base.pMethods = nullptr;
    const int code = g_disk.real->xOpen(g_disk.real, name, of(file).real(), flags, got);
    if (code == SQLITE_OK)
        of(file).base.pMethods = &kMethods;
    return code;
}

Record trial(int i)
{
    Record r;
    r.trial = contentHash("trial " + std::to_string(i)).hex();
    r.session = 1;
    r.round = i / 4;
    r.index = i % 4;
    r.candidate.task = "task";
    r.candidate.steps = "[" + std::string(1500, ' ') + "]"; // some pages for each batch
    r.result.costsNs = {100.0 + i};
    return r;
}

constexpr int kBatch = 4;

} // namespace

/// The disk fails at every write, or sync, that a writer of a project does, one after the other.
class TestFullDisk : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;

private slots:
    void initTestCase()
    {
        g_disk.real = sqlite3_vfs_find(nullptr);
        g_disk.vfs = *g_disk.real;
        g_disk.vfs.zName = "failing";
        g_disk.vfs.szOsFile = static_cast<int>(sizeof(File)) + g_disk.real->szOsFile;
        g_disk.vfs.xOpen = openFile;
        QCOMPARE(sqlite3_vfs_register(&g_disk.vfs, 1), SQLITE_OK);
    }
    void cleanupTestCase() { sqlite3_vfs_unregister(&g_disk.vfs); }

    void whateverWriteFailsNothingAcknowledgedIsLost_data()
    {
        QTest::addColumn<int>("failure");
        QTest::addColumn<bool>("syncs");
        QTest::newRow("full") << SQLITE_FULL << false;
        QTest::newRow("broken") << SQLITE_IOERR_WRITE << false;
        QTest::newRow("syncs") << SQLITE_IOERR_FSYNC << true;
    }
    void whateverWriteFailsNothingAcknowledgedIsLost()
    {
        QFETCH(int, failure);
        QFETCH(bool, syncs);
        const std::filesystem::path file = std::filesystem::path(m_dir.path().toStdString()) / "p.lathe";
        int said = 0;
        bool went = false;
        for (int writes = 0; writes < 400 && !went; ++writes) {
            std::filesystem::remove(file);
            for (const char* suffix : {"-wal", "-shm", "-lock"})
                std::filesystem::remove(file.string() + suffix);
            must(must(Project::open(file, Project::Access::Write)).addRecords(std::vector{trial(0)}));
            int acknowledged = 1;
            g_disk.failure = failure;
            g_disk.syncsFail = syncs;
            g_disk.left = writes;
            {
                auto project = Project::open(file, Project::Access::Write);
                for (int i = 0; project && i < 5; ++i) {
                    std::vector<Record> batch;
                    for (int k = 0; k < kBatch; ++k)
                        batch.push_back(trial(acknowledged + k));
                    const auto added = project->addRecords(batch);
                    if (!added) {
                        ++said;
                        QVERIFY2(added.error().code == Errc::StoreFailed, added.error().message.c_str());
                        const QString message = QString::fromStdString(added.error().message);
                        QVERIFY2(message.contains(QLatin1String("disk")) && message.contains(QLatin1String("p.lathe"))
                                     && !message.contains('\n'),
                                 qPrintable(message));
                        break;
                    }
                    acknowledged += kBatch;
                }
                went = project && acknowledged == 1 + 5 * kBatch;
            }
            g_disk.left = INT64_MAX;
            // There is room again.
            Project project = must(Project::open(file, Project::Access::Write));
            QVERIFY(!project.readOnly());
            QVERIFY2(must(project.recordCount()) >= acknowledged, qPrintable(QStringLiteral("write %1").arg(writes)));
            must(project.addRecords(std::vector{trial(1000)}));
            auto check = must(store::Statement::prepare(project.database(), "PRAGMA integrity_check"));
            QVERIFY(must(check.step()));
            QCOMPARE(check.text(0), std::string("ok"));
        }
        QVERIFY(went); // once it fails late enough, all is written
        QVERIFY2(said >= 4, qPrintable(QString::number(said)));
    }
};

LATHE_TEST(TestFullDisk)

} // namespace tst_full_disk

#include "tst_full_disk.moc"
