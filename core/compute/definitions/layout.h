#pragma once

#include <cstdint>

namespace lathe::compute {

/// Order of dimensions of an image tensor.
enum class ImageLayout : std::uint8_t
{
    Nchw,
    Nhwc
};

} // namespace lathe::compute
