#pragma once

#include "core/compute/dag.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lathe::compute {

/// Runs a compute DAG by interpreting flat programs over blocks of points. Floating point values are doubles throughout
/// (casts to narrower types round), integers are 64 bits wide and wrap at stores; so results are a reference for
/// kernels. Thread-safe: one Interpreter may be used from several threads.
class Interpreter
{
public:
    /// Errors: Unsupported naming an intrinsic that is not known.
    static Result<Interpreter> compile(DagPtr dag);

    /// Dense row-major buffers, one per Dag::inputs, with exactly the size of the placeholder. Returns one per
    /// Dag::outputs, in the output's dtype. Errors: InvalidArgument (count or size of the inputs), Internal (a load out
    /// of bounds).
    Result<std::vector<std::vector<std::byte>>> run(std::span<const std::span<const std::byte>> inputs) const;

    /// Values of output number `output` at `points` (each one index per dimension), computing no more than they need.
    /// Integers and bools come as doubles.
    Result<std::vector<double>> sample(std::span<const std::span<const std::byte>> inputs, std::int32_t output,
                                       std::span<const std::vector<std::int64_t>> points) const;

    const Dag& dag() const;

    struct Impl;

private:
    explicit Interpreter(std::shared_ptr<const Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<const Impl> m_impl;
};

} // namespace lathe::compute
