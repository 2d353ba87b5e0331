#include "core/deploy/shared_object.h"

#include "core/support/files.h"
#include "core/support/mapped_file.h"
#include "core/support/message.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>

namespace lathe::deploy {

namespace {

/// Reads records at file offsets; everything is checked against the file's size.
class Reader
{
public:
    explicit Reader(std::span<const std::byte> file)
        : m_file(file)
    {
    }

    template<typename T>
    std::optional<T> at(std::uint64_t offset) const
    {
        if (offset > m_file.size() || m_file.size() - offset < sizeof(T))
            return std::nullopt;
        T record;
        std::memcpy(&record, m_file.data() + offset, sizeof(T));
        return record;
    }
    std::optional<std::string> string(std::uint64_t table, std::uint64_t tableBytes, std::uint64_t offset) const
    {
        if (table > m_file.size() || tableBytes > m_file.size() - table || offset >= tableBytes)
            return std::nullopt;
        const char* const first = reinterpret_cast<const char*>(m_file.data()) + table + offset;
        const void* const end = std::memchr(first, '\0', tableBytes - offset);
        if (end == nullptr)
            return std::nullopt;
        return std::string(first, static_cast<const char*>(end));
    }

private:
    std::span<const std::byte> m_file;
};

std::optional<SharedObjectFacts> parse(const Reader& file)
{
    const auto header = file.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64
        || header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_DYN
        || header->e_shentsize != sizeof(Elf64_Shdr))
        return std::nullopt;
    std::vector<Elf64_Shdr> sections;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
        const auto section = file.at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
        if (!section)
            return std::nullopt;
        sections.push_back(*section);
    }
    const auto find = [&](std::uint32_t type) -> const Elf64_Shdr* {
        for (const Elf64_Shdr& section : sections)
            if (section.sh_type == type)
                return &section;
        return nullptr;
    };
    const Elf64_Shdr* const dynamic = find(SHT_DYNAMIC);
    const Elf64_Shdr* const symbols = find(SHT_DYNSYM);
    if (dynamic == nullptr || symbols == nullptr || dynamic->sh_link >= sections.size()
        || symbols->sh_link >= sections.size())
        return std::nullopt;
    SharedObjectFacts facts;
    facts.machine = header->e_machine == EM_X86_64 ? "x86_64" : header->e_machine == EM_AARCH64 ? "aarch64" : "";
    const auto linkedString = [&](const Elf64_Shdr& section, std::uint64_t offset) {
        return file.string(sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size, offset);
    };
    for (std::uint64_t i = 0; i < dynamic->sh_size / sizeof(Elf64_Dyn); ++i) {
        const auto entry = file.at<Elf64_Dyn>(dynamic->sh_offset + i * sizeof(Elf64_Dyn));
        if (!entry)
            return std::nullopt;
        if (entry->d_tag != DT_NEEDED && entry->d_tag != DT_SONAME)
            continue;
        const auto name = linkedString(*dynamic, entry->d_un.d_val);
        if (!name)
            return std::nullopt;
        if (entry->d_tag == DT_NEEDED)
            facts.needed.push_back(*name);
        else
            facts.soname = *name;
    }
    std::map<std::uint16_t, std::string> versions; // of imports, by index
    if (const Elf64_Shdr* const need = find(SHT_GNU_verneed); need != nullptr && need->sh_link < sections.size()) {
        std::uint64_t at = need->sh_offset;
        for (std::uint32_t i = 0; i < need->sh_info; ++i) {
            const auto file_ = file.at<Elf64_Verneed>(at);
            if (!file_)
                return std::nullopt;
            std::uint64_t aux = at + file_->vn_aux;
            for (std::uint16_t k = 0; k < file_->vn_cnt; ++k) {
                const auto version = file.at<Elf64_Vernaux>(aux);
                const auto name = version ? linkedString(*need, version->vna_name) : std::nullopt;
                if (!name)
                    return std::nullopt;
                versions[version->vna_other] = *name;
                aux += version->vna_next;
            }
            at += file_->vn_next;
        }
    }
    const Elf64_Shdr* const versionOf = find(SHT_GNU_versym);
    for (std::uint64_t i = 1; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
        const auto symbol = file.at<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
        const auto name = symbol ? linkedString(*symbols, symbol->st_name) : std::nullopt;
        if (!name)
            return std::nullopt;
        if (symbol->st_shndx != SHN_UNDEF) {
            facts.exported.push_back(*name);
            continue;
        }
        const auto version = versionOf != nullptr ? file.at<std::uint16_t>(versionOf->sh_offset + i * 2) : std::nullopt;
        const auto known = version ? versions.find(static_cast<std::uint16_t>(*version & 0x7fff)) : versions.end();
        facts.imported.push_back({*name, known != versions.end() ? known->second : std::string()});
    }
    return facts;
}

} // namespace

Result<SharedObjectFacts> readSharedObject(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const MappedFile mapped, MappedFile::open(file));
    std::optional<SharedObjectFacts> facts = parse(Reader(mapped.bytes()));
    if (!facts)
        return makeError(Errc::BadFile, say(Msg::NoSharedObject, file.string()));
    return *std::move(facts);
}

Result<std::string> findLibraryName(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const SharedObjectFacts facts, readSharedObject(file));
    constexpr std::string_view kPrefix = "lathe_", kSuffix = "_api_version";
    for (const std::string& symbol : facts.exported)
        if (symbol.starts_with(kPrefix) && symbol.ends_with(kSuffix) && symbol.size() > kPrefix.size() + kSuffix.size())
            return symbol.substr(kPrefix.size(), symbol.size() - kPrefix.size() - kSuffix.size());
    return makeError(Errc::BadFile, say(Msg::NoExportedNetwork, file.string()));
}

} // namespace lathe::deploy
