#pragma once

#include "core/session/devices.h"
#include "core/session/remote_claim.h"
#include "core/support/result.h"

#include <cstdint>
#include <string>

namespace lathe::session {

/// What a device of a farm may be told, by users of it.
enum class FarmOrder : std::uint8_t
{
    Drain, ///< give the device to nobody any more, once who has it is done with what is in hand
    Resume, ///< give it to those who want it again
    Leave ///< drain, and end: its runner stops, and the device is no longer part of the farm
};

/// Tells a device, and waits until it says that it does so. Blocks for some seconds: never on the GUI thread.
/// Errors: NotFound (nothing is heard of it), RunTimeout (it does not do so), those of readToken(), brokerAddress() and
/// Connection::open().
Result<> orderDevice(const BrokerWords& words, const std::string& key, const std::string& device, FarmOrder order);

/// Builds a small kernel for a device of a farm, runs it there once the device is free, and checks its result. Blocks
/// until then: stopped by `stop`. @param target  a kind that the device has (kindsOffered()), and options
/// Errors: NotFound (nothing is heard of it), Cancelled, those of selfTestDevice().
Result<SelfTest> selfTestFarmDevice(const BrokerWords& broker, const std::string& key, const std::string& device,
                                    const std::string& target, const std::stop_token& stop);

/// The line that makes another machine's devices part of a farm: "lathe-runner --broker tls://HOST:4222 --key KEY
/// --creds KEY-1.token".
struct NewDevice
{
    std::string line; ///< to be run there
    std::string token; ///< the file that has to be there as well, as it is on this machine; empty: none is needed
};
/// Where the broker is a tracker of this machine that wants tokens, makes one into `folder`, which is
/// made where it is not there. Errors: NotFound
/// (TrackerElsewhere: the broker wants tokens, and its tracker is not of this machine), those of TrackerFolder.
Result<NewDevice> newDevice(const BrokerWords& words, const std::string& key, const std::string& folder);

} // namespace lathe::session
