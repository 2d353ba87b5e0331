// Control flow: nodes that run other nodes, or not, or many times.
//
//   if    inputs:  condition, captured...
//         bodies:  for true, for false: (captured...) -> results...
//         outputs: results...
//   loop  inputs:  trips, condition, initial values of what is carried (attribute "carried": how many), captured...
//         body:    (iteration, condition, carried..., captured...) -> next condition, next carried..., rows...
//         outputs: what is carried at the end..., the rows of each iteration stacked along a new first dimension
//                  (attribute "most": its extent; what a loop that ends sooner leaves behind means nothing)...,
//                  the number of iterations (int64)
//
// A loop ends before the iteration that `trips` names, or before one for which the condition is false. Trips and
// iteration are int64, conditions bool, each of one element. The flat form (flatten.h) has an operator for the
// beginning and one for the end of each; nothing runs those but the executor.

#include "core/graph/interpreter.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"

#include <fmt/format.h>

#include <cstring>

namespace lathe::graph::operators {
namespace {

using Arguments = std::span<const HostTensor* const>;
using Results = std::span<HostTensor>;

Result<> needOne(const TensorType& type, DType dtype, std::string_view what)
{
    LATHE_TRY_ASSIGN(const std::int64_t elements, needElementCount(type.shape));
    if (type.dtype != dtype || elements != 1)
        return brokenRule(fmt::format("{} must be one {}, it is {} {}", what, toString(dtype), toString(type.dtype),
                                      shapeText(type.shape)));
    return {};
}

TensorType typeOf(const Graph& body, ValueId id)
{
    return {body.value(id).dtype, body.value(id).shape};
}

std::string text(const TensorType& type)
{
    return fmt::format("{} {}", toString(type.dtype), shapeText(type.shape));
}

/// `given` are the types of what goes into the body, in order.
Result<> needInputs(const Graph& body, InputTypes given)
{
    if (body.inputs.size() != given.size())
        return brokenRule(fmt::format("the body \"{}\" takes {} values, it is given {}", body.name, body.inputs.size(),
                                      given.size()));
    for (std::size_t i = 0; i < given.size(); ++i)
        if (typeOf(body, body.inputs[i]) != given[i])
            return brokenRule(fmt::format("\"{}\" must be {}, it is given {}", body.value(body.inputs[i]).name,
                                          text(typeOf(body, body.inputs[i])), text(given[i])));
    return {};
}

Result<Types> inferIf(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needOne(inputs[0], DType::Bool, "the condition"));
    if (node.bodies.size() != 2)
        return brokenRule(fmt::format("it has {} branches instead of 2", node.bodies.size()));
    const Graph& yes = *node.bodies[0];
    const Graph& no = *node.bodies[1];
    LATHE_TRY(needInputs(yes, inputs.subspan(1)));
    LATHE_TRY(needInputs(no, inputs.subspan(1)));
    if (yes.outputs.size() != no.outputs.size())
        return brokenRule(fmt::format("its branches give {} and {} values", yes.outputs.size(), no.outputs.size()));
    Types types;
    for (std::size_t i = 0; i < yes.outputs.size(); ++i) {
        types.push_back(typeOf(yes, yes.outputs[i]));
        if (typeOf(no, no.outputs[i]) != types.back())
            return brokenRule(fmt::format("its branches give {} and {} for \"{}\"", text(types.back()),
                                          text(typeOf(no, no.outputs[i])), yes.outputName(i)));
    }
    return types;
}

Result<> evaluateIf(const Node& node, Arguments inputs, Results outputs)
{
    const bool taken = inputs[0]->bytes[0] != std::byte{0};
    LATHE_TRY_ASSIGN(std::vector<HostTensor> results,
                     Interpreter(*node.bodies[taken ? 0 : 1], Interpreter::Constants::Dropped).run(inputs.subspan(1)));
    std::ranges::move(results, outputs.begin());
    return {};
}

Result<Types> inferLoop(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needOne(inputs[0], DType::I64, "the number of trips"));
    LATHE_TRY(needOne(inputs[1], DType::Bool, "the condition"));
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "carried", 0));
    if (node.bodies.size() != 1)
        return brokenRule(fmt::format("it has {} bodies instead of 1", node.bodies.size()));
    const Graph& body = *node.bodies[0];
    if (given < 0 || static_cast<std::size_t>(given) > inputs.size() - 2
        || static_cast<std::size_t>(given) + 1 > body.outputs.size())
        return brokenRule(fmt::format("it cannot carry {} values", given));
    const auto carried = static_cast<std::size_t>(given);
    Types arguments = {{DType::I64, {}}, {DType::Bool, {}}};
    arguments.insert(arguments.end(), inputs.begin() + 2, inputs.end());
    LATHE_TRY(needInputs(body, arguments));
    LATHE_TRY(needOne(typeOf(body, body.outputs[0]), DType::Bool, "the next condition"));
    Types types;
    for (std::size_t i = 0; i < carried; ++i) {
        types.push_back(arguments[2 + i]);
        if (typeOf(body, body.outputs[1 + i]) != types.back())
            return brokenRule(fmt::format("the carried value \"{}\" goes in as {} and comes out as {}",
                                          body.value(body.inputs[2 + i]).name, text(types.back()),
                                          text(typeOf(body, body.outputs[1 + i]))));
    }
    LATHE_TRY_ASSIGN(const std::int64_t most, intAttr(node, "most", -1));
    if (most < 0 && body.outputs.size() > 1 + carried)
        return brokenRule("it stacks rows, and does not say how many there are at most");
    for (std::size_t i = 1 + carried; i < body.outputs.size(); ++i) {
        TensorType rows = typeOf(body, body.outputs[i]);
        rows.shape.insert(rows.shape.begin(), most);
        types.push_back(std::move(rows));
    }
    types.push_back({DType::I64, {}});
    return types;
}

/// With made-up inputs a loop may never end: one that gets this far is refused.
constexpr std::int64_t kMostIterations = std::int64_t{1} << 18;

Result<> evaluateLoop(const Node& node, Arguments inputs, Results outputs)
{
    std::int64_t trips = 0;
    std::memcpy(&trips, inputs[0]->bytes.data(), sizeof trips);
    const auto carried = static_cast<std::size_t>(attrInt(node, "carried", 0));
    const std::int64_t most = attrInt(node, "most", 0);
    HostTensor condition{{DType::Bool, {}}, inputs[1]->bytes};
    std::vector<HostTensor> state;
    for (std::size_t i = 0; i < carried; ++i)
        state.push_back(*inputs[2 + i]);
    Interpreter body(*node.bodies[0], Interpreter::Constants::Kept);
    std::int64_t iteration = 0;
    for (; iteration < trips && condition.bytes[0] != std::byte{0}; ++iteration) {
        if (iteration == kMostIterations)
            return brokenRule(fmt::format("it has run {} times and is not at its end", kMostIterations));
        HostTensor number = HostTensor::zeros({DType::I64, {}});
        std::memcpy(number.bytes.data(), &iteration, sizeof iteration);
        std::vector<const HostTensor*> arguments{&number, &condition};
        for (const HostTensor& tensor : state)
            arguments.push_back(&tensor);
        arguments.insert(arguments.end(), inputs.begin() + static_cast<std::ptrdiff_t>(2 + carried), inputs.end());
        LATHE_TRY_ASSIGN(std::vector<HostTensor> results, body.run(arguments));
        for (std::size_t i = 1 + carried; i < results.size(); ++i) {
            if (iteration >= most)
                return brokenRule(fmt::format("it runs more than {} times", most));
            const std::vector<std::byte>& row = results[i].bytes;
            std::memcpy(outputs[i - 1].bytes.data() + static_cast<std::size_t>(iteration) * row.size(), row.data(),
                        row.size());
        }
        condition.bytes = std::move(results[0].bytes);
        std::move(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried), state.begin());
    }
    std::ranges::move(state, outputs.begin());
    std::memcpy(outputs.back().bytes.data(), &iteration, sizeof iteration);
    return {};
}

// ---- the flat form

Result<Types> inferBranchBegin(const Node&, InputTypes inputs, Constants)
{
    LATHE_TRY(needOne(inputs[0], DType::Bool, "the condition"));
    return Types{inputs[0]};
}

Result<Types> inferBranchEnd(const Node&, InputTypes inputs, Constants)
{
    const std::size_t results = (inputs.size() - 1) / 2;
    if (inputs.size() % 2 == 0)
        return brokenRule("its branches give different numbers of values");
    for (std::size_t i = 1; i <= results; ++i)
        if (inputs[i] != inputs[results + i])
            return brokenRule(fmt::format("its branches give {} and {}", text(inputs[i]), text(inputs[results + i])));
    return Types(inputs.begin() + 1, inputs.begin() + 1 + static_cast<std::ptrdiff_t>(results));
}

Result<Types> inferLoopBegin(const Node&, InputTypes inputs, Constants)
{
    LATHE_TRY(needOne(inputs[0], DType::I64, "the number of trips"));
    LATHE_TRY(needOne(inputs[1], DType::Bool, "the condition"));
    Types types = {{DType::I64, {}}, {DType::Bool, {}}};
    types.insert(types.end(), inputs.begin() + 2, inputs.end());
    return types;
}

Result<Types> inferLoopEnd(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needOne(inputs[0], DType::I64, "the iteration"));
    LATHE_TRY(needOne(inputs[1], DType::Bool, "the next condition"));
    LATHE_TRY_ASSIGN(const std::int64_t carried, intAttr(node, "carried", 0));
    LATHE_TRY_ASSIGN(const std::int64_t most, intAttr(node, "most", 0));
    if (carried < 0 || static_cast<std::size_t>(carried) > inputs.size() - 2 || most < 0)
        return brokenRule(fmt::format("it cannot carry {} values", carried));
    Types types(inputs.begin() + 2, inputs.end());
    for (auto i = static_cast<std::size_t>(carried); i < types.size(); ++i)
        types[i].shape.insert(types[i].shape.begin(), most);
    types.push_back(inputs[0]);
    return types;
}

Result<> notAlone(const Node& node, Arguments, Results)
{
    return brokenRule(fmt::format("\"{}\" stands for the order of other nodes and has no value of its own", node.name));
}

OpDef entry(std::string_view name, std::int32_t minInputs, Control control, decltype(OpDef::inferTypes) infer,
            decltype(OpDef::evaluate) evaluate)
{
    OpDef def;
    def.name = name;
    def.minInputs = minInputs;
    def.maxInputs = -1;
    def.inferTypes = std::move(infer);
    def.evaluate = std::move(evaluate);
    def.traits.control = control;
    return def;
}

} // namespace

std::span<const OpDef> controlOperators()
{
    static const std::vector<OpDef> table{
        entry("if", 1, Control::If, inferIf, evaluateIf),
        entry("loop", 2, Control::Loop, inferLoop, evaluateLoop),
        entry("branch_begin", 1, Control::BranchBegin, inferBranchBegin, notAlone),
        entry("branch_end", 1, Control::BranchEnd, inferBranchEnd, notAlone),
        entry("loop_begin", 2, Control::LoopBegin, inferLoopBegin, notAlone),
        entry("loop_end", 2, Control::LoopEnd, inferLoopEnd, notAlone),
    };
    return table;
}

} // namespace lathe::graph::operators
