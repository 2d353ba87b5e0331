#include "core/ir/scratch.h"

namespace lathe::ir {

std::int64_t elementCount(const Buffer& buffer)
{
    std::int64_t last = 0;
    for (std::size_t d = 0; d < buffer.shape.size(); ++d)
        last += (buffer.shape[d] - 1) * buffer.strides[d];
    return last + 1;
}

ScratchLayout scratchLayout(const LoopNest& nest)
{
    constexpr std::int64_t kLine = 64;
    ScratchLayout layout;
    for (const Buffer& buffer : nest.buffers) {
        std::int64_t* total = buffer.scope == Scope::Team   ? &layout.teamBytes
                              : buffer.scope == Scope::Part ? &layout.partBytes
                                                            : nullptr;
        layout.offsets.push_back(total != nullptr ? *total : -1);
        if (total != nullptr)
            *total += (elementCount(buffer) * sizeOf(buffer.dtype) + kLine - 1) / kLine * kLine;
    }
    return layout;
}

} // namespace lathe::ir
