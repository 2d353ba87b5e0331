#include "core/record/record_json.h"
#include "core/store/log_line.h"
#include "core/support/check.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

using namespace lathe;

/// A line of a tuning log: a short sentence, or what can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto line = store::readLogLine(
        std::string_view(reinterpret_cast<const char*>(data),
                         size)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's bytes
    if (!line) {
        const Error& error = line.error();
        LATHE_CHECK(error.code == Errc::BadFile || error.code == Errc::Unsupported) << error.message;
        LATHE_CHECK(error.message.size() < 400 && error.message.find('\n') == std::string::npos) << error.message;
    } else if (const auto* record = std::get_if<Record>(&*line)) {
        const auto again = store::readLogLine(toJson(*record).dump());
        LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
        LATHE_CHECK(toJson(std::get<Record>(*again)) == toJson(*record));
    } else if (const auto* trial = std::get_if<store::ForeignTrial>(&*line)) {
        LATHE_CHECK(trial->error >= 0 && trial->error <= 8);
        LATHE_CHECK((trial->error == 0) == !trial->costsNs.empty());
        for (const double ns : trial->costsNs)
            LATHE_CHECK(std::isfinite(ns) && ns > 0);
        LATHE_CHECK(schedule::stepsFromJson(schedule::toJson(trial->steps)).has_value());
        LATHE_CHECK(store::quoted(trial->target).size() <= trial->target.size() + 3);
        (void)nlohmann::json(store::quoted(trial->target)).dump(); // of whole characters
    } else if (const auto* byTemplate = std::get_if<templates::TemplateTrial>(&*line)) {
        const std::string written = templates::templateLine(*byTemplate);
        const auto again = store::readLogLine(written);
        LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
        LATHE_CHECK(templates::templateLine(std::get<templates::TemplateTrial>(*again)) == written) << written;
    }
    return 0;
}
