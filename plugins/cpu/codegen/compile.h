#pragma once

#include "core/support/result.h"
#include "plugins/cpu/codegen/cpu_target.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace lathe::cpu {

/// What the machine code of one function looks like.
struct FunctionFacts
{
    std::int64_t vectorSpills = 0; ///< instructions that read or write a vector on the stack
    std::int64_t vectorAccesses = 0; ///< instructions that read or write a vector in memory at all
    std::int64_t codeBytes = 0; ///< known after compileToObject only
};

struct MachineCode
{
    std::vector<std::byte> bytes; ///< a relocatable object, or assembly text
    std::map<std::string, FunctionFacts, std::less<>> functions;
};

/// The short pass pipeline. Errors: Internal if the module is malformed, which is our bug but must not end the process.
Result<> optimize(llvm::Module& module, const CpuTarget& target);

enum class CodeFormat : std::uint8_t
{
    Object,
    Assembly ///< with LLVM's remarks on loops, spills and, where the module has debug locations, lines
};
/// @param schedules  lets LLVM reorder instructions before registers are assigned. Off, they stay in the order in which
///                   they were emitted, which keeps the lives of broadcasts short.
Result<MachineCode> generate(llvm::Module& module, const CpuTarget& target, CodeFormat format, bool schedules);

} // namespace lathe::cpu
