#include "core/backend/build_job.h"

#include "core/backend/kernel_info.h"
#include "core/backend/library_link.h"
#include "core/backend/linker_program.h"
#include "core/backend/plugin_loader.h"
#include "core/compute/json.h"
#include "core/ir/verify.h"
#include "core/record/record.h"
#include "core/schedule/state.h"
#include "core/support/checks.h"
#include "core/support/processor_time.h"
#include "core/wire/failure.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace lathe::backend {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
constexpr std::size_t kDagsKept = 64;

double msSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void failCandidate(wire::BuiltCandidate& candidate, TrialStage stage, const Error& error)
{
    candidate.set_stage(static_cast<std::uint32_t>(stage));
    candidate.set_kernel(-1);
    wire::setFailure(candidate.mutable_failure(), error);
}

void addMissing(std::vector<Hash128>& hashes, const wire::Hash& hash, wire::BlobStore& blobs)
{
    const Hash128 value = wire::fromWire(hash);
    if (!blobs.find(value) && std::find(hashes.begin(), hashes.end(), value) == hashes.end())
        hashes.push_back(value);
}

std::string toText(const std::vector<std::byte>& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> toBytes(const std::string& text)
{
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

} // namespace

/// The kernels that were lowered, and which candidates of the job they are.
struct JobBuilder::Lowered
{
    std::vector<schedule::LoweredKernel> kernels;
    std::vector<int> candidates;
};

JobBuilder::JobBuilder(std::filesystem::path pluginDir, AfterLowering afterLowering)
    : m_pluginDir(std::move(pluginDir))
    , m_afterLowering(std::move(afterLowering))
{
}

JobBuilder::~JobBuilder() = default;

std::vector<Hash128> JobBuilder::missing(const wire::BuildJob& job, wire::BlobStore& blobs)
{
    std::vector<Hash128> hashes;
    for (const auto& candidate : job.candidates())
        addMissing(hashes, candidate.dag(), blobs);
    return hashes;
}

std::vector<Hash128> JobBuilder::missing(const wire::LinkJob& job, wire::BlobStore& blobs)
{
    std::vector<Hash128> hashes;
    for (const auto& object : job.objects())
        addMissing(hashes, object, blobs);
    for (const auto& section : job.sections())
        if (section.file().empty())
            addMissing(hashes, section.blob(), blobs);
    return hashes;
}

Result<Codegen*> JobBuilder::codegen(const std::string& target)
{
    const auto known = m_codegens.find(target);
    if (known != m_codegens.end())
        return known->second.get();
    LATHE_TRY_ASSIGN(const Target parsed, Target::parse(target));
    LATHE_TRY_ASSIGN(std::unique_ptr<Codegen> made, createCodegen(m_pluginDir, parsed));
    return m_codegens.emplace(target, std::move(made)).first->second.get();
}

Result<compute::DagPtr> JobBuilder::dag(const Hash128& hash, wire::BlobStore& blobs)
{
    const auto known = std::find_if(m_dags.begin(), m_dags.end(),
                                    [&](const auto& entry) { return entry.first == hash; });
    if (known != m_dags.end()) {
        m_dags.splice(m_dags.begin(), m_dags, known);
        return m_dags.front().second;
    }
    const wire::Blob blob = blobs.find(hash);
    if (!blob)
        return makeError(Errc::NotFound, fmt::format("the compute DAG {} did not arrive", hash.hex()));
    const json parsed = json::parse(*blob, nullptr, false);
    if (parsed.is_discarded())
        return makeError(Errc::BadFile, "the compute DAG is no JSON");
    LATHE_TRY_ASSIGN(compute::DagPtr made, compute::dagFromJson(parsed));
    m_dags.emplace_front(hash, made);
    if (m_dags.size() > kDagsKept)
        m_dags.pop_back();
    return made;
}

Result<schedule::LoweredKernel> JobBuilder::lowerOne(const wire::BuildCandidate& candidate, KernelForm form,
                                                     wire::BlobStore& blobs)
{
    LATHE_TRY_ASSIGN(const compute::DagPtr base, dag(wire::fromWire(candidate.dag()), blobs));
    const json stepsJson = candidate.steps().empty() ? json::array() : json::parse(candidate.steps(), nullptr, false);
    if (stepsJson.is_discarded())
        return makeError(Errc::BadFile, "the steps are no JSON");
    LATHE_TRY_ASSIGN(const std::vector<schedule::Step> steps, schedule::stepsFromJson(stepsJson));
    LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(base, steps));
    schedule::LowerOptions options;
    options.name = candidate.name();
    options.form = form;
    options.constantInputs.assign(candidate.constant_inputs().begin(), candidate.constant_inputs().end());
    LATHE_TRY_ASSIGN(schedule::LoweredKernel kernel, schedule::lower(std::move(state), options));
    if (m_afterLowering)
        LATHE_TRY(m_afterLowering(kernel));
    if (checksAreOn())
        LATHE_TRY(ir::verify(kernel.nest));
    return kernel;
}

Result<> JobBuilder::generateArtifact(Codegen& generator, Lowered& lowered, wire::BuildResult& result,
                                      std::string& product)
{
    const double began = processorSeconds();
    LATHE_TRY_ASSIGN(Artifact artifact, generator.build(lowered.kernels));
    result.set_link_processor_ms(1e3 * artifact.linkProcessorSeconds);
    result.set_generate_processor_ms(1e3 * (processorSeconds() - began - artifact.linkProcessorSeconds));
    if (artifact.kernels.size() != lowered.kernels.size())
        return makeError(Errc::Internal, "the code generator lost count of its kernels");
    std::int32_t built = 0;
    for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
        auto& candidate = *result.mutable_candidates(lowered.candidates[i]);
        const BuiltKernel& kernel = artifact.kernels[i];
        candidate.set_vector_spills(kernel.info.vectorSpills);
        candidate.set_code_bytes(kernel.info.codeBytes);
        candidate.set_build_ms(kernel.info.emitMs);
        for (const LaunchFigures& figures : kernel.info.launches) {
            auto& launch = *candidate.add_launches();
            launch.set_registers(figures.registers);
            launch.set_shared_bytes(figures.sharedBytes);
            launch.set_local_bytes(figures.localBytes);
            launch.set_spilled_bytes(figures.spilledBytes);
        }
        if (kernel.status)
            candidate.set_kernel(built++);
        else
            failCandidate(candidate, TrialStage::Build, kernel.status.error());
    }
    if (static_cast<std::size_t>(built) != artifact.descriptor.kernels.size())
        return makeError(Errc::Internal, "the code generator's description does not list what it built");
    result.set_descriptor(toJson(artifact.descriptor).dump());
    product = toText(artifact.bytes);
    return {};
}

Result<> JobBuilder::generate(const wire::BuildJob& job, Codegen& generator, Lowered& lowered,
                              wire::BuildResult& result, std::string& product)
{
    if (job.product() == wire::BuildJob::ARTIFACT)
        return generateArtifact(generator, lowered, result, product);
    std::vector<KernelInfo> infos;
    for (const schedule::LoweredKernel& kernel : lowered.kernels)
        infos.push_back(kernelInfo(kernel));
    if (job.product() == wire::BuildJob::OBJECT) {
        LATHE_TRY_ASSIGN(const std::vector<std::byte> object, generator.compileObject(lowered.kernels, infos));
        product = toText(object);
    } else {
        for (const schedule::LoweredKernel& kernel : lowered.kernels) {
            LATHE_TRY_ASSIGN(const Listing listing, generator.listing(kernel, job.listing()));
            product += encode(listing) + '\n';
        }
    }
    ArtifactDescriptor descriptor;
    descriptor.format = job.product() == wire::BuildJob::OBJECT ? "object" : "listing";
    descriptor.target = job.target();
    descriptor.features = generator.features();
    descriptor.kernels = std::move(infos);
    for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
        result.mutable_candidates(lowered.candidates[i])->set_kernel(static_cast<std::int32_t>(i));
    }
    result.set_descriptor(toJson(descriptor).dump());
    return {};
}

wire::BuildResult JobBuilder::build(const wire::BuildJob& job, wire::BlobStore& blobs, const Progress& progress,
                                    std::string& product)
{
    wire::BuildResult result;
    result.set_id(job.id());
    const auto start = Clock::now();
    const auto generator = codegen(job.target());
    if (!generator) {
        wire::setFailure(result.mutable_failure(), generator.error());
        return result;
    }
    (*generator)->aimAt(job.device());
    const auto target = Target::parse(job.target()); // it was parsed for the generator
    const KernelForm form = target ? target->traits().form : KernelForm::Phases;
    Lowered lowered;
    const double processorStart = processorSeconds();
    for (int i = 0; i < job.candidates_size(); ++i) {
        auto& candidate = *result.add_candidates();
        progress(static_cast<std::uint32_t>(TrialStage::Lower), "lowering " + job.candidates(i).name());
        const auto began = Clock::now();
        auto kernel = lowerOne(job.candidates(i), form, blobs);
        candidate.set_lower_ms(msSince(began));
        if (kernel) {
            lowered.kernels.push_back(*std::move(kernel));
            lowered.candidates.push_back(i);
        } else {
            const bool building = kernel.error().code == Errc::BuildFailed;
            failCandidate(candidate, building ? TrialStage::Build : TrialStage::Lower, kernel.error());
        }
    }
    result.set_lower_processor_ms(1e3 * (processorSeconds() - processorStart));
    if (!lowered.kernels.empty()) {
        progress(static_cast<std::uint32_t>(TrialStage::Build), "generating code");
        const auto generated = generate(job, **generator, lowered, result, product);
        if (!generated) {
            product.clear();
            result.clear_descriptor();
            for (const int i : lowered.candidates)
                if (result.candidates(i).failure().code() == 0)
                    failCandidate(*result.mutable_candidates(i), TrialStage::Build, generated.error());
        }
    }
    if (!product.empty())
        wire::toWire(contentHash(product), result.mutable_product());
    result.set_build_ms(msSince(start));
    return result;
}

Result<> JobBuilder::link(const wire::LinkJob& job, wire::BlobStore& blobs)
{
    LATHE_TRY_ASSIGN(const Target target, Target::parse(job.target()));
    LibraryRequest request;
    request.name = job.name();
    for (const auto& object : job.objects())
        request.objects.push_back(toBytes(*blobs.find(wire::fromWire(object))));
    for (const auto& entry : job.sections()) {
        BinarySection section;
        section.symbol = entry.symbol();
        section.alignment = entry.alignment();
        if (entry.file().empty())
            section.bytes = toBytes(*blobs.find(wire::fromWire(entry.blob())));
        else
            section.file = entry.file();
        request.sections.push_back(std::move(section));
    }
    request.archives.assign(job.archives().begin(), job.archives().end());
    request.exports.assign(job.exports().begin(), job.exports().end());
    request.output = job.output();
    if (hasCodegen(m_pluginDir, target)) {
        LATHE_TRY_ASSIGN(Codegen * generator, codegen(job.target()));
        return generator->linkLibrary(request);
    }
    // The code was made by another back end, which leaves the linking to this target's.
    LATHE_TRY_ASSIGN(const std::unique_ptr<Linker> linker, findLinkerProgram(target.machine(), request.output));
    return linkLibrary(request, target.machine(), *linker);
}

} // namespace lathe::backend
