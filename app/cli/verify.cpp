#include "core/deploy/verify.h"

#include "app/cli/library_source.h"
#include "app/cli/npy.h"
#include "core/deploy/library_client.h"
#include "core/session/loaded_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace lathe::cli {

namespace {

struct VerifyArguments
{
    ModelArguments model;
    std::string network, reference;
    double tolerance = 1e-4;
    bool json = false;
};

/// DIR/INPUT.npy and DIR/OUTPUT.npy, as `run` names them.
Result<> readReference(const std::filesystem::path& folder, const deploy::LibraryHost& library,
                       deploy::VerifyOptions& options)
{
    const auto read = [&folder](const std::vector<deploy::PortInfo>& ports,
                                std::vector<graph::HostTensor>& tensors) -> Result<> {
        for (const std::string& file : npyFileNames(ports)) {
            LATHE_TRY_ASSIGN(auto tensor, readNpy(folder / file));
            tensors.push_back(std::move(tensor));
        }
        return {};
    };
    LATHE_TRY(read(library.inputs(), options.inputs));
    return read(library.outputs(), options.expected);
}

Result<> verify(VerifyArguments& a)
{
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model));
    // What a library was made from stands in its description, unless --model says it.
    session::OpenOptions open;
    if (!a.network.empty() || !source.model) {
        if (a.network.empty())
            return makeError(
                Errc::InvalidArgument,
                fmt::format("no description beside {} names its network: say --model MODEL", source.file.string()));
        a.model.setSource(a.network);
        LATHE_TRY_ASSIGN(open, a.model.openOptions());
    } else {
        open.model = *source.model;
        open.target = source.target;
    }
    LATHE_TRY_ASSIGN(const auto model, session::loadModel(open.model, open.target));
    printNotices(model->notices);
    // Not timed: weights of gigabytes need no copy.
    deploy::LibraryClient::Options place;
    place.mapWeights = true;
    LATHE_TRY_ASSIGN(const auto library, deploy::LibraryClient::open(source.file, place));
    deploy::VerifyOptions options;
    options.tolerance = a.tolerance;
    if (!a.reference.empty())
        LATHE_TRY(readReference(a.reference, *library, options));
    LATHE_TRY_ASSIGN(const auto report, deploy::verifyByBuilder(*library, model->imported, &model->optimized, options,
                                                                std::numeric_limits<double>::infinity()));
    if (a.json)
        print("{}\n", nlohmann::json({{"max_rel_error", report.maxRelError},
                                      {"passed", report.passed},
                                      {"not_compared", report.notCompared},
                                      {"first_different", report.firstDifferent},
                                      {"text", report.text}})
                          .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else if (report.passed)
        print("{}\n", report.text);
    if (!report.passed)
        return makeError(Errc::WrongAnswer, report.text);
    return {};
}

} // namespace

void addVerify(CLI::App& app, Action& run)
{
    auto a = std::make_shared<VerifyArguments>();
    CLI::App* command = app.add_subcommand("verify", "Compare every output with the reference executor");
    a->model.addTo(*command, true);
    command->add_option("--model", a->network,
                        "The network that a library was made from, if its description does not name it");
    command->add_option("--reference", a->reference, "Folder with INPUT.npy and OUTPUT.npy to compare with instead");
    command->add_option("--tolerance", a->tolerance, "Largest relative error that passes: max |y - r| / max |r|")
        ->capture_default_str();
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return verify(*a); }; });
}

} // namespace lathe::cli
