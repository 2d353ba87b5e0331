#pragma once

#include "core/compute/interpret.h"
#include "core/support/check.h"

#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace lathe::test {

using Floats = std::vector<float>;

inline std::span<const std::byte> bytesOf(const Floats& values)
{
    return std::as_bytes(std::span(values));
}

/// Values in [-1, 1), the same for the same seed.
inline Floats randomFloats(std::size_t count, unsigned seed)
{
    std::minstd_rand generator(seed + 1);
    Floats values(count);
    for (float& v : values)
        v = static_cast<float>(generator() % 2000) / 1000.0F - 1.0F;
    return values;
}

inline compute::DagPtr finish(compute::DagBuilder&& b, compute::Tensor out)
{
    Result<compute::DagPtr> dag = std::move(b).finish({out});
    LATHE_CHECK(dag.has_value()) << dag.error().message;
    return *dag;
}

template<typename T>
std::vector<T> runAs(const compute::DagPtr& dag, const std::vector<std::span<const std::byte>>& inputs)
{
    Result<compute::Interpreter> interpreter = compute::Interpreter::compile(dag);
    LATHE_CHECK(interpreter.has_value()) << interpreter.error().message;
    Result<std::vector<std::vector<std::byte>>> result = interpreter->run(inputs);
    LATHE_CHECK(result.has_value()) << result.error().message;
    std::vector<T> values((*result)[0].size() / sizeof(T));
    std::memcpy(values.data(), (*result)[0].data(), (*result)[0].size());
    return values;
}

inline Floats runFloats(const compute::DagPtr& dag, const std::vector<Floats>& inputs)
{
    std::vector<std::span<const std::byte>> views;
    for (const Floats& input : inputs)
        views.push_back(bytesOf(input));
    return runAs<float>(dag, views);
}

/// Builds with `define(builder, placeholders)` and runs on float inputs of the given shapes.
inline Floats evaluate(
    const std::vector<std::vector<std::int64_t>>& shapes, const std::vector<Floats>& inputs,
    const std::function<compute::Tensor(compute::DagBuilder&, const std::vector<compute::Tensor>&)>& define)
{
    compute::DagBuilder b;
    std::vector<compute::Tensor> tensors;
    for (const auto& shape : shapes)
        tensors.push_back(b.placeholder("placeholder", shape, DType::F32));
    const compute::Tensor out = define(b, tensors);
    std::vector<compute::Tensor> order;
    Result<compute::DagPtr> dag = std::move(b).finish({out}, &order);
    LATHE_CHECK(dag.has_value()) << dag.error().message;
    std::vector<Floats> ordered;
    for (const compute::Tensor t : order)
        ordered.push_back(inputs[static_cast<std::size_t>(t.id)]);
    return runFloats(*dag, ordered);
}

} // namespace lathe::test
