#include "core/backend/codegen.h"

#include "core/backend/c_source.h"
#include "core/backend/kernel_info.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "plugins/sim/cost_model.h"
#include "plugins/sim/fault_script.h"
#include "plugins/sim/launch_cost.h"
#include "plugins/sim/program_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lathe::sim {

namespace {

/// Above this many steps -interpret=auto leaves the outputs alone: a minute would pass for a second of model time.
constexpr double kMaxSteps = 3e7;

class SimCodegen final : public backend::Codegen
{
public:
    static Result<std::unique_ptr<Codegen>> create(const Target& target)
    {
        auto made = std::make_unique<SimCodegen>();
        made->m_target = target.text();
        made->m_gpu = GpuMachine::like(target.attribute("like").value_or("cpu"));
        if (const auto file = target.attribute("script")) {
            LATHE_TRY_ASSIGN(const std::string text, readFile(*file, 16 << 20));
            LATHE_TRY_ASSIGN(made->m_faults, FaultScript::parse(text));
        }
        if (const auto file = target.attribute("cost")) {
            LATHE_TRY_ASSIGN(const std::string text, readFile(*file, 1 << 20));
            if (target.traits().form == KernelForm::Launches) {
                LATHE_TRY(made->m_gpu.take(text));
            } else {
                LATHE_TRY_ASSIGN(made->m_machine, CpuMachine::fromJson(text));
            }
        }
        if (const auto seed = target.attribute("seed"))
            if (std::from_chars(seed->data(), seed->data() + seed->size(), made->m_machine.seed).ec != std::errc())
                return makeError(Errc::InvalidArgument, "-seed takes a number");
        made->m_gpu.seed = made->m_machine.seed;
        made->m_interpret = target.attribute("interpret").value_or("auto");
        if (made->m_interpret != "auto" && made->m_interpret != "on" && made->m_interpret != "off")
            return makeError(Errc::InvalidArgument, "-interpret takes auto, on or off");
        return std::unique_ptr<Codegen>(std::move(made));
    }

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override
    {
        ProgramWriter writer;
        backend::Artifact artifact;
        artifact.descriptor.format = "sim-nest";
        artifact.descriptor.target = m_target;
        for (const schedule::LoweredKernel& kernel : kernels) {
            const auto decision = m_faults.decide(kernel.nest.name);
            backend::BuiltKernel built;
            built.status = actBuildFault(decision.fault);
            if (built.status) {
                Kernel facts;
                facts.modelNs = timeNs(kernel.nest);
                facts.slowdown = decision.fault == Fault::Slow || decision.fault == Fault::Lucky ? decision.factor : 1;
                facts.deviceBuildSeconds = decision.fault == Fault::DeviceBuildSlow ? decision.seconds : 0;
                facts.fault = static_cast<std::uint32_t>(decision.fault);
                facts.interpret = m_interpret == "on"
                                  || (m_interpret == "auto" && interpretationSteps(kernel.nest) <= kMaxSteps);
                built.status = writer.add(kernel, facts);
            }
            if (built.status) {
                artifact.descriptor.kernels.push_back(backend::kernelInfo(kernel));
            }
            artifact.kernels.push_back(std::move(built));
        }
        artifact.bytes = writer.bytes();
        return artifact;
    }

    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override
    {
        if (name == "opencl" && !kernel.nest.launches.empty())
            return openCl(kernel);
        if (name != "source")
            return makeError(Errc::Unsupported, say(Msg::SimNoListing));
        backend::Listing listing;
        listing.name = name;
        listing.language = "nest";
        listing.program = ir::print(kernel.nest);
        listing.text = fmt::format("{}\nmodel time: {:.1f} ns\n", listing.program, timeNs(kernel.nest));
        const auto lines = std::count(listing.program.begin(), listing.program.end(), '\n');
        for (std::int32_t line = 0; line < lines; ++line)
            listing.statements.push_back(line);
        listing.statements.resize(listing.statements.size() + 2, -1);
        return listing;
    }

    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel>,
                                                 std::span<KernelInfo>) override
    {
        return makeError(Errc::Unsupported, say(Msg::SimNoLibraries));
    }

    Result<> linkLibrary(const backend::LibraryRequest&) override
    {
        return makeError(Errc::Unsupported, say(Msg::SimNoLibraries));
    }

private:
    double timeNs(const ir::LoopNest& nest) const
    {
        return nest.launches.empty() ? modelTimeNs(nest, m_machine) : launchTimeNs(nest, m_gpu);
    }

    /// What a real device of that kind would be given.
    static Result<backend::Listing> openCl(const schedule::LoweredKernel& kernel)
    {
        LATHE_TRY_ASSIGN(backend::KernelSource source, backend::printOpenCl(kernel.nest));
        backend::Listing listing;
        listing.name = "opencl";
        listing.language = "c";
        listing.program = ir::print(kernel.nest);
        listing.text = source.text();
        return listing;
    }

    std::string m_target;
    std::string m_interpret = "auto";
    FaultScript m_faults;
    CpuMachine m_machine;
    GpuMachine m_gpu; ///< of targets whose kernels are launches
};

} // namespace

} // namespace lathe::sim

extern "C" __attribute__((visibility("default"))) const lathe::backend::CodegenPlugin* lathe_codegen_create()
{
    static const lathe::backend::CodegenPlugin plugin{lathe::backend::buildId(), "sim",
                                                      &lathe::sim::SimCodegen::create};
    return &plugin;
}
