#include "tests/net/golden_cases.h"

#include "core/frontend/onnx.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/tensor_data.h"
#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/support/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace lathe::net {

namespace {

using graph::HostTensor;

Result<HostTensor> tensorOf(::onnx::TensorProto proto)
{
    frontend::onnx_detail::TensorReader reader(std::filesystem::path(), 0);
    LATHE_TRY_ASSIGN(const frontend::onnx_detail::ConstTensor read, reader.read(proto));
    HostTensor tensor = HostTensor::zeros({read.dtype, read.shape});
    if (!tensor.bytes.empty())
        std::memcpy(tensor.bytes.data(), read.data->data, tensor.bytes.size());
    return tensor;
}

DType dtypeNamed(std::string_view name)
{
    for (int i = 0; i <= static_cast<int>(DType::F64); ++i)
        if (name == toString(static_cast<DType>(i)))
            return static_cast<DType>(i);
    return DType::F32;
}

/// Takes the values out of the model.
Result<GoldenCase> caseOf(::onnx::ModelProto model)
{
    constexpr std::string_view kMark = "golden:";
    GoldenCase made;
    ::onnx::GraphProto& graph = *model.mutable_graph();
    made.name = graph.name();
    made.dtype = dtypeNamed(std::string_view(made.name).substr(made.name.find('|') + 1));
    std::map<std::string, HostTensor, std::less<>> values;
    ::google::protobuf::RepeatedPtrField<::onnx::TensorProto> kept;
    for (const ::onnx::TensorProto& tensor : graph.initializer()) {
        if (!tensor.name().starts_with(kMark)) {
            *kept.Add() = tensor;
            continue;
        }
        LATHE_TRY_ASSIGN(values[tensor.name().substr(kMark.size())], tensorOf(tensor));
    }
    graph.mutable_initializer()->Swap(&kept);
    for (int s = 0; s < 2; ++s) {
        GoldenSet set;
        for (const auto& input : graph.input())
            set.inputs.push_back(values.at(fmt::format("{}:{}", s, input.name())));
        for (const auto& output : graph.output())
            if (const auto found = values.find(fmt::format("{}:{}", s, output.name())); found != values.end())
                set.outputs.emplace_back(found->second);
            else
                set.outputs.emplace_back();
        made.sets.push_back(std::move(set));
    }
    made.model = model.SerializeAsString();
    return made;
}

enum class Numbers : std::uint8_t
{
    Any,
    Integers,
    Halves,
    Doubles
};

/// Where ONNX Runtime does otherwise than core/compute/README.md says.
struct Contradiction
{
    std::string_view op;
    Numbers of;
    bool plainToo; ///< also with values that are not difficult
    std::string_view only = {}; ///< cases whose names contain this
};
constexpr Contradiction kContradictions[] = {
    // It loses NaN.
    {"MaxPool", Numbers::Any, false},
    {"GlobalMaxPool", Numbers::Any, false},
    {"ReduceMax", Numbers::Any, false},
    {"ReduceMin", Numbers::Any, false},
    {"ReduceLogSumExp", Numbers::Any, false},
    {"Hardmax", Numbers::Any, false},
    {"Sign", Numbers::Any, false},
    {"ScatterElements", Numbers::Any, false},
    {"ScatterND", Numbers::Any, false},
    {"LogSoftmax", Numbers::Doubles, false},
    {"SoftmaxCrossEntropyLoss", Numbers::Doubles, false},
    {"GRU", Numbers::Any, false},
    {"LSTM", Numbers::Any, false},
    {"RNN", Numbers::Any, false},
    // Its integers go to their ends, or to the lowest one, instead of wrapping around; so does NaN.
    {"ReduceL1", Numbers::Integers, true},
    {"ReduceL2", Numbers::Integers, true},
    {"ReduceLogSum", Numbers::Integers, true},
    {"ReduceLogSumExp", Numbers::Integers, true},
    {"ReduceMean", Numbers::Integers, true},
    {"ReduceProd", Numbers::Integers, true},
    {"ReduceSum", Numbers::Integers, true},
    {"ReduceSumSquare", Numbers::Integers, true},
    {"Pow", Numbers::Integers, true},
    {"DequantizeLinear", Numbers::Integers, false},
    {"QuantizeLinear", Numbers::Any, false},
    {"ArgMax", Numbers::Any, false},
    {"ArgMin", Numbers::Any, false},
    {"LayerNormalization", Numbers::Any, false},
    // It adds the bias as a float; the standard's definition in other operators casts it to the type first.
    {"Shrink", Numbers::Integers, true},
    // It takes real numbers as complex ones: an infinity times the imaginary 0 is NaN.
    {"DFT", Numbers::Any, false},
    {"STFT", Numbers::Any, false},
    // A bound that is absent is the end of the finite numbers to it.
    {"Clip", Numbers::Any, false, "clip_default"},
    // It counts shrunken lengths as they are after they were cut; the standard's own cases do not.
    {"Resize", Numbers::Any, true, "downsample_scales_linear_align_corners"},
    {"Resize", Numbers::Any, true, "downsample_scales_cubic_align_corners"},
    // Its places are rounded to f32: a neighbour far by 1e-7 gets the weight 0, which makes NaN of an infinity.
    {"Resize", Numbers::Any, false, "scales_linear"},
    // In the place of a pixel beyond the border it reads one of the image, with weight 0: NaN and infinities spread.
    {"DeformConv", Numbers::Any, false},
    // It counts positions in the output_shape; the standard's own case in the shape that strides and kernel give.
    {"MaxUnpool", Numbers::Any, true, "with_output_shape"},
    // It computes them in f32.
    {"Shrink", Numbers::Doubles, true},
    {"GroupNormalization", Numbers::Doubles, true},
    {"LayerNormalization", Numbers::Doubles, true},
};

/// Where ONNX Runtime computes less accurately than its type allows: how far it may be off.
struct Inaccuracy
{
    std::string_view op;
    Numbers of;
    double absolute;
};
constexpr Inaccuracy kInaccuracies[] = {
    {"DFT", Numbers::Any, 5e-5}, // sines and cosines of angles that are rounded
    {"AffineGrid", Numbers::Halves, 8e-3}, // each step of its definition is rounded
};

std::string_view opOf(const GoldenCase& of)
{
    return std::string_view(of.name).substr(0, of.name.find(' '));
}

bool isOf(Numbers numbers, DType dtype)
{
    switch (numbers) {
    case Numbers::Any: return true;
    case Numbers::Integers: return !isFloat(dtype);
    case Numbers::Halves: return isFloat(dtype) && sizeOf(dtype) == 2;
    case Numbers::Doubles: return dtype == DType::F64;
    }
    return false;
}

bool contradicts(const GoldenCase& of, std::size_t set)
{
    return std::ranges::any_of(kContradictions, [&](const Contradiction& c) {
        return c.op == opOf(of) && isOf(c.of, of.dtype) && (c.plainToo || set == 1)
               && of.name.find(c.only) != std::string::npos;
    });
}

} // namespace

std::vector<std::filesystem::path> goldenFiles()
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(LATHE_GOLDENS))
        if (entry.path().extension() == ".cases")
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

Result<std::vector<GoldenCase>> readGoldenCases(const std::filesystem::path& file)
{
    LATHE_TRY_ASSIGN(const std::string bytes, readFile(file));
    std::vector<GoldenCase> cases;
    for (std::size_t at = 0; at + 4 <= bytes.size();) {
        std::uint32_t length = 0;
        std::memcpy(&length, bytes.data() + at, sizeof length);
        at += sizeof length;
        ::onnx::ModelProto model;
        if (at + length > bytes.size() || !model.ParseFromString(bytes.substr(at, length)))
            return makeError(Errc::BadFile, file.string() + " is damaged");
        at += length;
        LATHE_TRY_ASSIGN(GoldenCase one, caseOf(std::move(model)));
        cases.push_back(std::move(one));
    }
    return cases;
}

Result<ImportedNetwork> importNetwork(const std::string& model, const Target& target)
{
    ImportedNetwork network;
    LATHE_TRY_ASSIGN(network.imported, frontend::importOnnx(std::as_bytes(std::span(model))));
    graph::PassRunner passes;
    LATHE_TRY_ASSIGN(network.graph, graph::prepare(network.imported, target, target.traits().layout, "lathe", passes));
    LATHE_TRY_ASSIGN(network.partition, graph::partition(network.graph, target, "lathe", passes));
    return network;
}

std::string compareWithGolden(const GoldenCase& of, std::size_t set, Expected evaluated, const HostTensor& golden)
{
    if (contradicts(of, set))
        return {};
    if (!evaluated.isExact) {
        evaluated.bound.ulps = std::max(evaluated.bound.ulps, 64.0);
        evaluated.bound.absolute = std::max(evaluated.bound.absolute, 2e-6);
    }
    for (const Inaccuracy& one : kInaccuracies)
        if (one.op == opOf(of) && isOf(one.of, of.dtype))
            evaluated.bound.absolute = std::max(evaluated.bound.absolute, one.absolute);
    evaluated.bound.anyZero = true;
    return compare(golden, evaluated);
}

} // namespace lathe::net
