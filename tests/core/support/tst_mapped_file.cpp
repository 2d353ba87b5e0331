#include "core/support/files.h"
#include "core/support/mapped_file.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

    void whatIsCutOffReadsAsZerosAndIsToldOf()
    {
        const auto before = MappedFile::open(executablePath());
        const auto opened = MappedFile::open(m_file);
        const auto beside = MappedFile::open(m_file);
        QVERIFY(before && opened && beside);
        QVERIFY(opened->intact() && MappedFile::check(opened->bytes().data()));
        std::filesystem::resize_file(m_file, 1);
        std::vector<std::jthread> readers; // wherever it is read
        std::atomic<int> wrong = 0;
        for (int i = 0; i < 4; ++i)
            readers.emplace_back([&] {
                const auto bytes = opened->bytes();
                for (std::size_t at = 1 << 14; at < kBytes; at += 100)
                    wrong += *const_cast<const volatile std::byte*>(&bytes[at]) == std::byte(0) ? 0 : 1;
            });
        readers.clear();
        QCOMPARE(wrong.load(), 0);
        const std::string said = m_file.string() + " was truncated while it was open";
        for (const Result<>& told : {opened->intact(), MappedFile::check(opened->bytes().data() + kBytes - 1)}) {
            QVERIFY(!told);
            QVERIFY(told.error().code == Errc::BadFile);
            QCOMPARE(told.error().message, said);
        }
        QVERIFY(!beside->intact()); // nobody read it, but what is missing is missing
        QVERIFY(before->intact());
        QVERIFY(MappedFile::check(&said)); // no mapping
        std::filesystem::resize_file(m_file, kBytes); // what was read as zeros stays so
        QCOMPARE(opened->intact().error().message, said);
        QVERIFY(MappedFile::open(m_file)->intact());
    }

    void aFileThatIsWrittenToIsToldOf()
    {
        const auto opened = MappedFile::open(m_file);
        const auto copied = MappedFile::open(m_file, kBytes);
        std::filesystem::last_write_time(m_file, std::filesystem::last_write_time(m_file) + std::chrono::seconds(5));
        QCOMPARE(opened->intact().error().message, m_file.string() + " was changed while it was open: open it again");
        QVERIFY(copied->intact());
        const auto again = MappedFile::open(m_file);
        QVERIFY(writeFileAtomically(m_file, "another file of that name"));
        QVERIFY(again->intact()); // the one that was opened is still there, without a name
        std::filesystem::remove(m_file);
        QVERIFY(again->intact());
        QCOMPARE(textOf(*again), QString(kBytes, 'w'));
    }

    void busErrorsElsewhereEndTheProgram_data()
    {
        QTest::addColumn<bool>("sent");
        QTest::newRow("sent by somebody") << true;
        QTest::newRow("in no file that we know") << false;
    }
    void busErrorsElsewhereEndTheProgram()
    {
        QFETCH(bool, sent);
        const pid_t child = ::fork();
        if (child == 0) {
            ::signal(SIGBUS, SIG_DFL); // the test program has a handler of its own
            const auto opened = MappedFile::open(m_file);
            if (sent)
                ::raise(SIGBUS);
            const int fd = ::open(m_file.c_str(), O_RDONLY);
            auto* const own = static_cast<const volatile char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd, 0));
            std::filesystem::resize_file(m_file, 1);
            ::_exit(own[kBytes - 1] == 'w' ? 5 : 6);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        QVERIFY(WIFSIGNALED(status));
        QCOMPARE(WTERMSIG(status), SIGBUS);
    }

private:
    std::optional<TempDir> m_dir;
    std::filesystem::path m_file;
};

LATHE_TEST(TestMappedFile)

} // namespace tst_mapped_file

#include "tst_mapped_file.moc"
