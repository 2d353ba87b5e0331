#include "core/measure/batch.h"

#include "core/support/message.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <atomic>

namespace lathe::measure {

namespace {

constexpr std::size_t kMaxGroup = 16;
/// With the gate, this many built candidates may wait before builders must let them be measured.
constexpr std::size_t kMaxReady = 64;
/// A build that takes longer than this is stopped while others are measured.
constexpr std::chrono::milliseconds kSlowBuild(1500);
std::uint64_t nextJob()
{
    static std::atomic<std::uint64_t> last = 0; // sessions measure on threads of their own
    return ++last;
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
    for (Endpoint* const runner : runners)
        addRunner(*runner);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        m_items[i].name = kernelNameOf(requests[i]);
        m_items[i].since = now;
        if (const BuiltKernelPtr& built = requests[i].built; built && built->artifact) {
            m_items[i].artifact = built->artifact;
            m_items[i].kernel = built->kernel;
            m_items[i].facts = built->facts;
            m_items[i].phase = Phase::Built;
        } else if (built) {
            if (const std::optional<TrialResult>& failed = built->failed)
                finish(i, *failed);
        }
    }
}

void Batch::buildAhead(std::vector<MeasureRequest> requests)
{
    for (MeasureRequest& request : requests) {
        Item& item = m_items.emplace_back();
        item.name = kernelNameOf(request);
        item.since = m_now;
        m_ahead.push_back(std::move(request));
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

void Batch::addRunner(Endpoint& runner)
{
    m_runners.push_back({&runner, false});
    m_gated = m_gated || (m_options.quietGate && runner.traits().sharesMachine);
}

bool Batch::has(const Endpoint& runner) const
{
    return std::ranges::any_of(m_runners, [&](const Lane& lane) { return lane.endpoint == &runner; });
}

Result<> Batch::turn(Time now)
{
    m_now = now;
    for (auto* lanes : {&m_builders, &m_runners})
        for (Lane& lane : *lanes)
            if (!lane.paused)
                LATHE_TRY(receive(lane));
    std::erase_if(m_runners, [](const Lane& lane) {
        return lane.endpoint->traits().supervised && !lane.endpoint->ready() && !lane.endpoint->opening();
    });
    if (count(Phase::Built) == 0 && !sharingBusy()) // before builders are looked at: they may be all that can go on
        setQuiet(false);
    LATHE_TRY(dispatchBuilds());
    LATHE_TRY(dispatchRuns());
    LATHE_TRY(closeShares());
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
            if (lane.busy() && lane.share.probed && isMeasured())
                nearest = std::min(nearest, *lane.share.probed + kProbeWait);
        }
    // A builder turns from soon done to slow without any event.
    if (m_gated && count(Phase::Built) + count(Phase::Held) > 0)
        nearest = std::min(nearest, now + std::chrono::milliseconds(100));
    return nearest;
}

Batch::Activity Batch::activity() const
{
    const bool measures = std::ranges::any_of(
        m_runners, [](const Lane& lane) { return lane.busy() && lane.flights.front().stage != TrialStage::Build; });
    return measures ? Activity::Measuring : anyBusy(true) || anyBusy(false) ? Activity::Building : Activity::None;
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

std::size_t Batch::waiting(bool ahead) const
{
    std::size_t found = 0;
    for (std::size_t i = ahead ? m_requests.size() : 0; i < (ahead ? m_items.size() : m_requests.size()); ++i)
        found += m_items[i].phase == Phase::Waiting ? 1 : 0;
    return found;
}

/// Half of an even share: groups become smaller towards the end, so that all builders finish at about the same time
/// (guided self-scheduling). One candidate a time would cost a link each.
std::size_t Batch::groupSize(bool ahead) const
{
    const std::size_t shares = 2 * m_builders.size();
    const std::size_t half = (waiting(ahead) + shares - 1) / shares;
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

double Batch::runSeconds(const Flight& flight) const
{
    const MeasureRequest& request = flight.isProbe ? *m_options.probe : m_requests[flight.items.front()];
    return m_options.runTimeoutSeconds + request.plan.repeat * request.plan.cooldownMs / 1000;
}

void Batch::enter(std::size_t index, Phase phase, const char* spentOn)
{
    Item& item = m_items[index];
    if (spentOn)
        item.durations[spentOn] += std::chrono::duration<double, std::milli>(m_now - item.since).count();
    item.since = m_now;
    item.phase = phase;
}

void Batch::finish(std::size_t index, TrialResult result)
{
    m_items[index].phase = Phase::Done;
    m_items[index].artifact.reset();
    if (isAhead(index) && requestOf(index).built)
        requestOf(index).built->failed = std::move(result);
    else
        m_items[index].result = std::move(result);
}

void Batch::giveResults()
{
    while (!isMeasured() && m_items[m_emitted].phase == Phase::Done) {
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
    const bool ahead = waiting(false) == 0;
    const std::size_t size = groupSize(ahead);
    for (std::size_t i = ahead ? m_requests.size() : 0; i < m_items.size() && group.size() < size; ++i) {
        if (isAhead(i) != ahead)
            break;
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
        // What is ahead is begun only as long as devices are busy: they are not to wait for it.
        if (waiting(false) + (isMeasured() ? 0 : waiting(true)) <= opening)
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
    job.set_device(m_options.device);
    for (const std::size_t i : flight.items) {
        const MeasureRequest& request = requestOf(i);
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
        if (wantsProbe(lane)) {
            LATHE_TRY(giveProbe(lane));
            if (lane.full())
                continue;
        }
        ++lane.share.given;
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
    const MeasureRequest& request = flight.isProbe ? *m_options.probe : m_requests[flight.items.front()];
    const Item* const item = flight.isProbe ? nullptr : &m_items[flight.items.front()];
    const BuiltArtifact& artifact = item == nullptr ? *request.built->artifact : *item->artifact;
    wire::Message message;
    wire::RunJob& job = *message.mutable_run_job();
    flight.job = nextJob();
    job.set_id(flight.job);
    LATHE_TRY(fillRunJob(request, artifact, item == nullptr ? request.built->kernel : item->kernel, job));
    job.mutable_plan()->set_deadline_ms(1e3 * runSeconds(flight));
    job.mutable_plan()->set_build_deadline_ms(1e3 * m_options.buildTimeoutSeconds);
    lane.endpoint->offerBlob(artifact.hash, artifact.bytes);
    lane.endpoint->queue(message);
    lane.endpoint->countRequest();
    flight.stage = TrialStage::Load;
    flight.what = "loading the artifact";
    flight.heard = false;
    if (&flight == &lane.flights.front())
        startClock(lane, flight);
    return {};
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
