#include "plugins/cpu/codegen/compile.h"

#include "core/support/checks.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/PseudoSourceValue.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <cstring>

namespace lathe::cpu {

namespace {

constexpr std::int64_t kVectorBytes = 16;

/// Counts what touches the stack with a vector, after frame offsets are final.
class StackReferenceCounter : public llvm::MachineFunctionPass
{
public:
    static char ID;
    explicit StackReferenceCounter(std::map<std::string, FunctionFacts, std::less<>>& facts)
        : llvm::MachineFunctionPass(ID)
        , m_facts(facts)
    {
    }

    bool runOnMachineFunction(llvm::MachineFunction& function) override
    {
        FunctionFacts facts;
        for (const llvm::MachineBasicBlock& block : function) {
            for (const llvm::MachineInstr& instruction : block) {
                for (const llvm::MachineMemOperand* memory : instruction.memoperands()) {
                    const bool isVector = memory->getSize().hasValue()
                                          && static_cast<std::int64_t>(memory->getSize().getValue().getKnownMinValue())
                                                 >= kVectorBytes;
                    if (isVector)
                        ++facts.vectorAccesses;
                    if (isVector && isOnStack(*memory))
                        ++facts.vectorSpills;
                }
            }
        }
        m_facts[function.getName().str()] = facts;
        return false;
    }
    llvm::StringRef getPassName() const override { return "count vector stack references"; }
    void getAnalysisUsage(llvm::AnalysisUsage& usage) const override
    {
        usage.setPreservesAll();
        llvm::MachineFunctionPass::getAnalysisUsage(usage);
    }

private:
    std::map<std::string, FunctionFacts, std::less<>>& m_facts;

    static bool isOnStack(const llvm::MachineMemOperand& memory)
    {
        if (const llvm::PseudoSourceValue* pseudo = memory.getPseudoValue())
            return pseudo->kind() == llvm::PseudoSourceValue::FixedStack || pseudo->isStack();
        const llvm::Value* value = memory.getValue();
        return value != nullptr && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(value));
    }
};
char StackReferenceCounter::ID = 0;

void readCodeSizes(MachineCode& code)
{
    const llvm::StringRef text(reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(text, "object"));
    if (!object) {
        llvm::consumeError(object.takeError());
        return;
    }
    for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
        auto name = symbol.getName();
        if (!name) {
            llvm::consumeError(name.takeError());
            continue;
        }
        if (const auto facts = code.functions.find(std::string_view(name->data(), name->size()));
            facts != code.functions.end())
            facts->second.codeBytes = static_cast<std::int64_t>(llvm::object::ELFSymbolRef(symbol).getSize());
    }
}

} // namespace

Result<> optimize(llvm::Module& module, const CpuTarget& target)
{
    if (checksAreOn()) { // a twentieth of the time; where malformed code crashes, a builder does, and its candidate
                         // fails
        std::string problems;
        llvm::raw_string_ostream stream(problems);
        if (llvm::verifyModule(module, &stream))
            return makeError(Errc::Internal, say(Msg::CodeMalformed, stream.str().substr(0, 400)));
    }

    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager callGraph;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(target.machine.get());
    // No function of the C library may be recognised or made: artifacts have no undefined symbols.
    llvm::TargetLibraryInfoImpl library{llvm::Triple(module.getTargetTriple())};
    library.disableAllFunctions();
    functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraph, modules);

    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::DSEPass());
    for (llvm::Function& function : module)
        if (!function.isDeclaration())
            passes.run(function, functions);
    return {};
}

Result<MachineCode> generate(llvm::Module& module, const CpuTarget& target, CodeFormat format, bool schedules)
{
    MachineCode code;
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    auto& machine = static_cast<llvm::LLVMTargetMachine&>(*target.machine);
    machine.Options.MCOptions.AsmVerbose = format == CodeFormat::Assembly;
    {
        llvm::legacy::PassManager passes;
        llvm::TargetLibraryInfoImpl library{llvm::Triple(module.getTargetTriple())};
        library.disableAllFunctions();
        passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
        passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
        auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
        llvm::TargetPassConfig* config = machine.createPassConfig(passes);
        config->setDisableVerify(true);
        if (!schedules)
            config->disablePass(&llvm::MachineSchedulerID);
        passes.add(config);
        passes.add(info);
        if (config->addISelPasses())
            return makeError(Errc::Unsupported, say(Msg::NoInstructions, target.triple));
        config->addMachinePasses();
        config->setInitialized();
        passes.add(new StackReferenceCounter(code.functions));
        const auto kind = format == CodeFormat::Object ? llvm::CodeGenFileType::ObjectFile
                                                       : llvm::CodeGenFileType::AssemblyFile;
        if (machine.addAsmPrinter(passes, stream, nullptr, kind, info->getMMI().getContext()))
            return makeError(Errc::Unsupported, fmt::format("LLVM cannot write objects for '{}'", target.triple));
        passes.add(llvm::createFreeMachineFunctionPass());
        passes.run(module);
    }
    code.bytes.resize(bytes.size());
    std::memcpy(code.bytes.data(), bytes.data(), bytes.size());
    if (format == CodeFormat::Object)
        readCodeSizes(code);
    return code;
}

} // namespace lathe::cpu
