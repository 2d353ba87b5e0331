#pragma once

#include "core/broker/connection.h"
#include "core/measure/endpoint.h"
#include "core/support/message.h"
#include "core/support/result.h"

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::measure {

/// What a program wants of the devices behind a broker.
struct RemoteClaim
{
    broker::BrokerAddress broker;
    std::string key; ///< of the devices, as their runners were given it
    std::string user; ///< a word (broker/subjects.h)
    std::string program = {}; ///< for people: "lathe-cli tune zoo:resnet-18"
    int priority = 0; ///< from -4 to 4: one more is a share of twice as many devices
    std::chrono::milliseconds reserve{0}; ///< how long each device is wanted at least, whoever waits
    std::uint32_t most = 0; ///< devices that are wanted at once; 0: all that are to be had
    std::string device = {}; ///< no other than this one is wanted; empty: any
    std::chrono::milliseconds idle = std::chrono::seconds(30); ///< without use() for so long, it asks for none
};

/// The devices of one key that this program has at a time: asks for all that it can have as long as it uses them,
/// takes what is offered, and makes it ready. Who does not use them for a while is asking for none, and loses what it
/// had to others.
/// Threads: it has one of its own, which keeps the claim alive whatever the caller is busy with; the functions here are
/// the caller's.
class RemoteDevices
{
public:
    /// @param device  that is opened on each: its kind, and options; nothing: none, for libraries
    /// Errors: those of Connection::open() and subscribe(), InvalidArgument (a key or user that is not a word).
    static Result<std::unique_ptr<RemoteDevices>> open(RemoteClaim claim, std::optional<DeviceSpec> device);
    ~RemoteDevices();
    RemoteDevices(const RemoteDevices&) = delete;
    RemoteDevices& operator=(const RemoteDevices&) = delete;

    /// Those that became ready since it was asked last: greeted, their device open. The caller has them from then on;
    /// they end (DeviceLost) when the device takes itself back or falls silent. Of one that runs on this machine,
    /// EndpointTraits::sharesMachine says so.
    std::vector<std::unique_ptr<Endpoint>> takeReady();
    /// At least one; waits as long as others have them. `notify` is told what it waits for. Errors: NotFound (nobody
    /// offers the key, or is the device; all that do were refused, and why), Cancelled.
    Result<std::vector<std::unique_ptr<Endpoint>>> waitForSome(const std::function<void(const Message&)>& notify,
                                                               const std::stop_token& stop);
    /// The device is of no use to the caller: its offers are not taken for a minute.
    void refuse(const std::string& device, std::optional<Message> why = {}); ///< nothing: the caller has told why
    void use(); ///< the devices are wanted now
    /// They are wanted until told otherwise, though nobody says so each time: somebody asks one step by step.
    void hold(bool held);
    pollfd watched() const; ///< something changed, or a device fell silent

    struct State
    {
        bool brokerAnswers = true;
        std::optional<Error> ended; ///< it does not let us in any more
        std::size_t there = 0; ///< devices of the key, whoever has them
        std::size_t refused = 0; ///< of these
        std::size_t before = 0; ///< programs that have none, and wait for longer
        std::vector<std::string> otherKeys; ///< that devices were heard of
        std::vector<Message> refusals; ///< since it was asked last: devices that were not taken, and why
    };
    State state();

    std::chrono::milliseconds idle() const; ///< RemoteClaim::idle
    const std::string& key() const; ///< RemoteClaim::key

private:
    struct Impl;
    explicit RemoteDevices(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::measure
