#include "plugins/cuda/model/sass.h"

#include "core/support/message.h"
#include "plugins/cuda/model/sass_operand.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace lathe::cuda {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostInstructions = 1'000'000;

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template<typename T>
std::optional<T> number(std::string_view text, int base)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

/// The text between `before` and `after`.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view after)
{
    const auto start = text.find(before);
    if (start == std::string_view::npos)
        return std::nullopt;
    const auto end = text.find(after, start + before.size());
    if (end == std::string_view::npos)
        return std::nullopt;
    return text.substr(start + before.size(), end - start - before.size());
}

struct NamedClass
{
    std::string_view name;
    SassClass kind;
};

/// Names without modifiers; those that begin with U are of the uniform unit unless they stand here.
constexpr NamedClass kClasses[] = {
    {"FFMA", SassClass::Ffma},
    {"FFMA2", SassClass::Ffma},
    {"FADD", SassClass::Float},
    {"FADD2", SassClass::Float},
    {"FMUL", SassClass::Float},
    {"FMUL2", SassClass::Float},
    {"FMNMX", SassClass::Float},
    {"FSETP", SassClass::Float},
    {"FSET", SassClass::Float},
    {"FSEL", SassClass::Float},
    {"FCHK", SassClass::Special},
    {"FSWZADD", SassClass::Float},
    {"DFMA", SassClass::Double},
    {"DADD", SassClass::Double},
    {"DMUL", SassClass::Double},
    {"DSETP", SassClass::Double},
    {"HFMA2", SassClass::Half},
    {"HADD2", SassClass::Half},
    {"HMUL2", SassClass::Half},
    {"HMNMX2", SassClass::Half},
    {"HSETP2", SassClass::Half},
    {"HMMA", SassClass::Matrix},
    {"IMMA", SassClass::Matrix},
    {"DMMA", SassClass::Matrix},
    {"HGMMA", SassClass::Matrix},
    {"IADD", SassClass::Integer},
    {"IADD3", SassClass::Integer},
    {"VIADD", SassClass::Integer},
    {"IABS", SassClass::Integer},
    {"LEA", SassClass::Integer},
    {"SHF", SassClass::Integer},
    {"SHL", SassClass::Integer},
    {"SHR", SassClass::Integer},
    {"LOP3", SassClass::Integer},
    {"PLOP3", SassClass::Integer},
    {"ISETP", SassClass::Integer},
    {"IMNMX", SassClass::Integer},
    {"VIMNMX", SassClass::Integer},
    {"BMSK", SassClass::Integer},
    {"SGXT", SassClass::Integer},
    {"FLO", SassClass::Special},
    {"POPC", SassClass::Special},
    {"IMAD", SassClass::IntegerMultiply},
    {"IDP", SassClass::IntegerMultiply},
    {"XMAD", SassClass::IntegerMultiply},
    {"MOV", SassClass::Move},
    {"MOV32I", SassClass::Move},
    {"SEL", SassClass::Move},
    {"PRMT", SassClass::Move},
    {"CS2R", SassClass::Move},
    {"P2R", SassClass::Move},
    {"R2P", SassClass::Move},
    {"S2R", SassClass::Special},
    {"S2UR", SassClass::Uniform},
    {"R2UR", SassClass::Uniform},
    {"MUFU", SassClass::Special},
    {"F2F", SassClass::Special},
    {"F2I", SassClass::Special},
    {"I2F", SassClass::Special},
    {"F2FP", SassClass::Special},
    {"I2FP", SassClass::Special},
    {"FRND", SassClass::Special},
    {"LDS", SassClass::SharedLoad},
    {"LDSM", SassClass::SharedLoad},
    {"STS", SassClass::SharedStore},
    {"LDG", SassClass::GlobalLoad},
    {"LD", SassClass::GlobalLoad},
    {"STG", SassClass::GlobalStore},
    {"ST", SassClass::GlobalStore},
    {"LDGSTS", SassClass::AsyncCopy},
    {"LDL", SassClass::LocalLoad},
    {"STL", SassClass::LocalStore},
    {"LDC", SassClass::ConstantLoad},
    {"LDCU", SassClass::Uniform},
    {"ATOM", SassClass::Atomic},
    {"ATOMG", SassClass::Atomic},
    {"ATOMS", SassClass::Atomic},
    {"RED", SassClass::Atomic},
    {"REDG", SassClass::Atomic},
    {"SHFL", SassClass::Shuffle},
    {"BAR", SassClass::Barrier},
    {"BRA", SassClass::Branch},
    {"BRX", SassClass::Branch},
    {"JMP", SassClass::Branch},
    {"EXIT", SassClass::Branch},
    {"RET", SassClass::Branch},
    {"CALL", SassClass::Branch},
    {"BSSY", SassClass::Branch},
    {"BSYNC", SassClass::Branch},
    {"BREAK", SassClass::Branch},
    {"WARPSYNC", SassClass::Branch},
};

SassClass classOf(const SassInstruction& instruction)
{
    const std::string_view base = instruction.base();
    for (const NamedClass& named : kClasses)
        if (named.name == base) {
            // HFMA2 of two zeros is how the compiler makes constants on an idle unit.
            const auto& operands = instruction.operands;
            const auto isZero = [&operands](std::size_t i) {
                return i < operands.size() && operands[i].kind == SassOperandKind::Register
                       && operands[i].index == kZeroRegister;
            };
            if (named.kind == SassClass::Half && isZero(1) && isZero(2))
                return SassClass::Move;
            // A product by one or of nothing is a copy.
            if (base == "IMAD" && instruction.has("MOV"))
                return SassClass::Move;
            return named.kind;
        }
    return base.starts_with("U") ? SassClass::Uniform : SassClass::Other;
}

bool isAccess(SassClass kind)
{
    switch (kind) {
    case SassClass::SharedLoad:
    case SassClass::SharedStore:
    case SassClass::GlobalLoad:
    case SassClass::GlobalStore:
    case SassClass::AsyncCopy:
    case SassClass::LocalLoad:
    case SassClass::LocalStore:
    case SassClass::ConstantLoad:
    case SassClass::Atomic: return true;
    default: return false;
    }
}

std::int32_t bytesOf(const SassInstruction& instruction)
{
    if (!isAccess(instruction.kind))
        return 0;
    for (const auto& [modifier, bytes] : {std::pair{"128", 16}, std::pair{"64", 8}, std::pair{"U8", 1},
                                          std::pair{"S8", 1}, std::pair{"U16", 2}, std::pair{"S16", 2}})
        if (instruction.has(modifier))
            return bytes;
    return 4;
}

/// The upper word of an encoding; the fields are where Jia et al. found them, at bit 105 of 128.
SassControl controlOf(std::uint64_t upper)
{
    const auto field = [upper](int bit, int width) {
        return static_cast<std::uint32_t>(upper >> (bit - 64)) & ((1U << width) - 1);
    };
    const auto counter = [](std::uint32_t value) { return value > 5 ? -1 : static_cast<std::int32_t>(value); };
    return {static_cast<std::int32_t>(field(105, 4)), counter(field(110, 3)), counter(field(113, 3)), field(116, 6)};
}

class Reader
{
public:
    explicit Reader(std::string_view text)
        : m_text(text)
    {
    }

    Result<SassModule> read()
    {
        if (m_text.size() > kMostBytes)
            return makeError(Errc::BadFile, say(Msg::SassTooLong, kMostBytes >> 20));
        for (std::size_t at = 0; at < m_text.size();) {
            const auto end = std::min(m_text.find('\n', at), m_text.size());
            ++m_line;
            LATHE_TRY(line(m_text.substr(at, end - at)));
            at = end + 1;
        }
        for (const auto& pending : m_branches) {
            auto& operand =
                m_module.kernels[pending.kernel].instructions[pending.instruction].operands[pending.operand];
            const auto label = m_labels.find({pending.kernel, operand.text});
            if (label == m_labels.end())
                return makeError(Errc::BadFile, say(Msg::SassNoLabel, operand.text));
            operand.value = label->second;
        }
        if (m_module.kernels.empty())
            return makeError(Errc::BadFile, say(Msg::SassNoKernel));
        for (SassKernel& kernel : m_module.kernels) {
            if (const auto found = m_facts.find(kernel.name); found != m_facts.end()) {
                kernel.registers = std::max(kernel.registers, found->second.registers);
                kernel.frameBytes = found->second.frameBytes;
                kernel.sharedBytes = found->second.sharedBytes;
            }
        }
        return std::move(m_module);
    }

private:
    struct Facts
    {
        std::int32_t registers = 0;
        std::int64_t sharedBytes = 0, frameBytes = 0;
    };
    struct Pending
    {
        std::size_t kernel, instruction, operand;
    };

    Error bad(const std::string& what) const { return makeError(Errc::BadFile, say(Msg::SassLine, m_line, what)); }

    SassKernel* current() { return m_inCode ? &m_module.kernels.back() : nullptr; }

    Result<> line(std::string_view whole)
    {
        const std::string_view text = trimmed(whole);
        if (text.empty())
            return {};
        if (text.starts_with(".section\t") || text.starts_with(".section "))
            return section(text);
        if (text.starts_with(".target")) {
            if (const auto name = text.find("sm_"); name != std::string_view::npos) {
                std::string_view digits = text.substr(name + 3);
                digits = digits.substr(0, digits.find_first_not_of("0123456789"));
                m_module.capability = number<std::int32_t>(digits, 10).value_or(0);
            }
            return {};
        }
        if (text.starts_with("//----- nvinfo : ")) {
            m_attribute = trimmed(text.substr(std::string_view("//----- nvinfo : ").size()));
            m_subject = {};
            return {};
        }
        if (text.starts_with(".sectioninfo")) {
            const auto digits = between(text, "SHI_REGISTERS=", "\"");
            if (digits && current() != nullptr)
                current()->registers = number<std::int32_t>(*digits, 10).value_or(0);
            return {};
        }
        if (text.starts_with(".zero") && !m_sharedOf.empty()) {
            const auto bytes = number<std::int64_t>(trimmed(text.substr(5)), 10);
            if (!bytes || *bytes < 0)
                return bad("has no number of bytes");
            m_facts[m_sharedOf].sharedBytes += *bytes;
            return {};
        }
        // Of a place in the code, or of a function that the compiler put behind a kernel ("$__internal_0_$..."), such
        // as quotients of rare operands: that is no code of the kernel.
        if ((text.front() == '.' || text.front() == '$') && text.back() == ':') {
            m_isBehind = m_isBehind || text.front() == '$';
            if (const SassKernel* kernel = current(); kernel != nullptr)
                m_labels[{m_module.kernels.size() - 1, std::string(text.substr(0, text.size() - 1))}] = nextAddress();
            return {};
        }
        if (!text.starts_with("/*"))
            return {};
        return current() != nullptr ? code(text) : info(text);
    }

    Result<> section(std::string_view text)
    {
        const std::string_view rest = trimmed(text.substr(8));
        const std::string_view name = rest.substr(0, rest.find(','));
        m_inCode = m_isBehind = false;
        m_sharedOf.clear();
        m_attribute = {};
        if (name.starts_with(".text.")) {
            m_inCode = true;
            m_module.kernels.push_back({});
            m_module.kernels.back().name = name.substr(6);
        } else if (name.starts_with(".nv.shared.") && !name.starts_with(".nv.shared.reserved")) {
            m_sharedOf = name.substr(11);
        }
        return {};
    }

    /// Attributes of kernels: a word that names one, then a word with the value.
    Result<> info(std::string_view text)
    {
        const auto word = text.find(".word");
        if (word == std::string_view::npos || m_attribute.empty())
            return {};
        const std::string_view value = trimmed(text.substr(word + 5));
        if (const auto name = between(value, "index@(", ")")) {
            m_subject = *name;
            return {};
        }
        if (m_subject.empty() || !value.starts_with("0x"))
            return {};
        const auto bits = number<std::uint32_t>(value.substr(2), 16);
        if (bits && m_attribute == "EIATTR_REGCOUNT")
            m_facts[std::string(m_subject)].registers = static_cast<std::int32_t>(std::min<std::uint32_t>(*bits, 255));
        if (bits && m_attribute == "EIATTR_FRAME_SIZE")
            m_facts[std::string(m_subject)].frameBytes = *bits;
        m_subject = {};
        return {};
    }

    std::uint32_t nextAddress() const
    {
        const auto& instructions = m_module.kernels.back().instructions;
        return instructions.empty() ? 0 : instructions.back().address + 16;
    }

    /// "/*0150*/ @!P0 BRA `(.L_x_12) ; /* 0x... */", or the second half of an encoding alone.
    Result<> code(std::string_view text)
    {
        const auto closing = text.find("*/");
        if (closing == std::string_view::npos)
            return bad("has a comment without an end");
        const std::string_view inside = trimmed(text.substr(2, closing - 2));
        std::string_view rest = trimmed(text.substr(closing + 2));
        auto& instructions = current()->instructions;
        if (rest.empty()) {
            const auto upper = inside.starts_with("0x") ? number<std::uint64_t>(inside.substr(2), 16) : std::nullopt;
            if (upper && !instructions.empty() && m_hasEncoding) {
                instructions.back().control = controlOf(*upper);
                m_hasEncoding = false;
            }
            return {};
        }
        if (rest.front() == '.' || m_isBehind)
            return {}; // data, or a function's
        const auto address = number<std::uint32_t>(inside, 16);
        if (!address)
            return bad("has no address");
        if (!instructions.empty() && *address <= instructions.back().address)
            return bad("has an address that is not behind the one before it");
        if (instructions.size() == kMostInstructions)
            return makeError(Errc::BadFile, say(Msg::SassTooManyInstructions, kMostInstructions));
        const auto semicolon = rest.find(';');
        if (semicolon == std::string_view::npos)
            return bad("has an instruction without an end");
        m_hasEncoding = rest.find("/* 0x", semicolon) != std::string_view::npos;
        return instruction(*address, trimmed(rest.substr(0, semicolon)));
    }

    Result<> instruction(std::uint32_t address, std::string_view text)
    {
        SassInstruction made;
        made.address = address;
        if (text.starts_with("@")) {
            const auto space = text.find_first_of(" \t");
            if (space == std::string_view::npos)
                return bad("has a condition and no instruction");
            const SassOperand guard = readSassOperand(text.substr(1, space - 1));
            if (guard.kind != SassOperandKind::Predicate && guard.kind != SassOperandKind::UniformPredicate)
                return bad("has a condition that is no predicate");
            made.guard = guard.index;
            made.isGuardNegated = guard.isNegated;
            made.isGuardUniform = guard.kind == SassOperandKind::UniformPredicate;
            text = trimmed(text.substr(space));
        }
        const auto space = std::min(text.find_first_of(" \t"), text.size());
        made.opcode = text.substr(0, space);
        if (made.opcode.empty())
            return bad("has no operation");
        for (const std::string_view part : splitSassOperands(trimmed(text.substr(space))))
            made.operands.push_back(readSassOperand(trimmed(part)));
        made.kind = classOf(made);
        made.bytes = bytesOf(made);
        const std::size_t kernel = m_module.kernels.size() - 1;
        auto& instructions = m_module.kernels[kernel].instructions;
        if (made.kind == SassClass::Branch)
            for (std::size_t i = 0; i < made.operands.size(); ++i)
                if (made.operands[i].kind == SassOperandKind::Label && !made.operands[i].text.empty())
                    m_branches.push_back({kernel, instructions.size(), i});
        instructions.push_back(std::move(made));
        return {};
    }

    std::string_view m_text;
    std::size_t m_line = 0;
    SassModule m_module;
    bool m_inCode = false;
    bool m_isBehind = false; ///< the code is that of a function behind the kernel
    bool m_hasEncoding = false; ///< of the last instruction, whose second half comes in the next line
    std::string m_sharedOf; ///< kernel whose shared memory the current section is
    std::string_view m_attribute, m_subject;
    std::map<std::string, Facts> m_facts;
    std::map<std::pair<std::size_t, std::string>, std::uint32_t> m_labels;
    std::vector<Pending> m_branches;
};

} // namespace

std::string_view toString(SassClass kind)
{
    static constexpr std::array<std::string_view, kSassClasses> kNames = {
        "FFMA",        "other float32", "float64",    "float16",    "tensor cores", "integer",
        "product",     "move",          "special",    "uniform",    "shared load",  "shared store",
        "global load", "global store",  "async copy", "local load", "local store",  "constant load",
        "atomic",      "shuffle",       "barrier",    "branch",     "other"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view SassInstruction::base() const
{
    return std::string_view(opcode).substr(0, opcode.find('.'));
}

bool SassInstruction::has(std::string_view modifier) const
{
    std::string_view rest = opcode;
    for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        rest = rest.substr(dot + 1);
        if (rest.substr(0, rest.find('.')) == modifier)
            return true;
    }
    return false;
}

std::optional<std::uint32_t> SassInstruction::target() const
{
    if (kind == SassClass::Branch && (base() == "BRA" || base() == "JMP"))
        for (const SassOperand& operand : operands)
            if (operand.kind == SassOperandKind::Label)
                return static_cast<std::uint32_t>(operand.value);
    return std::nullopt;
}

const SassKernel* SassModule::find(std::string_view name) const
{
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [name](const SassKernel& k) { return k.name == name; });
    return found == kernels.end() ? nullptr : &*found;
}

Result<SassModule> readSass(std::string_view text)
{
    return Reader(text).read();
}

} // namespace lathe::cuda
