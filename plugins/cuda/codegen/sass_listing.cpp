#include "plugins/cuda/codegen/sass_listing.h"

#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/model/nvdisasm.h"
#include "plugins/cuda/model/sass_loops.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace lathe::cuda {
namespace {

constexpr std::int32_t kMostRegisters = 255; ///< that an instruction can name

std::string_view withoutBlanks(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// "0480" and "@!P0 LDG.E R89, [R68.64] ;" of a line "/*0480*/ @!P0 LDG.E R89, [R68.64] ; /* 0x... */". Nothing: that
/// is no instruction.
std::optional<std::pair<std::uint32_t, std::string_view>> instructionOf(std::string_view line)
{
    if (!line.starts_with("/*"))
        return std::nullopt;
    const auto end = line.find("*/"), semicolon = line.find(';');
    std::uint32_t address = 0;
    if (end == std::string_view::npos || semicolon == std::string_view::npos || semicolon < end
        || std::from_chars(line.data() + 2, line.data() + end, address, 16).ptr != line.data() + end)
        return std::nullopt;
    return std::pair(address, withoutBlanks(line.substr(end + 2, semicolon - end - 1)));
}

/// What people read of a disassembly: kernels, labels and instructions, without encodings and attributes.
struct CodeText
{
    std::string text;
    std::int32_t lines = 0;
    std::map<std::pair<std::string, std::uint32_t>, std::int32_t> places; ///< lines, by kernel and address

    void add(std::string_view line)
    {
        text += line;
        text += '\n';
        ++lines;
    }
};

CodeText codeOf(std::string_view disassembly)
{
    CodeText code;
    std::string kernel; // empty: this is no code
    for (std::size_t at = 0; at < disassembly.size();) {
        const std::size_t end = std::min(disassembly.find('\n', at), disassembly.size());
        const std::string_view line = withoutBlanks(disassembly.substr(at, end - at));
        at = end + 1;
        constexpr std::string_view kSection = ".section\t.text.";
        if (line.starts_with(".section\t")) { // not .sectioninfo, .sectionflags
            kernel = line.starts_with(kSection) ? line.substr(kSection.size()) : std::string_view();
            kernel = kernel.substr(0, kernel.find(','));
            if (!kernel.empty() && code.lines > 0)
                code.add("");
            if (!kernel.empty())
                code.add(kernel + ":");
        } else if (!kernel.empty()) {
            if (const auto instruction = instructionOf(line)) {
                code.places[{kernel, instruction->first}] = code.lines;
                code.add("    " + std::string(instruction->second));
            } else if ((line.starts_with(".L_") || line.starts_with('$')) && line.ends_with(':')) {
                code.add(line);
            }
        }
    }
    return code;
}

} // namespace

Result<> listSass(std::string_view disassembly, bool hasSpills, backend::Listing& listing)
{
    LATHE_TRY_ASSIGN(const SassModule module, readSass(disassembly));
    CodeText code = codeOf(disassembly);
    listing.text = std::move(code.text);
    const auto mark = [&](const SassKernel& kernel, backend::LineMark what, std::size_t first, std::size_t last) {
        const auto from = code.places.find({kernel.name, kernel.instructions[first].address}),
                   to = code.places.find({kernel.name, kernel.instructions[last].address});
        if (from != code.places.end() && to != code.places.end())
            listing.marks.push_back({what, from->second, to->second});
    };
    for (const SassKernel& kernel : module.kernels) {
        listing.generalRegisters = std::max(listing.generalRegisters, kernel.registers);
        for (std::size_t i = 0; hasSpills && i < kernel.instructions.size(); ++i)
            if (const SassClass kind = kernel.instructions[i].kind;
                kind == SassClass::LocalLoad || kind == SassClass::LocalStore)
                mark(kernel, kind == SassClass::LocalLoad ? backend::LineMark::Reload : backend::LineMark::Spill, i, i);
        const auto profile = SassProfile::create(kernel);
        if (!profile)
            continue; // loops that cross each other have no lines to mark
        for (std::size_t l = 0; l < profile->loops().size(); ++l) {
            const bool isHot = static_cast<std::int32_t>(l) == profile->hotLoop();
            mark(kernel, isHot ? backend::LineMark::HotLoop : backend::LineMark::Loop, profile->loops()[l].first,
                 profile->loops()[l].last);
        }
    }
    std::ranges::stable_sort(listing.marks, {}, &backend::MarkedLines::first);
    listing.generalRegistersOf = listing.generalRegisters >= 0 ? kMostRegisters : -1;
    return {};
}

Result<> listSass(const Compiled& compiled, backend::Listing& listing)
{
    LATHE_TRY_ASSIGN(const std::filesystem::path nvdisasm, findDisassembler());
    LATHE_TRY_ASSIGN(const std::string disassembly, disassemble(nvdisasm, compiled.cubin));
    return listSass(disassembly, compiled.spilledBytes > 0, listing);
}

} // namespace lathe::cuda
