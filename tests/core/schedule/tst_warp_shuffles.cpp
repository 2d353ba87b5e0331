#include "core/compute/definitions/reduction.h"
#include "core/ir/print.h"
#include "core/schedule/launch_limits.h"
#include "core/schedule/launch_resources.h"
#include "core/schedule/warp_shuffles.h"
#include "core/support/message.h"
#include "kernel_check.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace tst_warp_shuffles {

using namespace lathe;
using namespace lathe::schedule;
using namespace lathe::schedule::test;
using ir::Combiner;
using ir::Expr;
using lathe::test::must;
using Exprs = std::vector<Expr>;

namespace {

LowerOptions launches()
{
    LowerOptions options;
    options.form = KernelForm::Launches;
    return options;
}

/// y[i] = what the combiner makes of x[i, :].
compute::DagPtr rows(Combiner combiner, std::int64_t count, std::int64_t length, DType dtype = DType::F32)
{
    compute::DagBuilder b;
    const compute::Tensor x = b.placeholder("x", {count, length}, dtype);
    return must(std::move(b).finish(
        {b.reduce("y", {count}, {"i"}, "", combiner, {{"k", length}}, [&](const Exprs& i, const Exprs& r) {
            return b.at(x, {i[0], r[0]});
        })}));
}

/// A block for each row, `threads` for its sum, which exchange their parts in warps.
std::string stepsOf(std::int64_t length, std::int64_t threads, std::int32_t warp = 32)
{
    nlohmann::json steps = nlohmann::json::array();
    steps.push_back({"AN", 1, 0, 5});
    steps.push_back({"SP", 1, 1, length, {threads}, 1});
    steps.push_back({"AN", 1, 2, 6});
    if (warp > 0)
        steps.push_back({"SH", 1, 2, warp});
    return steps.dump();
}

State stateOf(const compute::DagPtr& dag, const std::string& steps)
{
    return must(State::replay(dag, must(stepsFromJson(nlohmann::json::parse(steps)))));
}

std::string refusalOf(const compute::DagPtr& dag, const std::string& steps, const LowerOptions& options = launches())
{
    const auto parsed = stepsFromJson(nlohmann::json::parse(steps));
    const auto state = parsed ? State::replay(dag, *parsed) : Result<State>(parsed.error());
    if (!state)
        return state.error().message;
    const auto lowered = lower(*state, options);
    return lowered ? std::string() : lowered.error().message;
}

} // namespace

/// Sums across threads whose parts go from register to register within warps.
class TestWarpShuffles : public QObject
{
    Q_OBJECT

private slots:
    void oneWarpNeedsNoSharedMemory()
    {
        const auto kernel = must(lower(stateOf(rows(Combiner::Sum, 3, 50), stepsOf(50, 8, 32)), launches()));
        QCOMPARE(QString::fromStdString(ir::print(kernel.nest)), QString(R"(kernel kernel
buffer x float32 parameter [3, 50] readonly
buffer y float32 parameter [3]
buffer y.own float32 register [1]
buffer y.pairs float32 register [1]
launch y grid (3, 1, 1) block (8, 1, 1)
  y.own[0] = 0f
  for k.0 (0, 7)
    if (((k.0*8) + threadIdx.x) < 50)
      y.own[0] = (y.own[0] + x[blockIdx.x, ((k.0*8) + threadIdx.x)])
  shuffle y.pairs[0] = y.own[0] of lane ^ 4 of 32
  y.own[0] = (y.own[0] + y.pairs[0])
  shuffle y.pairs[0] = y.own[0] of lane ^ 2 of 32
  y.own[0] = (y.own[0] + y.pairs[0])
  shuffle y.pairs[0] = y.own[0] of lane ^ 1 of 32
  y.own[0] = (y.own[0] + y.pairs[0])
  if (threadIdx.x == 0)
    y[blockIdx.x] = y.own[0]
)"));
        QCOMPARE(sizesOf(kernel.nest)[0].sharedBytes, std::int64_t{0});
    }

    void warpsHandOverThroughSharedMemory()
    {
        const auto kernel = must(lower(stateOf(rows(Combiner::Max, 2, 96), stepsOf(96, 96)), launches()));
        const QString text = QString::fromStdString(ir::print(kernel.nest));
        QVERIFY2(text.contains(R"(  if (floormod(threadIdx.x, 32) == 0)
    y.parts[floordiv(threadIdx.x, 32)] = y.own[0]
  barrier
  if (threadIdx.x < 32)
    y.own[0] = if_then_else((threadIdx.x < 3), y.parts[threadIdx.x], -inf)
    shuffle y.pairs[0] = y.own[0] of lane ^ 2 of 32
    y.own[0] = max(y.own[0], y.pairs[0])
    shuffle y.pairs[0] = y.own[0] of lane ^ 1 of 32
    y.own[0] = max(y.own[0], y.pairs[0])
)"),
                 qPrintable(text));
        QCOMPARE(text.count("barrier"), 1);
        QCOMPARE(sizesOf(kernel.nest)[0].sharedBytes, std::int64_t{16}); // three floats
    }

    void sumsAreRight_data()
    {
        QTest::addColumn<int>("combiner");
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("length");
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("warp");
        const auto row = [](Combiner combiner, DType dtype, int length, int threads, int warp = 32) {
            QTest::addRow("%d of %s, %d by %d in %d", int(combiner), toString(dtype), length, threads, warp)
                << int(combiner) << int(dtype) << length << threads << warp;
        };
        for (const Combiner combiner : {Combiner::Sum, Combiner::Prod, Combiner::Max, Combiner::Min})
            for (const int threads : {2, 16, 32, 64, 96, 256})
                row(combiner, DType::F32, 300, threads);
        for (const Combiner combiner : {Combiner::ArgMax, Combiner::ArgMin})
            for (const int threads : {8, 32, 96, 128})
                row(combiner, DType::F32, 301, threads);
        for (const DType dtype :
             {DType::F16, DType::BF16, DType::F64, DType::I8, DType::U8, DType::I16, DType::I32, DType::I64})
            row(Combiner::Sum, dtype, 49, 32);
        row(Combiner::Sum, DType::F32, 1031, 1024);
        row(Combiner::Sum, DType::F32, 77, 64, 16);
        row(Combiner::Sum, DType::F32, 77, 64, 64);
    }
    void sumsAreRight()
    {
        QFETCH(int, combiner);
        QFETCH(int, dtype);
        QFETCH(int, length);
        QFETCH(int, threads);
        QFETCH(int, warp);
        compute::DagPtr dag;
        if (Combiner(combiner) < Combiner::ArgMax) {
            dag = rows(Combiner(combiner), 3, length, DType(dtype));
        } else {
            compute::DagBuilder b;
            const compute::Tensor x = b.placeholder("x", {3, length}, DType(dtype));
            dag = must(
                std::move(b).finish({compute::argReduction(b, Combiner(combiner) == Combiner::ArgMax, x, 1, false)}));
        }
        const State state = stateOf(dag, stepsOf(length, threads, warp));
        const std::string wrong = checkKernel(state, 5, launches());
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(ir::print(must(lower(state, launches())).nest).find("shuffle ") != std::string::npos);
    }

    /// Several sums of a block, a warp or a part of one for each: x are the steps, y the sums.
    void severalSumsOfABlockKeepToTheirLanes()
    {
        const compute::DagPtr dag = rows(Combiner::Sum, 12, 40);
        for (const char* const threads : {"8", "32"}) {
            const std::string steps = std::string(R"([["SP", 1, 0, 12, [4], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 8],
                ["SP", 1, 2, 40, [)") + threads
                                      + R"(], 1], ["AN", 1, 3, 6], ["SH", 1, 3, 32]])";
            const std::string wrong = checkKernel(stateOf(dag, steps), 5, launches());
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }

    void refusalsSayWhy_data()
    {
        QTest::addColumn<QString>("steps");
        QTest::addColumn<QString>("words");
        const auto row = [](const std::string& steps, const char* words) {
            QTest::newRow(words) << QString::fromStdString(steps) << words;
        };
        row(stepsOf(96, 48), "'y' exchanges parts between 48 threads, which are neither whole warps of 32 lanes nor a "
                             "power of two below one");
        row(stepsOf(96, 96, 4), "'y' exchanges parts between 24 warps, which are more than the 4 lanes of one");
        row(stepsOf(96, 32, 24), "k.1 of 'y' exchanges parts in warps of 24 lanes, which is no power of two");
        row(R"([["AN", 1, 1, 8], ["SH", 1, 1, 32]])",
            "'y' exchanges parts of a sum along a loop that is not bound to threadIdx.x");
        row(R"([["SH", 1, 1, 32]])", "'y' exchanges parts of a sum along a loop that is not bound to threadIdx.x");
        row(R"([["SH", 1, 0, 32]])", "i of 'y' is not summed over: its threads have no parts to exchange");
        row(R"([["SH", 1, 1, 32], ["SP", 1, 1, 96, [32], 1]])",
            "threads of k of 'y' exchange parts, so it cannot be split");
        row(R"([["SH", 1, 1, 1]])", "warp is 1, outside of [2, 128]");
        row(stepsOf(9, 32), "'y' exchanges parts between 9 threads"); // a split makes no more than there are
        // Which would need shared memory for each.
        row(R"([["SP", 1, 0, 6, [2], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 8], ["SP", 1, 2, 96, [64], 1], ["AN", 1, 3, 6],
               ["SH", 1, 3, 32]])",
            "'y' shares parts of several sums of a block in memory, which lowering has no form for");
        row(R"([["SP", 1, 0, 6, [2], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 8], ["SP", 1, 2, 96, [32], 1], ["AN", 1, 3, 6]])",
            "'y' shares parts of several sums of a block in memory, which lowering has no form for");
        // Blocks of 3 x 16 threads are a warp and a half.
        row(R"([["SP", 1, 0, 6, [3], 1], ["AN", 1, 0, 5], ["AN", 1, 1, 8], ["SP", 1, 2, 96, [16], 1], ["AN", 1, 3, 6],
               ["SH", 1, 3, 32]])",
            "exchanges parts in blocks of 48 threads, which are no whole warps of 32 lanes");
    }
    void refusalsSayWhy()
    {
        QFETCH(QString, steps);
        QFETCH(QString, words);
        const int length = words.contains("9 threads") ? 9 : 96;
        const std::string refusal = refusalOf(rows(Combiner::Sum, 6, length), steps.toStdString());
        QVERIFY2(QString::fromStdString(refusal).contains(words), refusal.c_str());
    }

    /// A shuffle names all lanes of a warp: a device waits for those that do not come, or gives what nobody said.
    void warpsOfWhichSomeLanesStayAwayAreRefused()
    {
        const struct
        {
            std::array<std::int64_t, 3> block, coming;
            const char* words;
        } cases[] = {
            {{16, 4, 1}, {16, 4, 1}, ""},
            {{64, 2, 1}, {32, 2, 1}, ""},
            {{32, 2, 1}, {16, 2, 1}, "between 16 of 32 threads"},
            {{16, 4, 1}, {16, 3, 1}, "in 3 of 4 rows of 16 threads, which are no whole warps of 32 lanes"},
            {{16, 6, 1}, {16, 4, 1}, ""}, // two warps of three
            {{32, 4, 1}, {32, 3, 1}, ""},
            {{16, 3, 2}, {16, 2, 2}, "in 2 of 3 rows of 16 threads"}, // a step along z begins within a warp
            {{8, 2, 4}, {8, 2, 3}, "in 3 of 4 rows of 16 threads"},
            {{4, 4, 1}, {4, 3, 1}, "in 3 of 4 rows of 4 threads"}, // a block of less than a warp
        };
        ir::StmtNode shuffle;
        shuffle.warp = 32;
        shuffle.distance = 2;
        for (const auto& [block, coming, words] : cases) {
            const QString why = QString::fromStdString(whyNoWholeWarps(block, coming, shuffle));
            const std::string told = fmt::format("{} of {}: '{}'", coming[1], block[1], why.toStdString());
            QVERIFY2(QLatin1String(words).isEmpty() ? why.isEmpty() : why.contains(QLatin1String(words)), told.c_str());
        }
    }

    void otherWarpsAreRefusedByTheirRule()
    {
        const State state = stateOf(rows(Combiner::Sum, 6, 96), stepsOf(96, 32));
        const auto runs = [&](std::int64_t width) {
            Hardware hardware;
            if (width > 0)
                hardware.limits["shuffle_width"] = {width, "test"};
            return checkRunnable(state, KernelForm::Launches, {}, hardware);
        };
        QVERIFY(runs(32));
        for (const std::int64_t width : {0, 16, 64}) {
            const auto refused = runs(width);
            QVERIFY(!refused);
            QCOMPARE(int(refused.error().code), int(Errc::IllegalSchedule));
            QCOMPARE(messageOf(refused.error()).text("limit"), std::string("shuffle_width"));
        }
        const State other = stateOf(rows(Combiner::Sum, 6, 96), stepsOf(96, 32, 0));
        QVERIFY(checkRunnable(other, KernelForm::Launches, {}, Hardware()));
    }

    void stepsAreReadAsTheyWereWritten()
    {
        const Step step = ShuffleStep{1, 2, 32};
        QCOMPARE(toJson(step).dump(), std::string(R"(["SH",1,2,32])"));
        QCOMPARE(toJson(must(stepFromJson(toJson(step)))).dump(), toJson(step).dump());
        QVERIFY(!isReferenceStep(step));
        QVERIFY(stateOf(rows(Combiner::Sum, 6, 96), stepsOf(96, 32)).print().find("shuffles of 32")
                != std::string::npos);
    }
};

LATHE_TEST(TestWarpShuffles)

} // namespace tst_warp_shuffles

#include "tst_warp_shuffles.moc"
