#pragma once

#include "core/support/files.h"
#include "core/support/subprocess.h"
#include "core/wire/artifact.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"
#include "core/wire/pipe_channel.h"
#include "core/wire/seeded.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace lathe::test {

/// A worker process, spoken to message by message.
struct Worker
{
    Subprocess process;
    std::optional<wire::PipeChannel> channel;

    static Result<Worker> start(const std::string& program, const std::string& version = wire::protocolVersion())
    {
        Worker worker;
        SubprocessOptions options;
        LATHE_TRY_ASSIGN(options.program, findProgram(program));
        LATHE_TRY_ASSIGN(worker.process, Subprocess::start(options));
        worker.channel.emplace(worker.process.output(), worker.process.input());
        wire::Message hello;
        hello.mutable_hello()->set_version(version);
        LATHE_TRY(worker.channel->send(hello, Deadline::inSeconds(20)));
        LATHE_TRY_ASSIGN(const wire::Message theirs, worker.receive());
        if (!theirs.has_hello())
            return makeError(Errc::Internal, "no hello");
        return worker;
    }

    /// The next message that is no progress note.
    Result<wire::Message> receive(double seconds = 20)
    {
        while (true) {
            LATHE_TRY_ASSIGN(wire::Message message, channel->receive(Deadline::inSeconds(seconds)));
            if (!message.has_progress())
                return message;
        }
    }

    Result<wire::Message> ask(const wire::Message& message, double seconds = 20)
    {
        channel->queue(message);
        return receive(seconds);
    }

    std::string errors() const
    {
        std::string text(4096, '\0');
        const ssize_t n = ::read(process.errors(), text.data(), text.size());
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return text;
    }
};

/// The job that runs `kernel` of tests/support/kernels/planted.c.
inline ArtifactDescriptor plantedDescriptor(const std::string& kernel, int phases = 1)
{
    const std::int64_t shape[] = {1024};
    const std::int64_t outputShape[] = {kernel == "margin" ? 1000 : 1024};
    KernelInfo info;
    info.name = kernel;
    for (int p = 0; p < phases; ++p)
        info.phases.push_back(kernel + "_p" + std::to_string(p));
    info.teamScratchBytes = phases > 1 ? 4096 : kernel == "team" ? 4000 : 0;
    info.partScratchBytes = phases > 1 || kernel == "part" ? 64 : 0;
    info.parameters = {{"input", ArgRole::Input, DType::F32, IndexMap::plain(shape, 1)},
                       {"output", ArgRole::Output, DType::F32, IndexMap::plain(outputShape, 1)}};
    return {"cpu-so", "cpu", {info}};
}

inline wire::Message plantedJob(const std::string& kernel, const Hash128& artifact, int phases = 1)
{
    const ArtifactDescriptor descriptor = plantedDescriptor(kernel, phases);
    wire::Message message;
    wire::RunJob& job = *message.mutable_run_job();
    job.set_id(1);
    auto& ref = *job.add_artifacts();
    wire::toWire(artifact, ref.mutable_blob());
    ref.set_descriptor(toJson(descriptor).dump());
    for (const ArgSpec& spec : descriptor.kernels[0].parameters) {
        auto& buffer = *job.add_buffers();
        buffer.set_spec(toJson(spec).dump());
        buffer.set_fill(spec.role == ArgRole::Output ? wire::Buffer::POISON : wire::Buffer::SEED);
        buffer.set_seed(42);
    }
    auto& launch = *job.add_launches();
    launch.add_buffers(0);
    launch.add_buffers(1);
    launch.set_timed(true);
    job.mutable_plan()->set_number(2);
    job.mutable_plan()->set_repeat(3);
    auto& check = *job.add_checks();
    check.set_buffer(1);
    check.set_tolerance(1e-6);
    for (const std::uint64_t point : {0u, 1u, 511u, 512u, 999u}) {
        check.add_points(point);
        check.add_values(wire::seededValue(42, point, DType::F32) + 1);
    }
    return message;
}

} // namespace lathe::test
