#pragma once

#include "core/support/result.h"
#include "core/target/target.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace lathe::cpu {

/// What the generator knows of the processor. Attributes of the target text: -mcpu, -mtriple, -mattr (comma separated,
/// "+avx2,-avx512f"). Without -mtriple and -mcpu: this machine.
struct CpuTarget
{
    std::string triple;
    std::string cpu;
    std::string features;
    std::int64_t vectorBytes = 16; ///< of the widest register that arithmetic on f32 runs on
    bool hasFma = false;
    bool hasHalfConversion = false; ///< f16 <-> f32 in hardware
    bool outOfOrder = true; ///< the core finds parallelism by itself
    std::vector<std::string> checkedFeatures; ///< those that LLVM may use and a library can ask for when it is loaded
    bool isHost = false; ///< what is built can be loaded here
    std::shared_ptr<llvm::TargetMachine> machine;

    /// Errors: InvalidArgument for a triple or processor that LLVM does not know, Unsupported for a triple that is not
    /// an ELF platform.
    static Result<CpuTarget> create(const Target& target);
};

} // namespace lathe::cpu
