#include "core/runtime/true_shape.h"

#include <cstddef>
#include <cstring>

namespace lathe::runtime {

void packToShape(void* data, std::int64_t elementBytes, int rank, const std::int64_t* bound, const std::int64_t* shape)
{
    int last = rank - 1; // the innermost dimension that is cut
    std::int64_t inner = elementBytes;
    for (; last >= 0 && shape[last] == bound[last]; --last)
        inner *= bound[last];
    if (last < 0)
        return;
    std::int64_t rows = 1; // runs of bytes that stay together
    for (int d = 0; d < last; ++d)
        rows *= shape[d];
    const std::int64_t run = shape[last] * inner;
    auto* const bytes = static_cast<std::byte*>(data);
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t rest = row, from = 0, stride = bound[last] * inner;
        for (int d = last - 1; d >= 0; --d) {
            from += rest % shape[d] * stride;
            rest /= shape[d];
            stride *= bound[d];
        }
        std::memmove(bytes + row * run, bytes + from,
                     static_cast<std::size_t>(run)); // never past what is still to come
    }
}

} // namespace lathe::runtime
