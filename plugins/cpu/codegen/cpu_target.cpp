#include "plugins/cpu/codegen/cpu_target.h"

#include "core/runtime/cpu_features.h"
#include "core/support/message.h"
#include "plugins/cpu/codegen/llvm_options.h"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#include <iterator>
#include <mutex>
#include <vector>

namespace lathe::cpu {

namespace {

void initializeTargetsOnce()
{
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeAllTargetInfos();
        llvm::InitializeAllTargets();
        llvm::InitializeAllTargetMCs();
        llvm::InitializeAllAsmPrinters();
        llvm::InitializeAllAsmParsers();
        std::vector<const char*> words = {"lathe"};
        words.insert(words.end(), std::begin(kLlvmOptions), std::end(kLlvmOptions));
        llvm::cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data(), "", &llvm::nulls());
    });
}

std::string hostFeatures()
{
    llvm::SubtargetFeatures features;
    // Arithmetic on half floats rounds after each operation: ours is in f32 and rounded once (core/compute/README.md).
    for (const auto& [name, enabled] : llvm::sys::getHostCPUFeatures())
        features.AddFeature(name, enabled && name != "avx512fp16");
    return features.getString();
}

void setVectorFacts(CpuTarget& target, const llvm::Triple& triple)
{
    const llvm::MCSubtargetInfo& info = *target.machine->getMCSubtargetInfo();
    target.outOfOrder = info.getSchedModel().isOutOfOrder();
    const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
    if (triple.isX86()) {
        target.vectorBytes = has("+avx512f") && has("+avx512vl") ? 64 : has("+avx2") ? 32 : 16;
        target.hasFma = has("+fma") || has("+avx512f");
        target.hasHalfConversion = has("+f16c") || has("+avx512f");
    } else if (triple.isAArch64()) {
        target.vectorBytes = 16;
        target.hasFma = true;
        target.hasHalfConversion = true;
    } else if (triple.isARM()) {
        target.vectorBytes = has("+neon") ? 16 : 4;
        target.hasFma = has("+vfp4");
        target.hasHalfConversion = has("+fp16");
    }
}

} // namespace

Result<CpuTarget> CpuTarget::create(const Target& target)
{
    initializeTargetsOnce();
    if (target.kind() != "cpu")
        return makeError(Errc::InvalidArgument,
                         fmt::format("the CPU back end cannot make code for '{}'", target.kind()));
    CpuTarget out;
    const std::string hostTriple = llvm::sys::getDefaultTargetTriple();
    out.triple = llvm::Triple::normalize(target.attribute("mtriple").value_or(hostTriple));
    const llvm::Triple triple(out.triple);
    const llvm::Triple host(hostTriple);
    const bool hostArch = triple.getArch() == host.getArch();
    if (!triple.isOSBinFormatELF())
        return makeError(Errc::Unsupported, fmt::format("'{}' is not an ELF platform", out.triple));
    const std::optional<std::string> cpu = target.attribute("mcpu");
    const bool native = hostArch && (!cpu || *cpu == "native");
    out.cpu = native ? std::string(llvm::sys::getHostCPUName()) : cpu.value_or("");
    if (native)
        out.features = hostFeatures();
    if (const auto extra = target.attribute("mattr"))
        out.features += (out.features.empty() ? "" : ",") + *extra;
    out.isHost = hostArch && triple.getOS() == host.getOS();

    std::string error;
    const llvm::Target* registered = llvm::TargetRegistry::lookupTarget(out.triple, error);
    if (registered == nullptr)
        return makeError(Errc::InvalidArgument, say(Msg::TripleUnknown, out.triple));
    const std::unique_ptr<llvm::MCSubtargetInfo> plain(registered->createMCSubtargetInfo(out.triple, "", ""));
    if (plain && !out.cpu.empty() && !plain->isCPUStringValid(out.cpu))
        return makeError(Errc::InvalidArgument, say(Msg::ProcessorUnknown, out.cpu, out.triple));
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    out.machine.reset(registered->createTargetMachine(out.triple, out.cpu, out.features, options, llvm::Reloc::PIC_,
                                                      std::nullopt, llvm::CodeGenOptLevel::Default));
    if (!out.machine)
        return makeError(Errc::InvalidArgument, say(Msg::NoCodeForTriple, out.triple));
    setVectorFacts(out, triple);
    const char* const machine = triple.getArch() == llvm::Triple::x86_64 ? "x86_64"
                                : triple.isAArch64()                     ? "aarch64"
                                                                         : "";
    std::uint32_t index = 0;
    for (const char* name = nullptr; (name = runtime::checkedFeature(machine, index)) != nullptr; ++index)
        if (out.machine->getMCSubtargetInfo()->checkFeatures(std::string("+") + name))
            out.checkedFeatures.emplace_back(name);
    return out;
}

} // namespace lathe::cpu
