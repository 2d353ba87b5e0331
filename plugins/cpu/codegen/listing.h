#pragma once

#include "core/backend/listing.h"
#include "core/ir/loop_nest.h"
#include "core/support/result.h"
#include "plugins/cpu/codegen/cpu_target.h"

#include <string_view>

namespace lathe::cpu {

/// What a kernel becomes, for people: "ir", after the pass pipeline; "assembly"; "mca", what llvm-mca says of the hot
/// loop. Code is made anew for it, with debug locations, which change no instruction. Errors: Unsupported (no such
/// listing), NotFound (llvm-mca is not installed), those of compiling.
Result<backend::Listing> makeListing(const CpuTarget& target, const ir::LoopNest& nest, std::string_view name);

} // namespace lathe::cpu
