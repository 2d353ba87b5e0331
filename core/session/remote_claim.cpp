#include "core/session/remote_claim.h"

#include "core/broker/subjects.h"
#include "core/broker/token.h"
#include "core/support/this_machine.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace lathe::session {

namespace {

std::string userAndMachine()
{
    const char* user = std::getenv("USER");
    if (user == nullptr || *user == '\0')
        user = std::getenv("LOGNAME");
    return broker::asWord((user != nullptr && *user != '\0' ? std::string(user) : std::to_string(::getuid())) + "-"
                          + hostName());
}

} // namespace

Result<measure::RemoteClaim> remoteClaim(const BrokerWords& words, std::string key, std::string program)
{
    measure::RemoteClaim claim;
    std::optional<broker::Token> token;
    if (!words.token.empty()) {
        LATHE_TRY_ASSIGN(token, broker::readToken(words.token, broker::Role::User));
    }
    LATHE_TRY_ASSIGN(claim.broker, broker::brokerAddress(words.address, token, program));
    claim.key = std::move(key);
    claim.user = token ? token->member.name : userAndMachine();
    claim.program = std::move(program);
    return claim;
}

Result<measure::RemoteClaim> remoteClaim(const TuneOptions& options, std::string program)
{
    LATHE_TRY_ASSIGN(measure::RemoteClaim claim,
                     remoteClaim({options.broker, options.credentials}, options.devices.front(), std::move(program)));
    claim.priority = options.priority;
    claim.reserve = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(options.reserveSeconds));
    return claim;
}

} // namespace lathe::session
