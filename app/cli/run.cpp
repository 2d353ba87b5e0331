#include "app/cli/library_source.h"
#include "core/deploy/library_client.h"
#include "core/deploy/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

struct RunArguments
{
    ModelArguments model;
    std::vector<std::string> inputs;
    std::string output;
    PlaceArguments place;
    unsigned threads = 0;
    bool json = false;
};

Result<> runLibrary(const RunArguments& a)
{
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model, a.place));
    deploy::LibraryClient::Options options;
    options.threads = a.threads;
    LATHE_TRY_ASSIGN(const auto library, openLibrary(source, options));
    deploy::LibraryRunRequest request;
    std::vector<std::string> missing;
    LATHE_TRY_ASSIGN(auto given, deploy::readInputs(library->inputs(), a.inputs));
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i])
            request.inputs.push_back(*std::move(given[i]));
        else
            missing.push_back(library->inputs()[i].name);
    if (!missing.empty())
        return makeError(Errc::InvalidArgument, fmt::format("no --input for {}", fmt::join(missing, ", ")));
    LATHE_TRY_ASSIGN(const deploy::LibraryRun ran, library->run(request));
    std::error_code error;
    std::filesystem::create_directories(a.output, error);
    if (error)
        return makeError(Errc::StoreFailed, fmt::format("{} cannot be made: {}", a.output, error.message()));
    nlohmann::json outputs = nlohmann::json::array();
    const std::vector<std::string> names = deploy::npyFileNames(library->outputs());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& tensor = ran.outputs[i];
        const auto& port = library->outputs()[i];
        const auto file = std::filesystem::path(a.output) / names[i];
        LATHE_TRY(deploy::writeNpy(file, tensor));
        outputs.push_back({{"name", port.name},
                           {"shape", tensor.type.shape},
                           {"dtype", toString(tensor.type.dtype)},
                           {"npy_dtype", toString(deploy::npyTypeOf(tensor.type.dtype))},
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
    if (!a.json)
        printVariant(*library);
    else
        print("{}\n", nlohmann::json({{"outputs", outputs}, {"variant", library->variant()}})
                          .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return {};
}

} // namespace

void addRun(CLI::App& app, Action& run)
{
    auto a = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Run a library or a model on inputs from files");
    a->model.addTo(*command, true);
    addInputOption(*command, a->inputs, "required for every input of the network");
    command->add_option("--output", a->output, "Folder to write OUTPUT.npy to")->required();
    addPlaceOptions(*command, a->place);
    command->add_option("--threads", a->threads, "Number of threads; 0: all processors")->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return runLibrary(*a); }; });
}

} // namespace lathe::cli
