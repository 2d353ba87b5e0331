#include "core/backend/c_source.h"
#include "core/backend/codegen.h"
#include "core/backend/kernel_info.h"
#include "core/support/message.h"
#include "plugins/opencl/codegen/compiler.h"

#include <algorithm>
#include <chrono>
#include <optional>

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
        m_device = device;
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        backend::Artifact artifact;
        artifact.descriptor.format = kFormat;
        artifact.descriptor.target = m_target.text();
        std::vector<PackedProgram> programs;
        for (const schedule::LoweredKernel& kernel : kernels) {
            const auto start = std::chrono::steady_clock::now();
            backend::BuiltKernel built;
            KernelInfo info = backend::kernelInfo(kernel);
            std::size_t codeBytes = 0;
            built.status = make(kernel, info, programs, codeBytes);
            built.info.codeBytes = static_cast<std::int64_t>(codeBytes);
            if (built.status)
                artifact.descriptor.kernels.push_back(std::move(info));
            built.info.emitMs =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
            artifact.kernels.push_back(std::move(built));
        }
        artifact.bytes = pack(programs);
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        if (name != "source")
            return makeError(Errc::Unsupported, say(Msg::NoListing, m_target.text()));
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest));
        backend::Listing listing;
        listing.name = name;
        listing.language = "c";
        listing.program = ir::print(kernel.nest);
        listing.text = source.text();
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel> kernels,
                                                 std::span<KernelInfo> infos) override
    {
        std::vector<PackedProgram> programs;
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            std::size_t codeBytes = 0;
            LATHE_TRY(make(kernels[k], infos[k], programs, codeBytes));
        }
        return pack(programs);
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::LinkedElsewhere, m_target.kind(), m_target.traits().linker));
    }

private:
    /// Adds a program for each launch that is not there yet. Candidates of one task have many launches in common, as a
    /// search changes one part of a candidate at a time, and what was measured is what libraries are made of: so a
    /// launch is one program everywhere, and compiled once.
    Result<> make(const schedule::LoweredKernel& kernel, KernelInfo& info, std::vector<PackedProgram>& programs,
                  std::size_t& codeBytes)
    {
        if (!m_device)
            aimAt({});
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printOpenCl(kernel.nest));
        for (std::size_t i = 0; i < source.launches.size(); ++i) {
            const backend::SourceLaunch& launch = source.launches[i];
            info.launches[i].symbol = launch.symbol;
            const std::string symbols = launch.symbol + '\n';
            const auto known = std::ranges::find(programs, symbols, &PackedProgram::symbols);
            if (known != programs.end()) {
                codeBytes += known->binary.size();
                continue;
            }
            PackedProgram program;
            program.source = source.head + launch.text;
            program.symbols = symbols;
            if (m_compiler)
                LATHE_TRY(m_compiler->compile(program, shapeOf(info.launches[i])));
            codeBytes += program.binary.size();
            programs.push_back(std::move(program));
        }
        return {};
    }

    static LaunchShape shapeOf(const LaunchInfo& launch)
    {
        LaunchShape shape;
        for (std::size_t d = 0; d < 3; ++d) {
            shape.block[d] = static_cast<std::size_t>(launch.block[d]);
            shape.threads[d] = static_cast<std::size_t>(launch.grid[d] * launch.block[d]);
        }
        return shape;
    }

    Target m_target;
    std::optional<std::string> m_device; ///< for which `m_compiler` was looked for
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
