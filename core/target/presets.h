#pragma once

#include "core/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// The reference's limits for a GPU by name: "cuda", "mali", "adreno"; any other is an OpenCL device of which nothing
/// is known.
Hardware gpuPresets(std::string_view name);

/// Whether blocks of threads have fast memory of their own on GPUs of a family (BackendTraits::family). Arm's Mali keep
/// it where all other memory is.
bool hasMemoryOfBlocks(std::string_view family);

/// Of a processor: what is known of the -mcpu that the target names, else what this machine tells; its threads, and
/// zero for the reference's figures of GPUs.
Hardware cpuPresets(const Target& target);

/// What the reference's own records name the target: its CPU is "llvm -keys=cpu", others are called as here.
std::string referenceTargetText(const Target& target);

/// The keys under which the reference looks for what was measured for a target: those of "-keys=", else that of
/// "-device=" and what its kind has, of which "llvm" is cpu.
std::vector<std::string> referenceKeys(std::string_view target);
/// "-model=" of a target of the reference's; empty: there is none, or it is "unknown".
std::string referenceModel(std::string_view target);

/// Whose rules a target of the reference's or Lathe's records needs, as BackendTraits::family; for texts that parse()
/// refuses, too.
std::string familyOfRecord(std::string_view target);

} // namespace lathe
