// Operators that functions of the runtime compute: what these write must be what the reference executor's plain loops
// give, to the last bit, for any number of parts.

#include "core/graph/operators/element.h"
#include "core/runtime/functions/elements.h"
#include "core/runtime/functions/select.h"
#include "core/support/random.h"
#include "tests/support/function_run.h"
#include "tests/support/test_program.h"

#include <array>
#include <cmath>
#include <limits>

namespace tst_operators_functions {

using namespace lathe;
using graph::Attrs;
using graph::HostTensor;
using graph::Node;
using graph::TensorType;

namespace {

using Shape = std::vector<std::int64_t>;
constexpr std::array kNumbers{DType::I8,  DType::U8,  DType::I16, DType::U16,  DType::I32, DType::U32,
                              DType::I64, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

/// Few different values, so that there are ties; the ends of the type, and of floats all that is special.
HostTensor hostile(TensorType type, std::uint64_t seed)
{
    HostTensor tensor = HostTensor::zeros(std::move(type));
    const DType dtype = tensor.type.dtype;
    const auto count = tensor.bytes.size() / static_cast<std::size_t>(sizeOf(dtype));
    Random random(seed);
    if (isFloat(dtype)) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        const std::array special{0.0, -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 6e-8, 3e4};
        std::vector<double> values(count);
        for (double& value : values)
            value = random.below(4) == 0 ? special[random.below(special.size())]
                                         : static_cast<double>(random.below(40)) / 8 - 2;
        graph::operators::writeFloats(tensor, values);
    } else if (dtype == DType::Bool) {
        for (std::byte& value : tensor.bytes)
            value = static_cast<std::byte>(random.below(2));
    } else {
        const int bits = static_cast<int>(sizeOf(dtype)) * 8 - (isSigned(dtype) ? 1 : 0);
        const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits));
        const std::array special{most, most - 1, isSigned(dtype) ? -most - 1 : std::int64_t{0}, std::int64_t{1}};
        std::vector<std::int64_t> values(count);
        for (std::int64_t& value : values)
            value = random.below(3) == 0 ? special[random.below(special.size())]
                                         : static_cast<std::int64_t>(random.below(9));
        graph::operators::writeInts(tensor, values);
    }
    return tensor;
}

/// Places in [-extent, extent), more than once each.
HostTensor places(DType dtype, Shape shape, std::int64_t extent, std::uint64_t seed)
{
    HostTensor tensor = HostTensor::zeros({dtype, std::move(shape)});
    Random random(seed);
    std::vector<std::int64_t> values(tensor.bytes.size() / static_cast<std::size_t>(sizeOf(dtype)));
    for (std::int64_t& value : values)
        value = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * extent))) - extent;
    graph::operators::writeInts(tensor, values);
    return tensor;
}

Node nodeOf(std::string op, Attrs attrs, std::size_t outputs = 1)
{
    Node node;
    node.name = op;
    node.op = std::move(op);
    node.attrs = std::move(attrs);
    node.outputs.resize(outputs);
    return node;
}

/// Bits, but for the payload of not-a-number.
bool equal(const HostTensor& a, const HostTensor& b)
{
    if (a.type != b.type || a.bytes.size() != b.bytes.size())
        return false;
    if (!isFloat(a.type.dtype))
        return a.bytes == b.bytes;
    const auto size = static_cast<std::size_t>(sizeOf(a.type.dtype));
    const std::vector<double> left = graph::operators::readFloats(a), right = graph::operators::readFloats(b);
    for (std::size_t i = 0; i < left.size(); ++i)
        if (std::memcmp(a.bytes.data() + i * size, b.bytes.data() + i * size, size) != 0
            && !(std::isnan(left[i]) && std::isnan(right[i])))
            return false;
    return true;
}

std::string describe(const Node& node, const std::vector<HostTensor>& inputs)
{
    std::string text = node.op;
    for (const HostTensor& input : inputs)
        text += " " + graph::typeText(input.type);
    return text;
}

/// Empty, or what is off.
std::string difference(const Node& node, const std::vector<HostTensor>& inputs)
{
    std::vector<const HostTensor*> operands;
    for (const HostTensor& input : inputs)
        operands.push_back(&input);
    const auto expected = graph::evaluateNode(node, operands);
    if (!expected)
        return expected.error().message;
    for (const std::uint32_t parts : {1U, 2U, 7U}) {
        const auto outputs = runFunction(node, inputs, parts);
        if (!outputs)
            return outputs.error().message;
        for (std::size_t i = 0; i < outputs->size(); ++i)
            if (!equal((*outputs)[i], (*expected)[i]))
                return describe(node, inputs) + ": output " + std::to_string(i) + " of " + std::to_string(parts)
                       + " parts differs";
    }
    return {};
}

} // namespace

class TestOperatorsFunctions : public QObject
{
    Q_OBJECT

private slots:
    void halvesAreRoundedAsTheEvaluatorRoundsThem()
    {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float wide = runtime::widen(half), expected = graph::operators::halfToFloat(half);
            QVERIFY(std::isnan(wide) ? std::isnan(expected) : std::memcmp(&wide, &expected, sizeof wide) == 0);
        }
        Random random(5);
        for (int i = 0; i < 1'000'000; ++i) {
            const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
            QCOMPARE(runtime::narrow(value), graph::operators::floatToHalf(value));
            QCOMPARE(runtime::Brain::of(value).bits, graph::operators::floatToBfloat(value));
        }
    }

    void positionsOfTheBestInEveryTypeAlongEveryAxis()
    {
        std::uint64_t seed = 1;
        for (const DType dtype : kNumbers)
            for (const Shape& shape : {Shape{1}, Shape{17}, Shape{3, 17}, Shape{2, 5, 3}, Shape{4, 1, 33}})
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    for (const std::int64_t largest : {0, 1})
                        for (const std::int64_t k : {std::int64_t{1}, (shape[axis] + 1) / 2, shape[axis]}) {
                            const Node node = nodeOf(
                                "top_positions",
                                {{"axis", static_cast<std::int64_t>(axis)}, {"k", k}, {"largest", largest}});
                            const std::string off = difference(node, {hostile({dtype, shape}, ++seed)});
                            QVERIFY2(off.empty(), off.c_str());
                        }
    }

    void ofEqualsTheFirstComesFirstAndNanIsTheHighest()
    {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const std::array values{1.0F, nan, -0.0F, 0.0F, 1.0F, -5.0F};
        HostTensor x = HostTensor::zeros({DType::F32, {6}});
        std::ranges::copy(values, x.as<float>().begin());
        for (const std::int64_t largest : {1, 0}) {
            const auto outputs = runFunction(nodeOf("top_positions", {{"k", std::int64_t{6}}, {"largest", largest}}),
                                             {x}, 1);
            QVERIFY(outputs.has_value());
            const auto found = (*outputs)[0].as<std::int64_t>();
            const std::vector<std::int64_t> wanted = largest != 0 ? std::vector<std::int64_t>{1, 0, 4, 2, 3, 5}
                                                                  : std::vector<std::int64_t>{5, 2, 3, 0, 4, 1};
            QCOMPARE(std::vector<std::int64_t>(found.begin(), found.end()), wanted);
        }
    }

    /// n log n: counted, so that the test does not depend on how busy the machine is.
    void selectionComparesAsOftenAsItMay_data()
    {
        QTest::addColumn<int>("order"); // 0: random, 1: rising, 2: falling, 3: all equal
        for (int order = 0; order < 4; ++order)
            QTest::addRow("order %d", order) << order;
    }
    void selectionComparesAsOftenAsItMay()
    {
        QFETCH(const int, order);
        constexpr std::int64_t kCount = 100'000;
        Random random(3);
        std::vector<std::uint64_t> values(kCount);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = order == 0 ? random.next() : order == 1 ? i : order == 2 ? values.size() - i : 0;
        for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, std::int64_t{300}, kCount / 2, kCount}) {
            std::int64_t comparisons = 0;
            const auto before = [&](std::int64_t a, std::int64_t b) {
                ++comparisons;
                const auto va = values[static_cast<std::size_t>(a)], vb = values[static_cast<std::size_t>(b)];
                return va != vb ? va > vb : a < b;
            };
            std::vector<std::int64_t> kept(static_cast<std::size_t>(k));
            runtime::selectFirst(
                kept.data(), k, kCount, [](std::int64_t i) { return i; }, before);
            const double most = static_cast<double>(kCount)
                                + 2.0 * (order == 0 && k < 1000 ? 20.0 * static_cast<double>(k) : kCount)
                                      * std::ceil(std::log2(static_cast<double>(k) + 1))
                                + 2.0 * static_cast<double>(k) * std::ceil(std::log2(static_cast<double>(k) + 1));
            QVERIFY2(static_cast<double>(comparisons) <= most, qPrintable(QString::number(comparisons)));
            QVERIFY(std::is_sorted(kept.begin(), kept.end(), [&](std::int64_t a, std::int64_t b) {
                const auto va = values[static_cast<std::size_t>(a)], vb = values[static_cast<std::size_t>(b)];
                return va != vb ? va > vb : a < b;
            }));
        }
    }

    void sumsUpToEachElementInEveryType()
    {
        std::uint64_t seed = 1;
        for (const DType dtype : kNumbers)
            for (const Shape& shape : {Shape{1}, Shape{17}, Shape{3, 17}, Shape{2, 5, 130}})
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    for (const std::int64_t exclusive : {0, 1})
                        for (const std::int64_t reverse : {0, 1}) {
                            const Node node = nodeOf("cumulative_sum", {{"axis", static_cast<std::int64_t>(axis)},
                                                                        {"exclusive", exclusive},
                                                                        {"reverse", reverse}});
                            const std::string off = difference(node, {hostile({dtype, shape}, ++seed)});
                            QVERIFY2(off.empty(), off.c_str());
                        }
    }

    void longSumsKeepTheirDigits()
    {
        HostTensor x = HostTensor::zeros({DType::F32, {1'000'000}});
        std::ranges::fill(x.as<float>(), 0.1F);
        const auto outputs = runFunction(nodeOf("cumulative_sum", {}), {x}, 1);
        QVERIFY(outputs.has_value());
        const double last = static_cast<double>((*outputs)[0].as<float>().back());
        QVERIFY(std::abs(last / (1e6 * static_cast<double>(0.1F)) - 1) < 1e-7);
    }

    void updatesGoWhereTheirIndicesSay()
    {
        std::uint64_t seed = 1;
        std::vector<DType> all(kNumbers.begin(), kNumbers.end());
        all.push_back(DType::Bool);
        for (const DType dtype : all)
            for (const char* const reduction : {"none", "add", "mul", "max", "min"}) {
                if (dtype == DType::Bool && reduction != std::string_view("none"))
                    continue;
                for (const DType index : {DType::I32, DType::I64}) {
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        const Shape data{4, 3, 5};
                        Shape picks{3, 2, 4};
                        picks[axis] = 9; // several for each place
                        const Node node = nodeOf("scatter_elements", {{"axis", static_cast<std::int64_t>(axis)},
                                                                      {"reduction", std::string(reduction)}});
                        const std::string off = difference(node, {hostile({dtype, data}, ++seed),
                                                                  places(index, picks, data[axis], ++seed),
                                                                  hostile({dtype, picks}, ++seed)});
                        QVERIFY2(off.empty(), off.c_str());
                    }
                    for (std::int64_t depth = 1; depth <= 3; ++depth) {
                        const Shape data{3, 3, 3};
                        Shape updates{11};
                        updates.insert(updates.end(), data.begin() + depth, data.end());
                        const Node node = nodeOf("scatter_nd", {{"reduction", std::string(reduction)}});
                        const std::string off = difference(node, {hostile({dtype, data}, ++seed),
                                                                  places(index, {11, depth}, 3, ++seed),
                                                                  hostile({dtype, updates}, ++seed)});
                        QVERIFY2(off.empty(), off.c_str());
                    }
                }
            }
    }

    void whatIsNotZeroIsFoundInItsOrder()
    {
        std::uint64_t seed = 1;
        std::vector<DType> all(kNumbers.begin(), kNumbers.end());
        all.push_back(DType::Bool);
        for (const DType dtype : all)
            for (const Shape& shape : {Shape{1}, Shape{17}, Shape{3, 17}, Shape{5, 1, 100}}) {
                const std::string off = difference(nodeOf("nonzero", {}, 2), {hostile({dtype, shape}, ++seed)});
                QVERIFY2(off.empty(), off.c_str());
            }
    }

    void differentSlicesAreFoundInEitherOrder()
    {
        std::uint64_t seed = 1;
        std::vector<DType> all(kNumbers.begin(), kNumbers.end());
        all.push_back(DType::Bool);
        for (const DType dtype : all)
            for (const Shape& shape : {Shape{1}, Shape{100}, Shape{50, 1}, Shape{2, 30, 1}, Shape{2, 2, 40}})
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    for (const std::int64_t sorted : {0, 1}) {
                        const Node node = nodeOf("unique",
                                                 {{"axis", static_cast<std::int64_t>(axis)}, {"sorted", sorted}}, 4);
                        const std::string off = difference(node, {hostile({dtype, shape}, ++seed)});
                        QVERIFY2(off.empty(), off.c_str());
                    }
    }

    void boxesThatOverlapABetterOneAreLeftOut()
    {
        Random random(9);
        const auto number = [](DType dtype, double value) {
            HostTensor tensor = HostTensor::zeros({dtype, {1}});
            graph::operators::writeFloats(tensor, std::array{value});
            return tensor;
        };
        std::int64_t selected = 0, left = 0;
        for (int round = 0; round < 60; ++round) {
            const std::int64_t batches = 1 + round % 2, classes = 1 + round % 3, count = 1 + 7 * round;
            HostTensor boxes = HostTensor::zeros({DType::F32, {batches, count, 4}});
            HostTensor scores = HostTensor::zeros({DType::F32, {batches, classes, count}});
            for (float& value : boxes.as<float>())
                value = static_cast<float>(random.below(20)) / 4;
            for (float& value : scores.as<float>())
                value = random.below(40) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                              : static_cast<float>(random.below(10)) / 10;
            const Node node = nodeOf("non_max_suppression",
                                     {{"per_class", std::int64_t{30}},
                                      {"center", std::int64_t{round % 2}},
                                      {"has_score", std::int64_t{round / 2 % 2}}},
                                     2);
            const std::vector<HostTensor> inputs{boxes,
                                                 scores,
                                                 number(DType::I64, round % 5 == 0 ? 3 : 100),
                                                 number(DType::F32, 0.1 * (round % 7)),
                                                 number(DType::F32, 0.3),
                                                 number(DType::I64, static_cast<double>(count - round % 4))};
            const std::string off = difference(node, inputs);
            QVERIFY2(off.empty(), off.c_str());
            const auto outputs = runFunction(node, inputs, 1);
            selected += (*outputs)[1].as<std::int64_t>()[0];
            left += batches * classes * count - (*outputs)[1].as<std::int64_t>()[0];
        }
        QVERIFY(selected > 100 && left > 100);
    }

    void nothingIsWrittenWhereThereIsNoPlace()
    {
        const HostTensor data = HostTensor::zeros({DType::F32, {0, 3}});
        const auto elements = runFunction(nodeOf("scatter_elements", {}),
                                          {data, places(DType::I64, {2, 3}, 1, 1), hostile({DType::F32, {2, 3}}, 2)},
                                          2);
        QVERIFY(elements.has_value() && (*elements)[0].bytes.empty());
        const auto vectors = runFunction(nodeOf("scatter_nd", {}),
                                         {data, places(DType::I64, {2, 1}, 1, 1), hostile({DType::F32, {2, 3}}, 2)}, 2);
        QVERIFY(vectors.has_value() && (*vectors)[0].bytes.empty());
    }

    void anIndexThatDoesNotExistBecomesTheNearest()
    {
        HostTensor data = HostTensor::zeros({DType::F32, {3}}), updates = HostTensor::zeros({DType::F32, {2}});
        HostTensor indices = HostTensor::zeros({DType::I64, {2}});
        updates.as<float>()[0] = 1;
        updates.as<float>()[1] = 2;
        indices.as<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::min();
        indices.as<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::max();
        const auto outputs = runFunction(nodeOf("scatter_elements", {}), {data, indices, updates}, 2);
        QVERIFY(outputs.has_value());
        QCOMPARE((*outputs)[0].as<float>()[0], 1.0F);
        QCOMPARE((*outputs)[0].as<float>()[1], 0.0F);
        QCOMPARE((*outputs)[0].as<float>()[2], 2.0F);
    }
};

LATHE_TEST(TestOperatorsFunctions)

} // namespace tst_operators_functions

#include "tst_operators_functions.moc"
