// What a batch makes of what workers say, and of those that end or say nothing.

#include "core/measure/batch.h"
#include "core/measure/device_words.h"
#include "core/measure/measure_times.h"
#include "core/measure/steadiness.h"
#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lathe::measure {

namespace {

/// A candidate whose workers are killed from outside again and again is given up: it may be what eats the memory.
constexpr std::uint32_t kMaxKills = 5;
/// Likewise one whose devices are lost: it may be what brings them down.
constexpr std::uint32_t kMaxLosses = 3;
/// Times that a worker is started in a row, if others kill it.
constexpr std::uint32_t kMaxStarts = 4;
/// What a supervisor elsewhere may take longer than it was told to, until it counts as lost itself.
constexpr std::chrono::seconds kGrace(10);
/// A device that has all of a job and says nothing of it: others of its machine may be measured first, but not for so
/// long.
constexpr std::chrono::minutes kUnheard(10);
/// Times that a job is sent, as the worker misses something of it.
constexpr std::uint32_t kMaxSends = 16;
/// Answers in a row that cannot be true, until it is the device's fault: a kernel that writes anywhere may write into
/// its own.
constexpr std::uint32_t kMaxNonsense = 2;

/// Whether a device said itself that its time with us is over: it is well, and so is what it had in hand. (One that
/// went down, and is there again, says no such thing.)
bool isTakenBack(const Error& why)
{
    return std::ranges::any_of(std::array{Msg::TurnOver, Msg::HolderSilent, Msg::DeviceDrained},
                               [&](Msg id) { return messageOf(why).id == id; });
}

Batch::Clock::duration seconds(double count)
{
    return std::chrono::duration_cast<Batch::Clock::duration>(
        std::chrono::duration<double>(std::clamp(count, 0.0, 1e8)));
}

} // namespace

void Batch::startClock(const Lane& lane, Flight& flight) const
{
    flight.since = m_now;
    if (lane.endpoint->traits().supervised) { // its supervisor looks at the clock, once the job has arrived
        flight.deadline = m_now + kUnheard;
        return;
    }
    if (lane.builder) {
        flight.deadline = m_now + seconds(m_options.buildTimeoutSeconds);
        return;
    }
    flight.clock = runClock(flight);
    flight.deadline = flight.clock.deadline();
}

wire::JobClock Batch::runClock(const Flight& flight) const
{
    return {m_now, seconds(runSeconds(flight)), seconds(m_options.buildTimeoutSeconds)};
}

void Batch::takeProgress(const Lane& lane, Flight& flight, const wire::Progress& progress) const
{
    const bool isElsewhere = lane.endpoint->traits().supervised;
    if (!flight.clock.begun() || (isElsewhere && !flight.heard))
        flight.clock = runClock(flight);
    flight.heard = true;
    flight.stage = static_cast<TrialStage>(std::min<std::uint32_t>(progress.stage(), 6));
    flight.what = progress.what();
    if (lane.builder)
        return;
    flight.clock.tell(flight.stage == TrialStage::Build, m_now);
    flight.deadline = flight.clock.deadline() + (isElsewhere ? kGrace : std::chrono::seconds(0));
}

Result<> Batch::receive(Lane& lane)
{
    const bool wasReady = lane.endpoint->ready();
    if (const Result<> opened = lane.endpoint->turn(m_now); !opened) {
        const bool again = lane.endpoint->killed() || (lane.failures == 0 && lane.endpoint->starts() > 1);
        if (lane.endpoint->traits().supervised || (again && ++lane.failures < kMaxStarts))
            return {};
        return opened;
    }
    if (!lane.endpoint->ready())
        return {};
    if (!wasReady)
        lane.failures = 0;
    while (lane.endpoint->ready()) {
        const auto message = lane.endpoint->next();
        if (!message) {
            workerEnded(lane, message.error());
            return {};
        }
        if (!*message)
            break;
        LATHE_TRY(handle(lane, **message));
    }
    if (!lane.busy() || m_now < lane.flights.front().deadline)
        return {};
    const bool isUploading = lane.endpoint->traits().supervised && !lane.flights.front().heard
                             && lane.endpoint->isSending();
    if (isUploading) // which takes as long as it takes
        startClock(lane, lane.flights.front());
    else
        deadlinePassed(lane);
    return {};
}

Batch::Flight* Batch::flightOf(Lane& lane, std::uint64_t job)
{
    const auto found = std::ranges::find(lane.flights, job, &Flight::job);
    return found == lane.flights.end() ? nullptr : &*found;
}

Result<> Batch::handle(Lane& lane, const wire::Message& message)
{
    switch (message.body_case()) {
    case wire::Message::kProgress:
        if (Flight* const flight = flightOf(lane, message.progress().id()))
            takeProgress(lane, *flight, message.progress());
        return {};
    case wire::Message::kMissing:
        for (const auto& hash : message.missing().blobs())
            lane.endpoint->forgetBlob(wire::fromWire(hash));
        if (Flight* const flight = flightOf(lane, message.missing().id())) {
            if (++flight->sends == kMaxSends) {
                workerEnded(lane, makeError(Errc::BadFile, say(Msg::WorkerAnsweredElse)));
                return {};
            }
            if (!lane.builder)
                return queueRun(lane, *flight);
            queueBuild(lane, *flight);
        }
        return {};
    case wire::Message::kBlob: {
        const auto& chunk = message.blob();
        const auto put = lane.endpoint->received().putChunk(wire::fromWire(chunk.hash()), chunk.total(), chunk.offset(),
                                                            chunk.data());
        if (!put)
            workerEnded(lane, put.error());
        return {};
    }
    case wire::Message::kBuildResult:
        if (lane.builder && flightOf(lane, message.build_result().id()) != nullptr)
            return finishBuild(lane, message.build_result());
        break;
    case wire::Message::kRunResult:
        if (Flight* const flight = lane.builder ? nullptr : flightOf(lane, message.run_result().id())) {
            Flight done = std::move(*flight);
            std::erase_if(lane.flights, [&](const Flight& other) { return other.job == done.job; });
            if (lane.busy())
                startClock(lane, lane.flights.front());
            if (done.isProbe)
                finishProbe(lane, message.run_result());
            else if (!isAskedAgain(lane, done, message.run_result()))
                finishRun(lane, std::move(done), message.run_result());
            return {};
        }
        break;
    default: break;
    }
    workerEnded(lane, makeError(Errc::BadFile, say(Msg::WorkerAnsweredElse)));
    return {};
}

Result<> Batch::finishBuild(Lane& lane, const wire::BuildResult& answer)
{
    const std::vector<std::size_t> group = std::move(lane.flights.front().items);
    lane.flights.clear();
    if (answer.failure().code() != 0) // no candidate's fault: target or plugin
        return wire::errorOf(answer.failure());
    if (static_cast<std::size_t>(answer.candidates_size()) != group.size())
        return makeError(Errc::Internal, say(Msg::BuilderLostCount));
    addBuild(m_times, answer);
    auto artifact = std::make_shared<BuiltArtifact>();
    if (answer.has_product()) {
        artifact->hash = wire::fromWire(answer.product());
        const wire::Blob blob = lane.endpoint->received().take(artifact->hash); // kept no longer than its candidates
        if (!blob)
            return makeError(Errc::Internal, say(Msg::BuilderSentNothing));
        artifact->bytes = *blob;
        artifact->descriptorJson = answer.descriptor();
        const auto json = nlohmann::json::parse(answer.descriptor(), nullptr, false);
        LATHE_TRY_ASSIGN(artifact->descriptor, artifactDescriptorFromJson(json));
    }
    const double shared = answer.build_ms() / static_cast<double>(group.size());
    for (std::size_t k = 0; k < group.size(); ++k) {
        const auto& candidate = answer.candidates(static_cast<int>(k));
        Item& item = m_items[group[k]];
        item.durations["lower"] = candidate.lower_ms();
        item.durations["build"] = shared; // its part of what the artifact took, linking included
        item.since = m_now;
        if (candidate.failure().code() != 0) {
            finish(group[k], failedTrial(static_cast<TrialStage>(candidate.stage()), wire::errorOf(candidate.failure()),
                                         {}, std::move(item.durations)));
            continue;
        }
        item.artifact = artifact;
        item.kernel = candidate.kernel();
        item.facts = {candidate.vector_spills(), candidate.code_bytes(), launchFiguresOf(candidate)};
        if (const BuiltKernelPtr& built = requestOf(group[k]).built)
            *built = {artifact, item.kernel, item.facts, {}};
        item.phase = isAhead(group[k]) ? Phase::Done : Phase::Built;
    }
    return {};
}

/// Whether a device behind a supervisor answered what cannot be true, or that it is lost: another one may know better,
/// or it itself.
bool Batch::isAskedAgain(Lane& lane, Flight& flight, const wire::RunResult& answer)
{
    const std::size_t index = flight.items.front();
    const Result<> checked = checkAnswer(answer, m_requests[index]);
    if (checked)
        lane.nonsense = 0;
    if (!lane.endpoint->traits().supervised)
        return false;
    // It never came to the candidate: the device is too hot, or its process does not start.
    if (checked && answer.failure().code() == static_cast<std::uint32_t>(Errc::DeviceLost)
        && answer.stage() <= static_cast<std::uint32_t>(TrialStage::Load) && ++m_items[index].losses < kMaxLosses) {
        enter(index, Phase::Built, nullptr);
        deviceLost(lane, wire::errorOf(answer.failure()));
        return true;
    }
    if (checked)
        return false;
    const bool isDevices = ++lane.nonsense == kMaxNonsense;
    const bool isLast = ++m_items[index].losses >= kMaxLosses;
    if (!isLast)
        enter(index, Phase::Built, nullptr);
    if (isDevices)
        deviceLost(lane, checked.error());
    return !isLast;
}

void Batch::finishRun(Lane& lane, Flight flight, const wire::RunResult& answer)
{
    const std::size_t index = flight.items.front();
    Item& item = m_items[index];
    const bool isTrue = static_cast<bool>(checkAnswer(answer, m_requests[index]));
    if (isTrue)
        addRun(m_times, answer, std::chrono::duration<double, std::milli>(m_now - flight.since).count());
    // A kernel that went wrong may have written anywhere in its process: nothing else is measured there. A device that
    // was lost is there again for a new process, if at all.
    const bool lost = answer.failure().code() == static_cast<std::uint32_t>(Errc::DeviceLost);
    const bool spoilt = answer.failure().code() != 0 && answer.stage() >= static_cast<std::uint32_t>(TrialStage::Run);
    const bool isElsewhere = lane.endpoint->traits().supervised;
    TrialResult result = toTrialResult(answer, m_requests[index], item.facts, lane.endpoint->identity(), item.durations,
                                       isElsewhere ? lane.endpoint->name() : std::string());
    if (isProbed(lane) && lane.share.isOpen && result.ok()) {
        enter(index, Phase::Held, nullptr);
        item.result = std::move(result);
        lane.share.held.push_back(index);
    } else {
        finish(index, std::move(result));
    }
    if ((lost || spoilt || !isTrue) && !isElsewhere)
        lane.endpoint->stop();
}

void Batch::workerEnded(Lane& lane, const Error& why)
{
    if (lane.endpoint->traits().supervised) {
        deviceLost(lane, why);
        return;
    }
    const std::deque<Flight> flights = std::exchange(lane.flights, {});
    const bool hadHistory = lane.endpoint->served() > 1;
    const bool crashed = why.code == Errc::WorkerCrashed;
    const wire::PortEnd end = lane.endpoint->close(why);
    for (const Flight& flight : flights) {
        const Message crash = lane.builder ? say(Msg::GeneratorCrashed, phrase(flight.what), end.cause)
                              : flight.stage == TrialStage::Build
                                  ? say(Msg::DeviceCompilerCrashed, end.cause)
                                  : say(Msg::KernelCrashed, phrase(flight.what), end.cause);
        for (const std::size_t index : flight.items) {
            Item& item = m_items[index];
            // It may have died while idle, or of what a candidate before did to it: one more try, alone and in a new
            // process.
            if (crashed && end.killed && ++item.kills <= kMaxKills) {
                enter(index, lane.builder ? Phase::Waiting : Phase::Built, nullptr);
                continue;
            }
            std::uint32_t& retries = lane.builder ? item.buildRetries : item.runRetries;
            if (retries == 0 && (flight.items.size() > 1 || hadHistory || !flight.heard)) {
                ++retries;
                item.alone = true;
                enter(index, lane.builder ? Phase::Waiting : Phase::Built, nullptr);
                continue;
            }
            const Message whole = end.words.empty() ? crash : say(Msg::Noted, crash, end.words);
            finish(index, failedTrial(flight.stage, makeError(Errc::WorkerCrashed, whole), lane.endpoint->identity(),
                                      std::move(item.durations)));
        }
    }
}

void Batch::deviceLost(Lane& lane, Error why, bool isOfNoUse)
{
    const std::deque<Flight> flights = std::exchange(lane.flights, {});
    if (why.code == Errc::BadFile) { // nor is what it said before to be believed
        rejectHeld(lane, std::nullopt);
        isOfNoUse = true;
    }
    acceptHeld(lane, std::nullopt); // it was measured before the device was lost
    if (!flights.empty() && flights.front().isProbe && flights.front().heard && !isTakenBack(why))
        if (auto often = m_options.steadiness->lost(lane.endpoint->name(), why)) {
            why = makeError(Errc::DeviceLost, *std::move(often));
            isOfNoUse = true;
        }
    lane.endpoint->close(why);
    if (m_options.onLost)
        m_options.onLost(*lane.endpoint, why, isOfNoUse);
    for (const Flight& flight : flights)
        for (const std::size_t index : flight.items) {
            Item& item = m_items[index];
            const bool workedOn = &flight == &flights.front() && flight.heard && !isTakenBack(why);
            if (!workedOn || ++item.losses < kMaxLosses) {
                enter(index, Phase::Built, nullptr);
                continue;
            }
            finish(index, failedTrial(flight.stage,
                                      makeError(Errc::DeviceLost, say(Msg::DevicesLost, item.losses, messageOf(why))),
                                      lane.endpoint->identity(), std::move(item.durations)));
        }
}

void Batch::deadlinePassed(Lane& lane)
{
    if (lane.endpoint->traits().supervised) {
        deviceLost(lane, makeError(Errc::DeviceLost, say(Msg::DeviceSilent, lane.endpoint->name())));
        return;
    }
    const Flight flight = std::move(lane.flights.front());
    lane.flights.clear();
    const bool isBuild = lane.builder || flight.stage == TrialStage::Build;
    const double limit = isBuild ? m_options.buildTimeoutSeconds : m_options.runTimeoutSeconds;
    const Message tooLong = lane.builder ? say(Msg::BuildTookLong, limit, phrase(flight.what))
                            : isBuild    ? say(Msg::DeviceBuildTookLong, limit)
                                         : say(Msg::RunTookLong, limit, phrase(flight.what));
    const Error why = makeError(isBuild ? Errc::BuildTimeout : Errc::RunTimeout, tooLong);
    const wire::PortEnd end = lane.endpoint->close(why);
    for (const std::size_t index : flight.items) {
        Item& item = m_items[index];
        if (flight.items.size() > 1) { // which of them hangs is found out one by one
            item.alone = true;
            enter(index, Phase::Waiting, nullptr);
            continue;
        }
        const Message whole = end.words.empty() ? tooLong : say(Msg::Noted, tooLong, end.words);
        finish(index, failedTrial(flight.stage, makeError(why.code, whole), lane.endpoint->identity(),
                                  std::move(item.durations)));
    }
}

} // namespace lathe::measure
