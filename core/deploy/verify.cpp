#include "core/deploy/verify.h"

#include "core/graph/passes.h"
#include "core/wire/seeded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace lathe::deploy {

namespace {

std::int64_t elementCount(const graph::TensorType& type)
{
    std::int64_t n = 1;
    for (const std::int64_t extent : type.shape)
        n *= extent;
    return n;
}

/// Values of `graph` by name that are worth comparing: made by nodes, once per name.
std::map<std::string, graph::ValueId> producedValues(const graph::Graph& graph)
{
    std::map<std::string, graph::ValueId> values;
    for (const graph::Node& node : graph.nodes)
        for (const graph::ValueId id : node.outputs)
            if (id.valid())
                values.emplace(graph.value(id).name, id);
    return values;
}

/// Values that go into a softmax, or what else hides differences, whose result is an output of the graph.
std::vector<graph::ValueId> beforeFinalSoftmax(const graph::Graph& graph)
{
    std::vector<graph::ValueId> values;
    for (const graph::Node& node : graph.nodes) {
        if (graph::traitsOf(node).hidesDifferences && !node.outputs.empty()
            && std::find(graph.outputs.begin(), graph.outputs.end(), node.outputs[0]) != graph.outputs.end())
            values.push_back(node.inputs[0]);
    }
    return values;
}

/// Runs the library once and keeps the tensors of these names.
Result<std::map<std::string, graph::HostTensor>> observeTensors(LoadedLibrary& library, const std::map<std::string, graph::ValueId>& wanted,
                                                                std::vector<std::string>& order)
{
    std::map<std::string, graph::HostTensor> seen;
    LATHE_TRY(library.observe([&](const std::string&, const PortInfo& tensor, const void* data) {
        if (!wanted.contains(tensor.name) || seen.contains(tensor.name))
            return;
        graph::HostTensor copy = graph::HostTensor::zeros(tensor.type);
        std::memcpy(copy.bytes.data(), data, copy.bytes.size());
        order.push_back(tensor.name);
        seen.emplace(tensor.name, std::move(copy));
    }));
    return seen;
}

/// The first tensor inside the network that is off, by a second look at everything. Empty if none inside can be blamed.
Result<std::string> findFirstDifferent(LoadedLibrary& library, const graph::Graph& executed, const std::vector<graph::HostTensor>& inputs, double tolerance)
{
    const std::map<std::string, graph::ValueId> produced = producedValues(executed);
    std::vector<std::string> order;
    LATHE_TRY_ASSIGN(const auto seen, observeTensors(library, produced, order));
    graph::Graph watched = executed;
    watched.outputs.clear();
    for (const std::string& name : order)
        watched.outputs.push_back(produced.at(name));
    LATHE_TRY_ASSIGN(const std::vector<graph::HostTensor> expected, graph::interpret(watched, inputs));
    for (std::size_t i = 0; i < order.size(); ++i) {
        graph::HostTensor tensor = seen.at(order[i]);
        if (elementCount(tensor.type) == elementCount(expected[i].type))
            tensor.type.shape = expected[i].type.shape; // a kernel may see a reshaped form
        LATHE_TRY_ASSIGN(const TensorComparison comparison, compareTensors(order[i], tensor, expected[i]));
        if (!(comparison.maxRelError <= tolerance))
            return order[i];
    }
    return std::string();
}

} // namespace

Result<TensorComparison> compareTensors(std::string name, const graph::HostTensor& tensor, const graph::HostTensor& reference)
{
    if (!(tensor.type == reference.type))
        return makeError(Errc::InvalidArgument, fmt::format("'{}' is {} {}, its reference {} {}", name, toString(tensor.type.dtype), tensor.type.shape,
                                                            toString(reference.type.dtype), reference.type.shape));
    TensorComparison c;
    c.name = std::move(name);
    double largest = 0, difference = 0;
    const std::int64_t count = elementCount(tensor.type);
    for (std::int64_t i = 0; i < count; ++i) {
        const double y = wire::readElement(tensor.bytes.data(), i, tensor.type.dtype);
        const double r = wire::readElement(reference.bytes.data(), i, reference.type.dtype);
        if (std::isfinite(r))
            largest = std::max(largest, std::abs(r));
        const bool same = y == r || (std::isnan(y) && std::isnan(r));
        const double d = same ? 0 : std::isfinite(y) && std::isfinite(r) ? std::abs(y - r) : std::numeric_limits<double>::infinity();
        if (d > difference) {
            difference = d;
            c.worst = i;
            c.value = y;
            c.reference = r;
        }
    }
    // Against a reference of zeros alone there is no relative error: any difference is as bad as can be.
    c.maxRelError = difference == 0 ? 0 : largest > 0 ? difference / largest : std::numeric_limits<double>::infinity();
    return c;
}

Result<VerifyReport> verifyLibrary(LoadedLibrary& library, const graph::Graph& reference, const graph::Graph* executed,
                                   const VerifyOptions& options)
{
    if (library.inputs().size() != reference.inputs.size() || library.outputs().size() != reference.outputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("the library has {} inputs and {} outputs, the network {} and {}", library.inputs().size(),
                                                            library.outputs().size(), reference.inputs.size(), reference.outputs.size()));
    std::vector<graph::HostTensor> inputs = options.inputs;
    if (inputs.empty()) {
        LATHE_TRY(library.fillInputs(options.seed));
        for (std::size_t i = 0; i < library.inputs().size(); ++i)
            inputs.push_back(library.input(i));
    }
    if (inputs.size() != reference.inputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("{} inputs were given, the network has {}", inputs.size(), reference.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
        LATHE_TRY(library.setInput(i, inputs[i]));
    LATHE_TRY(library.run());

    // Differences vanish in a softmax, so what goes into it is compared too, where the library shows it under its name.
    graph::Graph watched = reference;
    std::map<std::string, graph::ValueId> logits;
    if (options.expected.empty())
        for (const graph::ValueId id : beforeFinalSoftmax(reference)) {
            logits.emplace(reference.value(id).name, id);
            watched.outputs.push_back(id);
        }
    VerifyReport report;
    std::vector<graph::HostTensor> expected = options.expected;
    if (expected.empty()) {
        LATHE_TRY_ASSIGN(expected, graph::interpret(watched, inputs));
    }
    if (expected.size() < reference.outputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("{} reference outputs were given, the network has {}", expected.size(), reference.outputs.size()));
    for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
        LATHE_TRY_ASSIGN(TensorComparison comparison, compareTensors(library.outputs()[i].name, library.output(i), expected[i]));
        report.outputs.push_back(std::move(comparison));
    }
    std::vector<TensorComparison> inside;
    if (!logits.empty()) {
        std::vector<std::string> order;
        LATHE_TRY_ASSIGN(const auto seen, observeTensors(library, logits, order));
        for (std::size_t i = reference.outputs.size(); i < watched.outputs.size(); ++i) {
            const auto found = seen.find(reference.value(watched.outputs[i]).name);
            if (found == seen.end() || elementCount(found->second.type) != elementCount(expected[i].type)) {
                report.notCompared.push_back(reference.value(watched.outputs[i]).name);
                continue;
            }
            graph::HostTensor tensor = found->second;
            tensor.type.shape = expected[i].type.shape;
            LATHE_TRY_ASSIGN(TensorComparison comparison, compareTensors(found->first, tensor, expected[i]));
            inside.push_back(std::move(comparison));
        }
    }
    const TensorComparison* bad = nullptr;
    for (const auto* const list : {&inside, &report.outputs})
        for (const TensorComparison& comparison : *list) {
            report.maxRelError = std::max(report.maxRelError, comparison.maxRelError);
            if (bad == nullptr && !(comparison.maxRelError <= options.tolerance))
                bad = &comparison;
        }
    report.passed = bad == nullptr;
    if (report.passed) {
        report.text = fmt::format("{} outputs agree with the reference, largest relative error {:.2g}", report.outputs.size(), report.maxRelError);
        if (!report.notCompared.empty())
            report.text += fmt::format("; what goes into the softmax at the end was not compared, since the library does not show it ({})",
                                       fmt::join(report.notCompared, ", "));
        return report;
    }
    report.firstDifferent = bad->name;
    if (executed != nullptr) {
        LATHE_TRY_ASSIGN(const std::string first, findFirstDifferent(library, *executed, inputs, options.tolerance));
        if (!first.empty())
            report.firstDifferent = first;
    }
    report.text = fmt::format("'{}' differs from the reference: element {} is {:.7g}, expected {:.7g} (relative error {:.2g}, allowed {:.2g}); "
                              "the first tensor that differs is '{}'",
                              bad->name, bad->worst, bad->value, bad->reference, bad->maxRelError, options.tolerance, report.firstDifferent);
    return report;
}

} // namespace lathe::deploy
