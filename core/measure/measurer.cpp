#include "core/measure/measurer.h"

#include "core/measure/batch.h"
#include "core/support/message.h"
#include "core/target/detect.h"
#include "core/target/target.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace lathe::measure {

struct Measurer::Impl
{
    MeasurerOptions options;
    std::vector<Slot> builders;
    std::vector<Slot> runners;
    std::vector<DeviceIdentity> devices;
    bool oneAtATime = false; ///< they share this machine's cores
    std::size_t lastRunner = 0; ///< that was given something to measure
    MeasureTimes times;
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

namespace {

/// Whether a device says that it is made of this machine's processor, though its target may be one beside it.
bool sharesCores(const DeviceIdentity& device)
{
    const auto json = nlohmann::json::parse(device.fingerprint, nullptr, false);
    return json.is_object() && json.contains("shares_cores") && json["shares_cores"] == true;
}

} // namespace

Result<std::unique_ptr<Measurer>> Measurer::create(MeasurerOptions options)
{
    LATHE_TRY_ASSIGN(const Target target, Target::parse(options.target));
    LATHE_TRY(checkMeasurable(target));
    auto impl = std::make_unique<Impl>();
    if (options.builders == 0)
        options.builders = availableThreads();
    if (options.devices.empty())
        options.devices.push_back(deviceOf(target));
    impl->oneAtATime = target.traits().sharesCores;
    impl->options = std::move(options);
    for (std::uint32_t i = 0; i < impl->options.builders; ++i) {
        Slot& slot = impl->builders.emplace_back();
        slot.worker = std::make_unique<Worker>(Worker::Kind::Builder, impl->options.programs);
    }
    for (const DeviceSpec& device : impl->options.devices) {
        Slot& slot = impl->runners.emplace_back();
        slot.worker = std::make_unique<Worker>(Worker::Kind::Runner, impl->options.programs, device);
        LATHE_TRY(slot.worker->ensureStarted());
        impl->devices.push_back(slot.worker->identity());
        impl->oneAtATime = impl->oneAtATime || sharesCores(impl->devices.back());
    }
    impl->lastRunner = impl->runners.size() - 1;
    impl->options.quietGate = impl->options.quietGate && impl->oneAtATime;
    return std::unique_ptr<Measurer>(new Measurer(std::move(impl)));
}

Result<> Measurer::measure(std::span<const MeasureRequest> requests, const ResultCallback& onResult,
                           std::stop_token stop)
{
    if (requests.empty())
        return {};
    for (const MeasureRequest& request : requests)
        if (!request.task)
            return makeError(Errc::InvalidArgument, "a candidate to measure has no task data");
    return Batch(m_impl->options, m_impl->builders, {m_impl->runners, m_impl->oneAtATime, m_impl->lastRunner}, requests,
                 onResult, m_impl->times)
        .run(std::move(stop));
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
    return m_impl->oneAtATime ? 1 : m_impl->devices.size();
}

const std::vector<DeviceIdentity>& Measurer::devices() const
{
    return m_impl->devices;
}

Result<std::string> Measurer::limits()
{
    Result<std::string> limits = makeError(Errc::DeviceLost, "there is no device");
    for (std::size_t device = 0; device < m_impl->runners.size() && !limits; ++device)
        limits = limitsOf(device);
    return limits;
}

Result<std::string> Measurer::limitsOf(std::size_t device)
{
    Worker& worker = *m_impl->runners[device].worker;
    wire::Message message;
    message.mutable_health()->set_id(1);
    message.mutable_health()->set_limits(true);
    const auto ask = [&]() -> Result<wire::Message> {
        LATHE_TRY(worker.ensureStarted());
        worker.connection().queue(message);
        auto answer = worker.receive(Deadline::inSeconds(m_impl->options.runTimeoutSeconds));
        if (!answer)
            worker.stop();
        return answer;
    };
    auto answer = ask();
    if (!answer && worker.killed()) // not by what it was asked: once more
        answer = ask();
    LATHE_TRY_ASSIGN(const wire::Message report, std::move(answer));
    if (!report.has_health_report() || report.health_report().failure().code() != 0) {
        Error lost = wire::errorOf(report.health_report().failure());
        lost.code = Errc::DeviceLost;
        return lost;
    }
    return report.health_report().json();
}

Result<std::string> listDevices(const WorkerPrograms& programs, const std::string& kind)
{
    Worker worker(Worker::Kind::Runner, programs);
    LATHE_TRY(worker.ensureStarted());
    wire::Message message;
    message.mutable_list_devices()->set_id(1);
    message.mutable_list_devices()->set_kind(kind);
    worker.connection().queue(message);
    LATHE_TRY_ASSIGN(const wire::Message answer, worker.receive(Deadline::inSeconds(30)));
    if (!answer.has_device_list())
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    return answer.device_list().json();
}

} // namespace lathe::measure
