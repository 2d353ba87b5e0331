#include "core/backend/codegen.h"

#include "core/backend/kernel_info.h"
#include "core/support/message.h"
#include "plugins/cuda/codegen/sass_listing.h"
#include "plugins/cuda/device/expected_artifact.h"
#include "plugins/cuda/expected/expectation.h"
#include "plugins/cuda/expected/gpu_choice.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace lathe::cuda {
namespace {

constexpr std::int64_t kInstructionBytes = 16;

/// Codegen half: kernels are compiled as for a GPU of the kind, and what is handed on is what the model makes of their
/// machine code. The libraries of such targets are made by the back end of BackendTraits::standsFor.
class ExpectedCodegen final : public backend::Codegen
{
public:
    explicit ExpectedCodegen(const Target& target)
        : m_target(target)
        , m_expectations(gpuOf(target))
    {
    }

    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        return std::unique_ptr<Codegen>(std::make_unique<ExpectedCodegen>(target));
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        const auto start = std::chrono::steady_clock::now();
        std::vector<Result<backend::KernelSource>> sources; // first all: questions point into them
        for (const schedule::LoweredKernel& kernel : kernels)
            sources.push_back(backend::printCuda(kernel.nest));
        std::vector<LaunchQuestion> questions;
        for (std::size_t k = 0; k < kernels.size(); ++k)
            if (sources[k])
                std::ranges::copy(questionsOf(kernels[k].nest, *sources[k]), std::back_inserter(questions));
        const std::vector<Result<Expectation>> answers = m_expectations.ask(questions);
        const double each = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()
                            / static_cast<double>(std::max<std::size_t>(kernels.size(), 1));

        backend::Artifact artifact;
        artifact.descriptor.format = kExpectedFormat;
        artifact.descriptor.target = m_target.text();
        nlohmann::json expected = nlohmann::json::array();
        std::size_t next = 0;
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            backend::BuiltKernel built;
            built.info.emitMs = each;
            const std::size_t count = sources[k] ? sources[k]->launches.size() : 0;
            built.status = sources[k] ? add(kernels[k], *sources[k], std::span(answers).subspan(next, count), expected,
                                            artifact.descriptor, built.info)
                                      : Result<>(sources[k].error());
            next += count;
            artifact.kernels.push_back(std::move(built));
        }
        const std::string text = nlohmann::json{{"kernels", std::move(expected)}}.dump();
        const auto bytes = std::as_bytes(std::span(text));
        artifact.bytes.assign(bytes.begin(), bytes.end());
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(kernel.nest));
        backend::Listing listing;
        listing.name = name;
        listing.language = name == "source" ? "c" : "text";
        listing.program = ir::print(kernel.nest);
        if (name == "source") {
            listing.text = source.text();
        } else if (name == "sass") {
            LATHE_TRY_ASSIGN(const std::string text, m_expectations.disassembly(source.text()));
            // A thread's own array lies in the same memory as registers that were spilled.
            const bool hasArrays = std::ranges::any_of(
                kernel.nest.buffers, [](const ir::Buffer& buffer) { return buffer.scope == ir::Scope::Local; });
            LATHE_TRY(listSass(text, !hasArrays, listing));
        } else if (name == "expected") {
            LATHE_TRY_ASSIGN(const std::vector<Expectation> launches,
                             allOf(m_expectations.ask(questionsOf(kernel.nest, source))));
            listing.text = toText(source, launches, m_expectations.gpu());
        } else {
            return makeError(Errc::Unsupported, say(Msg::NoListing, m_target.text()));
        }
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel>,
                                                 std::span<KernelInfo>) override
    {
        return makeError(Errc::Unsupported, say(Msg::LinkedElsewhere, m_target.kind(), m_target.traits().standsFor));
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::LinkedElsewhere, m_target.kind(), m_target.traits().standsFor));
    }

private:
    static Result<std::vector<Expectation>> allOf(std::span<const Result<Expectation>> answers)
    {
        std::vector<Expectation> launches;
        for (const Result<Expectation>& answer : answers) {
            if (!answer)
                return answer.error();
            launches.push_back(*answer);
        }
        return launches;
    }

    Result<> add(const schedule::LoweredKernel& kernel, const backend::KernelSource& source,
                 std::span<const Result<Expectation>> answers, nlohmann::json& expected, ArtifactDescriptor& descriptor,
                 backend::EmitInfo& facts) const
    {
        LATHE_TRY_ASSIGN(const std::vector<Expectation> launches, allOf(answers));
        for (const Expectation& launch : launches) {
            facts.codeBytes += launch.instructions * kInstructionBytes;
            facts.vectorSpills += static_cast<std::int64_t>(launch.reading.localAccesses);
        }
        KernelInfo info = backend::kernelInfo(kernel);
        for (std::size_t i = 0; i < source.launches.size(); ++i)
            info.launches[i].symbol = source.launches[i].symbol;
        descriptor.kernels.push_back(std::move(info));
        expected.push_back(
            {{"ns", secondsOf(launches, m_expectations.gpu()) * 1e9}, {"launches", source.launches.size()}});
        return {};
    }

    Target m_target;
    Expectations m_expectations;
};

} // namespace
} // namespace lathe::cuda

extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "expected",
                                                      lathe::cuda::ExpectedCodegen::create};
    return &plugin;
}
