#pragma once

#include "core/schedule/lower.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::test {

/// Short spellings for nests written by hand.
ir::Buffer buffer(std::string name, DType dtype, std::vector<std::int64_t> shape,
                  ir::Scope scope = ir::Scope::Parameter);
ir::Stmt loop(const std::string& name, std::int64_t extent, ir::LoopKind kind,
              const std::function<ir::Stmt(ir::Expr)>& body);
ir::Stmt loop(const std::string& name, ir::Expr min, ir::Expr extent, ir::LoopKind kind,
              const std::function<ir::Stmt(ir::Expr)>& body);

/// A kernel whose parameters are all buffers of Scope::Parameter, in order; the last `outputs` are written.
schedule::LoweredKernel kernelOf(std::string name, std::vector<ir::Buffer> buffers, std::vector<ir::Stmt> phases,
                                 std::size_t outputs = 1);

/// C[m, n] = A[m, k] B[k, n], accumulated in a register tile of `rows` x `lanes`; m and n must divide.
schedule::LoweredKernel matmul(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t rows, std::int64_t lanes,
                               ir::LoopKind outer = ir::LoopKind::Parallel);

} // namespace lathe::test
