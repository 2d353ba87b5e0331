#pragma once

#include "plugins/cuda/model/access_pattern.h"
#include "plugins/cuda/model/sass.h"
#include "plugins/cuda/model/sass_loops.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace lathe::cuda {

/// What a kernel is started with.
struct SassLaunch
{
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< blocks along x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1}; ///< threads along x, y, z
    /// The kernel's parameters, 4 bytes each, pointers as two: as they lie in the parameter space.
    std::vector<std::uint32_t> parameters;
    std::int64_t dynamicSharedBytes = 0; ///< of a block, beside what the kernel declares

    std::int64_t threads() const { return block[0] * block[1] * block[2]; }
    std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
    std::int64_t warps() const { return (threads() + 31) / 32; } ///< of a block
};

enum class WalkSpace : std::uint8_t
{
    Shared,
    Global
};

/// An access that the walk came by.
struct WalkAccess
{
    std::size_t instruction = 0; ///< index in the kernel
    WalkSpace space = WalkSpace::Global;
    bool isStore = false;
    bool isKnown = false; ///< where it goes follows from what the kernel was started with
    /// How often the walk has come to the innermost loop's first instruction since it was last reached from outside; 0
    /// outside all loops.
    std::int32_t pass = 0;
    WarpAccess access; ///< if it is known
};

/// Follows the integer instructions of a kernel for the 32 lanes of a warp, and so finds out where each access to
/// memory goes: banks that collide, sectors that are asked for, data that blocks share, without a device and without
/// knowledge of the source. Floating point and what is loaded stay unknown, and what follows from them. Loops are taken
/// `passes` times at most; branches of which lanes would go both ways, or whose condition is unknown, are not taken.
///
/// Threads: one walk may be used by several at once.
class SassWalk
{
public:
    /// `kernel` and `profile` must outlive the walk. Errors: InvalidArgument for a launch without threads.
    static Result<SassWalk> create(const SassModule& module, const SassKernel& kernel, const SassProfile& profile,
                                   const SassLaunch& launch);
    SassWalk(SassWalk&&) noexcept;
    ~SassWalk();

    /// The accesses of one warp of one block (by its number, x fastest) in the order in which it makes them.
    void run(std::int64_t block, std::int64_t warp, std::int32_t passes,
             const std::function<void(const WalkAccess&)>& onAccess) const;

private:
    struct Program;
    explicit SassWalk(std::unique_ptr<const Program> program);

    std::unique_ptr<const Program> m_program;
};

} // namespace lathe::cuda
