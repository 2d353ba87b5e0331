#include "app/runner/farm.h"

#include "core/broker/address.h"
#include "core/broker/subjects.h"
#include "core/broker/token.h"
#include "core/serve/asked_devices.h"
#include "core/serve/farm_runner.h"
#include "core/serve/machine_health.h"
#include "core/serve/machine_lock.h"
#include "core/support/deadline.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/this_machine.h"
#include "core/wire/process_port.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

namespace lathe::runner {

namespace {

constexpr std::chrono::seconds kConnectAgain(2);
/// A token that was made a moment ago is not known at once.
constexpr double kRefusedSeconds = 5;

void tell(const std::string& line)
{
    std::fprintf(stderr, "lathe-runner: %s\n", line.c_str());
}

/// Signals that end the program, as a stop: taken by a thread, so that nothing is interrupted in the middle.
class Signals
{
public:
    Signals()
    {
        sigemptyset(&m_set);
        sigaddset(&m_set, SIGTERM);
        sigaddset(&m_set, SIGINT);
        pthread_sigmask(SIG_BLOCK, &m_set, nullptr); // threads inherit it
        std::thread([set = m_set, source = m_source]() mutable {
            int signal = 0;
            sigwait(&set, &signal);
            tell("it ends when the measurement in hand is done; a second signal ends it now");
            source.request_stop();
            sigwait(&set, &signal);
            _exit(1); // children end with us
        }).detach();
    }
    std::stop_token token() const { return m_source.get_token(); }

private:
    sigset_t m_set;
    std::stop_source m_source;
};

/// Makes it again and again, until somebody is there.
Result<std::shared_ptr<broker::Connection>> connect(const broker::BrokerAddress& address, std::stop_token stop)
{
    std::string told;
    const Deadline refused = Deadline::inSeconds(kRefusedSeconds);
    while (true) {
        auto connection = broker::Connection::open(address);
        const Errc code = connection ? Errc::Ok : connection.error().code;
        if (code != Errc::NotFound && (code != Errc::Incompatible || refused.passed()))
            return connection;
        if (connection.error().message != told)
            tell(connection.error().message + "; it is tried again");
        told = connection.error().message;
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, stop, kConnectAgain, [] { return false; });
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
    }
}

wire::WorkerProgram workerProgram()
{
    return {"lathe-runner"};
}

/// The devices of this machine that work. Errors: there is none.
Result<nlohmann::json> devicesHere()
{
    wire::ProcessPort worker(workerProgram());
    LATHE_TRY_ASSIGN(const std::string text, serve::askDevices(worker));
    nlohmann::json devices = nlohmann::json::array();
    std::string problems;
    for (nlohmann::json& device : nlohmann::json::parse(text, nullptr, false)) {
        if (device.is_object() && device.contains("error"))
            problems += (problems.empty() ? "" : "; ") + textIn(device, "error");
        else if (device.is_object())
            devices.push_back(std::move(device));
    }
    if (devices.empty())
        return makeError(Errc::NotFound, say(Msg::NoDeviceToOffer, problems));
    return devices;
}

} // namespace

Result<> offerDevices(FarmWords words)
{
    const Signals signals;
    std::optional<broker::Token> token;
    if (!words.token.empty()) {
        LATHE_TRY_ASSIGN(token, broker::readToken(words.token, broker::Role::Runner));
        if (words.key.empty())
            words.key = token->member.key;
        if (words.key != token->member.key)
            return makeError(Errc::Incompatible,
                             say(Msg::TokenOfOtherKey, words.token.string(), token->member.key, words.key));
        if (!words.name.empty() && words.name != token->member.name)
            return makeError(
                Errc::InvalidArgument,
                fmt::format("the token is for the name {}, and the broker lets it have no other: leave out --name",
                            token->member.name));
        words.name = token->member.name;
    }
    if (words.broker.empty())
        words.broker = broker::usualBroker();
    if (words.broker.empty() || words.key.empty())
        return makeError(Errc::InvalidArgument,
                         "a runner needs --broker HOST:PORT and --key KEY: see lathe-runner --help");
    if (words.name.empty())
        words.name = broker::asWord(hostName() + "-" + words.key);
    for (const std::string* word : {&words.key, &words.name})
        if (!broker::isWord(*word))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, *word));
    const auto name = serve::MachineLock::tryTake("lathe-runner-" + words.name);
    if (!name)
        return makeError(Errc::InvalidArgument, say(Msg::NameTaken, words.name));

    serve::AuditLog audit;
    if (!words.audit.empty()) {
        LATHE_TRY_ASSIGN(audit, serve::AuditLog::open(words.audit));
    }
    LATHE_TRY_ASSIGN(nlohmann::json devices, devicesHere());
    for (const nlohmann::json& device : devices)
        tell(fmt::format("offers {} ({})", textIn(device, "name"), textIn(device, "kind")));

    serve::FarmRunnerOptions options;
    options.desk.key = words.key;
    options.desk.device = words.name;
    options.desk.longestReservation = std::chrono::minutes(words.longestReserveMinutes);
    options.child.cooldown = std::chrono::milliseconds(words.cooldownMs);
    options.child.hottest = words.hottest;
    options.child.temperature = [] {
        const double celsius = numberIn(serve::machineHealth(), "temperature_c");
        return std::isnan(celsius) ? std::nullopt : std::optional(celsius);
    };
    if (words.hottest > 0 && !options.child.temperature())
        return makeError(Errc::Unsupported, "--hottest is asked for, and this machine does not tell how hot it is");
    // A board's memory is for what it measures; what was let go is asked for again.
    const std::uint64_t memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES))
                                 * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    options.blobBytes = std::clamp<std::uint64_t>(memory / 8, std::uint64_t(64) << 20, std::uint64_t(1) << 30);
    options.audit = words.audit.empty() ? nullptr : &audit;
    options.about = nlohmann::json{{"host", hostName()},
                                   {"version", LATHE_VERSION},
                                   {"machine", bootId()},
                                   {"slots", words.slots},
                                   {"devices", std::move(devices)}}
                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    LATHE_TRY_ASSIGN(const broker::BrokerAddress address, broker::brokerAddress(words.broker, token, "lathe-runner"));
    auto connection = connect(address, signals.token());
    if (!connection && connection.error().code == Errc::Cancelled)
        return {};
    LATHE_TRY(connection);
    tell(fmt::format("{} is offered under the key {} at {}", words.name, words.key, address.url));
    return serve::runOnFarm(
        *connection, [] { return std::make_unique<wire::ProcessPort>(workerProgram()); }, options, signals.token());
}

} // namespace lathe::runner
