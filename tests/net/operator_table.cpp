#include "tests/net/operator_table.h"

#include "core/graph/node_types.h"
#include "core/graph/passes.h"
#include "tests/core/graph/operator_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::net {

namespace {

using graph::TensorType;
using operator_cases::Ints;
using operator_cases::Row;

const std::vector<Schedule> kAllSchedules = {Schedule::Default, Schedule::Sampled, Schedule::Random};

struct Shaped
{
    std::vector<TensorType> inputs;
    graph::Attrs attrs;
    std::size_t outputs = 1;
    std::vector<Schedule> schedules = kAllSchedules;
};

TensorType f32(Ints shape)
{
    return {DType::F32, std::move(shape)};
}

/// Shapes that are no multiples of a vector, for whatever takes operands of one shape.
std::vector<Shaped> plainShapes(const graph::OpDef& entry)
{
    const auto count = static_cast<std::size_t>(std::max(entry.minInputs, 1));
    const auto all = [&](const Ints& shape) { return std::vector<TensorType>(count, f32(shape)); };
    std::vector<Shaped> rows = {{all({33}), {}, 1, {Schedule::Default}}, {all({}), {}, 1, {Schedule::Default}},
                                {all({1}), {}, 1, {Schedule::Sampled}},  {all({2, 15}), {}, 1, kAllSchedules},
                                {all({31}), {}, 1, {Schedule::Sampled}}, {all({3, 17}), {}, 1, {Schedule::Random}}};
    if (entry.pattern == graph::Pattern::Broadcast && count >= 2) {
        std::vector<TensorType> wide(count, f32({3, 1, 5}));
        wide[1] = f32({7, 1});
        rows.push_back({wide, {}, 1, {Schedule::Default, Schedule::Random}});
        wide[0] = f32({});
        wide[1] = f32({2, 17});
        rows.push_back({wide, {}, 1, {Schedule::Sampled}});
    }
    return rows;
}

/// Beside the rows of operator_cases.h: shapes that are no multiples of a vector where a plain one does not do.
std::vector<Row> oddRows()
{
    std::vector<Row> rows;
    for (const char* op : {"sum", "mean", "prod", "max", "min"}) {
        rows.push_back({"all", op, {}, {f32({33})}, ""});
        rows.push_back({"rows", op, {{"axes", Ints{1}}}, {f32({3, 17})}, ""});
        rows.push_back({"columns", op, {{"axes", Ints{0}}, {"keepdims", std::int64_t{1}}}, {f32({15, 31})}, ""});
    }
    for (const char* op : {"argmax", "argmin"}) {
        rows.push_back({"rows", op, {{"axes", Ints{1}}}, {f32({3, 17})}, ""});
        rows.push_back({"columns", op, {{"axes", Ints{0}}, {"keepdims", std::int64_t{1}}}, {f32({15, 31})}, ""});
    }
    for (const char* op : {"softmax", "log_softmax"}) {
        rows.push_back({"rows", op, {}, {f32({3, 33})}, ""});
        rows.push_back({"columns", op, {{"axis", std::int64_t{0}}}, {f32({15, 2})}, ""});
    }
    for (const char* op : {"global_max_pool2d", "global_avg_pool2d"})
        rows.push_back({"image", op, {}, {f32({2, 3, 5, 7})}, ""});
    for (const char* mode : {"constant", "edge", "reflect"})
        rows.push_back(
            {mode, "pad", {{"pad_width", Ints{1, 0, 2, 3}}, {"mode", std::string(mode)}}, {f32({2, 17})}, ""});
    rows.push_back({"odd", "matmul", {}, {f32({3, 17}), f32({17, 33})}, ""});
    rows.push_back({"turned",
                    "matmul",
                    {{"transpose_a", std::int64_t{1}}, {"transpose_b", std::int64_t{1}}},
                    {f32({17, 3}), f32({31, 17})},
                    ""});
    rows.push_back({"odd", "dense", {}, {f32({1, 33}), f32({15, 33})}, ""});
    rows.push_back({"both ends", "clip", {{"min", -2.0}, {"max", 3.0}}, {f32({33})}, ""});
    rows.push_back({"scatter_elements maximum",
                    "scatter_elements",
                    {{"reduction", std::string("max")}},
                    {f32({5, 3}), {DType::I64, {4, 3}}, f32({4, 3})},
                    ""});
    rows.push_back({"scatter_nd adds",
                    "scatter_nd",
                    {{"reduction", std::string("add")}},
                    {f32({4, 3}), {DType::I32, {5, 1}}, f32({5, 3})},
                    ""});
    rows.push_back({"odd", "cumulative_sum", {}, {f32({33})}, ""});
    rows.push_back({"odd", "top_positions", {{"axis", std::int64_t{0}}, {"k", std::int64_t{7}}}, {f32({33})}, ""});
    for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
        const char* name = toString(static_cast<DType>(i));
        rows.push_back({name, "cast", {{"dtype", std::string(name)}}, {f32({33})}, ""});
    }
    return rows;
}

/// The row's types with `dtype` in the place of its own: that of its float operands, or of the first one.
std::vector<TensorType> inType(std::vector<TensorType> inputs, DType dtype)
{
    const bool floats = std::ranges::any_of(inputs, [](const TensorType& type) { return isFloat(type.dtype); });
    const DType own = floats ? DType::F32 : inputs.empty() ? DType::F32 : inputs[0].dtype;
    const bool narrow = std::ranges::any_of(inputs,
                                            [&](const TensorType& type) { return floats && type.dtype == own; });
    for (TensorType& type : inputs)
        if (narrow ? type.dtype == DType::F32 : type.dtype == own)
            type.dtype = dtype;
    return inputs;
}

std::optional<OperatorCase> caseOf(const graph::OpDef& entry, const Shaped& row, DType dtype)
{
    OperatorCase made;
    graph::Node node;
    node.name = "node";
    node.op = std::string(entry.name);
    node.attrs = row.attrs;
    const std::vector<TensorType> types = inType(row.inputs, dtype);
    std::vector<std::string> shapes;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const graph::ValueId id = made.graph.addValue(fmt::format("x{}", i), types[i].dtype, types[i].shape);
        made.graph.inputs.push_back(id);
        node.inputs.push_back(id);
        shapes.push_back(fmt::format("[{}]", fmt::join(types[i].shape, ", ")));
        Domain domain;
        domain.moderate = entry.traits.sums || entry.name.starts_with("scatter");
        domain.finite = i == 1 && (entry.name.starts_with("conv") || entry.name.starts_with("roi"));
        domain.moderate = domain.moderate || (i == 1 && entry.name.starts_with("roi")); // where regions lie
        domain.divisor = i == 1 && (entry.name == "divide" || entry.name == "mod");
        domain.base = i == 0 && entry.name == "pow";
        domain.exponent = i == 1 && entry.name == "pow";
        made.domains.push_back(domain);
        made.places.push_back(i == 1 && entry.traits.picksFrom
                                  ? entry.traits.picksFrom(node, types[0].shape, types[1].shape)
                              : i == 2 && entry.name == "roi_align" && !types[0].shape.empty()
                                  ? types[0].shape[0] // which image a region lies on
                                  : 0);
    }
    for (std::size_t i = 0; i < row.outputs; ++i) {
        node.outputs.push_back(made.graph.addValue(fmt::format("y{}", i), DType::F32, {}));
        made.graph.outputs.push_back(node.outputs.back());
    }
    made.graph.name = "net";
    made.graph.addNode(std::move(node));
    auto typed = graph::inferTypes(std::move(made.graph));
    if (!typed)
        return std::nullopt;
    made.graph = *std::move(typed);
    made.dtype = dtype;
    made.schedules = row.schedules;
    made.name = fmt::format("{} {} of {}", entry.name, toString(dtype), fmt::join(shapes, ", "));
    return made;
}

} // namespace

std::vector<graph::HostTensor> OperatorCase::inputs(Values values, std::uint64_t seed) const
{
    Random random(seed);
    std::vector<graph::HostTensor> made;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const graph::Value& value = graph.value(graph.inputs[i]);
        graph::HostTensor tensor = graph::HostTensor::zeros({value.dtype, value.shape});
        if (places[i] > 0)
            fillPlaces(tensor, places[i], random);
        else
            fill(tensor, values, domains[i], random);
        made.push_back(std::move(tensor));
    }
    return made;
}

std::vector<OperatorCase> casesOf(const graph::OpDef& entry)
{
    std::vector<Shaped> rows;
    for (const std::vector<Row>& table : {operator_cases::goodRows(), oddRows()})
        for (const Row& row : table)
            if (row.op == entry.name)
                rows.push_back({row.inputs, row.attrs, row.outputs});
    for (Shaped& shaped : plainShapes(entry))
        rows.push_back(std::move(shaped));
    std::vector<OperatorCase> cases;
    for (const Shaped& row : rows)
        for (int i = 0; i <= static_cast<int>(DType::F64); ++i)
            if (auto made = caseOf(entry, row, static_cast<DType>(i)))
                cases.push_back(*std::move(made));
    return cases;
}

} // namespace lathe::net
