#pragma once

#include "core/runtime/package_view.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lathe::runtime {

/// A program of an artifact, for the halves of back ends; the runtime itself has views of them alone (package_view.h).
struct PackedProgram
{
    std::string source;
    std::string binary; ///< empty: there is none
    std::string madeFor;
    std::string symbols = {}; ///< of the launches, one a line
};

/// An artifact's bytes. Launches find their programs by their symbols.
inline std::vector<std::byte> pack(std::span<const PackedProgram> programs)
{
    std::vector<ProgramView> views;
    for (const PackedProgram& program : programs)
        views.push_back({program.source, program.binary, program.madeFor, program.symbols});
    std::vector<std::byte> bytes(packageBytes(views.data(), views.size()));
    writePackage(views.data(), views.size(), bytes.data());
    return bytes;
}

/// False: these are not the bytes of pack().
inline bool unpack(std::string_view bytes, std::vector<PackedProgram>& programs)
{
    PackageReader reader(bytes);
    ProgramView view;
    while (reader.next(view))
        programs.push_back(
            {std::string(view.source), std::string(view.binary), std::string(view.madeFor), std::string(view.symbols)});
    return reader.isGood() && reader.bytes() == bytes.size();
}

/// Which program each launch is in, by its symbol. The names are those of `programs`, which must outlive them.
inline std::unordered_map<std::string_view, std::size_t> programsBySymbol(std::span<const PackedProgram> programs)
{
    std::unordered_map<std::string_view, std::size_t> found;
    for (std::size_t p = 0; p < programs.size(); ++p) {
        std::string_view symbols = programs[p].symbols, symbol;
        while (takeLine(symbols, symbol))
            found.emplace(symbol, p);
    }
    return found;
}

} // namespace lathe::runtime
