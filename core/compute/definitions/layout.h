#pragma once

#include <cstdint>

namespace lathe::compute {

/// Order of dimensions of images, and of volumes, which have a depth before the height: NCDHW, NDHWC.
enum class ImageLayout : std::uint8_t
{
    Nchw,
    Nhwc
};

} // namespace lathe::compute
