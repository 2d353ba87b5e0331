#pragma once

#include "core/frontend/onnx/schema.h"
#include "core/frontend/open_dimensions.h"

#include <functional>

namespace lathe::frontend::onnx_detail {

/// What the inputs of a graph leave open, those aside that are weights.
OpenInputs openInputsOf(const ::onnx::GraphProto& graph, const std::function<bool(const std::string&)>& isWeight);

/// Null: it is not open.
const OpenDimension* findOpen(const OpenInputs& open, const std::string& input, int axis);

} // namespace lathe::frontend::onnx_detail
