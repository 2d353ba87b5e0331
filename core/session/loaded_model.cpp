#include "core/session/loaded_model.h"

#include "core/frontend/onnx.h"
#include "core/frontend/output_softmax.h"
#include "core/frontend/zoo.h"
#include "core/graph/flatten.h"
#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/session/back_ends.h"
#include "core/session/input_sizes.h"
#include "core/support/hash.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/hardware_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>

namespace lathe::session {

namespace {

Result<graph::Graph> importModel(LoadedModel& model)
{
    const ModelSpec& spec = model.spec;
    if (spec.source.starts_with("zoo:")) {
        frontend::ZooOptions options;
        options.batch = spec.batch.value_or(1);
        // A network that is not written in the wanted layout is converted afterwards.
        const std::string name = spec.source.substr(4);
        const frontend::ZooEntry* entry = frontend::findZoo(name);
        if (entry != nullptr
            && std::find(entry->layouts.begin(), entry->layouts.end(), spec.layout) != entry->layouts.end())
            options.layout = spec.layout;
        if (spec.seed > std::numeric_limits<std::uint32_t>::max())
            return makeError(Errc::InvalidArgument,
                             fmt::format("--weight-seed is {}, it must be below 2^32", spec.seed));
        options.seed = static_cast<std::uint32_t>(spec.seed);
        if (!spec.shapes.empty() || !spec.sizes.empty())
            return makeError(Errc::InvalidArgument, say(Msg::ZooFixedShapes));
        model.hash =
            contentHash(fmt::format("{} {} {} {}", spec.source, options.batch, options.layout, options.seed)).hex();
        return frontend::buildZoo(name, options);
    }
    LATHE_TRY_ASSIGN(model.hash, modelFileHash(spec.source));
    frontend::ImportOptions options = importSizes(spec);
    options.notes = &model.notices;
    options.dimensions = &model.dimensions;
    return frontend::importOnnx(spec.source, options);
}

} // namespace

Result<std::string> modelFileHash(const std::filesystem::path& file)
{
    // Content hash by blocks: model files reach gigabytes.
    std::ifstream in(file, std::ios::binary);
    if (!in)
        return makeError(Errc::NotFound, say(Msg::FileNotRead, file.string()));
    std::string digest;
    std::vector<char> block(1 << 22);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
        digest = contentHash(digest
                             + contentHash(std::string_view(block.data(), static_cast<std::size_t>(in.gcount()))).hex())
                     .hex();
    return digest;
}

Hardware figuresOf(std::string_view device)
{
    const auto hardware = partIn(nlohmann::json::parse(device, nullptr, false), "hardware");
    return hardware.is_object() ? deviceFigures(hardware.dump()) : Hardware();
}

Result<> putLimits(LoadedModel& model, const Hardware& limits)
{
    for (const auto& [name, limit] : limits.limits) {
        LATHE_TRY(checkLimit(model.target, name, limit.value));
        model.hardware.limits[name] = limit;
    }
    return {};
}

Result<std::shared_ptr<const LoadedModel>> loadModel(const ModelSpec& spec, std::string_view target)
{
    auto model = std::make_shared<LoadedModel>();
    model->spec = spec;
    LATHE_TRY_ASSIGN(model->target, parseTarget(target));
    model->hardware = defaultHardware(model->target);
    if (!spec.hardware.empty()) {
        LATHE_TRY_ASSIGN(const Hardware given, readHardware(spec.hardware));
        LATHE_TRY(putLimits(*model, given));
    }
    LATHE_TRY_ASSIGN(model->imported, importModel(*model));
    if (spec.softmax) {
        LATHE_TRY_ASSIGN(model->imported, frontend::appendSoftmax(std::move(model->imported), model->notices));
    }
    // A layout that was asked for is kept.
    std::string layout = spec.layout;
    if (layout.empty() && spec.partition == "lathe")
        layout = model->target.traits().layout;
    LATHE_TRY_ASSIGN(graph::PassRunner passes, graph::PassRunner::without(spec.withoutPasses));
    LATHE_TRY_ASSIGN(model->optimized, graph::prepare(model->imported, model->target, layout, spec.partition, passes));
    LATHE_TRY_ASSIGN(model->graph, graph::flatten(model->optimized));
    LATHE_TRY_ASSIGN(model->partition, graph::partition(model->graph, model->target, spec.partition, passes));
    for (const graph::Value& value : model->graph.values)
        if (value.constant)
            LATHE_TRY(graph::stillThere(*value.constant));
    model->passes = passes.runs();
    if (spec.passLog) {
        for (const graph::PassRun& run : model->passes)
            model->notices.push_back(say(Msg::PassTold, graph::describe(run)));
    }
    return std::shared_ptr<const LoadedModel>(std::move(model));
}

Result<std::shared_ptr<const LoadedModel>> loadModelOf(const std::filesystem::path& project, const ModelSpec& spec,
                                                       std::string_view target)
{
    std::error_code ignored;
    if (!spec.source.starts_with("zoo:") && !std::filesystem::exists(spec.source, ignored))
        return makeError(Errc::NotFound, say(Msg::ModelGone, project.string(), spec.source));
    return loadModel(spec, target);
}

} // namespace lathe::session
