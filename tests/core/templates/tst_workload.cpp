#include "core/templates/template_table.h"
#include "core/templates/workload_args.h"
#include "tests/core/templates/resnet_tasks.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

namespace tst_workload {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::templates::test;
using lathe::test::must;

class TestWorkload : public QObject
{
    Q_OBJECT

private slots:
    void aConvolutionIsWrittenAsTheReferenceDoes()
    {
        QCOMPARE(workloadKey(convWorkload("conv2d_NCHWc.x86", argsOf(kResnetTasks[1]))),
                 std::string(R"(["conv2d_NCHWc.x86", ["TENSOR", [1, 64, 56, 56], "float32"], )"
                             R"(["TENSOR", [64, 64, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "NCHW", "NCHW", )"
                             R"("float32"])"));
        QCOMPARE(workloadKey(convWorkload("depthwise_conv2d_nchw.cuda", depthwiseArgs(64, 28))),
                 std::string(R"(["depthwise_conv2d_nchw.cuda", ["TENSOR", [1, 64, 28, 28], "float32"], )"
                             R"(["TENSOR", [64, 1, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"])"));
        DenseArgs dense{1, 1000, 512};
        QCOMPARE(workloadKey(denseWorkload("dense_nopack.x86", dense)),
                 std::string(R"(["dense_nopack.x86", ["TENSOR", [1, 512], "float32"], )"
                             R"(["TENSOR", [1000, 512], "float32"], null, "float32"])"));
        dense.bias = true;
        QVERIFY(workloadKey(denseWorkload("dense_nopack.x86", dense)).find(R"(["TENSOR", [1000], "float32"])")
                != std::string::npos);
    }

    void keysAndArgumentsRoundTrip()
    {
        std::vector<Workload> workloads;
        for (const ResnetTask& task : kResnetTasks)
            for (const char* name : {"conv2d_NCHWc.x86", "conv2d_nchw.cuda", "conv2d_nchw_spatial_pack.mali"})
                workloads.push_back(convWorkload(name, argsOf(task)));
        workloads.push_back(convWorkload("depthwise_conv2d_NCHWc.x86", depthwiseArgs(64, 28)));
        for (const Workload& workload : workloads) {
            QVERIFY(must(workloadFromKey(workloadKey(workload))) == workload);
            const ConvArgs args = must(convArgs(workload));
            QVERIFY(convWorkload(workload.task, args) == workload);
        }
        for (const bool bias : {false, true}) {
            const Workload workload = denseWorkload("dense.mali", {16, 100, 32, bias, "float16", "float32"});
            QVERIFY(denseWorkload("dense.mali", must(denseArgs(workload))) == workload);
        }
        QCOMPARE(must(convArgs(workloads[0])).outHeight(), std::int64_t{112});
    }

    /// Of templates that are not known here, too.
    void allKindsOfArgumentsAreKept()
    {
        const std::string key =
            R"(["any.target", [], [[1, [2, "x"]], null], true, -3, 0.5, "text", ["TENSOR", [], "int8"]])";
        QCOMPARE(workloadKey(must(workloadFromKey(key))), key);
        QVERIFY(!(must(workloadFromKey(R"(["a", 1])")) == must(workloadFromKey(R"(["a", 1.0])"))));
        QVERIFY(!(must(workloadFromKey(R"(["a", 1])")) == must(workloadFromKey(R"(["a", true])"))));
    }

    void olderLogsPadByTwoNumbers()
    {
        const Workload workload = must(workloadFromKey(R"(["conv2d_nchw.cuda", ["TENSOR", [1, 4, 10, 10], "float32"],
            ["TENSOR", [8, 4, 3, 1], "float32"], [1, 1], [1, 0], [1, 1], null])"));
        const ConvArgs args = must(convArgs(workload));
        QVERIFY((args.padding == std::array<std::int64_t, 4>{1, 0, 1, 0}));
        QCOMPARE(args.outHeight(), std::int64_t{10});
        QCOMPARE(args.outDtype, std::string("float32"));
    }

    void hostileKeysAreRefused()
    {
        for (const char* key : {"", "{}", "[]", "[1]", R"([""])", R"(["a", {}])", R"(["a", [{"b": 1}]])",
                                R"(["a", ["TENSOR", 4, "float32"]])", R"(["a", ["TENSOR", [4], 7]])",
                                R"(["a", ["TENSOR", [[{}]], "float32"]])", R"(["a")"})
            QVERIFY2(workloadFromKey(key).error().code == Errc::BadFile, key);
    }

    void hostileArgumentsAreRefusedWithThePlace_data()
    {
        QTest::addColumn<QByteArray>("args");
        QTest::addColumn<QByteArray>("place");
        const auto row = [](const char* name, const char* args, const char* place) {
            QTest::newRow(name) << QByteArray(args) << QByteArray(place);
        };
        const char* rest = R"(, [1, 1], [1, 1, 1, 1], [1, 1], "float32")";
        static std::vector<QByteArray> kept; // what the rows point to
        const auto conv = [rest](const char* data, const char* kernel) {
            kept.push_back(QByteArray(R"(["TENSOR", )") + data + R"(, "float32"], ["TENSOR", )" + kernel
                           + R"(, "float32"])" + rest);
            return kept.back().constData();
        };
        row("no arguments", "", "args");
        row("no tensor", R"(7, 8, [1, 1], [1, 1, 1, 1], [1, 1], "float32")", "args[0]");
        row("three dimensions", conv("[1, 4, 8]", "[8, 4, 3, 3]"), "args[0], args[1]");
        row("a packed tensor", conv("[1, 1, 8, 8, 4]", "[2, 1, 3, 3, 4, 4]"), "args[0], args[1]");
        row("an extent of zero", conv("[1, 4, 0, 8]", "[8, 4, 3, 3]"), "args[0]");
        row("a negative extent", conv("[1, 4, -8, 8]", "[8, 4, 3, 3]"), "args[0]");
        row("a symbolic extent", conv(R"(["n", 4, 8, 8])", "[8, 4, 3, 3]"), "args[0]");
        row("a huge extent", conv("[1, 4, 99999999999, 8]", "[8, 4, 3, 3]"), "args[0]");
        row("a kernel for others", conv("[1, 4, 8, 8]", "[8, 5, 3, 3]"), "args[1]");
        row("a kernel that is too large", conv("[1, 4, 8, 8]", "[8, 4, 30, 3]"), "args[0]");
        row("a stride of zero",
            R"(["TENSOR", [1, 4, 8, 8], "float32"], ["TENSOR", [8, 4, 3, 3], "float32"], [1, 0], [1, 1, 1, 1], [1, 1], "float32")",
            "args[2]");
        row("a padding of three",
            R"(["TENSOR", [1, 4, 8, 8], "float32"], ["TENSOR", [8, 4, 3, 3], "float32"], [1, 1], [1, 1, 1], [1, 1], "float32")",
            "args[3]");
        row("a negative padding",
            R"(["TENSOR", [1, 4, 8, 8], "float32"], ["TENSOR", [8, 4, 3, 3], "float32"], [1, 1], [-1, 1], [1, 1], "float32")",
            "args[3]");
        row("a dtype that is a list",
            R"(["TENSOR", [1, 4, 8, 8], "float32"], ["TENSOR", [8, 4, 3, 3], "float32"], [1, 1], [1, 1], [1, 1], [])",
            "args[5]");
    }
    void hostileArgumentsAreRefusedWithThePlace()
    {
        QFETCH(QByteArray, args);
        QFETCH(QByteArray, place);
        const JsonValue list = must(parseJson('[' + args.toStdString() + ']'));
        const Result<ConvArgs> conv = convArgs({"conv2d_nchw.cuda", *list.list()});
        QVERIFY(!conv);
        QVERIFY(conv.error().code == Errc::InvalidArgument);
        QVERIFY2(conv.error().message.find(place.toStdString()) != std::string::npos, conv.error().message.c_str());
    }

    void hostileDenseArgumentsAreRefused()
    {
        for (const char* args : {R"(["TENSOR", [1, 4], "f"], ["TENSOR", [8, 5], "f"], null, "f")",
                                 R"(["TENSOR", [1, 4], "f"], ["TENSOR", [8, 4], "f"], ["TENSOR", [4], "f"], "f")",
                                 R"(["TENSOR", [1, 4], "f"], ["TENSOR", [8, 4], "f"], null, 4)",
                                 R"(["TENSOR", [4], "f"], ["TENSOR", [8, 4], "f"], null, "f")", "1, 2, 3, 4", "1"})
            QVERIFY2(!denseArgs({"dense.mali", *must(parseJson('[' + std::string(args) + ']')).list()}), args);
    }
};

LATHE_TEST(TestWorkload)

} // namespace tst_workload
#include "tst_workload.moc"
