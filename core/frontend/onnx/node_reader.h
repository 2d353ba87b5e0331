#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace lathe::frontend::onnx_detail {

/// Reads the attributes of one node with their types checked, and remembers which were asked for: what nobody asked for
/// is not supported, and finish() says so.
class NodeReader
{
public:
    explicit NodeReader(::onnx::NodeProto& node)
        : m_node(node)
    {
    }

    ::onnx::NodeProto& proto() const { return m_node; }
    const std::string& op() const;
    std::int64_t inputCount() const; ///< without absent ones at the end
    std::int64_t outputCount() const;
    bool hasInput(std::int64_t index) const;
    bool hasOutput(std::int64_t index) const;

    // Errors: BadFile if the attribute has another type.
    bool has(std::string_view name);
    Result<std::int64_t> integer(std::string_view name, std::int64_t fallback);
    Result<double> number(std::string_view name, double fallback);
    Result<std::string> text(std::string_view name, std::string_view fallback);
    Result<std::vector<std::int64_t>> integers(std::string_view name, std::vector<std::int64_t> fallback = {});
    Result<std::vector<double>> numbers(std::string_view name);
    Result<std::vector<std::string>> texts(std::string_view name);
    Result<::onnx::TensorProto*> tensor(std::string_view name);
    Result<::onnx::GraphProto*> graph(std::string_view name); ///< null: absent
    /// Attributes without meaning for inference.
    void ignore(std::string_view name) { m_read.emplace(name); }

    /// Errors: Unsupported, naming the attributes that were not read.
    Result<> finish() const;

private:
    Result<::onnx::AttributeProto*> find(std::string_view name, int type, std::string_view kind);

    ::onnx::NodeProto& m_node;
    std::set<std::string, std::less<>> m_read;
};

} // namespace lathe::frontend::onnx_detail
