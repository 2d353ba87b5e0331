#pragma once

#include "core/compute/dag.h"

#include <string>
#include <vector>

namespace lathe::test {

/// Small compute DAGs of many shapes: what a state's kernel is checked on.
struct DagCase
{
    std::string name;
    compute::DagPtr dag;
};
std::vector<DagCase> dagCases();
/// Few points each: for schedules by the hundred.
std::vector<DagCase> smallDagCases();

struct ConvLayer
{
    std::int64_t size, channels, filters, kernel, stride;
    bool depthwise = false;
};
/// data, weight, bias: convolution, bias, ReLU. NHWC.
compute::DagPtr convLayer(const ConvLayer& layer);

} // namespace lathe::test
