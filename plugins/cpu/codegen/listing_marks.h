#pragma once

#include "core/backend/listing.h"
#include "core/ir/print.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cpu {

/// One phase as LLVM prints it for people, without what is there for debuggers alone.
struct AssemblyText
{
    std::vector<std::string> lines;
    std::vector<std::int32_t> statements; ///< by line, as Listing::statements
};

/// @param printed  what LLVM wrote with remarks and debug locations, whose line N + 1 is statement N.
AssemblyText readAssembly(std::string_view printed);

/// Gives the lines of `text` the statements of the same lines of `located`, the same code where a few of them may stand
/// in another order.
void takeStatements(AssemblyText& text, const AssemblyText& located);

/// A line that is an instruction: no label, directive or remark.
bool isInstruction(std::string_view line);

/// Loops (jumps back to a label), the hot one of them, spills and reloads. `program` tells how often statements run.
std::vector<backend::MarkedLines> findMarks(const AssemblyText& text, const ir::PrintedNest& program);

/// How many registers instructions name, by number whatever part of it they use.
struct RegisterCount
{
    std::int32_t vector = 0, general = 0;
};
RegisterCount countRegisters(const std::vector<std::string>& lines, bool isX86);

} // namespace lathe::cpu
