#include "core/measure/measurer.h"

#include "core/measure/batch.h"
#include "core/measure/device_words.h"
#include "core/measure/local_worker.h"
#include "core/measure/steadiness.h"
#include "core/measure/worker_client.h"
#include "core/support/message.h"
#include "core/support/stop_bell.h"
#include "core/target/detect.h"
#include "core/target/target.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lathe::measure {

namespace {

constexpr int kProbeTries = 3;
constexpr std::chrono::milliseconds kAheadAsked(
    20); ///< how often it is asked whether there is something to build ahead

/// Whether a device says that it is made of this machine's processor, though its target may be one beside it.
bool sharesCores(const DeviceIdentity& device)
{
    const auto json = nlohmann::json::parse(device.fingerprint, nullptr, false);
    return json.is_object() && json.contains("shares_cores") && json["shares_cores"] == true;
}

} // namespace

struct Measurer::Impl
{
    BatchOptions batch;
    std::function<void(const Message&)> onNotice;
    std::string brokerUrl;
    std::unique_ptr<RemoteDevices> remote; ///< its endpoints are in `runners`, and end before it
    bool brokerAnswers = true;
    std::vector<std::unique_ptr<Endpoint>> builders;
    std::vector<std::unique_ptr<Endpoint>> runners;
    std::vector<DeviceIdentity> devices;
    bool oneAtATime = false; ///< they share this machine's cores
    std::size_t lastRunner = 0; ///< that was given something to measure
    MeasureTimes times;
    std::optional<MeasureRequest> probe;
    std::optional<Steadiness> steadiness;

    void adopt(std::unique_ptr<Endpoint> device, Batch* running);
    Result<> takeRemote(Batch* running);
    void left(const Endpoint& device)
    {
        if (steadiness)
            steadiness->forget(device.name());
    }
    void notify(const Message& message) const
    {
        if (onNotice)
            onNotice(message);
    }
};

Measurer::Measurer(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
Measurer::~Measurer() = default;

DeviceSpec deviceOf(const Target& target, std::string key)
{
    const std::string text = target.text();
    return {target.kind(), std::move(key), text.substr(std::min(text.size(), target.kind().size() + 1))};
}

BuiltKernelPtr makeBuiltKernel()
{
    return std::make_shared<BuiltKernel>();
}

Result<> checkMeasurable(const Target& target)
{
    if (!target.traits().runsHere)
        return makeError(Errc::Unsupported, say(Msg::NotMeasurableHere, target.machine(), thisMachine()));
    return {};
}

Result<std::unique_ptr<Measurer>> Measurer::create(MeasurerOptions options, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const Target target, Target::parse(options.target));
    if (!options.remote)
        LATHE_TRY(checkMeasurable(target));
    auto impl = std::make_unique<Impl>();
    if (options.builders == 0)
        options.builders = availableThreads();
    if (options.devices.empty())
        options.devices.push_back(deviceOf(target));
    impl->oneAtATime = target.traits().sharesCores;
    for (std::uint32_t i = 0; i < options.builders; ++i)
        impl->builders.push_back(makeLocalWorker(WorkerKind::Builder, options.programs));
    impl->batch.target = std::move(options.target);
    impl->batch.buildTimeoutSeconds = options.buildTimeoutSeconds;
    impl->batch.runTimeoutSeconds = options.runTimeoutSeconds;
    impl->batch.candidatesPerBuild = options.candidatesPerBuild;
    impl->batch.retireAfter = options.retireAfter;
    impl->batch.quietGate = options.quietGate;
    impl->batch.onQuiet = std::move(options.onQuiet);
    impl->onNotice = std::move(options.onNotice);
    if (options.remote) {
        impl->brokerUrl = options.remote->broker.url;
        impl->batch.onLost = [impl = impl.get()](const Endpoint& device, const Error& why, bool isOfNoUse) {
            impl->notify(say(Msg::DeviceLeft, device.name(), messageOf(why)));
            if (isOfNoUse) // one that lies is a reason to give up, where there is no other
                impl->remote->refuse(device.name(),
                                     why.code == Errc::BadFile ? std::optional(messageOf(why)) : std::nullopt);
        };
        LATHE_TRY_ASSIGN(impl->remote, RemoteDevices::open(*options.remote, options.devices.front()));
        LATHE_TRY_ASSIGN(auto first, impl->remote->waitForSome(impl->onNotice, stop));
        for (std::unique_ptr<Endpoint>& device : first)
            impl->adopt(std::move(device), nullptr);
        auto measurer = std::unique_ptr<Measurer>(new Measurer(std::move(impl)));
        if (options.probe)
            LATHE_TRY(measurer->prepareProbe(options.probe(measurer->devices().front()), stop));
        return measurer;
    }
    for (const DeviceSpec& device : options.devices) {
        impl->runners.push_back(makeLocalWorker(WorkerKind::Runner, options.programs, device));
        LATHE_TRY(impl->runners.back()->waitUntilReady());
        impl->devices.push_back(impl->runners.back()->identity());
        impl->oneAtATime = impl->oneAtATime || sharesCores(impl->devices.back());
    }
    for (const auto& runner : impl->runners)
        runner->setSharesMachine(impl->oneAtATime);
    impl->lastRunner = impl->runners.size() - 1;
    impl->batch.device = impl->devices.front().fingerprint;
    return std::unique_ptr<Measurer>(new Measurer(std::move(impl)));
}

/// Builds it, and looks whether it runs.
Result<> Measurer::prepareProbe(Result<MeasureRequest> probe, const std::stop_token& stop)
{
    Impl& impl = *m_impl;
    TrialResult result;
    if (probe) {
        probe->built = makeBuiltKernel();
        int tries = 0;
        do // the device may be at fault: another one is asked next, where there are several
            LATHE_TRY(measure(
                std::span(&*probe, 1), [&](std::size_t, TrialResult answer) { result = std::move(answer); }, stop));
        while (!result.ok() && result.stage >= TrialStage::Load && ++tries < kProbeTries);
    }
    if (!probe || !result.ok()) {
        impl.notify(say(Msg::DeviceNotChecked, impl.remote->key(),
                        probe ? messageOf(result.text, result.about) : messageOf(probe.error())));
        return {};
    }
    impl.probe = *std::move(probe);
    impl.batch.probe = &*impl.probe;
    impl.batch.steadiness = &impl.steadiness.emplace(impl.remote->key(),
                                                     [&impl](const Message& message) { impl.notify(message); });
    return {};
}

/// A device that was given to us. The first one's class is that of all: code is made for its like.
void Measurer::Impl::adopt(std::unique_ptr<Endpoint> device, Batch* running)
{
    const DeviceIdentity& identity = device->identity();
    if (!devices.empty() && identity.key != devices.front().key) {
        remote->refuse(device->name(), say(Msg::DeviceOfOtherClass, devices.front().key, identity.key));
        return;
    }
    if (device->traits().sharesMachine) // else its cores are its own
        device->setSharesMachine(oneAtATime || sharesCores(identity));
    if (std::ranges::find(devices, identity) == devices.end())
        devices.push_back(identity);
    batch.device = devices.front().fingerprint;
    notify(say(Msg::DeviceJoined, device->name()));
    if (running != nullptr)
        running->addRunner(*device);
    runners.push_back(std::move(device));
}

/// Devices that were given to us since; and what became of the broker.
Result<> Measurer::Impl::takeRemote(Batch* running)
{
    remote->use();
    for (std::unique_ptr<Endpoint>& device : remote->takeReady())
        adopt(std::move(device), running);
    const RemoteDevices::State state = remote->state();
    for (const Message& refusal : state.refusals)
        notify(refusal);
    if (state.brokerAnswers != brokerAnswers)
        notify(state.brokerAnswers ? say(Msg::BrokerBack, brokerUrl) : say(Msg::BrokerAway, brokerUrl));
    brokerAnswers = state.brokerAnswers;
    return state.ended ? Result<>(*state.ended) : Result<>();
}

bool Measurer::buildsMeanwhile() const
{
    return !m_impl->batch.quietGate
           || std::ranges::none_of(m_impl->runners, [](const auto& runner) { return runner->traits().sharesMachine; });
}

Result<> Measurer::measure(std::span<const MeasureRequest> requests, const ResultCallback& onResult,
                           std::stop_token stop, const AheadCallback& ahead)
{
    for (const MeasureRequest& request : requests)
        if (!request.task)
            return makeError(Errc::InvalidArgument, "a candidate to measure has no task data");
    const StopBell bell(stop);
    const auto pointers = [](const auto& owned) {
        std::vector<Endpoint*> all;
        for (const auto& endpoint : owned)
            all.push_back(endpoint.get());
        return all;
    };
    const std::vector<Endpoint*> builders = pointers(m_impl->builders);
    const std::vector<Endpoint*> runners = pointers(m_impl->runners);
    Batch batch(m_impl->batch, builders, runners, m_impl->lastRunner, requests, onResult, m_impl->times,
                Batch::Clock::now());
    Batch::Activity activity = Batch::Activity::None;
    bool looksAhead = ahead && batch.buildsMeanwhile();
    for (Batch::Time since = Batch::Clock::now(); !batch.done();) {
        if (stop.stop_requested()) {
            batch.giveHeld();
            return makeError(Errc::Cancelled, say(Msg::MeasuringStopped));
        }
        const Batch::Time now = Batch::Clock::now();
        const double waited = std::chrono::duration<double>(now - since).count();
        if (activity == Batch::Activity::Measuring)
            m_impl->times.measureSeconds += waited;
        else if (activity == Batch::Activity::Building)
            m_impl->times.buildSeconds += waited;
        since = now;
        if (m_impl->remote)
            LATHE_TRY(m_impl->takeRemote(&batch));
        if (looksAhead)
            if (std::vector<MeasureRequest> more = ahead(); !more.empty()) {
                batch.buildAhead(std::move(more));
                looksAhead = false;
            }
        LATHE_TRY(batch.turn(now));
        if (m_impl->remote) // those that were lost do not come back, there will be others
            std::erase_if(m_impl->runners, [&](const auto& runner) {
                const bool lost = !batch.has(*runner);
                if (lost)
                    m_impl->left(*runner);
                return lost;
            });
        if (batch.done())
            break;
        activity = batch.activity();
        std::vector<pollfd> fds = {bell.watched()};
        batch.watch(fds);
        Deadline wake = Deadline::at(batch.wake(now));
        if (looksAhead)
            wake = std::min(wake, Deadline::in(kAheadAsked));
        if (m_impl->remote) {
            fds.push_back(m_impl->remote->watched());
            wake = std::min(wake, Deadline::in(m_impl->remote->idle() / 4)); // it is still used
        }
        const int timeout = wake.pollMs();
        if (::poll(fds.data(), fds.size(), timeout) < 0 && errno != EINTR)
            return makeError(Errc::Internal, say(Msg::CannotWait, std::strerror(errno)));
    }
    return {};
}

Result<Endpoint*> Measurer::lend(const std::stop_token& stop)
{
    LATHE_TRY(m_impl->takeRemote(nullptr));
    std::erase_if(m_impl->runners, [&](const auto& runner) {
        if (!runner->ready()) { // what it was asked last took too long
            m_impl->left(*runner);
            return true;
        }
        const Result<> turned = runner->turn(Endpoint::Clock::now());
        auto message = turned ? runner->next() : Result<std::optional<wire::Message>>(turned.error());
        if (message)
            return false;
        m_impl->batch.onLost(*runner, runner->ended(message.error()), false);
        m_impl->left(*runner);
        return true;
    });
    while (m_impl->runners.empty()) { // of those that come, some may be of another class
        LATHE_TRY_ASSIGN(auto some, m_impl->remote->waitForSome(m_impl->onNotice, stop));
        for (std::unique_ptr<Endpoint>& device : some)
            m_impl->adopt(std::move(device), nullptr);
    }
    m_impl->remote->hold(true);
    return m_impl->runners.front().get();
}

void Measurer::giveBack()
{
    m_impl->remote->hold(false);
}

void Measurer::setRunTimeout(double seconds)
{
    m_impl->batch.runTimeoutSeconds = seconds;
}

const MeasureTimes& Measurer::times() const
{
    return m_impl->times;
}

std::size_t Measurer::builders() const
{
    return m_impl->builders.size();
}

std::size_t Measurer::measuringAtOnce() const
{
    if (m_impl->remote)
        return std::max<std::size_t>(1, m_impl->runners.size());
    return m_impl->oneAtATime ? 1 : m_impl->devices.size();
}

const std::vector<DeviceIdentity>& Measurer::devices() const
{
    return m_impl->devices;
}

Result<std::string> Measurer::limits()
{
    if (m_impl->remote)
        LATHE_TRY(m_impl->takeRemote(nullptr));
    Result<std::string> limits = makeError(Errc::DeviceLost, "there is no device");
    for (std::size_t device = 0; device < m_impl->runners.size() && !limits; ++device)
        limits = limitsOf(device);
    return limits;
}

Result<std::string> Measurer::limitsOf(std::size_t device)
{
    WorkerClient client(*m_impl->runners[device]);
    wire::Message message;
    message.mutable_health()->set_id(1);
    message.mutable_health()->set_limits(true);
    const auto ask = [&] {
        wire::BlobStore none;
        // A device may have to compile what it is measured with.
        const double seconds = m_impl->batch.runTimeoutSeconds + m_impl->batch.buildTimeoutSeconds;
        return client.ask(message, {}, none, Deadline::inSeconds(seconds));
    };
    auto answer = ask();
    if (!answer && client.wasKilled()) // not by what it was asked: once more
        answer = ask();
    LATHE_TRY_ASSIGN(const wire::Message report, std::move(answer));
    if (!report.has_health_report() || report.health_report().failure().code() != 0) {
        Error lost = wire::errorOf(report.health_report().failure());
        lost.code = Errc::DeviceLost;
        return lost;
    }
    LATHE_TRY(deviceWords(report.health_report().json()));
    return report.health_report().json();
}

Result<std::string> listDevices(const WorkerPrograms& programs, const std::string& kind)
{
    WorkerClient client(WorkerKind::Runner, programs);
    wire::Message message;
    message.mutable_list_devices()->set_id(1);
    message.mutable_list_devices()->set_kind(kind);
    wire::BlobStore none;
    LATHE_TRY_ASSIGN(const wire::Message answer, client.ask(message, {}, none, Deadline::inSeconds(30)));
    if (!answer.has_device_list())
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    return answer.device_list().json();
}

} // namespace lathe::measure
