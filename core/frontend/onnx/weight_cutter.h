#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::frontend::onnx_detail {

/// A model file without its large weights: small enough for protobuf, which reads no more than 2 GiB and copies what it
/// reads.
struct CutModel
{
    std::string rest; ///< a model whose large initializers have no raw data
    std::vector<std::span<const std::byte>>
        weights; ///< of the main graph's initializers, in order: in the file; empty: in `rest`
};

/// Cuts raw data of at least `least` bytes out of the initializers of a file that checkWire() found sound.
/// Errors: BadFile if what is left is larger than 2 GiB.
Result<CutModel> cutWeights(std::span<const std::byte> file, std::size_t least);

} // namespace lathe::frontend::onnx_detail
