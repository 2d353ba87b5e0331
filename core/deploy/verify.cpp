#include "core/deploy/verify.h"

#include "core/graph/index_inputs.h"
#include "core/measure/builder_client.h"
#include "core/wire/seeded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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

/// Runs the library once more, on what it was given last, and keeps the tensors of these names.
Result<LibraryRun> observeTensors(LibraryHost& library, const std::vector<graph::HostTensor>& inputs,
                                  const std::map<std::string, graph::ValueId>& wanted)
{
    LibraryRunRequest request;
    request.inputs = inputs;
    request.returnOutputs = false;
    for (const auto& [name, id] : wanted)
        request.observe.push_back(name);
    return library.run(request);
}

/// The first tensor inside the network that is off, by a second look at everything. Empty if none inside can be blamed.
Result<std::string> findFirstDifferent(LibraryHost& library, const Evaluate& evaluate, const graph::Graph& executed,
                                       const std::vector<graph::HostTensor>& inputs, double tolerance)
{
    const std::map<std::string, graph::ValueId> produced = producedValues(executed);
    LATHE_TRY_ASSIGN(LibraryRun seen, observeTensors(library, inputs, produced));
    graph::Graph watched = executed;
    watched.outputs.clear();
    watched.outputExtents.clear();
    for (const auto& [name, tensor] : seen.observed)
        watched.outputs.push_back(produced.at(name));
    LATHE_TRY_ASSIGN(const std::vector<graph::HostTensor> expected, evaluate(watched, inputs));
    for (std::size_t i = 0; i < seen.observed.size(); ++i) {
        auto& [name, tensor] = seen.observed[i];
        if (elementCount(tensor.type) == elementCount(expected[i].type))
            tensor.type.shape = expected[i].type.shape; // a kernel may see a reshaped form
        LATHE_TRY_ASSIGN(const TensorComparison comparison, compareTensors(name, tensor, expected[i]));
        if (!(comparison.maxRelError <= tolerance))
            return name;
    }
    return std::string();
}

} // namespace

Result<TensorComparison> compareTensors(std::string name, const graph::HostTensor& tensor,
                                        const graph::HostTensor& reference)
{
    if (!(tensor.type == reference.type))
        return makeError(Errc::InvalidArgument,
                         fmt::format("'{}' is {} {}, its reference {} {}", name, toString(tensor.type.dtype),
                                     tensor.type.shape, toString(reference.type.dtype), reference.type.shape));
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
        const double d = same                                   ? 0
                         : std::isfinite(y) && std::isfinite(r) ? std::abs(y - r)
                                                                : std::numeric_limits<double>::infinity();
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

namespace {

/// Those of the seed, but places that exist where values name some. Empty if none do: the library then makes its own.
std::vector<graph::HostTensor> inputsInRange(const graph::Graph& network, std::uint64_t seed)
{
    const std::vector<std::int64_t> places = graph::indexInputs(network);
    if (std::ranges::all_of(places, [](std::int64_t count) { return count == 0; }))
        return {};
    std::vector<graph::HostTensor> inputs;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const graph::Value& value = network.value(network.inputs[i]);
        inputs.push_back(graph::HostTensor::zeros({value.dtype, value.shape}));
        const wire::SeededRange range{0, static_cast<double>(places[i])}; // of 0 places: as of any input
        wire::fillSeeded(wire::inputSeed(seed, i), value.dtype, range, inputs.back().bytes);
    }
    return inputs;
}

} // namespace

Result<VerifyReport> verifyLibrary(LibraryHost& library, const Evaluate& evaluate, const graph::Graph& reference,
                                   const graph::Graph* executed, const VerifyOptions& options)
{
    if (library.inputs().size() != reference.inputs.size() || library.outputs().size() != reference.outputs.size())
        return makeError(Errc::InvalidArgument,
                         fmt::format("the library has {} inputs and {} outputs, the network {} and {}",
                                     library.inputs().size(), library.outputs().size(), reference.inputs.size(),
                                     reference.outputs.size()));
    LibraryRunRequest request;
    request.inputs = options.inputs.empty() ? inputsInRange(reference, options.seed) : options.inputs;
    request.seed = options.seed;
    request.returnInputs = request.inputs.empty();
    LATHE_TRY_ASSIGN(LibraryRun run, library.run(request));
    const std::vector<graph::HostTensor> inputs = request.inputs.empty() ? std::move(run.inputs) : request.inputs;

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
        LATHE_TRY_ASSIGN(expected, evaluate(watched, inputs));
    }
    if (expected.size() < reference.outputs.size())
        return makeError(Errc::InvalidArgument, fmt::format("{} reference outputs were given, the network has {}",
                                                            expected.size(), reference.outputs.size()));
    for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
        LATHE_TRY_ASSIGN(TensorComparison comparison,
                         compareTensors(library.outputs()[i].name, run.outputs[i], expected[i]));
        report.outputs.push_back(std::move(comparison));
    }
    std::vector<TensorComparison> inside;
    if (!logits.empty()) {
        LATHE_TRY_ASSIGN(const LibraryRun inner, observeTensors(library, inputs, logits));
        const std::map<std::string, graph::HostTensor> seen(inner.observed.begin(), inner.observed.end());
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
        report.text = fmt::format("{} outputs agree with the reference, largest relative error {:.2g}",
                                  report.outputs.size(), report.maxRelError);
        if (!report.notCompared.empty())
            report.text += fmt::format(
                "; what goes into the softmax at the end was not compared, since the library does not show it ({})",
                fmt::join(report.notCompared, ", "));
        return report;
    }
    report.firstDifferent = bad->name;
    if (executed != nullptr) {
        LATHE_TRY_ASSIGN(const std::string first,
                         findFirstDifferent(library, evaluate, *executed, inputs, options.tolerance));
        if (!first.empty())
            report.firstDifferent = first;
    }
    report.text = fmt::format("'{}' differs from the reference: element {} is {:.7g}, expected {:.7g} (relative error "
                              "{:.2g}, allowed {:.2g}); "
                              "the first tensor that differs is '{}'",
                              bad->name, bad->worst, bad->value, bad->reference, bad->maxRelError, options.tolerance,
                              report.firstDifferent);
    return report;
}

Result<VerifyReport> verifyByBuilder(LibraryHost& library, const graph::Graph& reference, const graph::Graph* executed,
                                     const VerifyOptions& options, double seconds, std::stop_token stop)
{
    std::unique_ptr<measure::BuilderClient> builder; // not needed where outputs are given and right
    const auto evaluate = [&](const graph::Graph& network,
                              const std::vector<graph::HostTensor>& inputs) -> Result<std::vector<graph::HostTensor>> {
        if (!builder) {
            LATHE_TRY_ASSIGN(builder, measure::BuilderClient::start({}, {}, stop));
        }
        return builder->evaluate(network, inputs, Deadline::inSeconds(seconds));
    };
    return verifyLibrary(library, evaluate, reference, executed, options);
}

} // namespace lathe::deploy
