#include "core/store/template_logs.h"
#include "core/target/presets.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

namespace tst_template_logs {

using namespace lathe;
using namespace lathe::store;
using lathe::test::must;

namespace {

/// A line of dense_pack.x86 on 1 x `k`; `cost` 0: it failed.
std::string line(std::string_view target, int k, int index, double cost, double second = 1.93)
{
    const std::string result = cost > 0 ? fmt::format("[[{}], 0, {}, 1660000000.5]", cost, second)
                                        : fmt::format("[[1000000000.0], 7, {}, 1660000000.5]", second);
    return fmt::format(R"({{"input": ["{}", "dense_pack.x86", [["TENSOR", [1, {}], "float32"], ["TENSOR", [16, {}], )"
                       R"("float32"], null, "float32"], {{}}], "config": {{"index": {}, "code_hash": null, "entity": )"
                       R"([["tile_y", "sp", [-1, 1, 1]], ["tile_x", "sp", [-1, 1, {}]], ["tile_k", "sp", [-1, 1]], )"
                       R"(["tile_inner", "sp", [-1, 1]]]}}, "result": {}, "version": 0.2, "tvm_version": "0.9.0"}})",
                       target, k, k, index, index, result);
}

constexpr const char* kAvx2 = "llvm -keys=cpu -mcpu=core-avx2";
constexpr const char* kModel = "llvm -keys=cpu -mcpu=core-avx2 -model=xeon";

} // namespace

class TestTemplateLogs : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::filesystem::path write(const char* name, std::initializer_list<std::string> lines)
    {
        std::string text;
        for (const std::string& each : lines)
            text += each + '\n';
        const std::filesystem::path file = m_folder.filePath(name).toStdString();
        if (!writeFileAtomically(file, text))
            qFatal("cannot write");
        return file;
    }
    std::filesystem::path out(const char* name) { return m_folder.filePath(name).toStdString(); }

private slots:
    void keysAndModelsOfTargets()
    {
        QCOMPARE(referenceKeys(kAvx2), std::vector<std::string>{"cpu"});
        QCOMPARE(referenceKeys("cuda -keys=cuda,gpu -arch=sm_86"), (std::vector<std::string>{"cuda", "gpu"}));
        QCOMPARE(referenceKeys("llvm"), std::vector<std::string>{"cpu"});
        QCOMPARE(referenceKeys("opencl -device=mali"), (std::vector<std::string>{"mali", "opencl", "gpu"}));
        QCOMPARE(referenceModel(kModel), std::string("xeon"));
        QCOMPARE(referenceModel("cuda -model=unknown -arch=sm_70"), std::string());
    }

    void aLogIsSummedUp()
    {
        const auto file = write("a.log", {"# comment", line(kAvx2, 8, 1, 2e-3), line(kAvx2, 8, 2, 1e-3),
                                          line(kAvx2, 8, 3, 0), line(kAvx2, 4, 1, 5e-3), "{\"input\": 5", ""});
        const LogSummary summary = must(summarizeLogs(std::vector{file}));
        QCOMPARE(summary.lines, std::int64_t{5});
        QCOMPARE(summary.workloads.size(), std::size_t{2});
        QCOMPARE(summary.workloads[0].trials, std::int64_t{3});
        QCOMPARE(summary.workloads[0].failed, std::int64_t{1});
        QCOMPARE(summary.workloads[0].bestSeconds, 1e-3);
        QVERIFY(summary.workloads[0].bestConfig.find("tile_x [-1, 1, 2]") != std::string::npos);
        QVERIFY(summary.workloads[0].known);
        QCOMPARE(summary.skipped.size(), std::size_t{1});
        QCOMPARE(summary.skipped.front().line, std::int64_t{6});
    }

    /// Of each key, and of each model, the fastest by the mean; a line that wins twice stands once.
    void theBestArePicked()
    {
        const std::string slow = line(kAvx2, 8, 1, 2e-3), fast = line(kAvx2, 8, 2, 1e-3),
                          ofModel = line(kModel, 8, 3, 1.5e-3), other = line(kAvx2, 4, 1, 5e-3);
        const auto one = write("b.log", {slow, line(kAvx2, 8, 9, 0), ofModel});
        const auto two = write("c.log", {other, fast});
        const LogsWritten done = must(pickBest(std::vector{one, two}, out("best.log")));
        QCOMPARE(done.read, std::int64_t{5});
        QCOMPARE(done.failed, std::int64_t{1});
        QCOMPARE(done.written, std::int64_t{3});
        QCOMPARE(QString::fromStdString(must(readFile(out("best.log")))),
                 QString::fromStdString(ofModel + '\n' + other + '\n' + fast + '\n'));
    }

    void aLogIsSplitAndMergedWithoutLosingAByte()
    {
        const std::string a = line(kAvx2, 8, 1, 2e-3), b = line(kAvx2, 4, 1, 5e-3), c = line(kAvx2, 8, 2, 0);
        const auto file = write("d.log", {a, b, a, c});
        const LogsWritten split = must(splitByWorkload(std::vector{file}, m_folder.path().toStdString()));
        QCOMPARE(split.files.size(), std::size_t{2});
        QCOMPARE(split.duplicates, std::int64_t{1});
        QCOMPARE(split.files[0].filename().string(), std::string("0000-dense_pack.x86.log"));
        QCOMPARE(must(readFile(split.files[0])), a + '\n' + c + '\n');
        QCOMPARE(must(readFile(split.files[1])), b + '\n');
        const LogsWritten merged = must(mergeLogs(split.files, out("merged.log")));
        QCOMPARE(merged.written, std::int64_t{3});
        QCOMPARE(must(readFile(out("merged.log"))), a + '\n' + c + '\n' + b + '\n');
    }

    void filesThatAreNotThereChangeNothing()
    {
        const auto good = write("e.log", {line(kAvx2, 8, 1, 2e-3)});
        const auto done = mergeLogs(std::vector{good, out("no such.log")}, out("never.log"));
        QVERIFY(!done);
        QVERIFY(done.error().code == Errc::NotFound);
        QVERIFY(!std::filesystem::exists(out("never.log")));
    }
};

LATHE_TEST(TestTemplateLogs)

} // namespace tst_template_logs
#include "tst_template_logs.moc"
