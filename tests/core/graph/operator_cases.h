#pragma once

#include "core/graph/operator.h"

#include <cstdint>
#include <string>
#include <vector>

/// Nodes that every shape rule accepts: the table behind the tests of types and of compute definitions.
namespace operator_cases {

using lathe::DType;
using lathe::graph::Attrs;
using lathe::graph::TensorType;
using Ints = std::vector<std::int64_t>;

inline TensorType f32(Ints shape)
{
    return {DType::F32, std::move(shape)};
}

struct Row
{
    const char* name;
    std::string op;
    Attrs attrs;
    std::vector<TensorType> inputs;
    const char* expected; ///< whole types; or a part of the broken rule
    std::size_t outputs = 1;
};

inline const TensorType kImage = f32({1, 8, 14, 12});
inline const TensorType kImageLast = f32({1, 14, 12, 8});
inline const TensorType kVolume = f32({1, 4, 6, 7, 5});
inline const TensorType kVolumeLast = f32({1, 6, 7, 5, 4});
inline const TensorType kBool{DType::Bool, {2, 3}};
inline const TensorType kLong{DType::I64, {2, 3}};

inline std::vector<Row> goodRows()
{
    return {
        {"conv2d",
         "conv2d",
         {{"strides", Ints{2, 1}}, {"padding", Ints{1, 1, 0, 1}}},
         {kImage, f32({16, 8, 3, 3})},
         "float32 [1, 16, 7, 12]"},
        {"conv2d NHWC",
         "conv2d",
         {{"layout", std::string("NHWC")}},
         {kImageLast, f32({3, 3, 8, 16})},
         "float32 [1, 12, 10, 16]"},
        {"depthwise HWOI",
         "conv2d",
         {{"layout", std::string("NHWC")}, {"kernel_layout", std::string("HWOI")}, {"groups", std::int64_t{8}}},
         {kImageLast, f32({3, 3, 8, 1})},
         "float32 [1, 12, 10, 8]"},
        {"dilated groups",
         "conv2d",
         {{"dilations", Ints{2, 2}}, {"groups", std::int64_t{2}}},
         {kImage, f32({6, 4, 3, 3})},
         "float32 [1, 6, 10, 8]"},
        {"int8 to int32",
         "conv2d",
         {{"out_dtype", std::string("int32")}},
         {{DType::I8, {1, 8, 4, 4}}, {DType::I8, {2, 8, 1, 1}}},
         "int32 [1, 2, 4, 4]"},
        {"conv2d_transpose",
         "conv2d_transpose",
         {{"strides", Ints{2, 2}}, {"padding", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 0}}},
         {kImage, f32({8, 4, 4, 4})},
         "float32 [1, 4, 29, 24]"},
        {"conv3d",
         "conv3d",
         {{"strides", Ints{1, 2, 1}}, {"padding", Ints{1, 0, 2, 0, 1, 1}}, {"dilations", Ints{2, 1, 1}}},
         {kVolume, f32({6, 4, 3, 2, 3})},
         "float32 [1, 6, 3, 4, 6]"},
        {"conv3d NDHWC",
         "conv3d",
         {{"layout", std::string("NDHWC")}, {"padding", Ints{1, 1, 1, 1, 1, 1}}},
         {kVolumeLast, f32({3, 3, 3, 4, 6})},
         "float32 [1, 6, 7, 5, 6]"},
        {"conv3d in groups",
         "conv3d",
         {{"groups", std::int64_t{2}}},
         {kVolume, f32({6, 2, 1, 2, 3})},
         "float32 [1, 6, 6, 6, 3]"},
        {"conv3d_transpose",
         "conv3d_transpose",
         {{"strides", Ints{2, 1, 2}}, {"padding", Ints{1, 0, 1, 0, 1, 1}}, {"output_padding", Ints{1, 0, 0}}},
         {kVolume, f32({4, 3, 2, 3, 3})},
         "float32 [1, 3, 12, 8, 9]"},
        {"max pool of volumes",
         "max_pool3d",
         {{"pool_size", Ints{2, 3, 3}},
          {"strides", Ints{2, 2, 2}},
          {"padding", Ints{0, 1, 1, 0, 1, 0}},
          {"ceil_mode", std::int64_t{1}}},
         {kVolume},
         "float32 [1, 4, 3, 4, 3]"},
        {"mean of volumes NDHWC",
         "avg_pool3d",
         {{"pool_size", Ints{2, 2, 2}}, {"padding", Ints{1, 0, 1, 0, 0, 1}}, {"layout", std::string("NDHWC")}},
         {kVolumeLast},
         "float32 [1, 6, 6, 6, 4]"},
        {"global mean of volumes", "global_avg_pool3d", {}, {kVolume}, "float32 [1, 4, 1, 1, 1]"},
        {"global maximum of volumes",
         "global_max_pool3d",
         {{"layout", std::string("NDHWC")}},
         {kVolumeLast},
         "float32 [1, 1, 1, 1, 4]"},
        {"dense", "dense", {}, {f32({5, 4}), f32({7, 4})}, "float32 [5, 7]"},
        {"matmul broadcasts", "matmul", {}, {f32({2, 1, 3, 4}), f32({5, 4, 6})}, "float32 [2, 5, 3, 6]"},
        {"matmul vector", "matmul", {}, {f32({4}), f32({4, 6})}, "float32 [6]"},
        {"batch_matmul", "batch_matmul", {}, {f32({2, 3, 4}), f32({2, 5, 4})}, "float32 [2, 3, 5]"},
        {"max pool ceil",
         "max_pool2d",
         {{"pool_size", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}},
         {kImage},
         "float32 [1, 8, 7, 6]"},
        {"ceil drops windows of padding",
         "avg_pool2d",
         {{"pool_size", Ints{2, 2}},
          {"strides", Ints{2, 2}},
          {"padding", Ints{1, 1, 1, 1}},
          {"ceil_mode", std::int64_t{1}}},
         {f32({1, 1, 3, 3})},
         "float32 [1, 1, 2, 2]"},
        {"global pool", "global_avg_pool2d", {{"layout", std::string("NHWC")}}, {kImageLast}, "float32 [1, 1, 1, 8]"},
        {"bias", "bias_add", {{"axis", std::int64_t{-1}}}, {kImageLast, f32({8})}, "float32 [1, 14, 12, 8]"},
        {"batch norm", "batch_norm", {}, {kImage, f32({8}), f32({8}), f32({8}), f32({8})}, "float32 [1, 8, 14, 12]"},
        {"broadcast", "add", {}, {f32({2, 1, 3}), f32({4, 1})}, "float32 [2, 4, 3]"},
        {"comparison", "less", {}, {kLong, kLong}, "bool [2, 3]"},
        {"where", "where", {}, {kBool, f32({1}), f32({5, 1, 3})}, "float32 [5, 2, 3]"},
        {"cast", "cast", {{"dtype", std::string("float16")}}, {kLong}, "float16 [2, 3]"},
        {"softmax", "softmax", {}, {f32({2, 3})}, "float32 [2, 3]"},
        {"reshape", "reshape", {{"newshape", Ints{0, -1, 6}}}, {f32({2, 3, 4})}, "float32 [2, 2, 6]"},
        {"flatten", "batch_flatten", {}, {f32({2, 3, 4})}, "float32 [2, 12]"},
        {"squeeze", "squeeze", {}, {f32({1, 3, 1})}, "float32 [3]"},
        {"expand_dims", "expand_dims", {{"axes", Ints{0, -1}}}, {f32({3})}, "float32 [1, 3, 1]"},
        {"transpose", "transpose", {{"axes", Ints{2, 0, 1}}}, {f32({2, 3, 4})}, "float32 [4, 2, 3]"},
        {"broadcast_to", "broadcast_to", {{"shape", Ints{4, 2, 3}}}, {f32({2, 1})}, "float32 [4, 2, 3]"},
        {"concatenate", "concatenate", {{"axis", std::int64_t{-1}}}, {f32({2, 3}), f32({2, 5})}, "float32 [2, 8]"},
        {"split sections",
         "split",
         {{"axis", std::int64_t{1}}, {"sections", std::int64_t{3}}},
         {f32({2, 6})},
         "float32 [2, 2], float32 [2, 2], float32 [2, 2]",
         3},
        {"split indices",
         "split",
         {{"axis", std::int64_t{1}}, {"indices", Ints{1, 4}}},
         {f32({2, 6})},
         "float32 [2, 1], float32 [2, 3], float32 [2, 2]",
         3},
        {"pad", "pad", {{"pad_width", Ints{0, 1, 2, -1}}}, {f32({2, 3})}, "float32 [3, 4]"},
        {"slice",
         "strided_slice",
         {{"begin", Ints{-1}}, {"end", Ints{-100}}, {"strides", Ints{-2}}, {"axes", Ints{1}}},
         {f32({2, 5})},
         "float32 [2, 3]"},
        {"take", "take", {{"axis", std::int64_t{1}}}, {f32({2, 3, 4}), {DType::I64, {5, 6}}}, "float32 [2, 5, 6, 4]"},
        {"gather_elements",
         "gather_elements",
         {{"axis", std::int64_t{1}}},
         {f32({2, 4}), {DType::I64, {2, 3}}},
         "float32 [2, 3]"},
        {"gather_nd", "gather_nd", {}, {f32({4, 3, 5}), {DType::I64, {6, 2}}}, "float32 [6, 5]"},
        {"gather_nd of batches",
         "gather_nd",
         {{"batch_dims", std::int64_t{1}}},
         {f32({2, 4, 5}), {DType::I32, {2, 3, 1}}},
         "float32 [2, 3, 5]"},
        {"scatter_elements",
         "scatter_elements",
         {{"axis", std::int64_t{0}}},
         {f32({4, 3}), {DType::I64, {2, 3}}, f32({2, 3})},
         "float32 [4, 3]"},
        {"scatter_elements adds",
         "scatter_elements",
         {{"axis", std::int64_t{1}}, {"reduction", std::string("add")}},
         {f32({3, 4}), {DType::I64, {2, 3}}, f32({2, 3})},
         "float32 [3, 4]"},
        {"scatter_elements takes the least",
         "scatter_elements",
         {{"reduction", std::string("min")}},
         {f32({4, 3}), {DType::I32, {2, 2}}, f32({2, 2})},
         "float32 [4, 3]"},
        {"scatter_nd", "scatter_nd", {}, {f32({4, 3, 5}), {DType::I64, {2, 2}}, f32({2, 5})}, "float32 [4, 3, 5]"},
        {"scatter_nd multiplies",
         "scatter_nd",
         {{"reduction", std::string("mul")}},
         {f32({4, 3}), {DType::I64, {5, 1}}, f32({5, 3})},
         "float32 [4, 3]"},
        {"cumulative_sum",
         "cumulative_sum",
         {{"axis", std::int64_t{-1}}, {"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}},
         {f32({2, 5})},
         "float32 [2, 5]"},
        {"top_positions",
         "top_positions",
         {{"axis", std::int64_t{0}}, {"k", std::int64_t{2}}},
         {f32({4, 3})},
         "int64 [2, 3]"},
        {"smallest positions",
         "top_positions",
         {{"axis", std::int64_t{1}}, {"k", std::int64_t{3}}, {"largest", std::int64_t{0}}},
         {f32({2, 6})},
         "int64 [2, 3]"},
        {"power of integers", "pow", {}, {kLong, kLong}, "int64 [2, 3]"},
        {"mean", "mean", {{"axes", Ints{-1, 0}}, {"keepdims", std::int64_t{1}}}, {f32({2, 3, 4})}, "float32 [1, 3, 1]"},
        {"sum of all", "sum", {}, {f32({2, 3})}, "float32 []"},
        {"argmax", "argmax", {{"axes", Ints{1}}}, {f32({2, 3})}, "int64 [2]"},
        {"clip of integers", "clip", {{"min", 0.0}}, {kLong}, "int64 [2, 3]"},
    };
}

} // namespace operator_cases
