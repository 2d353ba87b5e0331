#include "app/cli/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

void addDevices(CLI::App& app, Action& run)
{
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("devices", "List what can measure here");
    command->add_flag("--json", *json, "Print one JSON array");
    command->callback([json, &run] {
        run = [json]() -> Result<> {
            nlohmann::json rows = nlohmann::json::array();
            for (const auto& device : session::listDevices()) {
                nlohmann::json hardware = nlohmann::json::object();
                for (const auto& limit : device.hardware)
                    hardware[limit.name] = {{"value", limit.value}, {"origin", limit.origin}};
                if (*json) {
                    rows.push_back({{"key", device.key}, {"kind", device.kind}, {"name", device.name}, {"state", device.state}, {"hardware", hardware}});
                    continue;
                }
                print("{:<12} {:<6} {:<10} {}\n", device.key, device.kind, device.state, device.name);
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
