#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lathe::ir {

/// Runs loop nests serially, as written: the oracle for lowering and code generation, and what simulated devices
/// execute. Every access is checked against the buffer's shape. Scratch is filled with NaN bytes before each use, so
/// that reading what was never written shows. Floats are rounded to their type after each operation. Thread-safe once
/// compiled.
class NestInterpreter
{
public:
    /// Precondition: the nest has no launches (interpret_launches.h). Errors: Unsupported, naming what only other devices
    /// have (tensor intrinsics).
    static Result<NestInterpreter> compile(const LoopNest& nest);

    /// @param parameters one buffer per nest.parameters, of at least elementCount() elements each.
    /// @param parts every phase runs for parts 0 .. parts-1, one after the other; each takes its share of the Parallel
    /// loop. Errors: InvalidArgument (count or size of parameters), WrongAnswer (an access out of bounds, named).
    Result<> run(std::span<const std::span<std::byte>> parameters, std::uint32_t parts = 1) const;

    struct Impl;

private:
    explicit NestInterpreter(std::shared_ptr<const Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<const Impl> m_impl;
};

/// The iterations of a loop of `extent` that part `part` of `parts` executes: [begin, end), contiguous, sizes differ by
/// one.
struct PartRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
inline PartRange partRange(std::int64_t extent, std::uint32_t part, std::uint32_t parts)
{
    return {extent * part / parts, extent * (part + 1) / parts};
}

} // namespace lathe::ir
