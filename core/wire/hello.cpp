#include "core/wire/hello.h"

#include "core/support/message.h"
#include "core/wire/channel.h"
#include "core/wire/messages.h"

#include <fmt/format.h>

namespace lathe::wire {

namespace {
constexpr int kProtocol = 3;
} // namespace

std::string protocolVersion()
{
    return fmt::format("{}/{}", LATHE_VERSION, kProtocol);
}

Message helloOf(const Greeting& ours)
{
    Message message;
    message.mutable_hello()->set_version(protocolVersion());
    message.mutable_hello()->set_build_id(ours.buildId);
    message.mutable_hello()->set_program(ours.program);
    return message;
}

Result<> checkHello(const Message& theirs, const Greeting& ours)
{
    if (!theirs.has_hello())
        return makeError(Errc::Incompatible, say(Msg::WorkerSaidNoHello));
    const Hello& said = theirs.hello();
    const std::string program = said.program().empty() ? "the other side" : said.program();
    if (said.version() != protocolVersion())
        return makeError(Errc::Incompatible,
                         say(Msg::WorkerVersionDiffers, program, said.version(), protocolVersion()));
    if (!ours.buildId.empty() && said.build_id() != ours.buildId)
        return makeError(Errc::Incompatible, say(Msg::WorkerBuildDiffers, program, said.build_id(), ours.buildId));
    return {};
}

Result<> serveMessages(Channel& channel, const Greeting& ours, const std::function<Result<>(const Message&)>& handle)
{
    const auto serve = [&]() -> Result<> {
        LATHE_TRY(channel.send(helloOf(ours), Deadline::never()));
        LATHE_TRY_ASSIGN(const Message theirs, channel.receive(Deadline::never()));
        LATHE_TRY(checkHello(theirs, ours));
        while (true) {
            LATHE_TRY_ASSIGN(const Message message, channel.receive(Deadline::never()));
            LATHE_TRY(handle(message));
        }
    };
    Result<> ended = serve();
    return ended.error().code == Errc::WorkerCrashed ? Result<>() : ended;
}

} // namespace lathe::wire
