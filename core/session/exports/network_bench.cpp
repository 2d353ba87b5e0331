#include "core/session/exports/network_bench.h"

#include "core/deploy/library_client.h"
#include "core/deploy/test_inputs.h"
#include "core/runtime/clock.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

namespace {

constexpr double kNetworkSeconds = 5; ///< for the whole network between trials, which wait for it
constexpr double kTurnSeconds = 60; ///< that a run may take, at most

/// By which the library is told of the device.
std::string keyOf(const std::string& fingerprint)
{
    return textIn(nlohmann::json::parse(fingerprint, nullptr, false), "key");
}

/// Equal devices of several machines have different keys there.
LibraryPlace placeOf(const std::string& fingerprint, const NetworkRequest& request)
{
    return {keyOf(request.lent != nullptr ? request.lent->identity().fingerprint : fingerprint), request.lent};
}

/// A library in a process of its own, ready for turns.
class TurnTaker
{
public:
    static Result<TurnTaker> open(const std::filesystem::path& library, unsigned threads, const LibraryPlace& place,
                                  std::vector<graph::HostTensor> inputs, std::stop_token stop)
    {
        deploy::LibraryClient::Options options;
        options.threads = threads;
        options.device = place.device;
        options.lent = place.lent;
        options.runSeconds = kTurnSeconds;
        LATHE_TRY_ASSIGN(auto client, deploy::LibraryClient::open(library, options, std::move(stop)));
        return TurnTaker(std::move(client), std::move(inputs));
    }

    /// The client lets the library run once before; where nothing else runs, that run counts.
    Result<Turn> take(std::uint32_t runs)
    {
        if (runs == 0) {
            deploy::LibraryRunRequest request;
            request.inputs = m_inputs;
            request.returnOutputs = false;
            LATHE_TRY_ASSIGN(const deploy::LibraryRun once, m_client->run(request));
            return Turn{once.seconds * 1e3, std::numeric_limits<double>::quiet_NaN()};
        }
        wire::LibraryPlan plan;
        plan.repeat = runs;
        plan.wholeOnly = true;
        LATHE_TRY_ASSIGN(wire::LibraryTimes times, m_client->time(plan, m_inputs));
        return Turn{runtime::summarize(times.runsNs.data(), times.runsNs.size()).median * 1e-6, times.controlNs};
    }

private:
    TurnTaker(std::unique_ptr<deploy::LibraryClient> client, std::vector<graph::HostTensor> inputs)
        : m_client(std::move(client))
        , m_inputs(std::move(inputs))
    {
    }
    std::unique_ptr<deploy::LibraryClient> m_client;
    std::vector<graph::HostTensor> m_inputs;
};

std::vector<graph::HostTensor> inputsOf(const LoadedModel& model, const deploy::StagedLibrary& staged)
{
    return deploy::runInputs(deploy::inputTypesOf(model.imported), staged.inputRanges);
}

} // namespace

NetworkParts partsOf(const LoadedModel& model, const KernelChoices& chosen, const deploy::StagedVariant& variant,
                     const BenchFigures& figures)
{
    NetworkParts all;
    const auto& instructions = variant.image.instructions;
    if (figures.instructionMs.size() != instructions.size())
        return all;
    deploy::EstimateParts& parts = all.estimated;
    parts = {0, 0, 0, figures.callMs};
    all.small.ms = 0;
    all.besideTasksMs = figures.callMs;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        const auto runs = static_cast<double>(instructions[i].runs);
        const double ms = figures.instructionMs[i];
        const auto subgraph = static_cast<std::size_t>(std::max(0, instructions[i].subgraph));
        const bool own = instructions[i].subgraph >= 0; // else a copy, or a transform of layouts
        if (ms < kSmallFunctionMs) {
            all.small.count += instructions[i].runs;
            all.small.ms += runs * ms;
        }
        if (!own || model.partition.subgraphs[subgraph].task < 0)
            all.besideTasksMs += runs * ms;
        const deploy::KernelChoice* choice = own ? &chosen.choices[subgraph] : nullptr;
        if (choice == nullptr || choice->record.empty() || choice->estimatedMs < 0) {
            parts.untunedMs += runs * ms;
        } else {
            parts.tasksMs += runs * choice->estimatedMs;
            parts.chainMs += runs * (ms - choice->estimatedMs);
        }
    }
    return all;
}

/// Elsewhere the target's processors are not ours to count: all that there are.
unsigned NetworkBench::threadsOf(const Build& build, const NetworkRequest& request)
{
    const Target& target = build.model->target;
    return request.lent != nullptr && !target.attribute("threads") ? 0 : target.threads();
}

Result<NetworkBench::Build> NetworkBench::make(const NetworkRequest& request, bool isTuned, std::stop_token stop)
{
    std::shared_ptr<const LoadedModel> model = m_model();
    LATHE_TRY_ASSIGN(KernelChoices chosen, chooseKernels(*model, isTuned ? m_project : nullptr,
                                                         isTuned ? request.choice : RecordChoice(), stop));
    LATHE_TRY_ASSIGN(TempDir folder, TempDir::create("lathe-network"));
    CompileOptions options;
    options.output = folder.path() / "network.so";
    options.name = "network";
    LATHE_TRY_ASSIGN(deploy::StagedLibrary staged,
                     stageLibrary({model}, {chosen}, options, stop, m_derived, request.device));
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::Stopped));
    return Build{std::move(model), std::move(folder), std::move(chosen), request.device, std::move(staged)};
}

Result<> NetworkBench::makeUntuned(const NetworkRequest& request, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(m_untuned, make(request, false, std::move(stop)));
    return {};
}

Result<MeasuredEvent> NetworkBench::time(const Build& build, const NetworkRequest& request, std::stop_token stop) const
{
    const LoadedModel& model = *build.model;
    const measure::MachineCounters before = m_machine.read();
    LATHE_TRY_ASSIGN(const BenchFigures figures,
                     benchExported(build.staged.file, threadsOf(build, request), std::move(stop), kNetworkSeconds,
                                   inputsOf(model, build.staged), runSecondsOf(model, true),
                                   placeOf(build.device, request)));
    MeasuredEvent event;
    event.ms = figures.latencyMs.median;
    if (request.lent == nullptr) // what happens on another machine is not seen
        event.machine = measure::machineBetween(before, m_machine.read());
    const NetworkParts parts = partsOf(model, build.chosen, build.staged.variants.front(), figures);
    event.estimated = parts.estimated;
    event.besideTasksMs = parts.besideTasksMs;
    event.small = parts.small;
    return event;
}

Result<TimedPairs> NetworkBench::pair(const Build& tuned, double tunedMs, const NetworkRequest& request,
                                      std::stop_token stop)
{
    if (!m_untuned || m_untuned->device != request.device)
        LATHE_TRY(makeUntuned(request, stop));
    const unsigned threads = threadsOf(tuned, request);
    LATHE_TRY_ASSIGN(TurnTaker fast, TurnTaker::open(tuned.staged.file, threads, placeOf(tuned.device, request),
                                                     inputsOf(*tuned.model, tuned.staged), stop));
    LATHE_TRY_ASSIGN(TurnTaker slow,
                     TurnTaker::open(m_untuned->staged.file, threads, placeOf(m_untuned->device, request),
                                     inputsOf(*m_untuned->model, m_untuned->staged), stop));
    LATHE_TRY_ASSIGN(const Turn first, slow.take(1)); // how long it takes about, which the plan needs
    const measure::MachineReader nowhere("/nonexistent"); // what happens on another machine is not seen
    const PairPlan plan = pairPlan(tunedMs, first.ms, request.turnSeconds, request.untunedSeconds);
    return timeInTurns([&fast](std::uint32_t runs) { return fast.take(runs); },
                       [&slow](std::uint32_t runs) { return slow.take(runs); }, plan,
                       request.lent != nullptr ? nowhere : m_machine, std::move(stop));
}

Result<NetworkFigures> NetworkBench::measure(const NetworkRequest& request, std::stop_token stop)
{
    NetworkFigures figures;
    if (request.build == NetworkBuild::Untuned) {
        LATHE_TRY(makeUntuned(request, stop));
        LATHE_TRY_ASSIGN(figures.measured, time(*m_untuned, request, std::move(stop)));
        figures.measured.untuned = true;
        return figures;
    }
    LATHE_TRY_ASSIGN(const Build tuned, make(request, true, stop));
    LATHE_TRY_ASSIGN(figures.measured, time(tuned, request, stop));
    if (request.build == NetworkBuild::Both) {
        auto pairs = pair(tuned, figures.measured.ms, request, std::move(stop));
        if (pairs)
            figures.pairs = *std::move(pairs);
        else
            figures.unpaired = pairs.error();
    }
    return figures;
}

} // namespace lathe::session
