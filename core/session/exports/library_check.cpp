#include "core/session/exports/library_check.h"

#include "core/deploy/library_client.h"
#include "core/graph/flatten.h"
#include "core/graph/op_traits.h"
#include "core/runtime/clock.h"
#include "core/support/message.h"

#include <algorithm>

namespace lathe::session {

namespace {

constexpr double kOpenLoopSeconds = 20;

bool hasOpenLoop(const graph::Graph& graph)
{
    return std::ranges::any_of(graph.nodes, [&graph](const graph::Node& node) {
        return (graph::traitsOf(node).control == graph::Control::Loop && !graph::knownTrips(graph, node))
               || std::ranges::any_of(node.bodies, [](const auto& body) { return hasOpenLoop(*body); });
    });
}

/// What ran out of less time than others have is a loop that does not end.
Error ended(Error error, double seconds)
{
    if (error.code != Errc::RunTimeout || seconds >= kRunSeconds)
        return error;
    return makeError(Errc::RunTimeout, say(Msg::LoopDidNotEnd, seconds));
}

} // namespace

double runSecondsOf(const LoadedModel& model, bool isMadeUp)
{
    return isMadeUp && hasOpenLoop(model.imported) ? kOpenLoopSeconds : kRunSeconds;
}

Result<deploy::VerifyReport> verifyExported(const std::filesystem::path& library, const LoadedModel& model,
                                            std::stop_token stop,
                                            const std::vector<std::optional<graph::HostTensor>>& given,
                                            const std::string& variant, const LibraryPlace& place)
{
    deploy::LibraryClient::Options options;
    options.mapWeights = true; // not timed: weights of gigabytes need no copy
    const bool isMadeUp = given.size() < model.imported.inputs.size()
                          || std::ranges::any_of(given, [](const auto& input) { return !input.has_value(); });
    options.runSeconds = runSecondsOf(model, isMadeUp);
    options.variant = variant;
    options.device = place.device;
    options.lent = place.lent;
    LATHE_TRY_ASSIGN(const auto loaded, deploy::LibraryClient::open(library, options, stop));
    deploy::VerifyOptions verify;
    verify.inputs = given;
    auto report = deploy::verifyByBuilder(*loaded, model.imported, &model.optimized, verify, options.runSeconds, stop);
    if (!report)
        return ended(std::move(report).error(), options.runSeconds);
    if (!report->passed && !report->refused)
        return makeError(Errc::WrongAnswer, report->text);
    return report;
}

Result<BenchFigures> benchExported(const std::filesystem::path& library, unsigned threads, std::stop_token stop,
                                   double maxSeconds, const std::vector<graph::HostTensor>& inputs, double runSeconds,
                                   const LibraryPlace& place)
{
    deploy::LibraryClient::Options options;
    options.threads = threads;
    options.runSeconds = runSeconds;
    options.device = place.device;
    options.lent = place.lent;
    LATHE_TRY_ASSIGN(const auto loaded, deploy::LibraryClient::open(library, options, std::move(stop)));
    wire::LibraryPlan plan;
    plan.maxSeconds = maxSeconds;
    auto timed = loaded->time(plan, inputs);
    if (!timed)
        return ended(std::move(timed).error(), runSeconds);
    wire::LibraryTimes& times = *timed;
    const runtime::Statistics ns = runtime::summarize(times.runsNs.data(), times.runsNs.size());
    BenchFigures figures;
    figures.latencyMs = {ns.median * 1e-6, ns.mean * 1e-6, ns.std * 1e-6, ns.min * 1e-6, ns.p95 * 1e-6};
    figures.threads = times.threads;
    figures.variant = loaded->variant();
    figures.device = loaded->device();
    figures.callMs = times.callMs;
    for (const wire::FunctionTime& function : times.functions)
        figures.instructionMs.push_back(function.ms);
    return figures;
}

} // namespace lathe::session
