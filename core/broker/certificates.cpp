#include "core/broker/certificates.h"

#include "core/support/message.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>

namespace lathe::broker {

namespace {

template<auto release>
struct Releaser
{
    template<typename T>
    void operator()(T* object) const
    {
        release(object);
    }
};
using OwnKey = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY_free>>;
using OwnX509 = std::unique_ptr<X509, Releaser<X509_free>>;
using OwnBio = std::unique_ptr<BIO, Releaser<BIO_free_all>>;
using OwnNumber = std::unique_ptr<BIGNUM, Releaser<BN_free>>;
using OwnExtension = std::unique_ptr<X509_EXTENSION, Releaser<X509_EXTENSION_free>>;
using OwnNames = std::unique_ptr<GENERAL_NAMES, Releaser<GENERAL_NAMES_free>>;
using OwnName = std::unique_ptr<GENERAL_NAME, Releaser<GENERAL_NAME_free>>;

constexpr long kDaySeconds = 24L * 3600;
constexpr long kYears = 10;
constexpr int kDaysLeft = 365; ///< less is as good as over: a tracker runs for long

/// With what OpenSSL says of its last failure.
Error notMade()
{
    const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
    ::ERR_clear_error();
    return makeError(Errc::Internal, say(Msg::CertificateNotMade, reason != nullptr ? reason : "OpenSSL"));
}

OwnBio readerOf(const std::string& text)
{
    return OwnBio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

OwnX509 certificateIn(const std::string& text)
{
    const OwnBio bio = readerOf(text);
    return OwnX509(bio ? ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
}

OwnKey privateKeyIn(const std::string& text)
{
    const OwnBio bio = readerOf(text);
    char noPassword[] = ""; // else OpenSSL asks for one on the terminal
    return OwnKey(bio ? ::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, noPassword) : nullptr);
}

/// Of a PEM writer's output.
template<typename Write>
std::string written(Write write)
{
    const OwnBio bio(::BIO_new(::BIO_s_mem()));
    if (!bio || write(bio.get()) != 1)
        return {};
    char* bytes = nullptr;
    const long count = ::BIO_get_mem_data(bio.get(), &bytes);
    return {bytes, static_cast<std::size_t>(count)};
}

bool isIpAddress(const std::string& host)
{
    std::array<unsigned char, sizeof(in6_addr)> bytes;
    return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1
           || ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// One that no other certificate has: 127 random bits.
bool setSerial(X509* certificate)
{
    const OwnNumber number(::BN_new());
    return number && ::BN_rand(number.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
           && ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate)) != nullptr;
}

bool addExtension(X509* certificate, X509* issuer, int id, const char* value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const OwnExtension extension(::X509V3_EXT_conf_nid(nullptr, &context, id, value));
    return extension && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

/// As values, not as a text of OpenSSL's configuration: no name says more than itself.
bool addHosts(X509* certificate, std::span<const std::string> hosts)
{
    const OwnNames names(::GENERAL_NAMES_new());
    for (const std::string& host : hosts) {
        OwnName name(::GENERAL_NAME_new());
        if (!names || !name)
            return false;
        if (isIpAddress(host)) {
            ASN1_OCTET_STRING* const address = ::a2i_IPADDRESS(host.c_str());
            if (address == nullptr)
                return false;
            ::GENERAL_NAME_set0_value(name.get(), GEN_IPADD, address);
        } else {
            ASN1_IA5STRING* const text = ::ASN1_IA5STRING_new();
            if (text == nullptr || ::ASN1_STRING_set(text, host.data(), static_cast<int>(host.size())) != 1) {
                ::ASN1_IA5STRING_free(text);
                return false;
            }
            ::GENERAL_NAME_set0_value(name.get(), GEN_DNS, text);
        }
        if (sk_GENERAL_NAME_push(names.get(), name.get()) <= 0)
            return false;
        name.release(); // NOLINT(bugprone-unused-return-value): the list has it
    }
    return names && !hosts.empty()
           && ::X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

/// What all certificates have; signed by nobody yet. Clocks of devices may be some hours behind.
OwnX509 blankCertificate(EVP_PKEY* key, const std::string& commonName)
{
    OwnX509 certificate(::X509_new());
    if (!certificate || ::X509_set_version(certificate.get(), X509_VERSION_3) != 1 || !setSerial(certificate.get())
        || ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -kDaySeconds) == nullptr
        || ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), kYears * 365 * kDaySeconds) == nullptr
        || ::X509_set_pubkey(certificate.get(), key) != 1)
        return {};
    X509_NAME* const subject = ::X509_get_subject_name(certificate.get());
    const std::string shortened = commonName.substr(0, ub_common_name);
    if (::X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("Lathe"), -1,
                                     -1, 0)
            != 1
        || ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                        reinterpret_cast<const unsigned char*>(shortened.c_str()), -1, -1, 0)
               != 1)
        return {};
    return certificate;
}

Result<Certificate> signedBy(EVP_PKEY* issuer, X509* certificate, EVP_PKEY* key)
{
    if (::X509_sign(certificate, issuer, ::EVP_sha256()) == 0)
        return notMade();
    Certificate made;
    made.text = written([&](BIO* bio) { return ::PEM_write_bio_X509(bio, certificate); });
    made.key = written(
        [&](BIO* bio) { return ::PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
    if (made.text.empty() || made.key.empty())
        return notMade();
    return made;
}

OwnKey newEllipticKey()
{
    return OwnKey(::EVP_EC_gen("P-256"));
}

} // namespace

Result<Certificate> makeAuthority(const std::string& name)
{
    const OwnKey key = newEllipticKey();
    const OwnX509 certificate = key ? blankCertificate(key.get(), name) : OwnX509();
    X509* const own = certificate.get();
    if (own == nullptr || ::X509_set_issuer_name(own, ::X509_get_subject_name(own)) != 1
        || !addExtension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        || !addExtension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign")
        || !addExtension(own, own, NID_subject_key_identifier, "hash"))
        return notMade();
    return signedBy(key.get(), own, key.get());
}

Result<Certificate> makeServerCertificate(const Certificate& authority, std::span<const std::string> hosts)
{
    const OwnX509 issuer = certificateIn(authority.text);
    const OwnKey issuerKey = privateKeyIn(authority.key);
    if (!issuer || !issuerKey || ::X509_check_private_key(issuer.get(), issuerKey.get()) != 1)
        return notMade();
    const OwnKey key = newEllipticKey();
    const OwnX509 certificate = key && !hosts.empty() ? blankCertificate(key.get(), "server " + hosts.front())
                                                      : OwnX509();
    X509* const own = certificate.get();
    if (own == nullptr || ::X509_set_issuer_name(own, ::X509_get_subject_name(issuer.get())) != 1
        || ::X509_set1_notAfter(own, ::X509_get0_notAfter(issuer.get())) != 1
        || !addExtension(own, issuer.get(), NID_basic_constraints, "critical,CA:FALSE")
        || !addExtension(own, issuer.get(), NID_key_usage, "critical,digitalSignature")
        || !addExtension(own, issuer.get(), NID_ext_key_usage, "serverAuth")
        || !addExtension(own, issuer.get(), NID_subject_key_identifier, "hash")
        || !addExtension(own, issuer.get(), NID_authority_key_identifier, "keyid") || !addHosts(own, hosts))
        return notMade();
    return signedBy(issuerKey.get(), own, key.get());
}

bool isServerCertificate(const std::string& text, const std::string& authority, std::span<const std::string> hosts)
{
    const OwnX509 certificate = certificateIn(text), issuer = certificateIn(authority);
    int days = 0, seconds = 0;
    const bool fits = certificate && issuer && ::X509_verify(certificate.get(), ::X509_get0_pubkey(issuer.get())) == 1
                      && ::ASN1_TIME_diff(&days, &seconds, nullptr, ::X509_get0_notAfter(certificate.get())) == 1
                      && days >= kDaysLeft && std::ranges::all_of(hosts, [&](const std::string& host) {
                             return isIpAddress(host)
                                        ? ::X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1
                                        : ::X509_check_host(certificate.get(), host.data(), host.size(), 0, nullptr)
                                              == 1;
                         });
    ::ERR_clear_error(); // what does not fit is no failure of what comes next
    return fits;
}

Result<std::string> fingerprintOf(const std::string& text)
{
    const OwnX509 certificate = certificateIn(text);
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int count = 0;
    if (!certificate || ::X509_digest(certificate.get(), ::EVP_sha256(), bytes.data(), &count) != 1) {
        Error error = notMade();
        error.code = Errc::BadFile;
        return error;
    }
    std::string shown;
    for (unsigned int i = 0; i < count; ++i)
        shown += fmt::format("{}{:02X}", i == 0 ? "" : ":", bytes[i]);
    return shown;
}

} // namespace lathe::broker
