#include "core/session/exports/exporter.h"

#include "core/deploy/library.h"
#include "core/deploy/names.h"
#include "core/deploy/npy.h"
#include "core/measure/measurer.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/exports/library_check.h"
#include "core/session/options/options_json.h"
#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/detect.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

constexpr auto kCompileTimeout = std::chrono::minutes(10);
constexpr double kNetworkSeconds = 5; ///< for the whole network between trials, which wait for it

/// Of images: as the operators say that read or make them. Empty for all else.
std::vector<std::string> layoutsOf(const graph::Graph& graph, const std::vector<graph::ValueId>& ports)
{
    std::vector<std::string> layouts;
    for (const graph::ValueId port : ports) {
        std::string layout;
        for (const graph::Node& node : graph.nodes) {
            const auto said = node.attrs.find("layout");
            const bool touches = (!node.inputs.empty() && node.inputs[0] == port)
                                 || (!node.outputs.empty() && node.outputs[0] == port);
            if (touches && said != node.attrs.end() && std::holds_alternative<std::string>(said->second)
                && graph.value(port).shape.size() == 4)
                layout = std::get<std::string>(said->second);
        }
        layouts.push_back(layout);
    }
    return layouts;
}

std::vector<deploy::PortInfo> inputPortsOf(const graph::Graph& network)
{
    std::vector<deploy::PortInfo> ports;
    for (const graph::ValueId id : network.inputs)
        ports.push_back({network.value(id).name, {}, {network.value(id).dtype, network.value(id).shape}});
    return ports;
}

/// Of this machine, as its device half calls it; empty if that cannot be asked.
std::string deviceName(const std::string& kind)
{
    const auto devices = measure::listDevices({});
    const nlohmann::json list = devices ? nlohmann::json::parse(*devices, nullptr, false) : nlohmann::json();
    if (list.is_array())
        for (const nlohmann::json& device : list)
            if (textIn(device, "kind") == kind)
                return textIn(device, "name");
    return {};
}

Result<deploy::StagedLibrary> stage(const LoadedModel& model, const KernelChoices& chosen, const CompileOptions& wanted,
                                    std::stop_token stop, std::shared_ptr<deploy::DerivedConstants> derived = nullptr)
{
    const std::size_t builders = std::clamp<std::size_t>(chosen.choices.size() / 4, 1, availableThreads());
    LATHE_TRY_ASSIGN(const auto compiler,
                     deploy::makeBuilderCompiler(model.target.text(), builders, kCompileTimeout, std::move(stop)));
    deploy::LibraryOptions options;
    options.output = wanted.output;
    options.overwrite = wanted.overwrite;
    options.name = wanted.name;
    options.machine = model.target.machine();
    options.derived = std::move(derived);
    options.inputRanges = graph::inputRanges(model.imported);
    options.inputLayouts = layoutsOf(model.imported, model.imported.inputs);
    options.outputLayouts = layoutsOf(model.imported, model.imported.outputs);
    return deploy::buildLibrary(model.graph, model.partition, chosen.choices, *compiler, options);
}

unsigned threadsOf(const LoadedModel& model, unsigned wanted)
{
    return wanted > 0 ? wanted : model.target.threads();
}

/// `chosen` is what the library was made of, `figures` are of that library.
deploy::EstimateParts estimateOf(const KernelChoices& chosen, const deploy::StagedLibrary& library,
                                 const BenchFigures& figures)
{
    const auto& instructions = library.image.instructions;
    if (figures.instructionMs.size() != instructions.size())
        return {};
    deploy::EstimateParts parts{0, 0, 0, figures.callMs};
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        const auto runs = static_cast<double>(instructions[i].runs);
        const deploy::KernelChoice* choice = instructions[i].subgraph >= 0
                                                 ? &chosen.choices[static_cast<std::size_t>(instructions[i].subgraph)]
                                                 : nullptr;
        if (choice == nullptr || choice->record.empty() || choice->estimatedMs < 0) {
            parts.untunedMs += runs * figures.instructionMs[i];
        } else {
            parts.tasksMs += runs * choice->estimatedMs;
            parts.chainMs += runs * (figures.instructionMs[i] - choice->estimatedMs);
        }
    }
    return parts;
}

void tellConditions(const deploy::VerifyReport& checked, CompileReport& report)
{
    report.illConditioned = checked.illConditioned;
    for (const deploy::TensorComparison& output : checked.outputs)
        if (output.illConditioned && report.conditions.empty()) {
            const Message said = say(Msg::IllConditioned, output.name, output.rounding);
            report.conditions = textOf(said);
            report.aboutConditions = about(said);
        }
}

/// The same model, named so that it is found from any folder.
ModelSpec fromAnywhere(ModelSpec spec)
{
    if (!spec.source.starts_with("zoo:"))
        spec.source = std::filesystem::absolute(spec.source).lexically_normal().string();
    return spec;
}

} // namespace

Result<> checkExportFiles(const CompileOptions& options)
{
    if (options.output.filename().empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoLibraryFile, options.output.string()));
    return deploy::checkDestination(deploy::ExportedFiles::of(std::filesystem::absolute(options.output),
                                                              deploy::libraryName(options.name, options.output)),
                                    options.overwrite);
}

Result<CompileReport> exportLibrary(const LoadedModel& model, const store::Project* project,
                                    const CompileOptions& options, const Progress& progress, std::stop_token stop)
{
    const auto step = [&](std::string_view what, double fraction) -> Result<> {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::ExportCancelled));
        if (progress)
            progress(what, fraction);
        return {};
    };
    LATHE_TRY(deploy::checkExportable(model.target));
    if (const std::string machine = model.target.machine();
        machine != thisMachine() && (options.verify || options.benchmark))
        return makeError(Errc::Unsupported, say(Msg::LibraryNotForHere, machine));
    LATHE_TRY(checkExportFiles(options));
    LATHE_TRY_ASSIGN(const auto given, deploy::readInputs(inputPortsOf(model.imported), options.inputs));
    LATHE_TRY(step("choosing records", 0.0));
    LATHE_TRY_ASSIGN(KernelChoices chosen, chooseKernels(model, project, {{}, options.strict}));
    if (!options.allowDefault)
        if (auto refusal = refusalOf(chosen, model))
            return makeError(Errc::Incompatible, *std::move(refusal));
    LATHE_TRY(step("compiling", 0.1));
    LATHE_TRY_ASSIGN(deploy::StagedLibrary staged, stage(model, chosen, options, stop));

    CompileReport report;
    report.threads = threadsOf(model, options.threads);
    report.subgraphs = chosen.reports;
    report.estimated.tasksMs = chosen.estimatedTasksMs;
    if (options.verify) {
        LATHE_TRY(step("verifying", 0.5));
        const auto checked = verifyExported(staged.file, model, stop, given);
        const bool allGiven = std::ranges::all_of(given, [](const auto& input) { return input.has_value(); });
        if (checked) {
            report.maxRelError = checked->maxRelError;
            tellConditions(*checked, report);
        } else if (checked.error().code == Errc::InvalidArgument && !allGiven) {
            const Message why = say(Msg::MadeUpUnfit, checked.error());
            report.notVerified = textOf(why);
            report.aboutNotVerified = about(why);
        } else {
            return checked.error();
        }
    }
    if (options.benchmark) {
        LATHE_TRY(step("benchmarking", 0.8));
        LATHE_TRY_ASSIGN(
            const BenchFigures figures,
            benchExported(staged.file, report.threads, stop, 0,
                          deploy::runInputs(deploy::inputTypesOf(model.imported), staged.inputRanges, given)));
        report.latencyMs = figures.latencyMs;
        report.threads = figures.threads;
        report.estimated = estimateOf(chosen, staged, figures);
        std::map<std::string, double> ofSubgraph;
        for (std::size_t i = 0; i < std::min(figures.instructionMs.size(), staged.image.instructions.size()); ++i)
            if (const std::int32_t subgraph = staged.image.instructions[i].subgraph; subgraph >= 0)
                ofSubgraph[model.partition.subgraphs[static_cast<std::size_t>(subgraph)].name] =
                    figures.instructionMs[i];
        for (SubgraphReport& subgraph : report.subgraphs)
            if (const auto found = ofSubgraph.find(subgraph.name); found != ofSubgraph.end())
                subgraph.measuredMs = found->second;
    }
    LATHE_TRY(step("writing", 0.95));
    deploy::LibraryFacts facts;
    facts.network = model.spec.source;
    facts.modelJson = toJson(fromAnywhere(model.spec)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    facts.target = model.target.text();
    for (const SubgraphReport& s : report.subgraphs)
        facts.subgraphs.push_back({s.name, s.record, s.reason, s.estimatedMs, s.measuredMs});
    facts.device = options.benchmark ? deviceName(model.target.kind()) : std::string();
    facts.threads = report.threads;
    facts.maxRelError = report.maxRelError;
    facts.medianMs = report.latencyMs.median;
    facts.meanMs = report.latencyMs.mean;
    facts.stdMs = report.latencyMs.std;
    facts.minMs = report.latencyMs.min;
    facts.p95Ms = report.latencyMs.p95;
    facts.estimated = report.estimated;
    LATHE_TRY_ASSIGN(const deploy::ExportedFiles files, deploy::publishLibrary(staged, facts, options.overwrite));
    report.library = files.library;
    report.header = files.header;
    report.description = files.description;
    if (progress) // a stop comes too late: the files are there
        progress("done", 1.0);
    return report;
}

Result<MeasuredEvent> measureNetwork(const LoadedModel& model, const store::Project* project,
                                     const RecordChoice& choice, std::stop_token stop,
                                     std::shared_ptr<deploy::DerivedConstants> derived)
{
    LATHE_TRY_ASSIGN(const KernelChoices chosen, chooseKernels(model, project, choice));
    LATHE_TRY_ASSIGN(const TempDir folder, TempDir::create("lathe-network"));
    CompileOptions options;
    options.output = folder.path() / "network.so";
    options.name = "network";
    LATHE_TRY_ASSIGN(const deploy::StagedLibrary staged, stage(model, chosen, options, stop, std::move(derived)));
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::Stopped));
    LATHE_TRY_ASSIGN(const BenchFigures figures,
                     benchExported(staged.file, threadsOf(model, 0), stop, kNetworkSeconds,
                                   deploy::runInputs(deploy::inputTypesOf(model.imported), staged.inputRanges)));
    MeasuredEvent event;
    event.ms = figures.latencyMs.median;
    event.untuned = project == nullptr;
    event.estimated = estimateOf(chosen, staged, figures);
    return event;
}

} // namespace lathe::session
