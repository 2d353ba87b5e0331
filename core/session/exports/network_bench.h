#pragma once

#include "core/deploy/derived_constants.h"
#include "core/deploy/library.h"
#include "core/session/events.h"
#include "core/session/exports/exporter.h"
#include "core/session/exports/library_check.h"
#include "core/session/exports/timed_pairs.h"
#include "core/support/files.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace lathe::session {

/// Parts of a network that was timed; as in MeasuredEvent.
struct NetworkParts
{
    deploy::EstimateParts estimated;
    double besideTasksMs = kUnknown;
    SmallFunctions small;
};
/// `chosen` is what the variant was made of, `figures` are of it.
NetworkParts partsOf(const LoadedModel& model, const KernelChoices& chosen, const deploy::StagedVariant& variant,
                     const BenchFigures& figures);

/// What of a network is timed.
enum class NetworkBuild : std::uint8_t
{
    Untuned, ///< with default schedules
    Tuned, ///< with the best records so far
    Both ///< the tuned one, then it and the untuned one in turns
};

struct NetworkRequest
{
    NetworkBuild build = NetworkBuild::Tuned;
    RecordChoice choice;
    std::string device = {}; ///< DeviceIdentity::fingerprint of the one that it runs on; empty: the library chooses
    measure::Endpoint* lent = nullptr; ///< of a device behind a broker, on which it is timed; null: on this machine
    // Of Both (pairPlan):
    double turnSeconds = 1.5; ///< of either side
    double untunedSeconds = 5; ///< of the untuned side at most
};

struct NetworkFigures
{
    MeasuredEvent measured;
    std::optional<TimedPairs> pairs; ///< of Both
    std::optional<Error> unpaired; ///< of Both: why there are none
};

/// Compiles a network and times it, in processes of its own. What was made of the untuned one is kept for the next
/// time. Threads: one at a time.
class NetworkBench
{
public:
    using Model = std::function<std::shared_ptr<const LoadedModel>()>;

    /// @param project  of the records; null: there are none. Outlives this.
    NetworkBench(Model model, const store::Project* project, measure::MachineReader machine = measure::MachineReader())
        : m_model(std::move(model))
        , m_project(project)
        , m_machine(std::move(machine))
    {
    }

    /// Errors: those of an export; Cancelled.
    Result<NetworkFigures> measure(const NetworkRequest& request, std::stop_token stop);

private:
    struct Build
    {
        std::shared_ptr<const LoadedModel> model;
        TempDir folder;
        KernelChoices chosen;
        std::string device; ///< NetworkRequest::device
        deploy::StagedLibrary staged; ///< in the folder: removed before it
    };
    static unsigned threadsOf(const Build& build, const NetworkRequest& request);
    Result<Build> make(const NetworkRequest& request, bool isTuned, std::stop_token stop);
    Result<MeasuredEvent> time(const Build& build, const NetworkRequest& request, std::stop_token stop) const;
    Result<> makeUntuned(const NetworkRequest& request, std::stop_token stop);
    Result<TimedPairs> pair(const Build& tuned, double tunedMs, const NetworkRequest& request, std::stop_token stop);

    Model m_model;
    const store::Project* m_project;
    measure::MachineReader m_machine;
    std::shared_ptr<deploy::DerivedConstants> m_derived = std::make_shared<deploy::DerivedConstants>();
    std::optional<Build> m_untuned;
};

} // namespace lathe::session
