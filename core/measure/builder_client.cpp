#include "core/measure/builder_client.h"

#include "core/backend/network_message.h"
#include "core/measure/jobs.h"
#include "core/measure/worker_client.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "core/support/open_file.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace lathe::measure {

namespace {
constexpr std::uint64_t kMaxReferenceBytes = std::uint64_t(64) << 30; // tensors inside a network, all together
}

struct BuilderClient::Impl
{
    std::string target, device;
    WorkerClient worker;

    Impl(std::string targetText, std::string aimedAt, const WorkerPrograms& programs, std::stop_token stop)
        : target(std::move(targetText))
        , device(std::move(aimedAt))
        , worker(WorkerKind::Builder, programs, std::move(stop))
    {
    }

    /// A builder that was killed from outside is replaced, once.
    Result<wire::Message> ask(const wire::Message& request, const std::map<Hash128, std::string_view>& needed,
                              wire::BlobStore& blobs, Deadline deadline)
    {
        auto answer = worker.ask(request, needed, blobs, deadline);
        if (!answer && answer.error().code == Errc::WorkerCrashed && worker.wasKilled())
            answer = worker.ask(request, needed, blobs, deadline);
        if (!answer && answer.error().code == Errc::RunTimeout)
            return makeError(Errc::BuildTimeout, say(Msg::GeneratorTookLong));
        if (!answer && answer.error().code == Errc::Cancelled)
            return makeError(Errc::Cancelled, say(Msg::BuildStopped));
        return answer;
    }
};

BuilderClient::BuilderClient(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
BuilderClient::~BuilderClient() = default;

Result<std::unique_ptr<BuilderClient>> BuilderClient::start(std::string target, const WorkerPrograms& programs,
                                                            std::stop_token stop, std::string device)
{
    auto impl = std::make_unique<Impl>(std::move(target), std::move(device), programs, std::move(stop));
    LATHE_TRY(impl->worker.ensureStarted());
    return std::unique_ptr<BuilderClient>(new BuilderClient(std::move(impl)));
}

Result<BuiltProduct> BuilderClient::build(std::span<const KernelJob> kernels, Product product, Deadline deadline,
                                          const std::string& listing)
{
    wire::Message message;
    wire::BuildJob& job = *message.mutable_build_job();
    job.set_id(m_impl->worker.nextId());
    job.set_target(m_impl->target);
    job.set_product(static_cast<wire::BuildJob::Product>(product));
    job.set_listing(listing);
    job.set_device(m_impl->device);
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
        status.info = {candidate.vector_spills(), candidate.code_bytes(), candidate.build_ms(),
                       launchFiguresOf(candidate)};
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
        if (product != Product::Listing)
            built.bytes = *blob;
        for (std::size_t at = 0; product == Product::Listing && at < blob->size();) {
            const std::size_t end = blob->find('\n', at);
            LATHE_TRY_ASSIGN(backend::Listing one,
                             backend::decodeListing(std::string_view(*blob).substr(at, end - at)));
            built.listings.push_back(std::move(one));
            at = end == std::string::npos ? blob->size() : end + 1;
        }
    }
    return built;
}

Result<> BuilderClient::link(const backend::LibraryRequest& request, Deadline deadline)
{
    wire::Message message;
    wire::LinkJob& job = *message.mutable_link_job();
    job.set_id(m_impl->worker.nextId());
    job.set_target(m_impl->target);
    job.set_name(request.name);
    for (const std::filesystem::path& archive : request.archives)
        job.add_archives(archive.string());
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

Result<std::vector<graph::HostTensor>> BuilderClient::evaluate(const graph::Graph& network,
                                                               const std::vector<graph::HostTensor>& inputs,
                                                               Deadline deadline)
{
    LATHE_TRY_ASSIGN(const TempDir folder, TempDir::create("lathe-reference"));
    wire::Message message;
    wire::ReferenceJob& job = *message.mutable_reference_job();
    job.set_id(m_impl->worker.nextId());
    wire::Network structure;
    const std::filesystem::path constants = folder.path() / "constants";
    LATHE_TRY(backend::writeNetwork(network, constants, structure));
    // Gigabytes: without a name, so that nothing of them stays whatever becomes of this process.
    const OpenFile kept(::open(constants.c_str(), O_RDONLY | O_CLOEXEC));
    if (kept.get() < 0)
        return makeError(Errc::StoreFailed, say(Msg::FileNotOpened, constants.string(), std::strerror(errno)));
    std::error_code ignored;
    std::filesystem::remove(constants, ignored);
    structure.set_constants_file(fmt::format("/proc/{}/fd/{}", ::getpid(), kept.get()));
    const std::string structureBytes = structure.SerializeAsString();
    std::map<Hash128, std::string_view> needed;
    const Hash128 structureHash = contentHash(structureBytes);
    wire::toWire(structureHash, job.mutable_network());
    needed.emplace(structureHash, structureBytes);
    for (const graph::HostTensor& input : inputs) {
        const std::string_view values(reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size());
        const Hash128 hash = contentHash(values);
        wire::toWire(hash, job.add_inputs());
        needed.emplace(hash, values);
    }
    wire::BlobStore blobs(kMaxReferenceBytes);
    const auto answer = m_impl->ask(message, needed, blobs, deadline);
    if (!answer && answer.error().code == Errc::BuildTimeout)
        return makeError(Errc::RunTimeout, "the reference executor did not end in time and was stopped");
    if (!answer && answer.error().code == Errc::Cancelled)
        return makeError(Errc::Cancelled, "the comparison with the reference was stopped");
    if (!answer)
        return answer.error();
    const wire::ReferenceResult& result = answer->reference_result();
    if (!answer->has_reference_result() || result.id() != job.id())
        return makeError(Errc::Internal, say(Msg::BuilderAnsweredElse));
    if (result.failure().code() != 0)
        return wire::errorOf(result.failure());
    if (static_cast<std::size_t>(result.outputs_size()) != network.outputs.size()
        || result.shapes_size() != result.outputs_size())
        return makeError(Errc::Internal, "the builder lost count of the network's outputs");
    std::vector<graph::HostTensor> outputs;
    for (int i = 0; i < result.outputs_size(); ++i) {
        const graph::Value& port = network.value(network.outputs[static_cast<std::size_t>(i)]);
        const auto& extents = result.shapes(i).extents();
        const bool fits = std::ranges::equal(extents, port.shape,
                                             [](std::int64_t n, std::int64_t most) { return n >= 0 && n <= most; });
        graph::HostTensor tensor = graph::HostTensor::zeros(
            {port.dtype, fits ? std::vector<std::int64_t>(extents.begin(), extents.end()) : port.shape});
        const wire::Blob blob = blobs.find(wire::fromWire(result.outputs(i)));
        if (fits && tensor.bytes.empty()) { // nothing is sent of it
            outputs.push_back(std::move(tensor));
            continue;
        }
        if (!fits || !blob || blob->size() != tensor.bytes.size())
            return makeError(Errc::Internal, fmt::format("the builder did not send what '{}' must be", port.name));
        std::copy_n(reinterpret_cast<const std::byte*>(blob->data()), blob->size(), tensor.bytes.data());
        outputs.push_back(std::move(tensor));
    }
    return outputs;
}

} // namespace lathe::measure
