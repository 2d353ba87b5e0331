#include "core/frontend/onnx.h"
#include "core/frontend/onnx/open_inputs.h"
#include "core/frontend/onnx/weight_cutter.h"
#include "core/frontend/onnx/wire_check.h"
#include "core/support/mapped_file.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <unordered_set>

namespace lathe::frontend {

namespace {

using Dimension = ::onnx::TensorShapeProto_Dimension;

struct RoleRow
{
    DimensionRole role;
    std::string_view name;
    std::int64_t guess;
    std::string_view letter; ///< a name that is this alone means it, in upper or lower case
    std::array<std::string_view, 6> words; ///< a name with one of these in it means it
};

// In this order: "batch_sequence" is a batch, "frame_height" a height.
constexpr RoleRow kRoles[] = {
    {DimensionRole::Batch, "batch", 1, "n", {"batch", "bsz"}},
    {DimensionRole::Height, "height", 224, "h", {"height", "rows"}},
    {DimensionRole::Width, "width", 224, "w", {"width", "cols", "columns"}},
    {DimensionRole::Channels, "channels", 3, "c", {"channel"}},
    {DimensionRole::Samples, "samples", 16000, "", {"sample", "audio", "wave"}},
    {DimensionRole::Frames, "frames", 100, "t", {"frame", "time"}},
    {DimensionRole::Depth, "depth", 16, "d", {"depth"}},
    {DimensionRole::Sequence, "sequence", 128, "l", {"seq", "token", "length", "len", "context", "words"}},
    {DimensionRole::Other, "", 1, "", {}},
};

const RoleRow& rowOf(DimensionRole role)
{
    return *std::ranges::find(kRoles, role, &RoleRow::role);
}

std::string lower(std::string_view text)
{
    std::string low(text);
    std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return low;
}

DimensionRole roleByName(std::string_view name)
{
    const std::string low = lower(name);
    const auto means = [&low](const RoleRow& row) {
        return (!row.letter.empty() && low == row.letter)
               || std::ranges::any_of(row.words, [&low](std::string_view word) {
                      return !word.empty() && low.find(word) != std::string::npos;
                  });
    };
    const auto* const found = std::ranges::find_if(kRoles, means);
    return found == std::end(kRoles) ? DimensionRole::Other : found->role;
}

bool isOpen(const Dimension& dim)
{
    return !dim.has_dim_value() || dim.dim_value() < 0;
}

/// Exporters write these where they know no name.
std::string ownNameOf(const Dimension& dim)
{
    const std::string& name = dim.dim_param();
    return isOpen(dim) && (name == "?" || name == "None" || name == "-1") ? std::string() : name;
}

/// Colours of pixels: 1, 3, or 4 with their opacity.
bool countsColours(const Dimension& dim)
{
    return !isOpen(dim) && (dim.dim_value() == 1 || dim.dim_value() == 3 || dim.dim_value() == 4);
}

constexpr std::array kImage = {DimensionRole::Height, DimensionRole::Width};
constexpr std::array kVolume = {DimensionRole::Depth, DimensionRole::Height, DimensionRole::Width};

/// Of an image or a volume, whose channels come first or last; `first`: the axis behind the batch.
DimensionRole roleInPicture(const ::onnx::TensorShapeProto& shape, int first, int axis)
{
    const int rank = shape.dim_size(), spatial = rank - first - 1;
    const bool channelsLast = countsColours(shape.dim(rank - 1)) && !countsColours(shape.dim(first));
    const int at = channelsLast ? axis - first : axis - first - 1;
    if (at < 0 || at >= spatial)
        return DimensionRole::Channels;
    return spatial == 3 ? kVolume[static_cast<std::size_t>(at)] : kImage[static_cast<std::size_t>(at)];
}

constexpr std::array<std::int64_t, 4> kBands = {40, 64, 80, 128}; ///< of spectrograms that are usual

bool isWhole(std::int64_t type)
{
    return type == ::onnx::TensorProto_DataType_INT64 || type == ::onnx::TensorProto_DataType_INT32;
}

DimensionRole roleByPlace(const ::onnx::ValueInfoProto& input, int axis)
{
    const auto& type = input.type().tensor_type();
    const auto& shape = type.shape();
    const int rank = shape.dim_size();
    if (rank == 3 && !isWhole(type.elem_type()) && (countsColours(shape.dim(0)) || countsColours(shape.dim(2))))
        return roleInPicture(shape, 0, axis); // one image, as it is
    if (axis == 0)
        return DimensionRole::Batch;
    if (rank == 4 || rank == 5)
        return roleInPicture(shape, 1, axis);
    if (isWhole(type.elem_type()))
        return DimensionRole::Sequence;
    if (rank == 2)
        return roleByName(input.name()) == DimensionRole::Samples ? DimensionRole::Samples : DimensionRole::Other;
    const auto countsBands = [](const Dimension& dim) {
        return !isOpen(dim) && std::ranges::find(kBands, dim.dim_value()) != kBands.end();
    };
    if (rank == 3)
        return std::ranges::any_of(shape.dim(), countsBands) ? DimensionRole::Frames : DimensionRole::Sequence;
    return DimensionRole::Other;
}

/// Images are square unless something says otherwise; volumes are smaller.
std::int64_t guessOf(DimensionRole role, const ::onnx::TensorShapeProto& shape, int axis)
{
    if (role != DimensionRole::Height && role != DimensionRole::Width)
        return rowOf(role).guess;
    const int other = role == DimensionRole::Height ? axis + 1 : axis - 1;
    if (other >= 0 && other < shape.dim_size() && !isOpen(shape.dim(other)) && shape.dim(other).dim_value() > 4)
        return shape.dim(other).dim_value();
    return shape.dim_size() == 5 ? 112 : rowOf(role).guess;
}

std::string quoted(const std::string& name)
{
    return fmt::format("\"{}\"", name.substr(0, 100));
}

Message placesOf(const OpenDimension& dimension)
{
    const OpenDimension::Place& first = dimension.places.front();
    const std::string name = dimension.name.substr(0, 100), input = first.input.substr(0, 100);
    return dimension.places.size() == 1 ? say(Msg::DimensionAt, name, first.axis, input)
                                        : say(Msg::DimensionAtPlaces, name, first.axis, input);
}

constexpr std::size_t kMostExamples = 4; ///< in one sentence

/// "--dim height=224"
std::string exampleOf(const OpenDimension& dimension)
{
    const std::string said = fmt::format("{}={}", dimension.name.substr(0, 100), dimension.guess);
    const bool plain = std::ranges::all_of(said, [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_.:/=-").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return plain ? "--dim " + said : "--dim \"" + said + '"';
}

Result<> give(OpenDimension& dimension, std::int64_t size)
{
    if (dimension.size && *dimension.size != size)
        return makeError(Errc::InvalidArgument,
                         say(Msg::SizesContradict, dimension.name.substr(0, 100), *dimension.size, size));
    dimension.size = size;
    return {};
}

} // namespace

std::string_view toString(DimensionRole role)
{
    return rowOf(role).name;
}

namespace onnx_detail {

OpenInputs openInputsOf(const ::onnx::GraphProto& graph, const std::function<bool(const std::string&)>& isWeight)
{
    OpenInputs open;
    for (const auto& input : graph.input()) {
        const auto& type = input.type().tensor_type();
        if (isWeight(input.name()) || !input.type().has_tensor_type()
            || type.elem_type() == ::onnx::TensorProto_DataType_STRING)
            continue;
        if (!type.has_shape()) {
            open.shapeless.push_back(input.name());
            continue;
        }
        OpenInputs::Input& known = open.inputs.emplace_back();
        known.name = input.name();
        for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
            const Dimension& dim = type.shape().dim(axis);
            known.shape.push_back(isOpen(dim) ? -1 : dim.dim_value());
            if (!isOpen(dim))
                continue;
            const std::string own = ownNameOf(dim);
            const std::string name = own.empty() ? fmt::format("{}:{}", input.name(), axis) : own;
            auto found = std::ranges::find(open.dimensions, name, &OpenDimension::name);
            if (found == open.dimensions.end()) {
                OpenDimension fresh;
                fresh.name = name;
                fresh.role = roleByName(own);
                if (fresh.role == DimensionRole::Other)
                    fresh.role = roleByPlace(input, axis);
                fresh.guess = guessOf(fresh.role, type.shape(), axis);
                found = open.dimensions.insert(open.dimensions.end(), std::move(fresh));
            }
            found->places.push_back({input.name(), axis});
            found->isBatch = found->isBatch || (axis == 0 && found->role == DimensionRole::Batch);
        }
    }
    return open;
}

const OpenDimension* findOpen(const OpenInputs& open, const std::string& input, int axis)
{
    for (const OpenDimension& dimension : open.dimensions)
        for (const OpenDimension::Place& place : dimension.places)
            if (place.input == input && place.axis == axis)
                return &dimension;
    return nullptr;
}

} // namespace onnx_detail

namespace {

Result<OpenInputs> readInputs(std::span<const std::byte> bytes)
{
    if (bytes.empty())
        return makeError(Errc::BadFile, say(Msg::FileEmpty));
    LATHE_TRY(onnx_detail::checkWire(bytes));
    LATHE_TRY_ASSIGN(const onnx_detail::CutModel slim, onnx_detail::cutWeights(bytes, ImportOptions().leastMapped));
    ::onnx::ModelProto model;
    if (!model.ParseFromArray(slim.rest.data(), static_cast<int>(slim.rest.size())) || !model.has_graph())
        return makeError(Errc::BadFile, say(Msg::OnnxNoModel));
    std::unordered_set<std::string> weights;
    for (const auto& initializer : model.graph().initializer())
        weights.insert(initializer.name());
    return onnx_detail::openInputsOf(model.graph(),
                                     [&weights](const std::string& name) { return weights.contains(name); });
}

} // namespace

Result<OpenInputs> readOpenInputs(const std::filesystem::path& path)
{
    LATHE_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
    const auto guarded = [&file]() -> Result<OpenInputs> {
        try {
            return readInputs(file.bytes());
        } catch (const std::bad_alloc&) {
            return makeError(Errc::BadFile, say(Msg::ModelOverMemory));
        } catch (const std::exception& exception) { // protobuf throws
            return makeError(Errc::Internal, say(Msg::ModelReadingFailed, exception.what()));
        }
    };
    auto open = guarded();
    LATHE_TRY(file.intact());
    if (!open)
        return std::move(open).error().note(path.filename().string());
    return open;
}

Result<> giveSizes(OpenInputs& open, const ImportOptions& options)
{
    for (OpenDimension& dimension : open.dimensions)
        for (const OpenDimension::Place& place : dimension.places)
            if (const auto shape = options.shapes.find(place.input);
                shape != options.shapes.end() && place.axis < std::ssize(shape->second))
                LATHE_TRY(give(dimension, shape->second[static_cast<std::size_t>(place.axis)]));
    for (const auto& [name, size] : options.sizes) {
        const auto found = std::ranges::find(open.dimensions, name, &OpenDimension::name);
        if (found == open.dimensions.end()) {
            std::vector<std::string> names;
            for (const OpenDimension& dimension : open.dimensions)
                names.push_back(quoted(dimension.name));
            return makeError(Errc::InvalidArgument, names.empty()
                                                        ? say(Msg::NoOpenDimensions, name.substr(0, 100))
                                                        : say(Msg::NoSuchDimension, name.substr(0, 100), names));
        }
        LATHE_TRY(give(*found, size));
    }
    for (OpenDimension& dimension : open.dimensions)
        if (options.batch && dimension.isBatch)
            LATHE_TRY(give(dimension, *options.batch));
    return {};
}

Result<> checkSizes(const OpenInputs& open, const ImportOptions& options)
{
    std::vector<Message> missing;
    std::string example; // of usual sizes
    for (const OpenDimension& dimension : open.dimensions)
        if (!dimension.size && !dimension.isBatch) {
            missing.push_back(placesOf(dimension));
            if (missing.size() <= kMostExamples)
                example += (example.empty() ? "" : " ") + exampleOf(dimension);
        }
    for (const std::string& input : open.shapeless)
        if (!options.shapes.contains(input)) {
            if (missing.empty())
                return makeError(Errc::InvalidArgument, say(Msg::InputWithoutShape, input));
            missing.push_back(say(Msg::ShapeOpen, input.substr(0, 100)));
        }
    if (missing.empty())
        return {};
    return makeError(Errc::InvalidArgument, example.empty()
                                                ? say(Msg::DimensionsOpen, std::move(missing))
                                                : say(Msg::DimensionsOpenSuch, std::move(missing), example));
}

std::vector<std::pair<std::string, std::int64_t>> sizesOf(const std::vector<OpenDimension>& dimensions)
{
    std::vector<std::pair<std::string, std::int64_t>> sizes;
    for (const OpenDimension& dimension : dimensions)
        if (dimension.size)
            sizes.emplace_back(dimension.name, *dimension.size);
    return sizes;
}

} // namespace lathe::frontend
