#include "core/support/check.h"
#include "core/wire/artifact.h"
#include "core/wire/blob_store.h"
#include "core/wire/framing.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <google/protobuf/stubs/logging.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace lathe;

namespace {

void readDescriptor(const std::string& text)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto descriptor = artifactDescriptorFromJson(json);
    if (!descriptor)
        return;
    const auto again = artifactDescriptorFromJson(toJson(*descriptor));
    LATHE_CHECK(again.has_value() && toJson(*again) == toJson(*descriptor)) << text;
}

void readSpec(const std::string& text)
{
    const auto spec = argSpecFromJson(nlohmann::json::parse(text, nullptr, false));
    if (!spec)
        return;
    // Every logical index lies inside the buffer that would be allocated.
    std::int64_t last[kMaxRank] = {};
    for (int d = 0; d < spec->map.logicalRank; ++d)
        last[d] = spec->map.logicalShape[d] - 1;
    const std::int64_t offset = spec->map.offset(last);
    LATHE_CHECK(offset >= 0 && offset < spec->map.elementCount()) << text;
}

void take(const wire::Message& message, wire::BlobStore& blobs)
{
    switch (message.body_case()) {
    case wire::Message::kBlob:
        (void)blobs.putChunk(wire::fromWire(message.blob().hash()), message.blob().total(), message.blob().offset(),
                             message.blob().data());
        return;
    case wire::Message::kBuildResult: readDescriptor(message.build_result().descriptor()); return;
    case wire::Message::kRunJob:
        for (const auto& artifact : message.run_job().artifacts())
            readDescriptor(artifact.descriptor());
        for (const auto& buffer : message.run_job().buffers())
            readSpec(buffer.spec());
        return;
    default: return;
    }
}

} // namespace

/// A stream as a worker reads it: a byte that says in what pieces it arrives, then frames. However it is cut, the same
/// messages come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    [[maybe_unused]] static const auto loud = google::protobuf::SetLogHandler(nullptr); // a line for each bad text
    if (size == 0)
        return 0;
    const std::size_t piece = data[0] == 0 ? size : data[0];
    const auto stream = std::as_bytes(std::span(data + 1, size - 1));
    wire::FrameReader whole, pieces;
    whole.feed(stream);
    wire::BlobStore blobs(1 << 16);
    std::size_t at = 0;
    while (true) {
        const auto frame = whole.next();
        auto same = pieces.next();
        while (same && !*same && at < stream.size()) {
            const std::size_t n = std::min(piece, stream.size() - at);
            pieces.feed(stream.subspan(at, n));
            at += n;
            same = pieces.next();
        }
        LATHE_CHECK(frame.has_value() == same.has_value());
        if (!frame)
            return 0;
        LATHE_CHECK(*frame == *same);
        if (!*frame)
            return 0;
        wire::Message message;
        if (message.ParseFromString(**frame))
            take(message, blobs);
    }
}
