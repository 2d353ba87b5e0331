#include "app/cli/command.h"
#include "core/session/back_ends.h"
#include "core/session/device_directory.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

void addDevices(CLI::App& app, Action& run)
{
    auto json = std::make_shared<bool>(false);
    auto target = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("devices", "List the devices that can measure candidates here");
    command->add_option("--target", *target,
                        "Only devices on which this target can be measured, or why there are none");
    command->add_flag("--json", *json, "Print one JSON array");
    command->callback([json, target, &run] {
        run = [json, target]() -> Result<> {
            if (!target->empty())
                LATHE_TRY(session::parseTarget(*target));
            const auto directory = session::DeviceDirectory::ask();
            const auto devices = target->empty() ? std::vector(directory.all().begin(), directory.all().end())
                                                 : directory.forTarget(*target);
            nlohmann::json rows = nlohmann::json::array();
            for (const auto& device : devices) {
                nlohmann::json hardware = nlohmann::json::object();
                for (const auto& limit : device.hardware)
                    hardware[limit.name] = {{"value", limit.value}, {"origin", limit.origin}};
                if (*json) {
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
            if (*json)
                print("{}\n", rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
            return {};
        };
    });
}

} // namespace lathe::cli
