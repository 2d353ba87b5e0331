#include "core/frontend/zoo.h"

#include "app/cli/command.h"
#include "core/frontend/onnx_export.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

Result<> list(bool json)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& network : session::listZoo()) {
        if (json)
            rows.push_back({{"name", network.name},
                            {"description", network.description},
                            {"layouts", network.layouts},
                            {"input", network.input},
                            {"gflop", network.gflop},
                            {"weights", network.weights}});
        else
            print("{:<18} {:<10} {:<15} {:>7.2f} GFLOP {:>7.2f} M weights  {}\n", network.name,
                  fmt::format("{}", fmt::join(network.layouts, ",")), network.input, network.gflop,
                  network.weights / 1e6, network.description);
    }
    if (json)
        print("{}\n", rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

} // namespace

void addZoo(CLI::App& app, Action& run)
{
    struct ZooArguments
    {
        std::string name, output, layout;
        std::int64_t batch = 1;
        std::uint32_t seed = 0;
        bool json = false;
    };
    auto arguments = std::make_shared<ZooArguments>();
    CLI::App* zoo = app.add_subcommand("zoo", "List or export the networks that come with Lathe");
    zoo->require_subcommand(1);
    CLI::App* listing = zoo->add_subcommand("list", "List names, layouts and descriptions");
    listing->add_flag("--json", arguments->json, "Print one JSON array");
    listing->callback([arguments, &run] { run = [arguments] { return list(arguments->json); }; });
    CLI::App* exporting = zoo->add_subcommand("export", "Write a network as ONNX");
    exporting->add_option("NAME", arguments->name, "The network, as lathe-cli zoo list names it")->required();
    exporting->add_option("-o,--output", arguments->output, "FILE.onnx to write")->required();
    exporting->add_option("--batch", arguments->batch, "Leading dimension of all inputs")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
        ->capture_default_str();
    exporting->add_option("--layout", arguments->layout, "Dimension order of images")
        ->check(CLI::IsMember({"NHWC", "NCHW"}));
    exporting->add_option("--seed", arguments->seed, "Seed of the weights")->capture_default_str();
    exporting->callback([arguments, &run] {
        run = [arguments]() -> Result<> {
            frontend::ZooOptions options;
            options.batch = arguments->batch;
            options.layout = arguments->layout;
            options.seed = arguments->seed;
            const std::string name = arguments->name.starts_with("zoo:") ? arguments->name.substr(4) : arguments->name;
            LATHE_TRY_ASSIGN(const graph::Graph network, frontend::buildZoo(name, options));
            return frontend::exportOnnx(network, arguments->output);
        };
    });
}

} // namespace lathe::cli
