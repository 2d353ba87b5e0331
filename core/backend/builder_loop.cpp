#include "core/backend/builder_loop.h"

#include "core/backend/reference_job.h"
#include "core/backend/rules.h"
#include "core/support/log.h"
#include "core/support/processor_time.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/hello.h"
#include "core/wire/messages.h"
#include "core/wire/pipe_channel.h"

#include <fmt/format.h>

namespace lathe::backend {

namespace {

std::string_view textOf(const std::vector<std::byte>& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Builder
{
public:
    explicit Builder(const BuilderOptions& options)
        : m_channel(options.input, options.output)
        , m_builder(options.pluginDir, options.afterLowering)
    {
    }

    Result<> serve()
    {
        return wire::serveMessages(m_channel, {"lathe-builder", buildId()},
                                   [this](const wire::Message& message) { return handle(message); });
    }

private:
    Result<> reply(const wire::Message& message) { return m_channel.send(message, Deadline::never()); }

    Result<> handle(const wire::Message& message)
    {
        switch (message.body_case()) {
        case wire::Message::kBlob:
            return m_blobs.putChunk(wire::fromWire(message.blob().hash()), message.blob().total(),
                                    message.blob().offset(), message.blob().data());
        case wire::Message::kBuildJob: return build(message.build_job());
        case wire::Message::kLinkJob: return link(message.link_job());
        case wire::Message::kReferenceJob: return evaluate(message.reference_job());
        default: return makeError(Errc::BadFile, "a builder does not take this message");
        }
    }

    /// Asks for blobs that are not here (any more). True if some are.
    Result<bool> askForMissing(std::uint64_t id, const std::vector<Hash128>& missing)
    {
        if (missing.empty())
            return false;
        wire::Message answer;
        answer.mutable_missing()->set_id(id);
        for (const Hash128& hash : missing)
            wire::toWire(hash, answer.mutable_missing()->add_blobs());
        LATHE_TRY(reply(answer));
        return true;
    }

    Result<> build(const wire::BuildJob& job)
    {
        LATHE_TRY_ASSIGN(const bool asked, askForMissing(job.id(), JobBuilder::missing(job, m_blobs)));
        if (asked)
            return {};
        Result<> sent;
        const auto progress = [&](std::uint32_t stage, const std::string& what) {
            wire::Message note;
            note.mutable_progress()->set_id(job.id());
            note.mutable_progress()->set_stage(stage);
            note.mutable_progress()->set_what(what);
            if (sent)
                sent = reply(note);
        };
        std::string product;
        wire::Message answer;
        *answer.mutable_build_result() = m_builder.build(job, m_blobs, progress, product);
        LATHE_TRY(std::move(sent));
        const double processor = processorSeconds();
        answer.mutable_build_result()->set_processor_ms(1e3
                                                        * (processor - std::exchange(m_processorSeconds, processor)));
        if (!product.empty())
            m_channel.queueBlob(wire::fromWire(answer.build_result().product()), product);
        return reply(answer);
    }

    Result<> link(const wire::LinkJob& job)
    {
        LATHE_TRY_ASSIGN(const bool asked, askForMissing(job.id(), JobBuilder::missing(job, m_blobs)));
        if (asked)
            return {};
        wire::Message answer;
        answer.mutable_link_result()->set_id(job.id());
        if (const auto linked = m_builder.link(job, m_blobs); !linked)
            wire::setFailure(answer.mutable_link_result()->mutable_failure(), linked.error());
        return reply(answer);
    }

    Result<> evaluate(const wire::ReferenceJob& job)
    {
        std::vector<Hash128> missing;
        for (const wire::Hash& input : job.inputs())
            if (!m_blobs.find(wire::fromWire(input)))
                missing.push_back(wire::fromWire(input));
        if (!m_blobs.find(wire::fromWire(job.network())))
            missing.push_back(wire::fromWire(job.network()));
        LATHE_TRY_ASSIGN(const bool asked, askForMissing(job.id(), missing));
        if (asked)
            return {};
        wire::Message answer;
        wire::ReferenceResult& result = *answer.mutable_reference_result();
        result.set_id(job.id());
        const auto outputs = evaluateReference(job, m_blobs);
        if (!outputs)
            wire::setFailure(result.mutable_failure(), outputs.error());
        for (std::size_t i = 0; outputs && i < outputs->size(); ++i) {
            const std::string_view values = textOf((*outputs)[i].bytes);
            const Hash128 hash = contentHash(values);
            wire::toWire(hash, result.add_outputs());
            const auto& shape = (*outputs)[i].type.shape;
            result.add_shapes()->mutable_extents()->Assign(shape.begin(), shape.end());
            m_channel.queueBlob(hash, values);
            LATHE_TRY(m_channel.pump()); // those of a whole network are gigabytes together
        }
        m_processorSeconds = processorSeconds(); // no candidate's
        return reply(answer);
    }

    wire::PipeChannel m_channel;
    wire::BlobStore m_blobs{std::uint64_t(16) << 30}; // a link job brings all weights of a network
    JobBuilder m_builder;
    double m_processorSeconds = processorSeconds(); ///< at the answer before
};

} // namespace

int runBuilder(const BuilderOptions& options)
{
    for (const RefusedRules& refused : loadRules(options.pluginDir)) // a job names its target by a text
        log(LogLevel::Warning, "builder", fmt::format("{}: {}", refused.plugin, refused.error.message));
    const Result<> ended = Builder(options).serve();
    if (ended)
        return 0;
    log(LogLevel::Error, "builder", ended.error().message);
    return 1;
}

} // namespace lathe::backend
