#include "core/record/record_json.h"
#include "core/store/log_line.h"
#include "core/store/log_reader.h"
#include "tests/support/auto_scheduler_line.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace tst_log_line {

using namespace lathe;
using lathe::test::kSoftmax;
using lathe::test::must;
using lathe::test::with;
using store::ForeignTrial;
using store::LogReader;

/// One line of a tuning log, whoever wrote it; and the lines of files that are anything.
class TestLogLine : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path file(const std::string& content)
    {
        const auto name = std::filesystem::path(m_dir.path().toStdString()) / "log.json";
        std::ofstream(name, std::ios::binary) << content;
        return name;
    }

private slots:
    void aLineOfTheAutoSchedulerIsReadWhole()
    {
        const auto line = must(store::readLogLine(kSoftmax));
        const auto& trial = std::get<ForeignTrial>(line);
        QCOMPARE(trial.workload, std::string("[\"d7b65649a4dd54becea0a52aabbc5af5\", 1, 1000, 1, 1000]"));
        QVERIFY(trial.target.starts_with("cuda -keys=cuda,gpu"));
        QCOMPARE(trial.hardware.size(), std::size_t{8});
        QCOMPARE(trial.hardware[7], std::int64_t{32});
        QCOMPARE(trial.steps.size(), std::size_t{12});
        QCOMPARE(trial.costsNs.size(), std::size_t{1});
        QVERIFY(std::abs(trial.costsNs[0] - 4873.96) < 1e-6);
        QCOMPARE(trial.error, 0);
        QCOMPARE(trial.allSeconds, 1.30575);
        QCOMPARE(trial.timeMs, std::int64_t{1606984701000});
        QCOMPARE(trial.version, std::string("v0.5"));
    }

    void olderAndNewerLinesAreReadToo()
    {
        const std::string newer = with(with(kSoftmax, "\"\", 0]", "\"\", 0, []]"), "v0.5", "v0.6");
        QVERIFY(std::holds_alternative<ForeignTrial>(must(store::readLogLine(newer))));
        const std::string older = with(with(kSoftmax, ", [-1, 16, 64, 49152, 2147483647, 1024, 8, 32], \"\", 0]", "]"),
                                       "v0.5", "v0.2");
        QVERIFY(std::get<ForeignTrial>(must(store::readLogLine(older))).hardware.empty());
    }

    void aFailureKeepsItsKind()
    {
        const auto line = must(store::readLogLine(with(kSoftmax, "[[4.87396e-06], 0,", "[[1e+10], 7,")));
        QCOMPARE(std::get<ForeignTrial>(line).error, 7);
        QVERIFY(std::get<ForeignTrial>(line).costsNs.empty());
        const TrialResult result = store::foreignFailure(7);
        QVERIFY(result.code == Errc::RunTimeout);
        QVERIFY(result.stage == TrialStage::Run);
    }

    void commentsAndEmptyLinesHoldNothing()
    {
        for (const char* text : {"", "   ", "# i", "#{\"i\": 1}"})
            QVERIFY(std::holds_alternative<std::monostate>(must(store::readLogLine(text))));
    }

    void aRecordOfLathesIsReadAsItWasWritten()
    {
        Record record;
        record.trial = "abc";
        record.round = 3;
        record.candidate.task = "conv";
        record.candidate.predictedNs = 12.5;
        record.result.costsNs = {7, 8};
        record.target = "cpu";
        record.repeats = "def";
        const nlohmann::json json = toJson(record);
        const auto line = must(store::readLogLine(json.dump()));
        QVERIFY(toJson(std::get<Record>(line)) == json);
        QCOMPARE(std::get<Record>(line).candidate.predictedNs, 12.5);
    }

    void whatCannotBeTakenIsSaidInOneSentence_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const std::string& line, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(line) << QByteArray(says);
        };
        row("words", "Best: 3.2 ms", "not JSON");
        row("cut", kSoftmax.substr(0, 200), "not JSON");
        row("binary", std::string("{\"i\"\0}", 6), "binary data");
        row("deep", std::string(100000, '['), "nested deeper");
        row("other", "{\"model\": 1}", "not a record of a known tuner");
        row("version", with(kSoftmax, "v0.5", "v9"), "version 'v9'");
        row("no version", with(kSoftmax, ", \"v\": \"v0.5\"", ""), "without a version");
        row("task", with(kSoftmax, "\"i\": [[", "\"i\": [[5, "), "[task, state]");
        row("hardware", with(kSoftmax, "[-1, 16", "[-1.5, 16"), "not integers");
        row("state", with(kSoftmax, "[[], [[", "[[], 5, [["), "[stages, steps]");
        row("step", with(kSoftmax, "[\"CI\", 2]", "[\"XX\", 2]"), "position 5: there is no step 'XX'");
        row("own step", with(kSoftmax, "[\"CI\", 2]", "[\"PT\", 2, 0]"), "step PT, which the reference does not have");
        row("cost", with(kSoftmax, "4.87396e-06", "-1"), "costs are not times");
        row("endless", with(kSoftmax, "4.87396e-06", "1e400"), "not JSON");
        row("error", with(kSoftmax, "], 0, 1.3", "], 99, 1.3"), "[costs, error, seconds, time]");
        row("template",
            R"({"input":["llvm","conv2d_NCHWc.x86",[],{}],"config":{"index":279,"code_hash":null,"entity":7},"result":[[0.1],0,1.9,1],"version":0.2})",
            "config.entity is not a list of at most");
        row("MetaSchedule's workloads", R"(["3451", "eyJ"])", "workload of MetaSchedule");
        row("MetaSchedule's records", R"([0, [[[], []], [0.1], {"kind": "llvm"}, []]])", "record of MetaSchedule");
        row("no trial", R"({"trial": "", "candidate": {"task": "a"}})", "without a trial id");
        row("no task", R"({"trial": "a", "candidate": {}})", "without a task");
        row("no cost", R"({"trial": "a", "candidate": {"task": "a"}})", "without a cost");
        row("wrong type", R"({"trial": "a", "candidate": {"task": "a"}, "round": "x"})", "'round' is not an integer");
    }
    void whatCannotBeTakenIsSaidInOneSentence()
    {
        QFETCH(QByteArray, line);
        QFETCH(QByteArray, says);
        const auto read = store::readLogLine(std::string_view(line.constData(), static_cast<std::size_t>(line.size())));
        QVERIFY(!read);
        QVERIFY2(QByteArray::fromStdString(read.error().message).contains(says), read.error().message.c_str());
        QVERIFY(read.error().message.find('\n') == std::string::npos);
        QVERIFY(read.error().message.size() < 300);
    }

    void textOfOthersIsCutBetweenCharacters()
    {
        QCOMPARE(store::quoted("a\nb\tc"), std::string("a b c"));
        QCOMPARE(store::quoted("abcdef", 3), std::string("abc..."));
        QCOMPARE(store::quoted("ab\xe4\xbd\xa0z", 4), std::string("ab...")); // within a character of three bytes
    }

    void linesComeOneByOneWhateverTheirEnds()
    {
        auto reader = must(LogReader::open(file("one\r\n\nthree")));
        LogReader::Line line;
        QVERIFY(must(reader.next(line)));
        QCOMPARE(std::string(line.text), std::string("one"));
        QVERIFY(!line.cutOff);
        QVERIFY(must(reader.next(line)));
        QVERIFY(line.text.empty());
        QVERIFY(must(reader.next(line)));
        QCOMPARE(std::string(line.text), std::string("three"));
        QCOMPARE(line.number, std::int64_t{3});
        QVERIFY(line.cutOff);
        QVERIFY(!must(reader.next(line)));
        QCOMPARE(reader.fraction(), 1.0);
    }

    void aLineThatIsTooLongIsPassedOver()
    {
        auto reader = must(LogReader::open(file(std::string(LogReader::kMaxLine + 1, 'x') + "\nnext\n"
                                                + std::string(LogReader::kMaxLine, 'y') + "\n")));
        LogReader::Line line;
        QVERIFY(must(reader.next(line)));
        QVERIFY(line.tooLong);
        QVERIFY(line.text.empty());
        QVERIFY(must(reader.next(line)));
        QCOMPARE(std::string(line.text), std::string("next"));
        QVERIFY(!line.tooLong);
        QVERIFY(must(reader.next(line)));
        QCOMPARE(line.text.size(), LogReader::kMaxLine);
        QVERIFY(!must(reader.next(line)));
    }

    void whatIsNoFileIsRefused()
    {
        QVERIFY(LogReader::open(m_dir.path().toStdString()).error().code == Errc::BadFile);
        QVERIFY(LogReader::open(m_dir.filePath("none").toStdString()).error().code == Errc::NotFound);
    }
};

LATHE_TEST_GUILESS(TestLogLine)

} // namespace tst_log_line

#include "tst_log_line.moc"
