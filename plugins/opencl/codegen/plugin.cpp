#include "core/backend/c_source.h"
#include "core/backend/codegen.h"
#include "core/backend/kernel_info.h"
#include "core/support/message.h"
#include "plugins/opencl/codegen/compiler.h"

#include <chrono>
#include <optional>
#include <unordered_map>

namespace lathe::opencl {
namespace {

/// Codegen half: OpenCL C, with what the device's driver makes of it where that is on this machine.
class OpenClCodegen final : public backend::Codegen
{
public:
    explicit OpenClCodegen(const Target& target)
        : m_target(target)
    {
    }

    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        return std::unique_ptr<Codegen>(std::make_unique<OpenClCodegen>(target));
    }

    /// Looks for the compiler when it is told of another device only: a context is made for it.
    void aimAt(const std::string& device) override
    {
        if (!m_target.traits().runsHere || device == m_device)
            return;
        m_compiler = Compiler::find(device);
        m_known.clear();
        m_knownBytes = 0;
        m_device = device;
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        backend::Artifact artifact;
        artifact.descriptor.format = kFormat;
        artifact.descriptor.target = m_target.text();
        std::vector<PackedKernel> packed;
        for (const schedule::LoweredKernel& kernel : kernels) {
            const auto start = std::chrono::steady_clock::now();
            backend::BuiltKernel built;
            KernelInfo info = backend::kernelInfo(kernel);
            auto made = makeLaunches(kernel, info);
            if (made) {
                for (PackedKernel& launch : *made) {
                    built.info.codeBytes += static_cast<std::int64_t>(launch.binary.size());
                    packed.push_back(std::move(launch));
                }
                artifact.descriptor.kernels.push_back(std::move(info));
            } else {
                built.status = std::move(made).error();
            }
            built.info.emitMs =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
            artifact.kernels.push_back(std::move(built));
        }
        artifact.bytes = pack(packed);
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        if (name != "source")
            return makeError(Errc::Unsupported, say(Msg::NoListing, m_target.text()));
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest, kernel.nest.name));
        backend::Listing listing;
        listing.name = name;
        listing.language = "c";
        listing.program = ir::print(kernel.nest);
        listing.text = source.text();
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel> kernels) override
    {
        std::vector<PackedKernel> packed;
        for (const schedule::LoweredKernel& kernel : kernels) {
            LATHE_TRY_ASSIGN(PackedKernel made, make(kernel));
            packed.push_back(std::move(made));
        }
        return pack(packed);
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::LinkedElsewhere, m_target.kind(), m_target.traits().linker));
    }

private:
    Result<PackedKernel> make(const schedule::LoweredKernel& kernel)
    {
        if (!m_device)
            aimAt({});
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest, kernel.nest.name));
        PackedKernel packed;
        packed.source = source.text();
        for (const backend::SourceLaunch& launch : source.launches)
            packed.symbols += launch.symbol + '\n';
        if (m_compiler)
            LATHE_TRY(m_compiler->compile(packed));
        return packed;
    }

    /// A program for each launch, under names that all kernels share. Candidates of one task have many launches in
    /// common: a search changes one part of a candidate at a time.
    Result<std::vector<PackedKernel>> makeLaunches(const schedule::LoweredKernel& kernel, KernelInfo& info)
    {
        if (!m_device)
            aimAt({});
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest, "launch"));
        std::vector<PackedKernel> programs;
        for (std::size_t i = 0; i < source.launches.size(); ++i) {
            const backend::SourceLaunch& launch = source.launches[i];
            info.launches[i].symbol = launch.symbol;
            PackedKernel packed;
            packed.source = source.head + launch.text;
            packed.symbols = launch.symbol + '\n';
            if (m_compiler)
                LATHE_TRY(compileOnce(packed));
            programs.push_back(std::move(packed));
        }
        return programs;
    }

    Result<> compileOnce(PackedKernel& program)
    {
        constexpr std::size_t kMostBytes = std::size_t{64} << 20;
        if (const auto known = m_known.find(program.source); known != m_known.end()) {
            program.binary = known->second.binary;
            program.madeFor = known->second.madeFor;
            return {};
        }
        LATHE_TRY(m_compiler->compile(program));
        m_knownBytes += program.source.size() + program.binary.size();
        if (m_knownBytes > kMostBytes) {
            m_known.clear();
            m_knownBytes = program.source.size() + program.binary.size();
        }
        m_known[program.source] = {{}, program.binary, program.madeFor};
        return {};
    }

    Target m_target;
    std::optional<std::string> m_device; ///< for which `m_compiler` was looked for
    std::unordered_map<std::string, PackedKernel> m_known; ///< by source: what was compiled before
    std::size_t m_knownBytes = 0;
    std::unique_ptr<Compiler> m_compiler; ///< null: sources alone
};

} // namespace
} // namespace lathe::opencl

/// The plugin's one entry: see core/backend/codegen.h.
extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "opencl",
                                                      &lathe::opencl::OpenClCodegen::create};
    return &plugin;
}
