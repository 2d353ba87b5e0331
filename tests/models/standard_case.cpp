#include "standard_case.h"

#include "core/deploy/library.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/tensor_data.h"
#include "core/graph/passes.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/support/files.h"
#include "core/wire/seeded.h"
#include "tests/net/expectation.h"
#include "tests/support/in_process_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace lathe::conformance {
namespace {

namespace fs = std::filesystem;
using graph::HostTensor;

// The standard's own bounds, of its test runner.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

/// Narrow floats may be off by two units of their last place: their sums are not rounded at the same steps everywhere.
double relativeBound(DType dtype)
{
    return dtype == DType::F16 ? 0x1p-9 : dtype == DType::BF16 ? 0x1p-6 : kRelative;
}

/// Cases whose results are not what the standard's text says.
constexpr std::pair<std::string_view, std::string_view> kContradictions[] = {
    {"test_l2normalization_axis_0", "the text gives 0 where the norm is 0, the case NaN"},
    {"test_qlinearmatmul_2D_int8_float16", "the text saturates, the case wraps"},
    {"test_qlinearmatmul_2D_int8_float32", "the text saturates, the case wraps"},
    {"test_qlinearmatmul_3D_int8_float16", "the text saturates, the case wraps"},
    {"test_qlinearmatmul_3D_int8_float32", "the text saturates, the case wraps"},
};

/// Cases whose expected values hold rounding errors where the text gives 0: how large they may be.
constexpr std::pair<std::string_view, double> kRounded[] = {
    {"test_dft_inverse", 1e-6},
    {"test_dft_inverse_opset19", 1e-6},
};

double absoluteBound(std::string_view name)
{
    const auto known = std::ranges::find(kRounded, name, &std::pair<std::string_view, double>::first);
    return known == std::end(kRounded) ? kAbsolute : known->second;
}

struct DataSet
{
    std::vector<::onnx::TensorProto> inputs, outputs; ///< by position
};

Result<HostTensor> toTensor(::onnx::TensorProto proto)
{
    frontend::onnx_detail::TensorReader reader(fs::path(), 0);
    LATHE_TRY_ASSIGN(const frontend::onnx_detail::ConstTensor read, reader.read(proto));
    HostTensor tensor = HostTensor::zeros({read.dtype, read.shape});
    std::memcpy(tensor.bytes.data(), read.data->data, tensor.bytes.size());
    return tensor;
}

Result<std::vector<::onnx::TensorProto>> readTensors(const fs::path& folder, std::string_view prefix, int count)
{
    std::vector<::onnx::TensorProto> tensors;
    for (int i = 0; i < count; ++i) {
        const fs::path file = folder / fmt::format("{}_{}.pb", prefix, i);
        LATHE_TRY_ASSIGN(const std::string bytes, readFile(file));
        if (!tensors.emplace_back().ParseFromString(bytes))
            return makeError(Errc::BadFile, fmt::format("{} is no tensor", file.filename().string()));
    }
    return tensors;
}

Result<std::vector<DataSet>> readDataSets(const fs::path& folder, const ::onnx::GraphProto& graph)
{
    std::vector<DataSet> sets;
    for (int i = 0; fs::exists(folder / fmt::format("test_data_set_{}", i)); ++i) {
        const fs::path place = folder / fmt::format("test_data_set_{}", i);
        DataSet set;
        LATHE_TRY_ASSIGN(set.inputs, readTensors(place, "input", graph.input_size()));
        LATHE_TRY_ASSIGN(set.outputs, readTensors(place, "output", graph.output_size()));
        sets.push_back(std::move(set));
    }
    if (sets.empty())
        return makeError(Errc::NotFound, "the case has no data");
    return sets;
}

bool isPlain(const ::onnx::ValueInfoProto& value)
{
    return value.type().has_tensor_type() && frontend::onnx_detail::dtypeOf(value.type().tensor_type().elem_type());
}

bool isTraining(const ::onnx::NodeProto& node, const ::onnx::GraphProto& graph, const std::vector<DataSet>& sets)
{
    for (const auto& attribute : node.attribute()) {
        if (attribute.name() == "training_mode" && attribute.i() != 0)
            return true;
    }
    if (node.op_type() != "Dropout" || node.input_size() < 3 || sets.empty())
        return false;
    for (int i = 0; i < graph.input_size(); ++i) {
        if (graph.input(i).name() != node.input(2))
            continue;
        const auto value = toTensor(sets[0].inputs[static_cast<std::size_t>(i)]);
        return value && !value->bytes.empty() && value->bytes[0] != std::byte{0};
    }
    return false;
}

std::string operatorName(const fs::path& folder, const ::onnx::GraphProto& graph)
{
    const std::string name = folder.filename().string();
    if (const std::size_t at = name.find("_expanded"); at != std::string::npos)
        return "(expanded functions)";
    return graph.node_size() == 0 ? "(none)" : graph.node(graph.node_size() - 1).op_type();
}

/// Inputs that say what is to be computed: axes, shapes, sizes, scales of sizes, pads, k, depth, repeats, starts and
/// ends. They may be given at import; data, indices, conditions and trip counts may not.
struct Settings
{
    std::string_view op;
    std::vector<int> inputs;
};
const std::vector<Settings> kSettings = {
    {"AffineGrid", {1}},
    {"BlackmanWindow", {0}},
    {"CenterCropPad", {1}},
    {"Col2Im", {1, 2}},
    {"ConstantOfShape", {0}},
    {"CumSum", {1}},
    {"DFT", {1, 2}},
    {"Expand", {1}},
    {"HammingWindow", {0}},
    {"HannWindow", {0}},
    {"MaxUnpool", {2}},
    {"MelWeightMatrix", {0, 1, 2, 3, 4}},
    {"NonMaxSuppression", {2}}, // how many at most
    {"OneHot", {1}},
    {"Pad", {1, 3}},
    {"Range", {0, 1, 2}},
    {"ReduceL1", {1}},
    {"ReduceL2", {1}},
    {"ReduceLogSum", {1}},
    {"ReduceLogSumExp", {1}},
    {"ReduceMax", {1}},
    {"ReduceMean", {1}},
    {"ReduceMin", {1}},
    {"ReduceProd", {1}},
    {"ReduceSum", {1}},
    {"ReduceSumSquare", {1}},
    {"Reshape", {1}},
    {"Resize", {1, 2, 3}},
    {"STFT", {1, 3}},
    {"Slice", {1, 2, 3, 4}},
    {"Split", {1}},
    {"Squeeze", {1}},
    {"Tile", {1}},
    {"TopK", {1}},
    {"Trilu", {1}},
    {"Unsqueeze", {1}},
    {"Upsample", {1}},
};

/// Names of the graph's inputs that are settings and nothing else.
std::set<std::string> settingsOf(const ::onnx::GraphProto& graph)
{
    std::set<std::string> settings, others;
    for (const auto& node : graph.node()) {
        const auto known = std::ranges::find(kSettings, std::string_view(node.op_type()), &Settings::op);
        for (int i = 0; i < node.input_size(); ++i) {
            const bool isSetting = known != kSettings.end()
                                   && std::ranges::find(known->inputs, i) != known->inputs.end();
            (isSetting ? settings : others).insert(node.input(i));
        }
    }
    for (const std::string& name : others)
        settings.erase(name);
    return settings;
}

/// A function that is written out in other operators has the settings of the operator itself, whose case lies beside.
std::set<std::string> settingsOf(const fs::path& folder, const ::onnx::GraphProto& graph)
{
    const std::string name = folder.filename().string();
    const std::size_t at = name.find("_expanded");
    ::onnx::ModelProto whole;
    if (at != std::string::npos) {
        const auto bytes = readFile(folder.parent_path() / name.substr(0, at) / "model.onnx");
        if (bytes && whole.ParseFromString(*bytes))
            return settingsOf(whole.graph());
    }
    return settingsOf(graph);
}

/// Moves graph inputs into the initializers, with the case's values.
void bind(::onnx::ModelProto& model, const DataSet& set, const std::set<int>& positions)
{
    ::onnx::GraphProto& graph = *model.mutable_graph();
    for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
        ::onnx::TensorProto& value = *graph.add_initializer();
        value = set.inputs[static_cast<std::size_t>(*position)];
        value.set_name(graph.input(*position).name());
        graph.mutable_input()->DeleteSubrange(*position, 1);
    }
}

/// Of a zero in the operator's own case the same definition in other operators gives the negative.
constexpr std::string_view kNegativeZeros = "test_nllloss_NCd1d2d3_none_no_weight_negative_ii_expanded";

/// How a floating point result may differ from the standard's.
struct FloatBound
{
    double absolute = 0;
    bool anyZero = false; ///< of two zeros either may come out
};

std::string compare(const HostTensor& got, const HostTensor& want, std::string_view who, std::size_t output,
                    const FloatBound& bound)
{
    if (!(got.type == want.type))
        return fmt::format("{}: output {} is {} {}, expected {} {}", who, output, toString(got.type.dtype),
                           got.type.shape, toString(want.type.dtype), want.type.shape);
    const std::int64_t size = sizeOf(want.type.dtype);
    const auto count = static_cast<std::int64_t>(want.bytes.size()) / size;
    for (std::int64_t i = 0; i < count; ++i) {
        const double y = wire::readElement(got.bytes.data(), i, got.type.dtype);
        const double r = wire::readElement(want.bytes.data(), i, want.type.dtype);
        bool same = false;
        if (!isFloat(want.type.dtype)) // to the last digit, which a double may not hold
            same = std::memcmp(got.bytes.data() + i * size, want.bytes.data() + i * size,
                               static_cast<std::size_t>(size))
                   == 0;
        else if (std::isnan(y) || std::isnan(r) || std::isinf(y) || std::isinf(r))
            same = y == r || (std::isnan(y) && std::isnan(r));
        else if (y == 0 && r == 0)
            same = bound.anyZero || std::signbit(y) == std::signbit(r);
        else
            same = std::abs(y - r) <= bound.absolute + relativeBound(want.type.dtype) * std::abs(r);
        if (!same)
            return fmt::format("{}: output {} element {} is {:.9g}, expected {:.9g}", who, output, i, y, r);
    }
    return {};
}

std::string compareAll(const std::vector<HostTensor>& got, const std::vector<HostTensor>& want, std::string_view who,
                       const FloatBound& bound)
{
    for (std::size_t i = 0; i < want.size(); ++i) {
        if (std::string text = compare(got[i], want[i], who, i, bound); !text.empty())
            return text;
    }
    return {};
}

Result<std::vector<HostTensor>> runLibrary(const session::LoadedModel& model, deploy::Compiler& compiler,
                                           const fs::path& output, const std::vector<HostTensor>& inputs)
{
    LATHE_TRY_ASSIGN(const session::KernelChoices chosen, session::chooseKernels(model, nullptr, {}));
    deploy::LibraryOptions options;
    options.output = output;
    LATHE_TRY_ASSIGN(const deploy::StagedLibrary staged,
                     deploy::buildLibrary(model.graph, model.partition, chosen.choices, compiler, options));
    LATHE_TRY_ASSIGN(const auto library, test::InProcessLibrary::open(staged.file, {.threads = 1}));
    deploy::LibraryRunRequest request;
    request.inputs = inputs;
    LATHE_TRY_ASSIGN(deploy::LibraryRun run, library->run(request));
    return std::move(run.outputs);
}

} // namespace

Verdict CaseRunner::run(const fs::path& folder)
{
    Verdict verdict;
    const auto fail = [&](const Error& error) {
        verdict.text = fmt::format("{}: {}", toString(error.code), error.message);
        return verdict;
    };
    const auto bytes = readFile(folder / "model.onnx");
    ::onnx::ModelProto original;
    if (!bytes || !original.ParseFromString(*bytes)) {
        verdict.text = "model.onnx cannot be read";
        return verdict;
    }
    const ::onnx::GraphProto& graph = original.graph();
    verdict.op = operatorName(folder, graph);
    verdict.outcome = Outcome::Excluded;
    for (const auto& import : original.opset_import()) {
        if (!import.domain().empty() && import.domain() != "ai.onnx")
            return verdict;
    }
    if (!std::ranges::all_of(graph.input(), isPlain) || !std::ranges::all_of(graph.output(), isPlain))
        return verdict;
    const std::string name = folder.filename().string();
    const auto contradiction = std::ranges::find(kContradictions, std::string_view(name),
                                                 &std::pair<std::string_view, std::string_view>::first);
    if (contradiction != std::end(kContradictions)) {
        verdict.text = contradiction->second;
        return verdict;
    }
    const auto sets = readDataSets(folder, graph);
    verdict.outcome = Outcome::Failed;
    if (!sets)
        return fail(sets.error());
    if (std::ranges::any_of(graph.node(), [&](const auto& node) { return isTraining(node, graph, *sets); })) {
        verdict.outcome = Outcome::Excluded;
        return verdict;
    }

    // As few inputs as possible become constants: none, all that may.
    std::vector<std::set<int>> attempts{{}, {}};
    const std::set<std::string> settings = settingsOf(folder, graph);
    for (int i = 0; i < graph.input_size(); ++i) {
        if (settings.contains(graph.input(i).name()))
            attempts[1].insert(i);
    }
    if (attempts[1].empty())
        attempts.pop_back();
    for (const DataSet& set : *sets) {
        std::vector<HostTensor> all, want;
        for (const auto& proto : set.inputs) {
            auto tensor = toTensor(proto);
            if (!tensor)
                return fail(tensor.error());
            all.push_back(*std::move(tensor));
        }
        for (const auto& proto : set.outputs) {
            auto tensor = toTensor(proto);
            if (!tensor)
                return fail(tensor.error());
            want.push_back(*std::move(tensor));
        }
        std::shared_ptr<const session::LoadedModel> model;
        std::vector<HostTensor> inputs;
        std::string first;
        for (const std::set<int>& positions : attempts) {
            ::onnx::ModelProto changed = original;
            bind(changed, set, positions);
            const fs::path file = m_scratch / "model.onnx";
            if (auto written = writeFileAtomically(file, changed.SerializeAsString()); !written)
                return fail(written.error());
            session::ModelSpec spec;
            spec.source = file.string();
            for (int i = 0; i < graph.input_size(); ++i) { // open dimensions are as the data says
                if (!positions.contains(i))
                    spec.shapes.emplace_back(graph.input(i).name(), all[static_cast<std::size_t>(i)].type.shape);
            }
            auto loaded = session::loadModel(spec, "cpu");
            if (!loaded) {
                if (loaded.error().code != Errc::Unsupported)
                    return fail(loaded.error());
                if (first.empty()) // what is lacking where no input is known
                    first = loaded.error().message;
                continue;
            }
            model = *std::move(loaded);
            verdict.bound.clear();
            for (int i = 0; i < graph.input_size(); ++i) {
                if (positions.contains(i))
                    verdict.bound.push_back(graph.input(i).name());
                else
                    inputs.push_back(all[static_cast<std::size_t>(i)]);
            }
            break;
        }
        if (!model) {
            verdict.outcome = Outcome::Unsupported;
            verdict.text = first;
            return verdict;
        }
        const FloatBound bound{absoluteBound(name), net::mayGiveAnyZero(model->imported) || name == kNegativeZeros};
        const auto asRead = graph::interpret(model->imported, inputs);
        if (!asRead)
            return fail(asRead.error());
        if (verdict.text = compareAll(*asRead, want, "reference executor", bound); !verdict.text.empty())
            return verdict;
        const auto rewritten = graph::interpret(model->optimized, inputs);
        if (!rewritten)
            return fail(rewritten.error());
        if (verdict.text = compareAll(*rewritten, want, "after the passes", bound); !verdict.text.empty())
            return verdict;
        verdict.folded = model->graph.nodes.empty();
        const auto ran = runLibrary(*model, m_compiler, m_scratch / "case.so", inputs);
        if (!ran)
            return fail(ran.error());
        if (verdict.text = compareAll(*ran, want, "compiled", bound); !verdict.text.empty())
            return verdict;
    }
    verdict.outcome = Outcome::Passed;
    return verdict;
}

} // namespace lathe::conformance
