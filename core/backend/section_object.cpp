#include "core/backend/section_object.h"

#include "core/support/message.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace lathe::backend {

namespace {

/// SHF_X86_64_LARGE, which not every <elf.h> has.
constexpr std::uint64_t kX86Large = 0x10000000;

/// Offset of `text` in a string table, which grows by it.
std::uint32_t intern(std::string& table, const std::string& text)
{
    const auto at = static_cast<std::uint32_t>(table.size());
    table += text;
    table.push_back('\0');
    return at;
}

void append(std::vector<std::byte>& out, const void* data, std::size_t bytes)
{
    const auto* const first = static_cast<const std::byte*>(data);
    out.insert(out.end(), first, first + bytes);
}

std::uint64_t alignUp(std::uint64_t at, std::uint64_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

/// A section whose contents stand at `at` in the object.
struct Placed
{
    std::string symbol;
    std::uint64_t at = 0;
    std::uint64_t size = 0;
    std::int64_t alignment = 1;
    bool large = false;
};

/// What an object has around the contents of its sections.
struct Frame
{
    Elf64_Ehdr head{};
    std::uint64_t tailAt = 0;
    std::vector<std::byte> tail;
};

Result<> checkAlignment(const BinarySection& section)
{
    if (section.alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(section.alignment)))
        return makeError(Errc::InvalidArgument,
                         fmt::format("section '{}' asks for an alignment of {}", section.symbol, section.alignment));
    return {};
}

Result<Frame> frameOf(std::span<const Placed> sections, std::uint64_t end, const std::string& machine)
{
    const bool isX86 = machine == "x86_64";
    if (!isX86 && machine != "aarch64")
        return makeError(Errc::Unsupported, fmt::format("binary sections cannot be written for '{}'", machine));
    if constexpr (std::endian::native != std::endian::little)
        return makeError(Errc::Unsupported, "binary sections are written on little-endian machines only");

    // Sections: null, one per request, .note.GNU-stack, .symtab, .strtab, .shstrtab. Symbols: null, two per request.
    std::string strings(1, '\0');
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> headers(1, Elf64_Shdr{});
    std::vector<Elf64_Sym> symbols(1, Elf64_Sym{});
    for (const Placed& section : sections) {
        const bool far = section.large && isX86;
        Elf64_Shdr header{};
        header.sh_name = intern(names, (far ? ".lrodata." : ".rodata.") + section.symbol);
        header.sh_type = SHT_PROGBITS;
        header.sh_flags = SHF_ALLOC | (far ? kX86Large : 0);
        header.sh_offset = section.at;
        header.sh_size = section.size;
        header.sh_addralign = static_cast<std::uint64_t>(section.alignment);
        for (const bool isEnd : {false, true}) {
            Elf64_Sym symbol{};
            symbol.st_name = intern(strings, isEnd ? section.symbol + "_end" : section.symbol);
            symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, isEnd ? STT_NOTYPE : STT_OBJECT));
            symbol.st_other = STV_HIDDEN;
            symbol.st_shndx = static_cast<std::uint16_t>(headers.size());
            symbol.st_value = isEnd ? section.size : 0;
            symbol.st_size = isEnd ? 0 : section.size;
            symbols.push_back(symbol);
        }
        headers.push_back(header);
    }
    Frame frame;
    frame.tailAt = alignUp(end, 8);
    const auto place = [&frame] { return frame.tailAt + frame.tail.size(); };
    Elf64_Shdr stack{};
    stack.sh_name = intern(names, ".note.GNU-stack");
    stack.sh_type = SHT_PROGBITS;
    stack.sh_addralign = 1;
    stack.sh_offset = place();
    headers.push_back(stack);

    Elf64_Shdr symtab{};
    symtab.sh_name = intern(names, ".symtab");
    symtab.sh_type = SHT_SYMTAB;
    symtab.sh_addralign = 8;
    symtab.sh_entsize = sizeof(Elf64_Sym);
    symtab.sh_info = 1; // the first that is not local
    symtab.sh_link = static_cast<std::uint32_t>(headers.size() + 1);
    Elf64_Shdr strtab{};
    strtab.sh_name = intern(names, ".strtab");
    strtab.sh_type = SHT_STRTAB;
    strtab.sh_addralign = 1;
    Elf64_Shdr shstrtab = strtab;
    shstrtab.sh_name = intern(names, ".shstrtab");
    symtab.sh_offset = place();
    symtab.sh_size = symbols.size() * sizeof(Elf64_Sym);
    append(frame.tail, symbols.data(), symtab.sh_size);
    strtab.sh_offset = place();
    strtab.sh_size = strings.size();
    append(frame.tail, strings.data(), strings.size());
    shstrtab.sh_offset = place();
    shstrtab.sh_size = names.size();
    append(frame.tail, names.data(), names.size());
    headers.insert(headers.end(), {symtab, strtab, shstrtab});
    frame.tail.resize(alignUp(frame.tail.size(), 8));

    std::memcpy(frame.head.e_ident, ELFMAG, SELFMAG);
    frame.head.e_ident[EI_CLASS] = ELFCLASS64;
    frame.head.e_ident[EI_DATA] = ELFDATA2LSB;
    frame.head.e_ident[EI_VERSION] = EV_CURRENT;
    frame.head.e_type = ET_REL;
    frame.head.e_machine = isX86 ? EM_X86_64 : EM_AARCH64;
    frame.head.e_version = EV_CURRENT;
    frame.head.e_shoff = place();
    frame.head.e_ehsize = sizeof(Elf64_Ehdr);
    frame.head.e_shentsize = sizeof(Elf64_Shdr);
    frame.head.e_shnum = static_cast<std::uint16_t>(headers.size());
    frame.head.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
    append(frame.tail, headers.data(), headers.size() * sizeof(Elf64_Shdr));
    return frame;
}

/// An open file that closes itself.
class Descriptor
{
public:
    explicit Descriptor(const std::filesystem::path& file)
        : m_fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC))
    {
    }
    ~Descriptor()
    {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    /// False with errno set.
    bool write(std::uint64_t at, const void* data, std::size_t bytes) const
    {
        const auto* from = static_cast<const char*>(data);
        while (bytes > 0) {
            const ssize_t done = ::pwrite(m_fd, from, bytes, static_cast<off_t>(at));
            if (done < 0 && errno == EINTR)
                continue;
            if (done <= 0)
                return false;
            at += static_cast<std::uint64_t>(done);
            from += done;
            bytes -= static_cast<std::size_t>(done);
        }
        return true;
    }

private:
    int m_fd;
};

} // namespace

Result<std::vector<std::byte>> makeSectionObject(std::span<const BinarySection> sections, const std::string& machine)
{
    std::vector<Placed> placed;
    std::vector<const BinarySection*> held;
    std::uint64_t at = sizeof(Elf64_Ehdr);
    for (const BinarySection& section : sections) {
        if (!section.file.empty())
            continue;
        LATHE_TRY(checkAlignment(section));
        at = alignUp(at, static_cast<std::uint64_t>(section.alignment));
        placed.push_back({section.symbol, at, section.bytes.size(), section.alignment, false});
        held.push_back(&section);
        at += section.bytes.size();
    }
    LATHE_TRY_ASSIGN(const Frame frame, frameOf(placed, at, machine));
    std::vector<std::byte> out;
    out.reserve(frame.tailAt + frame.tail.size());
    append(out, &frame.head, sizeof frame.head);
    for (std::size_t i = 0; i < placed.size(); ++i) {
        out.resize(placed[i].at);
        append(out, held[i]->bytes.data(), held[i]->bytes.size());
    }
    out.resize(frame.tailAt);
    append(out, frame.tail.data(), frame.tail.size());
    return out;
}

Result<> completeSectionFile(const BinarySection& section, const std::string& machine)
{
    LATHE_TRY(checkAlignment(section));
    std::error_code error;
    const std::uint64_t end = std::filesystem::file_size(section.file, error);
    if (error || end < kSectionFileStart || section.alignment > static_cast<std::int64_t>(kSectionFileStart))
        return makeError(Errc::StoreFailed, fmt::format("'{}' holds no section", section.file.string()));
    const std::uint64_t size = end - kSectionFileStart;
    // Code reaches 4 GiB to either side there, and there is no such thing as a section for data that is farther away.
    constexpr std::uint64_t kMostBesideCode = std::uint64_t{3} << 30;
    if (machine == "aarch64" && size > kMostBesideCode)
        return makeError(Errc::Unsupported, say(Msg::WeightsTooLarge, static_cast<double>(size) / 1e9,
                                                static_cast<double>(kMostBesideCode) / 1e9));
    const Placed placed{section.symbol, kSectionFileStart, size, section.alignment, true};
    LATHE_TRY_ASSIGN(const Frame frame, frameOf({&placed, 1}, end, machine));
    const Descriptor file(section.file);
    if (!file.write(0, &frame.head, sizeof frame.head)
        || !file.write(frame.tailAt, frame.tail.data(), frame.tail.size()))
        return makeError(Errc::StoreFailed, say(Msg::NotWritten, section.file.string(), std::strerror(errno)));
    return {};
}

} // namespace lathe::backend
