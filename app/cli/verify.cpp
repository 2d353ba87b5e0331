#include "core/deploy/verify.h"

#include "app/cli/library_source.h"
#include "core/deploy/library_client.h"
#include "core/deploy/npy.h"
#include "core/session/loaded_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace lathe::cli {

namespace {

struct VerifyArguments
{
    ModelArguments model;
    std::string network, reference;
    PlaceArguments place;
    std::vector<std::string> inputs, kinds;
    std::optional<double> tolerance;
    bool json = false;
};

/// DIR/INPUT.npy and DIR/OUTPUT.npy, as `run` names them.
Result<> readReference(const std::filesystem::path& folder, const deploy::LibraryHost& library,
                       deploy::VerifyOptions& options)
{
    const auto read = [&folder](const std::vector<deploy::PortInfo>& ports, auto& tensors) -> Result<> {
        const std::vector<std::string> files = deploy::npyFileNames(ports);
        for (std::size_t i = 0; i < files.size(); ++i) {
            LATHE_TRY_ASSIGN(auto tensor, deploy::readNpy(folder / files[i], ports[i]));
            tensors.emplace_back(std::move(tensor));
        }
        return {};
    };
    LATHE_TRY(read(library.inputs(), options.inputs));
    return read(library.outputs(), options.expected);
}

/// Those that are asked for: words of deploy::toString(InputKind), or "all" of those that suit; none: these but NaN,
/// which says nothing of how close numbers are.
std::vector<deploy::InputKind> kindsOf(const std::vector<std::string>& words,
                                       const std::vector<graph::TensorType>& inputs)
{
    std::vector<deploy::InputKind> kinds = deploy::kindsThatSuit(inputs);
    if (words.empty())
        std::erase(kinds, deploy::InputKind::NotANumber);
    if (words.empty() || std::ranges::find(words, "all") != words.end())
        return kinds;
    kinds.clear();
    for (const std::string& word : words)
        if (const auto kind = deploy::inputKindOf(word); kind && std::ranges::find(kinds, *kind) == kinds.end())
            kinds.push_back(*kind);
    return kinds;
}

bool mayBeWinograd(const graph::Task& task)
{
    return std::ranges::any_of(task.alternatives,
                               [](const graph::Alternative& a) { return graph::tradesAccuracy(a.name); });
}

nlohmann::json jsonOf(const deploy::VerifyReport& report)
{
    nlohmann::json kinds = nlohmann::json::array();
    for (const deploy::KindReport& kind : report.kinds) {
        nlohmann::json entry = {{"kind", kind.inputs}};
        if (!kind.refused.empty()) {
            entry["refused"] = kind.refused;
        } else {
            nlohmann::json tensors = nlohmann::json::array();
            for (const deploy::TensorComparison& c : kind.outputs)
                tensors.push_back({{"name", c.name}, {"max_rel_error", c.maxRelError}, {"differing", c.beyond}});
            entry.update({{"max_rel_error", kind.maxRelError}, {"passed", kind.passed}, {"tensors", tensors}});
        }
        kinds.push_back(std::move(entry));
    }
    return {{"max_rel_error", report.maxRelError},
            {"passed", report.passed},
            {"inputs", kinds},
            {"not_compared", report.notCompared},
            {"ill_conditioned", report.illConditioned},
            {"first_different", report.firstDifferent},
            {"text", report.text}};
}

void printKinds(const deploy::VerifyReport& report)
{
    for (const deploy::KindReport& kind : report.kinds) {
        if (!kind.refused.empty())
            print("{:<10} not compared: {}\n", kind.inputs, kind.refused);
        else if (kind.inputs == toString(deploy::InputKind::NotANumber))
            print("{:<10} NaN {}\n", kind.inputs, kind.passed ? "in the same places" : "in other places");
        else
            print("{:<10} largest relative error {:.2g}{}\n", kind.inputs, kind.maxRelError,
                  kind.passed ? "" : ", too large");
    }
    if (report.passed)
        print("{}\n", report.text);
}

Result<> verify(VerifyArguments& a)
{
    LATHE_TRY_ASSIGN(const LibrarySource source, findLibrary(a.model, a.place));
    // What a library was made from stands in its description, unless --model says it.
    session::OpenOptions open;
    if (!a.network.empty() || !source.model) {
        if (a.network.empty())
            return makeError(
                Errc::InvalidArgument,
                fmt::format("no description next to {} names its network: use --model MODEL", source.file.string()));
        a.model.setSource(a.network);
        LATHE_TRY_ASSIGN(open, a.model.openOptions());
    } else {
        open.model = *source.model;
        open.target = source.target;
    }
    // Not timed: weights of gigabytes need no copy.
    deploy::LibraryClient::Options place;
    place.mapWeights = true;
    LATHE_TRY_ASSIGN(const auto library, openLibrary(source, place));
    if (library->variants().size() > 1 && a.network.empty())
        open.target = library->variant(); // whose tensors are looked at
    LATHE_TRY_ASSIGN(const auto model, session::loadModel(open.model, open.target));
    printNotices(model->notices);
    deploy::VerifyOptions options;
    options.tolerance = a.tolerance;
    options.closely = true;
    options.kinds = kindsOf(a.kinds, deploy::inputTypesOf(model->imported));
    options.notANumberSpreads = std::ranges::any_of(model->partition.tasks, mayBeWinograd);
    LATHE_TRY_ASSIGN(options.inputs, deploy::readInputs(library->inputs(), a.inputs));
    if (!a.reference.empty()) {
        options.inputs.clear();
        LATHE_TRY(readReference(a.reference, *library, options));
    }
    LATHE_TRY_ASSIGN(const auto report, deploy::verifyByBuilder(*library, model->imported, &model->optimized, options,
                                                                std::numeric_limits<double>::infinity()));
    if (report.refused)
        return *report.refused;
    if (a.json) {
        nlohmann::json out = jsonOf(report);
        out["variant"] = library->variant();
        print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        printVariant(*library);
        printKinds(report);
    }
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
                        "The network that a library was exported from, if its description does not name it");
    command->add_option("--reference", a->reference, "Compare with INPUT.npy and OUTPUT.npy of this folder instead");
    std::vector<std::string> words = {"all"};
    for (const deploy::InputKind kind : deploy::kInputKinds)
        words.emplace_back(deploy::toString(kind));
    command
        ->add_option("--inputs", a->kinds,
                     "Generated inputs to compare on, one run each: normal, large, zeros, integers (over their whole "
                     "range), nan, or all that suit the network's types; may be given several times (default: all that "
                     "suit except nan)")
        ->delimiter(',')
        ->check(CLI::IsMember(words));
    addInputOption(*command, a->inputs, "other inputs get generated values");
    addPlaceOptions(*command, a->place);
    command->add_option("--tolerance", a->tolerance,
                        "Largest relative error of floats that passes (default: 1e-4, for float16 2e-3, for bfloat16 "
                        "1.6e-2)");
    command->add_flag("--json", a->json, "Print one JSON object");
    command->callback([a, &run] { run = [a] { return verify(*a); }; });
}

} // namespace lathe::cli
