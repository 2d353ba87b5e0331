#include "core/serve/child_runner.h"

#include "core/runtime/codes.h"
#include "core/support/message.h"
#include "core/wire/channel.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"

#include <algorithm>

namespace lathe::serve {

namespace {

constexpr std::chrono::seconds kOpenSeconds(60);
constexpr double kLeastSeconds = 1, kMostSeconds = 3600; // of a job, whatever it asks for

constexpr std::chrono::seconds kLookHow(1); ///< how hot it still is
constexpr int kMostAtOnce = 64; ///< messages of the process
constexpr std::size_t kMostJobs = 64; ///< that wait; whoever sends more fills the board's memory

double secondsOf(double ms)
{
    const double wanted = 1e-3 * ms;
    return wanted >= kLeastSeconds ? std::min(wanted, kMostSeconds) : kLeastSeconds;
}

ChildRunner::Clock::duration lasting(double seconds)
{
    return std::chrono::duration_cast<ChildRunner::Clock::duration>(std::chrono::duration<double>(seconds));
}

} // namespace

ChildRunner::ChildRunner(std::unique_ptr<wire::Port> port, wire::BlobStore& blobs, ChildRunnerOptions options)
    : m_port(std::move(port))
    , m_options(options)
    , m_blobs(blobs)
{
}

Result<> ChildRunner::take(const wire::Message& message, Time now)
{
    switch (message.body_case()) {
    case wire::Message::kOpenDevice:
        reset();
        m_device = message.open_device();
        m_tellOpened = true;
        ensureOpen(now);
        return {};
    case wire::Message::kRunJob:
        if (m_jobs.size() >= kMostJobs)
            return makeError(Errc::InvalidArgument, say(Msg::TooManyJobs, kMostJobs));
        m_jobs.push_back(message.run_job());
        return {};
    case wire::Message::kHealth:
        if (!m_device) {
            wire::Message answer;
            answer.mutable_health_report()->set_id(message.health().id());
            wire::setFailure(answer.mutable_health_report()->mutable_failure(),
                             makeError(Errc::InvalidArgument, say(Msg::NoDeviceOpen)));
            m_answers.push_back(std::move(answer));
            return {};
        }
        m_asked = message;
        if (m_open)
            m_port->channel()->queue(message); // else once it is
        return {};
    default: return makeError(Errc::BadFile, say(Msg::RunnerTakesElse));
    }
}

void ChildRunner::reset()
{
    m_jobs.clear();
    m_hotSince.reset();
    m_running.reset();
    m_turn.give();
    m_asked.reset();
    m_device.reset();
    m_tellOpened = false;
    close(makeError(Errc::Cancelled, say(Msg::Stopped)));
}

void ChildRunner::dropWaiting()
{
    m_jobs.clear();
    m_hotSince.reset();
    if (!m_running)
        m_turn.give();
}

void ChildRunner::close(const Error& why)
{
    if (m_open || m_opening)
        m_port->close(why);
    m_open = m_opening = false;
}

void ChildRunner::ensureOpen(Time now)
{
    if (m_open && m_port->gone()) // while it was idle, which costs nobody anything
        close(makeError(Errc::Cancelled, say(Msg::Stopped)));
    if (m_open || m_opening || !m_device)
        return;
    m_sent.clear();
    if (const Result<> opened = m_port->open(); !opened) {
        ended(opened.error(), now);
        return;
    }
    m_opening = true;
    m_openBy = now + kOpenSeconds;
    m_port->channel()->queue(wire::helloOf({"lathe-runner", {}}));
    wire::Message open;
    *open.mutable_open_device() = *m_device;
    m_port->channel()->queue(open);
}

void ChildRunner::turn(Time now)
{
    if (!m_running && !m_jobs.empty() && now >= m_nextJob && isCool(now))
        startJob(now);
    if (m_running || m_asked)
        ensureOpen(now);
    m_more = false;
    for (int i = 0; m_open || m_opening; ++i) {
        if (m_more = i == kMostAtOnce; m_more) // whatever it says, others have their turn
            break;
        const Result<> pumped = m_port->pump();
        const auto message = m_port->channel()->next();
        if (!message || (!*message && !pumped)) {
            ended(message ? pumped.error() : message.error(), now);
            break;
        }
        if (!*message)
            break;
        handle(**message, now);
    }
    if (m_opening && now >= m_openBy)
        ended(makeError(Errc::RunTimeout, say(Msg::NoAnswerInTime)), now);
    if (m_running && now >= m_running->clock.deadline())
        deadlinePassed(now);
}

void ChildRunner::deadlinePassed(Time now)
{
    const wire::RunPlan& plan = m_running->job.plan();
    const Error tooLong = m_running->clock.builds()
                              ? makeError(Errc::BuildTimeout,
                                          say(Msg::DeviceBuildTookLong, secondsOf(plan.build_deadline_ms())))
                              : makeError(Errc::RunTimeout, say(Msg::RunTookLong, secondsOf(plan.deadline_ms()),
                                                                phrase(m_running->what)));
    const wire::PortEnd end = m_port->close(tooLong);
    m_open = m_opening = false;
    answerFailure(m_running->stage,
                  end.words.empty() ? tooLong : makeError(tooLong.code, say(Msg::Noted, messageOf(tooLong), end.words)),
                  now);
}

/// What is hot may be slowed down by its maker, and takes other times than a cool one. A job that has waited for long
/// is given up.
bool ChildRunner::isCool(Time now)
{
    const auto temperature = m_options.hottest > 0 && m_options.temperature ? m_options.temperature() : std::nullopt;
    if (!temperature || *temperature <= m_options.hottest) {
        m_hotSince.reset();
        return true;
    }
    m_nextJob = now + kLookHow;
    if (now - m_hotSince.value_or(now) < m_options.coolBy) {
        m_hotSince = m_hotSince.value_or(now);
        return false;
    }
    m_hotSince.reset();
    takeJob();
    answerFailure(LATHE_STAGE_LOAD,
                  makeError(Errc::DeviceLost, say(Msg::DeviceTooHot, m_options.hottest,
                                                  std::chrono::duration<double>(m_options.coolBy).count())),
                  now);
    return false;
}

void ChildRunner::takeJob()
{
    Running next;
    next.job = std::move(m_jobs.front());
    next.stage = LATHE_STAGE_LOAD;
    next.what = "loading the artifact";
    m_running = std::move(next);
    m_jobs.pop_front();
}

void ChildRunner::startJob(Time now)
{
    if (!m_turn.tryTake()) {
        m_nextJob = now + MeasuringTurn::kLook;
        return;
    }
    takeJob();
    if (!m_device) {
        answerFailure(LATHE_STAGE_LOAD, makeError(Errc::InvalidArgument, say(Msg::NoDeviceOpen)), now);
        return;
    }
    ensureOpen(now);
    if (m_open)
        sendJob(now);
}

void ChildRunner::sendJob(Time now)
{
    for (const auto& artifact : m_running->job.artifacts())
        if (const Hash128 hash = wire::fromWire(artifact.blob()); !m_sent.has(hash))
            if (const wire::Blob blob = m_blobs.find(hash)) {
                m_sent.add(hash);
                m_port->channel()->queueBlob(hash, *blob);
            }
    wire::Message message;
    *message.mutable_run_job() = m_running->job;
    m_port->channel()->queue(message);
    const wire::RunPlan& plan = m_running->job.plan();
    m_running->clock = {now, lasting(secondsOf(plan.deadline_ms())), lasting(secondsOf(plan.build_deadline_ms()))};
}

void ChildRunner::handle(const wire::Message& message, Time now)
{
    switch (message.body_case()) {
    case wire::Message::kHello:
        if (const Result<> right = wire::checkHello(message, {"lathe-runner", {}}); !right)
            ended(right.error(), now);
        return;
    case wire::Message::kDeviceOpened: {
        const bool failed = message.device_opened().failure().code() != 0;
        m_opening = false;
        m_open = !failed;
        if (std::exchange(m_tellOpened, false))
            m_answers.push_back(message);
        else if (failed) {
            ended(wire::errorOf(message.device_opened().failure()), now);
            return;
        }
        if (failed) {
            m_port->close(makeError(Errc::Cancelled, say(Msg::Stopped)));
            m_device.reset();
            return;
        }
        if (m_asked)
            m_port->channel()->queue(*m_asked);
        if (m_running)
            sendJob(now);
        return;
    }
    case wire::Message::kProgress:
        if (m_running && message.progress().id() == m_running->job.id()) {
            m_running->stage = message.progress().stage();
            m_running->what = message.progress().what();
            m_running->clock.tell(m_running->stage == LATHE_STAGE_BUILD, now);
            m_answers.push_back(message);
        }
        return;
    case wire::Message::kMissing: {
        // What the process has let go is sent again from here, what is not here either the other side is asked for.
        wire::Message missing;
        missing.mutable_missing()->set_id(message.missing().id());
        for (const auto& hash : message.missing().blobs()) {
            m_sent.forget(wire::fromWire(hash));
            if (!m_blobs.find(wire::fromWire(hash)))
                *missing.mutable_missing()->add_blobs() = hash;
        }
        if (!m_running)
            return;
        if (missing.missing().blobs_size() == 0) {
            sendJob(now);
            return;
        }
        m_answers.push_back(std::move(missing));
        m_running.reset(); // it comes again
        m_turn.give();
        return;
    }
    case wire::Message::kBlob: m_answers.push_back(message); return;
    case wire::Message::kHealthReport:
        m_asked.reset();
        m_answers.push_back(message);
        return;
    case wire::Message::kRunResult: {
        if (!m_running || message.run_result().id() != m_running->job.id())
            return;
        m_answers.push_back(message);
        jobDone(now);
        // A kernel that went wrong may have written anywhere in its process: nothing else is measured there.
        const wire::RunResult& result = message.run_result();
        if (result.failure().code() != 0
            && (result.stage() >= LATHE_STAGE_RUN
                || result.failure().code() == static_cast<std::uint32_t>(Errc::DeviceLost)))
            close(makeError(Errc::Cancelled, say(Msg::Stopped)));
        return;
    }
    default: ended(makeError(Errc::BadFile, say(Msg::WorkerAnsweredElse)), now);
    }
}

/// The process, or the way to it: whoever waits for an answer gets the reason.
void ChildRunner::ended(const Error& why, Time now)
{
    const wire::PortEnd end = m_port->close(why);
    m_open = m_opening = false;
    const Message cause = end.words.empty() ? end.cause : say(Msg::Noted, end.cause, end.words);
    if (std::exchange(m_tellOpened, false)) {
        wire::Message answer;
        answer.mutable_device_opened()->set_id(m_device ? m_device->id() : 0);
        wire::setFailure(answer.mutable_device_opened()->mutable_failure(),
                         makeError(Errc::DeviceLost, say(Msg::WorkerEnded, m_port->name(), cause)));
        m_answers.push_back(std::move(answer));
        m_device.reset();
    }
    if (std::exchange(m_asked, std::nullopt)) {
        wire::Message answer;
        wire::setFailure(answer.mutable_health_report()->mutable_failure(),
                         makeError(Errc::DeviceLost, say(Msg::WorkerEnded, m_port->name(), cause)));
        m_answers.push_back(std::move(answer));
    }
    if (!m_running)
        return;
    const Error crash = !m_running->clock.begun()
                            ? makeError(Errc::DeviceLost, say(Msg::WorkerEnded, m_port->name(), cause))
                            : makeError(Errc::WorkerCrashed,
                                        m_running->clock.builds()
                                            ? say(Msg::DeviceCompilerCrashed, cause)
                                            : say(Msg::KernelCrashed, phrase(m_running->what), cause));
    answerFailure(m_running->stage, crash, now);
}

void ChildRunner::answerFailure(std::uint32_t stage, const Error& error, Time now)
{
    wire::Message answer;
    wire::RunResult& result = *answer.mutable_run_result();
    result.set_id(m_running->job.id());
    *result.mutable_trial() = m_running->job.trial();
    result.set_stage(stage);
    wire::setFailure(result.mutable_failure(), error);
    m_answers.push_back(std::move(answer));
    jobDone(now);
}

/// It is another runner's turn on the machine, and this device rests.
void ChildRunner::jobDone(Time now)
{
    m_running.reset();
    m_turn.give();
    m_nextJob = now + m_options.cooldown;
}

void ChildRunner::watch(std::vector<pollfd>& fds) const
{
    if (m_open || m_opening)
        m_port->watch(fds);
}

ChildRunner::Time ChildRunner::wake() const
{
    if (m_more)
        return Time();
    if (!m_running && !m_jobs.empty())
        return m_nextJob;
    return std::min(m_running ? m_running->clock.deadline() : Time::max(), m_opening ? m_openBy : Time::max());
}

} // namespace lathe::serve
