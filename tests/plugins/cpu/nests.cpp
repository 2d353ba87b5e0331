#include "tests/plugins/cpu/nests.h"

namespace lathe::test {

using ir::Expr;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;

ir::Buffer buffer(std::string name, DType dtype, std::vector<std::int64_t> shape, Scope scope)
{
    ir::Buffer b;
    b.name = std::move(name);
    b.dtype = dtype;
    b.scope = scope;
    b.strides.assign(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        b.strides[d - 1] = b.strides[d] * shape[d];
    b.shape = std::move(shape);
    return b;
}

Stmt loop(const std::string& name, Expr min, Expr extent, LoopKind kind, const std::function<Stmt(Expr)>& body)
{
    const Expr v = ir::var(name);
    return ir::makeFor(v, std::move(min), std::move(extent), kind, body(v));
}

Stmt loop(const std::string& name, std::int64_t extent, LoopKind kind, const std::function<Stmt(Expr)>& body)
{
    return loop(name, ir::intImm(0), ir::intImm(extent), kind, body);
}

schedule::LoweredKernel kernelOf(std::string name, std::vector<ir::Buffer> buffers, std::vector<Stmt> phases,
                                 std::size_t outputs)
{
    schedule::LoweredKernel kernel;
    kernel.nest.name = std::move(name);
    kernel.nest.phases = std::move(phases);
    for (std::size_t b = 0; b < buffers.size(); ++b)
        if (buffers[b].scope == Scope::Parameter)
            kernel.nest.parameters.push_back(static_cast<std::int32_t>(b));
    for (std::size_t p = 0; p < kernel.nest.parameters.size(); ++p) {
        ir::Buffer& b = buffers[static_cast<std::size_t>(kernel.nest.parameters[p])];
        ArgSpec spec;
        spec.name = b.name;
        spec.dtype = b.dtype;
        spec.role = p + outputs >= kernel.nest.parameters.size() ? ArgRole::Output : ArgRole::Input;
        b.readOnly = spec.role == ArgRole::Input;
        spec.map = IndexMap::plain(b.shape.data(), static_cast<int>(b.shape.size()));
        kernel.parameters.push_back(spec);
    }
    kernel.nest.buffers = std::move(buffers);
    return kernel;
}

schedule::LoweredKernel matmul(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t rows, std::int64_t lanes,
                               LoopKind outer)
{
    constexpr std::int32_t a = 0, b = 1, c = 2, tile = 3;
    const auto r = static_cast<int>(rows);
    const auto l = static_cast<int>(lanes);
    const auto eachOfTile = [&](const std::function<Stmt(Expr, Expr)>& body) {
        return loop("ti", rows, LoopKind::Unrolled, [&](Expr ti) {
            return loop("tj", lanes, LoopKind::Vectorized, [&](Expr tj) { return body(ti, tj); });
        });
    };
    const auto acc = [&](const Expr& ti, const Expr& tj) { return ir::load(tile, DType::F32, {ti, tj}); };
    const Stmt nest = loop("i", m / rows, outer, [&](Expr i) {
        return loop("j", n / lanes, LoopKind::Serial, [&](Expr j) {
            return ir::makeBlock({eachOfTile([&](Expr ti, Expr tj) {
                                      return ir::makeStore(tile, {ti, tj}, ir::floatImm(0));
                                  }),
                                  loop("k", k, LoopKind::Serial,
                                       [&](Expr kk) {
                                           return eachOfTile([&](Expr ti, Expr tj) {
                                               return ir::makeStore(
                                                   tile, {ti, tj},
                                                   acc(ti, tj)
                                                       + ir::load(a, DType::F32, {i * r + ti, kk})
                                                             * ir::load(b, DType::F32, {kk, j * l + tj}));
                                           });
                                       }),
                                  eachOfTile([&](Expr ti, Expr tj) {
                                      return ir::makeStore(c, {i * r + ti, j * l + tj}, acc(ti, tj));
                                  })});
        });
    });
    return kernelOf("matmul",
                    {buffer("A", DType::F32, {m, k}), buffer("B", DType::F32, {k, n}), buffer("C", DType::F32, {m, n}),
                     buffer("tile", DType::F32, {rows, lanes}, Scope::Register)},
                    {nest});
}

} // namespace lathe::test
