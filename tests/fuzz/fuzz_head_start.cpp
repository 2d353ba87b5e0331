#include "core/search/head_start_file.h"
#include "core/support/check.h"
#include "core/support/hash.h"

#include <zstd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

using namespace lathe;

namespace {

/// A file whose sizes and hashes are right, with such lines of tasks of two features.
std::string around(std::string_view body)
{
    std::string packed(ZSTD_compressBound(body.size()), '\0');
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), 1);
    LATHE_CHECK(ZSTD_isError(size) == 0);
    packed.resize(size);
    return "lathe head start 1\n{\"features\":\"f\",\"columns\":2,\"body_bytes\":" + std::to_string(body.size())
           + ",\"body_hash\":\"" + contentHash(body).hex() + "\"}\n" + packed;
}

} // namespace

/// A head start, or, where the first byte is a space, the lines inside of one: a short sentence, or what can be written
/// and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given(reinterpret_cast<const char*>(data),
                                 size); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's bytes
    const std::string bytes = given.starts_with(' ') ? around(given.substr(1)) : std::string(given);
    const auto read = search::readHeadStart(bytes);
    if (!read) {
        const Error& error = read.error();
        LATHE_CHECK(error.code == Errc::BadFile || error.code == Errc::Incompatible) << error.message;
        LATHE_CHECK(error.message.size() < 400 && error.message.find('\n') == std::string::npos) << error.message;
        return 0;
    }
    for (const auto& task : read->tasks) {
        LATHE_CHECK(task.features.size() == task.costs.size() * static_cast<std::size_t>(read->columns));
        for (const float value : task.features)
            LATHE_CHECK(std::isfinite(value));
        for (const double ns : task.costs)
            LATHE_CHECK(ns > 0);
        for (const auto& seed : task.seeds)
            LATHE_CHECK(std::isfinite(seed.ns) && seed.ns > 0);
    }
    const auto written = search::writeHeadStart(*read);
    LATHE_CHECK(written.has_value()) << (written ? "" : written.error().message);
    const auto again = search::readHeadStart(*written);
    LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
    LATHE_CHECK(*search::writeHeadStart(*again) == *written);
    return 0;
}
