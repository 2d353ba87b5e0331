#include "core/measure/batch.h"

#include "core/measure/measure_times.h"
#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>

namespace lathe::measure {

namespace {

constexpr std::size_t kMaxGroup = 16;
/// With the gate, this many built candidates may wait before builders must let them be measured.
constexpr std::size_t kMaxReady = 64;
/// A build that takes longer than this is stopped while others are measured.
constexpr std::chrono::milliseconds kSlowBuild(1500);
/// A candidate whose workers are killed from outside again and again is given up: it may be what eats the memory.
constexpr std::uint32_t kMaxKills = 5;
/// Likewise one whose devices are lost: it may be what brings them down.
constexpr std::uint32_t kMaxLosses = 3;
/// Times that a worker is started in a row, if others kill it.
constexpr std::uint32_t kMaxStarts = 4;
/// What a supervisor elsewhere may take longer than it was told to, until it counts as lost itself.
constexpr std::chrono::seconds kGrace(10);

double msBetween(Batch::Time from, Batch::Time to)
{
    return std::chrono::duration<double, std::milli>(to - from).count();
}

Batch::Clock::duration seconds(double count)
{
    return std::chrono::duration_cast<Batch::Clock::duration>(
        std::chrono::duration<double>(std::clamp(count, 0.0, 1e8)));
}

std::uint64_t nextJob()
{
    static std::atomic<std::uint64_t> last = 0; // sessions measure on threads of their own
    return ++last;
}

double runSeconds(const BatchOptions& options, const RunPlan& plan)
{
    return options.runTimeoutSeconds + plan.repeat * plan.cooldownMs / 1000;
}

} // namespace

Batch::Batch(const BatchOptions& options, std::span<Endpoint* const> builders, std::span<Endpoint* const> runners,
             std::size_t& lastRunner, std::span<const MeasureRequest> requests,
             const Measurer::ResultCallback& onResult, MeasureTimes& times, Time now)
    : m_options(options)
    , m_lastRunner(lastRunner)
    , m_requests(requests)
    , m_onResult(onResult)
    , m_times(times)
    , m_items(requests.size())
    , m_now(now)
{
    for (Endpoint* const builder : builders)
        m_builders.push_back({builder, true});
    for (Endpoint* const runner : runners) {
        m_runners.push_back({runner, false});
        m_gated = m_gated || (options.quietGate && runner->traits().sharesMachine);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        m_items[i].name = kernelNameOf(requests[i]);
        m_items[i].since = now;
        if (const BuiltKernelPtr& built = requests[i].built; built && built->artifact) {
            m_items[i].artifact = built->artifact;
            m_items[i].kernel = built->kernel;
            m_items[i].facts = built->facts;
            m_items[i].phase = Phase::Built;
        }
    }
}

Batch::~Batch()
{
    setQuiet(false);
    for (auto* lanes : {&m_builders, &m_runners})
        for (const Lane& lane : *lanes)
            if (lane.busy())
                lane.endpoint->stop();
}

Result<> Batch::turn(Time now)
{
    m_now = now;
    for (auto* lanes : {&m_builders, &m_runners})
        for (Lane& lane : *lanes)
            if (!lane.paused)
                LATHE_TRY(receive(lane));
    if (count(Phase::Built) == 0 && !sharingBusy()) // before builders are looked at: they may be all that can go on
        setQuiet(false);
    LATHE_TRY(dispatchBuilds());
    LATHE_TRY(dispatchRuns());
    giveResults();
    return {};
}

void Batch::watch(std::vector<pollfd>& fds) const
{
    for (const auto* lanes : {&m_builders, &m_runners})
        for (const Lane& lane : *lanes)
            if (!lane.paused)
                lane.endpoint->watch(fds);
}

Batch::Time Batch::wake(Time now) const
{
    Time nearest = Time::max();
    for (const auto* lanes : {&m_builders, &m_runners})
        for (const Lane& lane : *lanes) {
            if (lane.paused)
                continue;
            nearest = std::min(nearest, lane.endpoint->wake());
            if (lane.busy())
                nearest = std::min(nearest, lane.flights.front().deadline);
        }
    // A builder turns from soon done to slow without any event.
    if (m_gated && count(Phase::Built) > 0)
        nearest = std::min(nearest, now + std::chrono::milliseconds(100));
    return nearest;
}

Batch::Activity Batch::activity() const
{
    return anyBusy(false) ? Activity::Measuring : anyBusy(true) ? Activity::Building : Activity::None;
}

bool Batch::anyBusy(bool builders) const
{
    return std::ranges::any_of(builders ? m_builders : m_runners, &Lane::busy);
}

bool Batch::sharingBusy() const
{
    return std::ranges::any_of(m_runners,
                               [](const Lane& lane) { return lane.busy() && lane.endpoint->traits().sharesMachine; });
}

std::size_t Batch::count(Phase phase) const
{
    return static_cast<std::size_t>(
        std::count_if(m_items.begin(), m_items.end(), [&](const Item& i) { return i.phase == phase; }));
}

/// Half of an even share: groups become smaller towards the end, so that all builders finish at about the same time
/// (guided self-scheduling). One candidate a time would cost a link each.
std::size_t Batch::groupSize() const
{
    const std::size_t shares = 2 * m_builders.size();
    const std::size_t half = (count(Phase::Waiting) + shares - 1) / shares;
    return std::clamp<std::size_t>(m_options.candidatesPerBuild ? m_options.candidatesPerBuild : half, 1, kMaxGroup);
}

bool Batch::shouldBuild() const
{
    if (!m_gated)
        return true;
    const std::size_t ready = count(Phase::Built);
    return !sharingBusy() && (ready == 0 || (anyBusy(true) && ready < kMaxReady)) && !m_quiet;
}

/// Whether a runner may be given something that takes this machine's cores.
bool Batch::mayShareCores() const
{
    if (sharingBusy())
        return false;
    if (!m_gated || m_quiet)
        return true;
    // Builders that will soon be done are waited for; the others are stopped meanwhile.
    return std::none_of(m_builders.begin(), m_builders.end(), [&](const Lane& lane) {
        return lane.busy() && m_now - lane.flights.front().since < kSlowBuild;
    });
}

void Batch::enter(std::size_t index, Phase phase, const char* spentOn)
{
    Item& item = m_items[index];
    if (spentOn)
        item.durations[spentOn] += msBetween(item.since, m_now);
    item.since = m_now;
    item.phase = phase;
}

void Batch::finish(std::size_t index, TrialResult result)
{
    m_items[index].phase = Phase::Done;
    m_items[index].artifact.reset();
    m_items[index].result = std::move(result);
}

void Batch::giveResults()
{
    while (m_emitted < m_items.size() && m_items[m_emitted].phase == Phase::Done) {
        const std::size_t index = m_emitted++;
        m_onResult(index, std::move(m_items[index].result));
    }
}

/// Whether a worker can be given something now; if it is not started, it is, and can be later.
Result<bool> Batch::prepared(Lane& lane)
{
    Endpoint& endpoint = *lane.endpoint;
    if (endpoint.traits().supervised) // who has them opens them
        return endpoint.ready();
    if (endpoint.ready() && !lane.busy() && endpoint.served() >= m_options.retireAfter)
        endpoint.stop();
    LATHE_TRY(endpoint.open(m_now));
    return endpoint.ready();
}

std::vector<std::size_t> Batch::nextGroup() const
{
    std::vector<std::size_t> group;
    const std::size_t size = groupSize();
    for (std::size_t i = 0; i < m_items.size() && group.size() < size; ++i) {
        if (m_items[i].phase != Phase::Waiting || (m_items[i].alone && !group.empty()))
            continue;
        // Equal candidates have equal names, which an artifact cannot have twice.
        if (std::ranges::any_of(group, [&](std::size_t g) { return m_items[g].name == m_items[i].name; }))
            continue;
        group.push_back(i);
        if (m_items[i].alone)
            break;
    }
    return group;
}

Result<> Batch::dispatchBuilds()
{
    std::size_t opening = 0;
    for (Lane& lane : m_builders) {
        if (lane.busy() || !shouldBuild())
            continue;
        if (count(Phase::Waiting) <= opening)
            return {};
        LATHE_TRY_ASSIGN(const bool ready, prepared(lane));
        if (ready)
            sendBuild(lane, nextGroup());
        else
            ++opening;
    }
    return {};
}

void Batch::sendBuild(Lane& lane, std::vector<std::size_t> group)
{
    for (const std::size_t i : group)
        enter(i, Phase::Building, "queue");
    Flight& flight = lane.flights.emplace_back();
    flight.items = std::move(group);
    queueBuild(lane, flight);
}

void Batch::queueBuild(Lane& lane, Flight& flight)
{
    wire::Message message;
    wire::BuildJob& job = *message.mutable_build_job();
    flight.job = nextJob();
    job.set_id(flight.job);
    job.set_target(m_options.target);
    job.set_device(m_runners.front().endpoint->identity().fingerprint);
    for (const std::size_t i : flight.items) {
        const MeasureRequest& request = m_requests[i];
        lane.endpoint->offerBlob(request.task->dagHash, request.task->dagJson);
        auto& candidate = *job.add_candidates();
        candidate.set_name(m_items[i].name);
        wire::toWire(request.task->dagHash, candidate.mutable_dag());
        candidate.set_steps(request.candidate.steps);
        for (const bool constant : request.task->constantInputs)
            candidate.add_constant_inputs(constant);
    }
    lane.endpoint->queue(message);
    lane.endpoint->countRequest();
    flight.stage = TrialStage::Build;
    flight.what = "building";
    flight.heard = false;
    startClock(lane, flight);
}

Result<> Batch::dispatchRuns()
{
    if (count(Phase::Built) == 0)
        return {};
    const std::size_t before = m_lastRunner;
    for (std::size_t i = 1; i <= m_runners.size(); ++i) {
        const std::size_t number = (before + i) % m_runners.size();
        Lane& lane = m_runners[number];
        const bool shares = lane.endpoint->traits().sharesMachine;
        if (lane.full() || (shares && !mayShareCores()))
            continue;
        const auto next = std::find_if(m_items.begin(), m_items.end(),
                                       [](const Item& item) { return item.phase == Phase::Built; });
        if (next == m_items.end())
            break;
        LATHE_TRY_ASSIGN(const bool isReady, prepared(lane));
        if (!isReady)
            continue;
        if (shares)
            setQuiet(true);
        m_lastRunner = number;
        const auto index = static_cast<std::size_t>(next - m_items.begin());
        enter(index, Phase::Running, "queue");
        Flight& flight = lane.flights.emplace_back();
        flight.items = {index};
        LATHE_TRY(queueRun(lane, flight));
    }
    return {};
}

Result<> Batch::queueRun(Lane& lane, Flight& flight)
{
    const std::size_t index = flight.items.front();
    const Item& item = m_items[index];
    wire::Message message;
    wire::RunJob& job = *message.mutable_run_job();
    flight.job = nextJob();
    job.set_id(flight.job);
    LATHE_TRY(fillRunJob(m_requests[index], *item.artifact, item.kernel, job));
    job.mutable_plan()->set_deadline_ms(1e3 * runSeconds(m_options, m_requests[index].plan));
    lane.endpoint->offerBlob(item.artifact->hash, item.artifact->bytes);
    lane.endpoint->queue(message);
    lane.endpoint->countRequest();
    flight.stage = TrialStage::Load;
    flight.what = "loading the artifact";
    flight.heard = false;
    if (&flight == &lane.flights.front())
        startClock(lane, flight);
    return {};
}

void Batch::startClock(const Lane& lane, Flight& flight) const
{
    flight.since = m_now;
    if (lane.endpoint->traits().supervised) // its supervisor looks at the clock, once the job has arrived
        return;
    flight.deadline = m_now
                      + seconds(lane.builder ? m_options.buildTimeoutSeconds
                                             : runSeconds(m_options, m_requests[flight.items.front()].plan));
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
    if (lane.busy() && m_now >= lane.flights.front().deadline)
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
        if (Flight* const flight = flightOf(lane, message.progress().id())) {
            if (!flight->heard && lane.endpoint->traits().supervised)
                flight->deadline = m_now + kGrace
                                   + seconds(runSeconds(m_options, m_requests[flight->items.front()].plan));
            flight->heard = true;
            flight->stage = static_cast<TrialStage>(std::min<std::uint32_t>(message.progress().stage(), 6));
            flight->what = message.progress().what();
        }
        return {};
    case wire::Message::kMissing:
        for (const auto& hash : message.missing().blobs())
            lane.endpoint->forgetBlob(wire::fromWire(hash));
        if (Flight* const flight = flightOf(lane, message.missing().id())) {
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
        item.facts = {candidate.vector_spills(), candidate.code_bytes()};
        if (const BuiltKernelPtr& built = m_requests[group[k]].built)
            *built = {artifact, item.kernel, item.facts};
        item.phase = Phase::Built;
    }
    return {};
}

void Batch::finishRun(Lane& lane, Flight flight, const wire::RunResult& answer)
{
    const std::size_t index = flight.items.front();
    Item& item = m_items[index];
    addRun(m_times, answer, msBetween(flight.since, m_now));
    // A kernel that went wrong may have written anywhere in its process: nothing else is measured there. A device that
    // was lost is there again for a new process, if at all.
    const bool lost = answer.failure().code() == static_cast<std::uint32_t>(Errc::DeviceLost);
    const bool spoilt = answer.failure().code() != 0 && answer.stage() >= static_cast<std::uint32_t>(TrialStage::Run);
    finish(index,
           toTrialResult(answer, m_requests[index], item.facts, lane.endpoint->identity(), std::move(item.durations)));
    if ((lost || spoilt) && !lane.endpoint->traits().supervised)
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

void Batch::deviceLost(Lane& lane, const Error& why)
{
    const std::deque<Flight> flights = std::exchange(lane.flights, {});
    lane.endpoint->close(why);
    for (const Flight& flight : flights)
        for (const std::size_t index : flight.items) {
            Item& item = m_items[index];
            const bool workedOn = &flight == &flights.front() && flight.heard;
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
    const double limit = lane.builder ? m_options.buildTimeoutSeconds : m_options.runTimeoutSeconds;
    const Message tooLong = lane.builder ? say(Msg::BuildTookLong, limit, phrase(flight.what))
                                         : say(Msg::RunTookLong, limit, phrase(flight.what));
    const Error why = makeError(lane.builder ? Errc::BuildTimeout : Errc::RunTimeout, tooLong);
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

void Batch::setQuiet(bool quiet)
{
    if (!m_gated || quiet == m_quiet)
        return;
    m_quiet = quiet;
    for (Lane& lane : m_builders) {
        if (quiet)
            pause(lane);
        else
            resume(lane);
    }
    if (m_options.onQuiet)
        m_options.onQuiet(quiet);
}

/// One that is being started too: it takes a core.
void Batch::pause(Lane& lane)
{
    if ((!lane.busy() && !lane.endpoint->opening()) || lane.paused)
        return;
    lane.endpoint->suspend(m_now);
    lane.paused = true;
    lane.pausedSince = m_now;
}

void Batch::resume(Lane& lane)
{
    if (!lane.paused)
        return;
    lane.endpoint->resume(m_now);
    lane.paused = false;
    if (lane.busy())
        lane.flights.front().deadline += m_now - lane.pausedSince;
}

} // namespace lathe::measure
