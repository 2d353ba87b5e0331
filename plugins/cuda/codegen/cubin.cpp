#include "plugins/cuda/codegen/cubin.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

// A cubin is an ELF file. Of each kernel NAME it has the sections .text.NAME (code), .nv.shared.NAME (of which only the
// size counts) and .nv.info.NAME, a list of attributes; .nv.info has further ones of all kernels, each with the number
// of its symbol. An attribute is a byte that says its form, a byte that says what it is, and either a number of two
// bytes or, in the form that is read here, the length of what follows. What is read here was found out with cuobjdump
// -elf, which names all of it.

namespace lathe::cuda {
namespace {

constexpr std::uint16_t kMachine = 190; ///< EM_CUDA
constexpr std::uint8_t kSized = 4; ///< EIFMT_SVAL
constexpr std::uint8_t kMaxThreads = 0x05, kFrameSize = 0x11, kRegisterCount = 0x2f;
constexpr std::int64_t kDriversShared = 1024; ///< of a block, which the driver keeps from sm_90 on

/// Bytes of a file: what lies beyond its end reads as nothing.
class Bytes
{
public:
    explicit Bytes(std::string_view all)
        : m_all(all)
    {
    }

    template<typename Number>
    std::optional<Number> number(std::uint64_t at) const
    {
        static_assert(std::is_unsigned_v<Number>);
        const auto part = range(at, sizeof(Number));
        if (!part)
            return std::nullopt;
        Number made = 0;
        std::memcpy(&made, part->data(), sizeof(Number));
        return made;
    }
    std::optional<std::string_view> range(std::uint64_t at, std::uint64_t size) const
    {
        if (at > m_all.size() || size > m_all.size() - at)
            return std::nullopt;
        return m_all.substr(at, size);
    }
    /// Up to the next zero.
    std::string_view word(std::uint64_t at) const
    {
        if (at >= m_all.size())
            return {};
        const std::string_view rest = m_all.substr(at);
        return rest.substr(0, rest.find('\0'));
    }

private:
    std::string_view m_all;
};

struct Section
{
    std::string_view name, bytes; ///< bytes: empty of those that only have a size
    std::uint64_t size = 0;
    std::uint32_t type = 0, link = 0;
};

class CubinReader
{
public:
    explicit CubinReader(std::string_view cubin)
        : m_file(cubin)
    {
    }

    bool read(std::vector<CubinKernel>& kernels)
    {
        if (!readSections())
            return false;
        constexpr std::string_view kCode = ".text.";
        for (const Section& section : m_sections) {
            if (!section.name.starts_with(kCode))
                continue;
            CubinKernel kernel;
            kernel.name = section.name.substr(kCode.size());
            kernel.codeBytes = static_cast<std::int64_t>(section.size);
            kernels.push_back(std::move(kernel));
        }
        return std::ranges::all_of(kernels, [this](CubinKernel& kernel) { return complete(kernel); });
    }

private:
    bool readSections()
    {
        constexpr std::string_view kMagic("\x7f"
                                          "ELF\x02\x01",
                                          6); // of 64 bits, little endian
        if (m_file.range(0, kMagic.size()) != kMagic || m_file.number<std::uint16_t>(18) != kMachine)
            return false;
        const auto flags = m_file.number<std::uint32_t>(48);
        const auto version = m_file.number<std::uint8_t>(8);
        const auto table = m_file.number<std::uint64_t>(40);
        const auto entry = m_file.number<std::uint16_t>(58), count = m_file.number<std::uint16_t>(60),
                   names = m_file.number<std::uint16_t>(62);
        if (!flags || !version || !table || !entry || !count || !names)
            return false;
        constexpr std::uint8_t kNewVersion = 8; // of CUDA 13
        m_capability = static_cast<int>(*version >= kNewVersion ? *flags >> 8 & 0xff : *flags & 0xff);
        std::vector<std::uint32_t> nameOffsets;
        for (std::uint16_t i = 0; i < *count; ++i) {
            const std::uint64_t at = *table + std::uint64_t{i} * *entry; // beyond the end it reads as nothing
            const auto name = m_file.number<std::uint32_t>(at), type = m_file.number<std::uint32_t>(at + 4),
                       link = m_file.number<std::uint32_t>(at + 40);
            const auto offset = m_file.number<std::uint64_t>(at + 24), size = m_file.number<std::uint64_t>(at + 32);
            if (!name || !type || !link || !offset || !size)
                return false;
            constexpr std::uint32_t kNothing = 0, kWithoutBytes = 8;
            Section section{{}, {}, *size, *type, *link};
            if (*type != kNothing && *type != kWithoutBytes) {
                const auto bytes = m_file.range(*offset, *size);
                if (!bytes)
                    return false;
                section.bytes = *bytes;
            }
            nameOffsets.push_back(*name);
            m_sections.push_back(section);
        }
        if (*names >= m_sections.size())
            return false;
        const Bytes text(m_sections[*names].bytes);
        for (std::size_t i = 0; i < m_sections.size(); ++i)
            m_sections[i].name = text.word(nameOffsets[i]);
        return true;
    }

    const Section* find(std::string_view name) const
    {
        const auto found = std::ranges::find(m_sections, name, &Section::name);
        return found == m_sections.end() ? nullptr : &*found;
    }

    std::string_view symbol(const Section& info, std::uint32_t index) const
    {
        constexpr std::uint64_t kSymbolBytes = 24;
        if (info.link >= m_sections.size() || m_sections[info.link].link >= m_sections.size())
            return {};
        const Section& symbols = m_sections[info.link];
        const auto name = Bytes(symbols.bytes).number<std::uint32_t>(index * kSymbolBytes);
        return name ? Bytes(m_sections[symbols.link].bytes).word(*name) : std::string_view();
    }

    /// Calls `take` with each attribute that has a length: what it is, and its numbers. False: a list that ends early.
    template<typename Take>
    static bool attributes(const Section& info, const Take& take)
    {
        const Bytes bytes(info.bytes);
        for (std::uint64_t at = 0; at < info.bytes.size();) {
            const auto form = bytes.number<std::uint8_t>(at), what = bytes.number<std::uint8_t>(at + 1);
            const auto length = bytes.number<std::uint16_t>(at + 2);
            if (!form || !what || !length)
                return false;
            at += 4;
            if (*form != kSized)
                continue;
            const auto value = bytes.range(at, *length);
            if (!value)
                return false;
            take(*what, Bytes(*value));
            at += *length;
        }
        return true;
    }

    bool complete(CubinKernel& kernel) const
    {
        if (const Section* const shared = find(".nv.shared." + kernel.name); shared != nullptr) {
            kernel.sharedBytes = static_cast<std::int64_t>(shared->size);
            constexpr int kFirstWithDrivers = 90;
            if (m_capability >= kFirstWithDrivers)
                kernel.sharedBytes = std::max<std::int64_t>(kernel.sharedBytes - kDriversShared, 0);
        }
        const Section* const all = find(".nv.info");
        const bool hasAll = all != nullptr && attributes(*all, [&](std::uint8_t what, const Bytes& value) {
                                const auto index = value.number<std::uint32_t>(0),
                                           number = value.number<std::uint32_t>(4);
                                if (!index || !number || symbol(*all, *index) != kernel.name)
                                    return;
                                if (what == kRegisterCount)
                                    kernel.registers = static_cast<std::int32_t>(*number);
                                if (what == kFrameSize)
                                    kernel.localBytes = *number;
                            });
        const Section* const own = find(".nv.info." + kernel.name);
        const bool hasOwn = own != nullptr && attributes(*own, [&](std::uint8_t what, const Bytes& value) {
                                if (what != kMaxThreads)
                                    return;
                                kernel.threads = 1;
                                constexpr std::uint32_t kMost = 1 << 16; // more are no block's, and overflow nothing
                                for (const std::uint64_t axis : {0, 4, 8})
                                    kernel.threads *= std::min(value.number<std::uint32_t>(axis).value_or(1), kMost);
                            });
        return hasAll && hasOwn && kernel.registers > 0;
    }

    Bytes m_file;
    std::vector<Section> m_sections;
    int m_capability = 0;
};

} // namespace

std::optional<std::vector<CubinKernel>> readCubin(std::string_view cubin)
{
    std::vector<CubinKernel> kernels;
    if (!CubinReader(cubin).read(kernels))
        return std::nullopt;
    return kernels;
}

} // namespace lathe::cuda
