// Operators whose results are as large as the data says: each has room for the most that it can be, with zeros behind
// what there is, and gives a count. They run as functions of the runtime, which sort and write to computed places.

#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/functions.h"
#include "core/graph/operators/indexing.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lathe::graph::operators {
namespace {

const TensorType kCount{DType::I64, {}};

void writeCount(HostTensor& tensor, std::int64_t count)
{
    writeInts(tensor, std::array{count});
}

// ---- what is not zero

Result<Types> inferNonzero(const Node&, InputTypes inputs, Constants)
{
    if (inputs[0].shape.empty() || elementCount(inputs[0].shape) == 0)
        return brokenRule("the input must have elements, and one dimension at least");
    return Types{{DType::I64, {static_cast<std::int64_t>(inputs[0].shape.size()), elementCount(inputs[0].shape)}},
                 kCount};
}

Result<> evaluateNonzero(const Node&, Arguments inputs, std::span<HostTensor> outputs)
{
    const std::vector<double> values = readFloats(*inputs[0]); // no integer but 0 becomes 0
    std::vector<std::int64_t> positions(inputs[0]->type.shape.size() * values.size(), 0);
    std::size_t found = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == 0)
            continue;
        const Shape at = unflatten(static_cast<std::int64_t>(i), inputs[0]->type.shape);
        for (std::size_t d = 0; d < at.size(); ++d)
            positions[d * values.size() + found] = at[d];
        ++found;
    }
    writeInts(outputs[0], positions);
    writeCount(outputs[1], static_cast<std::int64_t>(found));
    return {};
}

Result<FunctionCall> callNonzero(const Node&, InputTypes inputs, InputTypes)
{
    const Shape& shape = inputs[0].shape;
    LATHE_TRY(needRunnable(shape.size()));
    runtime::NonzeroParameters p{};
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.rank = static_cast<std::int64_t>(shape.size());
    std::ranges::copy(shape, p.shape);
    FunctionCall call = functionCall({"lathe_0_nonzero_count", "lathe_0_nonzero"}, p);
    call.teamScratchBytes = runtime::kCountedChunks * static_cast<std::int64_t>(sizeof(std::int64_t));
    return call;
}

// ---- what is different

Result<Types> inferUnique(const Node& node, InputTypes inputs, Constants)
{
    if (elementCount(inputs[0].shape) == 0)
        return brokenRule("the input must have elements");
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
    const TensorType places{DType::I64, {inputs[0].shape[axis]}};
    return Types{places, places, places, kCount};
}

Result<> evaluateUnique(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, shape.size()));
    LATHE_TRY_ASSIGN(const bool sorted, boolAttr(node, "sorted", true));
    const std::int64_t inner = denseStrides(shape)[axis], extent = shape[axis];
    const std::int64_t outer = elementCount(shape) / (inner * extent);
    const auto run = [&](const auto& values) {
        using T = typename std::remove_cvref_t<decltype(values)>::value_type;
        std::vector<std::vector<T>> slices(static_cast<std::size_t>(extent));
        for (std::int64_t o = 0; o < outer; ++o)
            for (std::int64_t k = 0; k < extent; ++k)
                for (std::int64_t i = 0; i < inner; ++i)
                    slices[static_cast<std::size_t>(k)].push_back(
                        values[static_cast<std::size_t>((o * extent + k) * inner + i)]);
        const auto below = [](T a, T b) {
            if constexpr (std::is_floating_point_v<T>) {
                if (std::isnan(a) || std::isnan(b))
                    return !std::isnan(a);
            }
            return a < b;
        };
        const auto before = [&](std::int64_t a, std::int64_t b) {
            const auto &x = slices[static_cast<std::size_t>(a)], &y = slices[static_cast<std::size_t>(b)];
            return std::ranges::lexicographical_compare(x, y, [&](T p, T q) { return below(p, q) && !below(q, p); });
        };
        std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, before);
        std::vector<std::vector<std::int64_t>> groups;
        for (const std::int64_t k : order) {
            if (groups.empty() || before(groups.back().front(), k))
                groups.emplace_back();
            groups.back().push_back(k);
        }
        if (!sorted)
            std::ranges::sort(groups, {}, [](const auto& group) { return group.front(); });
        return groups;
    };
    const DType dtype = inputs[0]->type.dtype;
    std::vector<std::vector<std::int64_t>> groups;
    if (isFloat(dtype)) {
        groups = run(readFloats(*inputs[0]));
    } else {
        const std::vector<std::int64_t> values = readInts(*inputs[0]);
        groups = dtype == DType::U64 ? run(std::vector<std::uint64_t>(values.begin(), values.end())) : run(values);
    }
    std::vector<std::int64_t> first(static_cast<std::size_t>(extent), 0), inverse = first, counts = first;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        first[g] = groups[g].front();
        counts[g] = std::ssize(groups[g]);
        for (const std::int64_t k : groups[g])
            inverse[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(g);
    }
    writeInts(outputs[0], first);
    writeInts(outputs[1], inverse);
    writeInts(outputs[2], counts);
    writeCount(outputs[3], std::ssize(groups));
    return {};
}

Result<FunctionCall> callUnique(const Node& node, InputTypes inputs, InputTypes)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
    LATHE_TRY_ASSIGN(const bool sorted, boolAttr(node, "sorted", true));
    runtime::UniqueParameters p{};
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.rows = rowsAlong(inputs[0].shape, axis);
    p.sorted = sorted ? 1 : 0;
    FunctionCall call = functionCall({"lathe_0_unique"}, p);
    call.teamScratchBytes = 4 * p.rows.extent * static_cast<std::int64_t>(sizeof(std::int64_t));
    return call;
}

// ---- boxes that do not overlap a better one

Result<std::int64_t> perClassOf(const Node& node, InputTypes inputs)
{
    LATHE_TRY_ASSIGN(const std::int64_t wanted, intAttr(node, "per_class", inputs[0].shape[1]));
    if (wanted < 1)
        return brokenRule(fmt::format("per_class must be positive, it is {}", wanted));
    return std::min(wanted, inputs[0].shape[1]);
}

Result<Types> inferNonMaxSuppression(const Node& node, InputTypes inputs, Constants)
{
    const TensorType &boxes = inputs[0], &scores = inputs[1];
    LATHE_TRY(needRank(boxes, 3, "boxes"));
    LATHE_TRY(needRank(scores, 3, "scores"));
    if (boxes.dtype != DType::F32 || scores.dtype != DType::F32)
        return brokenRule("boxes and scores must be float32");
    if (boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2])
        return brokenRule(
            fmt::format("boxes {} do not fit scores {}", shapeText(boxes.shape), shapeText(scores.shape)));
    constexpr DType kTypes[] = {DType::I64, DType::F32, DType::F32, DType::I64};
    for (std::size_t i = 0; i < 4; ++i)
        if (inputs[2 + i].dtype != kTypes[i] || elementCount(inputs[2 + i].shape) != 1)
            return brokenRule(fmt::format("operand {} must be one {}", 2 + i, toString(kTypes[i])));
    LATHE_TRY_ASSIGN(const std::int64_t most, perClassOf(node, inputs));
    return Types{{DType::I64, {scores.shape[0] * scores.shape[1] * most, 3}}, kCount};
}

struct Corners
{
    float x0, y0, x1, y1;
};

Corners cornersOf(std::span<const float> box, bool center)
{
    if (center)
        return {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
    return {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]), std::max(box[0], box[2])};
}

/// In float, as every other implementation: which boxes are left depends on how this is rounded.
float intersectionOverUnion(const Corners& a, const Corners& b)
{
    const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
    const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
    const float areaA = (a.x1 - a.x0) * (a.y1 - a.y0), areaB = (b.x1 - b.x0) * (b.y1 - b.y0);
    const float common = width * height;
    if (!(width > 0) || !(height > 0) || !(common > 0) || !(areaA > 0) || !(areaB > 0))
        return 0;
    const float both = areaA + areaB - common;
    return both > 0 ? common / both : 0;
}

Result<> evaluateNonMaxSuppression(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const bool center, boolAttr(node, "center", false));
    LATHE_TRY_ASSIGN(const bool hasScore, boolAttr(node, "has_score", false));
    const std::array types{inputs[0]->type, inputs[1]->type};
    LATHE_TRY_ASSIGN(const std::int64_t perClass, perClassOf(node, types));
    const std::int64_t batches = types[1].shape[0], classes = types[1].shape[1], boxes = types[1].shape[2];
    const std::int64_t most = std::min(perClass, inputs[2]->as<std::int64_t>()[0]);
    const float overlap = inputs[3]->as<float>()[0], lowest = inputs[4]->as<float>()[0];
    const std::int64_t existing = std::min(boxes, inputs[5]->as<std::int64_t>()[0]);
    std::vector<std::int64_t> selected;
    for (std::int64_t batch = 0; batch < batches; ++batch)
        for (std::int64_t c = 0; c < classes; ++c) {
            const auto scores = inputs[1]->as<float>().subspan(static_cast<std::size_t>((batch * classes + c) * boxes));
            const auto cornersAt = [&](std::int64_t box) {
                return cornersOf(inputs[0]->as<float>().subspan(static_cast<std::size_t>((batch * boxes + box) * 4), 4),
                                 center);
            };
            std::vector<std::int64_t> order;
            for (std::int64_t box = 0; box < existing; ++box)
                if (!hasScore || scores[static_cast<std::size_t>(box)] > lowest)
                    order.push_back(box);
            std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
                const float x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
                return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x > y;
            });
            std::vector<std::int64_t> taken;
            for (const std::int64_t box : order) {
                if (std::ssize(taken) >= most)
                    break;
                const Corners corners = cornersAt(box);
                if (std::ranges::none_of(taken, [&](std::int64_t other) {
                        const float found = intersectionOverUnion(corners, cornersAt(other));
                        return found > 0 && found > overlap;
                    }))
                    taken.push_back(box);
            }
            for (const std::int64_t box : taken)
                selected.insert(selected.end(), {batch, c, box});
        }
    writeCount(outputs[1], std::ssize(selected) / 3);
    selected.resize(static_cast<std::size_t>(elementCount(outputs[0].type.shape)), 0);
    writeInts(outputs[0], selected);
    return {};
}

Result<FunctionCall> callNonMaxSuppression(const Node& node, InputTypes inputs, InputTypes)
{
    LATHE_TRY_ASSIGN(const bool center, boolAttr(node, "center", false));
    LATHE_TRY_ASSIGN(const bool hasScore, boolAttr(node, "has_score", false));
    runtime::NonMaxSuppressionParameters p{};
    p.batches = inputs[1].shape[0];
    p.classes = inputs[1].shape[1];
    p.boxes = inputs[1].shape[2];
    LATHE_TRY_ASSIGN(p.perClass, perClassOf(node, inputs));
    p.center = center ? 1 : 0;
    p.hasScore = hasScore ? 1 : 0;
    FunctionCall call = functionCall({"lathe_0_non_max_suppression_select", "lathe_0_non_max_suppression"}, p);
    call.teamScratchBytes = p.batches * p.classes * (1 + p.perClass) * static_cast<std::int64_t>(sizeof(std::int64_t));
    call.partScratchBytes = p.boxes * runtime::kSelectionBytes;
    return call;
}

} // namespace

std::span<const OpDef> countedOperators()
{
    static const std::vector<OpDef> table = {
        {"nonzero", Pattern::Opaque, 1, 1, inferNonzero, nullptr, evaluateNonzero, {}, callNonzero},
        {"unique", Pattern::Opaque, 1, 1, inferUnique, nullptr, evaluateUnique, {}, callUnique},
        {"non_max_suppression",
         Pattern::Opaque,
         6,
         6,
         inferNonMaxSuppression,
         nullptr,
         evaluateNonMaxSuppression,
         {},
         callNonMaxSuppression},
    };
    return table;
}

} // namespace lathe::graph::operators
