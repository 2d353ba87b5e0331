#include "app/cli/command.h"
#include "app/cli/device_orders.h"
#include "app/cli/farm_table.h"
#include "app/cli/interrupt.h"
#include "core/broker/address.h"
#include "core/session/back_ends.h"
#include "core/session/device_directory.h"
#include "core/session/farm_watch.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace lathe::cli {

namespace {

constexpr std::chrono::seconds kWatchEach(1);

struct DevicesArguments
{
    std::string target;
    std::string broker, creds, key;
    bool watch = false, json = false;
};

std::string dumped(const nlohmann::json& value, int indent)
{
    return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The devices of this machine.
Result<> listHere(const DevicesArguments& arguments)
{
    if (!arguments.target.empty())
        LATHE_TRY(session::parseTarget(arguments.target));
    const auto directory = session::DeviceDirectory::ask();
    const auto devices = arguments.target.empty() ? std::vector(directory.all().begin(), directory.all().end())
                                                  : directory.forTarget(arguments.target);
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& device : devices) {
        nlohmann::json hardware = nlohmann::json::object();
        for (const auto& limit : device.hardware)
            hardware[limit.name] = {{"value", limit.value}, {"origin", limit.origin}};
        if (arguments.json) {
            rows.push_back({{"key", device.key},
                            {"kind", device.kind},
                            {"name", device.name},
                            {"state", device.state},
                            {"device_key", device.deviceKey},
                            {"hardware", hardware}});
            continue;
        }
        print("{:<12} {:<6} {:<10} {}\n", device.key, device.kind, device.state, device.name);
        if (!device.deviceKey.empty())
            print("{:>16} {:<32} {:>12}\n", "", "device key", device.deviceKey);
        for (const auto& limit : device.hardware)
            print("{:>16} {:<32} {:>12}  ({})\n", "", limit.name, limit.value, limit.origin);
    }
    if (arguments.json)
        print("{}\n", dumped(rows, 2));
    return {};
}

/// Those behind a broker, once or every second.
Result<> listFarm(const DevicesArguments& arguments)
{
    LATHE_TRY_ASSIGN(const auto farm, session::FarmWatch::open(arguments.broker, arguments.creds));
    if (arguments.watch)
        installInterrupt();
    const bool clears = arguments.watch && !arguments.json && ::isatty(STDOUT_FILENO) == 1;
    const char* between = "";
    bool goesOn = pauseFor(session::FarmWatch::kFirstLook);
    while (goesOn) {
        const session::FarmView view = farm->snapshot();
        if (arguments.json)
            print("{}\n", dumped(farmJson(view, arguments.key), arguments.watch ? -1 : 2)); // watched: a line each
        else
            print("{}{}", clears ? "\x1b[H\x1b[2J" : between, farmText(view, arguments.key));
        between = "\n";
        LATHE_TRY(flushOutput());
        goesOn = arguments.watch && pauseFor(kWatchEach);
    }
    return {};
}

/// `isFarmWanted`: it was asked for the devices of a farm, not for those of this machine.
Result<> listDevices(DevicesArguments arguments, bool isFarmWanted)
{
    if (arguments.broker.empty())
        arguments.broker = broker::usualBroker();
    if (isFarmWanted && arguments.broker.empty())
        return makeError(
            Errc::InvalidArgument,
            "a farm's devices are asked for, and no broker is named: say --broker URL, or set LATHE_BROKER");
    if (isFarmWanted && !arguments.target.empty())
        return makeError(Errc::InvalidArgument,
                         "--target is about this machine's devices, and cannot be said of those of a farm");
    if (isFarmWanted)
        return listFarm(arguments);
    LATHE_TRY(listHere(arguments));
    if (arguments.broker.empty() || arguments.json || !arguments.target.empty())
        return {};
    print("\n");
    LATHE_TRY(flushOutput()); // this machine's devices are there, however long the broker takes
    if (const auto listed = listFarm(arguments); !listed)
        printNotices({messageOf(listed.error())});
    return {};
}

} // namespace

void addDevices(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<DevicesArguments>();
    CLI::App* command = app.add_subcommand("devices",
                                           "List the devices that can measure candidates here, or those of a farm");
    command->add_option("--target", arguments->target,
                        "Only devices on which this target can be measured, or why there are none");
    // CLI11 could read the variable itself; then a value from there would look like one that was given.
    command
        ->add_option("--broker", arguments->broker,
                     "List the farm at this broker, nats://HOST:PORT or tls://HOST:PORT: its devices, keys and queue; "
                     "without a URL at LATHE_BROKER, an environment variable. Where that is set, devices without "
                     "--broker lists this machine's, and the farm below. (TVM_TRACKER_HOST and TVM_TRACKER_PORT name "
                     "a tracker with another protocol, and are not read)")
        ->type_name("URL")
        ->expected(0, 1);
    command->add_option("--creds", arguments->creds, "File with the token for the broker")->type_name("FILE");
    command->add_option("--key", arguments->key, "Only the farm's devices of this key")->type_name("KEY");
    command->add_flag("--watch", arguments->watch, "List the farm again each second, until Ctrl+C");
    command->add_flag("--json", arguments->json,
                      "Print one JSON array; of a farm one JSON object, with --watch one a line");
    command->require_subcommand(0, 1);
    addDeviceOrders(*command, run);
    command->callback([arguments, command, &run] {
        if (!command->get_subcommands().empty()) {
            for (const char* option : {"--broker", "--creds", "--key", "--target", "--watch", "--json"})
                if (command->count(option) > 0)
                    run = [option] {
                        return Result<>(makeError(Errc::InvalidArgument,
                                                  fmt::format("{} is about the list of devices here: write it behind "
                                                              "the word that says what a device is to do",
                                                              option)));
                    };
            return;
        }
        const bool isFarmWanted = command->count("--broker") + command->count("--creds") + command->count("--key")
                                      + command->count("--watch")
                                  > 0;
        run = [arguments, isFarmWanted] { return listDevices(*arguments, isFarmWanted); };
    });
}

} // namespace lathe::cli
