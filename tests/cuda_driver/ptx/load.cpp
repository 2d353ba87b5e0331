#include "tests/cuda_driver/ptx/decoder.h"
#include "tests/cuda_driver/ptx/slots.h"

// From syntax to a program: places of variables, rows of registers, then each instruction.

namespace lathe::ptx {

namespace {

constexpr uint64_t kMostShared = 1 << 20;
constexpr uint64_t kMostLocal = 512 << 10; // per thread, as devices have

uint64_t alignedTo(uint64_t offset, uint64_t align)
{
    return (offset + align - 1) / align * align;
}

class Loader
{
public:
    explicit Loader(const Syntax& syntax)
        : m_syntax(syntax)
        , m_module(syntax)
    {
    }

    Program run()
    {
        Program& program = m_module.program;
        program.versionMajor = m_syntax.versionMajor;
        program.versionMinor = m_syntax.versionMinor;
        program.target = m_syntax.target;
        refuseRecursion();
        placeVariables();
        placeRegisters();
        for (uint32_t f = 0; f < m_syntax.functions.size(); ++f)
            if (!m_syntax.functions[f].isDeclared)
                function(f);
        for (const ModuleDecoder::Jump& call : m_module.calls)
            program.code[call.instruction].target = m_module.start[call.function];
        for (uint32_t f = 0; f < m_syntax.functions.size(); ++f)
            if (m_syntax.functions[f].isEntry && !m_syntax.functions[f].isDeclared)
                kernel(f);
        return std::move(program);
    }

private:
    /// Functions that a function calls, itself included.
    std::vector<uint32_t> reached(uint32_t from) const
    {
        std::vector<uint32_t> all = {from};
        for (size_t i = 0; i < all.size(); ++i)
            for (const Statement& statement : m_syntax.functions[all[i]].statements)
                for (const Operand& operand : statement.operands)
                    if (statement.opcode[0] == "call" && operand.kind == Operand::Kind::Name)
                        for (uint32_t f = 0; f < m_syntax.functions.size(); ++f)
                            if (m_syntax.functions[f].name == operand.name && !m_syntax.functions[f].isDeclared
                                && std::find(all.begin(), all.end(), f) == all.end())
                                all.push_back(f);
        return all;
    }

    /// Functions have one place for their registers and for where they return to.
    void refuseRecursion() const
    {
        for (uint32_t f = 0; f < m_syntax.functions.size(); ++f)
            for (const uint32_t callee : reached(f)) {
                if (callee == f)
                    continue;
                const std::vector<uint32_t> back = reached(callee);
                if (std::find(back.begin(), back.end(), f) != back.end())
                    throw Refusal(m_syntax.functions[f].line,
                                  "function " + m_syntax.functions[f].name
                                      + " calls itself by way of others, which this interpreter does not take");
            }
        for (const Function& function : m_syntax.functions)
            for (const Statement& statement : function.statements)
                for (const Operand& operand : statement.operands)
                    if (statement.opcode[0] == "call" && operand.kind == Operand::Kind::Name
                        && operand.name == function.name)
                        throw Refusal(statement.line, "function " + function.name
                                                          + " calls itself, which this interpreter does not take");
    }

    void placeVariables()
    {
        const auto& variables = m_syntax.variables;
        m_module.sharedOffset.assign(variables.size(), 0);
        m_module.globalIndex.assign(variables.size(), 0);
        uint64_t shared = 0, local = 0;
        const auto isEntryParameter = [&](uint32_t v) {
            if (variables[v].owner < 0)
                return false;
            const Function& owner = m_syntax.functions[static_cast<size_t>(variables[v].owner)];
            return owner.isEntry
                   && std::find(owner.parameters.begin(), owner.parameters.end(), v) != owner.parameters.end();
        };
        // Of the module and of functions first: these have one place, whatever kernel calls them. Those of kernels may
        // overlap.
        for (const bool ofKernels : {false, true}) {
            if (ofKernels) {
                m_moduleShared = shared;
                m_moduleLocal = local;
            }
            int32_t owner = -2;
            for (uint32_t v = 0; v < variables.size(); ++v) {
                const Variable& variable = variables[v];
                const bool isOfKernel = variable.owner >= 0
                                        && m_syntax.functions[static_cast<size_t>(variable.owner)].isEntry;
                if (isOfKernel != ofKernels || isEntryParameter(v))
                    continue;
                if (ofKernels && variable.owner != owner) {
                    owner = variable.owner;
                    shared = m_moduleShared;
                    local = m_moduleLocal;
                }
                if (variable.space == Space::Global || variable.space == Space::Const) {
                    globalVariable(v);
                    continue;
                }
                uint64_t& end = variable.space == Space::Shared ? shared : local;
                m_module.sharedOffset[v] = alignedTo(end, variable.align);
                end = m_module.sharedOffset[v] + variable.size;
                const uint64_t most = variable.space == Space::Shared ? kMostShared : kMostLocal;
                if (end > most)
                    throw Refusal(ofKernels ? m_syntax.functions[static_cast<size_t>(variable.owner)].line : 1,
                                  "variable " + variable.name + " needs more than " + std::to_string(most)
                                      + " bytes of " + (variable.space == Space::Shared ? "shared" : "local")
                                      + " memory");
            }
        }
        for (const Function& function : m_syntax.functions) {
            if (!function.isEntry)
                continue;
            uint64_t offset = 0;
            for (const uint32_t v : function.parameters) {
                offset = alignedTo(offset, variables[v].align);
                m_module.sharedOffset[v] = offset;
                offset += variables[v].size;
            }
        }
    }

    void globalVariable(uint32_t v)
    {
        const Variable& variable = m_syntax.variables[v];
        if (variable.isExtern)
            throw Refusal(1,
                          "variable " + variable.name + " is of another module, which this interpreter does not take");
        m_module.globalIndex[v] = static_cast<uint32_t>(m_module.program.globals.size());
        m_module.program.globals.push_back(
            {variable.name, variable.space == Space::Const, variable.size, variable.align, variable.initial});
    }

    void placeRegisters()
    {
        uint32_t row = static_cast<uint32_t>(WarpRow::Count);
        const size_t count = m_syntax.functions.size();
        m_module.registerRow.resize(count);
        m_module.returnRow.resize(count);
        m_module.start.resize(count);
        m_live.resize(count);
        m_end.resize(count);
        for (size_t f = 0; f < count; ++f) {
            m_module.returnRow[f] = row++;
            Slots slots = allocateSlots(m_syntax.functions[f]);
            for (uint32_t& r : slots.row)
                r += row;
            row += slots.rows + 2; // two more for what is named nowhere
            m_module.registerRow[f] = std::move(slots.row);
            m_live[f] = slots.live;
        }
        m_module.program.warpRows = row;
    }

    void function(uint32_t f)
    {
        const Function& function = m_syntax.functions[f];
        Program& program = m_module.program;
        m_module.start[f] = static_cast<uint32_t>(program.code.size());
        std::vector<uint32_t> first(function.statements.size() + 1);
        for (size_t s = 0; s < function.statements.size(); ++s) {
            first[s] = static_cast<uint32_t>(program.code.size());
            instruction(f, function.statements[s]);
        }
        // A function that ends without ret, or whose last label stands behind it, ends there.
        first.back() = static_cast<uint32_t>(program.code.size());
        Statement end;
        end.line = function.statements.empty() ? function.line : function.statements.back().line;
        end.opcode = {"ret"};
        instruction(f, end);
        for (size_t c = m_module.start[f]; c < program.code.size(); ++c) {
            Instruction& made = program.code[c];
            const Statement* const from = statementAt(function, first, c);
            if (!from || (from->opcode[0] != "bra" && from->opcode[0] != "brx"))
                continue;
            if (from->opcode[0] == "bra")
                made.target = first[made.target];
            else
                for (uint32_t k = 0; k < made.imm; ++k)
                    program.lists[made.list + k] = first[program.lists[made.list + k]];
        }
        m_end[f] = static_cast<uint32_t>(program.code.size());
    }

    static const Statement* statementAt(const Function& function, const std::vector<uint32_t>& first, size_t code)
    {
        const auto after = std::upper_bound(first.begin(), first.end(), static_cast<uint32_t>(code));
        const auto index = static_cast<size_t>(after - first.begin()) - 1;
        return index < function.statements.size() ? &function.statements[index] : nullptr;
    }

    void instruction(uint32_t f, const Statement& statement)
    {
        Decoding decoding(m_module, f, statement);
        for (const auto decode : {decodeControl, decodeMove, decodeMemory, decodeCompare, decodeConvert, decodeInteger,
                                  decodeFloat, decodeHalf, decodeBits, decodeAtomic, decodeLanes, decodeAsyncCopy})
            if (decode(decoding))
                return;
        decoding.refuseInstruction();
    }

    void kernel(uint32_t f)
    {
        const Function& function = m_syntax.functions[f];
        Kernel made;
        made.name = function.name;
        made.entry = m_module.start[f];
        uint64_t shared = m_moduleShared, local = reached(f).size() > 1 ? m_moduleLocal : 0, dynamicAlign = 1;
        for (uint32_t v = 0; v < m_syntax.variables.size(); ++v) {
            const Variable& variable = m_syntax.variables[v];
            if (variable.space == Space::Shared && variable.size == 0)
                dynamicAlign = std::max(dynamicAlign, variable.align);
            const bool isParameter = std::find(function.parameters.begin(), function.parameters.end(), v)
                                     != function.parameters.end();
            if (variable.owner != static_cast<int32_t>(f) || isParameter)
                continue;
            if (variable.space == Space::Shared)
                shared = std::max(shared, m_module.sharedOffset[v] + variable.size);
            else if (variable.space == Space::Local || variable.space == Space::Param)
                local = std::max(local, m_module.sharedOffset[v] + variable.size);
        }
        for (const uint32_t v : function.parameters) {
            const Variable& variable = m_syntax.variables[v];
            made.parameters.push_back({variable.name, static_cast<uint32_t>(m_module.sharedOffset[v]),
                                       static_cast<uint32_t>(variable.size), static_cast<uint32_t>(variable.align)});
            made.parameterBytes = made.parameters.back().offset + made.parameters.back().size;
        }
        made.staticShared = static_cast<uint32_t>(shared);
        made.dynamicAlign = static_cast<uint32_t>(std::max<uint64_t>(dynamicAlign, 16));
        made.localBytes = static_cast<uint32_t>(alignedTo(local, 16));
        made.maxThreads = function.maxThreads;
        made.requiredThreads = function.requiredThreads;
        made.isQuick = true;
        for (const uint32_t callee : reached(f)) {
            made.registers += m_live[callee];
            for (uint32_t c = m_module.start[callee]; c < m_end[callee]; ++c)
                made.isQuick &= m_module.program.code[c].quick != nullptr;
            for (const Statement& statement : m_syntax.functions[callee].statements)
                made.copiesAsynchronously |= statement.opcode[0] == "cp" && statement.opcode.size() > 2
                                             && statement.opcode[2] != "bulk";
        }
        made.registers = std::clamp(made.registers + 8, 16u, 255u);
        if (function.maxRegisters != 0)
            made.registers = std::min(made.registers, function.maxRegisters);
        m_module.program.kernels.push_back(std::move(made));
    }

    const Syntax& m_syntax;
    ModuleDecoder m_module;
    std::vector<uint32_t> m_live, m_end; // by function
    uint64_t m_moduleShared = 0, m_moduleLocal = 0;
};

} // namespace

const Kernel* Program::find(std::string_view name) const
{
    for (const Kernel& kernel : kernels)
        if (kernel.name == name)
            return &kernel;
    return nullptr;
}

std::variant<std::shared_ptr<const Program>, LoadError> load(std::string_view source)
{
    try {
        const std::unique_ptr<Syntax> syntax = parse(source);
        return std::make_shared<const Program>(Loader(*syntax).run());
    } catch (const Refusal& refusal) {
        return LoadError{refusal.line, refusal.what()};
    }
}

} // namespace lathe::ptx
