#include "core/deploy/library.h"
#include "core/deploy/npy.h"
#include "core/deploy/templates.h"
#include "core/support/prepared_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lathe::deploy {

namespace {

using nlohmann::ordered_json;

ordered_json number(double value)
{
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

/// The ends of what suits an input, whole where its elements are.
ordered_json rangeOf(const graph::ValueRange& range, DType dtype)
{
    if (isFloat(dtype))
        return {range.low, range.high};
    return {static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)};
}

ordered_json ports(const std::vector<PortInfo>& list, const std::vector<graph::InputRange>& ranges = {})
{
    ordered_json out = ordered_json::array();
    for (std::size_t i = 0; i < list.size(); ++i) {
        const PortInfo& port = list[i];
        ordered_json entry = {{"name", port.name},
                              {"dtype", toString(port.type.dtype)},
                              {"shape", port.type.shape},
                              {"layout", port.layout},
                              {"order", "row-major"}};
        if (i < ranges.size() && ranges[i].range)
            entry["range"] = rangeOf(*ranges[i].range, port.type.dtype);
        if (const DType stored = npyTypeOf(port.type.dtype); stored != port.type.dtype)
            entry["npy_dtype"] = toString(stored);
        if (!port.dynamicAxes.empty()) // where `shape` has the most that it can be
            entry["dynamic_axes"] = port.dynamicAxes;
        out.push_back(std::move(entry));
    }
    return out;
}

ordered_json subgraphs(const std::vector<SubgraphFacts>& list)
{
    ordered_json out = ordered_json::array();
    for (const SubgraphFacts& s : list) {
        ordered_json entry = {{"name", s.name}};
        if (s.record.empty())
            entry["reason"] = s.reason;
        else
            entry["record"] = s.record;
        entry["estimated_ms"] = number(s.estimatedMs);
        entry["measured_ms"] = number(s.measuredMs);
        out.push_back(std::move(entry));
    }
    return out;
}

/// In the library's order: the first that a processor runs is taken there.
ordered_json variants(const StagedLibrary& staged, const LibraryFacts& facts)
{
    ordered_json out = ordered_json::array();
    for (const StagedVariant& variant : staged.variants) {
        const auto known = facts.variants.find(variant.target);
        const VariantFacts own = known != facts.variants.end() ? known->second : VariantFacts();
        ordered_json verification = {{"max_rel_error", number(own.maxRelError)}};
        if (!own.notVerified.empty())
            verification["not_verified"] = own.notVerified;
        out.push_back({{"target", variant.target},
                       {"features", variant.features},
                       {"memory",
                        {{"activations_bytes", variant.image.arenaBytes},
                         {"weights_bytes", variant.image.usedWeightsBytes},
                         {"code_bytes", variant.codeBytes}}},
                       {"verification", std::move(verification)},
                       {"subgraphs", subgraphs(own.subgraphs)}});
    }
    return out;
}

/// The variant that the figures are of, else the first.
const StagedVariant& figured(const StagedLibrary& staged, const LibraryFacts& facts)
{
    const auto found = std::ranges::find(staged.variants, facts.variant, &StagedVariant::target);
    return found != staged.variants.end() ? *found : staged.variants.front();
}

std::string describe(const StagedLibrary& staged, const LibraryFacts& facts)
{
    const ModelImage& image = figured(staged, facts).image;
    const ordered_json json = {
        {"note", fmt::format("{}; without this line it is yours, and an export leaves it alone", kOwnMark)},
        {"name", staged.name},
        {"network", facts.network},
        {"model",
         facts.modelJson.empty() ? ordered_json(nullptr) : ordered_json::parse(facts.modelJson, nullptr, false)},
        {"library", staged.output.filename().string()},
        {"target", facts.target},
        {"inputs", ports(staged.inputs, staged.inputRanges)},
        {"outputs", ports(staged.outputs)},
        {"memory",
         {{"activations_bytes", image.arenaBytes},
          {"activations_unshared_bytes", image.unsharedBytes},
          {"weights_bytes", staged.weightsBytes}}},
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
        {"subgraphs", subgraphs(facts.subgraphs)},
        {"variants", variants(staged, facts)},
    };
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

Result<ExportedFiles> publishLibrary(StagedLibrary& staged, const LibraryFacts& facts, bool overwrite)
{
    ExportedFiles files = ExportedFiles::of(staged.output, staged.name);
    LATHE_TRY(checkDestination(files, overwrite)); // again: the export took a while
    std::vector<PreparedFile> prepared;
    const auto prepare = [&](const std::filesystem::path& file, std::string_view text) -> Result<> {
        LATHE_TRY_ASSIGN(PreparedFile written, PreparedFile::write(file, std::as_bytes(std::span(text))));
        prepared.push_back(std::move(written));
        return {};
    };
    LATHE_TRY(prepare(files.header, fillTemplate(kHeaderTemplate, staged.name)));
    LATHE_TRY(prepare(files.description, describe(staged, facts)));
    const std::string_view examples[] = {kExampleC, kExampleCpp, kExamplePython};
    for (std::size_t i = 0; i < std::size(examples); ++i) {
        std::string filled = fillTemplate(examples[i], staged.name);
        constexpr std::string_view kFileMark = "@FILE@";
        for (std::size_t at = filled.find(kFileMark); at != std::string::npos; at = filled.find(kFileMark))
            filled.replace(at, kFileMark.size(), staged.output.filename().string());
        LATHE_TRY(prepare(files.examples[i], filled));
    }
    LATHE_TRY(syncFile(staged.file));
    LATHE_TRY(PreparedFile::putAll(prepared));
    LATHE_TRY(replaceFile(staged.file, staged.output));
    staged.file.clear();
    return files;
}

} // namespace lathe::deploy
