#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <span>

namespace lathe::frontend::onnx_detail {

/// Walks the wire form of a model before protobuf builds objects from it. A few bytes of a hostile file can ask for
/// hundreds of bytes of objects, so the number of messages, strings and values is bounded by a budget first, and broken
/// framing gives one sentence with the offset. Errors: BadFile.
Result<> checkWire(std::span<const std::byte> bytes);

} // namespace lathe::frontend::onnx_detail
