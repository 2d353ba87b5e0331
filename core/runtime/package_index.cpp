#include "core/runtime/package_index.h"

#include "core/runtime/array.h"

#include <cstdlib>
#include <cstring>

namespace lathe::runtime {
namespace {

int compareNames(std::string_view one, std::string_view other)
{
    const std::size_t shorter = one.size() < other.size() ? one.size() : other.size();
    const int order = shorter == 0 ? 0 : std::memcmp(one.data(), other.data(), shorter);
    if (order != 0)
        return order;
    return one.size() < other.size() ? -1 : one.size() > other.size() ? 1 : 0;
}

/// The programs of all packages, to `each`. False: the code is damaged.
template<typename Each>
bool readPrograms(std::string_view code, Each each)
{
    while (!code.empty()) {
        PackageReader reader(code);
        ProgramView program;
        while (reader.next(program))
            each(program);
        if (!reader.isGood())
            return false;
        code.remove_prefix(reader.bytes());
    }
    return true;
}

Status damagedCode(ErrorText& error, const char* backEnd, const char* what)
{
    error.set("the library's %s code is damaged: %s", backEnd, what);
    return Status::InvalidArgument;
}

} // namespace

PackageIndex::~PackageIndex()
{
    freeArray(m_programs, m_programCount);
    freeArray(m_launches, m_launchCount);
}

int PackageIndex::compare(const void* one, const void* other)
{
    return compareNames(static_cast<const Launch*>(one)->symbol, static_cast<const Launch*>(other)->symbol);
}

std::size_t PackageIndex::find(std::string_view symbol) const
{
    std::size_t low = 0, high = m_launchCount;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const int order = compareNames(m_launches[middle].symbol, symbol);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return m_launchCount;
}

Status PackageIndex::load(std::string_view code, const char* backEnd, ErrorText& error)
{
    std::size_t programs = 0, launches = 0;
    bool areNames = true;
    const bool isWhole = readPrograms(code, [&](const ProgramView& program) {
        ++programs;
        std::string_view rest = program.symbols, line;
        for (; takeLine(rest, line); ++launches)
            areNames = areNames && !line.empty() && line.size() <= kLongestSymbol
                       && line.find('\0') == std::string_view::npos;
    });
    if (!isWhole)
        return damagedCode(error, backEnd, "its packages do not hold together");
    if (!areNames)
        return damagedCode(error, backEnd, "it names a launch as no function can be named");
    if (programs == 0)
        return Status::Ok;
    m_programs = makeArray<ProgramView>(programs);
    m_programCount = m_programs != nullptr ? programs : 0;
    m_launches = makeArray<Launch>(launches);
    m_launchCount = m_launches != nullptr ? launches : 0;
    if (m_programs == nullptr || m_launches == nullptr) {
        error.set("no memory for the index of the library's %s code", backEnd);
        return Status::NoMemory;
    }
    std::size_t program = 0, launch = 0;
    readPrograms(code, [&](const ProgramView& one) {
        m_programs[program] = one;
        std::string_view rest = one.symbols, line;
        while (takeLine(rest, line))
            m_launches[launch++] = {line, program};
        ++program;
    });
    std::qsort(m_launches, m_launchCount, sizeof(Launch), compare);
    // Packages of candidates of one task have the same programs; which of two equal ones is taken does not matter.
    for (std::size_t l = 1; l < m_launchCount; ++l)
        if (m_launches[l - 1].symbol == m_launches[l].symbol
            && m_programs[m_launches[l - 1].program].source != m_programs[m_launches[l].program].source)
            return damagedCode(error, backEnd, "two of its programs have a launch of the same name");
    return Status::Ok;
}

} // namespace lathe::runtime
