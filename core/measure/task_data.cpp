#include "core/measure/task_data.h"

#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/support/element_count.h"
#include "core/support/random.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace lathe::measure {

namespace {

/// The points at which an output is checked, each once.
class Points
{
public:
    Points(const std::vector<std::int64_t>& shape, std::size_t wanted)
        : m_shape(shape)
        , m_wanted(wanted)
    {
    }

    void add(std::int64_t linear)
    {
        if (m_points.size() < m_wanted)
            m_points.insert(linear);
    }
    void add(const std::vector<std::int64_t>& index)
    {
        std::int64_t linear = 0;
        for (std::size_t d = 0; d < m_shape.size(); ++d)
            linear = linear * m_shape[d] + index[d];
        add(linear);
    }
    bool full() const { return m_points.size() >= m_wanted; }
    std::vector<std::int64_t> take() const { return {m_points.begin(), m_points.end()}; }

private:
    const std::vector<std::int64_t>& m_shape;
    const std::size_t m_wanted;
    std::set<std::int64_t> m_points;
};

/// Where padding and tails go wrong: the corners, of the last dimensions first if they are too many.
void addCorners(Points& points, const std::vector<std::int64_t>& shape, std::size_t most)
{
    const std::size_t corners = std::min<std::size_t>(std::size_t(1) << std::min<std::size_t>(shape.size(), 10), most);
    for (std::size_t corner = 0; corner < corners; ++corner) {
        std::vector<std::int64_t> index(shape.size());
        for (std::size_t d = 0; d < shape.size(); ++d)
            index[d] = (corner >> (shape.size() - 1 - d) & 1) != 0 ? shape[d] - 1 : 0;
        points.add(index);
    }
}

/// A point and its neighbours, on a border of a dimension or anywhere. Neighbours along the last dimensions are cheap:
/// they mostly come from the same tile of a transform, or read the same row.
void addNeighbourhood(Points& points, const std::vector<std::int64_t>& shape, bool onBorder, Random& random)
{
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d)
        index[d] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape[d])));
    if (onBorder) {
        const auto d = static_cast<std::size_t>(random.below(shape.size()));
        index[d] = random.below(2) == 0 ? 0 : shape[d] - 1;
    }
    points.add(index);
    constexpr std::pair<std::size_t, std::int64_t> kSteps[] = {{1, 1}, {1, 2}, {2, 1}}; // along the last, but one
    for (const auto& [back, step] : kSteps) {
        if (back > shape.size())
            break;
        std::vector<std::int64_t> beside = index;
        std::int64_t& at = beside[shape.size() - back];
        at += at + step < shape[shape.size() - back] ? step : -step;
        if (at >= 0)
            points.add(beside);
    }
}

/// Corners, the last vector, then neighbourhoods from the seed, every second of them on a border; all points of a small
/// tensor.
std::vector<std::int64_t> choosePoints(const std::vector<std::int64_t>& shape, std::int32_t wanted, Random random)
{
    constexpr std::int64_t kVector = 16; // the longest that a register holds
    const std::int64_t count = elementCount(shape);
    Points points(shape, static_cast<std::size_t>(wanted));
    if (count <= wanted) {
        for (std::int64_t i = 0; i < count; ++i)
            points.add(i);
        return points.take();
    }
    addCorners(points, shape, static_cast<std::size_t>(wanted) / 4);
    for (std::int64_t i = 1; i <= std::min<std::int64_t>(kVector, wanted / 4); ++i)
        points.add(count - i);
    for (bool onBorder = true; !points.full(); onBorder = !onBorder)
        addNeighbourhood(points, shape, onBorder, random);
    return points.take();
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
        std::vector<std::byte> bytes(static_cast<std::size_t>(elementCount(op.shape) * sizeOf(op.dtype)));
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
