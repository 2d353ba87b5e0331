#include "tests/cuda_driver/ptx/fused_ops.h"

#include "tests/cuda_driver/ptx/lanes.h"

// Compiled without -frounding-math, with which GCC makes no vectors of fma. Nothing is known of the operands when this
// is compiled, so that there is nothing that could be computed with another rounding than the one that roundedRun()
// sets.

namespace lathe::ptx {

namespace {

template<typename T>
T fused(T a, T b, T c)
{
    return canonical(std::fma(a, b, c));
}

} // namespace

Handler fusedOf(bool wide)
{
    return wide ? ternary<double, double, double, fused<double>> : ternary<float, float, float, fused<float>>;
}

} // namespace lathe::ptx
