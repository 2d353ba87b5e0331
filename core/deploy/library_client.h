#pragma once

#include "core/deploy/library_host.h"
#include "core/measure/remote_devices.h"
#include "core/measure/types.h"
#include "core/wire/library_times.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>

namespace lathe::deploy {

struct LoadedVariant
{
    std::string target; ///< text
    bool runsHere = false;
};

/// An exported network, loaded into a lathe-runner: nothing that is in the library runs in this process. One that
/// crashes or hangs costs its runner and one sentence. Threads: one at a time.
class LibraryClient : public LibraryHost
{
public:
    struct Options
    {
        unsigned threads = 0; ///< 0: all processors
        bool mapWeights = false; ///< no copy into 2 MiB pages: for what is not timed
        std::string variant = {}; ///< the target text of one; empty: the best that this processor runs
        std::string device = {}; ///< key of the device beside the processor; empty: the library chooses
        std::string deviceKind = {}; ///< of targets: the best variant of it, where none is named; empty: of any
        /// What loading, or a single run, may take.
        double runSeconds = std::numeric_limits<double>::infinity();
        measure::WorkerPrograms programs;
        /// The library is sent to a device behind a broker, and runs there; `runSeconds` counts from when it has it.
        std::optional<measure::RemoteClaim> remote = {};
        std::function<void(const Message&)> onNotice = {}; ///< what is waited for; on the thread that opens
        /// The library is sent to this device behind a broker, which is used by others too, in between; outlives it.
        measure::Endpoint* lent = nullptr;
    };
    /// A stop ends the runner in the middle of its work: calls give Cancelled. Behind a broker, waits until there is a
    /// device, which it has until it goes; one that is lost meanwhile costs the call (DeviceLost).
    /// Errors: of RemoteDevices::open() and waitForSome(); NotFound, BadFile (no exported network), Incompatible
    /// (another version of the interface, another machine), Internal (the library refuses, with its words), RunTimeout,
    /// WorkerCrashed, Cancelled.
    static Result<std::unique_ptr<LibraryClient>> open(const std::filesystem::path& file, const Options& options,
                                                       std::stop_token stop = {});
    ~LibraryClient() override;

    const std::vector<PortInfo>& inputs() const override;
    const std::vector<PortInfo>& outputs() const override;
    unsigned threads() const;
    const std::string& variant() const; ///< the target text of that which runs
    const std::vector<LoadedVariant>& variants() const; ///< the best first
    const std::string& device() const; ///< name of the device beside the processor that it runs on; empty: none

    /// Times the library on these inputs, as serve::benchLibrary does; none: values that it makes for itself. Errors:
    /// as of run().
    Result<wire::LibraryTimes> time(const wire::LibraryPlan& plan, const std::vector<graph::HostTensor>& inputs = {});

private:
    struct Impl;
    explicit LibraryClient(std::unique_ptr<Impl> impl);
    Result<LibraryRun> runChecked(const LibraryRunRequest& request) override;
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::deploy
