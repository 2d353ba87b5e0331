#include "core/compute/definitions/dense.h"

#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/spatial.h"

namespace lathe::compute {

namespace {

using Exprs = std::vector<ir::Expr>;

std::string matmulName(bool batched, const MatmulParams& p, NameEra era)
{
    if (era != NameEra::Nested)
        return batched ? "T_batch_matmul" : "T_matmul";
    return std::string(batched ? "T_batch_matmul_" : "T_matmul_") + (p.transposeA ? 'T' : 'N')
           + (p.transposeB ? 'T' : 'N');
}

} // namespace

Tensor dense(DagBuilder& b, Tensor data, Tensor weight, NameEra era, std::optional<DType> outType)
{
    const std::int64_t rows = b.shape(data)[0];
    const std::int64_t depth = b.shape(data)[1];
    const std::int64_t columns = b.shape(weight)[0];
    const DType resultType = outType.value_or(b.dtype(data)), type = sumType(resultType);
    const Tensor out = b.reduce(
        era == NameEra::Nested ? "T_matmul_NT" : "T_dense", {rows, columns}, {"i", "j"}, "dense", ir::Combiner::Sum,
        {{"k", depth}}, [&](const Exprs& a, const Exprs& r) {
            return ir::cast(type, b.at(data, {a[0], r[0]})) * ir::cast(type, b.at(weight, {a[1], r[0]}));
        });
    markLayoutFree(b, out, weight);
    return rounded(b, out, resultType);
}

Tensor matmul(DagBuilder& b, Tensor left, Tensor right, const MatmulParams& p, NameEra era)
{
    const std::vector<std::int64_t> ls = b.shape(left);
    const std::vector<std::int64_t> rs = b.shape(right);
    const std::vector<std::int64_t> batch = broadcastShape({ls.begin(), ls.end() - 2}, {rs.begin(), rs.end() - 2});
    const std::int64_t rows = ls[ls.size() - (p.transposeA ? 1 : 2)];
    const std::int64_t depth = ls[ls.size() - (p.transposeA ? 2 : 1)];
    const std::int64_t columns = rs[rs.size() - (p.transposeB ? 2 : 1)];
    const DType resultType = p.outType.value_or(b.dtype(left)), type = sumType(resultType);

    std::vector<std::int64_t> shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < batch.size(); ++i)
        names.push_back(batch.size() == 1 ? "b" : "b" + std::to_string(i));
    names.insert(names.end(), {"i", "j"});

    const auto element = [&](Tensor t, const Exprs& axes, const ir::Expr& row, const ir::Expr& column) {
        const std::vector<std::int64_t>& s = b.shape(t);
        const std::size_t rank = s.size() - 2;
        Exprs at;
        for (std::size_t i = 0; i < rank; ++i) {
            const std::size_t axis = batch.size() - rank + i;
            at.push_back(s[i] == batch[axis] ? axes[axis] : index(0));
        }
        at.push_back(row);
        at.push_back(column);
        return ir::cast(type, b.at(t, at));
    };
    const Tensor out = b.reduce(
        matmulName(!batch.empty(), p, era), shape, names, batch.empty() ? "matmul" : "batch_matmul", ir::Combiner::Sum,
        {{"k", depth}}, [&](const Exprs& a, const Exprs& r) {
            const ir::Expr& i = a[batch.size()];
            const ir::Expr& j = a[batch.size() + 1];
            const ir::Expr x = p.transposeA ? element(left, a, r[0], i) : element(left, a, i, r[0]);
            const ir::Expr y = p.transposeB ? element(right, a, j, r[0]) : element(right, a, r[0], j);
            return x * y;
        });
    markLayoutFree(b, out, right);
    return rounded(b, out, resultType);
}

Tensor biasAdd(DagBuilder& b, Tensor data, Tensor bias, std::int64_t axis)
{
    const std::vector<std::int64_t> shape = b.shape(data);
    const std::size_t position = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size())
                                                                   : axis);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shape.size(); ++i)
        names.push_back("ax" + std::to_string(i));
    return b.compute("T_add", shape, names, "broadcast",
                     [&](const Exprs& a) { return b.at(data, a) + b.at(bias, {a[position]}); });
}

} // namespace lathe::compute
