#pragma once

#include "core/support/hash.h"
#include "core/support/result.h"
#include "core/wire/artifact.h"
#include "core/wire/blob_store.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>

namespace lathe::wire {
class Buffer;
}

namespace lathe::serve {

/// What a job's buffers hold before it runs, in the places where its kernels want it. Values that come from a seed, and
/// values in a layout of their own, are kept for the next candidates of the same task, which mostly want the same ones.
class Inputs
{
public:
    /// As many bytes as the elements of `spec`; valid until the next call. Errors: InvalidArgument (a blob that did not
    /// arrive or has another size).
    Result<std::span<const std::byte>> bytesOf(const wire::Buffer& buffer, const ArgSpec& spec, wire::BlobStore& blobs);

    std::uint64_t made() const { return m_made; } ///< tensors that were not kept yet

    /// Where values come from: a blob, or a seed and a range.
    struct Source
    {
        Hash128 blob;
        std::uint64_t seed = 0;
        double low = 0, high = 0;
        DType dtype = DType::F32;
        friend bool operator==(const Source&, const Source&) = default;
    };
    /// Nothing where the values come from nowhere: zeros, poison.
    static std::optional<Source> sourceOf(const wire::Buffer& buffer, DType dtype);

private:
    /// Most recently used first.
    struct Kept
    {
        struct Tensor
        {
            Source source;
            IndexMap map;
            std::string bytes;
        };
        std::list<Tensor> tensors;
        std::size_t bytes = 0;

        const std::string* find(const Source& source, const IndexMap& map);
        /// All but the first are dropped beyond `most` bytes, those not used for the longest time first.
        const std::string& put(Tensor tensor, std::size_t most);
    };
    const std::string& seeded(const Source& source, const IndexMap& plain);

    Kept m_seeded; ///< plain
    Kept m_laidOut;
    wire::Blob m_blob; ///< that was asked for last
    std::string m_filled;
    std::uint64_t m_made = 0;
};

} // namespace lathe::serve
