#include "app/cli/device_orders.h"

#include "app/cli/interrupt.h"
#include "core/broker/address.h"
#include "core/session/farm_kinds.h"
#include "core/session/farm_orders.h"
#include "core/session/farm_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::cli {

namespace {

using session::FarmDeviceView, session::FarmOrder, session::FarmView;

struct OrderArguments
{
    session::BrokerWords broker;
    std::string key, target;
    std::vector<std::string> devices;
};

/// The farm as it is, and who is meant by the names. Errors: nobody, or more than one.
struct Meant
{
    FarmView farm;
    std::vector<FarmDeviceView> devices;
};
Result<Meant> whoIsMeant(OrderArguments& a)
{
    if (a.broker.address.empty())
        a.broker.address = broker::usualBroker();
    if (a.broker.address.empty())
        return makeError(Errc::InvalidArgument, "no broker is named: say --broker URL, or set LATHE_BROKER");
    LATHE_TRY_ASSIGN(const auto farm, session::FarmWatch::open(a.broker.address, a.broker.token));
    installInterrupt();
    if (!pauseFor(session::FarmWatch::kFirstLook))
        return makeError(Errc::Cancelled, "stopped");
    Meant meant = {farm->snapshot(), {}};
    for (const std::string& name : a.devices) {
        const auto is = [&](const FarmDeviceView& device) {
            return device.name == name && (a.key.empty() || device.key == a.key);
        };
        const auto count = std::ranges::count_if(meant.farm.devices, is);
        if (count > 1)
            return makeError(Errc::InvalidArgument,
                             fmt::format("several devices are called {}: say with --key which one is meant", name));
        if (count == 0)
            return makeError(
                Errc::NotFound,
                fmt::format("no device {} is heard of at {}: lathe-cli devices --broker lists those that are", name,
                            meant.farm.broker));
        meant.devices.push_back(*std::ranges::find_if(meant.farm.devices, is));
    }
    return meant;
}

Result<> tell(OrderArguments& a, FarmOrder order)
{
    LATHE_TRY_ASSIGN(const Meant meant, whoIsMeant(a));
    for (const FarmDeviceView& device : meant.devices) {
        if (device.state == session::FarmDeviceState::Lost && order == FarmOrder::Leave) {
            print("{} is lost, and no longer listed once it has been so for some minutes; lathe-cli tracker revoke {} "
                  "lets it in no more\n",
                  device.name, device.name);
            continue;
        }
        LATHE_TRY(session::orderDevice(a.broker, device.key, device.name, order));
        const bool isUsed = device.state == session::FarmDeviceState::Busy
                            || device.state == session::FarmDeviceState::Draining;
        print("{} {}\n", device.name,
              order == FarmOrder::Resume  ? "is given to those who want it again"
              : order == FarmOrder::Leave ? (isUsed ? "ends once the measurement in hand is done"
                                                    : "has left the farm; its token still lets it in")
              : isUsed                    ? "is given to nobody any more, once the measurement in hand is done"
                                          : "is given to nobody any more");
    }
    return {};
}

Result<> test(OrderArguments& a)
{
    LATHE_TRY_ASSIGN(const Meant meant, whoIsMeant(a));
    const StopOnInterrupt interrupt;
    std::size_t failed = 0, tested = 0;
    for (const FarmDeviceView& device : meant.devices) {
        std::vector<std::string> targets = {a.target};
        if (a.target.empty())
            targets = session::kindsOffered(meant.farm, device.key, device.name);
        const bool isGiven = device.state == session::FarmDeviceState::Free
                             || device.state == session::FarmDeviceState::Offered
                             || device.state == session::FarmDeviceState::Busy;
        if (!isGiven || targets.empty()) {
            ++tested;
            ++failed;
            print("{}: not tested, {}\n", device.name,
                  isGiven ? std::string("since it does not say what it has: say with --target what to test")
                          : fmt::format("since it is {}", session::toString(device.state)));
            continue;
        }
        if (device.state == session::FarmDeviceState::Busy)
            print("{} is used by {}: waiting for it\n", device.name, device.user);
        LATHE_TRY(flushOutput());
        for (const std::string& target : targets) {
            const auto result = session::selfTestFarmDevice(a.broker, device.key, device.name, target,
                                                            interrupt.token());
            if (!result && result.error().code == Errc::Cancelled)
                return result.error();
            ++tested;
            failed += result ? 0 : 1;
            print("{} {}: {}\n", device.name, target,
                  result ? fmt::format("a kernel was built in {:.0f} ms, ran in {:.4f} ms there, and computed the "
                                       "right result{}",
                                       result->buildMs, result->runMs,
                                       std::isfinite(result->maxRelError)
                                           ? fmt::format(" (relative error {:.2g})", result->maxRelError)
                                           : std::string())
                         : "failed: " + result.error().message);
            LATHE_TRY(flushOutput());
        }
    }
    if (failed > 0)
        return makeError(Errc::DeviceLost, fmt::format("{} of {} self-tests failed", failed, tested));
    return {};
}

} // namespace

void addDeviceOrders(CLI::App& devices, Action& run)
{
    auto arguments = std::make_shared<OrderArguments>();
    const auto add = [&](const char* name, const char* text, auto body) {
        CLI::App* command = devices.add_subcommand(name, text);
        command->add_option("DEVICE", arguments->devices, "Its name, as devices --broker lists it")->required();
        command
            ->add_option("--broker", arguments->broker.address,
                         "The farm's broker, nats://HOST:PORT or tls://HOST:PORT (default: LATHE_BROKER)")
            ->type_name("URL");
        command->add_option("--creds", arguments->broker.token, "File with a user's token for the broker")
            ->type_name("FILE");
        command->add_option("--key", arguments->key, "The device's key, where several have the name")->type_name("KEY");
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    add("test", "Build a small kernel for a device of a farm, run it there and check what it computes", test)
        ->add_option("--target", arguments->target,
                     "What the kernel is built for (default: each kind of target that the device has)");
    add("drain", "Let a device of a farm be used by nobody any more, once the measurement in hand is done",
        [](OrderArguments& a) { return tell(a, FarmOrder::Drain); });
    add("resume", "Let a device of a farm that was drained be used again",
        [](OrderArguments& a) { return tell(a, FarmOrder::Resume); });
    add("remove", "Drain a device of a farm, and end its runner",
        [](OrderArguments& a) { return tell(a, FarmOrder::Leave); });
}

} // namespace lathe::cli
