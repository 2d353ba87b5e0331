#include "core/deploy/stub_object.h"

#include "core/support/message.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <map>

namespace lathe::deploy {

namespace {

struct StubMachine
{
    const char* name;
    std::uint16_t elf;
    std::vector<std::uint8_t> jump; ///< one instruction, its target left open
    std::uint64_t jumpField; ///< where the relocation applies
    std::uint32_t jumpRelocation, pointerRelocation;
    std::int64_t jumpAddend;
};

const StubMachine* findMachine(const std::string& name)
{
    static const StubMachine machines[] = {
        {"x86_64", EM_X86_64, {0xE9, 0, 0, 0, 0}, 1, R_X86_64_PLT32, R_X86_64_64, -4}, // jmp rel32
        {"aarch64", EM_AARCH64, {0, 0, 0, 0x14}, 0, R_AARCH64_JUMP26, R_AARCH64_ABS64, 0}, // b
    };
    for (const StubMachine& machine : machines)
        if (name == machine.name)
            return &machine;
    return nullptr;
}

/// Sections: null, .text, .rela.text, .data.rel.ro, its .rela, .rodata, .note.GNU-stack, .symtab, .strtab, .shstrtab.
enum SectionIndex : std::uint16_t
{
    kNull,
    kText,
    kRelaText,
    kTable,
    kRelaTable,
    kCount,
    kStack,
    kSymbols,
    kStrings,
    kNames,
    kSections
};

class Writer
{
public:
    explicit Writer(const StubMachine& machine)
        : m_machine(machine)
    {
        m_symbols.push_back(Elf64_Sym{});
    }

    void addFunction(const std::string& name, const std::string& target)
    {
        constexpr std::size_t kAlign = 16;
        std::vector<std::byte>& text = m_contents[kText];
        text.resize((text.size() + kAlign - 1) / kAlign * kAlign);
        const std::uint64_t at = text.size();
        for (const std::uint8_t byte : m_machine.jump)
            text.push_back(static_cast<std::byte>(byte));
        define(name, kText, at, m_machine.jump.size(), STT_FUNC, STV_DEFAULT);
        relocate(kRelaText, at + m_machine.jumpField, reference(target), m_machine.jumpRelocation,
                 m_machine.jumpAddend);
    }

    /// An array of pointers and, under another name, how many they are.
    void addTable(const std::string& name, const std::string& count, const std::vector<std::string>& symbols)
    {
        std::vector<std::byte>& table = m_contents[kTable];
        const std::uint64_t at = table.size();
        table.resize(at + (symbols.empty() ? 1 : symbols.size()) * 8);
        define(name, kTable, at, table.size() - at, STT_OBJECT, STV_HIDDEN);
        for (std::size_t i = 0; i < symbols.size(); ++i)
            relocate(kRelaTable, at + i * 8, reference(symbols[i]), m_machine.pointerRelocation, 0);
        const std::uint64_t size = symbols.size();
        define(count, kCount, m_contents[kCount].size(), sizeof size, STT_OBJECT, STV_HIDDEN);
        append(m_contents[kCount], &size, sizeof size);
    }

    std::vector<std::byte> finish()
    {
        append(m_contents[kSymbols], m_symbols.data(), m_symbols.size() * sizeof(Elf64_Sym));
        append(m_contents[kStrings], m_strings.data(), m_strings.size());
        Elf64_Shdr headers[kSections] = {};
        const auto section = [&](SectionIndex i, const char* name, std::uint32_t type, std::uint64_t flags,
                                 std::uint64_t align, std::uint64_t entry = 0, std::uint32_t link = 0,
                                 std::uint32_t info = 0) {
            headers[i].sh_name = static_cast<std::uint32_t>(m_names.size());
            m_names.append(name).push_back('\0');
            headers[i].sh_type = type;
            headers[i].sh_flags = flags;
            headers[i].sh_addralign = align;
            headers[i].sh_entsize = entry;
            headers[i].sh_link = link;
            headers[i].sh_info = info;
        };
        section(kText, ".text.lathe_stubs", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16);
        section(kRelaText, ".rela.text.lathe_stubs", SHT_RELA, SHF_INFO_LINK, 8, sizeof(Elf64_Rela), kSymbols, kText);
        section(kTable, ".data.rel.ro.lathe_tables", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8);
        section(kRelaTable, ".rela.data.rel.ro.lathe_tables", SHT_RELA, SHF_INFO_LINK, 8, sizeof(Elf64_Rela), kSymbols,
                kTable);
        section(kCount, ".rodata.lathe_counts", SHT_PROGBITS, SHF_ALLOC, 8);
        section(kStack, ".note.GNU-stack", SHT_PROGBITS, 0, 1);
        section(kSymbols, ".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym), kStrings,
                1); // info: the first that is not local
        section(kStrings, ".strtab", SHT_STRTAB, 0, 1);
        section(kNames, ".shstrtab", SHT_STRTAB, 0, 1);
        append(m_contents[kNames], m_names.data(), m_names.size());

        std::vector<std::byte> file(sizeof(Elf64_Ehdr));
        for (int i = kText; i < kSections; ++i) {
            file.resize((file.size() + 15) / 16 * 16);
            headers[i].sh_offset = file.size();
            headers[i].sh_size = m_contents[i].size();
            file.insert(file.end(), m_contents[i].begin(), m_contents[i].end());
        }
        file.resize((file.size() + 15) / 16 * 16);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_REL;
        header.e_machine = m_machine.elf;
        header.e_version = EV_CURRENT;
        header.e_shoff = file.size();
        header.e_ehsize = sizeof(Elf64_Ehdr);
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = kSections;
        header.e_shstrndx = kNames;
        std::memcpy(file.data(), &header, sizeof header);
        append(file, headers, sizeof headers);
        return file;
    }

private:
    static void append(std::vector<std::byte>& out, const void* data, std::size_t bytes)
    {
        const auto* const first = static_cast<const std::byte*>(data);
        out.insert(out.end(), first, first + bytes);
    }
    std::uint32_t addSymbol(const std::string& name, std::uint16_t section, std::uint64_t value, std::uint64_t size,
                            unsigned char type, unsigned char visibility)
    {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<std::uint32_t>(m_strings.size());
        m_strings.append(name).push_back('\0');
        symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
        symbol.st_other = visibility;
        symbol.st_shndx = section;
        symbol.st_value = value;
        symbol.st_size = size;
        m_symbols.push_back(symbol);
        return static_cast<std::uint32_t>(m_symbols.size() - 1);
    }
    void define(const std::string& name, SectionIndex section, std::uint64_t value, std::uint64_t size,
                unsigned char type, unsigned char visibility)
    {
        addSymbol(name, section, value, size, type, visibility);
    }
    std::uint32_t reference(const std::string& name)
    {
        const auto [place, isNew] = m_references.try_emplace(name, 0);
        if (isNew)
            place->second = addSymbol(name, SHN_UNDEF, 0, 0, STT_NOTYPE, STV_DEFAULT);
        return place->second;
    }
    void relocate(SectionIndex section, std::uint64_t at, std::uint32_t symbol, std::uint32_t type, std::int64_t addend)
    {
        const Elf64_Rela relocation{at, ELF64_R_INFO(symbol, type), addend};
        append(m_contents[section], &relocation, sizeof relocation);
    }

    const StubMachine& m_machine;
    std::vector<std::byte> m_contents[kSections];
    std::vector<Elf64_Sym> m_symbols;
    std::map<std::string, std::uint32_t> m_references;
    std::string m_strings = std::string(1, '\0');
    std::string m_names = std::string(1, '\0');
};

} // namespace

Result<std::vector<std::byte>> makeStubObject(const StubRequest& request)
{
    const StubMachine* const machine = findMachine(request.machine);
    if (machine == nullptr)
        return makeError(Errc::Unsupported, say(Msg::ExportNotYet, request.machine));
    Writer writer(*machine);
    for (const auto& [name, target] : request.functions)
        writer.addFunction(name, target);
    writer.addTable("lathe_0_phases", "lathe_0_phase_count", request.phases);
    writer.addTable("lathe_0_drivers", "lathe_0_driver_count", request.drivers);
    return writer.finish();
}

} // namespace lathe::deploy
