#include "tests/cuda_driver/ptx/parser.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

namespace lathe::ptx {

namespace {

constexpr uint64_t kMostRegisters = 1 << 20;
constexpr uint64_t kMostBytes = uint64_t(1) << 32; // of one variable
constexpr size_t kMostScopes = 1 << 16;
constexpr int kMostNested = 64;

std::vector<std::string_view> splitAtDots(std::string_view word)
{
    std::vector<std::string_view> parts;
    while (true) {
        const size_t dot = word.find('.');
        parts.push_back(word.substr(0, dot));
        if (dot == std::string_view::npos)
            return parts;
        word.remove_prefix(dot + 1);
    }
}

class Parser
{
public:
    explicit Parser(std::string_view source)
        : m_syntax(std::make_unique<Syntax>())
        , m_tokens({})
    {
        m_syntax->source = source;
        m_tokens = TokenStream(tokensOf(m_syntax->source));
    }

    std::unique_ptr<Syntax> run()
    {
        header();
        while (!m_tokens.atEnd())
            moduleLine();
        return std::move(m_syntax);
    }

private:
    // --- of the module

    void header()
    {
        m_tokens.expect(".version", "at the beginning");
        const std::string version(m_tokens.take().text);
        if (std::sscanf(version.c_str(), "%2u.%2u", &m_syntax->versionMajor, &m_syntax->versionMinor) != 2)
            m_tokens.refuse("the version is no version: " + version);
        m_tokens.expect(".target", "behind the version");
        const std::string target(m_tokens.word("the target"));
        if (std::sscanf(target.c_str(), "sm_%4u", &m_syntax->target) != 1)
            m_tokens.refuse("the target is no sm_NN: " + target);
        while (m_tokens.accept(","))
            m_tokens.word("an option of the target");
        if (m_tokens.accept(".address_size") && m_tokens.size("the address size", 64) != 64)
            m_tokens.refuse("addresses of 32 bits are not taken, only of 64");
    }

    void moduleLine()
    {
        while (m_tokens.accept(".visible") || m_tokens.accept(".weak") || m_tokens.accept(".common"))
            ;
        const bool isExtern = m_tokens.accept(".extern");
        const std::string_view word = m_tokens.peek().text;
        if (m_tokens.accept(";"))
            return;
        if (word == ".entry" || word == ".func")
            function();
        else if (word == ".global" || word == ".const" || word == ".shared")
            variable(isExtern, -1, m_names);
        else if (word == ".file")
            fileLine();
        else if (word == ".section")
            section();
        else if (word == ".pragma" || word == ".alias")
            m_tokens.skipPast(";");
        else
            m_tokens.refuse("\"" + std::string(word)
                            + "\" is nothing that a module holds, as far as this interpreter knows");
    }

    void fileLine()
    {
        m_tokens.take();
        m_tokens.take();
        m_tokens.take();
        while (m_tokens.accept(","))
            m_tokens.take();
    }

    void section()
    {
        m_tokens.take();
        m_tokens.word("the name of a section");
        m_tokens.skipBraces();
    }

    static Space spaceOf(std::string_view word)
    {
        return word == ".const"    ? Space::Const
               : word == ".shared" ? Space::Shared
               : word == ".local"  ? Space::Local
               : word == ".param"  ? Space::Param
                                   : Space::Global;
    }

    /// .shared .align 4 .b8 name[1024] [= {...}];
    void variable(bool isExtern, int owner, std::unordered_map<std::string, uint32_t>& names)
    {
        const Space space = spaceOf(m_tokens.take().text);
        Variable made = declared(space);
        made.isExtern = isExtern;
        made.owner = owner;
        if (m_tokens.accept("="))
            made.initial = initial(made);
        if (made.size == 0 && (space != Space::Shared || !isExtern))
            m_tokens.refuse("variable " + made.name + " has no size");
        const uint32_t index = add(std::move(made));
        names[m_syntax->variables[index].name] = index;
        m_tokens.expect(";", "behind a variable");
    }

    uint32_t add(Variable&& variable)
    {
        m_syntax->variables.push_back(std::move(variable));
        return static_cast<uint32_t>(m_syntax->variables.size() - 1);
    }

    /// Alignment, type, name and sizes.
    Variable declared(Space space)
    {
        uint64_t elements = 1, alignment = 0;
        Type type = Type::None;
        while (m_tokens.peek().kind == Token::Kind::Word && m_tokens.peek().text.starts_with(".")) {
            const std::string_view word = m_tokens.take().text;
            if (word == ".align")
                alignment = m_tokens.size("an alignment", 1 << 16);
            else if (word == ".v2" || word == ".v4")
                elements = word == ".v2" ? 2 : 4;
            else if (word == ".ptr" || word == ".global" || word == ".const" || word == ".shared" || word == ".local")
                continue; // what a parameter points to
            else if (const auto named = typeNamed(word.substr(1)))
                type = *named;
            else
                m_tokens.refuse("\"" + std::string(word) + "\" is no type of a variable");
        }
        if (type == Type::None || type == Type::Pred)
            m_tokens.refuse("the type of a variable is missing");
        Variable made;
        made.space = space;
        made.name = m_tokens.word("the name of a variable");
        made.size = sizeOf(type) * elements;
        made.align = std::max<uint64_t>({alignment, made.size, 1});
        if ((made.align & (made.align - 1)) != 0)
            m_tokens.refuse("the alignment " + std::to_string(made.align) + " is no power of two");
        while (m_tokens.accept("[")) {
            if (m_tokens.accept("]")) {
                made.size = 0;
                continue;
            }
            made.size *= m_tokens.size("the size of an array", kMostBytes);
            if (made.size > kMostBytes)
                m_tokens.refuse("variable " + made.name + " is larger than " + std::to_string(kMostBytes) + " bytes");
            m_tokens.expect("]", "behind the size of an array");
        }
        m_elementSize = sizeOf(type);
        m_elementType = type;
        return made;
    }

    std::vector<std::byte> initial(const Variable& of)
    {
        const unsigned size = m_elementSize;
        std::vector<std::byte> bytes;
        int depth = 0;
        do {
            if (m_tokens.accept("{")) {
                ++depth;
            } else if (m_tokens.accept("}")) {
                --depth;
            } else if (!m_tokens.accept(",")) {
                if (!m_tokens.at("-") && !literal(m_tokens.peek().text))
                    m_tokens.refuse("the initial value of " + of.name
                                    + " is no number, which this interpreter does not take");
                const uint64_t bits = initialBits(number(), of);
                const size_t place = bytes.size();
                if (place + size > of.size)
                    m_tokens.refuse("variable " + of.name + " has more initial values than room");
                bytes.resize(place + size);
                std::memcpy(bytes.data() + place, &bits, size);
            }
        } while (depth > 0 && !m_tokens.atEnd());
        bytes.resize(of.size);
        return bytes;
    }

    /// As it lies in memory.
    uint64_t initialBits(const Operand& number, const Variable& of) const
    {
        const bool isFloating = m_elementType == Type::F32 || m_elementType == Type::F64;
        if (isFloating && number.kind == Operand::Kind::Integer)
            m_tokens.refuse("a whole number is the initial value of " + of.name + ", which holds floats");
        const auto single = std::bit_cast<float>(static_cast<uint32_t>(number.bits));
        if (number.kind == Operand::Kind::Float32 && m_elementType == Type::F64)
            return std::bit_cast<uint64_t>(static_cast<double>(single));
        if (number.kind == Operand::Kind::Float64 && m_elementType == Type::F32)
            return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(number.bits)));
        return number.bits;
    }

    // --- of a function

    void function()
    {
        const bool isEntry = m_tokens.take().text == ".entry";
        auto made = std::make_unique<Function>();
        made->isEntry = isEntry;
        made->scopes.emplace_back();
        m_function = made.get();
        m_owner = static_cast<int32_t>(m_syntax->functions.size());
        while (m_tokens.accept(".noreturn"))
            ;
        if (!isEntry && m_tokens.at("("))
            made->results = formals();
        made->line = m_tokens.peek().line;
        made->name = m_tokens.word("the name of a function");
        if (m_tokens.at("("))
            made->parameters = formals();
        limits();
        if (m_tokens.accept(";")) {
            made->isDeclared = true;
        } else {
            m_tokens.expect("{", "in front of the body of a function");
            body();
        }
        m_function = nullptr;
        m_syntax->functions.push_back(std::move(*made)); // a declaration, too: calls look for the body by name
    }

    std::vector<uint32_t> formals()
    {
        std::vector<uint32_t> made;
        m_tokens.expect("(", "in front of parameters");
        while (!m_tokens.accept(")")) {
            if (!m_tokens.accept(".param"))
                m_tokens.refuse("a parameter that does not lie in .param is not taken");
            Variable parameter = declared(Space::Param);
            parameter.owner = m_owner;
            const std::string name = parameter.name;
            made.push_back(add(std::move(parameter)));
            m_function->scopes[0].variables[name] = made.back();
            if (!m_tokens.at(")"))
                m_tokens.expect(",", "between parameters");
        }
        return made;
    }

    void limits()
    {
        const auto three = [this](std::array<uint32_t, 3>& into) {
            into = {1, 1, 1};
            for (size_t i = 0; i < 3; ++i) {
                into[i] = static_cast<uint32_t>(m_tokens.size("a number of threads", UINT32_MAX));
                if (!m_tokens.accept(","))
                    break;
            }
        };
        while (m_tokens.peek().text.starts_with(".")) {
            const std::string_view word = m_tokens.take().text;
            if (word == ".maxntid")
                three(m_function->maxThreads);
            else if (word == ".reqntid")
                three(m_function->requiredThreads);
            else if (word == ".minnctapersm" || word == ".maxnctapersm")
                m_tokens.size("a number of blocks", UINT32_MAX);
            else if (word == ".maxnreg")
                m_function->maxRegisters = static_cast<uint32_t>(m_tokens.size("a number of registers", UINT32_MAX));
            else if (word == ".pragma")
                m_tokens.skipPast(";");
            else if (word != ".noreturn")
                m_tokens.refuse("\"" + std::string(word) + "\" is no limit of a function that this interpreter knows");
        }
    }

    void body()
    {
        m_scope = 0;
        m_usedBytes = UINT32_MAX;
        int depth = 1;
        while (depth > 0) {
            if (m_tokens.atEnd())
                m_tokens.refuse("the body of function " + m_function->name + " does not end");
            if (m_tokens.accept("{")) {
                if (++depth > kMostNested || m_function->scopes.size() > kMostScopes)
                    m_tokens.refuse("braces are nested too deep");
                m_function->scopes.push_back({static_cast<int32_t>(m_scope), {}, {}, {}, {}});
                m_scope = static_cast<unsigned>(m_function->scopes.size() - 1);
            } else if (m_tokens.accept("}")) {
                if (--depth > 0)
                    m_scope = static_cast<unsigned>(m_function->scopes[m_scope].parent);
            } else {
                bodyLine();
            }
        }
    }

    Scope& scope() { return m_function->scopes[m_scope]; }

    void bodyLine()
    {
        const std::string_view word = m_tokens.peek().text;
        if (m_tokens.accept(";"))
            return;
        if (word == ".reg")
            registers();
        else if (word == ".shared" || word == ".local" || word == ".param" || word == ".global" || word == ".const")
            variable(false, m_owner, scope().variables);
        else if (word == ".loc")
            location();
        else if (word == ".pragma")
            pragma();
        else if (word == ".attribute")
            m_tokens.skipPast(";");
        else if (word == ".section")
            section();
        else if (m_tokens.peek().kind == Token::Kind::Word && m_tokens.peek(1).text == ":")
            label();
        else
            statement();
    }

    /// .pragma "used_bytes_mask 0xfff"; is of the instruction that comes next. No other one changes what code does.
    void pragma()
    {
        constexpr std::string_view kUsed = "used_bytes_mask";
        m_tokens.take();
        while (!m_tokens.accept(";")) {
            if (m_tokens.atEnd())
                m_tokens.refuse("\";\" is missing: the text ends here");
            const Token& token = m_tokens.peek();
            if (token.kind == Token::Kind::Text && token.text.starts_with(kUsed)) {
                std::string_view rest = token.text.substr(kUsed.size());
                while (rest.starts_with(' '))
                    rest.remove_prefix(1);
                const std::optional<Operand> mask = literal(rest);
                if (!mask || mask->kind != Operand::Kind::Integer || mask->bits > UINT32_MAX)
                    m_tokens.refuse("\"" + std::string(token.text) + "\" has no mask of 32 bits");
                m_usedBytes = static_cast<uint32_t>(mask->bits);
            }
            m_tokens.take();
        }
    }

    /// .loc FILE LINE COLUMN [, function_name NAME, inlined_at FILE LINE COLUMN]
    void location()
    {
        m_tokens.take();
        for (const char* const what : {"the file of a .loc", "the line of a .loc", "the column of a .loc"})
            m_tokens.size(what, UINT32_MAX);
        while (m_tokens.accept(",")) {
            const bool isName = m_tokens.word("what a .loc tells") == "function_name";
            m_tokens.take(); // a name, or a file
            if (isName && m_tokens.accept("+"))
                m_tokens.take();
            if (isName)
                continue;
            m_tokens.size("the line of a .loc", UINT32_MAX);
            m_tokens.size("the column of a .loc", UINT32_MAX);
        }
    }

    void label()
    {
        const unsigned line = m_tokens.peek().line;
        const std::string name(m_tokens.take().text);
        m_tokens.expect(":", "behind a label");
        if (m_tokens.accept(".branchtargets")) {
            std::vector<std::string>& targets = scope().targets[name];
            do {
                targets.emplace_back(m_tokens.word("a label"));
            } while (m_tokens.accept(","));
            m_tokens.expect(";", "behind labels");
            return;
        }
        if (m_tokens.at(".callprototype") || m_tokens.at(".calltargets"))
            m_tokens.refuse("calls of functions through pointers are not taken");
        if (!scope().labels.emplace(name, static_cast<uint32_t>(m_function->statements.size())).second)
            throw Refusal(line, "label " + name + " stands here for the second time");
    }

    void registers()
    {
        m_tokens.take();
        const std::string_view word = m_tokens.word("the type of registers");
        const auto type = typeNamed(word.substr(1));
        if (!type)
            m_tokens.refuse("\"" + std::string(word) + "\" is no type of a register that this interpreter knows");
        do {
            const std::string name(m_tokens.word("the name of a register"));
            if (m_tokens.accept("<")) {
                const uint64_t count = m_tokens.size("a number of registers", kMostRegisters);
                m_tokens.expect(">", "behind a number of registers");
                for (uint64_t i = 0; i < count; ++i)
                    addRegister(name + std::to_string(i), *type);
            } else {
                addRegister(name, *type);
            }
        } while (m_tokens.accept(","));
        m_tokens.expect(";", "behind registers");
    }

    void addRegister(const std::string& name, Type type)
    {
        if (m_function->registers.size() >= kMostRegisters)
            m_tokens.refuse("function " + m_function->name + " has more than " + std::to_string(kMostRegisters)
                            + " registers");
        scope().registers[name] = static_cast<uint32_t>(m_function->registers.size());
        m_function->registers.push_back(type);
    }

    void statement()
    {
        Statement made;
        made.line = m_tokens.peek().line;
        made.scope = m_scope;
        made.usedBytes = std::exchange(m_usedBytes, UINT32_MAX);
        if (m_tokens.accept("@")) {
            made.guardNegated = m_tokens.accept("!");
            const std::string_view name = m_tokens.word("a predicate");
            const auto found = registerNamed(name);
            if (!found || m_function->registers[*found] != Type::Pred)
                m_tokens.refuse("\"" + std::string(name) + "\" is no predicate");
            made.guard = static_cast<int32_t>(*found);
        }
        if (m_tokens.peek().kind != Token::Kind::Word || m_tokens.peek().text[0] == '.'
            || m_tokens.peek().text[0] == '%')
            m_tokens.refuse("\"" + std::string(m_tokens.peek().text) + "\" begins no instruction");
        made.opcode = splitAtDots(m_tokens.take().text);
        if (!m_tokens.at(";")) {
            do {
                made.operands.push_back(operand(0));
            } while (m_tokens.accept(","));
        }
        m_tokens.expect(";", "behind the instruction \"" + std::string(made.opcode[0]) + "\"");
        m_function->statements.push_back(std::move(made));
    }

    std::optional<uint32_t> registerNamed(std::string_view name)
    {
        const std::string key(name);
        for (int32_t at = static_cast<int32_t>(m_scope); at >= 0; at = m_function->scopes[at].parent)
            if (const auto found = m_function->scopes[at].registers.find(key);
                found != m_function->scopes[at].registers.end())
                return found->second;
        return std::nullopt;
    }

    std::optional<uint32_t> variableNamed(std::string_view name)
    {
        const std::string key(name);
        for (int32_t at = static_cast<int32_t>(m_scope); at >= 0; at = m_function->scopes[at].parent)
            if (const auto found = m_function->scopes[at].variables.find(key);
                found != m_function->scopes[at].variables.end())
                return found->second;
        const auto found = m_names.find(key);
        return found == m_names.end() ? std::nullopt : std::optional(found->second);
    }

    Operand operand(int depth)
    {
        if (depth > 4)
            m_tokens.refuse("operands are nested too deep");
        Operand made;
        if (m_tokens.accept("[")) {
            made.kind = Operand::Kind::Address;
            made.elements.push_back(operand(depth + 1));
            made.offset = std::exchange(made.elements[0].offset, 0);
            m_tokens.expect("]", "behind an address");
        } else if (m_tokens.at("{") || m_tokens.at("(")) {
            const bool vector = m_tokens.take().text == "{";
            made.kind = vector ? Operand::Kind::Vector : Operand::Kind::List;
            while (!m_tokens.accept(vector ? "}" : ")")) {
                made.elements.push_back(operand(depth + 1));
                if (made.elements.size() > 256)
                    m_tokens.refuse("a list of operands is too long");
                if (!m_tokens.at(vector ? "}" : ")"))
                    m_tokens.expect(",", "between operands");
            }
        } else if (m_tokens.accept("!")) {
            made = operand(depth + 1);
            made.negated = !made.negated;
        } else if (m_tokens.at("-") || m_tokens.peek().kind == Token::Kind::Number) {
            made = number();
        } else {
            made = named();
        }
        if (m_tokens.accept("|"))
            made.second = std::make_shared<Operand>(operand(depth + 1));
        return made;
    }

    Operand number()
    {
        const bool negative = m_tokens.accept("-");
        const auto made = literal(m_tokens.peek().text);
        if (!made)
            m_tokens.refuse("\"" + std::string(m_tokens.peek().text) + "\" is no number");
        m_tokens.take();
        Operand operand = *made;
        if (!negative)
            return operand;
        operand.bits = operand.kind == Operand::Kind::Float64   ? operand.bits ^ (uint64_t(1) << 63)
                       : operand.kind == Operand::Kind::Float32 ? operand.bits ^ (uint64_t(1) << 31)
                                                                : 0 - operand.bits;
        return operand;
    }

    Operand named()
    {
        Operand made;
        const std::string_view name = m_tokens.word("an operand");
        if (name == "_")
            return made;
        if (const auto found = registerNamed(name)) {
            made.kind = Operand::Kind::Register;
            made.index = *found;
        } else if (const auto variable = variableNamed(name)) {
            made.kind = Operand::Kind::Variable;
            made.index = *variable;
        } else if (name.starts_with("%")) {
            made.kind = Operand::Kind::Special;
            made.name = name;
            return made;
        } else {
            made.kind = Operand::Kind::Name;
            made.name = name;
            return made;
        }
        while (m_tokens.at("+") || m_tokens.at("-")) {
            const bool minus = m_tokens.take().text == "-";
            const Operand by = number();
            if (by.kind != Operand::Kind::Integer)
                m_tokens.refuse("an offset is no whole number");
            made.offset = static_cast<int64_t>(static_cast<uint64_t>(made.offset) + (minus ? 0 - by.bits : by.bits));
        }
        return made;
    }

    std::unique_ptr<Syntax> m_syntax;
    TokenStream m_tokens;
    std::unordered_map<std::string, uint32_t> m_names; // variables of the module
    Function* m_function = nullptr;
    int32_t m_owner = -1;
    unsigned m_scope = 0;
    uint32_t m_usedBytes = UINT32_MAX; // of the next statement
    unsigned m_elementSize = 1; // of the variable that was read last
    Type m_elementType = Type::None; // likewise
};

} // namespace

std::unique_ptr<Syntax> parse(std::string_view source)
{
    return Parser(source).run();
}

} // namespace lathe::ptx
