#include "core/support/processor_time.h"
#include "core/templates/config_json.h"
#include "core/templates/log_line.h"
#include "core/templates/template_table.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

namespace tst_template_line {

using namespace lathe;
using namespace lathe::templates;
using lathe::test::must;

namespace {

/// Lines made by hand in the documented form (autotvm.md 9), one of each kind.
constexpr const char*
    kLines
        [] =
            {
                // As the document has it, without blanks.
                R"({"input":["llvm -keys=cpu -mcpu=core-avx2","conv2d_NCHWc.x86",[["TENSOR",[1,64,56,56],"float32"],["TENSOR",[64,64,3,3],"float32"],[1,1],[1,1,1,1],[1,1],"NCHW","NCHW","float32"],{}],"config":{"index":279,"code_hash":null,"entity":[["tile_ic","sp",[-1,64]],["tile_oc","sp",[-1,16]],["tile_ow","sp",[-1,14]],["unroll_kw","ot",true]]},"result":[[0.00041,0.00042],0,1.93,1660000000.5],"version":0.2,"tvm_version":"0.9.0"})",
                // As Python writes it.
                R"({"input": ["llvm -keys=cpu -mcpu=core-avx2", "conv2d_NCHWc.x86", [["TENSOR", [1, 64, 56, 56], "float32"], ["TENSOR", [64, 64, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "NCHW", "NCHW", "float32"], {}], "config": {"index": 12, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 32]], ["tile_oc", "sp", [-1, 2]], ["tile_ow", "sp", [-1, 1]], ["unroll_kw", "ot", false]]}, "result": [[0.0012345678901234567], 0, 2.25, 1660000001.25], "version": 0.2, "tvm_version": "0.7.dev1"})",
                // 1x1, with rows.
                R"({"input": ["llvm -keys=cpu -libs= -link-params=0 -mcpu=skylake-avx512", "conv2d_NCHWc.x86", [["TENSOR", [1, 64, 56, 56], "float32"], ["TENSOR", [64, 64, 1, 1], "float32"], [1, 1], [0, 0, 0, 0], [1, 1], "NCHW", "NCHW", "float32"], {}], "config": {"index": 400, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 2]], ["tile_oc", "sp", [-1, 2]], ["tile_ow", "sp", [-1, 32]], ["tile_oh", "ot", 2]]}, "result": [[7.1e-05, 7.15e-05, 7.2e-05], 0, 1.5, 1600000000.0], "version": 0.2, "tvm_version": "0.8.0"})",
                // Packed by the graph's layouts.
                R"({"input": ["llvm -keys=cpu", "conv2d_NCHWc.x86", [["TENSOR", [1, 4, 56, 56, 16], "float32"], ["TENSOR", [4, 4, 3, 3, 16, 16], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "NCHW16c", "NCHW16c", "float32"], {}], "config": {"index": 5, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 16]], ["tile_oc", "sp", [-1, 16]], ["tile_ow", "sp", [-1, 28]], ["unroll_kw", "ot", true]]}, "result": [[0.0003], 0, 0.9, 1660000002.125], "version": 0.2, "tvm_version": "0.9.0"})",
                // Depthwise.
                R"({"input": ["llvm -keys=cpu -mcpu=core-avx2", "depthwise_conv2d_NCHWc.x86", [["TENSOR", [1, 32, 112, 112], "float32"], ["TENSOR", [32, 1, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "NCHW", "NCHW", "float32"], {}], "config": {"index": 107, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 32]], ["tile_oc", "sp", [-1, 32]], ["tile_ow", "sp", [-1, 4]], ["unroll_kw", "ot", true]]}, "result": [[0.0001], 0, 1.0, 1660000003.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // A fallback, whose outermost sizes are written out and whose row tile lies outside of the space.
                R"({"input": ["llvm -keys=cpu", "conv2d_NCHWc.x86", [["TENSOR", [1, 64, 56, 7], "float32"], ["TENSOR", [64, 64, 1, 1], "float32"], [1, 1], [0, 0, 0, 0], [1, 1], "NCHW", "NCHW", "float32"], {}], "config": {"index": 0, "code_hash": null, "entity": [["tile_ic", "sp", [8, 8]], ["tile_oc", "sp", [8, 8]], ["tile_ow", "sp", [1, 7]], ["tile_oh", "ot", 4]]}, "result": [[0.0002], 0, 0.5, 1660000004.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // Dense, packed and not, without and with bias.
                R"({"input": ["llvm -keys=cpu", "dense_pack.x86", [["TENSOR", [1, 512], "float32"], ["TENSOR", [1000, 512], "float32"], null, "float32"], {}], "config": {"index": 999, "code_hash": null, "entity": [["tile_y", "sp", [-1, 1, 1]], ["tile_x", "sp", [-1, 1, 1000]], ["tile_k", "sp", [-1, 512]], ["tile_inner", "sp", [-1, 1]]]}, "result": [[2.5e-05], 0, 0.75, 1660000005.0], "version": 0.2, "tvm_version": "0.9.0"})",
                R"({"input": ["llvm -keys=cpu", "dense_nopack.x86", [["TENSOR", [1, 512], "float32"], ["TENSOR", [1000, 512], "float32"], ["TENSOR", [1000], "float32"], "float32"], {}], "config": {"index": 144, "code_hash": null, "entity": [["tile_y", "sp", [-1, 1]], ["tile_x", "sp", [-1, 1]], ["tile_k", "sp", [-1, 512]]]}, "result": [[4.0000000000000003e-05], 0, 0.75, 1660000006.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // GPUs.
                R"({"input": ["cuda -keys=cuda,gpu -arch=sm_70 -max_num_threads=1024 -model=v100 -thread_warp_size=32", "conv2d_nchw.cuda", [["TENSOR", [1, 512, 7, 7], "float32"], ["TENSOR", [512, 512, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"], {}], "config": {"index": 412345, "code_hash": null, "entity": [["tile_f", "sp", [-1, 1, 16, 2]], ["tile_y", "sp", [-1, 1, 1, 1]], ["tile_x", "sp", [-1, 1, 7, 1]], ["tile_rc", "sp", [-1, 16]], ["tile_ry", "sp", [-1, 3]], ["tile_rx", "sp", [-1, 1]], ["auto_unroll_max_step", "ot", 1500], ["unroll_explicit", "ot", 0]]}, "result": [[0.00010412345678901235, 0.000105, 0.000106], 0, 3.4567890123, 1650000000.123456], "version": 0.2, "tvm_version": "0.8.dev0"})",
                R"({"input": ["cuda -model=1080ti", "conv2d_nchw_winograd.cuda", [["TENSOR", [1, 64, 56, 56], "float32"], ["TENSOR", [64, 64, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"], {}], "config": {"index": 98765, "code_hash": null, "entity": [["tile_b", "sp", [-1, 1, 1, 1]], ["tile_y", "sp", [-1, 1, 8, 8]], ["tile_x", "sp", [-1, 1, 49, 2]], ["tile_rc", "sp", [-1, 8]], ["auto_unroll_max_step", "ot", 128], ["unroll_explicit", "ot", 1]]}, "result": [[4.7e-05], 0, 2.0, 1650000001.5], "version": 0.2, "tvm_version": "0.7.0"})",
                R"({"input": ["opencl -device=intel_graphics", "depthwise_conv2d_nchw.cuda", [["TENSOR", [1, 512, 14, 14], "float32"], ["TENSOR", [512, 1, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"], {}], "config": {"index": 7, "code_hash": null, "entity": [["tile_f", "sp", [-1, 1, 1, 1]], ["tile_y", "sp", [-1, 1, 1, 1]], ["tile_x", "sp", [-1, 7, 2, 1]], ["auto_unroll_max_step", "ot", 256], ["unroll_explicit", "ot", 1]]}, "result": [[0.0001], 0, 1.25, 1650000002.0], "version": 0.2, "tvm_version": "0.7.0"})",
                R"({"input": ["cuda", "dense_small_batch.gpu", [["TENSOR", [1, 512], "float32"], ["TENSOR", [1000, 512], "float32"], null, "float32"], {}], "config": {"index": 6, "code_hash": null, "entity": [["tile_k", "sp", [-1, 64]]]}, "result": [[1.1e-05], 0, 1.0, 1650000003.0], "version": 0.2, "tvm_version": "0.9.0"})",
                R"({"input": ["cuda", "dense_large_batch.gpu", [["TENSOR", [128, 512], "float16"], ["TENSOR", [1000, 512], "float16"], null, "float32"], {}], "config": {"index": 31, "code_hash": null, "entity": [["tile_x", "sp", [-1, 2, 8, 4]], ["tile_y", "sp", [-1, 2, 25, 2]], ["tile_k", "sp", [-1, 8, 2]]]}, "result": [[2e-05], 0, 1.0, 1650000004.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // Mali: orders and marks.
                R"({"input": ["opencl -device=mali -model=rk3399", "conv2d_nchw_spatial_pack.mali", [["TENSOR", [1, 128, 28, 28], "float32"], ["TENSOR", [128, 128, 3, 3], "float32"], [1, 1], [1, 1, 1, 1], [1, 1], "float32"], {}], "config": {"index": 1234567, "code_hash": null, "entity": [["tile_co", "sp", [-1, 4, 8]], ["tile_oh", "sp", [-1, 1, 2]], ["tile_ow", "sp", [-1, 7, 2]], ["reorder_0", "re", [0, 1, 2, 3, 4, 5, 6, 9, 7, 8]], ["ann_reduce", "an", ["unroll", "none"]], ["ann_spatial", "an", ["none", "unroll", "vec"]]]}, "result": [[0.0078], 0, 9.5, 1640000000.75], "version": 0.2, "tvm_version": "0.6.0"})",
                R"({"input": ["opencl -device=mali", "conv2d_nchw_winograd.mali", [["TENSOR", [1, 128, 28, 28], "float16"], ["TENSOR", [128, 128, 3, 3], "float16"], [1, 1], [1, 1, 1, 1], [1, 1], "float16"], {}], "config": {"index": 42, "code_hash": null, "entity": [["tile_bna", "ot", 4], ["tile_bnb", "ot", 4], ["tile_t1", "sp", [-1, 64]], ["tile_t2", "sp", [-1, 128]], ["c_unroll", "sp", [-1, 8]], ["yt", "ot", 8]]}, "result": [[0.004, 0.0041], 0, 10.0, 1640000001.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // Failures: the reason is lost, the cost is 1e9 as Python spells it, and as the document does.
                R"({"input": ["cuda", "dense_small_batch.gpu", [["TENSOR", [1, 512], "float32"], ["TENSOR", [1000, 512], "float32"], null, "float32"], {}], "config": {"index": 9, "code_hash": null, "entity": [["tile_k", "sp", [-1, 512]]]}, "result": [[1000000000.0], 1, 0.1, 1650000005.0], "version": 0.2, "tvm_version": "0.9.0"})",
                R"({"input":["cuda","dense_small_batch.gpu",[["TENSOR",[1,512],"float32"],["TENSOR",[1000,512],"float32"],null,"float32"],{}],"config":{"index":9,"code_hash":null,"entity":[["tile_k","sp",[-1,512]]]},"result":[[1e9],7,10,1650000006],"version":0.2,"tvm_version":"0.9.0"})",
                R"({"input": ["llvm", "dense_nopack.x86", [["TENSOR", [1, 8], "float32"], ["TENSOR", [8, 8], "float32"], null, "float32"], {}], "config": {"index": 3, "code_hash": null, "entity": [["tile_y", "sp", [-1, 1]], ["tile_x", "sp", [-1, 8]], ["tile_k", "sp", [-1, 1]]]}, "result": [[1000000000.0], 6, 10.000123456789, 1650000007.875], "version": 0.2, "tvm_version": "0.9.0"})",
                // Without the reference's version; with a checksum.
                R"({"input": ["llvm", "dense_nopack.x86", [["TENSOR", [1, 8], "float32"], ["TENSOR", [8, 8], "float32"], null, "float32"], {}], "config": {"index": 0, "code_hash": "0x5f3a91c2", "entity": [["tile_y", "sp", [-1, 1]], ["tile_x", "sp", [-1, 1]], ["tile_k", "sp", [-1, 1]]]}, "result": [[1e-06], 0, 0.2, 1650000008.0], "version": 0.2})",
                // The graph tuner's conversion of a layout: nothing to choose.
                R"({"input": ["llvm -keys=cpu", "layout_transform", [["TENSOR", [1, 4, 56, 56, 16], "float32"], "NCHW16c", "NCHW32c"], {}], "config": {"index": 0, "code_hash": null, "entity": []}, "result": [[3.3e-05], 0, 0.3, 1650000009.0], "version": 0.2, "tvm_version": "0.9.0"})",
                // Templates that are not known here; arguments of all kinds.
                R"({"input": ["ext_dev -keys=vta,cpu -device=vta", "conv2d_packed.vta", [["TENSOR", [1, 16, 14, 14, 1, 16], "int8"], ["TENSOR", [32, 16, 3, 3, 16, 16], "int8"], [2, 2], [1, 1, 1, 1], [1, 1], "NCHW1n16c", "int32"], {}], "config": {"index": 70, "code_hash": null, "entity": [["tile_b", "sp", [-1, 1]], ["tile_h", "sp", [-1, 7]], ["tile_w", "sp", [-1, 7]], ["tile_ci", "sp", [-1, 4]], ["tile_co", "sp", [-1, 2]], ["oc_nthread", "ot", 1], ["h_nthread", "ot", 2]]}, "result": [[0.0025], 0, 5.0, 1650000010.0], "version": 0.2, "tvm_version": "0.9.0"})",
                R"({"input": ["rocm", "my_template", [["TENSOR", [4], "bool"], true, -7, 0.5, "\u6a21\u578b  \n x", [[1, [2]], []], null], {"axis": 1}], "config": {"index": 18446744, "code_hash": null, "entity": [["bind", "an", ["fuse", "blockIdx.x", "vthread", "threadIdx.x"]], ["cache", "an", [0, 2]], ["mode", "ot", "fast"], ["scale", "ot", 0.125], ["none", "ot", null]]}, "result": [[0.5, 1.5, 1e-07], 0, 123456789.125, 1650000011.0], "version": 0.2, "tvm_version": "0.14.dev0+g123"})",
                R"({"input": ["llvm -device=arm_cpu -mtriple=aarch64-linux-gnu", "conv2d_nchw_spatial_pack.arm_cpu", [["TENSOR", [1, 3, 224, 224], "float32"], ["TENSOR", [64, 3, 7, 7], "float32"], [2, 2], [3, 3], [1, 1], "float32"], {}], "config": {"index": 2, "code_hash": null, "entity": [["tile_co", "sp", [16, 4]], ["tile_oh", "sp", [112, 1]], ["tile_ow", "sp", [14, 8]], ["reorder_0", "re", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]], ["ann_reduce", "an", ["none", "none"]], ["ann_spatial", "an", ["unroll", "unroll", "vec"]]]}, "result": [[0.02], 0, 3.0, 1650000012.0], "version": 0.2, "tvm_version": "0.7.0"})",
                R"({"input": ["llvm", "conv3d_ncdhw.x86", [["TENSOR", [1, 3, 16, 112, 112], "float32"], ["TENSOR", [64, 3, 3, 7, 7], "float32"], [1, 2, 2], [1, 3, 3, 1, 3, 3], [1, 1, 1], "NCDHW", "float32"], {}], "config": {"index": 31, "code_hash": null, "entity": [["tile_ic", "sp", [-1, 3]], ["tile_oc", "sp", [-1, 16]], ["tile_ow", "sp", [-1, 8]], ["unroll_kw", "ot", true]]}, "result": [[0.1], 0, 30.0, 1650000013.0], "version": 0.2, "tvm_version": "0.9.0"})",
};

std::string withPart(const QByteArray& from, const QByteArray& to)
{
    QByteArray line(kLines[1]);
    const QByteArray changed = QByteArray(line).replace(from, to);
    Q_ASSERT(changed != line);
    return changed.toStdString();
}

} // namespace

class TestTemplateLine : public QObject
{
    Q_OBJECT

private slots:
    void linesRoundTripBitForBit_data()
    {
        QTest::addColumn<QByteArray>("line");
        QVERIFY(std::size(kLines) >= 24);
        for (std::size_t i = 0; i < std::size(kLines); ++i)
            QTest::addRow("line %zu", i) << QByteArray(kLines[i]);
    }
    void linesRoundTripBitForBit()
    {
        QFETCH(QByteArray, line);
        const auto trial = must(readTemplateLine(line.toStdString()));
        QVERIFY(trial);
        QCOMPARE(QByteArray::fromStdString(templateLine(*trial)), line);
        QVERIFY(must(workloadFromKey(workloadKey(trial->workload))) == trial->workload);
    }

    void membersAreWhatTheLineSays()
    {
        const TemplateTrial trial = must(readTemplateLine(kLines[0])).value();
        QCOMPARE(trial.target, std::string("llvm -keys=cpu -mcpu=core-avx2"));
        QCOMPARE(trial.workload.task, std::string("conv2d_NCHWc.x86"));
        QCOMPARE(configText(trial.config),
                 std::string("tile_ic [-1, 64], tile_oc [-1, 16], tile_ow [-1, 14], unroll_kw true"));
        QVERIFY(trial.config.index == 279U);
        QCOMPARE(trial.meanCost(), (0.00041 + 0.00042) / 2);
        QCOMPARE(trial.error, 0);
        QCOMPARE(trial.allCost.value, 1.93);
        QCOMPARE(trial.timestamp.value, 1660000000.5);
        QVERIFY(trial.version == "0.9.0");
        const TemplateTrial failed = must(readTemplateLine(kLines[15])).value();
        QCOMPARE(failed.error, 1);
        QVERIFY(std::isinf(failed.meanCost()));
    }

    /// The document's example: its index is that of ascending candidates.
    void theIndexOfTheExampleIsOurs()
    {
        const TemplateTrial trial = must(readTemplateLine(kLines[0])).value();
        TemplateFacts tutorial;
        tutorial.widthPolicy = SplitPolicy::Factors;
        const std::uint64_t factors = must(must(spaceOf(trial.workload, tutorial)).indexOf(trial.config));
        const std::uint64_t verbose = must(must(spaceOf(trial.workload)).indexOf(trial.config));
        QVERIFY(factors == trial.config.index);
        QVERIFY(verbose == trial.config.index); // the two policies have the same tiles up to 14
    }

    /// Logs of a template that is known apply to its space.
    void configurationsOfLogsAreInTheirSpaces()
    {
        int found = 0, outside = 0;
        for (const char* line : kLines) {
            const TemplateTrial trial = must(readTemplateLine(line)).value();
            const Result<ConfigSpace> space = spaceOf(trial.workload);
            if (!space)
                continue;
            const Result<std::uint64_t> index = space->indexOf(trial.config);
            ++(index ? found : outside);
            if (index)
                QVERIFY(must(space->at(*index)).knobs.size() == trial.config.knobs.size());
        }
        QCOMPARE(found, 18);
        QCOMPARE(outside, 1); // the fallback
    }

    void commentsAndBlankLinesAreNothing()
    {
        for (const char* line : {"", " ", "\t", "\r", "# a comment", "#{"})
            QVERIFY(!must(readTemplateLine(line)));
        QVERIFY(must(readTemplateLine(std::string(kLines[1]) + "\r\n")));
    }

    void keysTellMeasurementsApart()
    {
        TemplateTrial a = must(readTemplateLine(kLines[0])).value(), b = a;
        b.costs = {{1.0}};
        b.config.index = 1;
        b.style = JsonStyle::Spaced;
        QCOMPARE(trialKey(a), trialKey(b));
        b.config.set("unroll_kw", OptionEntity{{false}});
        QVERIFY(trialKey(a) != trialKey(b));
    }

    void numbersKeepTheirDigits()
    {
        for (const char* costs : {"[0.10]", "[1E-4]", "[1]", "[0.000100]", "[1e-4, 2e-4]"}) {
            const std::string line = withPart("[0.0012345678901234567]", costs);
            QCOMPARE(templateLine(must(readTemplateLine(line)).value()), line);
        }
    }

    void olderVersionsAreNamed()
    {
        const auto old = readTemplateLine(
            R"({"i": ["cuda", "topi_nn_conv2d", [], {}, ["conv2d"], {"i": 1, "t": "direct", "c": null, "e": []}], "r": [[0.1], 0, 1.0, 1.0], "v": 0.1})");
        QVERIFY(old.error().code == Errc::Unsupported);
        QCOMPARE(old.error().message, std::string("template tuner's log of version 0.1; version 0.2 is supported"));
        QVERIFY(readTemplateLine(withPart("\"version\": 0.2", "\"version\": 0.3")).error().code == Errc::Unsupported);
        QCOMPARE(
            readTemplateLine(withPart("\"version\": 0.2", "\"version\": \"" + QByteArray(5000, 'x') + '"'))
                .error()
                .message.size(),
            std::string("template tuner's log of version \"xxxxxxxxxxxxxxxxxxx...; version 0.2 is supported").size());
    }

    void hostileLinesAreRefusedWithOneClearError_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QByteArray>("message");
        const auto row = [](const char* name, const char* from, const QByteArray& to, const char* message) {
            QTest::newRow(name) << QByteArray(from) << to << QByteArray(message);
        };
        row("cut off", ", \"version\"", "", "not JSON");
        row("no version", "\"version\"", "\"versions\"", "version is not a member of the line");
        row("no input", "\"input\"", "\"inputs\"", "template tuner's log of version 0.2");
        row("no config", "\"config\"", "\"configs\"", "config is not a member of the line");
        row("no result", "\"result\"", "\"results\"", "result is not a member of the line");
        row("a target that is a number", "\"llvm -keys=cpu -mcpu=core-avx2\"", "5", "input is not");
        row("kwargs that are a list", "{}]", "[]]", "input[3] is not");
        row("a task without a name", "\"conv2d_NCHWc.x86\"", "\"\"", "the task is not");
        row("a task that is null", "\"conv2d_NCHWc.x86\"", "null", "the task is not");
        row("a tensor without a shape", "[1, 64, 56, 56]", "7", "args[0] is not");
        row("an object among arguments", "[64, 64, 3, 3]", "[{}]", "args[1] is not");
        row("a negative index", "\"index\": 12", "\"index\": -12", "config.index is not");
        row("a huge index", "\"index\": 12", "\"index\": 1e30", "config.index is not");
        row("a negative factor", "[-1, 32]", "[-1, -32]", "config.entity[0] is not");
        row("a kind that does not exist", "\"ot\", false", "\"oo\", false", "config.entity[3] is not");
        row("no cost", "[0.0012345678901234567]", "[]", "result[0] is not");
        row("a cost of zero", "[0.0012345678901234567]", "[0.0]", "result[0] is not");
        row("a negative cost", "[0.0012345678901234567]", "[-0.1]", "result[0] is not");
        row("a cost that is a text", "[0.0012345678901234567]", "[\"0.1\"]", "result[0] is not");
        row("a cost that is not a number", "[0.0012345678901234567]", "[NaN]", "not JSON");
        row("a cost beyond all bounds", "[0.0012345678901234567]", "[1e999]", "not JSON");
        row("an unknown error", "], 0, 2.25", "], 9, 2.25", "result[1] is not");
        row("an error that is a fraction", "], 0, 2.25", "], 0.0, 2.25", "result[1] is not");
        row("an error that is true", "], 0, 2.25", "], true, 2.25", "result[1] is not");
        row("a negative duration", "2.25", "-2.25", "result[2] is not");
        row("a time that is null", "1660000001.25", "null", "result[3] is not");
        row("a time after the end of years", "1660000001.25", "1e300", "result[3] is not");
        row("a result of five", "1660000001.25", "1, 2", "result is not");
        row("a version of the reference that is a number", "\"0.7.dev1\"", "7", "tvm_version is not");
        row("too deep", "{}]", QByteArray(100000, '['), "JSON nested deeper than any record");
        row("too many values", "[0.0012345678901234567]", "[1" + QByteArray(",1").repeated(70000) + "]",
            "the number of values is not");
        row("too many costs", "[0.0012345678901234567]", "[1" + QByteArray(",1").repeated(20000) + "]",
            "result[0] is not");
        row("something behind it", "\"0.7.dev1\"}", "\"0.7.dev1\"} 1", "not JSON");
    }
    void hostileLinesAreRefusedWithOneClearError()
    {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(QByteArray, message);
        std::string line = withPart(from, to);
        if (message == "not JSON" && to.isEmpty())
            line.resize(line.size() / 2);
        const auto trial = readTemplateLine(line);
        QVERIFY(!trial);
        QVERIFY2(trial.error().message.starts_with(message.toStdString()), trial.error().message.c_str());
        QVERIFY(trial.error().message.size() < 200);
        QVERIFY(trial.error().about);
    }

    /// No prefix of a line and no line with one byte changed does harm.
    void damagedLinesDoNoHarm()
    {
        for (const char* text : kLines) {
            const std::string line(text);
            for (std::size_t i = 1; i < line.size(); i += 7)
                QVERIFY(!readTemplateLine(line.substr(0, i)));
            for (std::size_t i = 0; i < line.size(); i += 3) {
                std::string damaged = line;
                damaged[i] = static_cast<char>(damaged[i] ^ (1 + i % 127));
                if (const auto trial = readTemplateLine(damaged); trial && *trial)
                    QVERIFY(must(readTemplateLine(templateLine(**trial))));
            }
        }
    }

    /// 10,000 lines a second is what is asked for. Processor time: others use this machine too.
    void linesAreReadFast()
    {
        constexpr int kRounds = 200;
        const double begin = processorSeconds();
        std::size_t costs = 0;
        for (int i = 0; i < kRounds; ++i)
            for (const char* line : kLines)
                costs += must(readTemplateLine(line)).value().costs.size();
        const double perSecond = kRounds * static_cast<double>(std::size(kLines)) / (processorSeconds() - begin);
        qInfo("%.0f lines a second", perSecond);
        QVERIFY(costs > 0);
        QVERIFY2(perSecond > 10'000, qPrintable(QString::number(perSecond)));
    }
};

LATHE_TEST(TestTemplateLine)

} // namespace tst_template_line
#include "tst_template_line.moc"
