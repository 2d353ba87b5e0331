#include "tests/examples/operator/cube.h"

#include "core/compute/definitions/elementwise.h"

#include <algorithm>

namespace lathe::examples {

using namespace graph;

namespace {

/// From the types of the operands (and the values of those that are constant) the types of the results.
Result<std::vector<TensorType>> inferTypes(const Node&, std::span<const TensorType> inputs,
                                           std::span<const ConstData* const>)
{
    if (inputs[0].dtype != DType::F32)
        return makeError(Errc::InvalidArgument, "the input must be f32");
    return std::vector{inputs[0]};
}

/// What kernels are made from.
Result<compute::Tensor> compute(const Node&, std::span<const compute::Tensor> inputs, ComputeContext& context)
{
    compute::DagBuilder& b = context.builder;
    const compute::Tensor square = compute::binary(b, compute::Binary::Multiply, inputs[0], inputs[0]);
    return compute::binary(b, compute::Binary::Multiply, square, inputs[0]);
}

/// What results are compared with: shares no code with the above.
Result<> evaluate(const Node&, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const std::span<const float> from = inputs[0]->as<float>();
    std::transform(from.begin(), from.end(), outputs[0].as<float>().begin(), [](float x) { return x * x * x; });
    return {};
}

} // namespace

OpDef cube()
{
    OpDef entry;
    entry.name = "own_cube";
    entry.pattern = Pattern::Elementwise; // what it is fused with
    entry.inferTypes = inferTypes;
    entry.compute = compute;
    entry.evaluate = evaluate;
    entry.traits.layout = LayoutRule::Elementwise; // what passes may do with it
    return entry;
}

} // namespace lathe::examples
