#include "core/deploy/compare_tensors.h"
#include "core/graph/in_doubles.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/wire/seeded.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <cstring>

namespace tst_compare_tensors {

using namespace lathe;
using namespace lathe::deploy;
using graph::HostTensor;
using test::must;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

HostTensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values)
{
    HostTensor out = HostTensor::zeros({dtype, std::move(shape)});
    for (std::size_t i = 0; i < values.size(); ++i)
        wire::writeElement(out.bytes.data(), static_cast<std::int64_t>(i), dtype, values[i]);
    return out;
}

HostTensor floats(const std::vector<double>& values)
{
    return tensor(DType::F32, {static_cast<std::int64_t>(values.size())}, values);
}

HostTensor wholes(const std::vector<std::int64_t>& values)
{
    HostTensor out = HostTensor::zeros({DType::I64, {static_cast<std::int64_t>(values.size())}});
    std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
    return out;
}

/// Elements that differ by more than may be.
std::int64_t beyond(const HostTensor& y, const HostTensor& r, const Likeness& likeness = {},
                    const HostTensor* unrounded = nullptr)
{
    return must(compareTensors("t", y, r, likeness, unrounded)).beyond;
}

} // namespace

class TestCompareTensors : public QObject
{
    Q_OBJECT

private slots:
    void theLargestDifferenceIsTold()
    {
        const TensorComparison c = must(compareTensors("t", floats({1, 2, 3.5, 4}), floats({1, 2, 3, 4})));
        QCOMPARE(c.maxRelError, 0.125);
        QCOMPARE(c.worst, std::int64_t{2});
        QCOMPARE(c.value, 3.5);
        QCOMPARE(c.reference, 3.0);
        QCOMPARE(c.beyond, std::int64_t{1});
        QCOMPARE(c.first, std::int64_t{2});
        QVERIFY(compareTensors("t", floats({1}), wholes({1})).error().code == Errc::InvalidArgument);
        QVERIFY(must(compareTensors("t", floats({}), floats({}))).agrees());
    }

    void integersAreComparedAsIntegers()
    {
        constexpr std::int64_t kFar = (std::int64_t{1} << 60) + 1; // doubles do not tell it from its neighbours
        QCOMPARE(beyond(wholes({kFar, 5}), wholes({kFar, 5})), std::int64_t{0});
        QCOMPARE(beyond(wholes({kFar, 5}), wholes({kFar - 1, 5})), std::int64_t{1});
        QCOMPARE(beyond(wholes({1000000, 5}), wholes({1000001, 5})), std::int64_t{1}); // one in a million is wrong too
        QCOMPARE(beyond(tensor(DType::Bool, {2}, {0, 1}), tensor(DType::Bool, {2}, {1, 1})), std::int64_t{1});
    }

    void whatIsNoNumberIsComparedToo()
    {
        QCOMPARE(beyond(floats({kNaN, kInf, -kInf, 1}), floats({kNaN, kInf, -kInf, 1})), std::int64_t{0});
        QCOMPARE(beyond(floats({1, kInf, -kInf, kNaN}), floats({kNaN, -kInf, 5, 1})), std::int64_t{4});
    }

    void zerosHaveASignWhereThatIsDefined()
    {
        const HostTensor y = floats({-0.0, 0.0, 1}), r = floats({0.0, 0.0, 1});
        QCOMPARE(beyond(y, r), std::int64_t{0});
        QCOMPARE(beyond(y, r, {.signedZeros = true}), std::int64_t{1});
        QCOMPARE(beyond(r, r, {.signedZeros = true}), std::int64_t{0});
    }

    void largeElementsHideNoSmallOnes()
    {
        // By itself each element of what adds nothing up.
        const HostTensor r = floats({1e9, 1e-3, -2}), y = floats({1e9, 2e-3, -2});
        QVERIFY(must(compareTensors("t", y, r)).maxRelError < 1e-11);
        QCOMPARE(beyond(y, r), std::int64_t{0});
        QCOMPARE(beyond(y, r, {.elementwise = true}), std::int64_t{1});
        // In sums, the samples of a batch.
        const HostTensor rows = tensor(DType::F32, {2, 2}, {1e9, 1e9, 1, 2});
        const HostTensor off = tensor(DType::F32, {2, 2}, {1e9, 1e9, 1, 2.5});
        QCOMPARE(beyond(off, rows), std::int64_t{1});
    }

    void whatRoundingDoesIsAllowed()
    {
        // A sum that leaves little of what goes in: 1e7 + 0.3 - 1e7 in floats.
        const HostTensor r = floats({0.0, 1}), y = floats({1.0, 1}), d = tensor(DType::F64, {2}, {0.3, 1});
        QCOMPARE(beyond(y, r), std::int64_t{1});
        const TensorComparison told = must(compareTensors("t", y, r, {}, &d));
        QVERIFY(told.agrees());
        QVERIFY(told.illConditioned);
        QCOMPARE(told.rounding, 0.3);
        // Sixteen times as much is wrong however little can be told.
        const TensorComparison far = must(compareTensors("t", floats({5.0, 1}), r, {}, &d));
        QVERIFY(!far.agrees() && far.illConditioned);
        // Where rounding does little, nothing changes.
        const HostTensor close = tensor(DType::F64, {2}, {1e-9, 1});
        QCOMPARE(beyond(y, r, {}, &close), std::int64_t{1});
        QVERIFY(!must(compareTensors("t", y, r, {}, &close)).illConditioned);
    }

    void roundingOfLargeElementsHidesNoSmallOnes()
    {
        // 3 x in floats, by itself each element: 3e4 is off by 1e-3, and all that is small is lost.
        const HostTensor r = floats({30000.998, 3e-3, 9e-3, -1e-3}), lost = floats({30000.998, 0, 0, 0});
        const HostTensor d = tensor(DType::F64, {4}, {30000.9990234375, 3e-3, 9e-3, -1e-3});
        const Likeness alone{.elementwise = true};
        QCOMPARE(beyond(lost, r, alone, &d), std::int64_t{3});
        QCOMPARE(beyond(r, r, alone, &d), std::int64_t{0});
        // Two samples, one of which is large, while the other is wrong.
        const HostTensor rows = tensor(DType::F32, {2, 2}, {1e6, 1e6, 1, 0.5});
        const HostTensor wrong = tensor(DType::F32, {2, 2}, {1e6, 1e6, 1, 0.6});
        const HostTensor exact = tensor(DType::F64, {2, 2}, {1000000.03, 999999.98, 1, 0.5});
        QCOMPARE(beyond(wrong, rows, {}, &exact), std::int64_t{1});
        // Where a difference of large numbers leaves anything, that is told of each sample by itself.
        const HostTensor left = tensor(DType::F64, {2, 2}, {1e6, 1e6, 1, 0.7});
        const TensorComparison told = must(compareTensors("t", wrong, rows, {}, &left));
        QVERIFY(told.agrees() && told.illConditioned);
        QVERIFY(std::abs(told.rounding - 0.2) < 1e-6);
        // Numbers that vanish are no rounding to speak of.
        const HostTensor small = floats({0, 1, 1e-30}), vanished = tensor(DType::F64, {3}, {1e-50, 1, 1e-30});
        QCOMPARE(beyond(floats({0, 1, 2e-30}), small, alone, &vanished), std::int64_t{1});
    }

    void overflowByRoundingAloneIsAllowed()
    {
        const HostTensor r = floats({kInf, 1}), y = floats({3.4e38, 1});
        const HostTensor d = tensor(DType::F64, {2}, {3.4e38, 1});
        QCOMPARE(beyond(y, r), std::int64_t{1});
        QCOMPARE(beyond(y, r, {}, &d), std::int64_t{0});
        const HostTensor certain = tensor(DType::F64, {2}, {kInf, 1});
        QCOMPARE(beyond(y, r, {}, &certain), std::int64_t{1});
    }

    void integersThatComeFromFloatsMayTip()
    {
        const HostTensor r = wholes({3, 7, 9}), tipped = wholes({4, 7, 9}), far = wholes({5, 7, 9});
        const HostTensor d = wholes({3, 8, 9}); // it tips somewhere without rounding
        QVERIFY(must(compareTensors("t", tipped, r, {}, &d)).agrees());
        QVERIFY(must(compareTensors("t", tipped, r, {}, &d)).illConditioned);
        QVERIFY(!must(compareTensors("t", far, r, {}, &d)).agrees());
        QVERIFY(!must(compareTensors("t", tipped, r, {}, &r)).agrees()); // nothing tips
    }

    void notANumberAtTheSamePlaces()
    {
        const Likeness only{.onlyNotANumber = true};
        const HostTensor r = floats({kNaN, 1, 2});
        QCOMPARE(beyond(floats({kNaN, 5, 2}), r, only), std::int64_t{0}); // numbers are compared elsewhere
        QCOMPARE(beyond(floats({0, 1, 2}), r, only), std::int64_t{1}); // lost
        const HostTensor spread = floats({kNaN, kNaN, 2});
        QCOMPARE(beyond(spread, r, only), std::int64_t{1});
        QCOMPARE(beyond(spread, r, {.onlyNotANumber = true, .notANumberSpreads = true}), std::int64_t{0});
        QCOMPARE(beyond(floats({0, kNaN, 2}), r, {.onlyNotANumber = true, .notANumberSpreads = true}), std::int64_t{1});
    }

    void theNatureOfAnOutputFollowsFromWhatMadeIt()
    {
        graph::Graph g;
        const graph::ValueId x = g.addValue("x", DType::F32, {2, 3});
        g.inputs.push_back(x);
        const auto node = [&g](const char* op, std::vector<graph::ValueId> inputs, graph::Attrs attrs = {}) {
            return graph::append(g, op, op, std::move(inputs), std::move(attrs), DType::F32, {}, op);
        };
        const graph::ValueId turned = node("negative", {x});
        const graph::ValueId moved = node("transpose", {turned}, {{"axes", std::vector<std::int64_t>{1, 0}}});
        const graph::ValueId added = node("add", {x, x}), summed = node("sum", {added});
        const graph::ValueId behind = node("negative", {summed});
        const std::vector<OutputNature> natures = naturesOf(must(graph::inferTypes(g)),
                                                            {x, moved, added, summed, behind});
        const bool elementwise[] = {true, true, true, false, false}, signs[] = {true, true, false, false, false};
        for (std::size_t i = 0; i < natures.size(); ++i) {
            QCOMPARE(natures[i].elementwise, elementwise[i]);
            QCOMPARE(natures[i].signsZeros, signs[i]);
        }
    }

    void aNetworkInDoublesRoundsNothing()
    {
        graph::Graph g;
        const graph::ValueId x = g.addValue("x", DType::F16, {2});
        g.inputs.push_back(x);
        const graph::ValueId large = graph::addNumbers(g, "large", DType::F16, {1}, std::vector<double>{1000});
        const graph::ValueId sum = graph::append(g, "add", "add", {x, large}, {}, DType::F16, {});
        const graph::ValueId wide = graph::append(g, "cast", "cast", {sum}, {{"dtype", std::string("float32")}},
                                                  DType::F32, {});
        const graph::ValueId back = graph::append(g, "half", "cast", {wide}, {{"dtype", std::string("float16")}},
                                                  DType::F16, {});
        g.outputs = {graph::append(g, "subtract", "subtract", {back, large}, {}, DType::F16, {})};
        const graph::Graph typed = must(graph::inferTypes(g));
        const std::vector<HostTensor> inputs = {tensor(DType::F16, {2}, {0.1, 3})};
        const auto rounded = must(graph::interpret(typed, inputs));
        const auto exact = must(graph::interpret(must(graph::inDoubles(typed)), graph::inDoubles(inputs)));
        QCOMPARE(wire::readElement(rounded[0].bytes.data(), 0, DType::F16), 0.0);
        QVERIFY(exact[0].type.dtype == DType::F64);
        QVERIFY(std::abs(exact[0].as<double>()[0] - 0.1) < 1e-4);
        QCOMPARE(exact[0].as<double>()[1], 3.0);
        const TensorComparison c = must(compareTensors("t", rounded[0], rounded[0], {}, &exact[0]));
        QVERIFY(c.agrees() && c.illConditioned);
    }
};

LATHE_TEST(TestCompareTensors)

} // namespace tst_compare_tensors

#include "tst_compare_tensors.moc"
