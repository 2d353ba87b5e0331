#include "core/broker/subjects.h"
#include "core/broker/tracker_folder.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <sys/stat.h>

#include <thread>

namespace tst_tracker_folder {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::must;

class TestTrackerFolder : public QObject
{
    Q_OBJECT

    TempDir m_dir = must(TempDir::create());
    TrackerFolder m_folder = must(TrackerFolder::open(m_dir.path() / "unused"));

private slots:
    void init() { m_folder = must(TrackerFolder::open(m_dir.path() / QTest::currentTestFunction())); }

    void aDamagedListIsNoEmptyOne()
    {
        QVERIFY(must(m_folder.members()).empty());
        must(m_folder.add(Role::User, "ada"));
        const std::string text = must(readFile(m_folder.membersFile()));
        for (const std::string& damaged :
             {std::string(), text.substr(0, text.size() / 2), std::string("{}"), std::string("[]"),
              std::string(R"({"members": [{"role": "user"}]})"), std::string(R"({"members": [{"name": "ada"}]})"),
              std::string(R"({"members": [{"role": "user", "name": ">", "public_key": "U"}]})")}) {
            must(writeFileAtomically(m_folder.membersFile(), damaged));
            const auto members = m_folder.members();
            QVERIFY2(!members, damaged.c_str());
            QCOMPARE(int(members.error().code), int(Errc::BadFile));
            QVERIFY(!m_folder.add(Role::User, "bob") && !m_folder.revoke("ada"));
            QCOMPARE(must(readFile(m_folder.membersFile())), damaged);
        }
    }

    void namesAreGivenOnce()
    {
        QCOMPARE(must(m_folder.add(Role::Runner, {}, "gpu")).member.name, std::string("gpu-1"));
        QCOMPARE(must(m_folder.add(Role::Runner, "gpu-3", "gpu")).member.name, std::string("gpu-3"));
        QCOMPARE(must(m_folder.add(Role::Runner, {}, "gpu")).member.name, std::string("gpu-2"));
        QCOMPARE(must(m_folder.add(Role::Runner, {}, "gpu")).member.name, std::string("gpu-4"));
        must(m_folder.revoke("gpu-1"));
        QCOMPARE(must(m_folder.add(Role::Runner, {}, "gpu")).member.name, std::string("gpu-1"));
        const auto long1 = m_folder.add(Role::Runner, {}, std::string(64, 'k'));
        QVERIFY(long1 && isWord(long1->member.name));
        const auto again = m_folder.add(Role::User, "gpu-1");
        QVERIFY(!again);
        QCOMPARE(int(again.error().code), int(Errc::InvalidArgument));
        QVERIFY2(again.error().message.find("gpu-1 has a token already") != std::string::npos,
                 again.error().message.c_str());
        for (const char* name : {"", "*", "a.b", "a b"})
            QVERIFY(!m_folder.add(Role::User, name));
        QVERIFY(!m_folder.add(Role::Runner, "x", "*") && !m_folder.add(Role::Runner, "x"));
        QCOMPARE(int(m_folder.revoke("nobody").error().code), int(Errc::NotFound));
        QCOMPARE(must(m_folder.members()).size(), std::size_t(5));
    }

    void manyProgramsMayAddAtOnce()
    {
        constexpr int kThreads = 4, kEach = 8;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < kThreads; ++i)
                threads.emplace_back([this] {
                    const TrackerFolder own = must(TrackerFolder::open(m_folder.path()));
                    for (int each = 0; each < kEach; ++each)
                        must(own.add(Role::Runner, {}, "gpu"));
                });
        }
        const auto members = must(m_folder.members());
        QCOMPARE(members.size(), std::size_t(kThreads * kEach));
        ServerOptions options;
        options.members = members;
        QVERIFY(serverConfig(options)); // no key twice
    }

    void whatItKeepsIsItsOwners()
    {
        const Token token = must(m_folder.add(Role::User, "ada"));
        const auto files = must(m_folder.serverCertificate(std::vector<std::string>{"farm"}));
        must(m_folder.writeConfig({}));
        struct stat info = {};
        QCOMPARE(::stat(m_folder.path().c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0700));
        for (const auto& file : std::filesystem::directory_iterator(m_folder.path())) {
            QCOMPARE(::stat(file.path().c_str(), &info), 0);
            QVERIFY2((info.st_mode & 0777) == 0600, file.path().c_str());
            QVERIFY(must(readFile(file.path())).find(token.seed) == std::string::npos);
        }
        // A server's certificate stays while it fits.
        const std::string text = must(readFile(files.certificate));
        must(m_folder.serverCertificate(std::vector<std::string>{"farm"}));
        QCOMPARE(must(readFile(files.certificate)), text);
        must(m_folder.serverCertificate(std::vector<std::string>{"farm", "other"}));
        QVERIFY(must(readFile(files.certificate)) != text);
        // A folder that others could write to becomes its owner's.
        std::filesystem::permissions(m_folder.path(), std::filesystem::perms::all);
        must(TrackerFolder::open(m_folder.path()));
        QCOMPARE(::stat(m_folder.path().c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0700));
    }
};

LATHE_TEST(TestTrackerFolder)

} // namespace tst_tracker_folder

#include "tst_tracker_folder.moc"
