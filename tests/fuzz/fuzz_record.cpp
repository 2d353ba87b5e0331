#include "core/record/record_json.h"
#include "core/support/check.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

using namespace lathe;

/// A line of exported records. What is read is written and read again without a change.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto json = nlohmann::json::parse(data, data + size, nullptr, false);
    const auto record = recordFromJson(json);
    if (!record) {
        LATHE_CHECK(record.error().code == Errc::BadFile) << record.error().message;
        return 0;
    }
    const nlohmann::json written = toJson(*record);
    const auto again = recordFromJson(nlohmann::json::parse(written.dump()));
    LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
    LATHE_CHECK(toJson(*again) == written) << written.dump();
    LATHE_CHECK(again->candidate.hash() == record->candidate.hash());
    for (const EdgeState& edge : record->candidate.edges) {
        (void)edge.map.isPlain();
        (void)edge.map.elementCount();
        (void)edge.map.logicalCount();
    }
    return 0;
}
