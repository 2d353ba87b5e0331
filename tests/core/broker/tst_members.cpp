#include "core/broker/connection.h"
#include "core/broker/nkey.h"
#include "core/broker/server_config.h"
#include "core/broker/subjects.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <mutex>

namespace tst_members {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::NatsServer;

namespace {

constexpr Hash128 kSession = {5, 6};

/// Subjects that a connection hears, on whatever thread.
struct Ear
{
    std::mutex mutex;
    std::vector<std::string> heard;
    std::vector<std::unique_ptr<Subscription>> subscriptions;

    void listen(Connection& connection, const std::string& subject)
    {
        auto subscription = connection.subscribe(subject, [this](std::string_view name, std::string_view) {
            const std::scoped_lock lock(mutex);
            heard.emplace_back(name);
        });
        if (subscription)
            subscriptions.push_back(*std::move(subscription));
        connection.settle();
    }
    std::vector<std::string> all()
    {
        const std::scoped_lock lock(mutex);
        return heard;
    }
    bool hears(const std::string& subject)
    {
        const std::scoped_lock lock(mutex);
        return std::ranges::find(heard, subject) != heard.end();
    }
};

/// A broker with two boards, two users and an observer.
class Farm
{
public:
    Result<> start(bool openHere = false)
    {
        LATHE_TRY_ASSIGN(m_dir, TempDir::create());
        ServerOptions options;
        options.port = static_cast<std::uint16_t>(m_server.port());
        for (const Member& member : {Member{Role::Runner, "board1", "rk3399", {}},
                                     Member{Role::Runner, "board2", "rk3399", {}}, Member{Role::User, "ada", {}, {}},
                                     Member{Role::User, "bob", {}, {}}, Member{Role::Observer, "oz", {}, {}}}) {
            LATHE_TRY_ASSIGN(const NKey key, makeUserKey());
            m_seeds[member.name] = key.seed;
            options.members.push_back(member);
            options.members.back().publicKey = key.publicKey;
        }
        options.isOpenHere = openHere;
        LATHE_TRY_ASSIGN(const std::string config, serverConfig(options));
        LATHE_TRY(writeFileAtomically(m_dir->path() / "nats.conf", config));
        return m_server.start(m_dir->path() / "nats.conf");
    }
    Result<std::shared_ptr<Connection>> connect(const std::string& name)
    {
        return Connection::open({m_server.url(), name.empty() ? "" : m_seeds[name]});
    }

private:
    std::optional<TempDir> m_dir;
    NatsServer m_server;
    std::map<std::string, std::string> m_seeds;
};

} // namespace

class TestMembers : public QObject
{
    Q_OBJECT

private slots:
    void aSeedHasItsKey()
    {
        const auto key = makeUserKey();
        QVERIFY(key);
        QCOMPARE(key->publicKey.size(), std::size_t(56));
        QCOMPARE(key->seed.size(), std::size_t(58));
        QVERIFY(key->publicKey.starts_with("U") && key->seed.starts_with("SU"));
        const auto again = userKeyOf(key->seed);
        QVERIFY(again);
        QCOMPARE(again->publicKey, key->publicKey);
        QCOMPARE(again->seed, key->seed);
        QVERIFY(makeUserKey()->seed != key->seed);
        // Public examples of the format (the documentation of NATS).
        const auto known = userKeyOf("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY");
        QVERIFY(known);
        QCOMPARE(known->publicKey, std::string("UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"));
    }

    void aDamagedSeedIsRefusedAndNotTold()
    {
        const std::string seed = makeUserKey()->seed;
        for (std::size_t i = 0; i < seed.size(); ++i) {
            std::string damaged = seed;
            damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
            const auto key = userKeyOf(damaged);
            if (i + 1 == seed.size() && key) // bits that no byte has
                continue;
            QVERIFY(!key);
            QCOMPARE(int(key.error().code), int(Errc::InvalidArgument));
            QVERIFY(key.error().message.find(seed.substr(4, 20)) == std::string::npos);
        }
        for (const char* text : {"", "SU", "su", "no seed at all, with spaces"})
            QVERIFY(!userKeyOf(text));
    }

    void wordsAreWhatSubjectsCanHave()
    {
        QVERIFY(isWord("rk3399") && isWord("a-b_C"));
        for (const char* text : {"", "a.b", "*", ">", "a b", "\xc3\xa4"})
            QVERIFY(!isWord(text));
        QVERIFY(!isWord(std::string(65, 'a')));
        QCOMPARE(asWord("RTX 4090 (rev. 2)"), std::string("RTX-4090--rev--2-"));
        QVERIFY(isWord(asWord("")) && isWord(asWord(std::string(100, '*'))));
    }

    void aBrokerForOthersNeedsTlsAndKeys()
    {
        ServerOptions options;
        QVERIFY(serverConfig(options));
        options.isOpenHere = true;
        QVERIFY(serverConfig(options));
        options.host = "0.0.0.0";
        QCOMPARE(int(serverConfig(options).error().code), int(Errc::Unsupported));
        options.certificate = "/cert.pem";
        options.privateKey = "/key.pem";
        QCOMPARE(int(serverConfig(options).error().code), int(Errc::Unsupported)); // open to everybody
        options.isOpenHere = false;
        QVERIFY(serverConfig(options));
    }

    void namesThatWouldSayMoreAreRefused()
    {
        ServerOptions options;
        const std::string key = makeUserKey()->publicKey;
        for (const char* name : {"*", ">", "a.b", "", "x\" }"}) {
            options.members = {{Role::User, name, {}, key}};
            QCOMPARE(int(serverConfig(options).error().code), int(Errc::InvalidArgument));
            options.members = {{Role::Runner, "board", name, key}};
            QCOMPARE(int(serverConfig(options).error().code), int(Errc::InvalidArgument));
        }
        options.members = {{Role::User, "ada", {}, "UNOKEY\" }"}};
        QVERIFY(!serverConfig(options));
        options.members = {{Role::User, "ada", {}, key}, {Role::User, "bob", {}, key}};
        QVERIFY(!serverConfig(options)); // who would it be?
    }

    void whoHasNoKeySeesNothing()
    {
        Farm farm;
        const auto started = farm.start();
        QVERIFY2(started, started ? "" : started.error().message.c_str());
        const auto stranger = farm.connect("");
        QVERIFY(!stranger);
        QCOMPARE(int(stranger.error().code), int(Errc::Incompatible));
        const auto ada = farm.connect("ada");
        QVERIFY2(ada, ada ? "" : ada.error().message.c_str());
    }

    void onThisMachineOneNeedsNone()
    {
        Farm farm;
        QVERIFY(farm.start(true));
        const auto local = farm.connect("");
        QVERIFY2(local, local ? "" : local.error().message.c_str());
        Ear ear;
        ear.listen(**local, "lathe.here.>");
        const auto board = farm.connect("board1");
        QVERIFY(board);
        (*board)->publish(hereSubject("rk3399", "board1"), "x");
        QTRY_VERIFY(ear.hears(hereSubject("rk3399", "board1")));
    }

    void nobodyReadsWhatAnotherSends()
    {
        Farm farm;
        QVERIFY(farm.start());
        const auto ada = farm.connect("ada"), bob = farm.connect("bob"), board1 = farm.connect("board1"),
                   board2 = farm.connect("board2"), oz = farm.connect("oz");
        for (const auto* member : {&ada, &bob, &board1, &board2, &oz})
            QVERIFY2(*member, *member ? "" : member->error().message.c_str());
        Ear ofBoard1, ofAda, ofBob, ofBoard2, ofOz;
        ofBoard1.listen(**board1, "lathe.to.board1.>");
        ofAda.listen(**ada, "lathe.from.*.ada.>");
        ofAda.listen(**ada, offerSubject("ada"));
        for (auto [ear, connection] :
             {std::pair(&ofBob, &*bob), std::pair(&ofBoard2, &*board2), std::pair(&ofOz, &*oz)})
            for (const char* subject : {"lathe.to.board1.>", "lathe.to.*.ada.>", "lathe.from.*.ada.>",
                                        "lathe.offer.ada", "lathe.offer.*", "lathe.>", ">"})
                ear->listen(**connection, subject);
        const std::string to = toDeviceSubject("board1", "ada", kSession);
        const std::string from = fromDeviceSubject("board1", "ada", kSession);
        (*ada)->publish(to, "a secret network");
        (*board1)->publish(from, "its results");
        (*board1)->publish(offerSubject("ada"), "an offer");
        QTRY_VERIFY(ofBoard1.hears(to));
        QTRY_VERIFY(ofAda.hears(from) && ofAda.hears(offerSubject("ada")));
        // All have been told what was sent before they answer.
        QVERIFY((*bob)->settle() && (*board2)->settle() && (*oz)->settle());
        QVERIFY2(ofBob.all().empty() && ofBoard2.all().empty() && ofOz.all().empty(), "somebody listened");
    }

    void nobodySpeaksForAnother()
    {
        Farm farm;
        QVERIFY(farm.start());
        const auto ada = farm.connect("ada"), bob = farm.connect("bob"), board1 = farm.connect("board1"),
                   board2 = farm.connect("board2"), oz = farm.connect("oz");
        for (const auto* member : {&ada, &bob, &board1, &board2, &oz})
            QVERIFY2(*member, *member ? "" : member->error().message.c_str());
        Ear ofBoard1, ofAda;
        ofBoard1.listen(**board1, "lathe.to.board1.>");
        ofBoard1.listen(**board1, "lathe.claim.rk3399.*");
        ofBoard1.listen(**board1, "lathe.here.rk3399.*");
        ofBoard1.listen(**board1, orderSubject("rk3399", "board1", "*"));
        ofAda.listen(**ada, "lathe.from.*.ada.>");
        (*bob)->publish(toDeviceSubject("board1", "ada", kSession), "as ada");
        (*bob)->publish(claimSubject("rk3399", "ada"), "as ada");
        (*bob)->publish(hereSubject("rk3399", "board1"), "as a board");
        (*bob)->publish(fromDeviceSubject("board1", "ada", kSession), "as a board");
        (*board2)->publish(hereSubject("rk3399", "board1"), "as another board");
        (*board2)->publish(fromDeviceSubject("board1", "ada", kSession), "as another board");
        (*oz)->publish(claimSubject("rk3399", "oz"), "an observer's claim");
        QVERIFY((*bob)->settle() && (*board2)->settle() && (*oz)->settle());
        (*bob)->publish(orderSubject("rk3399", "board1", "ada"), "as ada");
        (*oz)->publish(orderSubject("rk3399", "board1", "oz"), "an observer's order");
        (*board2)->publish(orderSubject("rk3399", "board1", "board2"), "another board's order");
        QVERIFY((*bob)->settle() && (*board2)->settle() && (*oz)->settle());
        (*bob)->publish(claimSubject("rk3399", "bob"), "as himself");
        (*bob)->publish(orderSubject("rk3399", "board1", "bob"), "as himself");
        QVERIFY((*bob)->settle() && (*oz)->settle() && (*board2)->settle() && (*board1)->settle());
        QTRY_VERIFY(ofBoard1.hears(claimSubject("rk3399", "bob")));
        QTRY_VERIFY(ofBoard1.hears(orderSubject("rk3399", "board1", "bob")));
        QCOMPARE(ofBoard1.all().size(), std::size_t(2));
        QVERIFY(ofAda.all().empty());
    }
};

LATHE_TEST(TestMembers)

} // namespace tst_members

#include "tst_members.moc"
