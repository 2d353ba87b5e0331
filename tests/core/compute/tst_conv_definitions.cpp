#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/conv_transpose.h"
#include "core/compute/definitions/spatial.h"
#include "core/compute/definitions/winograd.h"
#include "tests/core/compute/dag_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_conv_definitions {

using namespace lathe;
using namespace lathe::compute;
using namespace lathe::test;

namespace {

using Shape = std::vector<std::int64_t>;

std::size_t sizeOfShape(const Shape& shape)
{
    std::int64_t n = 1;
    for (const std::int64_t d : shape)
        n *= d;
    return static_cast<std::size_t>(n);
}

struct Case
{
    Shape data{2, 6, 9, 8}; ///< NCHW
    std::int64_t outChannels = 4;
    std::array<std::int64_t, 2> kernel{3, 3};
    Conv2dParams p;
};

/// NCHW and OIHW to the layouts of NHWC convolutions, element by element.
Floats permuted(const Floats& x, const Shape& shape, const std::array<std::size_t, 4>& order)
{
    Floats out;
    std::array<std::int64_t, 4> i{};
    const auto extent = [&](std::size_t d) { return shape[order[d]]; };
    std::array<std::int64_t, 4> at{};
    for (i[0] = 0; i[0] < extent(0); ++i[0])
        for (i[1] = 0; i[1] < extent(1); ++i[1])
            for (i[2] = 0; i[2] < extent(2); ++i[2])
                for (i[3] = 0; i[3] < extent(3); ++i[3]) {
                    for (std::size_t d = 0; d < 4; ++d)
                        at[order[d]] = i[d];
                    out.push_back(x[static_cast<std::size_t>(((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * shape[3]
                                                             + at[3])]);
                }
    return out;
}

/// Seven loops, nothing shared with the definitions. NCHW x OIHW.
Floats plainConv(const Floats& x, const Floats& w, const Case& c)
{
    const auto& [batch, channels, height, width] = std::array{c.data[0], c.data[1], c.data[2], c.data[3]};
    const std::int64_t groupIn = channels / c.p.groups, groupOut = c.outChannels / c.p.groups;
    const std::int64_t oh = convExtent(height, c.kernel[0], c.p.strides[0], c.p.padding[0], c.p.padding[2],
                                       c.p.dilation[0]);
    const std::int64_t ow = convExtent(width, c.kernel[1], c.p.strides[1], c.p.padding[1], c.p.padding[3],
                                       c.p.dilation[1]);
    Floats out;
    for (std::int64_t n = 0; n < batch; ++n)
        for (std::int64_t o = 0; o < c.outChannels; ++o)
            for (std::int64_t y = 0; y < oh; ++y)
                for (std::int64_t xx = 0; xx < ow; ++xx) {
                    double sum = 0;
                    for (std::int64_t i = 0; i < groupIn; ++i)
                        for (std::int64_t ky = 0; ky < c.kernel[0]; ++ky)
                            for (std::int64_t kx = 0; kx < c.kernel[1]; ++kx) {
                                const std::int64_t iy = y * c.p.strides[0] - c.p.padding[0] + ky * c.p.dilation[0];
                                const std::int64_t ix = xx * c.p.strides[1] - c.p.padding[1] + kx * c.p.dilation[1];
                                if (iy < 0 || iy >= height || ix < 0 || ix >= width)
                                    continue;
                                const std::int64_t ci = o / groupOut * groupIn + i;
                                sum +=
                                    static_cast<double>(
                                        x[static_cast<std::size_t>(((n * channels + ci) * height + iy) * width + ix)])
                                    * static_cast<double>(w[static_cast<std::size_t>(
                                        ((o * groupIn + i) * c.kernel[0] + ky) * c.kernel[1] + kx)]);
                            }
                    out.push_back(static_cast<float>(sum));
                }
    return out;
}

bool close(const Floats& a, const Floats& b, float tolerance)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::fabs(a[i] - b[i]) <= tolerance))
            return false;
    return true;
}

Shape nhwcShape(const Shape& s)
{
    return {s[0], s[2], s[3], s[1]};
}

constexpr std::array<std::size_t, 4> kToNhwc{0, 2, 3, 1};
constexpr std::array<std::size_t, 4> kToHwio{2, 3, 1, 0};

Floats winogradOutput(const Floats& x, const Floats& w, const Case& c, std::int64_t m, ImageLayout layout)
{
    const bool nchw = layout == ImageLayout::Nchw;
    const Shape oihw{c.outChannels, c.data[1], 3, 3};
    const Shape weightShape = nchw ? oihw : Shape{3, 3, c.data[1], c.outChannels};
    const auto recipe = winogradWeightRecipe(weightShape, DType::F32, m, layout);
    if (!recipe)
        return {};
    const Floats transformed = runFloats(*recipe, {nchw ? w : permuted(w, oihw, kToHwio)});
    Conv2dParams p = c.p;
    p.layout = layout;
    return evaluate({nchw ? c.data : nhwcShape(c.data), {m + 2, m + 2, c.outChannels, c.data[1]}},
                    {nchw ? x : permuted(x, c.data, kToNhwc), transformed},
                    [&](DagBuilder& b, const auto& t) { return conv2dWinograd(b, t[0], t[1], m, p, NameEra::Nested); });
}

} // namespace

class TestConvDefinitions : public QObject
{
    Q_OBJECT

private slots:
    void convolutionsEqualSevenLoops_data()
    {
        QTest::addColumn<int>("index");
        QTest::newRow("plain") << 0;
        QTest::newRow("stride 2, padding 1") << 1;
        QTest::newRow("four paddings, two strides") << 2;
        QTest::newRow("dilation") << 3;
        QTest::newRow("groups") << 4;
        QTest::newRow("1x1") << 5;
    }

    void convolutionsEqualSevenLoops()
    {
        QFETCH(int, index);
        Case c;
        if (index == 1) {
            c.p.strides = {2, 2};
            c.p.padding = {1, 1, 1, 1};
        } else if (index == 2) {
            c.p.strides = {1, 3};
            c.p.padding = {0, 2, 1, 3};
        } else if (index == 3) {
            c.p.dilation = {2, 3};
            c.p.padding = {1, 1, 1, 1};
        } else if (index == 4) {
            c.p.groups = 2;
        } else if (index == 5) {
            c.kernel = {1, 1};
        }
        const Shape oihw{c.outChannels, c.data[1] / c.p.groups, c.kernel[0], c.kernel[1]};
        const Floats x = randomFloats(sizeOfShape(c.data), 1), w = randomFloats(sizeOfShape(oihw), 2);
        const Floats expected = plainConv(x, w, c);
        QVERIFY(
            close(evaluate({c.data, oihw}, {x, w},
                           [&](DagBuilder& b, const auto& t) { return conv2d(b, t[0], t[1], c.p, NameEra::Nested); }),
                  expected, 1e-5F));

        Conv2dParams p = c.p;
        p.layout = ImageLayout::Nhwc;
        const Shape hwio{oihw[2], oihw[3], oihw[1], oihw[0]};
        const Floats nhwc = evaluate(
            {nhwcShape(c.data), hwio}, {permuted(x, c.data, kToNhwc), permuted(w, oihw, kToHwio)},
            [&](DagBuilder& b, const auto& t) { return conv2d(b, t[0], t[1], p, NameEra::Flat); });
        const std::int64_t oh = convExtent(c.data[2], c.kernel[0], p.strides[0], p.padding[0], p.padding[2],
                                           p.dilation[0]);
        const std::int64_t ow = convExtent(c.data[3], c.kernel[1], p.strides[1], p.padding[1], p.padding[3],
                                           p.dilation[1]);
        QVERIFY(close(nhwc, permuted(expected, {c.data[0], c.outChannels, oh, ow}, kToNhwc), 1e-5F));
    }

    void depthwiseIsAConvolutionOfOneChannelPerGroup()
    {
        Case c;
        c.outChannels = 12; // two for each channel
        c.p.groups = 6;
        c.p.strides = {2, 1};
        c.p.padding = {1, 1, 1, 1};
        const Floats x = randomFloats(sizeOfShape(c.data), 3), w = randomFloats(12 * 9, 4);
        const Floats expected = plainConv(x, w, c);
        QVERIFY(close(evaluate({c.data, {6, 2, 3, 3}}, {x, w},
                               [&](DagBuilder& b, const auto& t) {
                                   return depthwiseConv2d(b, t[0], t[1], c.p, NameEra::Nested);
                               }),
                      expected, 1e-5F));
        Conv2dParams p = c.p;
        p.layout = ImageLayout::Nhwc;
        const Floats hwoi = permuted(w, {6, 2, 3, 3}, {2, 3, 0, 1});
        const Floats nhwc = evaluate(
            {nhwcShape(c.data), {3, 3, 6, 2}}, {permuted(x, c.data, kToNhwc), hwoi},
            [&](DagBuilder& b, const auto& t) { return depthwiseConv2d(b, t[0], t[1], p, NameEra::Nested); });
        QVERIFY(close(nhwc, permuted(expected, {2, 12, 5, 8}, kToNhwc), 1e-5F));
    }

    void integersAccumulateInTheAskedType()
    {
        DagBuilder b;
        Conv2dParams p;
        p.outType = DType::I32;
        const Tensor x = b.placeholder("x", {1, 2, 1, 1}, DType::I8);
        const Tensor w = b.placeholder("w", {1, 2, 1, 1}, DType::I8);
        const DagPtr dag = finish(std::move(b), conv2d(b, x, w, p, NameEra::Nested));
        const std::vector<std::int8_t> xs{100, -100}, ws{127, -128};
        QCOMPARE(runAs<std::int32_t>(dag, {std::as_bytes(std::span(xs)), std::as_bytes(std::span(ws))}),
                 (std::vector<std::int32_t>{25500}));
    }

    void winogradEqualsTheDirectConvolution_data()
    {
        QTest::addColumn<int>("m");
        QTest::addColumn<bool>("nchw");
        for (const int m : {2, 4})
            for (const bool nchw : {false, true})
                QTest::addRow("m = %d, %s", m, nchw ? "NCHW" : "NHWC") << m << nchw;
    }

    void winogradEqualsTheDirectConvolution()
    {
        QFETCH(int, m);
        QFETCH(bool, nchw);
        for (const std::array<std::int64_t, 4> padding :
             {std::array<std::int64_t, 4>{1, 1, 1, 1}, {0, 0, 0, 0}, {2, 0, 1, 1}}) {
            Case c;
            c.p.padding = padding;
            const Floats x = randomFloats(sizeOfShape(c.data), 5), w = randomFloats(4 * 6 * 9, 6);
            const Floats expected = plainConv(x, w, c);
            const std::int64_t oh = convExtent(9, 3, 1, padding[0], padding[2], 1),
                               ow = convExtent(8, 3, 1, padding[1], padding[3], 1);
            const Floats out = winogradOutput(x, w, c, m, nchw ? ImageLayout::Nchw : ImageLayout::Nhwc);
            QVERIFY(close(out, nchw ? expected : permuted(expected, {2, 4, oh, ow}, kToNhwc), 1e-4F));
        }
    }

    void winogradRefusesWhatItCannotDo()
    {
        QVERIFY(winogradWeightRecipe({4, 4, 3, 3}, DType::F32, 3, ImageLayout::Nchw).error().code == Errc::Unsupported);
        QVERIFY(winogradWeightRecipe({4, 4, 3, 3}, DType::I8, 2, ImageLayout::Nchw).error().code == Errc::Unsupported);
        QVERIFY(winogradWeightRecipe({3, 3, 4, 4}, DType::F32, 2, ImageLayout::Nchw).error().code
                == Errc::InvalidArgument);
        Conv2dParams p;
        QVERIFY(winogradApplies(DType::F32, 3, 3, p));
        QVERIFY(!winogradApplies(DType::F32, 5, 5, p));
        QVERIFY(!winogradApplies(DType::I8, 3, 3, p));
        p.strides = {2, 2};
        QVERIFY(!winogradApplies(DType::F32, 3, 3, p));
    }

    void transposedConvolutionScattersEachInput()
    {
        for (const int which : {0, 1, 2}) {
            ConvTransposeParams<2> p;
            p.groups = which == 1 ? 2 : 1;
            p.strides = which == 2 ? std::array<std::int64_t, 2>{1, 1} : std::array<std::int64_t, 2>{2, 3};
            p.padding = {1, 0, 1, 1};
            p.outputPadding = which == 0 ? std::array<std::int64_t, 2>{1, 0} : std::array<std::int64_t, 2>{0, 0};
            p.dilation = which == 2 ? std::array<std::int64_t, 2>{2, 1} : std::array<std::int64_t, 2>{1, 1};
            const Shape data{1, 4, 3, 4}, weight{4, 6 / p.groups, 3, 2};
            const Floats x = randomFloats(sizeOfShape(data), 7), w = randomFloats(sizeOfShape(weight), 8);
            const std::int64_t oh = 2 * p.strides[0] - 2 + p.dilation[0] * 2 + 1 + p.outputPadding[0];
            const std::int64_t ow = 3 * p.strides[1] - 1 + p.dilation[1] + 1 + p.outputPadding[1];
            Floats expected(static_cast<std::size_t>(6 * oh * ow), 0.0F);
            for (std::int64_t ci = 0; ci < 4; ++ci)
                for (std::int64_t co = 0; co < weight[1]; ++co)
                    for (std::int64_t y = 0; y < 3; ++y)
                        for (std::int64_t xx = 0; xx < 4; ++xx)
                            for (std::int64_t ky = 0; ky < 3; ++ky)
                                for (std::int64_t kx = 0; kx < 2; ++kx) {
                                    const std::int64_t oy = y * p.strides[0] + ky * p.dilation[0] - p.padding[0];
                                    const std::int64_t ox = xx * p.strides[1] + kx * p.dilation[1] - p.padding[1];
                                    const std::int64_t channel = ci / (4 / p.groups) * weight[1] + co;
                                    if (oy >= 0 && oy < oh && ox >= 0 && ox < ow)
                                        expected[static_cast<std::size_t>((channel * oh + oy) * ow + ox)] +=
                                            x[static_cast<std::size_t>((ci * 3 + y) * 4 + xx)]
                                            * w[static_cast<std::size_t>(((ci * weight[1] + co) * 3 + ky) * 2 + kx)];
                                }
            QVERIFY(close(evaluate({data, weight}, {x, w},
                                   [&](DagBuilder& b, const auto& t) { return convTranspose<2>(b, t[0], t[1], p); }),
                          expected, 1e-5F));
            ConvTransposeParams<2> n = p;
            n.layout = ImageLayout::Nhwc;
            const Floats nhwc = evaluate(
                {nhwcShape(data), {3, 2, 4, weight[1]}},
                {permuted(x, data, kToNhwc), permuted(w, weight, {2, 3, 0, 1})},
                [&](DagBuilder& b, const auto& t) { return convTranspose<2>(b, t[0], t[1], n); });
            QVERIFY(close(nhwc, permuted(expected, {1, 6, oh, ow}, kToNhwc), 1e-5F));
        }
    }
};

LATHE_TEST(TestConvDefinitions)

} // namespace tst_conv_definitions

#include "tst_conv_definitions.moc"
