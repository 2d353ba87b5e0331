#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numeric>

namespace tst_operators_evaluate {

using namespace lathe;
using namespace lathe::graph;

namespace {

using Ints = std::vector<std::int64_t>;

HostTensor tensor(DType dtype, Ints shape, const std::vector<double>& values)
{
    HostTensor result = HostTensor::zeros({dtype, std::move(shape)});
    operators::writeFloats(result, values);
    return result;
}

HostTensor f32(Ints shape, const std::vector<double>& values)
{
    return tensor(DType::F32, std::move(shape), values);
}

/// 0, 1, 2 ...
HostTensor counting(Ints shape)
{
    HostTensor result = HostTensor::zeros({DType::F32, std::move(shape)});
    std::iota(result.as<float>().begin(), result.as<float>().end(), 0.0F);
    return result;
}

Result<std::vector<HostTensor>> evaluate(std::string op, Attrs attrs, const std::vector<HostTensor>& inputs,
                                         std::size_t outputs = 1)
{
    Node node;
    node.name = "n";
    node.op = std::move(op);
    node.attrs = std::move(attrs);
    node.outputs.resize(outputs);
    std::vector<const HostTensor*> pointers;
    for (const HostTensor& input : inputs)
        pointers.push_back(&input);
    return evaluateNode(node, pointers);
}

std::vector<double> values(std::string op, Attrs attrs, const std::vector<HostTensor>& inputs, std::size_t output = 0,
                           std::size_t outputs = 1)
{
    const auto result = evaluate(std::move(op), std::move(attrs), inputs, outputs);
    return result ? operators::readFloats((*result)[output]) : std::vector<double>();
}

/// The definition, index by index: what the fast order of evaluation must equal.
std::vector<double> slowConv(const HostTensor& data, const HostTensor& weight, Ints strides, Ints padding,
                             Ints dilations, std::int64_t groups)
{
    const Ints d = data.type.shape, k = weight.type.shape;
    const std::int64_t oh = (d[2] + padding[0] + padding[2] - (k[2] - 1) * dilations[0] - 1) / strides[0] + 1;
    const std::int64_t ow = (d[3] + padding[1] + padding[3] - (k[3] - 1) * dilations[1] - 1) / strides[1] + 1;
    std::vector<double> out;
    for (std::int64_t n = 0; n < d[0]; ++n)
        for (std::int64_t o = 0; o < k[0]; ++o)
            for (std::int64_t y = 0; y < oh; ++y)
                for (std::int64_t x = 0; x < ow; ++x) {
                    double sum = 0;
                    for (std::int64_t c = 0; c < k[1]; ++c)
                        for (std::int64_t i = 0; i < k[2]; ++i)
                            for (std::int64_t j = 0; j < k[3]; ++j) {
                                const std::int64_t iy = y * strides[0] - padding[0] + i * dilations[0],
                                                   ix = x * strides[1] - padding[1] + j * dilations[1];
                                const std::int64_t ic = o / (k[0] / groups) * k[1] + c;
                                if (iy >= 0 && iy < d[2] && ix >= 0 && ix < d[3])
                                    sum += double(data.as<float>()[((n * d[1] + ic) * d[2] + iy) * d[3] + ix])
                                           * double(weight.as<float>()[((o * k[1] + c) * k[2] + i) * k[3] + j]);
                            }
                    out.push_back(sum);
                }
    return out;
}

HostTensor noise(Ints shape, std::uint32_t seed)
{
    HostTensor result = HostTensor::zeros({DType::F32, std::move(shape)});
    for (float& value : result.as<float>()) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(seed >> 16) / 65536.0F - 0.5F;
    }
    return result;
}

double largestDifference(const std::vector<double>& a, const std::vector<double>& b)
{
    double difference = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < b.size() && i < a.size(); ++i)
        difference = std::max(difference, std::fabs(a[i] - b[i]));
    return difference;
}

} // namespace

/// The reference executor on cases that can be checked by hand; ONNX Runtime's answers stand in tst_onnx_goldens.
class TestOperatorsEvaluate : public QObject
{
    Q_OBJECT

private slots:
    void convolutionEqualsItsDefinition_data()
    {
        QTest::addColumn<QList<qint64>>("p"); // strides, padding, dilations, groups, kernel height and width
        QTest::newRow("plain") << QList<qint64>{1, 1, 0, 0, 0, 0, 1, 1, 1, 3, 3};
        QTest::newRow("padded stride 2") << QList<qint64>{2, 2, 1, 1, 1, 1, 1, 1, 1, 3, 3};
        QTest::newRow("1x1 stride 2") << QList<qint64>{2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 1};
        QTest::newRow("uneven all over") << QList<qint64>{3, 2, 2, 0, 1, 3, 2, 3, 2, 2, 3};
        QTest::newRow("dilation above stride") << QList<qint64>{2, 3, 3, 4, 3, 4, 3, 2, 1, 3, 3};
        QTest::newRow("depthwise") << QList<qint64>{2, 1, 1, 1, 1, 1, 1, 1, 4, 3, 3};
        QTest::newRow("stride above kernel") << QList<qint64>{4, 5, 0, 1, 1, 0, 1, 1, 2, 2, 2};
    }
    void convolutionEqualsItsDefinition()
    {
        QFETCH(QList<qint64>, p);
        const std::int64_t groups = p[8];
        const HostTensor data = noise({2, 4, 11, 9}, 1), weight = noise({8, 4 / groups, p[9], p[10]}, 2);
        const Ints strides{p[0], p[1]}, padding{p[2], p[3], p[4], p[5]}, dilations{p[6], p[7]};
        const Attrs attrs{{"strides", strides}, {"padding", padding}, {"dilations", dilations}, {"groups", groups}};
        const auto expected = slowConv(data, weight, strides, padding, dilations, groups);
        QVERIFY(largestDifference(values("conv2d", attrs, {data, weight}), expected) < 1e-5);

        // The same in NHWC with HWIO weights.
        const auto dataLast = evaluate("transpose", {{"axes", Ints{0, 2, 3, 1}}}, {data});
        const auto weightLast = evaluate("transpose", {{"axes", Ints{2, 3, 1, 0}}}, {weight});
        Attrs last = attrs;
        last["layout"] = std::string("NHWC");
        const auto out = evaluate("conv2d", last, {(*dataLast)[0], (*weightLast)[0]});
        QVERIFY(out);
        QVERIFY(largestDifference(values("transpose", {{"axes", Ints{0, 3, 1, 2}}}, {(*out)[0]}), expected) < 1e-5);
    }

    /// A volume's convolution is the sum of those of its slices, one for each slice of the kernel.
    void convolutionOfAVolumeIsASumOverSlices()
    {
        const HostTensor data = noise({1, 3, 5, 6, 7}, 3), weight = noise({4, 3, 2, 3, 3}, 4);
        const std::int64_t stride = 2, dilation = 2, before = 1; // in depth
        const Attrs attrs{{"strides", Ints{stride, 1, 2}},
                          {"padding", Ints{before, 1, 0, 0, 1, 1}},
                          {"dilations", Ints{dilation, 1, 1}}};
        const Attrs image{{"strides", Ints{1, 2}}, {"padding", Ints{1, 0, 1, 1}}};
        const auto slice = [](const HostTensor& x, std::int64_t at) {
            const auto cut = evaluate(
                "strided_slice", {{"begin", Ints{at}}, {"end", Ints{at + 1}}, {"axes", Ints{2}}, {"strides", Ints{1}}},
                {x});
            return (*evaluate("squeeze", {{"axes", Ints{2}}}, {(*cut)[0]}))[0];
        };
        const std::vector<double> got = values("conv3d", attrs, {data, weight});
        const std::int64_t outDepth = (5 + before - dilation - 1) / stride + 1, plane = 6 * 3;
        QCOMPARE(static_cast<std::int64_t>(got.size()), 4 * outDepth * plane);
        for (std::int64_t z = 0; z < outDepth; ++z) {
            std::vector<double> expected(static_cast<std::size_t>(4 * plane));
            for (std::int64_t k = 0; k < 2; ++k) {
                const std::int64_t at = z * stride - before + k * dilation;
                if (at < 0 || at >= 5)
                    continue;
                const std::vector<double> part = values("conv2d", image, {slice(data, at), slice(weight, k)});
                for (std::size_t i = 0; i < expected.size(); ++i)
                    expected[i] += part.at(i);
            }
            std::vector<double> ours;
            for (std::int64_t o = 0; o < 4; ++o) {
                const auto first = got.begin() + (o * outDepth + z) * plane;
                ours.insert(ours.end(), first, first + plane);
            }
            QVERIFY(largestDifference(ours, expected) < 1e-5);
        }
    }

    void infinityInDataStaysWhereItIsRead()
    {
        HostTensor data = f32({1, 1, 1, 4}, {1, INFINITY, 2, 3});
        const auto out = values("conv2d", {}, {data, f32({1, 1, 1, 1}, {2})});
        QCOMPARE(out, (std::vector<double>{2, INFINITY, 4, 6}));
    }

    void transposedConvolutionScatters()
    {
        const auto out = values("conv2d_transpose", {{"strides", Ints{2, 2}}},
                                {f32({1, 1, 1, 2}, {1, 10}), f32({1, 1, 2, 2}, {1, 2, 3, 4})});
        QCOMPARE(out, (std::vector<double>{1, 2, 10, 20, 3, 4, 30, 40}));
    }

    void poolsIgnorePadding()
    {
        const HostTensor data = f32({1, 1, 2, 2}, {-1, -2, -3, -4});
        const Attrs attrs{{"pool_size", Ints{2, 2}}, {"padding", Ints{1, 1, 0, 0}}};
        QCOMPARE(values("max_pool2d", attrs, {data}), (std::vector<double>{-1, -1, -1, -1}));
        QCOMPARE(values("avg_pool2d", attrs, {data}), (std::vector<double>{-1, -1.5, -2, -2.5}));
        Attrs counted = attrs;
        counted["count_include_pad"] = std::int64_t{1};
        QCOMPARE(values("avg_pool2d", counted, {data}), (std::vector<double>{-0.25, -0.75, -1, -2.5}));
        QCOMPARE(values("global_avg_pool2d", {}, {data}), (std::vector<double>{-2.5}));
        QCOMPARE(values("global_max_pool2d", {}, {data}), (std::vector<double>{-1}));
        const HostTensor volume = f32({1, 1, 2, 1, 3}, {1, 5, 2, 4, 3, 6});
        QCOMPARE(values("max_pool3d", {{"pool_size", Ints{2, 1, 2}}}, {volume}), (std::vector<double>{5, 6}));
        QCOMPARE(values("avg_pool3d", {{"pool_size", Ints{2, 1, 2}}, {"padding", Ints{0, 0, 0, 0, 0, 1}}}, {volume}),
                 (std::vector<double>{3.25, 4, 4}));
        QCOMPARE(values("global_avg_pool3d", {}, {volume}), (std::vector<double>{3.5}));
    }

    void productsTransposeAndBroadcast()
    {
        const HostTensor a = counting({2, 3}), b = counting({2, 3});
        QCOMPARE(values("dense", {}, {a, b}), (std::vector<double>{5, 14, 14, 50}));
        QCOMPARE(values("matmul", {{"transpose_a", std::int64_t{1}}}, {a, b}),
                 (std::vector<double>{9, 12, 15, 12, 17, 22, 15, 22, 29}));
        const HostTensor stack = counting({2, 2, 3});
        QCOMPARE(values("batch_matmul", {}, {stack, stack}), (std::vector<double>{5, 14, 14, 50, 149, 212, 212, 302}));
        QCOMPARE(values("matmul", {{"transpose_b", std::int64_t{1}}}, {stack, b}),
                 (std::vector<double>{5, 14, 14, 50, 23, 86, 32, 122}));
    }

    void normalisationsFollowTheirAxis()
    {
        QCOMPARE(values("bias_add", {}, {counting({1, 2, 2}), f32({2}, {10, 20})}),
                 (std::vector<double>{10, 11, 22, 23}));
        QCOMPARE(values("bias_add", {{"axis", std::int64_t{2}}}, {counting({1, 2, 2}), f32({2}, {10, 20})}),
                 (std::vector<double>{10, 21, 12, 23}));
        const std::vector<HostTensor> norm{f32({1, 2}, {3, 5}), f32({2}, {2, 2}), f32({2}, {1, 1}), f32({2}, {1, 1}),
                                           f32({2}, {3, 15})};
        QCOMPARE(values("batch_norm", {{"epsilon", 1.0}}, norm), (std::vector<double>{3, 3}));
        QCOMPARE(
            values("batch_norm", {{"epsilon", 1.0}, {"scale", std::int64_t{0}}, {"center", std::int64_t{0}}}, norm),
            (std::vector<double>{1, 1}));
        const auto soft = values("softmax", {{"axis", std::int64_t{0}}}, {f32({2, 1}, {1000, 1000})});
        QCOMPARE(soft, (std::vector<double>{0.5, 0.5}));
    }

    void integersWrapAndDivideTowardsZero()
    {
        const HostTensor a = tensor(DType::I8, {3}, {-7, 100, 7}), b = tensor(DType::I8, {3}, {2, 100, -2});
        QCOMPARE(values("add", {}, {a, b}), (std::vector<double>{-5, -56, 5}));
        QCOMPARE(values("divide", {}, {a, b}), (std::vector<double>{-3, 1, -3}));
        QCOMPARE(values("mod", {}, {a, b}), (std::vector<double>{1, 0, -1}));
        const auto bad = evaluate("divide", {}, {a, tensor(DType::I8, {1}, {0})});
        QVERIFY(!bad && bad.error().code == Errc::InvalidArgument);
        HostTensor lowest = HostTensor::zeros({DType::I64, {1}}), minusOne = HostTensor::zeros({DType::I64, {1}});
        lowest.as<std::int64_t>()[0] = INT64_MIN;
        minusOne.as<std::int64_t>()[0] = -1;
        QVERIFY(evaluate("divide", {}, {lowest, minusOne}));
        QVERIFY(evaluate("mod", {}, {lowest, minusOne}));
        QVERIFY(evaluate("abs", {}, {lowest}));
    }

    void castsSaturateAndTruncate()
    {
        const HostTensor x = f32({4}, {-1.7, 300, NAN, 1e30});
        QCOMPARE(values("cast", {{"dtype", std::string("int8")}}, {x}), (std::vector<double>{-1, 127, 0, 127}));
        QCOMPARE(values("cast", {{"dtype", std::string("bool")}}, {f32({3}, {0, 0.25, -2})}),
                 (std::vector<double>{0, 1, 1}));
    }

    void halvesRoundToNearestEven()
    {
        for (const auto& [value, bits] :
             {std::pair{1.0F, 0x3c00}, std::pair{65504.0F, 0x7bff}, std::pair{65520.0F, 0x7c00},
              std::pair{5.9604645e-8F, 0x0001}, std::pair{2.9802322e-8F, 0x0000}, std::pair{6.1035156e-5F, 0x0400},
              std::pair{-2.0F, 0xc000}, std::pair{1.0F + 1.0F / 2048, 0x3c00}, std::pair{1.0F + 3.0F / 2048, 0x3c02}})
            QCOMPARE(static_cast<int>(operators::floatToHalf(value)), bits);
        for (int bits = 0; bits < 0x7c00; ++bits)
            QCOMPARE(static_cast<int>(operators::floatToHalf(operators::halfToFloat(static_cast<std::uint16_t>(bits)))),
                     bits);
        QCOMPARE(operators::bfloatToFloat(operators::floatToBfloat(1.0F)), 1.0F);
    }

    void partsAreCutAndJoined()
    {
        const HostTensor x = counting({2, 3});
        QCOMPARE(values("concatenate", {{"axis", std::int64_t{1}}}, {x, f32({2, 1}, {8, 9})}),
                 (std::vector<double>{0, 1, 2, 8, 3, 4, 5, 9}));
        QCOMPARE(values("split", {{"axis", std::int64_t{1}}, {"indices", Ints{1}}}, {x}, 1, 2),
                 (std::vector<double>{1, 2, 4, 5}));
        QCOMPARE(values("strided_slice",
                        {{"begin", Ints{2}}, {"end", Ints{-9}}, {"strides", Ints{-2}}, {"axes", Ints{1}}}, {x}),
                 (std::vector<double>{2, 0, 5, 3}));
        QCOMPARE(values("take", {{"axis", std::int64_t{1}}}, {x, tensor(DType::I64, {2}, {-1, 0})}),
                 (std::vector<double>{2, 0, 5, 3}));
        const auto outside = evaluate("take", {}, {x, tensor(DType::I64, {1}, {2})});
        QVERIFY(!outside && outside.error().code == Errc::InvalidArgument);
        QCOMPARE(values("pad", {{"pad_width", Ints{0, 0, 1, 1}}, {"value", 7.0}}, {x}),
                 (std::vector<double>{7, 0, 1, 2, 7, 7, 3, 4, 5, 7}));
        QCOMPARE(values("pad", {{"pad_width", Ints{0, 0, 2, 1}}, {"mode", std::string("reflect")}}, {x}),
                 (std::vector<double>{2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4}));
        QCOMPARE(values("transpose", {}, {x}), (std::vector<double>{0, 3, 1, 4, 2, 5}));
        QCOMPARE(values("broadcast_to", {{"shape", Ints{2, 2}}}, {f32({2, 1}, {1, 2})}),
                 (std::vector<double>{1, 1, 2, 2}));
        QCOMPARE(values("where", {}, {tensor(DType::Bool, {2, 1}, {1, 0}), f32({1}, {5}), counting({2, 2})}),
                 (std::vector<double>{5, 5, 2, 3}));
    }

    void reductionsMeetAlongTheirAxes()
    {
        const HostTensor x = counting({2, 3});
        QCOMPARE(values("sum", {{"axes", Ints{0}}}, {x}), (std::vector<double>{3, 5, 7}));
        QCOMPARE(values("mean", {{"axes", Ints{-1}}}, {x}), (std::vector<double>{1, 4}));
        QCOMPARE(values("prod", {}, {x}), (std::vector<double>{0}));
        QCOMPARE(values("max", {{"axes", Ints{1}}}, {f32({1, 2}, {-3, -5})}), (std::vector<double>{-3}));
        QCOMPARE(values("min", {{"axes", Ints{1}}}, {f32({1, 2}, {-3, -5})}), (std::vector<double>{-5}));
        QCOMPARE(values("argmax", {{"axes", Ints{1}}}, {f32({2, 3}, {1, 5, 5, 9, 2, 3})}), (std::vector<double>{1, 0}));
        QCOMPARE(values("argmin", {{"axes", Ints{0}}}, {f32({2, 3}, {1, 5, 5, 9, 2, 3})}),
                 (std::vector<double>{0, 1, 1}));
    }

    void notANumberIsPassedOn()
    {
        QVERIFY(std::isnan(values("maximum", {}, {f32({1}, {NAN}), f32({1}, {1})})[0]));
        QVERIFY(std::isnan(values("minimum", {}, {f32({1}, {1}), f32({1}, {NAN})})[0]));
        QVERIFY(std::isnan(values("relu", {}, {f32({1}, {NAN})})[0]));
        QVERIFY(std::isnan(values("max", {}, {f32({3}, {1, NAN, 2})})[0]));
        QVERIFY(std::isnan(values("max_pool2d", {{"pool_size", Ints{1, 3}}}, {f32({1, 1, 1, 3}, {1, NAN, 2})})[0]));
    }

    void wholeGraphsRunAndCheckTheirInputs()
    {
        Graph g;
        const ValueId x = g.addValue("x", DType::F32, {2});
        const float two = 2;
        const ValueId c = g.addConstant("c", DType::F32, {1}, makeConst(&two, sizeof(two)));
        const ValueId t = g.addValue("t", DType::F32, {2}), y = g.addValue("y", DType::F32, {2});
        g.addNode({"m", "multiply", {}, {x, c}, {t}, {}});
        g.addNode({"n", "add", {}, {t, x}, {y}, {}});
        g.inputs = {x};
        g.outputs = {y, y, x};
        auto typed = inferTypes(g);
        QVERIFY(typed);
        const auto out = interpret(*typed, {f32({2}, {1, -3})});
        QVERIFY(out);
        QCOMPARE(operators::readFloats((*out)[1]), (std::vector<double>{3, -9}));
        QCOMPARE(operators::readFloats((*out)[2]), (std::vector<double>{1, -3}));
        for (const auto& inputs : {std::vector<HostTensor>{}, std::vector{f32({3}, {1, 2, 3})},
                                   std::vector{tensor(DType::F64, {2}, {1, 2})}}) {
            const auto bad = interpret(*typed, inputs);
            QVERIFY(!bad && bad.error().code == Errc::InvalidArgument);
        }
    }
};

LATHE_TEST(TestOperatorsEvaluate)

} // namespace tst_operators_evaluate

#include "tst_operators_evaluate.moc"
