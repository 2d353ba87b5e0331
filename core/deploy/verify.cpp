#include "core/deploy/verify.h"

#include "core/graph/in_doubles.h"
#include "core/measure/builder_client.h"
#include "core/runtime/true_shape.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lathe::deploy {

namespace {

using graph::HostTensor;
using Tensors = std::vector<HostTensor>;

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

/// A value that goes into a softmax, or what else hides differences, whose result is an output of the graph.
struct BeforeSoftmax
{
    graph::ValueId value;
    std::int32_t output = 0; ///< of the graph, which has the same shape
};

std::vector<BeforeSoftmax> beforeFinalSoftmax(const graph::Graph& graph)
{
    std::vector<BeforeSoftmax> values;
    for (const graph::Node& node : graph.nodes) {
        if (!graph::traitsOf(node).hidesDifferences || node.outputs.empty())
            continue;
        const auto output = std::find(graph.outputs.begin(), graph.outputs.end(), node.outputs[0]);
        if (output != graph.outputs.end())
            values.push_back({node.inputs[0], static_cast<std::int32_t>(output - graph.outputs.begin())});
    }
    return values;
}

/// Without what lies behind the true extents.
HostTensor cut(HostTensor tensor, const std::vector<std::int64_t>& shape)
{
    if (tensor.type.shape == shape)
        return tensor;
    runtime::packToShape(tensor.bytes.data(), sizeOf(tensor.type.dtype), static_cast<int>(shape.size()),
                         tensor.type.shape.data(), shape.data());
    tensor.type.shape = shape;
    tensor.bytes.resize(static_cast<std::size_t>(elementCount(tensor.type.shape) * sizeOf(tensor.type.dtype)));
    return tensor;
}

/// Runs the library once more, on what it was given last, and keeps the tensors of these names.
Result<LibraryRun> observeTensors(LibraryHost& library, const Tensors& inputs,
                                  const std::map<std::string, graph::ValueId>& wanted)
{
    LibraryRunRequest request;
    request.inputs = inputs;
    request.returnOutputs = false;
    for (const auto& [name, id] : wanted)
        request.observe.push_back(name);
    return library.run(request);
}

/// A library and its reference, beside each other on the same inputs.
class SideBySide
{
public:
    SideBySide(LibraryHost& library, const Evaluate& evaluate, const graph::Graph& reference,
               const VerifyOptions& options)
        : m_library(library)
        , m_evaluate(evaluate)
        , m_reference(reference)
        , m_options(options)
        , m_watched(reference)
    {
        // Differences vanish in a softmax, so what goes into it is compared too, where the library shows it under its
        // name.
        if (options.expected.empty())
            for (const BeforeSoftmax& before : beforeFinalSoftmax(reference)) {
                m_logits.emplace(reference.value(before.value).name, before.value);
                const auto place = static_cast<std::int32_t>(m_watched.outputs.size());
                m_watched.outputs.push_back(before.value);
                for (const graph::OutputExtent& extent : reference.outputExtents)
                    if (extent.output == before.output)
                        m_watched.outputExtents.push_back({place, extent.axis, extent.count});
            }
        m_natures = naturesOf(m_watched, m_watched.outputs);
    }

    /// Errors: InvalidArgument if the reference executor refuses the inputs (then refused() says so).
    Result<KindReport> compare(const Tensors& inputs, bool onlyNotANumber, std::vector<std::string>& notCompared)
    {
        m_inputs = inputs;
        m_onlyNotANumber = onlyNotANumber;
        m_refused = false;
        LATHE_TRY(run());
        LATHE_TRY(look(notCompared));
        LATHE_TRY_ASSIGN(KindReport report, compareAll(nullptr));
        const auto close = [this](const TensorComparison& c) {
            constexpr double kShare = 16;
            return !c.agrees() || (m_options.closely && c.maxRelError > toleranceOf(c.name) / kShare);
        };
        if (!onlyNotANumber && std::ranges::any_of(report.outputs, close)) {
            const auto unrounded = evaluateInDoubles();
            if (unrounded) {
                LATHE_TRY_ASSIGN(report, compareAll(&*unrounded));
            } else if (unrounded.error().code == Errc::Cancelled) {
                return unrounded.error();
            } // an operator that takes no doubles: what was seen stands
        }
        for (const TensorComparison& comparison : report.outputs)
            report.maxRelError = std::max(report.maxRelError, comparison.maxRelError);
        report.passed = std::ranges::all_of(report.outputs, &TensorComparison::agrees);
        return report;
    }

    bool refused() const { return m_refused; }

    /// The first tensor inside the network that is off, by a second look at everything. Empty if none inside can be
    /// blamed.
    Result<std::string> firstDifferent(const graph::Graph& executed)
    {
        const std::map<std::string, graph::ValueId> produced = producedValues(executed);
        LATHE_TRY_ASSIGN(LibraryRun seen, observeTensors(m_library, m_inputs, produced));
        graph::Graph watched = executed;
        watched.outputs.clear();
        watched.outputExtents.clear();
        for (const auto& [name, tensor] : seen.observed)
            watched.outputs.push_back(produced.at(name));
        LATHE_TRY_ASSIGN(const Tensors expected, m_evaluate(watched, m_inputs));
        for (std::size_t i = 0; i < seen.observed.size(); ++i) {
            auto& [name, tensor] = seen.observed[i];
            if (elementCount(tensor.type.shape) == elementCount(expected[i].type.shape))
                tensor.type.shape = expected[i].type.shape; // a kernel may see a reshaped form
            LATHE_TRY_ASSIGN(const TensorComparison comparison,
                             compareTensors(name, tensor, expected[i], likenessOf(expected[i], {})));
            if (!comparison.agrees())
                return name;
        }
        return std::string();
    }

private:
    Result<> run()
    {
        // First the reference, which refuses what the library would take, or run without an end.
        m_expected = m_options.expected;
        if (m_expected.empty()) {
            auto evaluated = m_evaluate(m_watched, m_inputs);
            m_refused = !evaluated && evaluated.error().code == Errc::InvalidArgument;
            LATHE_TRY_ASSIGN(m_expected, std::move(evaluated));
        }
        LibraryRunRequest request;
        request.inputs = m_inputs;
        request.seed = m_options.seed;
        LATHE_TRY_ASSIGN(LibraryRun ran, m_library.run(request));
        m_outputs = std::move(ran.outputs);
        if (m_expected.size() < m_reference.outputs.size())
            return makeError(Errc::InvalidArgument, fmt::format("{} reference outputs were given, the network has {}",
                                                                m_expected.size(), m_reference.outputs.size()));
        return {};
    }

    /// Into the library, for what goes into a final softmax.
    Result<> look(std::vector<std::string>& notCompared)
    {
        m_inside.clear();
        if (m_logits.empty())
            return {};
        LATHE_TRY_ASSIGN(const LibraryRun inner, observeTensors(m_library, m_inputs, m_logits));
        const std::map<std::string, HostTensor> seen(inner.observed.begin(), inner.observed.end());
        for (std::size_t i = m_reference.outputs.size(); i < m_watched.outputs.size(); ++i) {
            const graph::Value& value = m_reference.value(m_watched.outputs[i]);
            const std::string& name = value.name;
            if (elementCount(m_expected[i].type.shape) == 0)
                continue;
            const auto found = seen.find(name);
            if (found == seen.end() || elementCount(found->second.type.shape) != elementCount(value.shape)) {
                if (std::ranges::find(notCompared, name) == notCompared.end())
                    notCompared.push_back(name);
                continue;
            }
            HostTensor tensor = found->second;
            tensor.type.shape = value.shape; // a kernel may see a reshaped form
            m_inside.emplace_back(i, cut(std::move(tensor), m_expected[i].type.shape));
        }
        return {};
    }

    Likeness likenessOf(const HostTensor& expected, const OutputNature& nature) const
    {
        return {m_options.tolerance.value_or(usualTolerance(expected.type.dtype)), nature.elementwise,
                nature.signsZeros, m_onlyNotANumber, m_options.notANumberSpreads};
    }
    double toleranceOf(const std::string& name) const
    {
        for (std::size_t i = 0; i < m_watched.outputs.size(); ++i)
            if (nameOf(i) == name)
                return m_options.tolerance.value_or(usualTolerance(m_expected[i].type.dtype));
        return 0;
    }
    const std::string& nameOf(std::size_t watched) const
    {
        return watched < m_reference.outputs.size() ? m_library.outputs()[watched].name
                                                    : m_reference.value(m_watched.outputs[watched]).name;
    }

    Result<KindReport> compareAll(const Tensors* unrounded) const
    {
        KindReport report;
        const auto add = [&](std::size_t i, const HostTensor& tensor) -> Result<> {
            const bool isSized = i < m_outputs.size() && !m_library.outputs()[i].dynamicAxes.empty();
            if (isSized)
                report.sizes.push_back(fmt::format("'{}' was {} of at most {}", nameOf(i), tensor.type.shape,
                                                   m_library.outputs()[i].type.shape));
            if (isSized && tensor.type.shape != m_expected[i].type.shape) {
                report.outputs.push_back(ofAnotherSize(i, unrounded));
                return {};
            }
            LATHE_TRY_ASSIGN(TensorComparison comparison,
                             compareTensors(nameOf(i), tensor, m_expected[i], likenessOf(m_expected[i], m_natures[i]),
                                            unrounded != nullptr ? &(*unrounded)[i] : nullptr));
            report.outputs.push_back(std::move(comparison));
            return {};
        };
        for (std::size_t i = 0; i < m_reference.outputs.size(); ++i)
            LATHE_TRY(add(i, m_outputs[i]));
        for (const auto& [i, tensor] : m_inside)
            LATHE_TRY(add(i, tensor));
        return report;
    }

    /// An output that has more or fewer elements than its reference, since that depends on data.
    TensorComparison ofAnotherSize(std::size_t output, const Tensors* unrounded) const
    {
        TensorComparison comparison;
        comparison.name = nameOf(output);
        comparison.maxRelError = std::numeric_limits<double>::infinity();
        comparison.worst = comparison.first = 0;
        comparison.value = comparison.firstValue = static_cast<double>(elementCount(m_outputs[output].type.shape));
        comparison.reference = comparison.firstReference = static_cast<double>(
            elementCount(m_expected[output].type.shape));
        comparison.illConditioned = unrounded != nullptr
                                    && (*unrounded)[output].type.shape != m_expected[output].type.shape;
        comparison.beyond = comparison.illConditioned ? 0 : 1;
        return comparison;
    }

    Result<Tensors> evaluateInDoubles() const
    {
        LATHE_TRY_ASSIGN(const graph::Graph wide, graph::inDoubles(m_watched));
        LATHE_TRY_ASSIGN(Tensors unrounded, m_evaluate(wide, graph::inDoubles(m_inputs)));
        if (!m_options.expected.empty()) { // from elsewhere: what rounding changes is seen on our own
            LATHE_TRY_ASSIGN(const Tensors own, m_evaluate(m_watched, m_inputs));
            const Tensors rounded = graph::inDoubles(own), given = graph::inDoubles(m_expected);
            for (std::size_t i = 0; i < unrounded.size(); ++i) {
                if (given[i].type.shape != unrounded[i].type.shape) {
                    if (rounded[i].type.shape == unrounded[i].type.shape)
                        unrounded[i] = given[i]; // rounding changes no size here: another one is a fault
                    continue;
                }
                if (!isFloat(unrounded[i].type.dtype) || given[i].type != unrounded[i].type)
                    continue;
                const std::span<double> d = unrounded[i].as<double>();
                const std::span<const double> r = given[i].as<double>(), o = rounded[i].as<double>();
                for (std::size_t k = 0; k < d.size(); ++k)
                    d[k] = d[k] == o[k] ? r[k] : r[k] + (d[k] - o[k]);
            }
        }
        return unrounded;
    }

    LibraryHost& m_library;
    const Evaluate& m_evaluate;
    const graph::Graph& m_reference;
    const VerifyOptions& m_options;
    graph::Graph m_watched;
    std::map<std::string, graph::ValueId> m_logits;
    std::vector<OutputNature> m_natures; ///< of m_watched.outputs

    Tensors m_inputs, m_outputs, m_expected;
    std::vector<std::pair<std::size_t, HostTensor>> m_inside; ///< by place in m_watched.outputs
    bool m_onlyNotANumber = false;
    bool m_refused = false; ///< by the reference executor
};

bool allGiven(const VerifyOptions& options)
{
    return !options.inputs.empty()
           && std::ranges::all_of(options.inputs, [](const auto& input) { return input.has_value(); });
}

/// Made-up inputs of a kind; those that are given take their place. `within`: of no input beyond what is usual for it.
Tensors inputsOf(const graph::Graph& network, const VerifyOptions& options, InputKind kind, bool within)
{
    const std::vector<graph::TensorType> types = inputTypesOf(network);
    Tensors tensors(types.size());
    if (!allGiven(options)) {
        std::vector<graph::InputRange> ranges = graph::inputRanges(network);
        for (graph::InputRange& range : ranges)
            range.needed = range.needed || (within && range.range.has_value());
        tensors = makeTestInputs(types, ranges, kind, options.seed);
    }
    for (std::size_t i = 0; i < std::min(options.inputs.size(), tensors.size()); ++i)
        if (options.inputs[i])
            tensors[i] = *options.inputs[i];
    return tensors;
}

std::string joined(const std::vector<KindReport>& kinds)
{
    std::vector<std::string> words;
    for (const KindReport& kind : kinds)
        if (kind.refused.empty())
            words.push_back(fmt::format("{} ({:.2g})", kind.inputs, kind.maxRelError));
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string passedText(const VerifyReport& report)
{
    std::string text = report.kinds.size() == 1
                           ? fmt::format("{} with the reference, largest relative error {:.2g}",
                                         counted(report.outputs.size(), "output agrees|outputs agree"),
                                         report.maxRelError)
                           : fmt::format("{} with the reference; largest relative error by kind of inputs: {}",
                                         counted(report.outputs.size(), "output agrees|outputs agree"),
                                         joined(report.kinds));
    if (!report.kinds.empty() && !report.kinds.front().sizes.empty()) // nothing found is nothing compared
        text += fmt::format("; {}", fmt::join(report.kinds.front().sizes, ", "));
    if (!report.notCompared.empty())
        text += fmt::format("; what goes into the softmax at the end was not compared, since the library does not "
                            "show it ({})",
                            fmt::join(report.notCompared, ", "));
    return text;
}

std::string failedText(const KindReport& kind, const TensorComparison& bad, const std::string& firstDifferent,
                       bool onlyNotANumber)
{
    const std::string where = fmt::format("'{}' differs from the reference on {} inputs: element {} is {:.7g}, "
                                          "expected {:.7g}",
                                          bad.name, kind.inputs, bad.first, bad.firstValue, bad.firstReference);
    const std::string rest = fmt::format("; the first tensor that differs is '{}'", firstDifferent);
    if (onlyNotANumber)
        return where + " (of the others it is compared whether they are numbers)" + rest;
    return where
           + fmt::format(" ({} elements differ by more than is allowed, {:.2g} here; relative error {:.2g})",
                         bad.beyond, bad.allowed, bad.maxRelError)
           + rest;
}

/// What rounding alone makes of the outputs, for those that it says more of than the comparison.
void tellConditions(VerifyReport& report)
{
    for (const KindReport& kind : report.kinds)
        for (const TensorComparison& comparison : kind.outputs)
            if (comparison.illConditioned
                && std::ranges::find(report.illConditioned, comparison.name) == report.illConditioned.end()) {
                report.illConditioned.push_back(comparison.name);
                report.text += "; " + textOf(say(Msg::IllConditioned, comparison.name, comparison.rounding));
            }
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
    SideBySide sides(library, evaluate, reference, options);
    VerifyReport report;
    report.passed = true;
    for (const InputKind kindOfInputs : options.kinds) {
        const bool given = allGiven(options);
        if (given && !report.kinds.empty())
            break;
        const std::string word(given ? "given" : toString(kindOfInputs));
        const bool onlyNotANumber = !given && kindOfInputs == InputKind::NotANumber;
        auto compared = sides.compare(inputsOf(reference, options, kindOfInputs, false), onlyNotANumber,
                                      report.notCompared);
        if (sides.refused() && kindOfInputs == InputKind::Integers)
            compared = sides.compare(inputsOf(reference, options, kindOfInputs, true), onlyNotANumber,
                                     report.notCompared);
        if (sides.refused() && report.kinds.empty()) {
            report.passed = false;
            report.text = compared.error().message;
            report.refused = compared.error();
            return report;
        }
        if (sides.refused()) {
            report.kinds.push_back({.inputs = word, .refused = compared.error().message, .passed = true});
            continue;
        }
        if (!compared)
            return std::move(compared).error();
        KindReport& kind = report.kinds.emplace_back(*std::move(compared));
        kind.inputs = word;
        report.maxRelError = std::max(report.maxRelError, kind.maxRelError);
        if (report.kinds.size() == 1)
            report.outputs.assign(kind.outputs.begin(),
                                  kind.outputs.begin() + static_cast<std::ptrdiff_t>(reference.outputs.size()));
        if (kind.passed || !report.passed)
            continue;
        report.passed = false;
        // What goes into a softmax comes before what comes out.
        const auto inside = kind.outputs.begin() + static_cast<std::ptrdiff_t>(reference.outputs.size());
        const auto off = [](const TensorComparison& c) { return !c.agrees(); };
        auto bad = std::find_if(inside, kind.outputs.end(), off);
        if (bad == kind.outputs.end())
            bad = std::find_if(kind.outputs.begin(), inside, off);
        report.firstDifferent = bad->name;
        if (executed != nullptr) {
            LATHE_TRY_ASSIGN(const std::string first, sides.firstDifferent(*executed));
            if (!first.empty())
                report.firstDifferent = first;
        }
        report.text = failedText(kind, *bad, report.firstDifferent, onlyNotANumber);
    }
    if (report.passed)
        report.text = passedText(report);
    tellConditions(report);
    return report;
}

Result<VerifyReport> verifyByBuilder(LibraryHost& library, const graph::Graph& reference, const graph::Graph* executed,
                                     const VerifyOptions& options, double seconds, std::stop_token stop)
{
    std::unique_ptr<measure::BuilderClient> builder; // not needed where outputs are given and right
    const auto evaluate = [&](const graph::Graph& network, const Tensors& inputs) -> Result<Tensors> {
        if (!builder) {
            LATHE_TRY_ASSIGN(builder, measure::BuilderClient::start({}, {}, stop));
        }
        return builder->evaluate(network, inputs, Deadline::inSeconds(seconds));
    };
    return verifyLibrary(library, evaluate, reference, executed, options);
}

} // namespace lathe::deploy
