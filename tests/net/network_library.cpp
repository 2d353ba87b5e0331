#include "tests/net/network_library.h"

#include "core/deploy/library.h"
#include "core/frontend/onnx.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/support/files.h"
#include "tests/net/expectation.h"
#include "tests/support/in_process_library.h"

#include <fmt/format.h>

#include <map>

namespace lathe::net {

using graph::HostTensor;

Result<std::vector<std::vector<HostTensor>>> runAsLibrary(const std::vector<RandomNetwork>& networks,
                                                          deploy::Compiler& compiler,
                                                          const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / "networks.onnx";
    LATHE_TRY(writeFileAtomically(file, joinedModel(networks)));
    session::ModelSpec spec;
    spec.source = file.string();
    LATHE_TRY_ASSIGN(const auto model, session::loadModel(spec, "cpu"));
    LATHE_TRY_ASSIGN(const session::KernelChoices chosen, session::chooseKernels(*model, nullptr, {}));
    deploy::LibraryOptions options;
    options.output = folder / "networks.so";
    LATHE_TRY_ASSIGN(const deploy::StagedLibrary staged,
                     deploy::buildLibrary(model->graph, model->partition, chosen.choices, compiler, options));
    LATHE_TRY_ASSIGN(const auto library, test::InProcessLibrary::open(staged.file, {.threads = 2}));
    std::map<std::string, const HostTensor*> values;
    for (const RandomNetwork& network : networks)
        for (std::size_t i = 0; i < network.inputNames.size(); ++i)
            values[network.inputNames[i]] = &network.values[i];
    deploy::LibraryRunRequest request;
    for (const deploy::PortInfo& port : library->inputs())
        request.inputs.push_back(*values.at(port.name));
    LATHE_TRY_ASSIGN(deploy::LibraryRun run, library->run(request));
    std::map<std::string, HostTensor> results;
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
        results[library->outputs()[i].name] = std::move(run.outputs[i]);
    std::vector<std::vector<HostTensor>> all;
    for (const RandomNetwork& network : networks) {
        all.emplace_back();
        for (const std::string& name : network.outputNames)
            all.back().push_back(results.at(name));
    }
    return all;
}

std::vector<NetworkOutcome> outcomesOf(const std::vector<RandomNetwork>& networks, deploy::Compiler& compiler,
                                       const std::filesystem::path& folder)
{
    std::vector<NetworkOutcome> outcomes(networks.size());
    const auto together = runAsLibrary(networks, compiler, folder);
    for (std::size_t n = 0; n < networks.size(); ++n) {
        NetworkOutcome& outcome = outcomes[n];
        if (together) {
            outcome.outputs = (*together)[n];
        } else { // one of them is to blame
            auto alone = runAsLibrary({networks[n]}, compiler, folder);
            if (!alone) {
                outcome.wrong = alone.error().message;
                continue;
            }
            outcome.outputs = std::move(alone->front());
        }
        const std::string bytes = networks[n].model();
        const auto imported = frontend::importOnnx(std::as_bytes(std::span(bytes)));
        const auto expected = imported ? expect(*imported, networks[n].values, {.passErrorsOn = true})
                                       : Result<std::vector<Expected>>(imported.error());
        if (!expected) {
            outcome.wrong = expected.error().message;
            continue;
        }
        for (std::size_t i = 0; i < expected->size(); ++i) {
            outcome.slack.push_back((*expected)[i].slack);
            if (const std::string text = compare(outcome.outputs[i], (*expected)[i]);
                !text.empty() && outcome.wrong.empty())
                outcome.wrong = fmt::format("{}: {}", networks[n].outputNames[i], text);
        }
    }
    return outcomes;
}

} // namespace lathe::net
