#pragma once

#include "core/broker/address.h"
#include "core/broker/tracker_folder.h"
#include "core/support/message.h"
#include "core/support/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace lathe::broker {

/// A tracker: the broker of a farm, which is a nats-server that knows the folder's members, and lets in whom they add
/// while it runs.
struct TrackerOptions
{
    /// On this machine's own addresses without TLS everybody of this machine gets in; with TLS, and on other addresses,
    /// members alone.
    Address listen = {"127.0.0.1", 4222};
    /// Both empty: a certificate of the folder's authority on other addresses than this machine's, none on those.
    std::filesystem::path certificate, privateKey;
    /// There TVM's tracker is spoken, too, without TLS and members (reference_tracker.h).
    std::optional<Address> compat = {};
    bool compatForAnybody = false; ///< other addresses than this machine's are meant
};

struct TrackerEvents
{
    std::function<void(const std::string& url)> ready; ///< once; for members
    std::function<void(const Message&)> notice; ///< what people should know of
    std::function<void(const std::string& address)> compatReady = {}; ///< once, after ready: "HOST:PORT"
};

/// Until it is told to stop. A server that ends is started again, however often. The events come on this thread.
/// Errors: NotFound (no nats-server), InvalidArgument (a tracker runs with this folder, nobody has a token of one that
/// others reach), WorkerCrashed (the server does not start: its port is in use, ...), those of the folder and of
/// ReferenceTrackerServer::listen().
Result<> runTracker(const TrackerFolder& folder, const TrackerOptions& options, const TrackerEvents& events,
                    std::stop_token stop);

} // namespace lathe::broker
