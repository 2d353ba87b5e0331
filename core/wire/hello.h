#pragma once

#include "core/support/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace lathe::wire {

class Channel;
class Message;

/// What a Hello must carry: "0.1.0/2", product and protocol.
std::string protocolVersion();

/// Who one side of a channel is.
struct Greeting
{
    std::string program; ///< for people: "lathe-runner"
    std::string buildId; ///< of programs that exchange C++ objects by plugins; empty: of any build
};

/// The first message of each side.
Message helloOf(const Greeting& ours);

/// Whether the other side's first message is a hello of our version, and of our build if we have one.
/// Errors: Incompatible, with both versions.
Result<> checkHello(const Message& theirs, const Greeting& ours);

/// A worker's life: hellos, then each message to `handle`, until the other side closes the channel, which is the usual
/// end and no error. Errors: Incompatible, those of the channel and of `handle`.
Result<> serveMessages(Channel& channel, const Greeting& ours, const std::function<Result<>(const Message&)>& handle);

} // namespace lathe::wire
