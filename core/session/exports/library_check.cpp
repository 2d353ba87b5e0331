#include "core/session/exports/library_check.h"

#include "core/deploy/library_client.h"
#include "core/runtime/clock.h"

namespace lathe::session {

namespace {
constexpr double kCheckSeconds = 600; // a run, and the reference executor, which takes minutes for a large network
}

Result<deploy::VerifyReport> verifyExported(const std::filesystem::path& library, const LoadedModel& model,
                                            std::stop_token stop,
                                            const std::vector<std::optional<graph::HostTensor>>& given,
                                            const std::string& variant)
{
    deploy::LibraryClient::Options options;
    options.mapWeights = true; // not timed: weights of gigabytes need no copy
    options.runSeconds = kCheckSeconds;
    options.variant = variant;
    LATHE_TRY_ASSIGN(const auto loaded, deploy::LibraryClient::open(library, options, stop));
    deploy::VerifyOptions verify;
    verify.inputs = given;
    LATHE_TRY_ASSIGN(deploy::VerifyReport report,
                     deploy::verifyByBuilder(*loaded, model.imported, &model.optimized, verify, kCheckSeconds, stop));
    if (!report.passed && !report.refused)
        return makeError(Errc::WrongAnswer, report.text);
    return report;
}

Result<BenchFigures> benchExported(const std::filesystem::path& library, unsigned threads, std::stop_token stop,
                                   double maxSeconds, const std::vector<graph::HostTensor>& inputs)
{
    deploy::LibraryClient::Options options;
    options.threads = threads;
    options.runSeconds = kCheckSeconds;
    LATHE_TRY_ASSIGN(const auto loaded, deploy::LibraryClient::open(library, options, std::move(stop)));
    wire::LibraryPlan plan;
    plan.maxSeconds = maxSeconds;
    LATHE_TRY_ASSIGN(wire::LibraryTimes times, loaded->time(plan, inputs));
    const runtime::Statistics ns = runtime::summarize(times.runsNs.data(), times.runsNs.size());
    BenchFigures figures;
    figures.latencyMs = {ns.median * 1e-6, ns.mean * 1e-6, ns.std * 1e-6, ns.min * 1e-6, ns.p95 * 1e-6};
    figures.threads = times.threads;
    figures.variant = loaded->variant();
    figures.callMs = times.callMs;
    for (const wire::FunctionTime& function : times.functions)
        figures.instructionMs.push_back(function.ms);
    return figures;
}

} // namespace lathe::session
