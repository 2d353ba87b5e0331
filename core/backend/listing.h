#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::backend {

/// What a stretch of lines of a listing is.
enum class LineMark : std::uint8_t
{
    Loop, ///< a loop of the machine's code, from its label to its jump
    HotLoop, ///< of the innermost of these, the one that runs most of the program's stores
    Spill, ///< writes a register to the stack, for want of registers
    Reload ///< reads it back
};

struct MarkedLines
{
    LineMark mark = LineMark::Loop;
    std::int32_t first = 0, last = 0; ///< lines of the text, from 0
};

/// A kernel as one of its forms (TargetKind::listings), with what each line came from.
struct Listing
{
    std::string name; ///< that it was asked for by
    std::string language; ///< ListingKind's words
    std::string text;
    std::string program; ///< the loop nest as ir::print writes it
    /// By line of `text`: the line of `program`, from 0, whose statement it came from; -1: none, or several. Empty: the
    /// back end cannot tell.
    std::vector<std::int32_t> statements;
    std::vector<MarkedLines> marks; ///< by first line
    /// Registers that the code names, of how many there are; -1: the back end cannot tell.
    std::int32_t vectorRegisters = -1, vectorRegistersOf = -1;
    std::int32_t generalRegisters = -1, generalRegistersOf = -1;
};

/// Between processes. The text is one line of JSON.
std::string encode(const Listing& listing);
/// Errors: BadFile.
Result<Listing> decodeListing(std::string_view text);

} // namespace lathe::backend
