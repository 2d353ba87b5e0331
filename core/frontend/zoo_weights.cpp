#include "core/frontend/zoo_builder.h"
#include "core/graph/rewrite.h"
#include "core/support/check.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

namespace lathe::frontend {
namespace {

/// Memory that is zero without having been touched: pages come when they are written.
std::shared_ptr<float> zeroedFloats(std::size_t count)
{
    auto* memory = static_cast<float*>(std::calloc(count == 0 ? 1 : count, sizeof(float)));
    if (!memory)
        throw std::bad_alloc();
    return {memory, &std::free};
}

/// Uniform numbers in [0, 1) with 53 random bits, as the reference's numerical library draws them.
class Uniform
{
public:
    explicit Uniform(std::uint32_t seed)
        : m_engine(seed)
    {
    }
    double next()
    {
        const std::uint64_t high = m_engine() >> 5;
        const std::uint64_t low = m_engine() >> 6;
        return static_cast<double>((high << 26) + low) * 0x1.0p-53;
    }

private:
    std::mt19937 m_engine;
};

/// Half width of the uniform range of a weight: magnitude 3, mean of fan in and fan out. The first two dimensions count
/// as output and input channels whatever the layout is.
double xavierBound(const std::vector<std::int64_t>& shape)
{
    double window = 1;
    for (std::size_t d = 2; d < shape.size(); ++d)
        window *= static_cast<double>(shape[d]);
    const double fanIn = static_cast<double>(shape[1]) * window;
    const double fanOut = static_cast<double>(shape[0]) * window;
    return std::sqrt(3.0 / ((fanIn + fanOut) / 2.0));
}

bool isParameter(const graph::Graph& graph, graph::ValueId id)
{
    const graph::Value& value = graph.value(id);
    if (value.constant || value.producer.valid())
        return false;
    for (const graph::ValueId input : graph.inputs) {
        if (input == id)
            return false;
    }
    return true;
}

} // namespace

void initialiseParameters(graph::Graph& graph, const ZooOptions& options)
{
    Uniform uniform(options.seed);
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        if (!isParameter(graph, graph::ValueId(static_cast<std::int64_t>(i))))
            continue;
        graph::Value& value = graph.values[i];
        const auto count = static_cast<std::size_t>(elementCount(value.shape));
        const std::shared_ptr<float> contents = zeroedFloats(count);
        if (value.name.ends_with("weight")) {
            if (options.weights) {
                const double bound = xavierBound(value.shape);
                for (std::size_t k = 0; k < count; ++k)
                    contents.get()[k] = static_cast<float>(-bound + 2.0 * bound * uniform.next());
            }
        } else if (value.name.ends_with("gamma") || value.name.ends_with("var")) {
            std::fill_n(contents.get(), count, 1.0f);
        } else {
            LATHE_CHECK(value.name.ends_with("bias") || value.name.ends_with("beta") || value.name.ends_with("mean"))
                << "no rule initialises the parameter " << value.name;
        }
        auto data = std::make_shared<graph::ConstData>();
        data->data = reinterpret_cast<const std::byte*>(contents.get());
        data->bytes = count * sizeof(float);
        data->owner = contents;
        value.constant = std::move(data);
    }
}

} // namespace lathe::frontend
