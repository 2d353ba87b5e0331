#include "tests/bench/kernels/convolution_nests.h"

#include "tests/plugins/cpu/nests.h"

#include <functional>

namespace lathe::test {

using ir::Expr;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;

namespace {

enum BufferIndex : std::int32_t
{
    kInput,
    kWeights,
    kOutput,
    kTile
};

class ConvolutionNest
{
public:
    explicit ConvolutionNest(const ConvolutionShape& shape)
        : m_shape(shape)
    {
    }

    schedule::LoweredKernel make() const
    {
        const ConvolutionShape& s = m_shape;
        const std::int64_t block = s.lanes;
        const std::int64_t group = block * s.vectors;
        const Stmt body = loop("h", s.height, LoopKind::Parallel, [&](Expr h) {
            // A 1x1 kernel keeps pixels outermost and streams the weights; a larger one keeps a group's weights in L2.
            return s.kernel == 1 ? tilesOfRow(h, [&](Expr w) { return groups([&](Expr g) { return tile(h, g, w); }); })
                                 : groups([&](Expr g) { return tilesOfRow(h, [&](Expr w) { return tile(h, g, w); }); });
        });
        std::vector<ir::Buffer> buffers{
            buffer("input", DType::F32, {s.channels / block, s.height, s.width, block}),
            buffer("weights", DType::F32,
                   {s.outChannels / group, s.channels / block, s.kernel, s.kernel, block, group}),
            buffer("output", DType::F32, {s.outChannels / block, s.height, s.width, block}),
            buffer("tile", DType::F32, {s.pixels, s.vectors, block}, Scope::Register)};
        buffers[kWeights].constant = true;
        return kernelOf("convolution", std::move(buffers), {body});
    }

private:
    using Body = std::function<Stmt(Expr)>;
    ConvolutionShape m_shape;

    Stmt groups(const Body& body) const
    {
        return loop("g", m_shape.outChannels / (m_shape.lanes * m_shape.vectors), LoopKind::Serial, body);
    }

    /// First tile, inner tiles, last tile: the guards of each are decided while the code is emitted.
    Stmt tilesOfRow(const Expr&, const Body& body) const
    {
        const int tiles = m_shape.width / m_shape.pixels;
        const auto piece = [&](int from, int count) {
            return loop("w", Expr(from), Expr(count), LoopKind::Serial, body);
        };
        if (m_shape.kernel == 1 || tiles < 3)
            return loop("w", tiles, m_shape.kernel == 1 ? LoopKind::Serial : LoopKind::Unrolled, body);
        return ir::makeBlock({piece(0, 1), piece(1, tiles - 2), piece(tiles - 1, 1)});
    }

    Stmt eachOfTile(const std::function<Stmt(Expr, Expr, Expr)>& body) const
    {
        return loop("p", m_shape.pixels, LoopKind::Unrolled, [&](Expr p) {
            return loop("v", m_shape.vectors, LoopKind::Unrolled, [&](Expr v) {
                return loop("l", m_shape.lanes, LoopKind::Vectorized, [&](Expr l) { return body(p, v, l); });
            });
        });
    }

    Stmt tile(const Expr& h, const Expr& g, const Expr& w) const
    {
        const ConvolutionShape& s = m_shape;
        const int pad = (s.kernel - 1) / 2;
        const auto acc = [](const Expr& p, const Expr& v, const Expr& l) {
            return ir::load(kTile, DType::F32, {p, v, l});
        };
        const auto steps = [&](const Expr& cb, const Expr& kh, const Expr& kw) {
            Stmt inner = loop("c", s.lanes, LoopKind::Serial, [&](Expr c) {
                return eachOfTile([&](Expr p, Expr v, Expr l) {
                    const Expr column = w * Expr(s.pixels) + p + kw - Expr(pad);
                    const Stmt add = ir::makeStore(
                        kTile, {p, v, l},
                        acc(p, v, l)
                            + ir::load(kInput, DType::F32, {cb, h + kh - Expr(pad), column, c})
                                  * ir::load(kWeights, DType::F32, {g, cb, kh, kw, c, v * Expr(s.lanes) + l}));
                    return pad == 0 ? add : ir::makeIf(Expr(0) <= column && column < Expr(s.width), add);
                });
            });
            auto hinted = std::make_shared<ir::StmtNode>(*inner);
            hinted->unrollHint = s.channelUnroll;
            if (s.channelUnroll >= s.lanes)
                hinted->loop = LoopKind::Unrolled;
            return Stmt(hinted);
        };
        const Stmt reduce = loop("cb", s.channels / s.lanes, LoopKind::Serial, [&](Expr cb) {
            return loop("kh", s.kernel, LoopKind::Serial, [&](Expr kh) {
                const Stmt ahead = loop("p", s.pixels, LoopKind::Unrolled, [&](Expr p) {
                    return ir::makePrefetch(kInput, {cb, h, (w + Expr(1)) * Expr(s.pixels) + p, Expr(0)});
                });
                const Stmt taps = loop("kw", s.kernel, LoopKind::Unrolled, [&](Expr kw) { return steps(cb, kh, kw); });
                const Expr row = h + kh - Expr(pad);
                if (s.prefetchInput && pad == 0)
                    return ir::makeBlock({ahead, taps});
                return pad == 0 ? taps : ir::makeIf(Expr(0) <= row && row < Expr(s.height), taps);
            });
        });
        return ir::makeBlock({eachOfTile([&](Expr p, Expr v, Expr l) {
                                  return ir::makeStore(kTile, {p, v, l}, ir::floatImm(0));
                              }),
                              reduce, eachOfTile([&](Expr p, Expr v, Expr l) {
                                  return ir::makeStore(kOutput, {g * Expr(s.vectors) + v, h, w * Expr(s.pixels) + p, l},
                                                       ir::max(acc(p, v, l), ir::floatImm(0)));
                              })});
    }
};

} // namespace

schedule::LoweredKernel convolution(const ConvolutionShape& shape)
{
    return ConvolutionNest(shape).make();
}

schedule::LoweredKernel peakLoop(int chains, int lanes, int steps)
{
    enum : std::int32_t
    {
        x,
        y,
        factor,
        sums
    };
    const auto each = [&](const std::function<Stmt(Expr, Expr)>& body) {
        return loop("c", chains, LoopKind::Unrolled,
                    [&](Expr c) { return loop("l", lanes, LoopKind::Vectorized, [&](Expr l) { return body(c, l); }); });
    };
    const Stmt body = loop("part", 1, LoopKind::Serial, [&](Expr) {
        return ir::makeBlock(
            {loop("l", lanes, LoopKind::Vectorized,
                  [&](Expr l) { return ir::makeStore(factor, {l}, ir::load(x, DType::F32, {l})); }),
             each([&](Expr c, Expr l) {
                 return ir::makeStore(sums, {c, l}, ir::load(y, DType::F32, {c, l}));
             }),
             loop("s", steps, LoopKind::Serial,
                  [&](Expr) {
                      return each([&](Expr c, Expr l) {
                          const Expr f = ir::load(factor, DType::F32, {l});
                          return ir::makeStore(sums, {c, l}, ir::load(sums, DType::F32, {c, l}) * f + f);
                      });
                  }),
             each([&](Expr c, Expr l) {
                 return ir::makeStore(y, {c, l}, ir::load(sums, DType::F32, {c, l}));
             })});
    });
    return kernelOf("peak",
                    {buffer("x", DType::F32, {lanes}), buffer("y", DType::F32, {chains, lanes}),
                     buffer("factor", DType::F32, {lanes}, Scope::Register),
                     buffer("sums", DType::F32, {chains, lanes}, Scope::Register)},
                    {body});
}

} // namespace lathe::test
