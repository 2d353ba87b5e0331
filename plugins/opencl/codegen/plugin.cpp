#include "core/backend/c_source.h"
#include "core/backend/codegen.h"
#include "core/backend/kernel_info.h"
#include "core/support/message.h"
#include "plugins/opencl/codegen/compiler.h"

#include <chrono>

namespace lathe::opencl {
namespace {

/// Codegen half: OpenCL C, with what this machine's own driver makes of it.
class OpenClCodegen final : public backend::Codegen
{
public:
    OpenClCodegen(const Target& target, std::unique_ptr<Compiler> compiler)
        : m_target(target)
        , m_compiler(std::move(compiler))
    {
    }

    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        auto compiler = target.traits().runsHere ? Compiler::find() : nullptr;
        return std::unique_ptr<Codegen>(std::make_unique<OpenClCodegen>(target, std::move(compiler)));
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
            auto made = make(kernel);
            if (made) {
                built.info.codeBytes = static_cast<std::int64_t>(made->binary.size());
                packed.push_back(*std::move(made));
                artifact.descriptor.kernels.push_back(backend::kernelInfo(kernel));
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
        LATHE_TRY_ASSIGN(backend::KernelSource source, backend::printOpenCl(kernel.nest, kernel.nest.name));
        backend::Listing listing;
        listing.name = name;
        listing.language = "c";
        listing.program = ir::print(kernel.nest);
        listing.text = std::move(source.text);
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
    Result<PackedKernel> make(const schedule::LoweredKernel& kernel) const
    {
        LATHE_TRY_ASSIGN(backend::KernelSource source, backend::printOpenCl(kernel.nest, kernel.nest.name));
        PackedKernel packed;
        packed.source = std::move(source.text);
        for (const backend::SourceLaunch& launch : source.launches)
            packed.symbols += launch.symbol + '\n';
        if (m_compiler)
            LATHE_TRY(m_compiler->compile(packed));
        return packed;
    }

    Target m_target;
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
