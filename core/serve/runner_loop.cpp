#include "core/serve/runner_loop.h"

#include "core/serve/device.h"
#include "core/serve/library_server.h"
#include "core/serve/trial_run.h"
#include "core/support/log.h"
#include "core/support/message.h"
#include "core/support/processor_time.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"
#include "core/wire/pipe_channel.h"

#include <fmt/format.h>

#include <optional>

namespace lathe::serve {

namespace {

class Runner
{
public:
    explicit Runner(const RunnerOptions& options)
        : m_options(options)
        , m_channel(options.input, options.output)
    {
    }

    Result<> serve()
    {
        return wire::serveMessages(m_channel, {"lathe-runner", {}},
                                   [this](const wire::Message& message) { return handle(message); });
    }

private:
    Result<> reply(const wire::Message& message) { return m_channel.send(message, Deadline::never()); }

    Result<> handle(const wire::Message& message)
    {
        switch (message.body_case()) {
        case wire::Message::kBlob:
            return (m_library.isLoaded() ? m_library.blobs() : m_blobs)
                .putChunk(wire::fromWire(message.blob().hash()), message.blob().total(), message.blob().offset(),
                          message.blob().data());
        case wire::Message::kListDevices: {
            wire::Message answer;
            answer.mutable_device_list()->set_id(message.list_devices().id());
            answer.mutable_device_list()->set_json(listDevices(m_options.pluginDir, message.list_devices().kind()));
            return reply(answer);
        }
        case wire::Message::kOpenDevice: return openDevice(message.open_device());
        case wire::Message::kHealth: {
            wire::Message answer;
            wire::HealthReport& report = *answer.mutable_health_report();
            report.set_id(message.health().id());
            if (m_device)
                report.set_json(message.health().limits() ? m_device->limits() : m_device->health());
            else
                wire::setFailure(report.mutable_failure(), makeError(Errc::InvalidArgument, say(Msg::NoDeviceOpen)));
            m_processorSeconds = processorSeconds(); // no trial's
            return reply(answer);
        }
        case wire::Message::kRunJob: return runJob(message.run_job());
        case wire::Message::kLoadLibrary: return m_library.load(message.load_library());
        case wire::Message::kRunLibrary: return m_library.run(message.run_library());
        case wire::Message::kTimeLibrary: return m_library.time(message.time_library());
        default: return makeError(Errc::BadFile, "a runner does not take this message");
        }
    }

    Result<> openDevice(const wire::OpenDevice& request)
    {
        wire::Message answer;
        wire::DeviceOpened& opened = *answer.mutable_device_opened();
        opened.set_id(request.id());
        m_trials.reset();
        m_device.reset();
        auto api = loadDeviceApi(m_options.pluginDir, request.kind());
        auto device = api ? Device::open(*api, request.key(), request.options())
                          : Result<std::shared_ptr<Device>>(api.error());
        if (device) {
            m_device = *device;
            m_trials.emplace(m_device);
            opened.set_json(m_device->description());
        } else {
            wire::setFailure(opened.mutable_failure(), device.error());
        }
        return reply(answer);
    }

    Result<> runJob(const wire::RunJob& job)
    {
        wire::Message answer;
        if (!m_trials) {
            wire::RunResult& result = *answer.mutable_run_result();
            result.set_id(job.id());
            *result.mutable_trial() = job.trial();
            wire::setFailure(result.mutable_failure(), makeError(Errc::InvalidArgument, say(Msg::NoDeviceOpen)));
            return reply(answer);
        }
        if (const auto missing = TrialRunner::missing(job, m_blobs); !missing.empty()) {
            answer.mutable_missing()->set_id(job.id());
            for (const Hash128& hash : missing)
                wire::toWire(hash, answer.mutable_missing()->add_blobs());
            return reply(answer);
        }
        Result<> sent;
        const auto progress = [&](std::uint32_t stage, const std::string& what) {
            wire::Message note;
            note.mutable_progress()->set_id(job.id());
            note.mutable_progress()->set_stage(stage);
            note.mutable_progress()->set_what(what);
            if (sent)
                sent = m_channel.send(note, Deadline::never());
        };
        wire::RunResult result = m_trials->run(job, m_blobs, progress);
        LATHE_TRY(std::move(sent));
        result.set_health(m_device->health());
        const double processor = processorSeconds();
        result.set_processor_ms(1e3 * (processor - std::exchange(m_processorSeconds, processor)));
        for (const wire::Hash& hash : result.fetched())
            if (const wire::Blob blob = m_blobs.find(wire::fromWire(hash)))
                m_channel.queueBlob(wire::fromWire(hash), *blob);
        *answer.mutable_run_result() = std::move(result);
        return reply(answer);
    }

    RunnerOptions m_options;
    wire::PipeChannel m_channel;
    wire::BlobStore m_blobs; ///< of trials
    LibraryServer m_library{m_channel};
    std::shared_ptr<Device> m_device;
    std::optional<TrialRunner> m_trials;
    double m_processorSeconds = processorSeconds(); ///< at the answer before
};

} // namespace

int runRunner(const RunnerOptions& options)
{
    const Result<> ended = Runner(options).serve();
    if (ended)
        return 0;
    log(LogLevel::Error, "runner", ended.error().message);
    return 1;
}

} // namespace lathe::serve
