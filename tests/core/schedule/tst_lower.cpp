#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/reduction.h"
#include "core/ir/print.h"
#include "kernel_check.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_lower {

using namespace lathe;
using namespace lathe::schedule;

namespace {

Result<State> replayed(const compute::DagPtr& dag, const char* steps)
{
    LATHE_TRY_ASSIGN(const std::vector<Step> parsed, stepsFromJson(nlohmann::json::parse(steps)));
    return State::replay(dag, parsed);
}

QString nestText(const State& state)
{
    const auto kernel = lower(state, {});
    return QString::fromStdString(kernel ? ir::print(kernel->nest) : kernel.error().message);
}

QString wrong(const State& state)
{
    return QString::fromStdString(test::checkKernel(state, 1));
}

/// data 0, pad 1, weight 2, conv.local 3, conv 4, bias 5, add 6, relu 7: two output channel groups, tiles of 4 pixels.
const char* const kConvolution = R"([
    ["CI", 5], ["CHW", 3, "local"], ["CI", 4], ["CI", 1],
    ["SP", 7, 3, 16, [2, 4], 1], ["SP", 7, 2, 12, [4], 1], ["RE", 7, [4, 0, 1, 2, 3, 5, 6]],
    ["CA", 3, 7, 3],
    ["SP", 3, 3, 16, [2, 4], 1], ["RE", 3, [0, 1, 3, 6, 7, 8, 2, 4, 5]],
    ["AN", 3, 6, 1], ["AN", 3, 7, 1], ["AN", 3, 8, 2], ["AN", 7, 4, 1], ["AN", 7, 5, 1], ["AN", 7, 6, 2],
    ["LY", 2, [[3, 8, 2], [0, 1, 3], [1, 1, 3], [2, 1, 8], [3, 4, 2], [3, 1, 4]]],
    ["PT", 7, 3], ["PF", 3, 5, 2, 4096], ["FU", 7, [0, 1, 2]], ["AN", 7, 0, 3]
])";

} // namespace

class TestLower : public QObject
{
    Q_OBJECT

private slots:
    void aPlainReductionSumsInARegister();
    void aConvolutionKeepsItsTileInRegisters();
    void theSteadyStateHasNoConditions();
    void edgesDecideEachPixelAtCodeGeneration();
    void tailsOfVectorsAreMasked();
    void tilesRunPastTheEdgeOfPaddedWeights();
    void rowsWithoutTapsAreLoopBounds();
    void overlappingTilesEndWithTheExtent();
    void overlappingTilesInsideASumAreRefused();
    void theFirstOfEqualOnesCountsInAnyOrder();
    void stagesAtRootArePhases();
    void serialStagesShareAPhase();
    void innerParallelLoopsAreRefused();
    void readsFromOutsideOfTheAttachPointAreRefused();
    void whatItsReaderDoesNotNeedIsNotComputed();
    void foldedRowsAreUnsupported();
    void outputsTakeLayouts();
    void paddedStridesReachTheParameter();
    void stridesPastAnyMemoryAreRefused();
    void aParallelLoopIsVersioned();
    void whatComesNextIsFetchedWhileThisIsReadAgain();
};

void TestLower::aPlainReductionSumsInARegister()
{
    QCOMPARE(nestText(State::initial(test::matmul(5, 7, 6))), QString(R"(kernel kernel
buffer A float32 parameter [5, 6] readonly
buffer B float32 parameter [6, 7] readonly
buffer C float32 parameter [5, 7]
buffer C.acc float32 register []
phase 0
  parallel part (0, 1)
    for i (0, 5)
      for j (0, 7)
        C.acc[] = 0f
        for k (0, 6)
          C.acc[] = (C.acc[] + (A[i, k]*B[k, j]))
        C[i, j] = C.acc[]
)"));
}

void TestLower::aConvolutionKeepsItsTileInRegisters()
{
    const auto state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), kConvolution);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("buffer conv.local float32 register [1, 1, 4, 8]\n"), qPrintable(text));
    QVERIFY2(text.contains("buffer weight float32 parameter [2, 3, 3, 8, 2, 4] readonly\n"), qPrintable(text));
    QVERIFY2(text.contains("prefetch weight[floordiv(ax3.0@ax0@ax1@, 12), ry, rx, rc, 0, 1024] locality 3\n"),
             qPrintable(text));
    QCOMPARE(wrong(*state), QString());
}

void TestLower::whatComesNextIsFetchedWhileThisIsReadAgain()
{
    const std::string steps = QString(kConvolution).replace("2, 4096]", "2, 0]").toStdString();
    const auto state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), steps.c_str());
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    QCOMPARE(wrong(*state), QString());
    // One group's weights are 3x3x8x8 floats or 36 lines; 12 rows of 3 tiles walk over them. So walk w, of 0 to 35,
    // begins at line w of the next group's, 576 floats on, and each of its 72 iterations takes the next line.
    const QString text = nestText(*state);
    for (const int tile : {0, 1, 2})
        QVERIFY2(text.contains(QString("prefetch weight[floordiv(ax3.0@ax0@ax1@, 12), 0, 0, 0, 0, "
                                       "(((((floormod(ax3.0@ax0@ax1@, 12)*48) + (rc*16)) + (rx*128)) "
                                       "+ (ry*384)) + %1)] locality 2\n")
                                   .arg(576 + 16 * tile)),
                 qPrintable(text));
    QVERIFY2(!text.contains("locality 3\n"), qPrintable(text));
}

void TestLower::theSteadyStateHasNoConditions()
{
    const auto state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), kConvolution);
    QVERIFY(state);
    const QString text = nestText(*state);
    // The middle one of three tiles: kw stays a loop, nothing is asked inside.
    QVERIFY2(text.contains("      for rx (0, 3)\n"
                           "        for rc (0, 8)\n"
                           "          prefetch weight[floordiv(ax3.0@ax0@ax1@, 12), ry, rx, rc, 0, 1024] locality 3\n"
                           "          unroll xx_c (0, 4)\n"
                           "            unroll ff_c.1 (0, 2)\n"
                           "              vectorize ff_c.2 (0, 4)\n"
                           "                conv.local[0, 0, xx_c, ((ff_c.1*4) + ff_c.2)] = (conv.local"),
             qPrintable(text));
}

void TestLower::edgesDecideEachPixelAtCodeGeneration()
{
    const auto state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), kConvolution);
    QVERIFY(state);
    const QString text = nestText(*state);
    for (const char* condition : {"if ((xx_c + rx) >= 1)\n", "if ((xx_c + rx) < 5)\n"})
        QVERIFY2(text.contains(
                     QString("      unroll rx (0, 3)\n"
                             "        for rc (0, 8)\n"
                             "          prefetch weight[floordiv(ax3.0@ax0@ax1@, 12), ry, rx, rc, 0, 1024] locality 3\n"
                             "          unroll xx_c (0, 4)\n            ")
                     + condition),
                 qPrintable(text));
}

void TestLower::rowsWithoutTapsAreLoopBounds()
{
    const auto state = replayed(test::convBiasRelu(12, 12, 8, 16, 3, 1, 1), kConvolution);
    QVERIFY(state);
    const QString row = "floormod(ax3.0@ax0@ax1@, 12)";
    const QString text = nestText(*state);
    QVERIFY2(text.contains(QString("    for ry (max(0, (1 - %1)), (min(3, (13 - %1)) - max(0, (1 - %1))))\n").arg(row)),
             qPrintable(text));
}

void TestLower::tailsOfVectorsAreMasked()
{
    const auto state = replayed(test::matmul(3, 10, 4),
                                R"([["SP", 2, 1, 10, [4], 1], ["RE", 2, [0, 1, 3, 2]], ["AN", 2, 3, 2]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("if (((j.0*4) + j.1) < 10)\n"), qPrintable(text));
    QVERIFY2(text.contains("vectorize j.1 (0, 4)\n"), qPrintable(text));
    QCOMPARE(wrong(*state), QString());
    // Cut apart, no condition on the loop remains.
    const auto cut = replayed(test::matmul(3, 10, 4),
                              R"([["SP", 2, 1, 10, [4], 1], ["RE", 2, [0, 1, 3, 2]], ["AN", 2, 3, 2], ["PT", 2, 1]])");
    QVERIFY(cut);
    QVERIFY2(!nestText(*cut).contains("< 10)"), qPrintable(nestText(*cut)));
    QVERIFY2(nestText(*cut).contains("if (j.1 < 2)\n"), qPrintable(nestText(*cut)));
    QCOMPARE(wrong(*cut), QString());
}

void TestLower::tilesRunPastTheEdgeOfPaddedWeights()
{
    // Columns in tiles of 4: 10 of 12 exist. The weight, packed in tiles too, has all 12: only the store asks.
    const char* const steps =
        R"([["LY", 1, [[1, 4, 3], [0, 1, 4], [1, 1, 4]]], ["SP", 2, 1, 10, [4], 1], ["RE", 2, [0, 1, 3, 2]],
                                  ["AN", 2, 3, 2]])";
    const auto state = replayed(test::matmul(3, 10, 4), steps);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QCOMPARE(text.count("if ("), 1);
    QVERIFY2(text.indexOf("if (") > text.indexOf("C.acc[j.1] = (C.acc[j.1] +"), qPrintable(text));
    QCOMPARE(wrong(*state), QString());
}

void TestLower::overlappingTilesEndWithTheExtent()
{
    // 7 rows in tiles of 4: the second begins at row 3. No condition, no element of A or C beyond the edge.
    const char* const steps = R"([["OV", 2, 0, 4], ["RE", 2, [0, 2, 3, 1]]])";
    const auto state = replayed(test::matmul(7, 8, 4), steps);
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("min((i.0*4), 3)"), qPrintable(text));
    QCOMPARE(text.count("if ("), 0);
    QCOMPARE(wrong(*state), QString());
}

void TestLower::overlappingTilesInsideASumAreRefused()
{
    const auto state = replayed(test::matmul(7, 8, 4), R"([["OV", 2, 0, 4], ["RE", 2, [3, 0, 1, 2]]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const auto kernel = lower(*state, {});
    QVERIFY(!kernel);
    QVERIFY(kernel.error().code == Errc::IllegalSchedule);
    // What is summed over cannot be split so at all.
    QVERIFY(!replayed(test::matmul(7, 8, 5), R"([["OV", 2, 2, 4]])"));
}

void TestLower::theFirstOfEqualOnesCountsInAnyOrder()
{
    // The inner part of a split outside of the outer one: positions do not rise.
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {3, 24}, DType::F32);
    const auto dag = std::move(b).finish({compute::argReduction(b, true, x, 1, false)});
    QVERIFY(dag);
    const auto state = replayed(*dag, R"([["SP", 1, 1, 24, [4], 1], ["RE", 1, [0, 2, 1]]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    QCOMPARE(wrong(*state), QString());
}

void TestLower::stagesAtRootArePhases()
{
    const auto state = replayed(test::convBiasRelu(6, 6, 2, 4, 3, 1, 1),
                                R"([["AN", 1, 1, 3], ["AN", 3, 1, 3], ["CI", 5], ["AN", 6, 1, 3]])");
    QVERIFY(state);
    const auto kernel = lower(*state, {});
    QVERIFY2(kernel, kernel ? "" : kernel.error().message.c_str());
    QCOMPARE(kernel->nest.phases.size(), std::size_t{3});
    QCOMPARE(kernel->teamScratchBytes, std::int64_t{8 * 8 * 2 * 4 + 6 * 6 * 4 * 4});
    QCOMPARE(wrong(*state), QString());
}

void TestLower::serialStagesShareAPhase()
{
    const auto state = replayed(test::convBiasRelu(6, 6, 2, 4, 3, 1, 1), R"([["AN", 6, 1, 3]])");
    QVERIFY(state);
    const auto kernel = lower(*state, {});
    QVERIFY(kernel);
    QCOMPARE(kernel->nest.phases.size(), std::size_t{2});
    QCOMPARE(wrong(*state), QString());
}

void TestLower::innerParallelLoopsAreRefused()
{
    const auto inner = replayed(test::matmul(4, 4, 4), R"([["AN", 2, 1, 3]])");
    QVERIFY(inner);
    const auto kernel = lower(*inner, {});
    QVERIFY(!kernel);
    QVERIFY(kernel.error().code == Errc::IllegalSchedule);
}

void TestLower::readsFromOutsideOfTheAttachPointAreRefused()
{
    // conv is read by add, but computed inside relu, which does not read it.
    const auto state = replayed(test::convBiasRelu(6, 6, 2, 4, 3, 1, 1), R"([["CA", 3, 6, 1]])");
    QVERIFY(state);
    const auto kernel = lower(*state, {});
    QVERIFY(!kernel);
    QVERIFY(kernel.error().code == Errc::IllegalSchedule);
    QVERIFY2(kernel.error().message.find("'conv'") != std::string::npos, kernel.error().message.c_str());
}

void TestLower::whatItsReaderDoesNotNeedIsNotComputed()
{
    // a 0, sum 1, c 2, product 3, difference 4, of integers: product - product is 0.
    compute::DagBuilder b;
    const compute::Tensor a = b.placeholder("a", {2, 15}, DType::I64), c = b.placeholder("c", {15, 8}, DType::I64);
    const compute::Tensor sum = compute::binary(b, compute::Binary::Add, a, a);
    const compute::Tensor product = compute::matmul(b, sum, c, {}, compute::NameEra::Nested);
    const auto dag = std::move(b).finish({compute::binary(b, compute::Binary::Subtract, product, product)});
    QVERIFY(dag);
    const auto state = replayed(*dag, R"([["CA", 3, 4, 0], ["CA", 1, 3, 0]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("T_subtract[ax0, ax1] = (int64)0\n") && !text.contains("matmul"), qPrintable(text));
    QCOMPARE(wrong(*state), QString());
}

void TestLower::foldedRowsAreUnsupported()
{
    const auto state = replayed(test::convBiasRelu(6, 6, 2, 4, 3, 1, 1), R"([["CA", 1, 3, 1], ["FD", 1, 1, 3]])");
    QVERIFY(state);
    const auto kernel = lower(*state, {});
    QVERIFY(!kernel);
    QVERIFY(kernel.error().code == Errc::Unsupported);
}

void TestLower::outputsTakeLayouts()
{
    // NCHW-like blocks of 4 channels for data and result.
    const auto state = replayed(test::convBiasRelu(6, 6, 8, 8, 3, 1, 1), R"([
        ["LY", 0, [[0, 1, 1], [3, 4, 2], [1, 1, 6], [2, 1, 6], [3, 1, 4]]],
        ["LY", 6, [[0, 1, 1], [3, 4, 2], [1, 1, 6], [2, 1, 6], [3, 1, 4]]],
        ["CI", 5], ["CI", 1], ["SP", 6, 3, 8, [4], 1], ["AN", 6, 4, 2]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("buffer relu float32 parameter [1, 2, 6, 6, 4]\n"), qPrintable(text));
    QVERIFY2(text.contains("relu[0, ax3.0, ax1, ax2, ax3.1] = "), qPrintable(text));
    QCOMPARE(wrong(*state), QString());
}

void TestLower::paddedStridesReachTheParameter()
{
    const auto state = replayed(test::matmul(4, 6, 5), R"([["PS", 2, 0, 10]])");
    QVERIFY(state);
    const auto kernel = lower(*state, {});
    QVERIFY(kernel);
    QCOMPARE(kernel->parameters[2].map.axes[0].stride, std::int64_t{16});
    QCOMPARE(wrong(*state), QString());
}

void TestLower::stridesPastAnyMemoryAreRefused()
{
    std::string steps = R"([["SA", 2, 0, 2147483647, 5])";
    for (int i = 0; i < 600; ++i)
        steps += R"(, ["PS", 2, 1, 2147483647])";
    const auto state = replayed(test::matmul(5, 7, 6), (steps + "]").c_str());
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const auto kernel = lower(*state, {});
    QVERIFY(!kernel);
    QVERIFY(kernel.error().code == Errc::IllegalSchedule);
}

void TestLower::aParallelLoopIsVersioned()
{
    const auto state = replayed(test::convBiasRelu(8, 8, 2, 4, 3, 1, 1), R"([
        ["CI", 5], ["CI", 1], ["CA", 3, 6, 2], ["FU", 6, [0, 1, 2]], ["AN", 6, 0, 3], ["PT", 6, 0]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    const QString text = nestText(*state);
    QVERIFY2(text.contains("    else\n"), qPrintable(text));
    QCOMPARE(wrong(*state), QString());
}

LATHE_TEST(TestLower)

} // namespace tst_lower

#include "tst_lower.moc"
