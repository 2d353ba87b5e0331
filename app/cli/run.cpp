#include "app/cli/library_source.h"
#include "app/cli/npy.h"
#include "core/deploy/library_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <map>

namespace lathe::cli {

namespace {

struct RunArguments
{
    ModelArguments model;
    std::vector<std::string> inputs;
    std::string output;
    unsigned threads = 0;
    bool json = false;
};

Result<> runLibrary(const RunArguments& a)
{
    std::map<std::string, std::string> files;
    for (const std::string& input : a.inputs) {
        const std::size_t equals = input.find('=');
        if (equals == std::string::npos || equals == 0)
            return makeError(Errc::InvalidArgument, fmt::format("--input {} is not of the form NAME=FILE.npy", input));
        files[input.substr(0, equals)] = input.substr(equals + 1);
    }
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model));
    deploy::LibraryClient::Options options;
    options.threads = a.threads;
    LATHE_TRY_ASSIGN(const auto library, deploy::LibraryClient::open(source.file, options));
    deploy::LibraryRunRequest request;
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < library->inputs().size(); ++i) {
        const auto file = files.find(library->inputs()[i].name);
        if (file == files.end()) {
            missing.push_back(library->inputs()[i].name);
            continue;
        }
        LATHE_TRY_ASSIGN(auto tensor, readNpy(file->second));
        request.inputs.push_back(std::move(tensor));
        files.erase(file);
    }
    if (!missing.empty())
        return makeError(Errc::InvalidArgument, fmt::format("no --input for {}", fmt::join(missing, ", ")));
    if (!files.empty())
        return makeError(Errc::InvalidArgument, fmt::format("the network has no input named {}", files.begin()->first));
    LATHE_TRY_ASSIGN(const deploy::LibraryRun ran, library->run(request));
    std::error_code error;
    std::filesystem::create_directories(a.output, error);
    if (error)
        return makeError(Errc::StoreFailed, fmt::format("{} cannot be made: {}", a.output, error.message()));
    nlohmann::json outputs = nlohmann::json::array();
    const std::vector<std::string> names = npyFileNames(library->outputs());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& tensor = ran.outputs[i];
        const auto& port = library->outputs()[i];
        const auto file = std::filesystem::path(a.output) / names[i];
        LATHE_TRY(writeNpy(file, tensor));
        outputs.push_back({{"name", port.name},
                           {"shape", tensor.type.shape},
                           {"dtype", toString(tensor.type.dtype)},
                           {"file", file.string()}});
        std::string most; // of a size that depends on data
        if (!port.dynamicAxes.empty()) {
            outputs.back()["most"] = port.type.shape;
            most = fmt::format(" (at most [{}])", fmt::join(port.type.shape, ", "));
        }
        if (!a.json)
            cli::print("{} {} [{}]{} -> {}\n", port.name, toString(tensor.type.dtype),
                       fmt::join(tensor.type.shape, ", "), most, file.string());
    }
    if (a.json)
        print("{}\n",
              nlohmann::json({{"outputs", outputs}}).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

} // namespace

void addRun(CLI::App& app, Action& run)
{
    auto a = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Run a library or a model on inputs from files");
    a->model.addTo(*command, true);
    command
        ->add_option("--input", a->inputs,
                     "NAME=FILE.npy: read an input from a file; required for every input of the network")
        ->allow_extra_args(false);
    command->add_option("--output", a->output, "Folder to write OUTPUT.npy to")->required();
    command->add_option("--threads", a->threads, "Number of threads; 0: all processors")->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return runLibrary(*a); }; });
}

} // namespace lathe::cli
