#include "core/session/input_sizes.h"

#include "core/frontend/onnx.h"
#include "core/session/loaded_model.h"
#include "core/session/options/options_json.h"
#include "core/store/project.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {

namespace {

bool isZoo(const ModelSpec& spec)
{
    return spec.source.starts_with("zoo:");
}

struct KnownModel
{
    std::string hash;
    ModelSpec spec;
};

/// The models of a project, the one that was used last behind the others; none where there is no project, or one that
/// nothing was written to.
Result<std::vector<KnownModel>> knownModels(const std::filesystem::path& project)
{
    std::vector<KnownModel> known;
    if (project.empty())
        return known;
    const auto reader = store::Project::open(project, store::Project::Access::Read);
    if (!reader && reader.error().code == Errc::NotFound)
        return known;
    if (!reader)
        return reader.error();
    LATHE_TRY_ASSIGN(const auto rows, reader->models());
    for (const store::ModelRow& row : rows) {
        LATHE_TRY_ASSIGN(ModelSpec spec, modelSpecFromJson(row.options));
        known.push_back({row.hash, std::move(spec)});
    }
    return known;
}

/// As what the project knew this model last: by its contents, or by its place where it was written anew. Nothing: it
/// does not know it, or no sizes of it.
Result<std::optional<ModelSpec>> lastTime(const std::vector<KnownModel>& known, const ModelSpec& spec)
{
    std::optional<ModelSpec> last;
    if (isZoo(spec) || std::ranges::none_of(known, saysSizes, &KnownModel::spec))
        return last; // before gigabytes are hashed
    LATHE_TRY_ASSIGN(const std::string hash, modelFileHash(spec.source));
    for (const KnownModel& model : known)
        if (model.hash == hash || model.spec.source == spec.source)
            last = model.spec;
    return last && saysSizes(*last) ? last : std::nullopt;
}

/// The spec with the sizes that its model had last time, for what it leaves open itself; `taken` tells which.
Result<ModelSpec> completed(ModelSpec spec, const std::vector<KnownModel>& models, std::vector<std::string>& taken)
{
    LATHE_TRY_ASSIGN(const std::optional<ModelSpec> known, lastTime(models, spec));
    if (!known)
        return spec;
    LATHE_TRY_ASSIGN(frontend::OpenInputs open, frontend::readOpenInputs(spec.source));
    frontend::OpenInputs last = open;
    LATHE_TRY(frontend::giveSizes(open, importSizes(spec)));
    if (!frontend::giveSizes(last, importSizes(*known)))
        return spec; // written anew, with other dimensions
    for (std::size_t i = 0; i < open.dimensions.size(); ++i) {
        const frontend::OpenDimension& then = last.dimensions[i];
        if (open.dimensions[i].size || !then.size)
            continue;
        spec.sizes.emplace_back(then.name, *then.size);
        taken.push_back(fmt::format("{} = {}", then.name, *then.size));
    }
    for (const auto& [input, shape] : known->shapes)
        if (std::ranges::find(open.shapeless, input) != open.shapeless.end()
            && std::ranges::none_of(spec.shapes, [&name = input](const auto& given) { return given.first == name; })) {
            spec.shapes.emplace_back(input, shape);
            taken.push_back(fmt::format("{} = [{}]", input, fmt::join(shape, ", ")));
        }
    return spec;
}

/// The spec without what says sizes, and without its place: rows of one hash have the same contents.
ModelSpec sizeless(ModelSpec spec)
{
    spec.source.clear();
    spec.batch.reset();
    spec.shapes.clear();
    spec.sizes.clear();
    spec.hardware.clear();
    return spec;
}

/// Shapes of inputs whose dimensions are not open: they say more than sizes do.
OptionShapes furtherShapes(const ModelSpec& spec, const frontend::OpenInputs& open)
{
    OptionShapes further;
    for (const auto& [input, shape] : spec.shapes)
        if (std::ranges::none_of(open.dimensions, [&name = input](const frontend::OpenDimension& dimension) {
                return std::ranges::any_of(dimension.places,
                                           [&name](const auto& place) { return place.input == name; });
            }))
            further.emplace_back(input, shape);
    return further;
}

} // namespace

void settleSource(ModelSpec& spec)
{
    std::error_code unknown;
    if (spec.source.empty() || isZoo(spec) || !std::filesystem::exists(spec.source, unknown))
        return;
    if (const std::filesystem::path place = std::filesystem::canonical(spec.source, unknown); !unknown)
        spec.source = place.string();
}

bool saysSizes(const ModelSpec& spec)
{
    return spec.batch || !spec.shapes.empty() || !spec.sizes.empty();
}

void takeSizes(const ModelSpec& from, ModelSpec& to)
{
    to.batch = from.batch;
    to.shapes = from.shapes;
    to.sizes = from.sizes;
}

frontend::ImportOptions importSizes(const ModelSpec& spec)
{
    frontend::ImportOptions options;
    options.batch = spec.batch;
    for (const auto& [name, shape] : spec.shapes)
        options.shapes[name] = shape;
    options.sizes = spec.sizes;
    return options;
}

Result<frontend::OpenInputs> readInputSizes(const ModelSpec& spec, const std::filesystem::path& project)
{
    LATHE_TRY_ASSIGN(const auto known, knownModels(project));
    ModelSpec whole = spec;
    settleSource(whole);
    if (whole.source.empty()) {
        if (known.empty())
            return frontend::OpenInputs();
        whole.source = known.back().spec.source;
    }
    if (isZoo(whole))
        return frontend::OpenInputs();
    std::vector<std::string> taken;
    LATHE_TRY_ASSIGN(whole, completed(std::move(whole), known, taken));
    LATHE_TRY_ASSIGN(frontend::OpenInputs open, frontend::readOpenInputs(whole.source));
    LATHE_TRY(frontend::giveSizes(open, importSizes(whole)));
    // Where the project has it already, a batch that nobody set was 1.
    const bool isKnown = std::ranges::any_of(
        known, [&whole](const KnownModel& model) { return model.spec.source == whole.source; });
    for (frontend::OpenDimension& dimension : open.dimensions)
        if (isKnown && dimension.isBatch && !dimension.size)
            dimension.size = 1;
    return open;
}

Result<ModelSpec> withSizesOfProject(ModelSpec spec, const std::filesystem::path& project,
                                     std::vector<Message>& notices)
{
    LATHE_TRY_ASSIGN(const auto known, knownModels(project));
    std::vector<std::string> taken;
    LATHE_TRY_ASSIGN(spec, completed(std::move(spec), known, taken));
    if (!taken.empty())
        notices.push_back(say(Msg::SizesOfLastTime, std::move(taken)));
    return spec;
}

Result<std::int64_t> findModel(const LoadedModel& model, const store::Project& project)
{
    LATHE_TRY_ASSIGN(const auto rows, project.models());
    frontend::OpenInputs open{model.dimensions, {}, {}};
    for (frontend::OpenDimension& dimension : open.dimensions)
        dimension.size.reset();
    const auto rest = toJson(sizeless(model.spec));
    std::int64_t found = 0;
    for (const store::ModelRow& row : rows) {
        const auto known = row.hash == model.hash ? modelSpecFromJson(row.options)
                                                  : Result<ModelSpec>(makeError(Errc::NotFound, std::string()));
        frontend::OpenInputs sized = open;
        if (!known || toJson(sizeless(*known)) != rest || furtherShapes(*known, open) != furtherShapes(model.spec, open)
            || !frontend::giveSizes(sized, importSizes(*known)))
            continue;
        for (frontend::OpenDimension& dimension : sized.dimensions)
            dimension.size = dimension.size.value_or(1); // a batch that nothing set
        if (frontend::sizesOf(sized.dimensions) == frontend::sizesOf(model.dimensions))
            found = row.id;
    }
    return found;
}

} // namespace lathe::session
