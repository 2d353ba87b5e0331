#include "core/frontend/onnx.h"
#include "core/support/check.h"

#include <cstddef>
#include <cstdint>

using namespace lathe;

/// Bytes of an ONNX file: an error with a sentence, or a graph that verifies.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto graph = frontend::importOnnx(std::as_bytes(std::span(data, size)));
    if (!graph) {
        LATHE_CHECK(!graph.error().message.empty());
        return 0;
    }
    const auto verified = graph::verify(*graph);
    LATHE_CHECK(verified.has_value()) << (verified ? "" : verified.error().message);
    (void)graph::print(*graph);
    return 0;
}
