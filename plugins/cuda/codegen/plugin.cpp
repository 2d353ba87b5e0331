#include "core/backend/c_source.h"
#include "core/backend/codegen.h"
#include "core/backend/kernel_info.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "plugins/cuda/codegen/cubin.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/codegen/sass_listing.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/device/artifact.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace lathe::cuda {
namespace {

/// What was compiled is kept in this process: candidates of one task have many launches in common.
constexpr std::size_t kMostKeptBytes = 64 << 20;
constexpr std::int64_t kRegisterBytes = 4;

/// Of a device, as its device half describes it.
std::optional<int> capabilityIn(const std::string& device)
{
    const nlohmann::json description = nlohmann::json::parse(device, nullptr, false);
    return deviceCapabilityOf(textIn(description, "architecture"));
}

/// The major version of CUDA that its driver is for ("CUDA 12.4": 12); 0: it does not say.
int driverMajorIn(const std::string& device)
{
    constexpr std::string_view kStart = "CUDA ";
    const std::string told = textIn(nlohmann::json::parse(device, nullptr, false), "driver");
    int major = 0;
    if (told.starts_with(kStart))
        std::from_chars(told.data() + kStart.size(), told.data() + told.size(), major);
    return std::max(major, 0);
}

struct Launch
{
    runtime::PackedProgram program;
    backend::LaunchFigures figures;
};

/// Codegen half: CUDA C++, compiled by NVRTC for the architecture that the target names, else for that of the device
/// that is measured on.
class CudaCodegen final : public backend::Codegen
{
public:
    explicit CudaCodegen(const Target& target)
        : m_target(target)
        , m_named(capabilityOf(target.attribute("arch").value_or("")))
    {
    }

    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        return std::unique_ptr<Codegen>(std::make_unique<CudaCodegen>(target));
    }

    void aimAt(const std::string& device) override
    {
        if (device == m_device)
            return;
        m_device = device;
        m_compiler = nullptr;
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        LATHE_TRY(findCompiler());
        backend::Artifact artifact;
        artifact.descriptor.format = kFormat;
        artifact.descriptor.target = m_target.text();
        std::vector<runtime::PackedProgram> programs;
        std::unordered_set<std::string> packed; // symbols
        for (const schedule::LoweredKernel& kernel : kernels) {
            const auto start = std::chrono::steady_clock::now();
            backend::BuiltKernel built;
            KernelInfo info = backend::kernelInfo(kernel);
            built.status = make(kernel, info, built.info, programs, packed);
            if (built.status)
                artifact.descriptor.kernels.push_back(std::move(info));
            built.info.emitMs =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
            artifact.kernels.push_back(std::move(built));
        }
        artifact.bytes = runtime::pack(programs);
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        if (name != "source" && name != "ptx" && name != "sass")
            return makeError(Errc::Unsupported, say(Msg::NoListing, m_target.text()));
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(kernel.nest));
        backend::Listing listing;
        listing.name = name;
        listing.language = name == "source" ? "c" : "text";
        listing.program = ir::print(kernel.nest);
        listing.text = source.text();
        if (name == "source")
            return listing;
        LATHE_TRY(findCompiler());
        LATHE_TRY_ASSIGN(const Compiled compiled, m_compiler->compile(listing.text, m_capability));
        if (name == "ptx")
            listing.text = compiled.ptx;
        else
            LATHE_TRY(listSass(compiled, listing));
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel> kernels,
                                                 std::span<KernelInfo> infos) override
    {
        LATHE_TRY(findCompiler());
        std::vector<runtime::PackedProgram> programs;
        std::unordered_set<std::string> packed; // symbols
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            backend::EmitInfo ignored;
            LATHE_TRY(make(kernels[k], infos[k], ignored, programs, packed));
        }
        return runtime::pack(programs);
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::LinkedElsewhere, m_target.kind(), m_target.traits().linker));
    }

private:
    /// For the architecture that code is made for from now on.
    Result<> findCompiler()
    {
        if (m_compiler != nullptr)
            return {};
        const auto before = std::pair(m_capability, m_madeBy);
        if (m_named) {
            LATHE_TRY_ASSIGN(m_compiler, Nvrtc::find(*m_named, driverMajorIn(m_device)));
            m_capability = *m_named;
        } else {
            const std::optional<int> device = capabilityIn(m_device);
            if (!device)
                return makeError(Errc::InvalidArgument, say(Msg::CudaNoArchitecture, m_target.text()));
            LATHE_TRY_ASSIGN(const auto found, Nvrtc::findFor(*device, driverMajorIn(m_device)));
            std::tie(m_compiler, m_capability) = found;
        }
        m_madeBy = m_compiler;
        if (std::pair(m_capability, m_madeBy) != before)
            forget();
        return {};
    }

    void forget()
    {
        m_kept.clear();
        m_keptBytes = 0;
    }

    /// Adds a program for each launch that is not there yet, and the facts of all.
    Result<> make(const schedule::LoweredKernel& kernel, KernelInfo& info, backend::EmitInfo& facts,
                  std::vector<runtime::PackedProgram>& programs, std::unordered_set<std::string>& packed)
    {
        LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(kernel.nest));
        for (std::size_t i = 0; i < source.launches.size(); ++i) {
            const backend::SourceLaunch& launch = source.launches[i];
            info.launches[i].symbol = launch.symbol;
            if (static_cast<std::uint64_t>(launch.dynamicSharedBytes)
                != dynamicSharedBytes(static_cast<std::uint64_t>(info.launches[i].sharedBytes)))
                return makeError(Errc::Internal, say(Msg::CudaSharedDiffers, info.name));
            LATHE_TRY_ASSIGN(const Launch* const made, compiled(launch, source.head));
            facts.codeBytes += static_cast<std::int64_t>(made->program.binary.size());
            facts.vectorSpills += made->figures.spilledBytes / kRegisterBytes;
            facts.launches.push_back(made->figures);
            if (packed.insert(launch.symbol).second)
                programs.push_back(made->program);
        }
        return {};
    }

    Result<const Launch*> compiled(const backend::SourceLaunch& launch, const std::string& head)
    {
        if (const auto known = m_kept.find(launch.symbol); known != m_kept.end())
            return &known->second;
        if (m_keptBytes > kMostKeptBytes)
            forget();
        LATHE_TRY_ASSIGN(Compiled made, m_compiler->compile(head + launch.text, m_capability));
        Launch kept;
        kept.figures.spilledBytes = made.spilledBytes;
        if (const auto kernels = readCubin(made.cubin); kernels && kernels->size() == 1) {
            const CubinKernel& kernel = kernels->front();
            kept.figures.registers = kernel.registers;
            kept.figures.sharedBytes = kernel.sharedBytes + launch.dynamicSharedBytes;
            kept.figures.localBytes = kernel.localBytes;
        } else if (made.registers > 0) {
            kept.figures.registers = made.registers;
        }
        kept.program = {std::move(made.ptx), std::move(made.cubin), architectureName(m_capability),
                        launch.symbol + '\n'};
        m_keptBytes += kept.program.source.size() + kept.program.binary.size();
        return &m_kept.emplace(launch.symbol, std::move(kept)).first->second;
    }

    Target m_target;
    std::optional<int> m_named;
    std::string m_device; ///< JSON
    const Nvrtc* m_compiler = nullptr; ///< null: it was not looked for
    int m_capability = 0; ///< that it makes code for, and made what is kept for
    const Nvrtc* m_madeBy = nullptr; ///< what is kept
    std::unordered_map<std::string, Launch> m_kept; ///< by symbol, which is of the source
    std::size_t m_keptBytes = 0;
};

} // namespace
} // namespace lathe::cuda

/// The plugin's one entry: see core/backend/codegen.h.
extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "cuda",
                                                      &lathe::cuda::CudaCodegen::create};
    return &plugin;
}
