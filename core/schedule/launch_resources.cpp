#include "core/schedule/launch_resources.h"

#include "core/ir/bounds.h"
#include "core/ir/scratch.h"
#include "core/ir/substitute.h"

#include <algorithm>

namespace lathe::schedule {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

constexpr std::int64_t kVectorBytes = 16; ///< to which ir::sharedBytes rounds
constexpr std::int64_t kOwnRegisters = 6; ///< indices of the thread and what compilers keep for themselves

std::int64_t bytesOf(const ir::LoopNest& nest, const std::vector<std::int32_t>& buffers, Scope scope)
{
    std::int64_t bytes = 0;
    for (const std::int32_t id : buffers)
        if (const ir::Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)]; buffer.scope == scope)
            bytes += ir::elementCount(buffer) * sizeOf(buffer.dtype);
    return bytes;
}

/// Registers that the loads of one statement take, of the one that takes most.
std::int64_t mostOperands(const Stmt& s)
{
    if (!s)
        return 0;
    std::int64_t most = 0;
    if (s->kind == StmtKind::Store)
        ir::visit(s->value, [&](const Expr& e) { most += e->kind == ExprKind::Load ? (sizeOf(e->dtype) + 3) / 4 : 0; });
    for (const Stmt& inner : s->body)
        most = std::max(most, mostOperands(inner));
    return most;
}

/// Tiles that live through the loops, one address for each tensor, and the operands of the widest statement.
std::int32_t registersOf(const ir::LoopNest& nest, const ir::Launch& launch, const std::vector<std::int32_t>& buffers)
{
    std::int64_t addresses = 0;
    for (const std::int32_t id : buffers) {
        const Scope scope = nest.buffers[static_cast<std::size_t>(id)].scope;
        addresses += scope == Scope::Parameter || scope == Scope::Team ? 2 : scope == Scope::Shared ? 1 : 0;
    }
    return static_cast<std::int32_t>(kOwnRegisters + (bytesOf(nest, buffers, Scope::Register) + 3) / 4 + addresses
                                     + mostOperands(launch.body));
}

} // namespace

std::int64_t sharedElements(const ir::Buffer& buffer)
{
    const std::int64_t size = sizeOf(buffer.dtype);
    return ir::ceilDivide(ir::elementCount(buffer) * size, kVectorBytes) * kVectorBytes / size;
}

LaunchResources resourcesOf(const ir::LoopNest& nest, const ir::Launch& launch)
{
    const std::vector<std::int32_t> buffers = ir::buffersOf(launch.body);
    LaunchResources made;
    made.grid = launch.grid;
    made.block = launch.block;
    made.threads = launch.block[0] * launch.block[1] * launch.block[2];
    made.sharedBytes = ir::sharedBytes(nest, launch);
    made.localBytes = bytesOf(nest, buffers, Scope::Local);
    made.registers = registersOf(nest, launch, buffers);
    return made;
}

std::vector<LaunchResources> resourcesOf(const ir::LoopNest& nest)
{
    std::vector<LaunchResources> all;
    for (const ir::Launch& launch : nest.launches)
        all.push_back(resourcesOf(nest, launch));
    return all;
}

} // namespace lathe::schedule
