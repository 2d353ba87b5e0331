#include "core/compute/definitions/elementwise.h"
#include "core/schedule/state.h"
#include "kernel_check.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

namespace tst_state {

using namespace lathe;
using namespace lathe::schedule;

namespace {

Result<State> replayed(const compute::DagPtr& dag, const char* steps)
{
    LATHE_TRY_ASSIGN(const std::vector<Step> parsed, stepsFromJson(nlohmann::json::parse(steps)));
    return State::replay(dag, parsed);
}

} // namespace

class TestState : public QObject
{
    Q_OBJECT

private slots:
    void aFreshStatePrintsAxesThenReduceAxes();
    void cudaScheduleOfTheReferenceReplays();
    void cpuScheduleOfTheReferenceReplays();
    void illegalStepsAreRefused_data();
    void illegalStepsAreRefused();
    void aRefusedStepLeavesTheStateAlone();
    void followedSplitsTakeTheirLengths();
    void attachmentsFollowSplitsAndReorders();
    void boundsOfAnAttachedStageAreWhatIsRead();
    void rfactorMakesTwoReductions();
    void openLengthsHaveNoBounds();
    void loopsThatCannotBeCountedAreRefused();
};

void TestState::aFreshStatePrintsAxesThenReduceAxes()
{
    const State state = State::initial(schedule::test::matmul(4, 6, 8));
    QCOMPARE(QString::fromStdString(state.print()), QString("Placeholder: A, B\n"
                                                            "for i (0,4)\n"
                                                            "  for j (0,6)\n"
                                                            "    for k (0,8)\n"
                                                            "      C = ...\n"));
}

// auto-scheduler.md, appendix B: direct 3x3/2 convolution, 14x14x256 -> 7x7x512.
void TestState::cudaScheduleOfTheReferenceReplays()
{
    const compute::DagPtr dag = schedule::test::convBiasRelu(14, 14, 256, 512, 3, 2, 1);
    auto state = replayed(dag, R"([
        ["CI", 5],
        ["SP", 3, 0, 1, [1, 1, 1, 1], 1], ["SP", 3, 5, 7, [1, 1, 7, 1], 1], ["SP", 3, 10, 7, [1, 7, 1, 1], 1],
        ["SP", 3, 15, 512, [1, 16, 1, 2], 1], ["SP", 3, 20, 3, [1, 3], 1], ["SP", 3, 23, 3, [1, 3], 1], ["SP", 3, 26, 256, [8, 2], 1],
        ["RE", 3, [0, 5, 10, 15, 1, 6, 11, 16, 2, 7, 12, 17, 20, 23, 26, 21, 24, 27, 3, 8, 13, 18, 22, 25, 28, 4, 9, 14, 19]],
        ["FSP", 6, 0, 1, 3], ["FSP", 6, 4, 2, 3], ["FSP", 6, 8, 3, 3], ["FSP", 6, 12, 4, 3],
        ["RE", 6, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]],
        ["CA", 3, 6, 11],
        ["CHR", 2, "shared", [3]], ["CA", 3, 4, 14],
        ["CHR", 1, "shared", [4]], ["CA", 2, 5, 14],
        ["CI", 1],
        ["FU", 8, [0, 1, 2, 3]], ["AN", 8, 0, 5],
        ["FU", 8, [1, 2, 3, 4]], ["AN", 8, 1, 4],
        ["FU", 8, [2, 3, 4, 5]], ["AN", 8, 2, 6],
        ["FU", 4, [0, 1, 2, 3]], ["SP", 4, 0, 768, [1], 1], ["AN", 4, 1, 2], ["FFSP", 4, 0, [4, 3, 2, 1], 1, 1], ["AN", 4, 1, 6],
        ["FU", 2, [0, 1, 2, 3]], ["SP", 2, 0, 720, [1], 1], ["AN", 2, 1, 2], ["FFSP", 2, 0, [4, 3, 2, 1], 1, 1], ["AN", 2, 1, 6],
        ["PR", 5, 0, "auto_unroll_max_step$512"]
    ])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    QVERIFY(state->concrete());
    const auto inferred = state->inferBounds();
    QVERIFY2(inferred, inferred ? "" : inferred.error().message.c_str());
    const QString text = QString::fromStdString(state->print());
    if (qEnvironmentVariableIsSet("LATHE_TEST_PRINT"))
        qInfo("%s", qPrintable(text));
    // Tiles of the input: 7 outputs of stride 2 read 15 rows and columns; 15*15*16 elements over 112 threads.
    QCOMPARE(text, QString(R"(Placeholder: data, weight, bias
blockIdx.x ax0.0@ax1.0@ax2.0@ax3.0@ (0,16)
  threadIdx.x ax0.2@ax1.2@ax2.2@ax3.2@ (0,112)
    conv auto_unroll: 512
    for rc.0 (0,16)
      for ax0@ax1@ax2@ax3@.0.0 (0,33)
        threadIdx.x ax0@ax1@ax2@ax3@.0.1 (0,112)
          pad.shared = ...
      for ax0@ax1@ax2@ax3@.0.0 (0,42)
        threadIdx.x ax0@ax1@ax2@ax3@.0.1 (0,112)
          weight.shared = ...
      for rc.1 (0,8)
        for yy.3 (0,7)
          for ry.2 (0,3)
            for rx.2 (0,3)
              for rc.2 (0,2)
                for ff.4 (0,2)
                  conv = ...
    for ax1.3 (0,7)
      for ax3.3 (0,2)
        relu = ...
)"));
}

// auto-scheduler.md, appendix B: 1x1 convolution with add, mul, add, relu (7x7x512 -> 2048).
void TestState::cpuScheduleOfTheReferenceReplays()
{
    compute::DagBuilder b;
    const auto placeholder = [&b](const char* name, std::vector<std::int64_t> shape) {
        return b.placeholder(name, std::move(shape), DType::F32);
    };
    using Exprs = std::vector<ir::Expr>;
    const compute::Tensor data = placeholder("data", {1, 7, 7, 512});
    const compute::Tensor pad = b.compute("pad", {1, 7, 7, 512}, {"i0", "i1", "i2", "i3"}, "",
                                          [&](const Exprs& i) { return b.at(data, i); });
    const compute::Tensor weight = placeholder("weight", {1, 1, 512, 2048});
    compute::Tensor x = b.reduce(
        "conv", {1, 7, 7, 2048}, {"nn", "yy", "xx", "ff"}, "", ir::Combiner::Sum, {{"ry", 1}, {"rx", 1}, {"rc", 512}},
        [&](const Exprs& i, const Exprs& r) {
            return b.at(pad, {i[0], i[1] + r[0], i[2] + r[1], r[2]}) * b.at(weight, {r[0], r[1], r[2], i[3]});
        });
    for (int k = 0; k < 3; ++k) {
        const compute::Tensor other = placeholder(k == 0 ? "residual" : k == 1 ? "scale" : "bias", {1, 7, 7, 2048});
        x = compute::binary(b, k == 1 ? compute::Binary::Multiply : compute::Binary::Add, x, other);
    }
    x = compute::unary(b, compute::Unary::Relu, x);
    const auto dag = std::move(b).finish({x});
    QVERIFY(dag);
    auto state = replayed(*dag, R"([
        ["CI", 9], ["CI", 7], ["CI", 5],
        ["SP", 3, 0, 1, [1, 1, 1], 1], ["SP", 3, 4, 7, [1, 7, 1], 1], ["SP", 3, 8, 7, [7, 1, 1], 1], ["SP", 3, 12, 2048, [2, 1, 16], 1],
        ["SP", 3, 16, 1, [1], 1], ["SP", 3, 18, 1, [1], 1], ["SP", 3, 20, 512, [32], 1],
        ["RE", 3, [0, 4, 8, 12, 1, 5, 9, 13, 16, 18, 20, 2, 6, 10, 14, 17, 19, 21, 3, 7, 11, 15]],
        ["FSP", 10, 0, 3, 2], ["FSP", 10, 3, 4, 2], ["FSP", 10, 6, 5, 2], ["FSP", 10, 9, 6, 2],
        ["RE", 10, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]],
        ["CA", 3, 10, 7], ["CI", 1],
        ["FU", 10, [0, 1, 2, 3, 4, 5, 6, 7]], ["AN", 10, 0, 3],
        ["PR", 3, 0, "auto_unroll_max_step$512"], ["AN", 3, 21, 2], ["AN", 10, 4, 2]
    ])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    QVERIFY(state->inferBounds());
    const QString text = QString::fromStdString(state->print());
    QVERIFY2(text.contains("parallel ax0.0@ax1.0@ax2.0@ax3.0@ax0.1@ax1.1@ax2.1@ax3.1@ (0,896)"), qPrintable(text));
    QVERIFY2(text.contains("  for rc.0 (0,16)\n    for yy.2 (0,7)\n      for rc.1 (0,32)\n        vectorize ff.3 "
                           "(0,16)\n          conv = ..."),
             qPrintable(text));
}

void TestState::illegalStepsAreRefused_data()
{
    QTest::addColumn<QString>("steps");
    // data 0, pad 1, weight 2, conv 3, bias 4, add 5, relu 6
    const std::pair<const char*, const char*> rows[] = {
        {"stage that is not there", R"([["CI", 7]])"},
        {"inlining a placeholder", R"([["CI", 0]])"},
        {"inlining a reduction", R"([["CI", 3]])"},
        {"inlining the output", R"([["CI", 6]])"},
        {"iterator that is not there", R"([["AN", 6, 4, 3]])"},
        {"annotating a placeholder", R"([["AN", 0, 0, 3]])"},
        {"annotating twice", R"([["AN", 6, 0, 3], ["AN", 6, 0, 2]])"},
        {"fusing what is apart", R"([["FU", 6, [0, 2]]])"},
        {"empty fuse of a stage with loops", R"([["FU", 6, []]])"},
        {"order that leaves one out", R"([["RE", 6, [0, 1, 2]]])"},
        {"order that names one twice", R"([["RE", 6, [0, 1, 2, 2]]])"},
        {"pragma of no meaning", R"([["PR", 6, 0, "vectorize"]])"},
        {"pragma without number", R"([["PR", 6, 0, "auto_unroll_max_step$x"]])"},
        {"following what is no split", R"([["CI", 5], ["FSP", 6, 0, 0, 1]])"},
        {"following a later step", R"([["FSP", 6, 0, 3, 1]])"},
        {"attaching to a producer", R"([["CA", 5, 3, 0]])"},
        {"attaching the output", R"([["CA", 6, 6, 0]])"},
        {"inlining what holds another", R"([["CA", 3, 5, 0], ["CI", 5]])"},
        {"fusing across an attachment", R"([["CA", 3, 5, 0], ["FU", 5, [0, 1]]])"},
        {"caching for who does not read", R"([["CHR", 0, "shared", [3]]])"},
        {"factoring what is no reduction", R"([["RF", 6, 0, 0]])"},
        {"factoring a spatial iterator", R"([["RF", 3, 0, 0]])"},
        {"layout with a hole", R"([["LY", 2, [[0, 1, 3], [1, 1, 3], [2, 1, 2], [3, 2, 2]]]])"},
        {"layout too small", R"([["LY", 2, [[0, 1, 3], [1, 1, 3], [2, 1, 2], [3, 1, 3]]]])"},
        {"layout larger than any memory",
         R"([["LY", 2, [[0, 1, 3], [1, 1, 3], [2, 1, 2], [3, 1, 4611686018427387904]]]])"},
        {"layout that overflows", R"([["LY", 2, [[0, 1, 4294967296], [1, 1, 4294967296], [2, 1, 2], [3, 1, 4]]]])"},
        {"fusing more than can be counted",
         R"([["SP", 3, 3, 4, [2147483647, 2147483647, 2147483647], 1], ["FU", 3, [3, 4, 5, 6]]])"},
        {"following lengths of a product that cannot be counted",
         R"([["SP", 3, 3, 4, [2147483647, 2147483647, 2147483647], 1], ["CHW", 3, "local"], ["FSP", 4, 3, 0, 1]])"},
        {"following fused lengths of such a product",
         R"([["SP", 3, 3, 4, [2147483647], 1], ["CHW", 3, "local"], ["FFSP", 4, 3, [0, 0, 0], 0, 1]])"},
        {"prefetch of what is not read", R"([["PF", 6, 0, 2, 64]])"},
        {"folding at root", R"([["FD", 3, 1, 4]])"},
        {"aligning a split iterator", R"([["SP", 3, 0, 1, [1], 1], ["SA", 3, 1, 16, 0]])"},
    };
    for (const auto& [name, steps] : rows)
        QTest::newRow(name) << QString(steps);
}

void TestState::illegalStepsAreRefused()
{
    QFETCH(QString, steps);
    const auto state = replayed(schedule::test::convBiasRelu(6, 6, 2, 4, 3, 1, 1), steps.toUtf8().constData());
    QVERIFY(!state);
    QVERIFY(state.error().code == Errc::IllegalSchedule);
    QVERIFY2(state.error().message.starts_with("step "), state.error().message.c_str());
}

void TestState::aRefusedStepLeavesTheStateAlone()
{
    State state = State::initial(schedule::test::matmul(4, 6, 8));
    const std::string before = state.print();
    QVERIFY(!state.apply(FuseStep{2, {1, 5}}));
    QCOMPARE(state.print(), before);
    QCOMPARE(state.steps().size(), std::size_t{0});
}

void TestState::followedSplitsTakeTheirLengths()
{
    auto state = replayed(schedule::test::matmul(24, 24, 8),
                          R"([["SP", 2, 0, 24, [2, 3, 2], 1], ["FSP", 2, 4, 0, 2], ["FFSP", 2, 7, [0], 1, 1]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    std::vector<std::int64_t> extents;
    for (const Iterator& iter : state->stages()[2].iters)
        extents.push_back(iter.extent);
    QCOMPARE(extents, (std::vector<std::int64_t>{2, 2, 3, 2, 2, 2, 6, 3, 3}));
    QCOMPARE(state->stages()[2].iters[4].name, std::string("j.0"));
}

void TestState::attachmentsFollowSplitsAndReorders()
{
    auto state = replayed(schedule::test::convBiasRelu(6, 6, 2, 4, 3, 1, 1),
                          R"([["CA", 3, 5, 2], ["SP", 5, 2, 6, [3], 1], ["SP", 5, 0, 1, [1], 1]])");
    QVERIFY(state);
    QCOMPARE(state->stages()[3].attachIter, 4);
    QVERIFY(state->apply(CacheReadStep{0, "local", {1}}));
    QCOMPARE(state->stages()[4].attachStage, 6);
}

void TestState::boundsOfAnAttachedStageAreWhatIsRead()
{
    // pad at a tile of 4 columns of a 3x3 convolution of stride 2: (4-1)*2+3 = 9 columns, 3 rows, all channels.
    auto state = replayed(schedule::test::convBiasRelu(16, 16, 5, 4, 3, 2, 1), R"([["SP", 3, 2, 8, [4], 1], ["CA", 1, 3, 2]])");
    QVERIFY(state);
    const auto inferred = state->inferBounds();
    QVERIFY2(inferred, inferred ? "" : inferred.error().message.c_str());
    std::vector<std::int64_t> extents;
    for (const Iterator& iter : state->stages()[1].iters)
        extents.push_back(iter.extent);
    QCOMPARE(extents, (std::vector<std::int64_t>{1, 3, 9, 5}));
}

void TestState::rfactorMakesTwoReductions()
{
    auto state = replayed(schedule::test::matmul(4, 4, 24), R"([["SP", 2, 2, 24, [8], 1], ["RF", 2, 3, 2]])");
    QVERIFY2(state, state ? "" : state.error().message.c_str());
    QCOMPARE(state->dag()->ops[2].name, std::string("C.rf"));
    QCOMPARE(state->dag()->ops[2].shape, (std::vector<std::int64_t>{4, 4, 8}));
    QCOMPARE(state->dag()->ops[2].reduceExtents, (std::vector<std::int64_t>{3}));
    QCOMPARE(state->dag()->ops[3].reduceExtents, (std::vector<std::int64_t>{8}));
    QCOMPARE(QString::fromStdString(schedule::test::checkKernel(*state, 3)), QString());
    // A length that does not divide is guarded.
    auto uneven = replayed(schedule::test::matmul(4, 4, 22), R"([["SP", 2, 2, 22, [8], 1], ["RF", 2, 3, 2]])");
    QVERIFY(uneven);
    QCOMPARE(QString::fromStdString(schedule::test::checkKernel(*uneven, 3)), QString());
}

void TestState::openLengthsHaveNoBounds()
{
    State state = State::initial(schedule::test::matmul(4, 6, 8));
    QVERIFY(state.apply(SplitStep{2, 0, 4, {std::nullopt}, true}));
    QVERIFY(!state.concrete());
    const auto inferred = state.inferBounds();
    QVERIFY(!inferred);
    QVERIFY(inferred.error().code == Errc::IllegalSchedule);
}

void TestState::loopsThatCannotBeCountedAreRefused()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("x", {0, 4}, DType::F32);
    const auto y = b.compute("y", {0, 4}, {}, "", [&](const auto& i) { return b.at(x, {i[0], i[1]}); });
    const auto none = std::move(b).finish({y});
    QVERIFY(none);
    State empty = State::initial(*none);
    QVERIFY(empty.inferBounds().error().code == Errc::IllegalSchedule);
    const std::int64_t many = std::int64_t{1} << 31;
    State huge = State::initial(schedule::test::matmul(many, many, many));
    QVERIFY(huge.inferBounds().error().code == Errc::IllegalSchedule);
}

LATHE_TEST(TestState)

} // namespace tst_state

#include "tst_state.moc"
