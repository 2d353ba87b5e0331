#include "core/record/record_json.h"
#include "core/session/packages.h"
#include "core/support/check.h"
#include "core/support/hash.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace lathe;

namespace {

/// A file whose checksum is right, with such records in it.
std::string around(std::string_view lines)
{
    const auto count = static_cast<std::int64_t>(std::count(lines.begin(), lines.end(), '\n'));
    return nlohmann::json{{"lathe_package", session::kPackageVersion},
                          {"target", "cpu"},
                          {"records", count},
                          {"content", contentHash(lines).hex()},
                          {"sources", nlohmann::json::array()}}
               .dump()
           + '\n' + std::string(lines);
}

} // namespace

/// A package, or, where the first byte is a space, the records inside of one: a short sentence, or records that can be
/// written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given(reinterpret_cast<const char*>(data),
                                 size); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's bytes
    const std::string bytes = given.starts_with(' ') ? around(given.substr(1)) : std::string(given);
    const auto read = session::packageOf(bytes, "x.lathepackage");
    if (!read) {
        const Error& error = read.error();
        LATHE_CHECK(error.code == Errc::BadFile || error.code == Errc::Unsupported) << error.message;
        LATHE_CHECK(error.message.size() < 600 && error.message.find('\n') == std::string::npos) << error.message;
        return 0;
    }
    LATHE_CHECK(read->records.size() == read->taskNames.size());
    for (const Record& record : read->records) {
        LATHE_CHECK(!record.trial.empty() && !record.candidate.task.empty() && record.result.ok());
        const auto again = recordFromJson(toJson(record));
        LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
        LATHE_CHECK(toJson(*again) == toJson(record));
    }
    return 0;
}
