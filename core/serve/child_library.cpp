#include "core/serve/child_library.h"

#include "core/support/message.h"
#include "core/wire/channel.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"

#include <algorithm>

namespace lathe::serve {

namespace {

/// Whoever asks gives up long before; this is for one who asks and goes.
constexpr std::chrono::minutes kLongest(30);
constexpr int kMostChunks = 16; ///< messages of the process at once: mostly chunks of tensors

/// The answer's failure, of the kind that the question wants.
wire::Message failureOf(const wire::Message& question, const Error& why)
{
    wire::Message answer;
    wire::Failure* failure = nullptr;
    if (question.has_load_library()) {
        answer.mutable_library_loaded()->set_id(question.load_library().id());
        failure = answer.mutable_library_loaded()->mutable_failure();
    } else if (question.has_run_library()) {
        answer.mutable_library_ran()->set_id(question.run_library().id());
        failure = answer.mutable_library_ran()->mutable_failure();
    } else {
        answer.mutable_library_timed()->set_id(question.time_library().id());
        failure = answer.mutable_library_timed()->mutable_failure();
    }
    wire::setFailure(failure, why);
    return answer;
}

Error stopped()
{
    return makeError(Errc::Cancelled, say(Msg::Stopped));
}

} // namespace

ChildLibrary::ChildLibrary(std::unique_ptr<wire::Port> port, wire::BlobStore& blobs)
    : m_port(std::move(port))
    , m_blobs(blobs)
{
}

bool ChildLibrary::takes(const wire::Message& message)
{
    return message.has_load_library() || message.has_run_library() || message.has_time_library();
}

Result<> ChildLibrary::take(const wire::Message& question)
{
    if (m_asked)
        return makeError(Errc::BadFile, say(Msg::TooManyJobs, 1));
    m_asked = question;
    m_sent = false;
    m_lookAgain = {};
    return {};
}

void ChildLibrary::reset()
{
    m_asked.reset();
    m_turn.give();
    m_load.reset();
    m_folder.reset();
    m_by = Time::max();
    m_reloading = false;
    close(stopped());
}

void ChildLibrary::dropWaiting()
{
    if (!m_asked || m_sent)
        return;
    m_asked.reset();
    m_turn.give();
}

void ChildLibrary::close(const Error& why)
{
    if (std::exchange(m_open, false))
        m_port->close(why);
}

void ChildLibrary::turn(Time now)
{
    if (m_asked && !m_sent && now >= m_lookAgain) {
        if (!m_turn.tryTake())
            m_lookAgain = now + MeasuringTurn::kLook;
        else if (const Result<> begun = begin(now); !begun)
            fail(begun.error());
    }
    m_more = false;
    for (int i = 0; m_open; ++i) {
        if (m_more = i == kMostChunks; m_more) // whatever it says, others have their turn
            break;
        const Result<> pumped = m_port->pump();
        const auto message = m_port->channel()->next();
        if (!message || (!*message && !pumped)) {
            fail(message ? pumped.error() : message.error());
            break;
        }
        if (!*message)
            break;
        handle(**message);
    }
    if (m_asked && m_sent && now >= m_by)
        fail(makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime)));
}

/// Sends what is asked to the process, which is started, and given the library, if that is not so.
Result<> ChildLibrary::begin(Time now)
{
    if (m_open && m_port->gone()) // while it was idle, which costs nobody anything
        close(stopped());
    if (m_asked->has_load_library()) {
        close(stopped()); // of the library before nothing is left
        m_load.reset();
        wire::Message load = *m_asked;
        const Hash128 hash = wire::fromWire(load.load_library().blob());
        if (!m_blobs.find(hash)) {
            wire::Message missing;
            missing.mutable_missing()->set_id(load.load_library().id());
            wire::toWire(hash, missing.mutable_missing()->add_blobs());
            answer(std::move(missing));
            return {};
        }
        LATHE_TRY(prepare(*load.mutable_load_library()));
        m_load = std::move(load);
    }
    if (!m_open) {
        LATHE_TRY(m_port->open());
        m_open = true;
        m_port->channel()->queue(wire::helloOf({"lathe-runner", {}}));
        m_reloading = m_load && !m_asked->has_load_library();
        if (m_load)
            m_port->channel()->queue(*m_load);
        if (!m_asked->has_load_library())
            m_port->channel()->queue(*m_asked);
    } else {
        m_port->channel()->queue(*m_asked);
    }
    m_sent = true;
    m_by = now + kLongest;
    return {};
}

/// Writes the library into a file, from which alone it can be loaded.
Result<> ChildLibrary::prepare(wire::LoadLibrary& load)
{
    LATHE_TRY_ASSIGN(m_folder, TempDir::create("lathe-library"));
    const auto file = m_folder->path() / "library.so";
    const wire::Blob bytes = m_blobs.find(wire::fromWire(load.blob()));
    LATHE_TRY(writeFileAtomically(file, *bytes));
    load.set_file(file.string());
    return {};
}

void ChildLibrary::handle(const wire::Message& message)
{
    switch (message.body_case()) {
    case wire::Message::kHello:
        if (const Result<> right = wire::checkHello(message, {"lathe-runner", {}}); !right)
            fail(right.error());
        return;
    case wire::Message::kLibraryLoaded:
        if (std::exchange(m_reloading, false)) // what is asked behind it tells if it failed
            return;
        break;
    case wire::Message::kBlob:
        if (m_asked)
            m_answers.push_back(message);
        return;
    case wire::Message::kMissing: sendMissing(message); return;
    case wire::Message::kLibraryRan:
    case wire::Message::kLibraryTimed: break;
    default: fail(makeError(Errc::BadFile, say(Msg::WorkerAnsweredElse))); return;
    }
    if (m_asked)
        answer(message);
}

/// What the process lacks is sent again from here; what is not here either the other side is asked for.
void ChildLibrary::sendMissing(const wire::Message& message)
{
    if (!m_asked)
        return;
    wire::Message missing;
    missing.mutable_missing()->set_id(message.missing().id());
    for (const auto& hash : message.missing().blobs()) {
        if (const wire::Blob blob = m_blobs.find(wire::fromWire(hash)))
            m_port->channel()->queueBlob(wire::fromWire(hash), *blob);
        else
            *missing.mutable_missing()->add_blobs() = hash;
    }
    if (missing.missing().blobs_size() == 0)
        m_port->channel()->queue(*m_asked);
    else
        answer(std::move(missing));
}

void ChildLibrary::answer(wire::Message message)
{
    m_answers.push_back(std::move(message));
    m_asked.reset();
    m_turn.give();
    m_by = Time::max();
}

/// The process, or the way to it: whoever asked something gets the reason.
void ChildLibrary::fail(const Error& why)
{
    m_reloading = false;
    Error told = why;
    if (std::exchange(m_open, false)) {
        const wire::PortEnd end = m_port->close(why);
        if (why.code == Errc::WorkerCrashed) {
            const Message ended = say(Msg::WorkerEnded, m_port->name(), end.cause);
            told = makeError(Errc::WorkerCrashed, end.words.empty() ? ended : say(Msg::Noted, ended, end.words));
        }
    }
    if (m_asked)
        answer(failureOf(*m_asked, told));
}

void ChildLibrary::watch(std::vector<pollfd>& fds) const
{
    if (m_open)
        m_port->watch(fds);
}

ChildLibrary::Time ChildLibrary::wake() const
{
    if (m_more)
        return Time();
    return m_asked && !m_sent ? m_lookAgain : m_by;
}

} // namespace lathe::serve
