#include "core/frontend/onnx/node_reader.h"

#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

namespace lathe::frontend::onnx_detail {

using ::onnx::AttributeProto;

const std::string& NodeReader::op() const
{
    return m_node.op_type();
}

std::int64_t NodeReader::inputCount() const
{
    int count = m_node.input_size();
    while (count > 0 && m_node.input(count - 1).empty())
        --count;
    return count;
}

std::int64_t NodeReader::outputCount() const
{
    int count = m_node.output_size();
    while (count > 0 && m_node.output(count - 1).empty())
        --count;
    return count;
}

bool NodeReader::hasInput(std::int64_t index) const
{
    return index < m_node.input_size() && !m_node.input(static_cast<int>(index)).empty();
}

bool NodeReader::hasOutput(std::int64_t index) const
{
    return index < m_node.output_size() && !m_node.output(static_cast<int>(index)).empty();
}

Result<AttributeProto*> NodeReader::find(std::string_view name, int type, std::string_view kind)
{
    m_read.emplace(name);
    AttributeProto* found = nullptr;
    for (AttributeProto& attribute : *m_node.mutable_attribute()) {
        if (attribute.name() != name)
            continue;
        if (found)
            return makeError(Errc::BadFile, say(Msg::AttributeTwice, name));
        found = &attribute;
    }
    if (!found)
        return found;
    if (!found->ref_attr_name().empty())
        return makeError(Errc::BadFile, say(Msg::AttributeOfFunction, name));
    // Files of the first format versions leave the type out: then the value that is there decides.
    const bool untyped = found->type() == AttributeProto::UNDEFINED;
    if (!untyped && found->type() != type)
        return makeError(Errc::BadFile, say(Msg::AttributeMustBe, name, kind));
    return found;
}

bool NodeReader::has(std::string_view name)
{
    m_read.emplace(name);
    for (const AttributeProto& attribute : m_node.attribute()) {
        if (attribute.name() == name)
            return true;
    }
    return false;
}

Result<std::int64_t> NodeReader::integer(std::string_view name, std::int64_t fallback)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::INT, "an integer"));
    return found ? found->i() : fallback;
}

Result<double> NodeReader::number(std::string_view name, double fallback)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::FLOAT, "a number"));
    // The standard's attributes, and what stands for those that are missing, are f32.
    return static_cast<double>(found ? found->f() : static_cast<float>(fallback));
}

Result<std::string> NodeReader::text(std::string_view name, std::string_view fallback)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::STRING, "a string"));
    return found ? found->s() : std::string(fallback);
}

Result<std::vector<std::int64_t>> NodeReader::integers(std::string_view name, std::vector<std::int64_t> fallback)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::INTS, "a list of integers"));
    return found ? std::vector<std::int64_t>(found->ints().begin(), found->ints().end()) : std::move(fallback);
}

Result<std::vector<double>> NodeReader::numbers(std::string_view name)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::FLOATS, "a list of numbers"));
    return found ? std::vector<double>(found->floats().begin(), found->floats().end()) : std::vector<double>();
}

Result<std::vector<std::string>> NodeReader::texts(std::string_view name)
{
    LATHE_TRY_ASSIGN(const AttributeProto* found, find(name, AttributeProto::STRINGS, "a list of strings"));
    return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
                 : std::vector<std::string>();
}

Result<::onnx::TensorProto*> NodeReader::tensor(std::string_view name)
{
    LATHE_TRY_ASSIGN(AttributeProto * found, find(name, AttributeProto::TENSOR, "a tensor"));
    return found ? found->mutable_t() : nullptr;
}

Result<::onnx::GraphProto*> NodeReader::graph(std::string_view name)
{
    LATHE_TRY_ASSIGN(AttributeProto * found, find(name, AttributeProto::GRAPH, "a graph"));
    return found ? found->mutable_g() : nullptr;
}

Result<> NodeReader::finish() const
{
    std::string unknown;
    for (const AttributeProto& attribute : m_node.attribute()) {
        if (!m_read.contains(attribute.name()))
            unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", attribute.name().substr(0, 60));
    }
    if (!unknown.empty())
        return makeError(Errc::Unsupported, say(Msg::NeedsAttribute, unknown));
    return {};
}

} // namespace lathe::frontend::onnx_detail
