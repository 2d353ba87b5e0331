#pragma once

#include "core/templates/workload_args.h"

#include <array>

namespace lathe::templates::test {

/// The 12 distinct convolutions of relay.testing's resnet-18 with the sizes of their spaces (autotvm.md 5.1).
struct ResnetTask
{
    std::int64_t in, out, kernel, stride, padding, size; ///< size: of the input
    std::uint64_t factors, verbose, cuda, winograd, mali; ///< winograd: 0 where it does not apply
};

inline constexpr std::array<ResnetTask, 12> kResnetTasks = {{
    {3, 64, 7, 2, 3, 224, 252, 308, 79'027'200, 0, 9'072'000},
    {64, 64, 3, 1, 1, 56, 784, 980, 90'316'800, 352'800, 4'032'000},
    {64, 64, 1, 1, 0, 56, 784, 980, 22'579'200, 0, 4'032'000},
    {64, 128, 3, 2, 1, 56, 672, 896, 32'256'000, 0, 1'866'240},
    {64, 128, 1, 2, 0, 56, 672, 896, 8'064'000, 0, 1'866'240},
    {128, 128, 3, 1, 1, 28, 768, 1'024, 36'864'000, 576'000, 1'866'240},
    {128, 256, 3, 2, 1, 28, 576, 864, 8'110'080, 0, 583'200},
    {128, 256, 1, 2, 0, 28, 576, 864, 2'027'520, 0, 583'200},
    {256, 256, 3, 1, 1, 14, 648, 972, 9'123'840, 89'100, 583'200},
    {256, 512, 3, 2, 1, 14, 360, 720, 760'320, 0, 79'200},
    {256, 512, 1, 2, 0, 14, 360, 720, 190'080, 0, 79'200},
    {512, 512, 3, 1, 1, 7, 400, 800, 844'800, 462'000, 79'200},
}};

inline ConvArgs argsOf(const ResnetTask& task)
{
    ConvArgs args;
    args.inChannels = task.in;
    args.outChannels = task.out;
    args.height = args.width = task.size;
    args.kernelHeight = args.kernelWidth = task.kernel;
    args.strides = {task.stride, task.stride};
    args.padding = {task.padding, task.padding, task.padding, task.padding};
    return args;
}

inline ConvArgs depthwiseArgs(std::int64_t channels, std::int64_t size)
{
    ConvArgs args;
    args.depthwise = true;
    args.inChannels = args.outChannels = channels;
    args.height = args.width = size;
    args.kernelHeight = args.kernelWidth = 3;
    args.padding = {1, 1, 1, 1};
    return args;
}

} // namespace lathe::templates::test
