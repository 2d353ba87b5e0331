#include "core/deploy/library.h"
#include "core/deploy/templates.h"
#include "core/support/files.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::deploy {

namespace {

using nlohmann::ordered_json;

ordered_json number(double value)
{
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json ports(const std::vector<PortInfo>& list)
{
    ordered_json out = ordered_json::array();
    for (const PortInfo& port : list) {
        out.push_back({{"name", port.name},
                       {"dtype", toString(port.type.dtype)},
                       {"shape", port.type.shape},
                       {"layout", port.layout},
                       {"order", "row-major"}});
        if (!port.dynamicAxes.empty()) // where `shape` has the most that it can be
            out.back()["dynamic_axes"] = port.dynamicAxes;
    }
    return out;
}

std::string describe(const StagedLibrary& staged, const LibraryFacts& facts)
{
    ordered_json subgraphs = ordered_json::array();
    for (const SubgraphFacts& s : facts.subgraphs) {
        ordered_json entry = {{"name", s.name}};
        if (s.record.empty())
            entry["reason"] = s.reason;
        else
            entry["record"] = s.record;
        entry["estimated_ms"] = number(s.estimatedMs);
        entry["measured_ms"] = number(s.measuredMs);
        subgraphs.push_back(std::move(entry));
    }
    const ordered_json json = {
        {"name", staged.name},
        {"network", facts.network},
        {"model",
         facts.modelJson.empty() ? ordered_json(nullptr) : ordered_json::parse(facts.modelJson, nullptr, false)},
        {"library", staged.output.filename().string()},
        {"target", facts.target},
        {"inputs", ports(staged.inputs)},
        {"outputs", ports(staged.outputs)},
        {"memory",
         {{"activations_bytes", staged.image.arenaBytes}, {"activations_unshared_bytes", staged.image.unsharedBytes}}},
        {"verification", {{"max_rel_error", number(facts.maxRelError)}}},
        {"benchmark",
         {{"device", facts.device},
          {"threads", facts.threads},
          {"latency_ms",
           {{"median", number(facts.medianMs)},
            {"mean", number(facts.meanMs)},
            {"std", number(facts.stdMs)},
            {"min", number(facts.minMs)},
            {"p95", number(facts.p95Ms)}}},
          {"estimated_ms", toJson(facts.estimated)}}},
        {"subgraphs", std::move(subgraphs)},
    };
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

Result<ExportedFiles> publishLibrary(StagedLibrary& staged, const LibraryFacts& facts)
{
    const std::filesystem::path folder = staged.output.parent_path();
    ExportedFiles files;
    files.library = staged.output;
    files.header = folder / (staged.name + ".h");
    files.description = folder / (staged.name + ".json");
    LATHE_TRY(writeFileAtomically(files.header, fillTemplate(kHeaderTemplate, staged.name)));
    LATHE_TRY(writeFileAtomically(files.description, describe(staged, facts)));
    const std::pair<const char*, std::string_view> examples[] = {
        {".c", kExampleC}, {".cpp", kExampleCpp}, {".py", kExamplePython}};
    for (const auto& [suffix, text] : examples) {
        files.examples.push_back(folder / (staged.name + "_example" + suffix));
        std::string filled = fillTemplate(text, staged.name);
        constexpr std::string_view kFileMark = "@FILE@";
        for (std::size_t at = filled.find(kFileMark); at != std::string::npos; at = filled.find(kFileMark))
            filled.replace(at, kFileMark.size(), staged.output.filename().string());
        LATHE_TRY(writeFileAtomically(files.examples.back(), filled));
    }
    std::error_code error;
    std::filesystem::rename(staged.file, staged.output, error);
    if (error)
        return makeError(Errc::StoreFailed, say(Msg::NotWritten, staged.output.string(), error.message()));
    staged.file.clear();
    return files;
}

} // namespace lathe::deploy
