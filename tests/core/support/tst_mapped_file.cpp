#include "core/support/files.h"
#include "core/support/mapped_file.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>

namespace tst_mapped_file {

using namespace lathe;

namespace {

constexpr std::size_t kBytes = 3 << 16; // some pages

QString textOf(const MappedFile& file)
{
    return QString::fromLatin1(reinterpret_cast<const char*>(file.bytes().data()),
                               static_cast<qsizetype>(file.bytes().size()));
}

} // namespace

class TestMappedFile : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        m_dir.emplace(std::move(*dir));
        m_file = m_dir->path() / "weights";
        QVERIFY(writeFileAtomically(m_file, std::string(kBytes, 'w')));
    }

    void aFileIsSeenMappedOrCopied_data()
    {
        QTest::addColumn<qulonglong>("copied");
        QTest::newRow("mapped") << qulonglong(kBytes - 1);
        QTest::newRow("copied") << qulonglong(kBytes);
    }
    void aFileIsSeenMappedOrCopied()
    {
        QFETCH(qulonglong, copied);
        auto opened = MappedFile::open(m_file, copied);
        QVERIFY(opened);
        const MappedFile moved = std::move(*opened);
        QCOMPARE(textOf(moved), QString(kBytes, 'w'));
        QVERIFY(writeFileAtomically(m_file, ""));
        const auto empty = MappedFile::open(m_file, copied);
        QVERIFY(empty && empty->bytes().empty());
        QCOMPARE(textOf(moved), QString(kBytes, 'w')); // the file was replaced, not written over
    }

    void whatHappensToACopiedFileIsNotSeen()
    {
        const auto opened = MappedFile::open(m_file, kBytes);
        QVERIFY(opened);
        std::filesystem::resize_file(m_file, 1);
        QCOMPARE(textOf(*opened), QString(kBytes, 'w'));
    }

    void refusals()
    {
        for (const std::size_t copied : {std::size_t(0), kBytes}) {
            QVERIFY(MappedFile::open(m_dir->path() / "absent", copied).error().code == Errc::NotFound);
            QVERIFY(MappedFile::open(m_dir->path(), copied).error().code == Errc::BadFile);
            QVERIFY(MappedFile::open("/dev/zero", copied).error().code == Errc::BadFile);
        }
    }

    void aMappedFileThatIsCutShortIsNamed_data()
    {
        QTest::addColumn<bool>("other");
        QTest::newRow("in a file") << false;
        QTest::newRow("elsewhere") << true;
    }
    void aMappedFileThatIsCutShortIsNamed()
    {
        QFETCH(bool, other);
        int ends[2];
        QCOMPARE(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(ends[1], STDERR_FILENO);
            MappedFile::sayWhichWasCutShort("some-program");
            const auto before = MappedFile::open(executablePath());
            const auto opened = MappedFile::open(m_file);
            {
                const auto passing = MappedFile::open(m_file);
            }
            if (other)
                ::raise(SIGBUS);
            std::filesystem::resize_file(m_file, 1);
            ::_exit(before && opened
                            && *const_cast<const volatile std::byte*>(&opened->bytes()[kBytes - 1]) == std::byte(1)
                        ? 5
                        : 6);
        }
        ::close(ends[1]);
        QByteArray said; // in pieces, as it was written
        char piece[1000];
        for (ssize_t got; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
            said.append(piece, static_cast<qsizetype>(got));
        ::close(ends[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        if (other) {
            QVERIFY(WIFSIGNALED(status) || WEXITSTATUS(status) == 6);
            QCOMPARE(said, QByteArray());
            return;
        }
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 1);
        QCOMPARE(said, QByteArray(("some-program: " + m_file.string() + " was cut short while it was open\n").c_str()));
    }

private:
    std::optional<TempDir> m_dir;
    std::filesystem::path m_file;
};

LATHE_TEST(TestMappedFile)

} // namespace tst_mapped_file

#include "tst_mapped_file.moc"
