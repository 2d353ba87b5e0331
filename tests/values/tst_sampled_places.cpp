#include "compiled_model.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_sampled_places {

using namespace lathe;
using namespace lathe::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Kernel and evaluator, element by element: NaN with NaN, infinities as they are.
void compareAll(const CompiledModel& model)
{
    for (const std::string& name : model.names()) {
        const graph::HostTensor &got = model.compiled(name), &want = model.evaluated(name);
        QVERIFY2(got.type == want.type, name.c_str());
        if (!isFloat(want.type.dtype)) {
            QVERIFY2(got.bytes == want.bytes, name.c_str());
            continue;
        }
        const std::vector<double> y = graph::operators::readFloats(got), r = graph::operators::readFloats(want);
        for (std::size_t i = 0; i < r.size(); ++i) {
            const bool same = y[i] == r[i] || (std::isnan(y[i]) && std::isnan(r[i]))
                              || std::abs(y[i] - r[i]) <= 2e-5 * std::max(1.0, std::abs(r[i]));
            QVERIFY2(same, qPrintable(QString("%1 at %2: %3, not %4").arg(name.c_str()).arg(i).arg(y[i]).arg(r[i])));
        }
    }
}

/// PoCL takes seconds for a kernel of this kind: on devices a few stand for all.
bool isCompilerSlow()
{
    return valuesTarget() != "cpu";
}

std::vector<float> waves(std::size_t count)
{
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 0.7)));
    return values;
}

std::string words(std::initializer_list<std::pair<const char*, const char*>> attributes)
{
    std::string text;
    for (const auto& [name, value] : attributes)
        text += wire::textAttribute(name, value);
    return text;
}

} // namespace

/// Images read at places that are computed: on borders, far beyond them, and not-a-number.
class TestSampledPlaces : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { skipWhereThereIsNoDevice(); }

    void resizedImages()
    {
        CompiledModel model;
        model.model().opset = 13;
        model.input("x", wire::Float, {1, 2, 5, 7}, waves(70));
        model.model().initializers = {wire::tensor("sizes", wire::Int64, {4}, wire::ints({1, 2, 12, 10})),
                                      wire::tensor("none", wire::Float, {0}, {})};
        for (const char* mode : {"nearest", "linear"})
            for (const char* place : {"half_pixel", "align_corners"})
                model.node("Resize", {"x", "none", "none", "sizes"}, std::string(mode) + place,
                           words({{"mode", mode}, {"coordinate_transformation_mode", place}}));
        must(model.compile());
        compareAll(model);
    }

    void gridsOfEveryKind()
    {
        const bool isBrief = isCompilerSlow();
        const std::vector<float> hostile = {-1,   1,       0,        0.5F,   -0.6F,  2.9F,   -3.3F,
                                            kNan, kInf,    -kInf,    1e30F,  -1e30F, 1e-40F, -0.2F,
                                            0.2F, 1.0001F, -1.0001F, 0.333F, 7,      -9,     0.99F};
        std::vector<float> grid, volumeGrid;
        for (const float x : hostile) {
            for (const float y : {0.1F, -1.0F, 1.7F})
                grid.insert(grid.end(), {x, y, y, x});
            for (const float y : {0.3F, -1.2F})
                volumeGrid.insert(volumeGrid.end(), {x, y, 0.4F, y, 0.1F, x});
        }
        std::vector<float> image = waves(2 * 5 * 7);
        image[3] = kInf;
        image[20] = kNan;
        CompiledModel model;
        model.model().opset = 20;
        const auto places = static_cast<std::int64_t>(grid.size() / 2),
                   far = static_cast<std::int64_t>(volumeGrid.size() / 3);
        model.input("x", wire::Float, {1, 2, 5, 7}, image);
        model.input("v", wire::Float, {1, 2, 3, 2, 4}, waves(48));
        model.input("g", wire::Float, {1, 3, places / 3, 2}, grid);
        model.input("h", wire::Float, {1, 2, 1, far / 2, 3}, volumeGrid);
        for (const char* padding : {"zeros", "border", "reflection"}) {
            for (const char* mode : {"linear", "nearest", "cubic"}) {
                for (const std::int64_t align : {0, 1}) {
                    const bool isCubic = std::string_view(mode) == "cubic";
                    const bool isFirst = std::string_view(padding) == "zeros";
                    if (isBrief && (isCubic != isFirst || align != (isFirst ? 1 : 0)))
                        continue;
                    const std::string name = std::string(padding) + mode + (align != 0 ? "1" : "0");
                    const std::string attributes = words({{"mode", mode}, {"padding_mode", padding}})
                                                   + wire::intAttribute("align_corners", align);
                    model.node("GridSample", {"x", "g"}, "image_" + name, attributes);
                    if (!isCubic && !isBrief)
                        model.node("GridSample", {"v", "h"}, "volume_" + name, attributes);
                }
            }
        }
        must(model.compile());
        QCOMPARE(model.names().size(), std::size_t{isBrief ? 5U : 30U});
        compareAll(model);
    }

    void regionsOfEveryKind()
    {
        const std::vector<float> rois = {0, 0, 6,    4,    -2,   1,    3,  9,  3,  2,  3.2F, 2.1F, 5,  4,
                                         1, 1, 0.3F, 0.7F, 5.9F, 3.1F, 90, 90, 99, 95, -30,  -40,  60, 70};
        CompiledModel model;
        model.model().opset = 16;
        model.input("x", wire::Float, {2, 3, 5, 7}, waves(210));
        model.input("r", wire::Float, {7, 4}, rois);
        model.input("i", wire::Int64, {7}, std::vector<std::int64_t>{0, 1, 1, 0, -1, 0, 1});
        for (const std::int64_t samples : {0, 1, 3}) {
            for (const char* mode : {"avg", "max"}) {
                for (const char* pixel : {"half_pixel", "output_half_pixel"}) {
                    const bool isHalf = std::string_view(pixel) == "half_pixel";
                    if (samples == 0 && std::string_view(mode) == "max")
                        continue;
                    if (isCompilerSlow() && samples != (isHalf ? 0 : 1))
                        continue;
                    model.node("RoiAlign", {"x", "r", "i"}, std::string(mode) + pixel + std::to_string(samples),
                               words({{"mode", mode}, {"coordinate_transformation_mode", pixel}})
                                   + wire::intAttribute("output_height", 2) + wire::intAttribute("output_width", 3)
                                   + wire::intAttribute("sampling_ratio", samples));
                }
            }
        }
        must(model.compile());
        compareAll(model);
    }

    void maximaOfRegions()
    {
        const std::vector<float> rois = {0, 0, 0, 6, 4, 1, -2, 1,  3,  9,  1, 3, 2, 3,    2,
                                         0, 5, 4, 1, 1, 1, 40, 40, 50, 50, 0, 2, 2, 4.5F, 2.5F};
        std::vector<float> image = waves(210);
        image[9] = kNan;
        image[30] = -kInf;
        CompiledModel model;
        model.input("x", wire::Float, {2, 3, 5, 7}, image);
        model.input("r", wire::Float, {6, 5}, rois);
        model.node("MaxRoiPool", {"x", "r"}, "y", wire::intsAttribute("pooled_shape", {2, 3}));
        must(model.compile());
        compareAll(model);
    }

    void deformedConvolutions()
    {
        std::vector<float> offsets = waves(2 * 2 * 2 * 6 * 12);
        for (std::size_t i = 0; i < offsets.size(); i += 7)
            offsets[i] *= 5;
        offsets[5] = kNan;
        offsets[11] = 1e9F;
        offsets[12] = -1;
        CompiledModel model;
        model.model().opset = 19;
        model.input("x", wire::Float, {2, 4, 4, 5}, waves(160));
        model.input("w", wire::Float, {6, 2, 3, 2}, waves(72));
        model.input("o", wire::Float, {2, 24, 3, 4}, offsets);
        model.input("b", wire::Float, {6}, waves(6));
        model.input("m", wire::Float, {2, 12, 3, 4}, waves(288));
        const std::string attributes = wire::intAttribute("group", 2) + wire::intAttribute("offset_group", 2)
                                       + wire::intsAttribute("pads", {1, 0, 1, 0});
        std::vector<float> few(offsets.begin(), offsets.begin() + 2 * 24 * 2 * 2);
        model.input("p", wire::Float, {2, 24, 2, 2}, few);
        model.node("DeformConv", {"x", "w", "p"}, "strided",
                   wire::intAttribute("group", 2) + wire::intAttribute("offset_group", 2)
                       + wire::intsAttribute("strides", {2, 2}) + wire::intsAttribute("pads", {1, 0, 0, 0}));
        std::vector<float> offsetsOfOne = offsets;
        model.input("q", wire::Float, {2, 24, 4, 4}, waves(768));
        model.input("n", wire::Float, {2, 12, 4, 4}, waves(384));
        model.node("DeformConv", {"x", "w", "q", "b", "n"}, "masked", attributes);
        must(model.compile());
        compareAll(model);
    }

    void positionsOfMaxima()
    {
        std::vector<float> image = waves(2 * 3 * 6 * 5);
        image[0] = image[1] = image[5] = 9; // ties
        image[33] = image[34] = kNan;
        for (std::size_t i = 90; i < 96; ++i)
            image[i] = -kInf;
        CompiledModel model;
        model.input("x", wire::Float, {2, 3, 6, 5}, image);
        model.input("k", wire::Int8, {1, 1, 4, 4},
                    std::vector<std::int8_t>{-128, -128, 127, 127, -128, -128, 127, 1, 0, 0, 0, 0, 5, 5, 5, 5});
        for (const std::int64_t order : {0, 1}) {
            model.model().nodes.push_back(wire::node(
                "MaxPool", {"x"}, {"y" + std::to_string(order), "i" + std::to_string(order)},
                "pool" + std::to_string(order),
                wire::intsAttribute("kernel_shape", {3, 2}) + wire::intsAttribute("strides", {2, 1})
                    + wire::intsAttribute("pads", {1, 0, 1, 1}) + wire::intAttribute("storage_order", order)));
            model.model().outputs.push_back(wire::info("i" + std::to_string(order), {}, wire::Int64));
        }
        model.model().nodes.push_back(
            wire::node("MaxPool", {"k"}, {"yk", "ik"}, "bytes", wire::intsAttribute("kernel_shape", {2, 2})));
        model.model().outputs.push_back(wire::info("ik", {}, wire::Int64));
        must(model.compile());
        compareAll(model);
        const std::vector<std::int64_t> bytes = valuesOf<std::int64_t>(model.compiled("ik"));
        QCOMPARE(bytes[0], std::int64_t{0}); // the first of equals, lowest as they are
    }
};

LATHE_TEST(TestSampledPlaces)

} // namespace tst_sampled_places

#include "tst_sampled_places.moc"
