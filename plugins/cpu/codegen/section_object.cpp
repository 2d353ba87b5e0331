#include "plugins/cpu/codegen/section_object.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/TargetParser/Triple.h>

#include <bit>
#include <cstring>

namespace lathe::cpu {

namespace ELF = llvm::ELF;

namespace {

/// Offset of `text` in a string table, which grows by it.
std::uint32_t intern(std::string& table, const std::string& text)
{
    const auto at = static_cast<std::uint32_t>(table.size());
    table += text;
    table.push_back('\0');
    return at;
}

void place(std::vector<std::byte>& file, std::size_t at, const void* data, std::size_t bytes)
{
    if (bytes > 0)
        std::memcpy(file.data() + at, data, bytes);
}

std::size_t alignUp(std::size_t at, std::size_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

} // namespace

Result<std::vector<std::byte>> makeSectionObject(std::span<const backend::BinarySection> sections, const std::string& triple)
{
    const llvm::Triple parsed(triple);
    const bool isX86 = parsed.getArch() == llvm::Triple::x86_64;
    if (!isX86 && parsed.getArch() != llvm::Triple::aarch64)
        return makeError(Errc::Unsupported, fmt::format("binary sections cannot be written for '{}'", triple));
    if constexpr (std::endian::native != std::endian::little)
        return makeError(Errc::Unsupported, "binary sections are written on little-endian machines only");

    // Sections: null, one per request, .note.GNU-stack, .symtab, .strtab, .shstrtab. Symbols: null, two per request.
    std::string strings(1, '\0');
    std::string names(1, '\0');
    std::vector<ELF::Elf64_Shdr> headers(1, ELF::Elf64_Shdr{});
    std::vector<ELF::Elf64_Sym> symbols(1, ELF::Elf64_Sym{});
    std::size_t at = sizeof(ELF::Elf64_Ehdr);
    for (const backend::BinarySection& section : sections) {
        if (section.alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(section.alignment)))
            return makeError(Errc::InvalidArgument, fmt::format("section '{}' asks for an alignment of {}", section.symbol, section.alignment));
        at = alignUp(at, static_cast<std::size_t>(section.alignment));
        ELF::Elf64_Shdr header{};
        header.sh_name = intern(names, ".rodata." + section.symbol);
        header.sh_type = ELF::SHT_PROGBITS;
        header.sh_flags = ELF::SHF_ALLOC;
        header.sh_offset = at;
        header.sh_size = section.bytes.size();
        header.sh_addralign = static_cast<std::uint64_t>(section.alignment);
        for (const bool isEnd : {false, true}) {
            ELF::Elf64_Sym symbol{};
            symbol.st_name = intern(strings, isEnd ? section.symbol + "_end" : section.symbol);
            symbol.setBindingAndType(ELF::STB_GLOBAL, isEnd ? ELF::STT_NOTYPE : ELF::STT_OBJECT);
            symbol.st_other = ELF::STV_HIDDEN;
            symbol.st_shndx = static_cast<std::uint16_t>(headers.size());
            symbol.st_value = isEnd ? section.bytes.size() : 0;
            symbol.st_size = isEnd ? 0 : section.bytes.size();
            symbols.push_back(symbol);
        }
        headers.push_back(header);
        at += section.bytes.size();
    }
    ELF::Elf64_Shdr stack{};
    stack.sh_name = intern(names, ".note.GNU-stack");
    stack.sh_type = ELF::SHT_PROGBITS;
    stack.sh_addralign = 1;
    stack.sh_offset = at;
    headers.push_back(stack);

    ELF::Elf64_Shdr symtab{};
    symtab.sh_name = intern(names, ".symtab");
    symtab.sh_type = ELF::SHT_SYMTAB;
    symtab.sh_addralign = 8;
    symtab.sh_entsize = sizeof(ELF::Elf64_Sym);
    symtab.sh_info = 1; // the first that is not local
    symtab.sh_link = static_cast<std::uint32_t>(headers.size() + 1);
    ELF::Elf64_Shdr strtab{};
    strtab.sh_name = intern(names, ".strtab");
    strtab.sh_type = ELF::SHT_STRTAB;
    strtab.sh_addralign = 1;
    ELF::Elf64_Shdr shstrtab = strtab;
    shstrtab.sh_name = intern(names, ".shstrtab");
    at = alignUp(at, 8);
    symtab.sh_offset = at;
    symtab.sh_size = symbols.size() * sizeof(ELF::Elf64_Sym);
    at += symtab.sh_size;
    strtab.sh_offset = at;
    strtab.sh_size = strings.size();
    at += strings.size();
    shstrtab.sh_offset = at;
    shstrtab.sh_size = names.size();
    at += names.size();
    headers.insert(headers.end(), {symtab, strtab, shstrtab});
    const std::size_t headerOffset = alignUp(at, 8);

    ELF::Elf64_Ehdr file{};
    std::memcpy(file.e_ident, ELF::ElfMagic, 4);
    file.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
    file.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
    file.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
    file.e_type = ELF::ET_REL;
    file.e_machine = isX86 ? ELF::EM_X86_64 : ELF::EM_AARCH64;
    file.e_version = ELF::EV_CURRENT;
    file.e_shoff = headerOffset;
    file.e_ehsize = sizeof(ELF::Elf64_Ehdr);
    file.e_shentsize = sizeof(ELF::Elf64_Shdr);
    file.e_shnum = static_cast<std::uint16_t>(headers.size());
    file.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);

    std::vector<std::byte> out(headerOffset + headers.size() * sizeof(ELF::Elf64_Shdr));
    place(out, 0, &file, sizeof(file));
    for (std::size_t i = 0; i < sections.size(); ++i)
        place(out, headers[i + 1].sh_offset, sections[i].bytes.data(), sections[i].bytes.size());
    place(out, symtab.sh_offset, symbols.data(), symtab.sh_size);
    place(out, strtab.sh_offset, strings.data(), strings.size());
    place(out, shstrtab.sh_offset, names.data(), names.size());
    place(out, headerOffset, headers.data(), headers.size() * sizeof(ELF::Elf64_Shdr));
    return out;
}

} // namespace lathe::cpu
