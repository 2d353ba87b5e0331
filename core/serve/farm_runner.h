#pragma once

#include "core/broker/connection.h"
#include "core/broker/desk.h"
#include "core/serve/audit_log.h"
#include "core/serve/child_runner.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace lathe::serve {

struct FarmRunnerOptions
{
    broker::DeskOptions desk; ///< key and name of the device among others
    ChildRunnerOptions child;
    std::uint64_t blobBytes = std::uint64_t(1) << 30; ///< of the cache of what was sent: artifacts, libraries
    /// What its notices say of it: a JSON object with `host`, `version`, `machine` (bootId()), `slots` (jobs that it
    /// holds), `devices` (what listDevices() tells); `health` (machine_health.h), `trials` and `last_error` are added.
    std::string about = "{}";
    AuditLog* audit = nullptr; ///< outlives it
};

/// Offers a device to a broker: tells about once a second that it is there, gives it to one claim after the other
/// (desk.h), and carries out what the one who has it asks for (child_runner.h, child_library.h), until it is stopped. A
/// broker that is away is waited for. A stop ends it when the job in hand is done, and
/// so does a user's order to leave; drained by an order it waits for another one. Errors: those of the subscriptions
/// and of the audit log; Incompatible (the broker lets us in no more). Threads: the caller's; it waits in here.
/// @param worker  makes a way to a runner process; called twice, for trials and for libraries
Result<> runOnFarm(const std::shared_ptr<broker::Connection>& connection,
                   const std::function<std::unique_ptr<wire::Port>()>& worker, const FarmRunnerOptions& options,
                   std::stop_token stop);

} // namespace lathe::serve
