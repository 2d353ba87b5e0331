#include "app/cli/command.h"
#include "core/backend/kernel_name.h"
#include "core/compute/key.h"
#include "core/deploy/npy.h"
#include "core/session/options/options_json.h"
#include "core/support/check.h"
#include "core/target/target.h"
#include "plugins/sim/fault_script.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace lathe;

namespace {

void target(std::string_view text)
{
    const auto parsed = Target::parse(text);
    if (!parsed)
        return;
    const auto again = Target::parse(parsed->text());
    LATHE_CHECK(again.has_value() && *again == *parsed) << parsed->text();
    (void)defaultHardware(*parsed);
}

void shape(std::string_view text)
{
    CLI::App app;
    cli::ModelArguments arguments;
    arguments.addTo(*app.add_subcommand("tasks"), false);
    try {
        app.parse(std::vector<std::string>{"--shape=" + std::string(text), "tasks"}); // the last word first
    } catch (const CLI::Error&) {
        return;
    }
    const auto options = arguments.openOptions();
    if (options)
        LATHE_CHECK(options->model.shapes.size() == 1 && options->model.shapes[0].second.empty() == text.ends_with("="));
}

void options(std::string_view text)
{
    const auto tune = session::tuneOptionsFromJson(text);
    if (tune) {
        const std::string written = session::toJson(*tune).dump();
        const auto again = session::tuneOptionsFromJson(written);
        LATHE_CHECK(again.has_value() && session::toJson(*again).dump() == written) << written;
    }
    const auto spec = session::modelSpecFromJson(text);
    if (spec) {
        const std::string written = session::toJson(*spec).dump();
        const auto again = session::modelSpecFromJson(written);
        LATHE_CHECK(again.has_value() && session::toJson(*again).dump() == written) << written;
    }
}

void faults(std::string_view text)
{
    const auto script = sim::FaultScript::parse(text);
    if (script)
        (void)script->decide(backend::kernelName(7, 0x0123456789abcdefULL));
}

void npy(std::string_view bytes)
{
    const auto tensor = deploy::parseNpy(bytes, "x.npy");
    if (!tensor)
        return;
    const auto again = deploy::parseNpy(*deploy::formatNpy(*tensor), "x.npy");
    LATHE_CHECK(again.has_value() && again->type.dtype == deploy::npyTypeOf(tensor->type.dtype) && again->type.shape == tensor->type.shape
                && again->bytes == tensor->bytes);
}

} // namespace

/// What people write: a byte that picks the reader, then its text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
    switch (data[0]) {
    case 'd': (void)cli::parseDuration(text); return 0;
    case 'f': faults(text); return 0;
    case 'k':
        (void)compute::distanceFactor(text, R"(["d", 1, [2, 3]])");
        (void)compute::distanceFactor(text, text);
        return 0;
    case 'n': npy(text); return 0;
    case 'o': options(text); return 0;
    case 's': shape(text); return 0;
    case 't': target(text); return 0;
    default: return 0;
    }
}
