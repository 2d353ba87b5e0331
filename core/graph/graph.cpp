#include "core/graph/graph.h"

#include "core/support/check.h"
#include "core/support/mapped_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lathe::graph {

ValueId Graph::addValue(std::string valueName, DType dtype, std::vector<std::int64_t> shape)
{
    Value v;
    v.name = std::move(valueName);
    v.dtype = dtype;
    v.shape = std::move(shape);
    values.push_back(std::move(v));
    return ValueId(static_cast<std::int64_t>(values.size()) - 1);
}

ValueId Graph::addConstant(std::string valueName, DType dtype, std::vector<std::int64_t> shape,
                           std::shared_ptr<const ConstData> data, std::shared_ptr<const Provenance> provenance)
{
    const ValueId id = addValue(std::move(valueName), dtype, std::move(shape));
    value(id).constant = std::move(data);
    value(id).provenance = std::move(provenance);
    return id;
}

std::shared_ptr<const Provenance> derivedFrom(std::span<const Value* const> values, std::string_view step)
{
    auto made = std::make_shared<Provenance>();
    const auto add = [](std::vector<std::string>& to, std::string_view word) {
        if (std::ranges::find(to, word) == to.end())
            to.emplace_back(word);
    };
    for (const Value* value : values) {
        if (value == nullptr || value->constant == nullptr)
            continue;
        if (value->provenance == nullptr) {
            add(made->sources, value->name);
            continue;
        }
        for (const std::string& source : value->provenance->sources)
            add(made->sources, source);
        for (const std::string& before : value->provenance->steps)
            add(made->steps, before);
    }
    add(made->steps, step);
    return made;
}

std::shared_ptr<const Provenance> derivedFrom(const Value& value, std::string_view step)
{
    const Value* const values[] = {&value};
    return derivedFrom(values, step);
}

const std::string& Graph::outputName(std::size_t output) const
{
    return output < outputNames.size() ? outputNames[output] : value(outputs[output]).name;
}

std::vector<ValueId> Graph::results() const
{
    std::vector<ValueId> ids = outputs;
    for (const OutputExtent& extent : outputExtents)
        ids.push_back(extent.count);
    return ids;
}

bool Graph::isResult(ValueId id) const
{
    return std::ranges::find(outputs, id) != outputs.end()
           || std::ranges::find(outputExtents, id, &OutputExtent::count) != outputExtents.end();
}

NodeId Graph::addNode(Node added)
{
    const NodeId id(static_cast<std::int64_t>(nodes.size()));
    for (const ValueId output : added.outputs)
        value(output).producer = id;
    nodes.push_back(std::move(added));
    return id;
}

std::vector<std::vector<NodeId>> Graph::consumers() const
{
    std::vector<std::vector<NodeId>> result(values.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeId id(static_cast<std::int64_t>(i));
        for (const ValueId input : nodes[i].inputs) {
            if (!input.valid())
                continue;
            auto& list = result[static_cast<std::size_t>(input.value)];
            // A node that reads a value twice (x * x) is one consumer.
            if (list.empty() || list.back() != id)
                list.push_back(id);
        }
    }
    return result;
}

std::shared_ptr<const ConstData> makeConst(const void* data, std::size_t bytes)
{
    auto storage = std::make_shared<std::vector<std::byte>>(bytes);
    if (bytes != 0)
        std::memcpy(storage->data(), data, bytes);
    auto result = std::make_shared<ConstData>();
    result->data = storage->data();
    result->bytes = bytes;
    result->owner = std::move(storage);
    return result;
}

std::shared_ptr<const ConstData> makeConstLater(std::size_t bytes, int steps,
                                                std::function<Result<std::vector<std::byte>>()> make)
{
    auto result = std::make_shared<ConstData>();
    result->bytes = bytes;
    result->make = std::move(make);
    result->steps = steps + 1;
    return result;
}

Result<> stillThere(const ConstData& constant)
{
    return constant.mapped && constant.bytes > 0 ? MappedFile::check(constant.data) : Result<>();
}

Result<ConstBytes> contentsOf(const ConstData& constant)
{
    if (!constant.make) {
        LATHE_TRY(stillThere(constant));
        return ConstBytes{{constant.data, constant.bytes}, nullptr};
    }
    LATHE_TRY_ASSIGN(std::vector<std::byte> made, constant.make());
    if (made.size() != constant.bytes)
        return makeError(Errc::Internal,
                         fmt::format("a constant of {} bytes came out with {}", constant.bytes, made.size()));
    auto kept = std::make_shared<const std::vector<std::byte>>(std::move(made));
    return ConstBytes{*kept, kept};
}

namespace {

const Attr* find(const Node& node, std::string_view key)
{
    const auto it = node.attrs.find(key);
    return it == node.attrs.end() ? nullptr : &it->second;
}

} // namespace

std::int64_t attrInt(const Node& node, std::string_view key, std::int64_t fallback)
{
    const Attr* attr = find(node, key);
    if (!attr)
        return fallback;
    const auto* v = std::get_if<std::int64_t>(attr);
    LATHE_CHECK(v) << node.name << ": attribute " << std::string(key) << " is no integer";
    return *v;
}

double attrFloat(const Node& node, std::string_view key, double fallback)
{
    const Attr* attr = find(node, key);
    if (!attr)
        return fallback;
    if (const auto* i = std::get_if<std::int64_t>(attr))
        return static_cast<double>(*i);
    const auto* v = std::get_if<double>(attr);
    LATHE_CHECK(v) << node.name << ": attribute " << std::string(key) << " is no number";
    return *v;
}

std::string attrString(const Node& node, std::string_view key, std::string_view fallback)
{
    const Attr* attr = find(node, key);
    if (!attr)
        return std::string(fallback);
    const auto* v = std::get_if<std::string>(attr);
    LATHE_CHECK(v) << node.name << ": attribute " << std::string(key) << " is no text";
    return *v;
}

std::vector<std::int64_t> attrInts(const Node& node, std::string_view key, std::vector<std::int64_t> fallback)
{
    const Attr* attr = find(node, key);
    if (!attr)
        return fallback;
    const auto* v = std::get_if<std::vector<std::int64_t>>(attr);
    LATHE_CHECK(v) << node.name << ": attribute " << std::string(key) << " is no list of integers";
    return *v;
}

} // namespace lathe::graph
