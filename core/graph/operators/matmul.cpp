// Matrix products: dense (weight as [N, K]), matmul (any rank, broadcast batches) and batch_matmul (rank 3).

#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/transform.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/labels.h"
#include "core/graph/operators/rules.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::graph::operators {
namespace {

/// A product as batches of row-major matrices; `transpose` says which operand is stored the other way round.
struct Product
{
    std::int64_t m = 1, n = 1, k = 1;
    bool transposeA = false, transposeB = false;
    Shape batchA, batchB, batch; ///< leading dimensions of both operands and of the result
    Shape outShape;
    DType outType = DType::F32;
};

Result<> checkTypes(const Node& node, const TensorType& a, const TensorType& b, DType& outType)
{
    if (a.dtype != b.dtype && (isFloat(a.dtype) || isFloat(b.dtype)))
        return brokenRule(fmt::format("the operands are {} and {}", toString(a.dtype), toString(b.dtype)));
    if (a.dtype == DType::Bool || b.dtype == DType::Bool)
        return brokenRule("the operands must be numbers");
    LATHE_TRY_ASSIGN(outType, dtypeAttr(node, "out_dtype", a.dtype));
    if (isFloat(outType) != isFloat(a.dtype))
        return brokenRule(fmt::format("out_dtype {} does not fit {} operands", toString(outType), toString(a.dtype)));
    return {};
}

Result<Product> productOf(const Node& node, const TensorType& a, const TensorType& b)
{
    Product p;
    LATHE_TRY(checkTypes(node, a, b, p.outType));
    if (node.op == "dense") {
        LATHE_TRY(needRank(a, 2, "data"));
        LATHE_TRY(needRank(b, 2, "weight"));
        p.transposeB = true;
    } else {
        const bool batched = node.op == "batch_matmul";
        if (batched) {
            LATHE_TRY(needRank(a, 3, "the left operand"));
            LATHE_TRY(needRank(b, 3, "the right operand"));
        }
        LATHE_TRY_ASSIGN(p.transposeA, boolAttr(node, "transpose_a", false));
        LATHE_TRY_ASSIGN(p.transposeB, boolAttr(node, "transpose_b", batched));
    }
    if (a.shape.empty() || b.shape.empty())
        return brokenRule("the operands must have at least one dimension");
    // A vector stands for one row on the left and one column on the right; that dimension is dropped from the result.
    Shape left = a.shape, right = b.shape;
    const bool leftVector = left.size() == 1, rightVector = right.size() == 1;
    if ((leftVector && p.transposeA) || (rightVector && p.transposeB))
        return brokenRule("a vector cannot be transposed");
    if (leftVector)
        left.insert(left.begin(), 1);
    if (rightVector)
        right.push_back(1);
    p.m = left[left.size() - (p.transposeA ? 1 : 2)];
    p.k = left[left.size() - (p.transposeA ? 2 : 1)];
    p.n = right[right.size() - (p.transposeB ? 2 : 1)];
    const std::int64_t rightK = right[right.size() - (p.transposeB ? 1 : 2)];
    if (p.k != rightK)
        return brokenRule(fmt::format("shapes {} and {} do not multiply: {} columns meet {} rows", shapeText(a.shape),
                                      shapeText(b.shape), p.k, rightK));
    p.batchA.assign(left.begin(), left.end() - 2);
    p.batchB.assign(right.begin(), right.end() - 2);
    LATHE_TRY_ASSIGN(p.batch, broadcastShape(p.batchA, p.batchB));
    p.outShape = p.batch;
    if (!leftVector)
        p.outShape.push_back(p.m);
    if (!rightVector)
        p.outShape.push_back(p.n);
    return p;
}

Result<Types> inferProduct(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(Product p, productOf(node, inputs[0], inputs[1]));
    return Types{{p.outType, std::move(p.outShape)}};
}

template<typename T>
T dot(const T* a, const T* b, std::int64_t count)
{
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < count; ++i)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/// One matrix as rows of `k` numbers, whatever way it is stored.
template<typename T>
std::vector<T> rowsOf(const HostTensor& tensor, std::int64_t offset, std::int64_t rows, std::int64_t k, bool byColumn)
{
    const auto size = static_cast<std::size_t>(rows * k);
    const std::byte* base = tensor.bytes.data() + offset * sizeOf(tensor.type.dtype);
    std::vector<T> values = readNumbers<T>(base, tensor.type.dtype, size);
    if (!byColumn)
        return values;
    std::vector<T> turned(size);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t i = 0; i < k; ++i)
            turned[static_cast<std::size_t>(r * k + i)] = values[static_cast<std::size_t>(i * rows + r)];
    }
    return turned;
}

template<typename T>
Result<> evaluateIn(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const HostTensor& a = *inputs[0];
    const HostTensor& b = *inputs[1];
    LATHE_TRY_ASSIGN(const Product p, productOf(node, a.type, b.type));
    Shape batch = p.batch;
    if (batch.empty())
        batch.push_back(1);
    auto stridesA = broadcastStrides(p.batchA, batch);
    auto stridesB = broadcastStrides(p.batchB, batch);
    constexpr std::int64_t kSlice =
        256; // rows of the right operand as numbers at a time: a large weight is never copied whole
    std::int64_t matrix = 0;
    forEachRow<2>(batch, {stridesA, stridesB}, [&](std::int64_t, const std::array<std::int64_t, 2>& offsets) {
        for (std::int64_t i = 0; i < batch.back(); ++i, ++matrix) {
            const std::int64_t matrixA = (offsets[0] + i * stridesA.back()) * p.m * p.k;
            const std::int64_t matrixB = (offsets[1] + i * stridesB.back()) * p.n * p.k;
            const std::vector<T> left = rowsOf<T>(a, matrixA, p.m, p.k, p.transposeA);
            const std::int64_t slice = p.transposeB ? kSlice : p.n; // columns stored apart are turned in one go
            for (std::int64_t n0 = 0; n0 < p.n; n0 += slice) {
                const std::int64_t count = std::min(slice, p.n - n0);
                const std::vector<T> right = rowsOf<T>(b, matrixB + n0 * p.k * (p.transposeB ? 1 : 0), count, p.k,
                                                       !p.transposeB);
                for (std::int64_t row = 0; row < p.m; ++row) {
                    for (std::int64_t col = 0; col < count; ++col) {
                        writeNumber(outputs[0].bytes.data(), p.outType, (matrix * p.m + row) * p.n + n0 + col,
                                    dot(left.data() + row * p.k, right.data() + col * p.k, p.k));
                    }
                }
            }
        }
    });
    return {};
}

Result<> evaluateProduct(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    return isFloat(inputs[0]->type.dtype) ? evaluateIn<double>(node, inputs, outputs)
                                          : evaluateIn<Wrapping>(node, inputs, outputs);
}

Result<compute::Tensor> computeProduct(const Node& node, std::span<const compute::Tensor> inputs,
                                       ComputeContext& context)
{
    const TensorType a{context.builder.dtype(inputs[0]), context.builder.shape(inputs[0])};
    const TensorType b{context.builder.dtype(inputs[1]), context.builder.shape(inputs[1])};
    LATHE_TRY_ASSIGN(const Product p, productOf(node, a, b));
    if (node.op == "dense")
        return compute::dense(context.builder, inputs[0], inputs[1], context.era, p.outType);
    // A vector is a matrix of one row or one column, on the way.
    const auto matrix = [&](compute::Tensor operand, const Shape& shape, Shape asMatrix) {
        return shape.size() == 1 ? compute::reshape(context.builder, operand, std::move(asMatrix)) : operand;
    };
    const compute::Tensor left = matrix(inputs[0], a.shape, {1, p.k}), right = matrix(inputs[1], b.shape, {p.k, 1});
    const compute::Tensor product = compute::matmul(context.builder, left, right,
                                                    {p.transposeA, p.transposeB, p.outType}, context.era);
    return context.builder.shape(product) == p.outShape ? product
                                                        : compute::reshape(context.builder, product, p.outShape);
}

/// A product with a constant matrix is a dense layer, whose weight is stored by rows of outputs.
void matmulToDense(Graph& graph, NodeId id)
{
    const Node node = graph.node(id);
    const Value weight = graph.value(node.inputs[1]);
    const bool matrices = weight.shape.size() == 2 && graph.value(node.inputs[0]).shape.size() == 2;
    if (!weight.constant || !matrices || attrInt(node, "transpose_a", 0) != 0)
        return;
    ValueId stored = node.inputs[1];
    if (attrInt(node, "transpose_b", 0) == 0)
        stored = graph.addConstant(weight.name, weight.dtype, {weight.shape[1], weight.shape[0]},
                                   permuteConst(*weight.constant, weight.dtype, weight.shape, {1, 0}),
                                   derivedFrom(weight, "transpose"));
    Node& dense = graph.node(id);
    dense.op = "dense";
    dense.attrs.erase("transpose_a");
    dense.attrs.erase("transpose_b");
    dense.inputs[1] = stored;
}

} // namespace

std::span<const OpDef> matmulOperators()
{
    static const std::vector<OpDef> table = {
        {"dense",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferProduct,
         computeProduct,
         evaluateProduct,
         {.sums = true,
          .label = denseLabel,
          .nnName = true,
          .weights =
              [](const Node&, std::span<const std::int64_t>, std::span<const std::int64_t>) {
                  return std::optional(WeightAxes{1, 1, 0});
              }}},
        {"matmul",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferProduct,
         computeProduct,
         evaluateProduct,
         {.sums = true, .countsBatch = false, .nnName = true, .canonicalize = matmulToDense}},
        {"batch_matmul",
         Pattern::OutElementwiseFusable,
         2,
         2,
         inferProduct,
         computeProduct,
         evaluateProduct,
         {.sums = true, .countsBatch = false, .nnName = true}},
    };
    return table;
}

} // namespace lathe::graph::operators
