#include "core/measure/builder_client.h"

#include "core/measure/worker.h"
#include "core/support/message.h"
#include "core/wire/blob_store.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <map>

namespace lathe::measure {

struct BuilderClient::Impl
{
    std::string target;
    Worker worker;
    std::stop_token stop;
    std::uint64_t lastId = 0;

    Impl(std::string targetText, WorkerPrograms programs, std::stop_token stopToken)
        : target(std::move(targetText)), worker(Worker::Kind::Builder, std::move(programs)), stop(std::move(stopToken))
    {
    }

    /// Sends and waits; blobs of the answer end up in `blobs`. A builder that was killed from outside is replaced, once: more
    /// often it may be the work that eats the memory.
    Result<wire::Message> ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                              wire::BlobStore& blobs, Deadline deadline)
    {
        auto answer = askOnce(request, needed, blobs, deadline);
        if (!answer && answer.error().code == Errc::WorkerCrashed && worker.killed())
            answer = askOnce(request, needed, blobs, deadline);
        if (!answer)
            worker.stop(); // what it may still say answers nothing
        return answer;
    }

    /// Blobs that the builder lost are sent again.
    Result<wire::Message> askOnce(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                                  wire::BlobStore& blobs, Deadline deadline)
    {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::BuildStopped));
        LATHE_TRY(worker.ensureStarted());
        for (const auto& [hash, bytes] : needed)
            worker.offerBlob(hash, bytes);
        worker.connection().queue(request);
        while (true) {
            // A look at the stop from time to time; what has arrived of an answer waits in the connection.
            const Deadline look = stop.stop_possible() ? Deadline::in(std::chrono::milliseconds(50)) : deadline;
            auto answer = worker.receive(look < deadline ? look : deadline);
            if (!answer && answer.error().code == Errc::RunTimeout && !stop.stop_requested() && !deadline.passed())
                continue;
            if (!answer && stop.stop_requested())
                return makeError(Errc::Cancelled, say(Msg::BuildStopped));
            if (!answer && answer.error().code == Errc::RunTimeout)
                return makeError(Errc::BuildTimeout, say(Msg::GeneratorTookLong));
            if (!answer)
                return answer;
            if (answer->has_blob()) {
                const auto& chunk = answer->blob();
                LATHE_TRY(blobs.putChunk(wire::fromWire(chunk.hash()), chunk.total(), chunk.offset(), chunk.data()));
                continue;
            }
            if (!answer->has_missing())
                return answer;
            for (const auto& wanted : answer->missing().blobs()) {
                const auto known = needed.find(wire::fromWire(wanted));
                if (known == needed.end())
                    return makeError(Errc::Internal, "the builder asks for a blob that is not of its job");
                worker.forgetBlob(known->first);
                worker.offerBlob(known->first, known->second);
            }
            worker.connection().queue(request);
        }
    }
};

BuilderClient::BuilderClient(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) { }
BuilderClient::~BuilderClient() = default;

Result<std::unique_ptr<BuilderClient>> BuilderClient::start(std::string target, const WorkerPrograms& programs, std::stop_token stop)
{
    auto impl = std::make_unique<Impl>(std::move(target), programs, std::move(stop));
    LATHE_TRY(impl->worker.ensureStarted());
    return std::unique_ptr<BuilderClient>(new BuilderClient(std::move(impl)));
}

Result<BuiltProduct> BuilderClient::build(std::span<const KernelJob> kernels, Product product, Deadline deadline)
{
    wire::Message message;
    wire::BuildJob& job = *message.mutable_build_job();
    job.set_id(++m_impl->lastId);
    job.set_target(m_impl->target);
    job.set_product(static_cast<wire::BuildJob::Product>(product));
    std::map<Hash128, std::string_view> needed;
    for (const KernelJob& kernel : kernels) {
        auto& candidate = *job.add_candidates();
        candidate.set_name(kernel.name);
        candidate.set_steps(kernel.steps);
        for (const bool constant : kernel.constantInputs)
            candidate.add_constant_inputs(constant);
        const Hash128 hash = contentHash(kernel.dagJson);
        wire::toWire(hash, candidate.mutable_dag());
        needed.emplace(hash, kernel.dagJson);
    }
    wire::BlobStore blobs(std::uint64_t(4) << 30);
    LATHE_TRY_ASSIGN(const wire::Message answer, m_impl->ask(message, needed, blobs, deadline));
    if (!answer.has_build_result() || answer.build_result().id() != job.id())
        return makeError(Errc::Internal, say(Msg::BuilderAnsweredElse));
    const wire::BuildResult& result = answer.build_result();
    if (result.failure().code() != 0)
        return wire::errorOf(result.failure());
    if (static_cast<std::size_t>(result.candidates_size()) != kernels.size())
        return makeError(Errc::Internal, say(Msg::BuilderLostKernels));
    BuiltProduct built;
    for (const auto& candidate : result.candidates()) {
        KernelStatus status;
        status.stage = static_cast<TrialStage>(candidate.stage());
        Error failure = wire::errorOf(candidate.failure());
        status.code = failure.code;
        status.text = std::move(failure.message);
        status.about = std::move(failure.about);
        status.kernel = candidate.failure().code() == 0 ? candidate.kernel() : -1;
        status.info = {candidate.vector_spills(), candidate.code_bytes(), candidate.build_ms()};
        status.lowerMs = candidate.lower_ms();
        built.kernels.push_back(std::move(status));
    }
    if (result.descriptor().empty())
        return built;
    const auto descriptor = nlohmann::json::parse(result.descriptor(), nullptr, false);
    LATHE_TRY_ASSIGN(built.descriptor, artifactDescriptorFromJson(descriptor));
    if (result.has_product()) {
        const wire::Blob blob = blobs.find(wire::fromWire(result.product()));
        if (!blob)
            return makeError(Errc::Internal, say(Msg::BuilderSentNothing));
        built.bytes = *blob;
    }
    return built;
}

Result<> BuilderClient::link(const backend::LibraryRequest& request, Deadline deadline)
{
    wire::Message message;
    wire::LinkJob& job = *message.mutable_link_job();
    job.set_id(++m_impl->lastId);
    job.set_target(m_impl->target);
    job.set_name(request.name);
    job.set_runtime_archive(request.runtimeArchive.string());
    job.set_output(std::filesystem::absolute(request.output).string());
    for (const std::string& symbol : request.exports)
        job.add_exports(symbol);
    const auto text = [](const std::vector<std::byte>& bytes) {
        return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    std::map<Hash128, std::string_view> needed;
    for (const auto& object : request.objects) {
        const Hash128 hash = contentHash(object);
        wire::toWire(hash, job.add_objects());
        needed.emplace(hash, text(object));
    }
    for (const backend::BinarySection& section : request.sections) {
        auto& entry = *job.add_sections();
        entry.set_symbol(section.symbol);
        entry.set_alignment(section.alignment);
        if (!section.file.empty()) {
            entry.set_file(std::filesystem::absolute(section.file).string());
            continue;
        }
        const Hash128 hash = contentHash(section.bytes);
        wire::toWire(hash, entry.mutable_blob());
        needed.emplace(hash, text(section.bytes));
    }
    wire::BlobStore none;
    LATHE_TRY_ASSIGN(const wire::Message answer, m_impl->ask(message, needed, none, deadline));
    if (!answer.has_link_result())
        return makeError(Errc::Internal, say(Msg::BuilderAnsweredElse));
    const wire::Failure& failure = answer.link_result().failure();
    if (failure.code() != 0)
        return wire::errorOf(failure);
    return {};
}

} // namespace lathe::measure
