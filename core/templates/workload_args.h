#pragma once

#include "core/templates/workload.h"

#include <array>
#include <cstdint>

namespace lathe::templates {

/// A tensor among the arguments of a task.
struct TensorArg
{
    std::vector<std::int64_t> shape; ///< of 1 to 2^24 each
    std::string dtype; ///< "float32"
};

/// The arguments of a convolution of two dimensions, in logical terms. Depthwise ones have outChannels = inChannels x
/// multiplier.
struct ConvArgs
{
    std::int64_t batch = 1, inChannels = 1, height = 1, width = 1; ///< of the input
    std::int64_t outChannels = 1, kernelHeight = 1, kernelWidth = 1;
    bool depthwise = false;
    std::array<std::int64_t, 2> strides = {1, 1};
    std::array<std::int64_t, 4> padding = {0, 0, 0, 0}; ///< top, left, bottom, right
    std::array<std::int64_t, 2> dilation = {1, 1};
    std::string dtype = "float32"; ///< of input and kernel
    std::string outDtype = "float32";

    std::int64_t outHeight() const;
    std::int64_t outWidth() const;
};

/// data [M, K] x weight [N, K].
struct DenseArgs
{
    std::int64_t m = 1, n = 1, k = 1;
    bool bias = false; ///< of [N]
    std::string dtype = "float32", outDtype = "float32";
};

// Readers. Errors: InvalidArgument, with the argument that does not fit the template.

/// Of templates that name layouts (conv2d_NCHWc.x86, depthwise_conv2d_NCHWc.x86): data and kernel as [N, C, H, W] and
/// [O, I, KH, KW], or packed as [N, C/ic, H, W, ic] and [O/oc, I/ic, KH, KW, ic, oc]; strides, padding, dilation, both
/// layouts, output dtype. Of all others (.cuda, .mali) the same without the layouts, never packed. Depthwise kernels
/// are [C, multiplier, KH, KW]. A padding of two values, as older logs have, is (vertical, horizontal).
Result<ConvArgs> convArgs(const Workload& workload);
/// Of dense templates: data, weight, bias or null, output dtype or null.
Result<DenseArgs> denseArgs(const Workload& workload);

/// The workload of a task with these arguments, as the reference extracts it from a network: never packed.
Workload convWorkload(std::string task, const ConvArgs& args);
Workload denseWorkload(std::string task, const DenseArgs& args);
/// The same workload by which tasks are found: as it was before a rewriting of layouts packed its tensors, and without
/// a bias. One of another form as it is.
Workload unpacked(const Workload& workload);

/// Errors: InvalidArgument. `place` is named in it.
Result<TensorArg> tensorArg(const JsonValue& arg, const std::string& place);
JsonValue tensorJson(const TensorArg& tensor);

} // namespace lathe::templates
