#include "core/frontend/onnx.h"
#include "core/frontend/onnx_export.h"
#include "core/support/check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

using namespace lathe;

namespace {

/// The same bytes as a file whose weights stay in it.
Result<graph::Graph> importAsLargeFile(const std::uint8_t* data, std::size_t size)
{
    const int file = memfd_create("model", MFD_CLOEXEC);
    LATHE_CHECK(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
    frontend::ImportOptions options;
    options.mapFrom = 1;
    options.leastMapped = 8;
    auto graph = frontend::importOnnx(fmt::format("/proc/self/fd/{}", file), options);
    close(file);
    return graph;
}

/// What is exported is what the importer takes, with the same inputs and outputs.
void sendRound(const graph::Graph& graph)
{
    const auto bytes = frontend::exportOnnx(graph);
    if (!bytes) {
        LATHE_CHECK(bytes.error().code == Errc::Unsupported && !bytes.error().message.empty()) << bytes.error().message;
        return;
    }
    const auto again = frontend::importOnnx(*bytes);
    LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message) << '\n' << graph::print(graph);
    LATHE_CHECK(again->inputs.size() == graph.inputs.size() && again->outputs.size() == graph.outputs.size());
    const auto isSame = [](const graph::Value& a, const graph::Value& b) {
        return a.dtype == b.dtype && a.shape == b.shape;
    };
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        LATHE_CHECK(isSame(again->value(again->inputs[i]), graph.value(graph.inputs[i])))
            << graph::print(graph) << graph::print(*again);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
        LATHE_CHECK(isSame(again->value(again->outputs[i]), graph.value(graph.outputs[i])))
            << graph::print(graph) << graph::print(*again);
}

} // namespace

/// Bytes of an ONNX file: an error with a sentence, or a graph that verifies; and the same graph if the file is taken
/// for a large one; and what it is exported as is taken again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto graph = frontend::importOnnx(std::as_bytes(std::span(data, size)));
    if (!graph) {
        LATHE_CHECK(!graph.error().message.empty());
        (void)importAsLargeFile(data, size);
        return 0;
    }
    const auto verified = graph::verify(*graph);
    LATHE_CHECK(verified.has_value()) << (verified ? "" : verified.error().message);
    auto mapped = importAsLargeFile(data, size);
    LATHE_CHECK(mapped.has_value()) << (mapped ? "" : mapped.error().message);
    mapped->name = graph->name; // a network without a name gets that of its file
    LATHE_CHECK(graph::print(*mapped) == graph::print(*graph));
    sendRound(*graph);
    return 0;
}
