// Functions that a model brings along (ModelProto.functions): operators written out in others, as PyTorch's exporters
// leave them.
//
// Files of newer versions of the format than the schema that Lathe is built with carry fields that it does not know:
// the overload of a function and of a call, and defaults of attributes. The parser keeps their bytes; they are read
// from there.

#include "core/frontend/onnx/functions.h"

#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <optional>

namespace lathe::frontend::onnx_detail {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

// Numbers of the published schema.
constexpr std::uint32_t kOverloadOfNode = 8, kOverloadOfFunction = 13, kAttributeWithDefault = 11;

constexpr std::size_t kMaxDepth = 32;
constexpr std::int64_t kFreeBytes = std::int64_t{64} << 20, kTimesFile = 16;
constexpr std::int64_t kBytesPerNode = 500; ///< about what a node takes in memory, however short it is in the file

/// What the length-delimited fields `number` hold, among fields that the parser kept without knowing them.
std::vector<std::string> unknownFields(const std::string& bytes, std::uint32_t number)
{
    std::vector<std::string> found;
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    while (const std::uint32_t tag = in.ReadTag()) {
        std::uint64_t number64 = 0;
        std::uint32_t number32 = 0, length = 0;
        std::string text;
        bool whole = false;
        switch (tag & 7) {
        case 0: whole = in.ReadVarint64(&number64); break;
        case 1: whole = in.ReadLittleEndian64(&number64); break;
        case 2: whole = in.ReadVarint32(&length) && in.ReadString(&text, static_cast<int>(length)); break;
        case 5: whole = in.ReadLittleEndian32(&number32); break;
        default: break;
        }
        if (!whole)
            break;
        if (tag == (number << 3 | 2))
            found.push_back(std::move(text));
    }
    return found;
}

template<typename Proto>
std::string overloadOf(const Proto& proto, std::uint32_t number)
{
    if constexpr (requires { proto.overload(); }) {
        return proto.overload();
    } else {
        const std::vector<std::string> found = unknownFields(proto.unknown_fields(), number);
        return found.empty() ? std::string() : found.back();
    }
}

std::string plainDomain(const std::string& domain)
{
    return domain == "ai.onnx" ? std::string() : domain;
}

template<typename Proto>
Result<std::vector<AttributeProto>> defaultsOf(const Proto& function)
{
    std::vector<AttributeProto> defaults;
    if constexpr (requires { function.attribute_proto(); }) {
        defaults.assign(function.attribute_proto().begin(), function.attribute_proto().end());
    } else {
        for (const std::string& bytes : unknownFields(function.unknown_fields(), kAttributeWithDefault)) {
            AttributeProto attribute;
            if (!attribute.ParseFromString(bytes))
                return makeError(Errc::BadFile, say(Msg::FunctionAttributeBroken, function.name()));
            defaults.push_back(std::move(attribute));
        }
    }
    return defaults;
}

std::string nameOf(const FunctionProto& function)
{
    const std::string domain = plainDomain(function.domain());
    return (domain.empty() ? function.name() : domain + "::" + function.name()).substr(0, 100);
}

/// Puts a call's values in the place of references to the function's attributes and inputs, in nodes and the graphs
/// inside of them.
class Binder
{
public:
    Binder(const FunctionProto& function, const NodeProto& call, const std::vector<AttributeProto>& defaults)
        : m_function(function)
        , m_call(call)
        , m_defaults(defaults)
    {
        for (int i = 0; i < function.input_size(); ++i) {
            if (i >= call.input_size() || call.input(i).empty())
                m_absent.push_back(function.input(i));
        }
    }

    Result<> bind(NodeProto& node)
    {
        for (std::string& input : *node.mutable_input()) {
            if (std::ranges::find(m_absent, input) != m_absent.end())
                input.clear();
        }
        auto& attributes = *node.mutable_attribute();
        for (int i = 0; i < attributes.size();) {
            AttributeProto& attribute = attributes[i];
            if (!attribute.ref_attr_name().empty()) {
                const AttributeProto* const value = valueOf(attribute.ref_attr_name());
                if (!value) { // the operator's own default
                    attributes.DeleteSubrange(i, 1);
                    continue;
                }
                if (attribute.type() != AttributeProto::UNDEFINED && value->type() != AttributeProto::UNDEFINED
                    && attribute.type() != value->type())
                    return makeError(Errc::BadFile, say(Msg::FunctionAttributeType, value->name(), nameOf(m_function)));
                const std::string name = attribute.name();
                attribute.CopyFrom(*value);
                attribute.set_name(name);
            } else {
                if (attribute.has_g())
                    LATHE_TRY(bind(*attribute.mutable_g()));
                for (GraphProto& graph : *attribute.mutable_graphs())
                    LATHE_TRY(bind(graph));
            }
            ++i;
        }
        return {};
    }

private:
    Result<> bind(GraphProto& graph)
    {
        for (NodeProto& node : *graph.mutable_node())
            LATHE_TRY(bind(node));
        return {};
    }

    const AttributeProto* valueOf(const std::string& name) const
    {
        for (const AttributeProto& attribute : m_call.attribute()) {
            if (attribute.name() == name)
                return &attribute;
        }
        for (const AttributeProto& attribute : m_defaults) {
            if (attribute.name() == name)
                return &attribute;
        }
        return nullptr;
    }

    const FunctionProto& m_function;
    const NodeProto& m_call;
    const std::vector<AttributeProto>& m_defaults;
    std::vector<std::string> m_absent; ///< inputs of the function that the call leaves out
};

std::int64_t opsetOf(const FunctionProto& function, std::int64_t modelOpset)
{
    std::int64_t version = 0;
    for (const auto& import : function.opset_import()) {
        if (plainDomain(import.domain()).empty())
            version = std::max(version, import.version());
    }
    return version == 0 ? modelOpset : version;
}

} // namespace

std::string domainOf(const NodeProto& node)
{
    return plainDomain(node.domain());
}

Result<FunctionTable> FunctionTable::create(::onnx::ModelProto& model, std::int64_t fileBytes)
{
    FunctionTable table;
    table.m_left = kFreeBytes + kTimesFile * fileBytes;
    for (FunctionProto& function : *model.mutable_functions()) {
        if (function.name().empty())
            return makeError(Errc::BadFile, say(Msg::FunctionUnnamed));
        Key key(plainDomain(function.domain()), function.name(), overloadOf(function, kOverloadOfFunction));
        auto kept = std::make_shared<FunctionProto>();
        kept->Swap(&function);
        const std::string name = nameOf(*kept);
        if (!table.m_functions.emplace(std::move(key), std::move(kept)).second)
            return makeError(Errc::BadFile, say(Msg::FunctionTwice, name));
    }
    return table;
}

const FunctionProto* FunctionTable::find(const NodeProto& call) const
{
    if (m_functions.empty())
        return nullptr;
    const auto found = m_functions.find(Key(domainOf(call), call.op_type(), overloadOf(call, kOverloadOfNode)));
    return found == m_functions.end() ? nullptr : found->second.get();
}

Result<FunctionTable::Call> FunctionTable::enter(const FunctionProto& function, const NodeProto& call,
                                                 const std::string& label, std::int64_t modelOpset)
{
    if (std::ranges::find(m_active, &function) != m_active.end())
        return makeError(Errc::BadFile, say(Msg::FunctionRecursive, nameOf(function)));
    if (m_active.size() >= kMaxDepth)
        return makeError(Errc::BadFile, say(Msg::FunctionsTooDeep, nameOf(function), kMaxDepth));
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
        return makeError(Errc::BadFile, say(Msg::FunctionArity, nameOf(function), function.input_size(),
                                            function.output_size(), call.input_size(), call.output_size()));
    m_left -= static_cast<std::int64_t>(function.ByteSizeLong())
              + (function.node_size() + 1) * (kBytesPerNode + static_cast<std::int64_t>(label.size()));
    if (m_left < 0)
        return makeError(Errc::BadFile, say(Msg::FunctionsTooLarge));
    LATHE_TRY_ASSIGN(const std::vector<AttributeProto> defaults, defaultsOf(function));
    Call result{std::make_unique<FunctionProto>(function), opsetOf(function, modelOpset)};
    Binder binder(function, call, defaults);
    for (NodeProto& node : *result.body->mutable_node())
        LATHE_TRY(binder.bind(node));
    m_active.push_back(&function);
    return result;
}

void FunctionTable::leave()
{
    m_active.pop_back();
}

} // namespace lathe::frontend::onnx_detail
