#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lathe::test {

// Nests of one launch that are printed, and the texts of some.

ir::Buffer parameter(const std::string& name, DType dtype, bool readOnly = false); ///< of 64 elements
ir::Buffer shared(const std::string& name, DType dtype, std::int64_t elements);

ir::Expr load(std::int32_t buffer, ir::Expr index, DType dtype = DType::F32);
ir::Stmt store(std::int32_t buffer, ir::Expr index, ir::Expr value);

/// One block of that many threads; `body` is of a thread's number.
ir::LoopNest oneLaunch(std::vector<ir::Buffer> buffers, std::int64_t threads,
                       const std::function<ir::Stmt(const ir::Expr& thread)>& body);

/// C[32, 32] = A[32, 64] B[64, 32] by 64 threads: tiles of 8 steps of the sum in shared memory, 4 x 4 elements of each
/// thread in registers.
ir::LoopNest tiledProduct();
extern const char* const kTiledProduct; ///< in CUDA C++, with SYMBOL in place of its symbol
extern const char* const kTiledProductInOpenCl; ///< with its symbol

/// The sum of 64 elements by 64 threads, halves of which add up the others'.
ir::LoopNest reduction();
extern const char* const kReduction;

} // namespace lathe::test
