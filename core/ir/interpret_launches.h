#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <cstddef>
#include <memory>
#include <span>

namespace lathe::ir {

/// Runs a nest of launches, block after block, the threads of a block in step: the oracle for what is lowered to
/// launches and for code that back ends make of them. Beside the results it finds what goes wrong on a device by chance
/// only:
///
/// - two threads at one element, one of which stores, with no barrier between, or in different blocks of one launch;
/// - bytes of an asynchronous copy that a thread comes to before they were waited for (async_copy.h);
/// - a barrier that not all threads of a block come to;
/// - a shuffle that not all lanes of a warp come to ("divergent shuffle");
/// - a read of what nobody has written (of scratch, and of outputs);
/// - an index outside of its dimension.
///
/// Floats are rounded to their type after each operation. Thread-safe once compiled.
class LaunchInterpreter
{
public:
    /// Precondition: the nest has no phases. Errors: Unsupported (tensor intrinsics, an intrinsic that is not known),
    /// Internal (a loop that a launch should have as an axis).
    static Result<LaunchInterpreter> compile(const LoopNest& nest);

    /// @param parameters one buffer per nest.parameters, of at least elementCount() elements each.
    /// Errors: InvalidArgument (count or size of parameters), WrongAnswer: the first of the above, with the launch, the
    /// threads and the statement.
    Result<> run(std::span<const std::span<std::byte>> parameters) const;

    struct Impl;

private:
    explicit LaunchInterpreter(std::shared_ptr<const Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<const Impl> m_impl;
};

} // namespace lathe::ir
