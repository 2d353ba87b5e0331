#pragma once

#include "core/frontend/onnx.h"
#include "core/frontend/onnx/node_reader.h"
#include "core/frontend/onnx/tensor_data.h"
#include "core/graph/operator.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lathe::frontend::onnx_detail {

using graph::Attrs;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;

/// A dimension whose extent depends on data: the value's shape has the most that it can be, and what lies behind the
/// true extent means nothing.
struct DynamicAxis
{
    std::int64_t axis = 0;
    ValueId count; ///< I64 scalar: the true extent
};

/// An element of a vector of integers that shapes are made of.
struct ShapeNumber
{
    std::int64_t most = 0; ///< the most that it can be; the number itself if nothing counts it
    ValueId count; ///< I64 scalar; invalid: it is known
    std::int64_t least = 0; ///< the least that a counted one can be: below 0 where something was taken from a count
};

/// The graph under construction: what the converters of single operators need.
class Builder
{
public:
    /// `fileBytes`: of the model file. Constants that import itself may make (folded arithmetic, filled tensors) are
    /// bounded by it and by the external files.
    Builder(TensorReader reader, std::int64_t opsetVersion, std::int64_t fileBytes)
        : m_reader(std::move(reader))
        , m_fileBytes(fileBytes)
    {
        m_here.names = {{}, {}, opsetVersion, false};
    }

    std::int64_t opset() const { return m_here.names.opset; }
    graph::Graph& graph() { return m_here.graph; }
    const graph::Graph& graph() const { return m_here.graph; }
    TensorReader& tensors() { return m_reader; }

    /// The value of an input. Errors: BadFile if it is absent.
    Result<ValueId> input(const NodeReader& node, std::int64_t index);
    /// Contents of an input that must be known at import, as integers. Errors: Unsupported if it is computed from the
    /// network's inputs.
    Result<Ints> constantInts(const NodeReader& node, std::int64_t index, std::string_view what);
    Result<std::vector<double>> constantNumbers(const NodeReader& node, std::int64_t index, std::string_view what);

    const std::vector<std::int64_t>& shape(ValueId id) const { return m_here.graph.value(id).shape; }
    std::int64_t rank(ValueId id) const { return static_cast<std::int64_t>(shape(id).size()); }
    DType dtype(ValueId id) const { return m_here.graph.value(id).dtype; }
    bool isConstant(ValueId id) const { return m_here.graph.value(id).constant != nullptr; }
    bool isEmpty(ValueId id) const; ///< has no elements

    ValueId constant(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values);
    ValueId scalar(DType dtype, double value) { return constant(dtype, {}, std::span(&value, 1)); }
    ValueId ints(const Ints& values); ///< I64 vector
    ValueId addConstant(std::string name, ConstTensor tensor);
    ValueId emptyConstant(graph::TensorType type); ///< of a shape without elements

    /// Before constants of that size are made. Errors: BadFile once they outgrow the file.
    Result<> charge(std::int64_t bytes);

    /// Adds one node of Lathe's set, types inferred. A node of constants is evaluated at once, if the result is not
    /// larger than 1 MiB or what went in. What has no elements counts as constant. Errors: those of the shape rule.
    Result<ValueId> emit(std::string_view op, Attrs attrs, std::vector<ValueId> inputs);
    Result<std::vector<ValueId>> emitMany(std::string_view op, Attrs attrs, std::vector<ValueId> inputs,
                                          std::size_t outputs);
    Result<ValueId> cast(ValueId value, DType dtype); ///< no node if it has the type
    Result<ValueId> reshape(ValueId value, Ints shape); ///< no node if it has the shape

    /// Ascending; most values have none.
    const std::vector<DynamicAxis>& dynamicAxes(ValueId id) const;
    ValueId countAlong(ValueId id, std::int64_t axis) const; ///< invalid: the extent is known
    void setDynamicAxes(ValueId id, std::vector<DynamicAxis> axes);
    /// Null: not recorded. Vectors that nothing counts are constants.
    const std::vector<ShapeNumber>* shapeNumbers(ValueId id) const;
    void setShapeNumbers(ValueId id, std::vector<ShapeNumber> numbers);
    /// From now on input() gives `by` where the node reads `id`; an invalid `by` ends that.
    void standIn(ValueId id, ValueId by);
    /// What a converter made once for that key, so that sizes which are equal are counted by one value. Empty at first.
    std::vector<ValueId>& made(const std::string& key) { return m_here.made[key]; }

    /// Names the values that stand for a node's outputs.
    Result<> bind(const std::string& name, ValueId value);
    /// Invalid: not there (yet). A value from around a body comes into it: a constant as it is, others captured.
    ValueId find(const std::string& name);
    bool knows(const std::string& name) const; ///< whether find() finds it
    /// Names that are bound between the two are forgotten with the second: those inside of a branch.
    std::size_t openScope() const;
    void closeScope(std::size_t scope);

    /// What names stand for, and the version that operators are of: in the body of a function both are its own.
    struct Names
    {
        std::unordered_map<std::string, ValueId> values;
        std::vector<std::string> bound; ///< the names in `values`, the latest last
        std::int64_t opset = 0;
        bool ofFunction = true; ///< nothing from around is known
    };
    Names exchangeNames(Names names); ///< returns those before
    /// From here on everything goes into a new graph, in which names from around it are known, until closeBody().
    void openBody();
    struct Body
    {
        graph::Graph graph; ///< its last inputs are what it captures
        std::vector<ValueId> captured; ///< of the graph around it
    };
    Body closeBody();
    ValueId capture(ValueId outside); ///< brings a value of the graph around into the body
    std::size_t depth() const { return m_around.size(); } ///< bodies that are open

    /// Origin and base name of the nodes that follow.
    void begin(std::string name);
    void note(Message note) { m_notes.push_back(std::move(note)); }
    std::vector<Message>& notes() { return m_notes; }

    std::string uniqueName(const std::string& base); ///< that no other node has

private:
    /// What belongs to one graph.
    struct Frame
    {
        graph::Graph graph;
        Names names;
        std::vector<ValueId> captured; ///< of the graph around it, in the order of the inputs that stand for them
        std::unordered_map<std::int64_t, ValueId>
            inside; ///< what stands for a captured value, each of which comes in once
        std::unordered_map<std::int64_t, std::vector<DynamicAxis>> dynamicAxes;
        std::unordered_map<std::int64_t, std::vector<ShapeNumber>> shapeNumbers;
        std::unordered_map<std::int64_t, ValueId> standIns;
        std::unordered_map<std::string, std::vector<ValueId>> made;
    };
    Frame& frameAt(std::size_t depth) { return depth == m_around.size() ? m_here : m_around[depth]; }
    ValueId comeInto(std::size_t depth, const std::string& name);
    ValueId captureInto(std::size_t depth, ValueId outside);

    TensorReader m_reader;
    std::int64_t m_fileBytes;
    std::int64_t m_charged = 0;
    Frame m_here; ///< the graph under construction
    std::vector<Frame> m_around; ///< the graphs around it, the network first
    std::unordered_set<std::string> m_names;
    std::unordered_map<std::string, std::int64_t> m_suffixes;
    std::string m_current;
    std::vector<Message> m_notes;
};

/// Reads the graphs that control flow runs.
class BodyReader
{
public:
    virtual ~BodyReader() = default;
    /// Reads initializers, nodes and outputs into the body that the builder has open; what the graph takes has been
    /// bound. False: something in it is not supported, which has been noted. Errors: those of the importer.
    virtual Result<bool> read(::onnx::GraphProto& graph, const std::string& prefix) = 0;
};

/// If, Loop or Scan, named `label`: a value for each output; nothing: a body has what is not supported.
using ControlConverter = Result<std::optional<std::vector<ValueId>>> (*)(Builder&, NodeReader&, BodyReader&,
                                                                         const std::string& label);
/// Null for operators that have no bodies.
ControlConverter findControlConverter(std::string_view op);

/// Converts one node; returns a value for each output that it was asked for (fewer than the node names: not supported).
using Converter = Result<std::vector<ValueId>> (*)(Builder&, NodeReader&);

struct ConverterEntry
{
    std::string_view op;
    Converter convert;
};

// The standard's own domain.
std::span<const ConverterEntry> attentionConverters();
std::span<const ConverterEntry> countedConverters(); ///< results as large as the data says
std::span<const ConverterEntry> einsumConverters();
std::span<const ConverterEntry> imageConverters(); ///< convolutions, pools
std::span<const ConverterEntry> indexConverters(); ///< picking, placing, ordering
std::span<const ConverterEntry> lossConverters();
std::span<const ConverterEntry> mathConverters(); ///< element by element
std::span<const ConverterEntry> matrixConverters(); ///< products, reductions
std::span<const ConverterEntry> normConverters(); ///< normalisations, softmax
std::span<const ConverterEntry> quantizeConverters(); ///< to and from integers with scales
std::span<const ConverterEntry> recurrentConverters(); ///< sequences, unrolled
std::span<const ConverterEntry> resizeConverters();
std::span<const ConverterEntry> sampleConverters(); ///< images read at computed places
std::span<const ConverterEntry> shapeConverters(); ///< shapes and order
std::span<const ConverterEntry> signalConverters(); ///< spectra
std::span<const ConverterEntry> sliceConverters(); ///< parts, constants
std::span<const ConverterEntry> textConverters(); ///< counts of words that are numbers

// com.microsoft: what ONNX Runtime's optimizer and quantizer leave behind.
std::span<const ConverterEntry> contribAttentionConverters();
std::span<const ConverterEntry> contribFusedConverters();
std::span<const ConverterEntry> contribNormConverters();
std::span<const ConverterEntry> contribQuantizeConverters();

/// Null if Lathe cannot convert the operator. `domain`: "" for the standard's own.
Converter findConverter(std::string_view domain, std::string_view op);

/// Operators that exist for strings alone, which no network of numbers needs.
bool worksOnStrings(std::string_view op);

/// The value of an integer option that may come as an attribute (older opsets) or as a constant input.
Result<std::optional<Ints>> attributeOrInput(Builder& b, NodeReader& node, std::string_view attribute,
                                             std::int64_t input);

} // namespace lathe::frontend::onnx_detail
