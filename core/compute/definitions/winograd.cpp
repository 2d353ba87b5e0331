#include "core/compute/definitions/winograd.h"

#include "core/compute/definitions/spatial.h"
#include "core/support/check.h"

#include <fmt/format.h>

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

/// A constant matrix as an operation: nested selects, the last element outermost.
Tensor constMatrix(DagBuilder& b, const std::string& name, const std::vector<double>& values, std::int64_t rows,
                   std::int64_t columns, DType type)
{
    const Tensor t = b.compute(name, {rows, columns}, {"i", "j"}, "", [&](const Exprs& a) {
        ir::Expr value = zero(type);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) {
                const ir::Expr here = ir::eq(ir::floorMod(a[0], index(rows)), index(r))
                                      && ir::eq(ir::floorMod(a[1], index(columns)), index(c));
                value = ir::select(here, constant(values[static_cast<std::size_t>(r * columns + c)], type), value);
            }
        return value;
    });
    b.setAttr(t, "const_matrix", std::int64_t{1});
    return t;
}

struct TileTransform
{
    const char* name;
    const char* rowsName; ///< of the first pass, if there are two
    std::vector<std::string> axes; ///< row and column of the result, tile, channel
    std::int64_t points; ///< rows and columns of the result
    bool split;
};

/// M^T X M for every tile X [rows, columns, tiles, channels] and one matrix M: both sums at once, or the rows first, of
/// which each then serves all columns.
Tensor transformTiles(DagBuilder& b, const TileTransform& t, Tensor tiles, Tensor matrix)
{
    const char* const kConstant = "auto_scheduler_simplify_const_tensor_indices";
    const std::vector<std::int64_t> from = b.shape(tiles);
    const std::vector<std::int64_t> shape = {t.points, t.points, from[2], from[3]};
    const std::string &row = t.axes[0], &column = t.axes[1];
    if (!t.split) {
        const Tensor whole = b.reduce(
            t.name, shape, t.axes, "", ir::Combiner::Sum, {{"r_a", from[0]}, {"r_b", from[1]}},
            [&](const Exprs& a, const Exprs& r) {
                return b.at(tiles, {r[0], r[1], a[2], a[3]}) * b.at(matrix, {r[0], a[0]}) * b.at(matrix, {r[1], a[1]});
            });
        b.setAttr(whole, kConstant, std::vector<std::string>{row, column, "r_a", "r_b"});
        return whole;
    }
    const Tensor rows = b.reduce(t.rowsName, {t.points, from[1], from[2], from[3]}, {row, "c", t.axes[2], t.axes[3]},
                                 "", ir::Combiner::Sum, {{"r_a", from[0]}}, [&](const Exprs& a, const Exprs& r) {
                                     return b.at(tiles, {r[0], a[1], a[2], a[3]}) * b.at(matrix, {r[0], a[0]});
                                 });
    b.setAttr(rows, kConstant, std::vector<std::string>{row, "c", "r_a"});
    const Tensor whole = b.reduce(t.name, shape, t.axes, "", ir::Combiner::Sum, {{"r_b", from[1]}},
                                  [&](const Exprs& a, const Exprs& r) {
                                      return b.at(rows, {a[0], r[0], a[2], a[3]}) * b.at(matrix, {r[0], a[1]});
                                  });
    b.setAttr(whole, kConstant, std::vector<std::string>{row, column, "r_b"});
    return whole;
}

} // namespace

WinogradMatrices winogradMatrices(std::int64_t m)
{
    LATHE_CHECK(m == 2 || m == 4) << "winograd tile " << m;
    if (m == 2)
        return {2,
                4,
                {1, 0, 1, -1, 1, 1, 0, 1},
                {1, 0, 0, 0, 0, -1, 1, -1, -1, 1, 1, 0, 0, 0, 0, 1},
                {1, 0, 0, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0, 0, 1}};
    return {4,
            6,
            {1, 0, 0, 0, 1, -1, 1, -1, 1, 1, 1, 1, 1, 0.5, 0.25, 0.125, 1, -2, 4, -8, 0, 0, 0, 1},
            {1,   0,   0,   0, 0,    0,  -1.5, 1, -1, -2, 0.5, 1,   -2, -2.5, 0.5, -1, -1, -1.5,
             1.5, 0.5, 2.5, 2, -0.5, -2, 1,    1, 1,  1,  1,   1.5, 0,  0,    0,   0,  0,  1},
            {1, 0, 0, -1.0 / 3, 1.0 / 3, -1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, -16.0 / 15, -8.0 / 15, -4.0 / 15,
             1.0 / 15, -2.0 / 15, 4.0 / 15, 0, 0, 1}};
}

bool winogradApplies(DType dtype, std::int64_t kernelHeight, std::int64_t kernelWidth, const Conv2dParams& p)
{
    return isFloat(dtype) && kernelHeight == 3 && kernelWidth == 3 && p.strides == std::array<std::int64_t, 2>{1, 1}
           && p.dilation == std::array<std::int64_t, 2>{1, 1} && p.groups == 1;
}

Tensor conv2dWinograd(DagBuilder& b, Tensor data, Tensor transformedWeight, std::int64_t m, const Conv2dParams& p,
                      NameEra, bool split)
{
    const WinogradMatrices matrices = winogradMatrices(m);
    const std::int64_t alpha = matrices.alpha;
    const bool nchw = p.layout == ImageLayout::Nchw;
    const ImageAxes dims = imageAxes(p.layout);
    const std::vector<std::int64_t> in = b.shape(data);
    const DType outType = b.dtype(data), type = sumType(outType); // half floats are transformed and summed in f32
    const std::int64_t batch = in[0];
    const std::int64_t channels = in[dims.channel];
    const std::int64_t outChannels = b.shape(transformedWeight)[2];
    const std::int64_t oh = convExtent(in[dims.height], 3, 1, p.padding[0], p.padding[2], 1);
    const std::int64_t ow = convExtent(in[dims.width], 3, 1, p.padding[1], p.padding[3], 1);
    const std::int64_t tilesHigh = (oh + m - 1) / m;
    const std::int64_t tilesWide = (ow + m - 1) / m;
    const std::int64_t tiles = batch * tilesHigh * tilesWide;

    // The last tiles may reach over the padded image: more zeros below and to the right.
    std::array<std::int64_t, 4> padding = p.padding;
    padding[2] += (tilesHigh - 1) * m + alpha - (in[dims.height] + p.padding[0] + p.padding[2]);
    padding[3] += (tilesWide - 1) * m + alpha - (in[dims.width] + p.padding[1] + p.padding[3]);
    const Tensor padded = padImage(b, data, p.layout, padding, "data_pad");

    const Tensor inputTile = b.compute(
        "input_tile", {alpha, alpha, tiles, channels}, {"eps", "nu", "p", "ci"}, "", [&](const Exprs& a) {
            const ir::Expr n = ir::floorDiv(a[2], index(tilesHigh * tilesWide));
            const ir::Expr y = ir::floorMod(ir::floorDiv(a[2], index(tilesWide)), index(tilesHigh)) * index(m) + a[0];
            const ir::Expr x = ir::floorMod(a[2], index(tilesWide)) * index(m) + a[1];
            return ir::cast(type, nchw ? b.at(padded, {n, a[3], y, x}) : b.at(padded, {n, y, x, a[3]}));
        });

    const Tensor matrixB = constMatrix(b, "B", matrices.b, alpha, alpha, type);
    const Tensor dataPack = transformTiles(b, {"data_pack", "data_rows", {"eps", "nu", "p", "ci"}, alpha, split},
                                           inputTile, matrixB);

    const Tensor bgemm = b.reduce(
        "bgemm", {alpha, alpha, tiles, outChannels}, {"eps", "nu", "p", "co"}, "", ir::Combiner::Sum,
        {{"ci", channels}}, [&](const Exprs& a, const Exprs& r) {
            return b.at(dataPack, {a[0], a[1], a[2], r[0]}) * b.at(transformedWeight, {a[0], a[1], a[3], r[0]});
        });
    markLayoutFree(b, bgemm, transformedWeight);

    const Tensor matrixA = constMatrix(b, "A", matrices.a, alpha, m, type);
    const Tensor inverse = transformTiles(b, {"inverse", "inverse_rows", {"vh", "vw", "p", "co"}, m, split}, bgemm,
                                          matrixA);

    const auto gather = [&](const ir::Expr& n, const ir::Expr& h, const ir::Expr& w, const ir::Expr& co) {
        const ir::Expr tile = n * index(tilesHigh) * index(tilesWide) + ir::floorDiv(h, index(m)) * index(tilesWide)
                              + ir::floorDiv(w, index(m));
        return ir::cast(outType, b.at(inverse, {ir::floorMod(h, index(m)), ir::floorMod(w, index(m)), tile, co}));
    };
    if (nchw)
        return b.compute("conv2d_winograd", {batch, outChannels, oh, ow}, {"n", "co", "h", "w"}, "conv2d_winograd_nchw",
                         [&](const Exprs& a) { return gather(a[0], a[2], a[3], a[1]); });
    return b.compute("conv2d_winograd", {batch, oh, ow, outChannels}, {"n", "h", "w", "co"}, "conv2d_winograd_nhwc",
                     [&](const Exprs& a) { return gather(a[0], a[1], a[2], a[3]); });
}

Result<DagPtr> winogradWeightRecipe(const std::vector<std::int64_t>& weightShape, DType dtype, std::int64_t m,
                                    ImageLayout layout)
{
    if (m != 2 && m != 4)
        return makeError(Errc::Unsupported, fmt::format("winograd with output tile {}: 2 and 4 are known", m));
    const bool nchw = layout == ImageLayout::Nchw;
    if (weightShape.size() != 4 || weightShape[nchw ? 2 : 0] != 3 || weightShape[nchw ? 3 : 1] != 3)
        return makeError(Errc::InvalidArgument,
                         fmt::format("winograd needs a 3x3 kernel, not [{}]", fmt::join(weightShape, ", ")));
    if (!isFloat(dtype))
        return makeError(Errc::Unsupported,
                         fmt::format("winograd for {} weights: floating point only", toString(dtype)));
    const std::int64_t outChannels = weightShape[nchw ? 0 : 3];
    const std::int64_t channels = weightShape[nchw ? 1 : 2];
    const WinogradMatrices matrices = winogradMatrices(m);

    DagBuilder b;
    const Tensor weight = b.placeholder("placeholder", weightShape, dtype);
    // In double: thirds and fifteenths are no floats, and this runs once.
    const Tensor matrixG = constMatrix(b, "G", matrices.g, matrices.alpha, 3, DType::F64);
    const Tensor wide = b.reduce(
        "weight_transform", {matrices.alpha, matrices.alpha, outChannels, channels}, {"eps", "nu", "co", "ci"}, "",
        ir::Combiner::Sum, {{"r_kh", 3}, {"r_kw", 3}}, [&](const Exprs& a, const Exprs& r) {
            const ir::Expr w = nchw ? b.at(weight, {a[2], a[3], r[0], r[1]}) : b.at(weight, {r[0], r[1], a[3], a[2]});
            return ir::cast(DType::F64, w) * b.at(matrixG, {a[0], r[0]}) * b.at(matrixG, {a[1], r[1]});
        });
    const Tensor out = b.compute("transformed_weight", b.shape(wide), {"eps", "nu", "co", "ci"}, "",
                                 [&](const Exprs& a) { return ir::cast(sumType(dtype), b.at(wide, a)); });
    return std::move(b).finish({out});
}

} // namespace lathe::compute
