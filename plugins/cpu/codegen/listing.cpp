#include "plugins/cpu/codegen/listing.h"

#include "core/support/message.h"
#include "core/support/subprocess.h"
#include "plugins/cpu/codegen/emit.h"
#include "plugins/cpu/codegen/listing_marks.h"
#include "plugins/cpu/codegen/phase_compiler.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/AssemblyAnnotationWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/FormattedStream.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>

namespace lathe::cpu {

namespace {

using backend::LineMark;
using backend::Listing;

constexpr double kEstimateSeconds = 30;
constexpr std::size_t kMostEstimated = 4000; ///< lines: llvm-mca's time grows with the code

/// Notes on which line of the text each instruction is printed, without writing anything itself.
class LineNotes final : public llvm::AssemblyAnnotationWriter
{
public:
    LineNotes(const llvm::DenseMap<const llvm::Instruction*, std::int32_t>& statements,
              std::vector<std::int32_t>& lines)
        : m_statements(statements)
        , m_lines(lines)
    {
    }
    void emitInstructionAnnot(const llvm::Instruction* instruction, llvm::formatted_raw_ostream& stream) override
    {
        const std::size_t line = stream.getLine();
        m_lines.resize(std::max(m_lines.size(), line + 1), -1);
        m_lines[line] = m_statements.lookup(instruction) - 1; // 0: it is not known where it came from
    }

private:
    const llvm::DenseMap<const llvm::Instruction*, std::int32_t>& m_statements;
    std::vector<std::int32_t>& m_lines;
};

/// Appends a phase in LLVM's own form, with lines but without the metadata that said them.
Result<> addIr(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase, const ir::PrintedNest& program,
               Listing& listing)
{
    llvm::LLVMContext context;
    LATHE_TRY_ASSIGN(const std::unique_ptr<llvm::Module> module,
                     emitModule(context, target, nest, phase, phaseSymbol(nest, phase), &program));
    llvm::DenseMap<const llvm::Instruction*, std::int32_t> statements;
    for (const llvm::Function& function : *module)
        for (const llvm::BasicBlock& block : function)
            for (const llvm::Instruction& instruction : block)
                statements[&instruction] = instruction.getDebugLoc()
                                               ? static_cast<std::int32_t>(instruction.getDebugLoc().getLine())
                                               : 0;
    llvm::StripDebugInfo(*module);
    std::vector<std::int32_t> lines;
    std::string text;
    {
        LineNotes notes(statements, lines);
        llvm::raw_string_ostream stream(text);
        module->print(stream, &notes);
    }
    lines.resize(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), -1);
    listing.text += text;
    listing.statements.insert(listing.statements.end(), lines.begin(), lines.end());
    return {};
}

Result<> addAssembly(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase,
                     const ir::PrintedNest& program, Listing& listing, std::vector<std::string>& lines)
{
    const auto compiled = [&](const ir::PrintedNest* printed) -> Result<AssemblyText> {
        LATHE_TRY_ASSIGN(const MachineCode code,
                         compilePhase(target, nest, phase, phaseSymbol(nest, phase), CodeFormat::Assembly, printed));
        return readAssembly({reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
    };
    // What is shown is what is measured, compiled without locations: some of LLVM's schedulers (Cortex-A53's) order
    // instructions another way where these are.
    LATHE_TRY_ASSIGN(AssemblyText text, compiled(nullptr));
    LATHE_TRY_ASSIGN(const AssemblyText located, compiled(&program));
    takeStatements(text, located);
    const auto start = static_cast<std::int32_t>(lines.size());
    for (backend::MarkedLines mark : findMarks(text, program)) {
        mark.first += start;
        mark.last += start;
        listing.marks.push_back(mark);
    }
    lines.insert(lines.end(), text.lines.begin(), text.lines.end());
    listing.statements.insert(listing.statements.end(), text.statements.begin(), text.statements.end());
    return {};
}

/// Of several phases' hot loops one is left: the first of those whose stores run most.
void keepHottest(Listing& listing, const ir::PrintedNest& program)
{
    backend::MarkedLines* hottest = nullptr;
    double most = -1;
    for (backend::MarkedLines& mark : listing.marks) {
        if (mark.mark != LineMark::HotLoop)
            continue;
        double runs = 0;
        for (std::int32_t line = mark.first; line <= mark.last; ++line)
            if (const std::int32_t s = listing.statements[static_cast<std::size_t>(line)];
                s >= 0 && program.stores[static_cast<std::size_t>(s)])
                runs = std::max(runs, program.runs[static_cast<std::size_t>(s)]);
        if (runs > most) {
            if (hottest != nullptr)
                hottest->mark = LineMark::Loop;
            hottest = &mark;
            most = runs;
        } else {
            mark.mark = LineMark::Loop;
        }
    }
}

Result<Listing> makeAssembly(const CpuTarget& target, const ir::LoopNest& nest, const ir::PrintedNest& program,
                             std::vector<std::string>& lines)
{
    Listing listing;
    const llvm::Triple triple(target.triple);
    listing.language = triple.isX86() ? "x86" : "arm";
    for (std::size_t phase = 0; phase < nest.phases.size(); ++phase)
        LATHE_TRY(addAssembly(target, nest, phase, program, listing, lines));
    keepHottest(listing, program);
    for (const std::string& line : lines)
        listing.text += line + '\n';
    const RegisterCount used = countRegisters(lines, triple.isX86());
    listing.vectorRegisters = used.vector;
    listing.generalRegisters = used.general;
    const bool wide = !triple.isX86() || target.machine->getMCSubtargetInfo()->checkFeatures("+avx512f");
    listing.vectorRegistersOf = wide && !triple.isArch32Bit() ? 32 : 16;
    listing.generalRegistersOf = triple.isAArch64() ? 31 : 16;
    return listing;
}

/// What llvm-mca says of the hot loop; of code without loops, of all.
Result<Listing> estimate(const CpuTarget& target, const ir::LoopNest& nest, const ir::PrintedNest& program)
{
    std::vector<std::string> lines;
    LATHE_TRY_ASSIGN(const Listing assembly, makeAssembly(target, nest, program, lines));
    const auto hot = std::ranges::find(assembly.marks, LineMark::HotLoop, &backend::MarkedLines::mark);
    const bool hasLoop = hot != assembly.marks.end();
    const std::size_t first = hasLoop ? static_cast<std::size_t>(hot->first) : 0;
    const std::size_t last = hasLoop ? static_cast<std::size_t>(hot->last) : lines.size() - 1;
    Listing listing;
    listing.language = "text";
    if (last - first >= kMostEstimated) {
        listing.text = fmt::format("The hot loop has {} lines: llvm-mca is asked of {} at most.\n", last - first + 1,
                                   kMostEstimated);
        return listing;
    }
    std::string code;
    for (std::size_t i = first; i <= last; ++i)
        if (isInstruction(lines[i]) || lines[i].starts_with(".LBB"))
            code += lines[i] + '\n';
    SubprocessOptions options;
    options.arguments = {"-mtriple=" + target.triple, "-mcpu=" + target.cpu, "-mattr=" + target.features};
    for (const std::string& tool : {fmt::format("llvm-mca-{}", LLVM_VERSION_MAJOR), std::string("llvm-mca")}) {
        const llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(tool);
        if (!found)
            continue;
        options.program = *found;
        const Result<RunOutput> ran = runProcess(options, code, Deadline::inSeconds(kEstimateSeconds));
        if (!ran)
            return ran.error();
        if (!ran->exit.ok())
            return makeError(Errc::BuildFailed, say(Msg::ProgramNotStarted, tool, ran->errors.substr(0, 400), ""));
        listing.text = hasLoop ? fmt::format("Lines {} to {} of the assembly, its hot loop", first + 1, last + 1)
                               : std::string("The whole assembly, which has no loop");
        listing.text += ", 100 times over, as if all that it reads were in the L1 cache:\n\n" + ran->output;
        return listing;
    }
    return makeError(Errc::NotFound,
                     say(Msg::ProgramNotStarted, "llvm-mca",
                         fmt::format("it is not installed; the package llvm-{} has it", LLVM_VERSION_MAJOR),
                         fmt::format("llvm-{}", LLVM_VERSION_MAJOR)));
}

} // namespace

Result<Listing> makeListing(const CpuTarget& target, const ir::LoopNest& nest, std::string_view name)
{
    const ir::LoopNest own = ir::withOwnStatements(nest);
    const ir::PrintedNest program = ir::printWithLines(own);
    Listing listing;
    if (name == "ir") {
        listing.language = "ir";
        for (std::size_t phase = 0; phase < own.phases.size(); ++phase)
            LATHE_TRY(addIr(target, own, phase, program, listing));
    } else if (name == "assembly") {
        std::vector<std::string> lines;
        LATHE_TRY_ASSIGN(listing, makeAssembly(target, own, program, lines));
    } else if (name == "mca") {
        LATHE_TRY_ASSIGN(listing, estimate(target, own, program));
    } else {
        return makeError(Errc::Unsupported, say(Msg::NoListing, "cpu"));
    }
    listing.name = name;
    listing.program = program.text;
    return listing;
}

} // namespace lathe::cpu
