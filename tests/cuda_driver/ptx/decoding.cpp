#include "tests/cuda_driver/ptx/decoder.h"

#include <utility>

namespace lathe::ptx {

namespace {

struct SpecialRow
{
    std::string_view name;
    WarpRow row;
};

constexpr std::array<SpecialRow, 10> kWarpRows = {{
    {"%tid.x", WarpRow::ThreadX},
    {"%tid.y", WarpRow::ThreadY},
    {"%tid.z", WarpRow::ThreadZ},
    {"%laneid", WarpRow::Lane},
    {"%warpid", WarpRow::WarpIndex},
    {"%lanemask_eq", WarpRow::MaskEqual},
    {"%lanemask_lt", WarpRow::MaskLess},
    {"%lanemask_le", WarpRow::MaskLessEqual},
    {"%lanemask_gt", WarpRow::MaskGreater},
    {"%lanemask_ge", WarpRow::MaskGreaterEqual},
}};

struct SpecialConstant
{
    std::string_view name;
    Constant::Kind kind;
    uint32_t index;
};

constexpr std::array<SpecialConstant, 15> kBlockRows = {{
    {"%ctaid.x", Constant::Kind::BlockIndex, 0},
    {"%ctaid.y", Constant::Kind::BlockIndex, 1},
    {"%ctaid.z", Constant::Kind::BlockIndex, 2},
    {"%nctaid.x", Constant::Kind::GridSize, 0},
    {"%nctaid.y", Constant::Kind::GridSize, 1},
    {"%nctaid.z", Constant::Kind::GridSize, 2},
    {"%ntid.x", Constant::Kind::BlockSize, 0},
    {"%ntid.y", Constant::Kind::BlockSize, 1},
    {"%ntid.z", Constant::Kind::BlockSize, 2},
    {"%smid", Constant::Kind::Multiprocessor, 0},
    {"%nsmid", Constant::Kind::Multiprocessors, 0},
    {"%dynamic_smem_size", Constant::Kind::DynamicSharedSize, 0},
    {"%total_smem_size", Constant::Kind::TotalSharedSize, 0},
    {"%nwarpid", Constant::Kind::WarpCount, 0},
    {"%gridid", Constant::Kind::GridId, 0},
}};

/// The bits that a number of the text has as a value of this type.
uint64_t bitsAs(const Operand& operand, Type type, const Decoding& decoding)
{
    switch (operand.kind) {
    case Operand::Kind::Integer:
        if (type == Type::F64 || type == Type::F32)
            decoding.refuse("a whole number stands where a float does");
        return sizeOf(type) == 8 ? operand.bits : operand.bits & 0xffffffff;
    case Operand::Kind::Float32:
        if (type == Type::F64)
            return std::bit_cast<uint64_t>(
                static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits))));
        return operand.bits;
    case Operand::Kind::Float64:
        if (sizeOf(type) == 4)
            return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
        return operand.bits;
    default: decoding.refuse("an operand is no number");
    }
}

} // namespace

RowRef ModuleDecoder::constant(Constant::Kind kind, bool wide, uint32_t index, uint64_t bits)
{
    const auto [at, isNew] = constantRows.try_emplace({kind, wide, index, bits}, program.constantRows);
    if (isNew) {
        program.constants.push_back({kind, wide, index, bits, at->second});
        program.constantRows += wide ? 2 : 1;
    }
    return at->second * 2 + 1;
}

Decoding::Decoding(ModuleDecoder& module, uint32_t function, const Statement& statement)
    : m_module(module)
    , m_function(function)
    , m_statement(statement)
    , m_taken(statement.opcode.size(), false)
{
    m_taken[0] = true;
    m_made.line = statement.line;
    if (statement.guard >= 0) {
        m_made.guard = module.registerRow[function][static_cast<size_t>(statement.guard)] * 2;
        m_made.guardNegated = statement.guardNegated;
    }
}

std::string Decoding::fullName() const
{
    std::string full;
    for (const std::string_view part : m_statement.opcode)
        full += (full.empty() ? "" : ".") + std::string(part);
    return full;
}

void Decoding::refuse(const std::string& text) const
{
    throw Refusal(m_statement.line, fullName() + ": " + text);
}

void Decoding::refuseInstruction() const
{
    throw Refusal(m_statement.line, "the instruction " + fullName() + " is not one that this interpreter has");
}

bool Decoding::take(std::string_view modifier)
{
    for (size_t i = 1; i < m_taken.size(); ++i)
        if (!m_taken[i] && m_statement.opcode[i] == modifier) {
            m_taken[i] = true;
            return true;
        }
    return false;
}

Type Decoding::takeType()
{
    for (size_t i = 1; i < m_taken.size(); ++i) {
        if (m_taken[i])
            continue;
        if (const auto type = typeNamed(m_statement.opcode[i])) {
            m_taken[i] = true;
            return *type;
        }
    }
    return Type::None;
}

Rounding Decoding::takeRounding()
{
    if (take("rz") || take("rzi"))
        return Rounding::Zero;
    if (take("rm") || take("rmi"))
        return Rounding::Down;
    if (take("rp") || take("rpi"))
        return Rounding::Up;
    if (take("rna"))
        return Rounding::NearestAway;
    if (!take("rn"))
        take("rni");
    return Rounding::Nearest;
}

void Decoding::finishModifiers() const
{
    for (const bool taken : m_taken)
        if (!taken)
            refuseInstruction();
}

void Decoding::finish(size_t operands)
{
    finishModifiers();
    if (m_statement.operands.size() != operands)
        refuse("has " + std::to_string(m_statement.operands.size()) + " operands instead of "
               + std::to_string(operands));
}

const Operand& Decoding::operand(size_t index) const
{
    if (index >= m_statement.operands.size())
        refuse("operand " + std::to_string(index + 1) + " is missing");
    return m_statement.operands[index];
}

bool Decoding::isWide(const Operand& operand) const
{
    return operand.kind == Operand::Kind::Register && sizeOf(functionSyntax().registers[operand.index]) == 8;
}

RowRef Decoding::source(const Operand& operand, Type type)
{
    const bool wide = sizeOf(type) == 8;
    if (operand.negated)
        refuse("an operand that is no predicate cannot be negated");
    switch (operand.kind) {
    case Operand::Kind::Register: {
        const Type has = functionSyntax().registers[operand.index];
        if (has == Type::Pred || (sizeOf(has) == 8) != wide || operand.offset != 0)
            refuse("a register of type " + std::string(nameOf(has)) + " stands where one of type "
                   + std::string(nameOf(type)) + " is read");
        return m_module.registerRow[m_function][operand.index] * 2;
    }
    case Operand::Kind::Special: {
        for (const SpecialRow& row : kWarpRows)
            if (row.name == operand.name && !wide)
                return static_cast<uint32_t>(row.row) * 2;
        for (const SpecialConstant& row : kBlockRows)
            if (row.name == operand.name)
                return m_module.constant(row.kind, wide, row.index, 0);
        refuse("the register " + operand.name + " is not one that this interpreter has");
    }
    case Operand::Kind::Variable: {
        const Variable& variable = m_module.syntax.variables[operand.index];
        const uint64_t offset = static_cast<uint64_t>(operand.offset);
        if (variable.space == Space::Global || variable.space == Space::Const)
            return m_module.constant(Constant::Kind::GlobalAddress, wide, m_module.globalIndex[operand.index], offset);
        if (variable.space == Space::Shared && variable.size == 0)
            return m_module.constant(Constant::Kind::DynamicShared, wide, 0, offset);
        return m_module.constant(Constant::Kind::Value, wide, 0, m_module.sharedOffset[operand.index] + offset);
    }
    case Operand::Kind::Name: refuse("the name " + operand.name + " is not known here");
    default: return m_module.constant(Constant::Kind::Value, wide, 0, bitsAs(operand, type, *this));
    }
}

RowRef Decoding::destination(const Operand& operand, Type type, bool mayBeWider)
{
    const bool wide = sizeOf(type) == 8;
    if (operand.kind == Operand::Kind::Sink)
        return m_module.constant(Constant::Kind::Value, true, UINT32_MAX, 0); // written by many, read by nobody
    if (operand.kind != Operand::Kind::Register || operand.negated)
        refuse("the result does not go to a register");
    const Type has = functionSyntax().registers[operand.index];
    if (has == Type::Pred || (wide && sizeOf(has) != 8) || (!wide && sizeOf(has) == 8 && !mayBeWider))
        refuse("the result of type " + std::string(nameOf(type)) + " goes to a register of type "
               + std::string(nameOf(has)));
    return m_module.registerRow[m_function][operand.index] * 2;
}

RowRef Decoding::predicate(const Operand& operand)
{
    if (operand.negated)
        refuse("a predicate cannot be negated here");
    if (operand.kind == Operand::Kind::Integer) // "setp ..., 1" and the like: all lanes or none
        return m_module.constant(Constant::Kind::Value, false, 0, operand.bits != 0 ? kAllLanes : 0);
    if (operand.kind != Operand::Kind::Register || functionSyntax().registers[operand.index] != Type::Pred)
        refuse("an operand is no predicate");
    return m_module.registerRow[m_function][operand.index] * 2;
}

RowRef Decoding::predicate(const Operand& operand, bool& negated)
{
    Operand plain = operand;
    negated = std::exchange(plain.negated, false);
    return predicate(plain);
}

RowRef Decoding::predicateDestination(const Operand& operand)
{
    if (operand.kind == Operand::Kind::Sink)
        return m_module.constant(Constant::Kind::Value, true, UINT32_MAX, 0);
    if (operand.kind != Operand::Kind::Register || operand.negated)
        refuse("the result does not go to a predicate");
    return predicate(operand);
}

int64_t Decoding::immediate(size_t index) const
{
    const Operand& number = operand(index);
    if (number.kind != Operand::Kind::Integer)
        refuse("operand " + std::to_string(index + 1) + " is no whole number of the text, and no other is taken");
    return static_cast<int64_t>(number.bits);
}

void Decoding::address(size_t index, Space& space)
{
    const Operand& whole = operand(index);
    if (whole.kind != Operand::Kind::Address)
        refuse("operand " + std::to_string(index + 1) + " is no address");
    const Operand& base = whole.elements[0];
    m_made.imm = whole.offset;
    if (base.kind == Operand::Kind::Register) {
        const Type has = functionSyntax().registers[base.index];
        if (has == Type::Pred || sizeOf(has) < 4)
            refuse("an address is in a register of type " + std::string(nameOf(has)));
        m_made.wide = sizeOf(has) == 8;
        m_made.a = m_module.registerRow[m_function][base.index] * 2;
    } else if (base.kind == Operand::Kind::Variable) {
        const Variable& variable = m_module.syntax.variables[base.index];
        // Parameters of functions, and those of calls, are local memory of the thread.
        if (variable.space == Space::Param && !(variable.owner >= 0 && isEntryParameter(base.index)))
            space = Space::Local;
        else if (space == Space::Generic && variable.space != Space::Global && variable.space != Space::Const)
            space = variable.space;
        m_made.wide = true;
        m_made.a = source(base, Type::B64);
    } else if (base.kind == Operand::Kind::Integer) {
        m_made.wide = true;
        m_made.a = source(base, Type::B64);
    } else {
        refuse("an address begins neither with a register nor with a variable");
    }
    if (space == Space::Param && !functionSyntax().isEntry)
        space = Space::Local;
}

bool Decoding::isEntryParameter(uint32_t variable) const
{
    const Function& function = functionSyntax();
    return function.isEntry
           && std::find(function.parameters.begin(), function.parameters.end(), variable) != function.parameters.end();
}

void Decoding::number(uint32_t accesses)
{
    m_made.access = m_module.program.accesses;
    m_module.program.accesses += accesses;
}

void Decoding::emit(Handler handler, Handler quick)
{
    m_made.run = handler;
    m_made.quick = quick;
    m_module.program.code.push_back(m_made);
}

void Decoding::emit(const Instruction& instruction)
{
    m_module.program.code.push_back(instruction);
}

uint32_t Decoding::labelled(const std::string& label) const
{
    const Function& function = functionSyntax();
    for (int32_t at = static_cast<int32_t>(m_statement.scope); at >= 0;
         at = function.scopes[static_cast<size_t>(at)].parent) {
        const Scope& scope = function.scopes[static_cast<size_t>(at)];
        if (const auto found = scope.labels.find(label); found != scope.labels.end())
            return found->second;
    }
    refuse("there is no label " + label + " here");
}

std::vector<std::string> Decoding::branchTargets(const std::string& name) const
{
    const Function& function = functionSyntax();
    for (int32_t at = static_cast<int32_t>(m_statement.scope); at >= 0;
         at = function.scopes[static_cast<size_t>(at)].parent) {
        const Scope& scope = function.scopes[static_cast<size_t>(at)];
        if (const auto found = scope.targets.find(name); found != scope.targets.end())
            return found->second;
    }
    refuse("there is no list of labels " + name + " here");
}

} // namespace lathe::ptx
