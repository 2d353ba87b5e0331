#include "core/serve/asked_devices.h"

#include "core/support/message.h"
#include "core/wire/channel.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"

namespace lathe::serve {

namespace {

constexpr double kAnswerSeconds = 60;

Result<std::string> ask(wire::Channel& channel)
{
    const wire::Greeting ours = {"lathe-runner", {}};
    const Deadline deadline = Deadline::inSeconds(kAnswerSeconds);
    channel.queue(wire::helloOf(ours));
    wire::Message question;
    question.mutable_list_devices()->set_id(1);
    LATHE_TRY(channel.send(question, deadline));
    LATHE_TRY_ASSIGN(const wire::Message hello, channel.receive(deadline));
    LATHE_TRY(wire::checkHello(hello, ours));
    LATHE_TRY_ASSIGN(const wire::Message answer, channel.receive(deadline));
    if (!answer.has_device_list())
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    return answer.device_list().json();
}

} // namespace

Result<std::string> askDevices(wire::Port& worker)
{
    LATHE_TRY(worker.open());
    Result<std::string> devices = ask(*worker.channel());
    const wire::PortEnd end = worker.close(devices ? makeError(Errc::Cancelled, say(Msg::Stopped)) : devices.error());
    if (!devices && !end.words.empty())
        return makeError(devices.error().code, say(Msg::Noted, messageOf(devices.error()), end.words));
    return devices;
}

} // namespace lathe::serve
