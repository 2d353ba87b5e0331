#include "core/broker/address.h"
#include "core/broker/nkey.h"
#include "core/broker/private_file.h"
#include "core/broker/token.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace tst_token {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::must;

namespace {

Token tokenOf(Role role)
{
    const NKey key = must(makeUserKey());
    Token token;
    token.member = {role, "board-1", role == Role::Runner ? "rk3399" : "", key.publicKey};
    token.seed = key.seed;
    token.authority = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";
    return token;
}

} // namespace

class TestToken : public QObject
{
    Q_OBJECT

    TempDir m_dir = must(TempDir::create());

    Result<Token> read(const std::string& text)
    {
        const auto file = m_dir.path() / "a.token";
        must(writePrivateFile(file, text));
        return readToken(file);
    }

private slots:
    void whatIsWrittenIsRead()
    {
        for (const Role role : {Role::Runner, Role::User, Role::Observer}) {
            const Token token = tokenOf(role);
            const auto again = read(toText(token));
            QVERIFY2(again, again ? "" : again.error().message.c_str());
            QCOMPARE(int(again->member.role), int(role));
            QCOMPARE(again->member.name, token.member.name);
            QCOMPARE(again->member.key, token.member.key);
            QCOMPARE(again->member.publicKey, token.member.publicKey);
            QCOMPARE(again->seed, token.seed);
            QCOMPARE(again->authority, token.authority);
        }
    }

    void whatMissesOrIsDamagedIsSaid_data()
    {
        QTest::addColumn<QByteArray>("member");
        QTest::addColumn<QByteArray>("value"); // empty: none
        QTest::newRow("another file") << QByteArray("lathe") << QByteArray();
        QTest::newRow("another file of ours") << QByteArray("lathe") << QByteArray("members");
        QTest::newRow("no role") << QByteArray("role") << QByteArray();
        QTest::newRow("an unknown role") << QByteArray("role") << QByteArray("admin");
        QTest::newRow("no name") << QByteArray("name") << QByteArray();
        QTest::newRow("a name for everything") << QByteArray("name") << QByteArray(">");
        QTest::newRow("no key") << QByteArray("key") << QByteArray();
        QTest::newRow("a key for everything") << QByteArray("key") << QByteArray("*");
        QTest::newRow("no seed") << QByteArray("seed") << QByteArray();
        QTest::newRow("a damaged seed") << QByteArray("seed") << QByteArray("SUANOSEED");
    }
    void whatMissesOrIsDamagedIsSaid()
    {
        QFETCH(QByteArray, member);
        QFETCH(QByteArray, value);
        const Token token = tokenOf(Role::Runner);
        auto object = nlohmann::json::parse(toText(token));
        if (value.isEmpty())
            object.erase(member.toStdString());
        else
            object[member.toStdString()] = value.toStdString();
        const auto refused = read(object.dump());
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().code), int(Errc::BadFile));
        QVERIFY2(refused.error().message.find("a.token is not a token") != std::string::npos,
                 refused.error().message.c_str());
        QVERIFY(refused.error().message.find(token.seed.substr(4)) == std::string::npos);
    }

    void noJsonIsNoToken()
    {
        for (const char* text : {"", "{", "[]", "SUAAA", "\xff\xfe"})
            QCOMPARE(int(read(text).error().code), int(Errc::BadFile));
        QCOMPARE(int(readToken(m_dir.path() / "none").error().code), int(Errc::NotFound));
    }

    void addressesAreReadAsPeopleWriteThem()
    {
        const auto url = [](const char* text) {
            const auto address = parseAddress(text);
            return address ? urlOf(*address) : std::string();
        };
        QCOMPARE(url("farm:4222"), std::string("nats://farm:4222"));
        QCOMPARE(url("nats://127.0.0.1:1"), std::string("nats://127.0.0.1:1"));
        QCOMPARE(url("tls://farm.example.org:65535"), std::string("tls://farm.example.org:65535"));
        QCOMPARE(url("[::1]:4222"), std::string("nats://[::1]:4222"));
        for (const char* text :
             {"", "farm", "farm:", ":4222", "farm:0", "farm:65536", "farm:-1", "farm:4222x", "farm:4222/x",
              "http://farm:4222", "ada:secret@farm:4222", "tls://", "::1:4222", "[]:4222", "[farm]:4222", "a b:1"}) {
            const auto address = parseAddress(text);
            QVERIFY2(!address, text);
            QCOMPARE(int(address.error().code), int(Errc::InvalidArgument));
        }
    }

    void tlsIsWhatTheSchemeOrTheTokenSays()
    {
        Token token = tokenOf(Role::User);
        QCOMPARE(brokerAddress("farm:1", {}, "p")->url, std::string("nats://farm:1"));
        QCOMPARE(brokerAddress("farm:1", token, "p")->url, std::string("tls://farm:1"));
        QCOMPARE(brokerAddress("nats://farm:1", token, "p")->url, std::string("nats://farm:1"));
        token.authority.clear();
        QCOMPARE(brokerAddress("farm:1", token, "p")->url, std::string("nats://farm:1"));
        const auto address = brokerAddress("tls://farm:1", token, "p");
        QCOMPARE(address->url, std::string("tls://farm:1"));
        QCOMPARE(address->seed, token.seed);
        QCOMPARE(address->name, std::string("p"));
        QVERIFY(!brokerAddress("farm", token, "p"));
    }

    void aSecretIsItsOwnersAndReplacesNothing()
    {
        const auto file = m_dir.path() / "secret";
        must(writeNewPrivateFile(file, "one"));
        struct stat info = {};
        QCOMPARE(::stat(file.c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0600));
        const auto again = writeNewPrivateFile(file, "two");
        QVERIFY(!again);
        QCOMPARE(int(again.error().code), int(Errc::InvalidArgument));
        QCOMPARE(must(readFile(file)), std::string("one"));
        must(writePrivateFile(file, "three"));
        QCOMPARE(must(readFile(file)), std::string("three"));
        QCOMPARE(::stat(file.c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0600));
        const auto folder = std::filesystem::directory_iterator(m_dir.path());
        for (const auto& entry : folder)
            QVERIFY2(!entry.path().filename().string().starts_with("."), entry.path().c_str());
    }
};

LATHE_TEST(TestToken)

} // namespace tst_token

#include "tst_token.moc"
