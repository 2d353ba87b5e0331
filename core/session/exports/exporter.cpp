#include "core/session/exports/exporter.h"

#include "core/deploy/library.h"
#include "core/deploy/library_client.h"
#include "core/deploy/names.h"
#include "core/deploy/npy.h"
#include "core/measure/measurer.h"
#include "core/runtime/cpu_features.h"
#include "core/session/condition_texts.h"
#include "core/session/device_clock.h"
#include "core/session/device_directory.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/exports/library_check.h"
#include "core/session/exports/network_bench.h"
#include "core/session/options/options_json.h"
#include "core/session/remote_claim.h"
#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/detect.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lathe::session {

namespace {

constexpr auto kCompileTimeout = std::chrono::minutes(10);
/// For which a device behind a broker is kept whoever waits: the reference executor computes in between.
constexpr auto kReserved = std::chrono::minutes(15);

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
    const auto devices = measure::listDevices({}, kind);
    const nlohmann::json list = devices ? nlohmann::json::parse(*devices, nullptr, false) : nlohmann::json();
    if (list.is_array())
        for (const nlohmann::json& device : list)
            if (textIn(device, "kind") == kind)
                return textIn(device, "name");
    return {};
}

unsigned threadsOf(const LoadedModel& model, unsigned wanted)
{
    return wanted > 0 ? wanted : model.target.threads();
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

Result<deploy::StagedLibrary> stageLibrary(const ModelVariants& models, const std::vector<KernelChoices>& chosen,
                                           const CompileOptions& wanted, std::stop_token stop,
                                           std::shared_ptr<deploy::DerivedConstants> derived, const std::string& device)
{
    const std::string kind = textIn(nlohmann::json::parse(device, nullptr, false), "kind");
    std::vector<std::unique_ptr<deploy::Compiler>> compilers;
    std::vector<deploy::VariantSource> sources;
    for (std::size_t i = 0; i < models.size(); ++i) {
        const LoadedModel& model = *models[i];
        const std::size_t builders = std::clamp<std::size_t>(chosen[i].choices.size() / 4, 1, availableThreads());
        const std::string& other = model.target.traits().standsFor;
        const std::string target = other.empty() ? model.target.text() : other;
        LATHE_TRY_ASSIGN(auto compiler,
                         deploy::makeBuilderCompiler(target, builders, kCompileTimeout, stop,
                                                     kind == model.target.kind() ? device : std::string()));
        compilers.push_back(std::move(compiler));
        sources.push_back({model.graph, model.partition, chosen[i].choices, *compilers.back(), target});
    }
    const LoadedModel& first = *models.front();
    deploy::LibraryOptions options;
    options.output = wanted.output;
    options.overwrite = wanted.overwrite;
    options.name = wanted.name;
    options.machine = first.target.machine();
    options.derived = std::move(derived);
    options.inputRanges = graph::inputRanges(first.imported);
    options.inputLayouts = layoutsOf(first.imported, first.imported.inputs);
    options.outputLayouts = layoutsOf(first.imported, first.imported.outputs);
    return deploy::buildLibrary(sources, options);
}

Result<> checkExportFiles(const CompileOptions& options)
{
    if (options.output.filename().empty())
        return makeError(Errc::InvalidArgument, say(Msg::NoLibraryFile, options.output.string()));
    return deploy::checkDestination(deploy::ExportedFiles::of(std::filesystem::absolute(options.output),
                                                              deploy::libraryName(options.name, options.output)),
                                    options.overwrite);
}

Result<ModelVariants> loadVariants(std::shared_ptr<const LoadedModel> model, const std::vector<std::string>& targets)
{
    ModelVariants variants = {std::move(model)};
    for (const std::string& target : targets) {
        LATHE_TRY_ASSIGN(const auto further, loadModel(variants.front()->spec, target));
        const Target &first = variants.front()->target, &other = further->target;
        LATHE_TRY(deploy::checkExportable(other));
        for (const auto& known : variants)
            if (known->target.text() == other.text())
                return makeError(Errc::InvalidArgument, say(Msg::VariantTwice, other.text()));
        if (other.machine() != first.machine())
            return makeError(Errc::InvalidArgument, say(Msg::VariantsOfMachines, first.text(), other.text()));
        variants.push_back(further);
    }
    return variants;
}

namespace {

/// An export on its way: what it has found out so far.
class Export
{
public:
    Export(const ModelVariants& models, const store::Project* project, const CompileOptions& options,
           const Progress& progress, std::stop_token stop)
        : m_models(models)
        , m_project(project)
        , m_options(options)
        , m_progress(progress)
        , m_stop(std::move(stop))
    {
    }

    Result<CompileReport> run()
    {
        LATHE_TRY(check());
        LATHE_TRY(findDevice());
        LATHE_TRY(step("choosing records", 0.0));
        LATHE_TRY(choose());
        LATHE_TRY(step("compiling", 0.1));
        LATHE_TRY_ASSIGN(m_staged, stageLibrary(m_models, m_chosen, m_options, m_stop, nullptr, madeFor()));
        if (!m_options.broker.empty() && (m_options.verify || m_options.benchmark)) {
            LATHE_TRY(step("waiting for a device", 0.4));
            LATHE_TRY(claimDevice());
        }
        LATHE_TRY(report());
        LATHE_TRY(checkProcessor());
        if (!first().target.traits().standsFor.empty())
            tellNotRun();
        if (m_options.verify && m_report.notVerified.empty()) {
            LATHE_TRY(step("verifying", 0.5));
            LATHE_TRY(verify());
        }
        if (m_options.benchmark && m_report.notTimed.empty()) {
            LATHE_TRY(step("benchmarking", 0.8));
            LATHE_TRY(benchmark());
        }
        LATHE_TRY(step("writing", 0.95));
        LATHE_TRY(write());
        if (m_progress) // a stop comes too late: the files are there
            m_progress("done", 1.0);
        return std::move(m_report);
    }

private:
    Result<> step(std::string_view what, double fraction) const
    {
        if (m_stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::ExportCancelled));
        if (m_progress)
            m_progress(what, fraction);
        return {};
    }

    const LoadedModel& first() const { return *m_models.front(); }

    Result<> check()
    {
        for (const auto& model : m_models)
            LATHE_TRY(deploy::checkExportable(model->target));
        if (const std::string machine = first().target.machine();
            machine != thisMachine() && m_options.broker.empty() && (m_options.verify || m_options.benchmark))
            return makeError(Errc::Unsupported, say(Msg::LibraryNotForHere, machine));
        LATHE_TRY(checkExportFiles(m_options));
        LATHE_TRY_ASSIGN(m_given, deploy::readInputs(inputPortsOf(first().imported), m_options.inputs));
        return {};
    }

    /// What is compiled without a run before it goes by the figures of the device that is here, as a run's network
    /// does.
    void takeFigures(std::shared_ptr<const LoadedModel>& model, const DeviceView& device) const
    {
        auto limited = std::make_shared<LoadedModel>(*model);
        limited->hardware.takeDeviceFigures(figuresOf(device.fingerprint));
        model = std::move(limited);
    }

    /// One of those that have the key at the broker, from now on. Others wait meanwhile, so it is asked for when there
    /// is something to run.
    Result<> claimDevice()
    {
        LATHE_TRY_ASSIGN(measure::RemoteClaim claim, remoteClaim({m_options.broker, m_options.credentials},
                                                                 m_options.device, "export " + first().spec.source));
        claim.most = 1;
        claim.reserve = kReserved;
        LATHE_TRY_ASSIGN(m_remote, measure::RemoteDevices::open(std::move(claim), measure::deviceOf(first().target)));
        const auto waits = [this](const Message& why) {
            if (m_progress)
                m_progress(textOf(why), 0.4);
        };
        LATHE_TRY_ASSIGN(auto some, m_remote->waitForSome(waits, m_stop));
        m_lent = std::move(some.front());
        m_remote->hold(true);
        m_device.fingerprint = m_lent->identity().fingerprint;
        m_device.name = textIn(nlohmann::json::parse(m_device.fingerprint, nullptr, false), "name");
        return {};
    }

    /// What code is made for: those that have one key are taken to be alike, as a run does.
    Result<> askRemoteFigures()
    {
        if (m_options.device.empty())
            return makeError(Errc::InvalidArgument, say(Msg::BrokerNeedsKey));
        if (!first().target.traits().takesDeviceFigures)
            return {};
        LATHE_TRY(claimDevice());
        m_lent.reset(); // others may have it while the code is made
        m_remote.reset();
        for (auto& model : m_models)
            if (model->target.kind() == first().target.kind())
                takeFigures(model, m_device);
        return {};
    }

    /// Which variants nothing here runs: what is to be compared or timed needs one that something does. A device that
    /// was named is looked for by findDevice(); what is for a device that is not here is not run at all.
    Result<> checkDevices()
    {
        if (!m_options.device.empty() || (!m_options.verify && !m_options.benchmark)
            || !first().target.traits().standsFor.empty())
            return {};
        m_notHere.resize(m_models.size());
        for (std::size_t m = 0; m < m_models.size(); ++m)
            if (const auto here = checkDeviceHere(m_models[m]->target); !here)
                m_notHere[m] = messageOf(here.error());
        if (std::ranges::any_of(m_notHere, [](const auto& why) { return !why; }))
            return {};
        return noDevice(0);
    }
    Error noDevice(std::size_t model) const
    {
        return makeError(Errc::Unsupported,
                         say(Msg::NoDeviceToCheck, m_models[model]->target.text(), *m_notHere[model]));
    }
    /// Null: something here runs what is made of that model, or may.
    const Message* whyNotHere(std::size_t model) const
    {
        return model < m_notHere.size() && m_notHere[model] ? &*m_notHere[model] : nullptr;
    }

    Result<> findDevice()
    {
        if (!m_options.broker.empty())
            return askRemoteFigures();
        LATHE_TRY(checkDevices());
        for (auto& model : m_models)
            if (m_options.device.empty() && model->target.traits().takesDeviceFigures) {
                const auto picked = DeviceDirectory::ask(model->target.kind()).pick(model->target.text(), {});
                if (picked) { // else it is compiled for a device that is elsewhere
                    takeFigures(model, picked->front());
                    if (model == m_models.front())
                        m_limitsOf = picked->front().fingerprint;
                }
            }
        if (m_options.device.empty())
            return {};
        Result<> found; // there is at least one variant
        for (auto& model : m_models) {
            const auto picked =
                DeviceDirectory::ask(model->target.kind()).pick(model->target.text(), std::span(&m_options.device, 1));
            if (picked) {
                m_device = picked->front();
                if (model->target.traits().takesDeviceFigures)
                    takeFigures(model, m_device);
                return {};
            }
            found = picked.error();
        }
        return found;
    }

    /// For a variant.
    LibraryPlace placeOf(std::size_t model) const
    {
        return {m_device.kind == m_models[model]->target.kind() ? m_device.key : std::string(), m_lent.get()};
    }

    Result<> choose()
    {
        for (const auto& model : m_models) {
            LATHE_TRY_ASSIGN(AppliedLogs applied, recordsOfFiles(*model, m_options));
            auto logs = std::make_shared<const AppliedLogs>(std::move(applied));
            if (model == m_models.front()) // a line may be for one variant and not for another
                m_report.given = logs->given;
            LATHE_TRY_ASSIGN(KernelChoices chosen,
                             chooseKernels(*model, m_project,
                                           {{}, m_options.strict, layoutChoiceOf(m_options), std::move(logs)}, m_stop));
            if (chosen.plan) {
                m_report.plan = textOf(*chosen.plan);
                m_report.aboutPlan = about(*chosen.plan);
            }
            if (auto refusal = refusalOf(chosen, *model); refusal && !m_options.allowDefault)
                return makeError(Errc::Incompatible, m_models.size() == 1 ? *std::move(refusal)
                                                                          : say(Msg::VariantNoted, model->target.text(),
                                                                                *std::move(refusal)));
            m_chosen.push_back(std::move(chosen));
        }
        return {};
    }

    /// Which variants run where it is verified and timed, in the library's order.
    Result<std::vector<bool>> whichRun() const
    {
        std::vector<bool> runs;
        if (m_lent) {
            deploy::LibraryClient::Options options;
            options.mapWeights = true;
            options.runSeconds = kRunSeconds;
            options.lent = m_lent.get();
            LATHE_TRY_ASSIGN(const auto loaded, deploy::LibraryClient::open(m_staged.file, options, m_stop));
            for (const deploy::LoadedVariant& variant : loaded->variants())
                runs.push_back(variant.runsHere);
            if (runs.size() != m_staged.variants.size())
                return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
            return runs;
        }
        for (const deploy::StagedVariant& staged : m_staged.variants)
            runs.push_back(first().target.machine() == thisMachine() && whyNotHere(staged.source) == nullptr
                           && std::ranges::all_of(staged.features, [](const std::string& feature) {
                                  return runtime::processorHas(feature.c_str());
                              }));
        return runs;
    }

    Result<> report()
    {
        LATHE_TRY_ASSIGN(const std::vector<bool> runs, whichRun());
        m_report.runner = m_lent ? m_lent->name() : std::string();
        for (const deploy::StagedVariant& staged : m_staged.variants) {
            VariantReport& variant = m_report.variants.emplace_back();
            variant.target = staged.target;
            variant.features = staged.features;
            variant.runsHere = runs[m_report.variants.size() - 1];
            variant.subgraphs = m_chosen[staged.source].reports;
            variant.weightsBytes = staged.image.usedWeightsBytes;
            variant.codeBytes = staged.codeBytes;
        }
        m_report.weightsBytes = m_staged.weightsBytes;
        std::error_code unknown;
        const std::uintmax_t bytes = std::filesystem::file_size(m_staged.file, unknown);
        m_report.libraryBytes = unknown ? 0 : bytes;
        m_figured = static_cast<std::size_t>(std::ranges::find(m_report.variants, true, &VariantReport::runsHere)
                                             - m_report.variants.begin());
        m_figured = m_figured < m_report.variants.size() ? m_figured : 0;
        m_report.variant = m_report.variants[m_figured].target;
        m_report.threads = threadsOf(*m_models[source()], m_options.threads);
        m_report.estimated.tasksMs = m_chosen[source()].estimatedTasksMs;
        return {};
    }

    /// Of what shall run here, something must.
    Result<> checkProcessor() const
    {
        const VariantReport& least = m_report.variants.back();
        if (m_report.variants[m_figured].runsHere || (!m_options.verify && !m_options.benchmark))
            return {};
        if (const std::size_t model = m_staged.variants.back().source; whyNotHere(model) != nullptr)
            return noDevice(model);
        std::vector<std::string> missing;
        for (const std::string& feature : least.features)
            if (!runtime::processorHas(feature.c_str()))
                missing.push_back(feature);
        return makeError(Errc::Incompatible, say(Msg::ProcessorLacks, missing, least.target));
    }

    /// What the library is for is not here.
    void tellNotRun()
    {
        const Message why = say(Msg::OnlyExpects, first().target.text(), first().target.traits().standsFor);
        m_report.notVerified = m_report.notTimed = textOf(why);
        m_report.aboutNotVerified = m_report.aboutNotTimed = about(why);
        for (VariantReport& variant : m_report.variants)
            variant.notVerified = m_report.notVerified;
    }

    /// Where the variant that the figures are of stands among the models.
    std::size_t source() const { return m_staged.variants[m_figured].source; }

    Result<> verify()
    {
        for (std::size_t i = 0; i < m_report.variants.size(); ++i) {
            VariantReport& variant = m_report.variants[i];
            if (!variant.runsHere && m_report.variants.size() > 1) {
                const Message* const why = whyNotHere(m_staged.variants[i].source);
                variant.notVerified = textOf(why != nullptr ? *why : say(Msg::VariantNotCompared, variant.target));
                continue;
            }
            const LoadedModel& model = *m_models[m_staged.variants[i].source];
            const auto checked = verifyExported(m_staged.file, model, m_stop, m_given, variant.target,
                                                placeOf(m_staged.variants[i].source));
            if (!checked && checked.error().code == Errc::RunTimeout
                && runSecondsOf(model, !allGiven()) < kRunSeconds) {
                variant.notVerified = checked.error().message; // a loop that does not end on made-up inputs
                m_report.aboutNotVerified = checked.error().about;
                continue;
            }
            if (!checked)
                return checked.error();
            if (checked->refused && allGiven())
                return *checked->refused;
            if (checked->refused) {
                const Message why = say(Msg::MadeUpUnfit, *checked->refused);
                variant.notVerified = textOf(why);
                m_report.aboutNotVerified = about(why);
            } else {
                variant.maxRelError = checked->maxRelError;
                tellConditions(*checked, m_report);
            }
            if (std::isfinite(variant.maxRelError)) // else the larger one of both
                m_report.maxRelError = std::isfinite(m_report.maxRelError)
                                           ? std::max(m_report.maxRelError, variant.maxRelError)
                                           : variant.maxRelError;
        }
        // Where only the processor kept a variant from it, the others were: that stands with the variant.
        for (const VariantReport& variant : m_report.variants)
            if (variant.runsHere && m_report.notVerified.empty())
                m_report.notVerified = variant.notVerified;
        return {};
    }

    /// Fingerprint of the device that was named, else of the one that is here; empty: of none.
    const std::string& madeFor() const { return m_device.fingerprint.empty() ? m_limitsOf : m_device.fingerprint; }

    bool allGiven() const
    {
        return std::ranges::all_of(m_given, [](const auto& input) { return input.has_value(); });
    }

    Result<> benchmark()
    {
        const std::string& on = madeFor();
        if (clockOf(first().target.traits(), on) == CostClock::Model) { // its library is timed by another clock
            const Message why = say(Msg::LibraryOnModel, deviceNameOf(on));
            m_report.notTimed = textOf(why);
            m_report.aboutNotTimed = about(why);
            return {};
        }
        const double runSeconds = runSecondsOf(first(), !allGiven());
        auto timed = benchExported(
            m_staged.file, m_report.threads, m_stop, 0,
            deploy::runInputs(deploy::inputTypesOf(first().imported), m_staged.inputRanges, m_given), runSeconds,
            placeOf(source()));
        if (!timed && timed.error().code == Errc::RunTimeout && runSeconds < kRunSeconds) {
            m_report.notTimed = timed.error().message; // the library is none the worse for it
            m_report.aboutNotTimed = timed.error().about;
            return {};
        }
        LATHE_TRY_ASSIGN(const BenchFigures figures, std::move(timed));
        m_report.latencyMs = figures.latencyMs;
        m_deviceName = figures.device;
        m_report.threads = figures.threads;
        const deploy::StagedVariant& variant = m_staged.variants[m_figured];
        m_report.estimated = partsOf(*m_models[source()], m_chosen[source()], variant, figures).estimated;
        const auto& instructions = variant.image.instructions;
        std::map<std::string, double> ofSubgraph;
        for (std::size_t i = 0; i < std::min(figures.instructionMs.size(), instructions.size()); ++i)
            if (const std::int32_t subgraph = instructions[i].subgraph; subgraph >= 0)
                ofSubgraph[m_models[source()]->partition.subgraphs[static_cast<std::size_t>(subgraph)].name] =
                    figures.instructionMs[i];
        for (SubgraphReport& subgraph : m_report.variants[m_figured].subgraphs)
            if (const auto found = ofSubgraph.find(subgraph.name); found != ofSubgraph.end())
                subgraph.measuredMs = found->second;
        return {};
    }

    static std::vector<deploy::SubgraphFacts> factsOf(const std::vector<SubgraphReport>& subgraphs)
    {
        std::vector<deploy::SubgraphFacts> facts;
        for (const SubgraphReport& s : subgraphs)
            facts.push_back({s.name, s.record, s.reason, s.estimatedMs, s.measuredMs});
        return facts;
    }

    Result<> write()
    {
        m_report.subgraphs = m_report.variants[m_figured].subgraphs;
        deploy::LibraryFacts facts;
        facts.network = first().spec.source;
        facts.modelJson =
            toJson(fromAnywhere(first().spec)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        facts.target = first().target.text();
        facts.variant = m_report.variant;
        facts.subgraphs = factsOf(m_report.subgraphs);
        for (const VariantReport& variant : m_report.variants)
            facts.variants[variant.target] = {factsOf(variant.subgraphs), variant.maxRelError, variant.notVerified};
        facts.device = !m_deviceName.empty() || !m_options.benchmark ? m_deviceName
                       : m_lent                                      ? m_device.name
                                                                     : deviceName(first().target.kind());
        facts.threads = m_report.threads;
        facts.maxRelError = m_report.maxRelError;
        facts.medianMs = m_report.latencyMs.median;
        facts.meanMs = m_report.latencyMs.mean;
        facts.stdMs = m_report.latencyMs.std;
        facts.minMs = m_report.latencyMs.min;
        facts.p95Ms = m_report.latencyMs.p95;
        facts.estimated = m_report.estimated;
        LATHE_TRY_ASSIGN(const deploy::ExportedFiles files,
                         deploy::publishLibrary(m_staged, facts, m_options.overwrite));
        m_report.library = files.library;
        m_report.header = files.header;
        m_report.description = files.description;
        return {};
    }

    ModelVariants m_models;
    const store::Project* m_project;
    const CompileOptions& m_options;
    const Progress& m_progress;
    std::stop_token m_stop;
    std::vector<std::optional<graph::HostTensor>> m_given; ///< values of inputs that the caller brought
    std::vector<KernelChoices> m_chosen; ///< one per model
    deploy::StagedLibrary m_staged;
    std::unique_ptr<measure::RemoteDevices> m_remote; ///< of the next; ends after it
    std::unique_ptr<measure::Endpoint> m_lent; ///< behind CompileOptions::broker; null: it is verified and timed here
    DeviceView m_device; ///< CompileOptions::device
    std::vector<std::optional<Message>> m_notHere; ///< by model: why nothing here runs it; empty: that was not asked
    std::string m_limitsOf; ///< fingerprint of the one whose figures the first variant is made by; empty: of none
    std::string m_deviceName; ///< of the one on which it was timed; empty: the processor, or it was not timed
    std::size_t m_figured = 0; ///< the variant that is timed, among those of the library
    CompileReport m_report;
};

} // namespace

Result<CompileReport> exportLibrary(const ModelVariants& variants, const store::Project* project,
                                    const CompileOptions& options, const Progress& progress, std::stop_token stop)
{
    return Export(variants, project, options, progress, std::move(stop)).run();
}

} // namespace lathe::session
