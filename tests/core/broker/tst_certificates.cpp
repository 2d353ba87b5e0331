#include "core/broker/address.h"
#include "core/broker/certificates.h"
#include "core/broker/connection.h"
#include "core/broker/nkey.h"
#include "core/broker/server_config.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/nats_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_certificates {

using namespace lathe;
using namespace lathe::broker;
using lathe::test::must, lathe::test::NatsServer;

using Hosts = std::vector<std::string>;

/// A server with TLS, and one member.
class TestCertificates : public QObject
{
    Q_OBJECT

    TempDir m_dir = must(TempDir::create());
    Certificate m_authority = must(makeAuthority("of a test"));
    NKey m_ada = must(makeUserKey());

    Result<> start(NatsServer& server, const Certificate& certificate)
    {
        ServerOptions options;
        options.port = static_cast<std::uint16_t>(server.port());
        options.certificate = m_dir.path() / "server.pem";
        options.privateKey = m_dir.path() / "server.key";
        options.members = {{Role::User, "ada", {}, m_ada.publicKey}};
        LATHE_TRY(writeFileAtomically(options.certificate, certificate.text));
        LATHE_TRY(writeFileAtomically(options.privateKey, certificate.key));
        LATHE_TRY_ASSIGN(const std::string config, serverConfig(options));
        LATHE_TRY(writeFileAtomically(m_dir.path() / "nats.conf", config));
        return server.start(m_dir.path() / "nats.conf");
    }
    Result<std::shared_ptr<Connection>> connect(const NatsServer& server, const std::string& authority,
                                                const std::string& host = "127.0.0.1", bool tls = true) const
    {
        Address address = {host, static_cast<std::uint16_t>(server.port()), tls};
        return Connection::open({urlOf(address), m_ada.seed, authority, "tst_certificates"});
    }

private slots:
    void aServerOfOurAuthorityIsTrusted()
    {
        NatsServer server;
        must(start(server, must(makeServerCertificate(m_authority, Hosts{"localhost", "127.0.0.1"}))));
        for (const char* host : {"127.0.0.1", "localhost"}) {
            const auto connection = connect(server, m_authority.text, host);
            QVERIFY2(connection, connection ? "" : connection.error().message.c_str());
            QVERIFY((*connection)->settle());
        }
        // A server that wants TLS gets it, whatever the address says.
        QVERIFY(connect(server, m_authority.text, "127.0.0.1", false));
    }

    void aServerOfAnotherAuthorityIsRefused()
    {
        NatsServer server;
        const Certificate other = must(makeAuthority("of a test")); // which calls itself the same
        must(start(server, must(makeServerCertificate(other, Hosts{"127.0.0.1"}))));
        QVERIFY(connect(server, other.text));
        for (const std::string& authority : {m_authority.text, std::string()}) {
            const auto refused = connect(server, authority);
            QVERIFY(!refused);
            QCOMPARE(int(refused.error().code), int(Errc::Incompatible));
        }
    }

    void aServerOfAnotherNameIsRefused()
    {
        NatsServer server;
        must(start(server, must(makeServerCertificate(m_authority, Hosts{"farm.example.org", "10.1.2.3"}))));
        for (const char* host : {"127.0.0.1", "localhost"}) {
            const auto refused = connect(server, m_authority.text, host);
            QVERIFY(!refused);
            QCOMPARE(int(refused.error().code), int(Errc::Incompatible));
        }
    }

    void aServerWithoutTlsIsRefusedWhereTlsIsExpected()
    {
        NatsServer server;
        must(server.start());
        const auto refused = connect(server, m_authority.text);
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().code), int(Errc::Incompatible));
        // Also of one who has no key: nothing of what he says goes in the clear.
        const std::string url = urlOf({"127.0.0.1", static_cast<std::uint16_t>(server.port()), true});
        QVERIFY(!Connection::open({url}));
    }

    void aServerThatKnowsNobodyDoesNotKnowUs()
    {
        NatsServer server;
        must(server.start());
        const auto refused = connect(server, m_authority.text, "127.0.0.1", false);
        QVERIFY(!refused);
        QCOMPARE(int(refused.error().code), int(Errc::Incompatible));
    }

    void aServersCertificateSignsNone()
    {
        const Certificate server = must(makeServerCertificate(m_authority, Hosts{"127.0.0.1"}));
        NatsServer nats;
        must(start(nats, must(makeServerCertificate(server, Hosts{"127.0.0.1"}))));
        QVERIFY(!connect(nats, m_authority.text));
    }

    void whatFitsIsKnown()
    {
        const Hosts hosts = {"farm", "10.1.2.3", "::1"};
        const Certificate server = must(makeServerCertificate(m_authority, hosts));
        QVERIFY(isServerCertificate(server.text, m_authority.text, hosts));
        QVERIFY(isServerCertificate(server.text, m_authority.text, Hosts{"::1", "farm"}));
        QVERIFY(!isServerCertificate(server.text, m_authority.text, Hosts{"farm2"}));
        QVERIFY(!isServerCertificate(server.text, m_authority.text, Hosts{"10.1.2.4"}));
        QVERIFY(!isServerCertificate(server.text, must(makeAuthority("of a test")).text, hosts));
        QVERIFY(!isServerCertificate("", m_authority.text, hosts));
        QVERIFY(!isServerCertificate(server.key, m_authority.text, hosts));
    }

    void whatIsNoAuthorityIsRefused()
    {
        const Certificate other = must(makeAuthority("other"));
        for (const Certificate& wrong : {Certificate(), Certificate{m_authority.text, ""},
                                         Certificate{"", m_authority.key}, Certificate{m_authority.text, other.key}}) {
            const auto refused = makeServerCertificate(wrong, Hosts{"farm"});
            QVERIFY(!refused);
            QVERIFY2(refused.error().message.starts_with("no certificate can be made: "),
                     refused.error().message.c_str());
        }
        QVERIFY(!makeServerCertificate(m_authority, Hosts()));
    }

    void fingerprintsTellThemApart()
    {
        const std::string first = must(fingerprintOf(m_authority.text));
        QCOMPARE(first.size(), std::size_t(32 * 3 - 1));
        QVERIFY(std::ranges::all_of(
            first, [](char c) { return std::string("0123456789ABCDEF:").find(c) != std::string::npos; }));
        QCOMPARE(must(fingerprintOf(m_authority.text)), first);
        QVERIFY(must(fingerprintOf(must(makeAuthority("of a test")).text)) != first);
        QCOMPARE(int(fingerprintOf("none").error().code), int(Errc::BadFile));
    }

    void anAuthoritysNameMayBeAnything()
    {
        for (const std::string& name : {std::string(300, 'x'), std::string("a,b/CN=c")})
            QVERIFY(makeAuthority(name));
    }
};

LATHE_TEST(TestCertificates)

} // namespace tst_certificates

#include "tst_certificates.moc"
