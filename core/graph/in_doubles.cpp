#include "core/graph/in_doubles.h"

#include "core/graph/operators/element.h"
#include "core/graph/passes.h"

#include <cstring>
#include <map>

namespace lathe::graph {

namespace {

bool isNarrow(DType dtype)
{
    return isFloat(dtype) && dtype != DType::F64;
}

std::vector<std::byte> doublesOf(const std::byte* data, DType dtype, std::size_t bytes)
{
    const std::vector<double> values = operators::readFloats(data, dtype,
                                                             bytes / static_cast<std::size_t>(sizeOf(dtype)));
    std::vector<std::byte> wide(values.size() * sizeof(double));
    if (!values.empty())
        std::memcpy(wide.data(), values.data(), wide.size());
    return wide;
}

std::shared_ptr<const ConstData> doublesOf(std::shared_ptr<const ConstData> constant, DType dtype)
{
    const std::size_t bytes = constant->bytes / static_cast<std::size_t>(sizeOf(dtype)) * sizeof(double);
    const int steps = constant->steps; // not beside the move below: arguments have no order
    return makeConstLater(bytes, steps, [constant = std::move(constant), dtype]() -> Result<std::vector<std::byte>> {
        LATHE_TRY_ASSIGN(const ConstBytes contents, contentsOf(*constant));
        return doublesOf(contents.bytes.data(), dtype, contents.bytes.size());
    });
}

Graph widened(const Graph& network, int depth)
{
    Graph wide = network;
    std::map<const ConstData*, std::shared_ptr<const ConstData>> made; // values share constants
    for (Value& value : wide.values) {
        if (!isNarrow(value.dtype))
            continue;
        if (value.constant) {
            std::shared_ptr<const ConstData>& constant = made[value.constant.get()];
            if (!constant)
                constant = doublesOf(value.constant, value.dtype);
            value.constant = constant;
        }
        value.dtype = DType::F64;
    }
    for (Node& node : wide.nodes) {
        for (const char* const attribute : {"dtype", "out_dtype"}) {
            const auto found = node.attrs.find(attribute);
            const auto* name = found != node.attrs.end() ? std::get_if<std::string>(&found->second) : nullptr;
            if (name != nullptr && (*name == "float16" || *name == "bfloat16" || *name == "float32"))
                found->second = std::string("float64");
        }
        for (std::shared_ptr<const Graph>& body : node.bodies)
            if (depth < kDeepestBodies)
                body = std::make_shared<const Graph>(widened(*body, depth + 1));
    }
    return wide;
}

} // namespace

Result<Graph> inDoubles(const Graph& network)
{
    return inferTypes(widened(network, 0));
}

std::vector<HostTensor> inDoubles(const std::vector<HostTensor>& tensors)
{
    std::vector<HostTensor> wide = tensors;
    for (HostTensor& tensor : wide)
        if (isNarrow(tensor.type.dtype)) {
            tensor.bytes = doublesOf(tensor.bytes.data(), tensor.type.dtype, tensor.bytes.size());
            tensor.type.dtype = DType::F64;
        }
    return wide;
}

} // namespace lathe::graph
