#include "core/session/project/measure_again.h"

#include "core/session/condition_texts.h"
#include "core/session/device_clock.h"
#include "core/session/device_directory.h"
#include "core/session/exports/network_bench.h"
#include "core/session/options/options_json.h"
#include "core/session/project/stored_events.h"
#include "core/session/run/measure_plan.h"
#include "core/session/verdict/judge.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>

namespace lathe::session {

namespace {

std::string stored(const nlohmann::json& content)
{
    return content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

Result<std::vector<Event>> measureNetworkAgain(std::shared_ptr<const LoadedModel> model, store::Project& writer,
                                               std::int64_t modelRow, std::span<const TaskView> tasks,
                                               const DeviceLimits& limits, std::stop_token stop)
{
    const BackendTraits& traits = model->target.traits();
    if (!traits.standsFor.empty())
        return makeError(Errc::Unsupported, say(Msg::OnlyExpects, model->target.text(), traits.standsFor));
    if (!traits.libraries)
        return makeError(Errc::Unsupported, say(Msg::NetworkNotTimedHere, model->target.text()));
    LATHE_TRY_ASSIGN(const auto sessions, writer.sessions());
    std::optional<store::SessionRow> latest;
    std::map<std::string, std::int64_t> roundsOf;
    Proposed proposed; // of the latest run
    for (const store::SessionRow& row : sessions) {
        if (row.model != modelRow || row.target != model->target.text())
            continue;
        latest = row;
        LATHE_TRY_ASSIGN(const auto rounds, writer.rounds(row.id));
        proposed = {};
        for (const store::RoundRow& round : rounds) {
            ++roundsOf[round.task];
            proposed.trials += round.trials;
            proposed.rejected += rejectedIn(nlohmann::json::parse(round.durations, nullptr, false));
        }
    }
    if (!latest)
        return makeError(Errc::NotFound, say(Msg::NothingTunedYet, writer.file().string()));
    NetworkBench bench([model] { return model; }, &writer);
    LATHE_TRY_ASSIGN(const TuneOptions options, tuneOptionsFromJson(latest->options));
    NetworkRequest request{NetworkBuild::Both, {}};
    std::unique_ptr<measure::Measurer> there; // devices behind a broker, if it was measured on such
    if (!options.broker.empty()) {
        LATHE_TRY_ASSIGN(measure::MeasurerOptions words, measurerOptions(options, *model));
        LATHE_TRY_ASSIGN(there, measure::Measurer::create(std::move(words), stop));
        LATHE_TRY_ASSIGN(request.lent, there->lend(stop));
        request.device = there->devices().front().fingerprint;
    } else {
        if (!traits.runsHere)
            return makeError(Errc::Unsupported, say(Msg::NetworkNotTimedHere, model->target.text()));
        LATHE_TRY_ASSIGN(const auto devices,
                         DeviceDirectory::ask(model->target.kind()).pick(model->target.text(), options.devices));
        request.device = devices.front().fingerprint;
    }
    if (clockOf(traits, request.device) == CostClock::Model) // its library is timed by another clock
        return makeError(Errc::Unsupported, say(Msg::LibraryOnModel, deviceNameOf(request.device)));
    LATHE_TRY_ASSIGN(NetworkFigures figures, bench.measure(request, std::move(stop)));
    if (figures.unpaired)
        return *std::move(figures.unpaired);
    std::vector<std::int64_t> rounds;
    for (const TaskView& task : tasks)
        rounds.push_back(roundsOf[task.key]);
    const VerdictEvent verdict = judged(*model, figures.measured,
                                        gainOf(figures.pairs->tunedMs, figures.pairs->untunedMs),
                                        figures.pairs->machine, taskFacts(tasks, rounds, limits), proposed);
    const double at = latest->activeSeconds;
    LATHE_TRY(writer.addEvent(latest->id, at, "measured", stored(toJson(figures.measured))));
    LATHE_TRY(writer.addEvent(latest->id, at, "verdict", stored(toJson(verdict))));
    return std::vector<Event>{{at, figures.measured}, {at, verdict}};
}

} // namespace lathe::session
