#include "core/compute/analysis.h"
#include "core/compute/flop.h"
#include "core/compute/interpret.h"
#include "core/compute/json.h"
#include "core/compute/key.h"
#include "core/compute/print.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/support/check.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

using namespace lathe;

/// The JSON of a compute DAG, as builders get it: refused with a sentence, or what every reader of DAGs can work on.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto json = nlohmann::json::parse(data, data + size, nullptr, false);
    const auto dag = compute::dagFromJson(json);
    if (!dag)
        return 0;
    const nlohmann::json written = compute::toJson(**dag);
    const auto again = compute::dagFromJson(written);
    LATHE_CHECK(again.has_value()) << (again ? "" : again.error().message);
    LATHE_CHECK(compute::strongText(**again) == compute::strongText(**dag));
    (void)compute::print(**dag);
    (void)compute::flop(**dag);
    (void)compute::Interpreter::compile(*dag);
    const auto kernel = schedule::lower(schedule::State::initial(*dag), {});
    (void)kernel;
    return 0;
}
