"""OpenCL C out of exported libraries: plugins/opencl/device/package_view.h tells how it lies there."""

import struct

MAGIC = b"LATHECL2"


def sources(library):
    """[(names of the launches, text)] of all kernels."""
    data, found, at = open(library, "rb").read(), [], 0
    while (at := data.find(MAGIC, at)) >= 0:
        size, kernels = struct.unpack_from("<QQ", data, at + 8)
        place, end, texts = at + 24, at + size, []
        while len(texts) < kernels and place < end <= len(data):
            parts = []
            for _ in range(4):  # source, binary, whom it is for, launches
                (length,) = struct.unpack_from("<Q", data, place)
                parts.append(data[place + 8:place + 8 + length])
                place += 8 + (length + 7) // 8 * 8
            texts.append((parts[3].decode().split(), parts[0].decode()))
        found += texts
        at += max(size, 8) if texts else 8
    return found
