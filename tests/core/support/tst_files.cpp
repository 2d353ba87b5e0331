#include "core/support/files.h"
#include "core/support/prepared_file.h"
#include "tests/support/test_program.h"

#include <QScopeGuard>
#include <QtTest>

#include <sys/wait.h>
#include <unistd.h>

namespace tst_files {

using namespace lathe;

class TestFiles : public QObject
{
    Q_OBJECT

private slots:
    void foldersOfPathAreThoseThatItNamesFromTheRootOn()
    {
        const QByteArray usual = qgetenv("PATH");
        const auto restore = qScopeGuard([&usual] { qputenv("PATH", usual); });
        qputenv("PATH", "/b:::here:/a/bin:");
        QVERIFY((pathFolders() == std::vector<std::filesystem::path>{"/b", "/a/bin"}));
        qunsetenv("PATH");
        QVERIFY(pathFolders().empty());
    }

    void theUsersFolderIsThatOfTheVariableElseInHisHome()
    {
        const QByteArray data = qgetenv("XDG_DATA_HOME"), home = qgetenv("HOME");
        const auto restore = qScopeGuard([&] {
            data.isNull() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data);
            home.isNull() ? qunsetenv("HOME") : qputenv("HOME", home);
        });
        qputenv("HOME", "/home/ada");
        qputenv("XDG_DATA_HOME", "/data");
        QVERIFY(userDataFolder() == "/data/lathe");
        qputenv("XDG_DATA_HOME", "relative"); // which counts as not set
        QVERIFY(userDataFolder() == "/home/ada/.local/share/lathe");
        qunsetenv("XDG_DATA_HOME");
        QVERIFY(userDataFolder() == "/home/ada/.local/share/lathe");
        qunsetenv("HOME");
        QVERIFY(userDataFolder().empty());
    }

    void whatIsWrittenIsRead()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto path = dir->path() / "a.txt";
        QVERIFY(writeFileAtomically(path, "one"));
        QVERIFY(writeFileAtomically(path, "two"));
        const auto text = readFile(path);
        QVERIFY(text);
        QCOMPARE(QString::fromStdString(*text), QString("two"));
        // Nothing else is left in the folder.
        QCOMPARE(std::distance(std::filesystem::directory_iterator(dir->path()), {}), std::ptrdiff_t(1));
    }

    void refusals()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        QCOMPARE(int(readFile(dir->path() / "absent").error().code), int(Errc::NotFound));
        QCOMPARE(int(readFile(dir->path()).error().code), int(Errc::BadFile));
        QCOMPARE(int(readFile("/dev/zero").error().code), int(Errc::BadFile));
        QVERIFY(writeFileAtomically(dir->path() / "long", "0123456789"));
        QCOMPARE(int(readFile(dir->path() / "long", 5).error().code), int(Errc::BadFile));
        QCOMPARE(int(writeFileAtomically(dir->path() / "no" / "such", "x").error().code), int(Errc::InvalidArgument));
        QCOMPARE(int(findProgram("lathe-no-such-program").error().code), int(Errc::NotFound));
    }

    void whatAKilledProgramLeftGoesWithTheNextFolder()
    {
        auto base = TempDir::create();
        QVERIFY(base);
        const QByteArray before = qgetenv("TMPDIR");
        qputenv("TMPDIR", base->path().c_str());
        const auto restore = qScopeGuard([&] { before.isNull() ? qunsetenv("TMPDIR") : qputenv("TMPDIR", before); });
        const pid_t child = ::fork();
        if (child == 0) {
            auto left = TempDir::create("work");
            if (left)
                (void)writeFileAtomically(left->path() / "x", "x");
            ::_exit(0); // no destructor, as when it is killed
        }
        ::waitpid(child, nullptr, 0);
        const auto count = [&] { return std::distance(std::filesystem::directory_iterator(base->path()), {}); };
        QCOMPARE(count(), 1);
        const auto other = TempDir::create("another");
        QCOMPARE(count(), 2); // not of this purpose
        const auto alive = TempDir::create("work");
        QCOMPARE(count(), 2);
        const auto second = TempDir::create("work"); // the living one's stays
        QVERIFY(alive && second && std::filesystem::exists(alive->path()));
        QCOMPARE(count(), 3);
    }

    /// Between the name that a complete file gets and its place there is a moment to be killed in.
    void whatAKilledProgramLeftBesideAFileGoesWhenItIsWrittenAgain()
    {
        const pid_t gone = ::fork();
        if (gone == 0)
            ::_exit(0);
        QVERIFY(::waitpid(gone, nullptr, 0) == gone);
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto touch = [&](const std::string& name) { QVERIFY(writeFileAtomically(dir->path() / name, "x")); };
        const std::string left = ".a.txt." + std::to_string(gone) + ".0123ab", alive = ".a.txt.1.0123ab",
                          other = ".b.txt." + std::to_string(gone) + ".0123ab", own = ".a.txt.old";
        for (const std::string& name : {left, alive, other, own})
            touch(name);
        touch("a.txt");
        QVERIFY(!std::filesystem::exists(dir->path() / left));
        for (const std::string& name : {alive, other, own, std::string("a.txt")})
            QVERIFY2(std::filesystem::exists(dir->path() / name), name.c_str());
    }

    void aTempDirGoesWithItsContents()
    {
        std::filesystem::path path;
        {
            auto dir = TempDir::create();
            QVERIFY(dir);
            path = dir->path();
            std::filesystem::create_directories(path / "deep" / "er");
            QVERIFY(writeFileAtomically(path / "deep" / "er" / "x", "x"));
        }
        QVERIFY(!std::filesystem::exists(path));
    }

    void severalFilesAreReplacedTogetherOrNotAtAll()
    {
        auto dir = TempDir::create();
        QVERIFY(dir);
        const auto path = [&](const std::string& name) { return dir->path() / name; };
        const auto contents = [&](const char* name) { return readFile(path(name)) ? *readFile(path(name)) : ""; };
        QVERIFY(writeFileAtomically(path("first"), "old"));
        const auto replace = [&](const std::string& second) -> Result<> {
            std::vector<PreparedFile> files;
            for (const std::string& name : {std::string("first"), second}) {
                LATHE_TRY_ASSIGN(PreparedFile file,
                                 PreparedFile::write(path(name), std::as_bytes(std::span(std::string_view("new")))));
                files.push_back(std::move(file));
            }
            return PreparedFile::putAll(files);
        };
        // One whose name leaves no room for another name beside it.
        QVERIFY(!replace(std::string(254, 'x')));
        QCOMPARE(contents("first"), std::string("old"));
        QCOMPARE(std::distance(std::filesystem::directory_iterator(dir->path()), {}), std::ptrdiff_t(1));
        QVERIFY(replace("second"));
        QCOMPARE(contents("first"), std::string("new"));
        QCOMPARE(contents("second"), std::string("new"));
    }
};

LATHE_TEST(TestFiles)

} // namespace tst_files

#include "tst_files.moc"
