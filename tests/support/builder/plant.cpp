#include "tests/support/builder/plant.h"

#include "core/support/check.h"

namespace lathe::test {

namespace {

using namespace ir;
using sim::Fault;

std::vector<Expr> indices(const Buffer& buffer, Expr first)
{
    std::vector<Expr> all(buffer.shape.size(), Expr(0));
    if (all.empty())
        return all;
    all[0] = std::move(first);
    return all;
}

Expr constant(DType dtype, int value)
{
    return isFloat(dtype) ? floatImm(value, dtype) : intImm(value, dtype);
}

} // namespace

void plantFault(schedule::LoweredKernel& kernel, Fault fault)
{
    if (fault != Fault::Crash && fault != Fault::Hang && fault != Fault::Wrong && fault != Fault::OutOfBounds)
        return;
    LoopNest& nest = kernel.nest;
    LATHE_CHECK(!nest.parameters.empty()) << nest.name;
    const std::int32_t index = nest.parameters.back();
    const Buffer& output = nest.buffers[static_cast<std::size_t>(index)];
    const auto here = indices(output, Expr(0));
    Stmt statement;
    switch (fault) {
    case Fault::Crash: // far outside of what a process can own
        statement = makeStore(index, indices(output, intImm(std::int64_t(1) << 44, DType::I64)),
                              constant(output.dtype, 1));
        break;
    case Fault::OutOfBounds: {
        const std::int64_t beyond = output.shape.empty() ? 1 : output.shape[0];
        statement = makeStore(index, indices(output, intImm(beyond)), constant(output.dtype, 1));
        break;
    }
    case Fault::Wrong:
        statement = makeStore(index, here, load(index, output.dtype, here) + constant(output.dtype, 100));
        break;
    default: { // a recurrence that no compiler folds, for about the age of the universe
        Stmt step = makeStore(index, here,
                              load(index, output.dtype, here) * constant(output.dtype, 3) + constant(output.dtype, 1));
        for (const char* name : {"forever0", "forever1"})
            step = makeFor(var(name), Expr(0), Expr(2'000'000'000), LoopKind::Serial, std::move(step));
        statement = std::move(step);
        break;
    }
    }
    nest.phases.push_back(makeFor(var("planted"), 0, 1, LoopKind::Parallel, std::move(statement)));
}

void plantMalformed(schedule::LoweredKernel& kernel)
{
    kernel.nest.buffers.push_back({"planted", DType::F32, Scope::Parameter, {1}, {1}});
}

} // namespace lathe::test
