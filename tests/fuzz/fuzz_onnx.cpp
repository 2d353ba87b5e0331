#include "core/frontend/onnx.h"
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

} // namespace

/// Bytes of an ONNX file: an error with a sentence, or a graph that verifies; and the same graph if the file is taken
/// for a large one.
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
    return 0;
}
