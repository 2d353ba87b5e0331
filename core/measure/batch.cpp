#include "core/measure/batch.h"

#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace lathe::measure {

namespace {

constexpr std::size_t kMaxGroup = 16;
/// With the gate, this many built candidates may wait before builders must let them be measured.
constexpr std::size_t kMaxReady = 64;
/// A build that takes longer than this is stopped while others are measured.
constexpr auto kSlowBuild = std::chrono::milliseconds(1500);
/// A candidate whose workers are killed from outside again and again is given up: it may be what eats the memory.
constexpr std::uint32_t kMaxKills = 5;

double msBetween(Slot::Clock::time_point from, Slot::Clock::time_point to)
{
    return std::chrono::duration<double, std::milli>(to - from).count();
}

/// A piece of no time is none.
void addTime(std::map<std::string, WorkerTime>& workers, const char* piece, double ms, double processorMs)
{
    if (ms <= 0 && processorMs <= 0)
        return;
    WorkerTime& time = workers[piece];
    time.seconds += 1e-3 * ms;
    time.processorSeconds += 1e-3 * processorMs;
}

std::uint64_t nextJob()
{
    static std::atomic<std::uint64_t> last = 0; // sessions measure on threads of their own
    return ++last;
}

/// Wakes poll when a stop is requested, from whatever thread requests it.
class StopBell
{
public:
    explicit StopBell(std::stop_token stop)
        : m_callback(std::move(stop), Ring{m_file.fd})
    {
    }
    StopBell(const StopBell&) = delete;
    StopBell& operator=(const StopBell&) = delete;
    int fd() const { return m_file.fd; }

private:
    struct Ring
    {
        int fd;
        void operator()() const
        {
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
        }
    };
    struct EventFile
    {
        int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ~EventFile() { ::close(fd); }
    };
    EventFile m_file;
    std::stop_callback<Ring>
        m_callback; ///< ends before the file, and waits for a ring: none is written to a file that is closed
};

} // namespace

Batch::Batch(const MeasurerOptions& options, std::vector<Slot>& builders, Runners runners,
             std::span<const MeasureRequest> requests, const Measurer::ResultCallback& onResult, MeasureTimes& times)
    : m_options(options)
    , m_builders(builders)
    , m_runners(runners.slots)
    , m_oneAtATime(runners.oneAtATime)
    , m_lastRunner(runners.last)
    , m_requests(requests)
    , m_onResult(onResult)
    , m_times(times)
    , m_items(requests.size())
{
    m_gated = options.quietGate;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        m_items[i].name = kernelNameOf(requests[i]);
        m_items[i].since = Clock::now();
        if (const BuiltKernelPtr& built = requests[i].built; built && built->artifact) {
            m_items[i].artifact = built->artifact;
            m_items[i].kernel = built->kernel;
            m_items[i].facts = built->facts;
            m_items[i].phase = Phase::Built;
        }
    }
}

Result<> Batch::run(std::stop_token stop)
{
    const StopBell bell(stop);
    Result<> outcome;
    while (outcome && m_emitted < m_items.size()) {
        if (stop.stop_requested()) {
            outcome = makeError(Errc::Cancelled, say(Msg::MeasuringStopped));
            break;
        }
        const auto begun = Clock::now();
        if (outcome = dispatchBuilds(); outcome)
            outcome = dispatchRuns();
        double* const waited = waitingAccount();
        if (outcome)
            outcome = waitForEvents(bell.fd());
        if (waited != nullptr)
            *waited += 1e-3 * msBetween(begun, Clock::now());
        emit();
    }
    setQuiet(false);
    for (auto* slots : {&m_builders, &m_runners})
        for (Slot& slot : *slots)
            if (slot.busy()) { // only when it was stopped early: what it works on is nobody's any more
                slot.worker->stop();
                slot.requests.clear();
                slot.paused = false;
            }
    return outcome;
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
    const bool running = std::any_of(m_runners.begin(), m_runners.end(), [](const Slot& s) { return s.busy(); });
    const bool building = std::any_of(m_builders.begin(), m_builders.end(), [](const Slot& s) { return s.busy(); });
    const std::size_t ready = count(Phase::Built);
    return !running && (ready == 0 || (building && ready < kMaxReady)) && !m_quiet;
}

bool Batch::shouldRun() const
{
    if (!m_gated || m_quiet)
        return true;
    // Builders that will soon be done are waited for; the others are stopped meanwhile.
    return std::none_of(m_builders.begin(), m_builders.end(),
                        [](const Slot& slot) { return slot.busy() && Clock::now() - slot.since < kSlowBuild; });
}

void Batch::enter(std::size_t index, Phase phase, const char* spentOn)
{
    Item& item = m_items[index];
    const auto now = Clock::now();
    if (spentOn)
        item.durations[spentOn] += msBetween(item.since, now);
    item.since = now;
    item.phase = phase;
}

void Batch::finish(std::size_t index, TrialResult result)
{
    m_items[index].phase = Phase::Done;
    m_items[index].artifact.reset();
    m_items[index].result = std::move(result);
}

void Batch::emit()
{
    while (m_emitted < m_items.size() && m_items[m_emitted].phase == Phase::Done) {
        const std::size_t index = m_emitted++;
        m_onResult(index, std::move(m_items[index].result));
    }
}

Result<> Batch::start(Slot& slot)
{
    if (slot.worker->started() && slot.worker->served() >= m_options.retireAfter)
        slot.worker->stop();
    const bool fresh = !slot.worker->started();
    Result<> started = slot.worker->ensureStarted();
    if (!started && !fresh)
        started = slot.worker->ensureStarted();
    if (started && slot.worker->served() == 0)
        slot.blobs = wire::BlobStore();
    return started;
}

Result<> Batch::dispatchBuilds()
{
    for (Slot& slot : m_builders) {
        if (slot.busy() || !shouldBuild())
            continue;
        std::vector<std::size_t> group;
        const std::size_t size = groupSize();
        for (std::size_t i = 0; i < m_items.size() && group.size() < size; ++i) {
            if (m_items[i].phase != Phase::Waiting || (m_items[i].alone && !group.empty()))
                continue;
            // Equal candidates have equal names, which an artifact cannot have twice.
            if (std::any_of(group.begin(), group.end(),
                            [&](std::size_t g) { return m_items[g].name == m_items[i].name; }))
                continue;
            group.push_back(i);
            if (m_items[i].alone)
                break;
        }
        if (group.empty())
            return {};
        LATHE_TRY(sendBuild(slot, std::move(group)));
    }
    return {};
}

Result<> Batch::sendBuild(Slot& slot, std::vector<std::size_t> group)
{
    LATHE_TRY(start(slot));
    slot.requests = std::move(group);
    for (const std::size_t i : slot.requests)
        enter(i, Phase::Building, "queue");
    queueBuild(slot);
    return {};
}

void Batch::queueBuild(Slot& slot)
{
    wire::Message message;
    wire::BuildJob& job = *message.mutable_build_job();
    slot.job = nextJob();
    job.set_id(slot.job);
    job.set_target(m_options.target);
    job.set_device(m_runners.front().worker->identity().fingerprint);
    for (const std::size_t i : slot.requests) {
        const MeasureRequest& request = m_requests[i];
        slot.worker->offerBlob(request.task->dagHash, request.task->dagJson);
        auto& candidate = *job.add_candidates();
        candidate.set_name(m_items[i].name);
        wire::toWire(request.task->dagHash, candidate.mutable_dag());
        candidate.set_steps(request.candidate.steps);
        for (const bool constant : request.task->constantInputs)
            candidate.add_constant_inputs(constant);
    }
    slot.worker->connection().queue(message);
    slot.worker->countRequest();
    slot.since = Clock::now();
    slot.stage = TrialStage::Build;
    slot.what = "building";
    slot.heard = false;
    slot.deadline = Deadline::inSeconds(m_options.buildTimeoutSeconds);
}

Result<> Batch::dispatchRuns()
{
    const std::size_t ready = count(Phase::Built);
    const bool running = std::any_of(m_runners.begin(), m_runners.end(), [](const Slot& s) { return s.busy(); });
    if (ready == 0 && !running)
        setQuiet(false);
    if (ready == 0 || !shouldRun())
        return {};
    const std::size_t before = m_lastRunner;
    for (std::size_t i = 1; i <= m_runners.size(); ++i) {
        const std::size_t number = (before + i) % m_runners.size();
        Slot& slot = m_runners[number];
        if (slot.busy())
            continue;
        if (m_oneAtATime && std::ranges::any_of(m_runners, &Slot::busy))
            break;
        const auto next = std::find_if(m_items.begin(), m_items.end(),
                                       [](const Item& item) { return item.phase == Phase::Built; });
        if (next == m_items.end())
            break;
        setQuiet(true);
        m_lastRunner = number;
        LATHE_TRY(sendRun(slot, static_cast<std::size_t>(next - m_items.begin())));
    }
    return {};
}

Result<> Batch::sendRun(Slot& slot, std::size_t index)
{
    LATHE_TRY(start(slot));
    slot.requests = {index};
    enter(index, Phase::Running, "queue");
    return queueRun(slot);
}

Result<> Batch::queueRun(Slot& slot)
{
    const std::size_t index = slot.requests.front();
    const Item& item = m_items[index];
    wire::Message message;
    wire::RunJob& job = *message.mutable_run_job();
    slot.job = nextJob();
    job.set_id(slot.job);
    LATHE_TRY(fillRunJob(m_requests[index], *item.artifact, item.kernel, job));
    slot.worker->offerBlob(item.artifact->hash, item.artifact->bytes);
    slot.worker->connection().queue(message);
    slot.worker->countRequest();
    slot.since = Clock::now();
    slot.stage = TrialStage::Load;
    slot.what = "loading the artifact";
    slot.heard = false;
    const RunPlan& plan = m_requests[index].plan;
    slot.deadline = Deadline::inSeconds(m_options.runTimeoutSeconds + plan.repeat * plan.cooldownMs / 1000);
    return {};
}

double* Batch::waitingAccount()
{
    const auto busy = [](const Slot& slot) { return slot.busy(); };
    if (std::any_of(m_runners.begin(), m_runners.end(), busy))
        return &m_times.measureSeconds;
    return std::any_of(m_builders.begin(), m_builders.end(), busy) ? &m_times.buildSeconds : nullptr;
}

Result<> Batch::waitForEvents(int stopFd)
{
    std::vector<pollfd> fds = {{stopFd, POLLIN, 0}};
    struct Watched
    {
        Slot* slot;
        bool builder;
    };
    std::vector<Watched> watched;
    Deadline nearest;
    for (auto* slots : {&m_builders, &m_runners})
        for (Slot& slot : *slots) {
            if (!slot.busy() || slot.paused)
                continue;
            watched.push_back({&slot, slots == &m_builders});
            const Subprocess& process = slot.worker->process();
            const auto writing = static_cast<short>(slot.worker->connection().hasOutput() ? POLLOUT : 0);
            fds.push_back({process.output(), POLLIN, 0});
            fds.push_back({writing ? process.input() : -1, writing, 0});
            fds.push_back({process.errors(), POLLIN, 0});
            if (slot.deadline < nearest)
                nearest = slot.deadline;
        }
    // A builder turns from soon done to slow without any event.
    const int slowMs = m_gated && count(Phase::Built) > 0 ? 100 : -1;
    const int deadlineMs = nearest.pollMs();
    const int timeout = slowMs < 0 ? deadlineMs : deadlineMs < 0 ? slowMs : std::min(slowMs, deadlineMs);
    if (watched.empty() && slowMs < 0)
        return {};
    if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
        return makeError(Errc::Internal, fmt::format("cannot wait for workers: {}", std::strerror(errno)));
    for (std::size_t i = 0; i < watched.size(); ++i) {
        Slot& slot = *watched[i].slot;
        slot.worker->drainErrors();
        if (fds[1 + 3 * i].revents || fds[2 + 3 * i].revents)
            LATHE_TRY(serve(slot, watched[i].builder));
        if (slot.busy() && slot.deadline.passed())
            deadlinePassed(slot, watched[i].builder);
    }
    return {};
}

Result<> Batch::serve(Slot& slot, bool builder)
{
    // What it wrote before it died counts: read first, look at failures after.
    const Result<> sent = slot.worker->connection().flush();
    const Result<> read = slot.worker->connection().fill();
    while (slot.busy()) {
        auto message = slot.worker->connection().next();
        if (!message) {
            workerEnded(slot, builder, message.error());
            return {};
        }
        if (!*message)
            break;
        LATHE_TRY(handle(slot, builder, **message));
    }
    if (slot.busy() && (!read || !sent))
        workerEnded(slot, builder, !read ? read.error() : sent.error());
    return {};
}

Result<> Batch::handle(Slot& slot, bool builder, const wire::Message& message)
{
    switch (message.body_case()) {
    case wire::Message::kProgress:
        if (message.progress().id() == slot.job) {
            slot.heard = true;
            slot.stage = static_cast<TrialStage>(std::min<std::uint32_t>(message.progress().stage(), 6));
            slot.what = message.progress().what();
        }
        return {};
    case wire::Message::kMissing:
        for (const auto& hash : message.missing().blobs())
            slot.worker->forgetBlob(wire::fromWire(hash));
        if (builder) {
            queueBuild(slot);
            return {};
        }
        return queueRun(slot);
    case wire::Message::kBlob: {
        const auto& chunk = message.blob();
        const auto put = slot.blobs.putChunk(wire::fromWire(chunk.hash()), chunk.total(), chunk.offset(), chunk.data());
        if (!put)
            workerEnded(slot, builder, put.error());
        return {};
    }
    case wire::Message::kBuildResult:
        if (builder && message.build_result().id() == slot.job)
            return finishBuild(slot, message.build_result());
        break;
    case wire::Message::kRunResult:
        if (!builder && message.run_result().id() == slot.job) {
            finishRun(slot, message.run_result());
            return {};
        }
        break;
    default: break;
    }
    workerEnded(slot, builder, makeError(Errc::BadFile, say(Msg::WorkerAnsweredElse)));
    return {};
}

Result<> Batch::finishBuild(Slot& slot, const wire::BuildResult& answer)
{
    const std::vector<std::size_t> group = std::exchange(slot.requests, {});
    if (answer.failure().code() != 0) // no candidate's fault: target or plugin
        return wire::errorOf(answer.failure());
    if (static_cast<std::size_t>(answer.candidates_size()) != group.size())
        return makeError(Errc::Internal, say(Msg::BuilderLostCount));
    double told = 0;
    for (const auto& [piece, ms] :
         {std::pair{"lower", answer.lower_processor_ms()}, std::pair{"generate", answer.generate_processor_ms()},
          std::pair{"link", answer.link_processor_ms()}}) {
        addTime(m_times.workers, piece, ms, ms);
        told += ms;
    }
    const double rest = std::max(0.0, answer.processor_ms() - told);
    addTime(m_times.workers, "builder other", rest, rest);
    auto artifact = std::make_shared<BuiltArtifact>();
    if (answer.has_product()) {
        artifact->hash = wire::fromWire(answer.product());
        const wire::Blob blob = slot.blobs.take(artifact->hash); // kept no longer than its candidates
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
        item.since = Clock::now();
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

void Batch::finishRun(Slot& slot, const wire::RunResult& answer)
{
    const std::size_t index = slot.requests.front();
    slot.requests.clear();
    Item& item = m_items[index];
    addTime(m_times.workers, "upload", answer.prepare_ms(), answer.prepare_processor_ms());
    addTime(m_times.workers, "check", answer.check_ms(), answer.check_processor_ms());
    addTime(m_times.workers, "measure", answer.measure_ms(), answer.measure_processor_ms());
    addTime(m_times.workers, "runner other",
            std::max(0.0, msBetween(slot.since, Clock::now()) - answer.prepare_ms() - answer.check_ms()
                              - answer.measure_ms()),
            std::max(0.0, answer.processor_ms() - answer.prepare_processor_ms() - answer.check_processor_ms()
                              - answer.measure_processor_ms()));
    // A kernel that went wrong may have written anywhere in its process: nothing else is measured there. A device that
    // was lost is there again for a new process, if at all.
    const bool lost = answer.failure().code() == static_cast<std::uint32_t>(Errc::DeviceLost);
    if (lost || (answer.failure().code() != 0 && answer.stage() >= static_cast<std::uint32_t>(TrialStage::Run)))
        slot.worker->stop();
    finish(index,
           toTrialResult(answer, m_requests[index], item.facts, slot.worker->identity(), std::move(item.durations)));
}

void Batch::workerEnded(Slot& slot, bool builder, const Error& why)
{
    const std::vector<std::size_t> group = std::exchange(slot.requests, {});
    const bool hadHistory = slot.worker->served() > 1;
    const bool crashed = why.code == Errc::WorkerCrashed;
    const ProcessExit exit = crashed ? slot.worker->reap() : slot.worker->stop();
    const std::string words = slot.worker->takeErrors();
    const Message cause = crashed ? exit.message() : messageOf(why);
    const Message crash = builder ? say(Msg::GeneratorCrashed, phrase(slot.what), cause)
                                  : say(Msg::KernelCrashed, phrase(slot.what), cause);
    for (const std::size_t index : group) {
        Item& item = m_items[index];
        // It may have died while idle, or of what a candidate before did to it: one more try, alone and in a new
        // process.
        if (crashed && exit.killed() && ++item.kills <= kMaxKills) {
            enter(index, builder ? Phase::Waiting : Phase::Built, nullptr);
            continue;
        }
        std::uint32_t& retries = builder ? item.buildRetries : item.runRetries;
        if (retries == 0 && (group.size() > 1 || hadHistory || !slot.heard)) {
            ++retries;
            item.alone = true;
            enter(index, builder ? Phase::Waiting : Phase::Built, nullptr);
            continue;
        }
        finish(index, failedTrial(slot.stage,
                                  makeError(Errc::WorkerCrashed, words.empty() ? crash : say(Msg::Noted, crash, words)),
                                  slot.worker->identity(), std::move(item.durations)));
    }
}

void Batch::deadlinePassed(Slot& slot, bool builder)
{
    const std::vector<std::size_t> group = std::exchange(slot.requests, {});
    slot.worker->stop();
    const std::string words = slot.worker->takeErrors();
    for (const std::size_t index : group) {
        Item& item = m_items[index];
        if (group.size() > 1) { // which of them hangs is found out one by one
            item.alone = true;
            enter(index, Phase::Waiting, nullptr);
            continue;
        }
        const double limit = builder ? m_options.buildTimeoutSeconds : m_options.runTimeoutSeconds;
        const Message tooLong = builder ? say(Msg::BuildTookLong, limit, phrase(slot.what))
                                        : say(Msg::RunTookLong, limit, phrase(slot.what));
        finish(index, failedTrial(slot.stage,
                                  makeError(builder ? Errc::BuildTimeout : Errc::RunTimeout,
                                            words.empty() ? tooLong : say(Msg::Noted, tooLong, words)),
                                  slot.worker->identity(), std::move(item.durations)));
    }
}

void Batch::setQuiet(bool quiet)
{
    if (!m_gated || quiet == m_quiet)
        return;
    m_quiet = quiet;
    for (Slot& slot : m_builders) {
        if (quiet)
            pause(slot);
        else
            resume(slot);
    }
    if (m_options.onQuiet)
        m_options.onQuiet(quiet);
}

void Batch::pause(Slot& slot)
{
    if (!slot.busy() || slot.paused)
        return;
    slot.worker->process().signalGroup(SIGSTOP);
    slot.paused = true;
    slot.pausedSince = Clock::now();
}

void Batch::resume(Slot& slot)
{
    if (!slot.paused)
        return;
    slot.worker->process().signalGroup(SIGCONT);
    slot.paused = false;
    slot.deadline.extend(Clock::now() - slot.pausedSince);
}

} // namespace lathe::measure
