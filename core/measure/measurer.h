#pragma once

#include "core/measure/measure_times.h"
#include "core/measure/remote_devices.h"
#include "core/measure/types.h"
#include "core/support/result.h"
#include "core/target/target.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::measure {

struct MeasurerOptions
{
    std::string target = kDefaultTarget;
    std::uint32_t builders = 0; ///< processes; 0: one per processor
    /// One runner process each; empty: the target's kind with its words. Code is made for the first: all are to be of
    /// one class. Where they run on this machine's cores one measures at a time, in turns.
    std::vector<DeviceSpec> devices;
    /// Devices behind a broker in place of these: `devices` has at most one entry, which is opened on each of them.
    std::optional<RemoteClaim> remote;
    /// Makes the program that shows whether devices behind a broker stay as they are (steadiness.h), once the first of
    /// them is known. Where there is none, or it does not run, nobody looks; that is told.
    std::function<Result<MeasureRequest>(const DeviceIdentity&)> probe;
    double buildTimeoutSeconds = 15; ///< of one artifact; the candidates of one that takes longer are built again one
                                     ///< by one. Of one candidate, where a device itself compiles
    double runTimeoutSeconds = 10; ///< per candidate, without what the device compiles
    std::uint32_t candidatesPerBuild = 0; ///< in one artifact; 0: as the batch and the builders suggest
    std::uint32_t retireAfter = 5000; ///< requests after which a worker is replaced
    /// Builders are stopped and `onQuiet` is called around timing, where the target's kernels share this machine's
    /// cores.
    bool quietGate = true;
    std::function<void(bool quiet)> onQuiet; ///< park and unpark what else uses the cores; on the measuring thread
    /// What people are to know: that a device is waited for, came, was lost; on the thread that waits.
    std::function<void(const Message&)> onNotice;
    WorkerPrograms programs;
};

/// The device of this key (empty: the first) that a target runs on, opened with the target's words.
DeviceSpec deviceOf(const Target& target, std::string key = {});

/// For MeasureRequest::built.
BuiltKernelPtr makeBuiltKernel();

/// Whether programs for `target` can be measured on this machine. Unsupported, with the reason.
Result<> checkMeasurable(const Target& target);

/// Pools of builder and runner processes, or devices behind a broker, under one supervisor, which is the calling
/// thread: it waits with poll, starts workers when they are needed, kills their process group at a deadline, and
/// charges a crash to the candidate that caused it (a batch whose builder died is built again one by one). A worker
/// that dies while idle costs nothing. Not thread safe; call from a thread that outlives the Measurer (the kernel kills
/// workers when it ends).
class Measurer
{
public:
    /// Starts the runners to learn what the devices are; behind a broker, waits until there is one, as long as that
    /// takes where others have them. Errors: NotFound (program, plugin, device; nobody offers the key), Incompatible,
    /// Cancelled, ...
    static Result<std::unique_ptr<Measurer>> create(MeasurerOptions options, std::stop_token stop = {});
    ~Measurer();
    Measurer(const Measurer&) = delete;
    Measurer& operator=(const Measurer&) = delete;

    /// `onResult(i, result)` is called on this thread in request order, each as soon as it and all before it are known.
    /// Every failure of a candidate is a result. Errors: Cancelled (results not yet given are lost), or what keeps
    /// workers from running at all.
    using ResultCallback = std::function<void(std::size_t index, TrialResult result)>;
    /// Asked again and again on this thread, without waiting, until it gives requests of a later call; those are built
    /// while this call's are measured (Batch::buildAhead()).
    using AheadCallback = std::function<std::vector<MeasureRequest>()>;
    Result<> measure(std::span<const MeasureRequest> requests, const ResultCallback& onResult,
                     std::stop_token stop = {}, const AheadCallback& ahead = {});
    /// Whether builders work while devices measure: not where these take the cores that builders would disturb.
    bool buildsMeanwhile() const;

    /// A device behind a broker, for other requests than trials while nothing is measured; waits until there is one.
    /// Errors: those of RemoteDevices::waitForSome().
    Result<Endpoint*> lend(const std::stop_token& stop);
    void giveBack(); ///< what was lent

    void setRunTimeout(double seconds); ///< MeasurerOptions::runTimeoutSeconds from now on

    const MeasureTimes& times() const;
    std::size_t builders() const; ///< processes

    std::size_t measuringAtOnce() const; ///< devices, at most; behind a broker those that it has now

    /// Those that were opened, in the order of MeasurerOptions::devices; behind a broker the first one and those that
    /// are not equal to it in every respect. A result names the one that measured it.
    const std::vector<DeviceIdentity>& devices() const;
    /// JSON of what the first device that answers can do, measured now (device_abi.h, limits). Errors: DeviceLost,
    /// RunTimeout of the last one where none answers.
    Result<std::string> limits();

private:
    Result<std::string> limitsOf(std::size_t device);
    Result<> prepareProbe(Result<MeasureRequest> probe, const std::stop_token& stop);
    struct Impl;
    explicit Measurer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// All devices that this machine's plugins offer, or the one of `kind`, as a JSON array; plugins that do not load are
/// in it with "error".
Result<std::string> listDevices(const WorkerPrograms& programs, const std::string& kind = {});

} // namespace lathe::measure
