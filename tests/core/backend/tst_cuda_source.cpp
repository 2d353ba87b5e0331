#include "core/backend/c_source.h"
#include "tests/core/backend/printed_kernels.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

namespace tst_cuda_source {

using namespace lathe;
using namespace lathe::test;

namespace {

/// The text of its only launch behind what it needs, with SYMBOL in place of its symbol.
QString printed(const ir::LoopNest& nest)
{
    const backend::KernelSource source = must(backend::printCuda(nest));
    QString text = QString::fromStdString(source.text());
    return text.replace(QString::fromStdString(source.launches.at(0).symbol), QStringLiteral("SYMBOL"));
}

/// One statement of each of eight threads on buffers of 64 elements.
QString printed(std::vector<ir::Buffer> buffers, const std::function<ir::Stmt(const ir::Expr& thread)>& body)
{
    return printed(oneLaunch(std::move(buffers), 8, body));
}

/// What follows `heading` up to the end of its line.
QString lineOf(const QString& text, const QString& heading)
{
    const qsizetype at = text.indexOf(heading);
    return at < 0 ? QString() : text.mid(at, text.indexOf(QLatin1Char('\n'), at) - at);
}

} // namespace

/// Kernels as CUDA C++: whole texts of a few, then what the language has of its own. That NVRTC takes them, and what
/// they compute, is for the tests of the CUDA plugin.
class TestCudaSource : public QObject
{
    Q_OBJECT
private slots:
    /// Copies of 16 bytes into shared memory, a tile of vectors in registers, products joined with sums.
    void aTiledProduct() { QCOMPARE(printed(tiledProduct()), QString::fromUtf8(kTiledProduct)); }
    void blocksThatThereIsToBeRoomForAreSaid()
    {
        ir::LoopNest nest = tiledProduct();
        const QString before = printed(nest);
        QVERIFY(!before.contains(QRegularExpression("__launch_bounds__\\(\\d+, ")));
        nest.launches.front().leastBlocks = 3;
        QVERIFY(printed(nest).contains(QRegularExpression("__launch_bounds__\\(\\d+, 3\\)\n")));
        QVERIFY(
            !QString::fromStdString(lathe::test::must(backend::printOpenCl(nest)).text()).contains("launch_bounds"));
    }
    /// Steps that are written out and read neighbours load them as a vector, once; what only some threads read, or what
    /// begins anywhere, is read as it comes.
    void neighbouringStepsAreLoadedTogether()
    {
        const auto sum = [](std::int64_t steps, std::int64_t first, bool isGuarded) {
            return printed({parameter("x", DType::F32, true), parameter("y", DType::F32)}, [=](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step");
                ir::Stmt add = store(1, thread,
                                     load(1, thread) + load(0, thread * ir::intImm(4) + step + ir::intImm(first)));
                if (isGuarded)
                    add = ir::makeIf(thread < ir::intImm(7), add);
                return ir::makeFor(step, ir::intImm(0), ir::intImm(steps), ir::LoopKind::Unrolled, add);
            });
        };
        const QString four = sum(4, 0, false);
        QVERIFY2(four.contains("const float4 got_0 = (*(const float4*)(x + at_0));"), qPrintable(four));
        for (const char* const element : {"got_0.x", "got_0.y", "got_0.z", "got_0.w"})
            QVERIFY2(four.contains(element), qPrintable(four));
        QVERIFY(!four.contains("x[at_0"));
        QVERIFY(sum(2, 0, false).contains("(*(const float2*)(x + at_0))"));
        QVERIFY(sum(2, 2, false).contains("(*(const float2*)(x + at_0 + 2))"));
        for (const QString& single :
             {sum(4, 1, false), sum(4, 2, false), sum(2, 1, false), sum(3, 0, false), sum(4, 0, true)})
            QVERIFY2(!single.contains("float4") && !single.contains("float2"), qPrintable(single));
    }
    /// Neighbours of which all are there or none are one vector, or one of what stands for them; not where each has a
    /// condition of its own, or where data decide.
    void neighboursUnderOneConditionAreLoadedTogether()
    {
        const auto sum = [](const auto& condition) {
            return printed({parameter("x", DType::F32, true), parameter("y", DType::F32)}, [&](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step");
                const ir::Expr term = ir::ifThenElse(condition(thread, step), load(0, thread * ir::intImm(4) + step),
                                                     ir::floatImm(0));
                return ir::makeFor(step, ir::intImm(0), ir::intImm(4), ir::LoopKind::Unrolled,
                                   store(1, thread, load(1, thread) + term));
            });
        };
        const QString one = sum([](const ir::Expr& thread, const ir::Expr&) { return thread < ir::intImm(7); });
        QVERIFY2(one.contains("const float4 got_0 = ((thread < 7) ? (*(const float4*)(x + at_0)) : "
                              "spread_float4(0.0f));"),
                 qPrintable(one));
        for (const char* const element : {"+ got_0.x)", "+ got_0.y)", "+ got_0.z)", "+ got_0.w)"})
            QVERIFY2(one.contains(element), qPrintable(one));
        const QString each = sum(
            [](const ir::Expr& thread, const ir::Expr& step) { return thread + step < ir::intImm(7); });
        QVERIFY2(!each.contains("float4"), qPrintable(each));
        const QString data = sum(
            [](const ir::Expr&, const ir::Expr&) { return load(0, ir::intImm(1)) < ir::floatImm(7); });
        QVERIFY2(!data.contains("float4"), qPrintable(data));
    }
    void aReduction() { QCOMPARE(printed(reduction()), QString::fromUtf8(kReduction)); }

    void vectorsFromAnyPlace()
    {
        const QString text = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32)}, [](const ir::Expr& thread) {
                const ir::Expr lane = ir::var("lane");
                const ir::Expr at = thread * ir::intImm(4) + lane;
                return ir::makeFor(lane, ir::intImm(0), ir::intImm(4), ir::LoopKind::Vectorized,
                                   ir::makeBlock({store(1, at, load(0, at + ir::intImm(1))),
                                                  store(1, at + ir::intImm(1), load(0, at))}));
            });
        QVERIFY2(text.contains("= load_float4(x + at_0 + 1);\n    *(float4*)(y + at_0) = got_0;"), qPrintable(text));
        QVERIFY2(text.contains("= (*(const float4*)(x + at_0));\n    store_float4(got_1, y + at_0 + 1);"),
                 qPrintable(text));
        QCOMPARE(lineOf(text, "__device__ inline float4 load_float4"),
                 QString("__device__ inline float4 load_float4(const float *a) "
                         "{ return make_float4(a[0], a[1], a[2], a[3]); }"));
        QCOMPARE(lineOf(text, "__device__ inline void store_float4"),
                 QString("__device__ inline void store_float4(float4 a, float *b) "
                         "{ b[0] = a.x; b[1] = a.y; b[2] = a.z; b[3] = a.w; }"));
    }

    void floatsBecomeTheNearestIntegers_data()
    {
        QTest::addColumn<int>("from");
        QTest::addColumn<int>("to");
        QTest::addColumn<QString>("helper");
        const auto row = [](DType from, DType to, const char* helper) {
            QTest::addRow("%s to %s", toString(from), toString(to)) << int(from) << int(to) << helper;
        };
        row(DType::F32, DType::I8,
            "int8 nearest_int8_of_float(float x) { return x == x ? (int8)min(max(__float2int_rz(x), -128), 127) : "
            "(int8)0; }");
        row(DType::F32, DType::U16,
            "uint16 nearest_uint16_of_float(float x) { return x == x ? (uint16)min(__float2uint_rz(x), 65535u) : "
            "(uint16)0; }");
        row(DType::F64, DType::U32,
            "uint nearest_uint_of_double(double x) { return x == x ? (uint)__double2uint_rz(x) : (uint)0; }");
        row(DType::F64, DType::I64,
            "int64 nearest_int64_of_double(double x) { return x == x ? (int64)__double2ll_rz(x) : (int64)0; }");
        row(DType::BF16, DType::U64,
            "uint64 nearest_uint64_of_bfloat16(bfloat16 x) { return x == x ? (uint64)__float2ull_rz(x) : (uint64)0; }");
    }
    void floatsBecomeTheNearestIntegers()
    {
        QFETCH(int, from);
        QFETCH(int, to);
        QFETCH(QString, helper);
        const auto source = static_cast<DType>(from), target = static_cast<DType>(to);
        const QString text = printed(
            {parameter("x", source, true), parameter("y", target)},
            [&](const ir::Expr& thread) { return store(1, thread, ir::cast(target, load(0, thread, source))); });
        QVERIFY2(text.contains("__device__ inline " + helper + QLatin1Char('\n')), qPrintable(text));
    }

    /// The types of 16 bits have their conversions in the text, and arithmetic that rounds each result.
    void narrowFloatsNeedNoHeader()
    {
        const QString text = printed(
            {parameter("x", DType::F16, true), parameter("y", DType::BF16), parameter("z", DType::F16)},
            [](const ir::Expr& thread) {
                const ir::Expr x = load(0, thread, DType::F16);
                return ir::makeBlock({store(1, thread, ir::cast(DType::BF16, x)),
                                      store(2, thread, ir::call("exp", DType::F16, {x}) + x * x)});
            });
        QVERIFY(!text.contains("#include"));
        QVERIFY2(text.contains("y[thread] = (bfloat16)(x[thread]);"), qPrintable(text));
        QVERIFY2(text.contains("z[thread] = ((float16)expf((float)(x[thread])) + (x[thread] * x[thread]));"),
                 qPrintable(text));
        QVERIFY(text.contains("asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));"));
        QVERIFY(text.contains("bits = x != x ? wide >> 16 | 0x40 : (wide + 0x7fff + (wide >> 16 & 1)) >> 16;"));
        QCOMPARE(text.count("struct float16\n"), 1);
        QCOMPARE(text.count("struct bfloat16\n"), 1);
    }

    /// The compiler joins products with what another statement adds to them, too: only those that are added to
    /// something at once are left to it.
    void productsAreRoundedUnlessTheyAreAdded()
    {
        const QString text = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32), parameter("z", DType::F64)},
            [](const ir::Expr& thread) {
                const ir::Expr x = load(0, thread), z = load(2, thread, DType::F64);
                return ir::makeBlock({store(1, thread, x * x), store(1, thread, x + x * x), store(1, thread, x - x * x),
                                      store(2, thread, ir::call("fma", DType::F64, {z, z, ir::floatImm(-0.0)}) + z)});
            });
        for (const char* line :
             {"y[thread] = __fmul_rn(x[thread], x[thread]);", "y[thread] = (x[thread] + (x[thread] * x[thread]));",
              "y[thread] = (x[thread] - __fmul_rn(x[thread], x[thread]));",
              "z[thread] = (__dmul_rn(z[thread], z[thread]) + z[thread]);"})
            QVERIFY2(text.contains(line), qPrintable(text));
    }

    void numbersOfNoNumberHaveTheirBits()
    {
        const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
        const QString text = printed({parameter("x", DType::F32), parameter("y", DType::F64),
                                      parameter("z", DType::F16), parameter("i", DType::I64),
                                      parameter("u", DType::U64)},
                                     [&](const ir::Expr& thread) {
                                         return ir::makeBlock({store(0, thread, ir::floatImm(-infinity)),
                                                               store(1, thread, ir::floatImm(nan, DType::F64)),
                                                               store(2, thread, ir::floatImm(infinity, DType::F16)),
                                                               store(3, thread, ir::intImm(INT64_MIN, DType::I64)),
                                                               store(4, thread, ir::intImm(-1, DType::U64))});
                                     });
        for (const char* line :
             {"x[thread] = -__int_as_float(0x7f800000);", "y[thread] = __longlong_as_double(0x7ff8000000000000ll);",
              "z[thread] = (float16)__int_as_float(0x7f800000);", "i[thread] = (-9223372036854775807ll - 1);",
              "u[thread] = 18446744073709551615ull;"})
            QVERIFY2(text.contains(line), qPrintable(text));
    }

    /// 48 KiB may be declared; of more the launch has to ask for all.
    void moreSharedMemoryIsDeclaredWithoutASize_data()
    {
        QTest::addColumn<int>("elements");
        QTest::addColumn<bool>("isDynamic");
        QTest::addRow("48 KiB") << 12 * 1024 - 4 << false;
        QTest::addRow("16 bytes more") << 12 * 1024 << true;
    }
    void moreSharedMemoryIsDeclaredWithoutASize()
    {
        QFETCH(int, elements);
        QFETCH(bool, isDynamic);
        const ir::LoopNest nest = oneLaunch(
            {parameter("x", DType::F32), shared("first", DType::I8, 3), shared("second", DType::F32, elements)}, 8,
            [](const ir::Expr& thread) {
                return ir::makeBlock(
                    {store(1, ir::intImm(0), ir::intImm(1, DType::I8)), store(2, thread, load(0, thread))});
            });
        const backend::KernelSource source = must(backend::printCuda(nest));
        const QString text = QString::fromStdString(source.text());
        const std::int64_t bytes = 16 + 4 * std::int64_t(elements);
        QCOMPARE(source.launches[0].sharedBytes, bytes);
        QCOMPARE(source.launches[0].dynamicSharedBytes, isDynamic ? bytes : 0);
        if (isDynamic) {
            QVERIFY2(text.contains("    extern __shared__ __align__(16) unsigned char shared[];\n"
                                   "    int8 *const first = (int8*)(shared + 0);\n"
                                   "    float *const second = (float*)(shared + 16);\n"),
                     qPrintable(text));
        } else {
            QVERIFY2(text.contains("    __shared__ __align__(16) int8 first[16];\n"
                                   "    __shared__ __align__(16) float second[12284];\n"),
                     qPrintable(text));
        }
        QCOMPARE(must(backend::printOpenCl(nest)).launches[0].dynamicSharedBytes, 0);
    }

    void copiesOfFewStepsAreUnrolled_data()
    {
        QTest::addColumn<int>("steps");
        QTest::addColumn<bool>("intoShared");
        QTest::addColumn<bool>("isUnrolled");
        QTest::addRow("few") << 16 << true << true;
        QTest::addRow("many") << 17 << true << false;
        QTest::addRow("elsewhere") << 4 << false << false;
    }
    void copiesOfFewStepsAreUnrolled()
    {
        QFETCH(int, steps);
        QFETCH(bool, intoShared);
        QFETCH(bool, isUnrolled);
        const QString text = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32), shared("copy", DType::F32, 256)},
            [&](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step"), at = step * ir::intImm(8) + thread;
                return ir::makeFor(step, ir::intImm(0), ir::intImm(steps), ir::LoopKind::Serial,
                                   store(intoShared ? 2 : 1, at, load(0, at)));
            });
        QCOMPARE(text.contains("    #pragma unroll\n    for (int step = 0;"), isUnrolled);
    }

    /// By itself it writes out long ones whole, and then has no registers.
    void otherLoopsSayHowOftenTheyAreRepeated()
    {
        for (const auto& [steps, repeats] : {std::pair(24, 8), std::pair(6, 6), std::pair(17, 1)}) {
            const QString text = printed({parameter("x", DType::F32, true), parameter("y", DType::F32)},
                                         [steps](const ir::Expr& thread) {
                                             const ir::Expr step = ir::var("step"), at = step * ir::intImm(8) + thread;
                                             return ir::makeFor(step, ir::intImm(0), ir::intImm(steps),
                                                                ir::LoopKind::Serial, store(1, at, load(0, at)));
                                         });
            QVERIFY2(text.contains(QString("    #pragma unroll %1\n    for (int step = 0;").arg(repeats)),
                     qPrintable(text));
        }
    }

    /// Whatever quotients and remainders the place is made of.
    void neighboursBehindARemainderAreOneVector()
    {
        const QString text = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32)}, [](const ir::Expr& thread) {
                const ir::Expr lane = ir::var("lane");
                const ir::Expr at = thread * ir::intImm(4) + lane;
                return ir::makeFor(lane, ir::intImm(0), ir::intImm(4), ir::LoopKind::Vectorized,
                                   store(1, at, load(0, ir::floorMod(at, ir::intImm(16)))));
            });
        QVERIFY2(text.contains("(*(const float4*)(x + "), qPrintable(text));
    }

    /// What the compiler knows of one variable it does not know of a sum.
    void quotientsOfSumsHaveNoSign()
    {
        const QString text = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32)}, [](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step"), at = step * ir::intImm(8) + thread;
                return ir::makeFor(step, ir::intImm(0), ir::intImm(4), ir::LoopKind::Serial,
                                   store(1, ir::floorDiv(thread, ir::intImm(3)),
                                         load(0, ir::floorDiv(at, ir::intImm(3))) + load(0, at - ir::intImm(1))));
            });
        QVERIFY2(text.contains("= (thread / 3);"), qPrintable(text));
        QVERIFY2(text.contains("= (unsigned(((step * 2) + thread)) / 3);"), qPrintable(text));
    }

    /// A remainder of a loop's variable, as tiles of a ring have, is counted along with the loop; one of several
    /// variables is divided for, and so is what stands in a loop that is written out.
    void remaindersOfLoopsAreCounted()
    {
        const auto remainder = [](std::int64_t first, std::int64_t offset, ir::LoopKind kind, bool ofThread = false) {
            return printed({parameter("x", DType::F32, true), parameter("y", DType::F32)}, [=](const ir::Expr& thread) {
                const ir::Expr step = ir::var("step");
                const ir::Expr sum = ofThread ? step + thread : step + ir::intImm(offset);
                return ir::makeFor(step, ir::intImm(first), ir::intImm(9), kind,
                                   store(1, thread, load(1, thread) + load(0, ir::floorMod(sum, ir::intImm(3)))));
            });
        };
        const QString counted = remainder(1, 1, ir::LoopKind::Serial);
        QVERIFY2(counted.contains("    int step_remainder = 2;\n    #pragma unroll"), qPrintable(counted));
        QVERIFY2(counted.contains("x[step_remainder]"), qPrintable(counted));
        QVERIFY2(counted.contains("        step_remainder = step_remainder == 2 ? 0 : step_remainder + 1;\n    }\n"),
                 qPrintable(counted));
        QVERIFY(!counted.contains('%'));
        // Beside each other they have names of their own.
        const QString two = printed(
            {parameter("x", DType::F32, true), parameter("y", DType::F32)}, [](const ir::Expr& at) {
                std::vector<ir::Stmt> loops;
                for (int i = 0; i < 2; ++i) {
                    const ir::Expr step = ir::var("step");
                    loops.push_back(ir::makeFor(step, ir::intImm(0), ir::intImm(9), ir::LoopKind::Serial,
                                                store(1, at, load(0, ir::floorMod(step, ir::intImm(3))))));
                }
                return ir::makeBlock(std::move(loops));
            });
        QCOMPARE(two.count("int step_remainder = 0;"), 1);
        QCOMPARE(two.count("int step_remainder_1 = 0;"), 1);
        QVERIFY(!remainder(0, 1, ir::LoopKind::Unrolled).contains("step_remainder"));
        QVERIFY(remainder(0, 1, ir::LoopKind::Serial, true).contains("% 3"));
    }

    /// Of a long loop that should be written out some copies are, until the text is long enough. A load of its
    /// neighbours is not moved in front of the others, where the loop's variable has no value.
    void namesOfClosedLoopsAreForgotten()
    {
        const QString text = printed({parameter("x", DType::F32, true),
                                      ir::Buffer{"r", DType::F32, ir::Scope::Register, {12}, {1}, false, false}},
                                     [](const ir::Expr&) {
                                         const ir::Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
                                         const ir::Expr own = i * ir::intImm(4) + j;
                                         ir::Stmt s = store(1, own, load(1, own) + load(0, k * ir::intImm(4) + j));
                                         s = ir::makeFor(k, ir::intImm(0), ir::intImm(600), ir::LoopKind::Unrolled, s);
                                         s = ir::makeFor(j, ir::intImm(0), ir::intImm(4), ir::LoopKind::Unrolled, s);
                                         return ir::makeFor(i, ir::intImm(0), ir::intImm(3), ir::LoopKind::Unrolled, s);
                                     });
        QVERIFY(text.contains("for (int k = 0;"));
        QVERIFY2(!text.contains("float4"), qPrintable(text.right(4000)));
    }

    void tensorsMayBeCalledLikeWords()
    {
        const QString text = printed({parameter("template", DType::F32, true), parameter("max_float4", DType::F32)},
                                     [](const ir::Expr& thread) { return store(1, thread, load(0, thread)); });
        QVERIFY2(text.contains("v_max_float4[thread] = v_template[thread];"), qPrintable(text));
        const QString macros = printed({parameter("NULL", DType::F32, true), parameter("assert", DType::F32)},
                                       [](const ir::Expr& thread) { return store(1, thread, load(0, thread)); });
        QVERIFY2(macros.contains("v_assert[thread] = v_NULL[thread];"), qPrintable(macros)); // of the compiler's own
    }

    void whatHasNoFormIsRefusedByName()
    {
        const auto refusal = [](const ir::LoopNest& nest) {
            const auto source = backend::printCuda(nest);
            return source ? QString() : QString::fromStdString(source.error().message);
        };
        const QString function = refusal(oneLaunch({parameter("x", DType::F32)}, 8, [](const ir::Expr& thread) {
            return store(0, thread, ir::call("zeta", DType::F32, {load(0, thread)}));
        }));
        QVERIFY2(function.contains("CUDA C++") && function.contains("the intrinsic 'zeta'"), qPrintable(function));
        ir::Buffer large = parameter("x", DType::U8);
        large.shape = {std::int64_t(1) << 31};
        const QString size = refusal(
            oneLaunch({large}, 8, [](const ir::Expr& thread) { return store(0, thread, ir::intImm(0, DType::U8)); }));
        QVERIFY2(size.contains("CUDA C++") && size.contains("2147483648 elements"), qPrintable(size));
        QVERIFY(backend::printOpenCl(
                    oneLaunch({parameter("x", DType::BF16)}, 8,
                              [](const ir::Expr& thread) { return store(0, thread, load(0, thread, DType::BF16)); }))
                    .error()
                    .message.find("bfloat16")
                != std::string::npos);
    }

    /// What a user's caches have stays what it is: the text of OpenCL C, and the symbol, which is a hash of it.
    void openClIsAsItWas()
    {
        const backend::KernelSource source = must(backend::printOpenCl(tiledProduct()));
        QCOMPARE(QString::fromStdString(source.text()), QString::fromUtf8(kTiledProductInOpenCl));
    }
};

LATHE_TEST(TestCudaSource)

} // namespace tst_cuda_source

#include "tst_cuda_source.moc"
