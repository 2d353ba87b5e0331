#include "core/measure/task_data.h"

#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/support/random.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::measure {

namespace {

std::int64_t countOf(const std::vector<std::int64_t>& shape)
{
    std::int64_t n = 1;
    for (const std::int64_t extent : shape)
        n *= extent;
    return n;
}

/// Corners of the tensor, where padding and tails go wrong, then points from the seed; each once.
std::vector<std::int64_t> choosePoints(const std::vector<std::int64_t>& shape, std::int32_t wanted, Random random)
{
    const std::int64_t count = countOf(shape);
    std::vector<std::int64_t> points;
    if (count <= wanted) {
        for (std::int64_t i = 0; i < count; ++i)
            points.push_back(i);
        return points;
    }
    const std::size_t corners = std::min<std::size_t>(std::size_t(1) << std::min<std::size_t>(shape.size(), 10),
                                                      static_cast<std::size_t>(wanted) / 2);
    for (std::size_t corner = 0; corner < corners; ++corner) {
        std::int64_t linear = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            // The last dimensions vary first: with few corners allowed it is rows and columns that matter.
            const bool last = corner >> (shape.size() - 1 - d) & 1;
            linear = linear * shape[d] + (last ? shape[d] - 1 : 0);
        }
        points.push_back(linear);
    }
    while (points.size() < static_cast<std::size_t>(wanted))
        points.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count))));
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

std::vector<std::vector<std::int64_t>> toIndices(const std::vector<std::int64_t>& points,
                                                 const std::vector<std::int64_t>& shape)
{
    std::vector<std::vector<std::int64_t>> all;
    for (std::int64_t linear : points) {
        std::vector<std::int64_t> index(shape.size());
        for (std::size_t d = shape.size(); d-- > 0;) {
            index[d] = linear % shape[d];
            linear /= shape[d];
        }
        all.push_back(std::move(index));
    }
    return all;
}

} // namespace

Result<TaskDataPtr> makeTaskData(const compute::DagPtr& dag, std::vector<bool> constantInputs, std::uint64_t seed,
                                 const CheckOptions& options)
{
    auto data = std::make_shared<TaskData>();
    data->dagJson = compute::toJson(*dag).dump();
    data->dagHash = contentHash(data->dagJson);
    data->constantInputs = std::move(constantInputs);
    data->seed = seed;
    data->ranges = options.ranges;
    if (options.pointsPerOutput <= 0)
        return TaskDataPtr(std::move(data));

    std::vector<std::vector<std::byte>> inputs;
    for (std::size_t i = 0; i < dag->inputs.size(); ++i) {
        const compute::Op& op = dag->ops[static_cast<std::size_t>(dag->inputs[i])];
        std::vector<std::byte> bytes(static_cast<std::size_t>(countOf(op.shape) * sizeOf(op.dtype)));
        const wire::SeededRange range = i < options.ranges.size() ? options.ranges[i] : wire::SeededRange();
        wire::fillSeeded(wire::inputSeed(seed, i), op.dtype, range, bytes);
        inputs.push_back(std::move(bytes));
    }
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    LATHE_TRY_ASSIGN(const compute::Interpreter interpreter, compute::Interpreter::compile(dag));
    for (std::size_t o = 0; o < dag->outputs.size(); ++o) {
        const compute::Op& op = dag->ops[static_cast<std::size_t>(dag->outputs[o])];
        ExpectedOutput expected;
        expected.output = static_cast<std::int32_t>(o);
        expected.tolerance = options.tolerance.of(op.dtype);
        expected.points = choosePoints(op.shape, options.pointsPerOutput, Random(seed, 0xc0ffee, o));
        const auto indices = toIndices(expected.points, op.shape);
        LATHE_TRY_ASSIGN(expected.values, interpreter.sample(views, expected.output, indices));
        data->expected.push_back(std::move(expected));
    }
    return TaskDataPtr(std::move(data));
}

} // namespace lathe::measure
