#include "core/frontend/onnx.h"
#include "core/frontend/onnx/dynamic_size.h"
#include "core/frontend/onnx/functions.h"
#include "core/frontend/onnx/importer.h"
#include "core/frontend/onnx/missing.h"
#include "core/frontend/onnx/node_order.h"
#include "core/frontend/onnx/open_inputs.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/weight_cutter.h"
#include "core/frontend/onnx/wire_check.h"
#include "core/graph/passes.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <new>

namespace lathe::frontend {
namespace {

using namespace onnx_detail;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

constexpr std::int64_t kOldestOpset = 1;
constexpr std::int64_t kNewestOpset = 28; ///< the newest whose definitions the converters were checked against
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;

std::string operatorOf(const NodeProto& node)
{
    const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
    return (standard ? node.op_type() : fmt::format("{}::{}", node.domain(), node.op_type())).substr(0, 100);
}

Result<> checkOpset(std::int64_t version)
{
    if (version < kOldestOpset)
        return makeError(Errc::Unsupported, say(Msg::OpsetTooOld, version, kOldestOpset));
    return {};
}

/// Raw data that was cut out of the main graph's initializers, by position, and the file that it lies in.
struct CutWeights
{
    std::vector<std::span<const std::byte>> raw;
    std::shared_ptr<const MappedFile> file;
};

class Importer : private BodyReader
{
public:
    Importer(ModelProto& model, FunctionTable functions, const ImportOptions& options, std::filesystem::path folder,
             std::int64_t opset, std::int64_t fileBytes, CutWeights cut)
        : m_proto(*model.mutable_graph())
        , m_options(options)
        , m_builder(TensorReader(std::move(folder), options.mapFrom), opset, fileBytes)
        , m_functions(std::move(functions))
        , m_cut(std::move(cut))
    {
        m_builder.graph().name = m_proto.name();
    }

    Result<graph::Graph> run()
    {
        LATHE_TRY(addInitializers(m_proto, m_cut));
        LATHE_TRY(addInputs());
        LATHE_TRY(addNodes(m_proto, {}));
        if (!m_missing.empty())
            return m_missing.error();
        LATHE_TRY(addOutputs());
        if (m_options.notes)
            *m_options.notes = std::move(m_builder.notes());
        if (m_options.dimensions)
            *m_options.dimensions = std::move(m_open.dimensions);
        graph::Graph result = withoutUnused(std::move(m_builder.graph()));
        LATHE_TRY(graph::verify(result));
        return result;
    }

private:
    Result<> addInitializers(GraphProto& graph, const CutWeights& cut)
    {
        for (int i = 0; i < graph.initializer_size(); ++i) {
            ::onnx::TensorProto& proto = *graph.mutable_initializer(i);
            if (proto.name().empty())
                return makeError(Errc::BadFile, say(Msg::InitializerUnnamed));
            const std::string name = proto.name();
            const auto position = static_cast<std::size_t>(i);
            auto tensor = position < cut.raw.size() ? m_builder.tensors().read(proto, cut.raw[position], cut.file)
                                                    : m_builder.tensors().read(proto);
            if (!tensor && tensor.error().code == Errc::Unsupported) {
                m_missing.add(messageOf(tensor.error()), name);
                LATHE_TRY(m_builder.bind(name, m_builder.scalar(DType::F32, 0)));
                m_unknown.insert(name);
                continue;
            }
            if (!tensor)
                return std::move(tensor).error();
            LATHE_TRY(m_builder.bind(name, m_builder.addConstant(name, *std::move(tensor))));
        }
        for (const auto& sparse : graph.sparse_initializer())
            m_missing.add(say(Msg::NeedsSparse), sparse.values().name());
        return {};
    }

    /// Sizes from the options first, so that the order of inputs does not matter.
    Result<> addInputs()
    {
        for (const auto& [name, shape] : m_options.shapes) {
            const auto found = std::ranges::find_if(m_proto.input(),
                                                    [&](const auto& input) { return input.name() == name; });
            if (found == m_proto.input().end() || m_builder.knows(name))
                return makeError(Errc::InvalidArgument, say(Msg::NoInputToShape, name));
            const auto& dims = found->type().tensor_type().shape();
            if (found->type().tensor_type().has_shape() && dims.dim_size() != static_cast<int>(shape.size()))
                return makeError(Errc::InvalidArgument, say(Msg::InputDimensions, name, dims.dim_size(),
                                                            fmt::format("{}", fmt::join(shape, ", ")), shape.size()));
        }
        // Older files list their weights as inputs too.
        m_open = openInputsOf(m_proto, [this](const std::string& name) { return isInitializer(name); });
        LATHE_TRY(giveSizes(m_open, m_options));
        LATHE_TRY(checkSizes(m_open, m_options));
        for (OpenDimension& dimension : m_open.dimensions)
            if (!dimension.size) {
                m_builder.note(say(Msg::BatchSetToOne, dimension.places.front().input));
                dimension.size = 1;
            }
        for (const auto& input : m_proto.input()) {
            if (isInitializer(input.name()))
                continue;
            LATHE_TRY(addInput(input));
        }
        return {};
    }

    bool isInitializer(const std::string& name)
    {
        const graph::ValueId id = m_builder.find(name);
        return id.valid() && m_builder.isConstant(id);
    }

    Result<> addInput(const ::onnx::ValueInfoProto& input)
    {
        if (input.name().empty())
            return makeError(Errc::BadFile, say(Msg::InputUnnamed));
        if (!input.type().has_tensor_type())
            return makeError(Errc::Unsupported, say(Msg::InputNoTensor, input.name()));
        const auto& type = input.type().tensor_type();
        const std::optional<DType> dtype = dtypeOf(type.elem_type());
        if (type.elem_type() == ::onnx::TensorProto_DataType_STRING) { // the operators on it are named with it
            m_missing.add(say(Msg::NeedsElementType, "string"), input.name());
            LATHE_TRY(m_builder.bind(input.name(), m_builder.scalar(DType::F32, 0)));
            m_unknown.insert(input.name());
            return {};
        }
        if (!dtype)
            return makeError(Errc::Unsupported, say(Msg::InputOfType, input.name(), dataTypeText(type.elem_type())));
        const auto given = m_options.shapes.find(input.name());
        std::vector<std::int64_t> shape;
        if (!type.has_shape())
            shape = given->second; // checkSizes() saw to it
        for (int d = 0; type.has_shape() && d < type.shape().dim_size(); ++d) {
            LATHE_TRY_ASSIGN(const std::int64_t extent,
                             extentOf(input.name(), type.shape().dim(d), d,
                                      given == m_options.shapes.end()
                                          ? std::nullopt
                                          : std::optional(given->second[static_cast<std::size_t>(d)])));
            shape.push_back(extent);
        }
        for (const std::int64_t extent : shape) {
            if (extent < 0 || extent > kMaxExtent)
                return makeError(Errc::InvalidArgument,
                                 say(Msg::InputShapeRange, input.name(), fmt::format("{}", fmt::join(shape, ", "))));
        }
        const graph::ValueId id = m_builder.graph().addValue(input.name(), *dtype, std::move(shape));
        m_builder.graph().inputs.push_back(id);
        return m_builder.bind(input.name(), id);
    }

    Result<std::int64_t> extentOf(const std::string& input, const ::onnx::TensorShapeProto_Dimension& dim, int position,
                                  std::optional<std::int64_t> given)
    {
        if (dim.has_dim_value() && dim.dim_value() >= 0 && !(given && dim.dim_value() == 0)) {
            const std::int64_t fixed = dim.dim_value();
            if (given && *given != fixed)
                return makeError(Errc::InvalidArgument, say(Msg::DimensionFixed, position, input, fixed, *given));
            if (!given && position == 0 && m_options.batch && *m_options.batch != fixed)
                return makeError(Errc::InvalidArgument, say(Msg::BatchFixed, fixed, input, *m_options.batch));
            return fixed;
        }
        if (const OpenDimension* const open = findOpen(m_open, input, position))
            return open->size.value_or(1);
        return given.value_or(0); // 0 in the file
    }

    /// `prefix` stands in front of the names of a branch's nodes.
    Result<> addNodes(GraphProto& graph, const std::string& prefix)
    {
        LATHE_TRY_ASSIGN(const std::vector<int> order, orderOf(graph, m_builder, m_unknown, prefix));
        for (const int index : order) {
            NodeProto& node = *graph.mutable_node(index);
            const std::string label = prefix + labelOf(node, index);
            if (const ControlConverter convert = findControlConverter(operatorOf(node))) {
                LATHE_TRY(addControl(node, label, convert));
            } else {
                LATHE_TRY(addNode(node, label));
            }
        }
        return {};
    }

    void lacks(const Message& what, const NodeProto& proto, const std::string& label)
    {
        m_missing.add(what, label);
        m_unknown.insert(proto.output().begin(), proto.output().end());
    }

    Result<> addControl(NodeProto& proto, const std::string& label, ControlConverter convert)
    {
        if (std::ranges::any_of(proto.input(), [this](const std::string& name) { return m_unknown.contains(name); })) {
            m_unknown.insert(proto.output().begin(), proto.output().end());
            return {};
        }
        if (m_builder.depth() >= static_cast<std::size_t>(graph::kDeepestBodies)) {
            lacks(say(Msg::NeedsShallowBodies, graph::kDeepestBodies), proto, label);
            return {};
        }
        if (operatorOf(proto) == "If") {
            LATHE_TRY_ASSIGN(const bool isDissolved, dissolveBranch(proto, label));
            if (isDissolved)
                return {};
        }
        m_builder.begin(label);
        NodeReader reader(proto);
        auto values = convert(m_builder, reader, *this, label);
        if (values && *values) {
            if (auto unread = reader.finish(); !unread)
                values = std::move(unread).error();
            else if (static_cast<std::int64_t>((*values)->size()) < reader.outputCount())
                values = makeError(Errc::Unsupported, say(Msg::NeedsOutput, (*values)->size()));
        }
        if (!values && values.error().code == Errc::Unsupported) {
            lacks(say(Msg::NeedsOfOperator, values.error(), operatorOf(proto)), proto, label);
            return {};
        }
        if (!values)
            return std::move(values).error().note(say(Msg::NodeAt, label, operatorOf(proto)));
        if (!*values) {
            m_unknown.insert(proto.output().begin(), proto.output().end());
            return {};
        }
        for (int i = 0; i < proto.output_size(); ++i)
            if (reader.hasOutput(i))
                LATHE_TRY(m_builder.bind(proto.output(i), (**values)[static_cast<std::size_t>(i)]));
        return {};
    }

    Result<bool> read(GraphProto& body, const std::string& prefix) override
    {
        std::unordered_set<std::string> unknownOutside = m_unknown;
        for (const auto& input : body.input())
            m_unknown.erase(input.name());
        LATHE_TRY(addInitializers(body, {}));
        LATHE_TRY(addNodes(body, prefix));
        bool isComplete = true;
        for (const auto& output : body.output()) {
            if (m_unknown.contains(output.name())) {
                isComplete = false;
                continue;
            }
            const graph::ValueId id = m_builder.find(output.name());
            if (!id.valid())
                return makeError(Errc::BadFile, say(Msg::BodyLacksValue, body.name(), output.name()));
            m_builder.graph().outputs.push_back(id);
            m_builder.graph().outputNames.push_back(output.name());
        }
        m_unknown = std::move(unknownOutside);
        return isComplete;
    }

    /// If, where the condition is known: the branch that is taken stands in its place. False: it is not known.
    Result<bool> dissolveBranch(NodeProto& proto, const std::string& label)
    {
        NodeReader reader(proto);
        const auto condition = m_builder.constantNumbers(reader, 0, "a condition");
        if (!condition && condition.error().code != Errc::Unsupported)
            return Error(condition.error()).note(say(Msg::NodeAt, label, "If"));
        if (!condition || condition->size() != 1)
            return false;
        const std::string_view wanted = (*condition)[0] != 0 ? "then_branch" : "else_branch";
        for (auto& attribute : *proto.mutable_attribute()) {
            if (attribute.name() != wanted)
                continue;
            GraphProto& branch = *attribute.mutable_g();
            if (branch.output_size() != proto.output_size())
                return makeError(Errc::BadFile,
                                 say(Msg::BodyOutputs, branch.name(), branch.output_size(), proto.output_size()))
                    .note(say(Msg::NodeAt, label, "If"));
            // Names of a branch are its own: another may use them too.
            const std::size_t scope = m_builder.openScope();
            std::unordered_set<std::string> unknownOutside = m_unknown;
            LATHE_TRY(addInitializers(branch, {}));
            LATHE_TRY(addNodes(branch, label + "/"));
            std::vector<std::pair<std::string, graph::ValueId>> results;
            for (int i = 0; i < branch.output_size(); ++i) {
                const std::string& inner = branch.output(i).name();
                if (m_unknown.contains(inner)) {
                    unknownOutside.insert(proto.output(i));
                    continue;
                }
                const graph::ValueId id = m_builder.find(inner);
                if (!id.valid())
                    return makeError(Errc::BadFile, say(Msg::BodyLacksValue, branch.name(), inner))
                        .note(say(Msg::NodeAt, label, "If"));
                if (!proto.output(i).empty())
                    results.emplace_back(proto.output(i), id);
            }
            m_builder.closeScope(scope);
            m_unknown = std::move(unknownOutside);
            for (const auto& [name, id] : results)
                LATHE_TRY(m_builder.bind(name, id));
            return true;
        }
        return makeError(Errc::BadFile, say(Msg::BodyAbsent, wanted)).note(say(Msg::NodeAt, label, "If"));
    }

    Result<> addNode(NodeProto& proto, const std::string& label)
    {
        const Converter convert = findConverter(domainOf(proto), proto.op_type());
        if (!convert) {
            if (const ::onnx::FunctionProto* function = m_functions.find(proto))
                return addFunction(*function, proto, label);
            const std::string name = proto.op_type().substr(0, 100);
            if (domainOf(proto).empty() && worksOnStrings(proto.op_type()))
                lacks(say(Msg::NeedsStrings, name), proto, label);
            else
                lacks(domainOf(proto).empty() ? say(Msg::NeedsOperator, name)
                                              : say(Msg::NeedsOperatorOfDomain, name, proto.domain().substr(0, 100)),
                      proto, label);
            return {};
        }
        const bool unknown = std::ranges::any_of(proto.input(),
                                                 [&](const std::string& name) { return m_unknown.contains(name); });
        if (unknown) { // behind something that is not supported: types are not known, so only operators are checked
            m_unknown.insert(proto.output().begin(), proto.output().end());
            return {};
        }
        m_builder.begin(label);
        NodeReader reader(proto);
        if (m_builder.opset() < 7) { // of training and memory, or said by the node's outputs
            for (const char* name : {"consumed_inputs", "is_test", "output_sequence"})
                reader.ignore(name);
        }
        auto values = convertSized(m_builder, reader, convert);
        if (values) {
            if (auto unread = reader.finish(); !unread) {
                values = std::move(unread).error();
            } else if (static_cast<std::int64_t>(values->size()) < reader.outputCount()) {
                for (std::int64_t i = static_cast<std::int64_t>(values->size()); i < reader.outputCount(); ++i) {
                    if (reader.hasOutput(i))
                        values = makeError(Errc::Unsupported, say(Msg::NeedsOutput, i));
                    if (!values)
                        break;
                }
            }
        }
        if (!values && values.error().code == Errc::Unsupported) {
            lacks(say(Msg::NeedsOfOperator, values.error(), operatorOf(proto)), proto, label);
            return {};
        }
        if (!values)
            return std::move(values).error().note(say(Msg::NodeAt, label, operatorOf(proto)));
        for (std::int64_t i = 0; i < reader.outputCount() && i < static_cast<std::int64_t>(values->size()); ++i) {
            if (reader.hasOutput(i))
                LATHE_TRY(m_builder.bind(proto.output(static_cast<int>(i)), (*values)[static_cast<std::size_t>(i)]));
        }
        return {};
    }

    /// A function of the model's: its body stands in the place of the call, and sees what the call hands it alone.
    Result<> addFunction(const ::onnx::FunctionProto& function, const NodeProto& call, const std::string& label)
    {
        auto entered = m_functions.enter(function, call, label, m_builder.opset());
        if (!entered)
            return std::move(entered).error().note(say(Msg::NodeAt, label, operatorOf(call)));
        LATHE_TRY(checkOpset(entered->opset));
        ::onnx::FunctionProto& body = *entered->body;
        Builder::Names own;
        std::unordered_set<std::string> unknown;
        for (int i = 0; i < call.input_size(); ++i) {
            if (call.input(i).empty())
                continue;
            if (m_unknown.contains(call.input(i)))
                unknown.insert(body.input(i));
            else if (const graph::ValueId id = m_builder.find(call.input(i)); id.valid())
                own.values.emplace(body.input(i), id);
        }
        own.opset = entered->opset;
        Builder::Names outside = m_builder.exchangeNames(std::move(own));
        std::swap(unknown, m_unknown);
        GraphProto nodes;
        nodes.mutable_node()->Swap(body.mutable_node());
        Result<> added = addNodes(nodes, label + "/");
        own = m_builder.exchangeNames(std::move(outside));
        std::swap(unknown, m_unknown);
        m_functions.leave();
        LATHE_TRY(std::move(added));
        for (int i = 0; i < call.output_size(); ++i) {
            if (call.output(i).empty())
                continue;
            const auto found = own.values.find(body.output(i));
            if (unknown.contains(body.output(i)))
                m_unknown.insert(call.output(i));
            else if (found == own.values.end())
                return makeError(Errc::BadFile, say(Msg::FunctionOutput, label, operatorOf(call), body.output(i)));
            else
                LATHE_TRY(m_builder.bind(call.output(i), found->second));
        }
        return {};
    }

    Result<> addOutputs()
    {
        for (const auto& output : m_proto.output()) {
            const graph::ValueId id = m_builder.find(output.name());
            if (!id.valid())
                return makeError(Errc::BadFile, say(Msg::OutputNotComputed, output.name()));
            for (const DynamicAxis& dynamic : m_builder.dynamicAxes(id))
                m_builder.graph().outputExtents.push_back({static_cast<std::int32_t>(m_builder.graph().outputs.size()),
                                                           static_cast<std::int32_t>(dynamic.axis), dynamic.count});
            m_builder.graph().outputs.push_back(id);
            m_builder.graph().outputNames.push_back(output.name()); // of an Identity's the value has another
        }
        for (const graph::Node& node : m_builder.graph().nodes) {
            const auto isEmpty = [this](graph::ValueId id) { return m_builder.isEmpty(id); };
            if (std::ranges::any_of(node.inputs, isEmpty) || std::ranges::any_of(node.outputs, isEmpty))
                return makeError(Errc::Unsupported, say(Msg::NodeOnEmptyTensor, node.origin, node.op));
        }
        if (m_builder.graph().outputs.empty())
            return makeError(Errc::BadFile, say(Msg::NoOutputs));
        return {};
    }

    /// Shape arithmetic leaves constants that nobody reads.
    static graph::Graph withoutUnused(graph::Graph graph)
    {
        std::vector<bool> used(graph.values.size(), false);
        const auto mark = [&used](const std::vector<graph::ValueId>& ids) {
            for (const graph::ValueId id : ids)
                used[static_cast<std::size_t>(id.value)] = true;
        };
        mark(graph.inputs);
        mark(graph.results());
        for (const graph::Node& node : graph.nodes) {
            mark(node.inputs);
            mark(node.outputs);
        }
        std::vector<graph::ValueId> moved(graph.values.size());
        std::vector<graph::Value> values;
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (!used[i])
                continue;
            moved[i] = graph::ValueId(static_cast<std::int64_t>(values.size()));
            values.push_back(std::move(graph.values[i]));
        }
        graph.values = std::move(values);
        const auto move = [&moved](std::vector<graph::ValueId>& ids) {
            for (graph::ValueId& id : ids)
                id = moved[static_cast<std::size_t>(id.value)];
        };
        move(graph.inputs);
        move(graph.outputs);
        for (graph::OutputExtent& extent : graph.outputExtents)
            extent.count = moved[static_cast<std::size_t>(extent.count.value)];
        for (graph::Node& node : graph.nodes) {
            move(node.inputs);
            move(node.outputs);
        }
        return graph;
    }

    GraphProto& m_proto;
    const ImportOptions& m_options;
    Builder m_builder;
    FunctionTable m_functions;
    CutWeights m_cut;
    Missing m_missing;
    std::unordered_set<std::string> m_unknown; ///< values behind unsupported nodes
    OpenInputs m_open; ///< with the sizes that are used
};

Result<std::int64_t> opsetOf(const ModelProto& model, std::vector<Message>* notes)
{
    std::int64_t version = 0;
    for (const auto& import : model.opset_import()) {
        if (import.domain().empty() || import.domain() == "ai.onnx")
            version = std::max(version, import.version());
    }
    if (version == 0)
        return makeError(Errc::BadFile, say(Msg::NoOpset));
    LATHE_TRY(checkOpset(version));
    if (version > kNewestOpset && notes)
        notes->push_back(say(Msg::OpsetNewer, version, kNewestOpset));
    return version;
}

/// `file`: what holds `bytes`, if its weights may stay where they are.
Result<graph::Graph> importModel(std::span<const std::byte> bytes, const ImportOptions& options,
                                 const std::filesystem::path& folder, std::shared_ptr<const MappedFile> file)
{
    if (bytes.empty())
        return makeError(Errc::BadFile, say(Msg::FileEmpty));
    if (!file && bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return makeError(Errc::BadFile, say(Msg::FileOver2GiB));
    if (options.batch && (*options.batch < 1 || *options.batch > kMaxExtent))
        return makeError(Errc::InvalidArgument, say(Msg::BatchBelowOne, *options.batch));
    LATHE_TRY(checkWire(bytes));
    CutWeights cut;
    CutModel slim;
    if (file) {
        LATHE_TRY_ASSIGN(slim, cutWeights(bytes, options.leastMapped));
        cut = {std::move(slim.weights), std::move(file)};
    }
    const std::span<const std::byte> message = cut.file ? std::as_bytes(std::span(slim.rest)) : bytes;
    ModelProto model;
    if (!model.ParseFromArray(message.data(), static_cast<int>(message.size())) || !model.has_graph())
        return makeError(Errc::BadFile, say(Msg::OnnxNoModel));
    std::vector<Message> notes;
    LATHE_TRY_ASSIGN(const std::int64_t opset, opsetOf(model, &notes));
    const auto fileBytes = static_cast<std::int64_t>(bytes.size());
    LATHE_TRY_ASSIGN(FunctionTable functions, FunctionTable::create(model, fileBytes));
    auto result = Importer(model, std::move(functions), options, folder, opset, fileBytes, std::move(cut)).run();
    if (result && options.notes)
        options.notes->insert(options.notes->begin(), notes.begin(), notes.end());
    return result;
}

Result<graph::Graph> importGuarded(std::span<const std::byte> bytes, const ImportOptions& options,
                                   const std::filesystem::path& folder, std::shared_ptr<const MappedFile> file)
{
    try {
        return importModel(bytes, options, folder, std::move(file));
    } catch (const std::bad_alloc&) {
        return makeError(Errc::BadFile, say(Msg::ModelOverMemory));
    } catch (const std::exception& exception) { // protobuf and the file system throw
        return makeError(Errc::Internal, say(Msg::ModelReadingFailed, exception.what()));
    }
}

} // namespace

Result<graph::Graph> importOnnx(std::span<const std::byte> bytes, const ImportOptions& options,
                                const std::filesystem::path& folder)
{
    return importGuarded(bytes, options, folder, nullptr);
}

Result<graph::Graph> importOnnx(const std::filesystem::path& path, const ImportOptions& options)
{
    LATHE_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path, options.mapFrom == 0 ? 0 : options.mapFrom - 1));
    const auto file = std::make_shared<const MappedFile>(std::move(mapped));
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const bool stays = file->bytes().size() >= options.mapFrom;
    auto result = importGuarded(file->bytes(), options, folder, stays ? file : nullptr);
    LATHE_TRY(file->intact()); // what was read, if something was cut off meanwhile, makes any error
    if (!result)
        return std::move(result).error().note(path.filename().string());
    for (const graph::Value& value : result->values)
        if (value.constant)
            LATHE_TRY(graph::stillThere(*value.constant));
    if (result->name.empty())
        result->name = path.stem().string();
    return result;
}

} // namespace lathe::frontend
