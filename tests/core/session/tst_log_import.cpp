#include "core/record/record_json.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/project/log_importer.h"
#include "core/session/session.h"
#include "core/store/log_line.h"
#include "core/store/transfer.h"
#include "core/support/files.h"
#include "core/templates/log_line.h"
#include "core/templates/task_template.h"
#include "tests/support/auto_scheduler_line.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

namespace tst_log_import {

using namespace lathe;
using namespace lathe::session;
using lathe::test::kSoftmax;
using lathe::test::must;
using lathe::test::with;
using nlohmann::json;
using store::Project;

/// Tuning logs into a project: which lines are taken, which are not and why, and what their records are good for.
class TestLogImport : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    std::filesystem::path write(const char* name, const std::string& content) const
    {
        std::ofstream(file(name), std::ios::binary) << content;
        return file(name);
    }
    /// A network that ends with a softmax over 1000 classes.
    std::unique_ptr<TuningSession> open(const char* project, bool readOnly = false) const
    {
        OpenOptions options;
        options.model.source = "zoo:squeezenet-1.1";
        options.target = "sim";
        options.project = file(project);
        options.readOnly = readOnly;
        return must(TuningSession::open(options));
    }
    static LogImport import(TuningSession& session, const std::filesystem::path& log)
    {
        return must(session.project()->importLogs(std::span(&log, 1), {}, {}));
    }
    std::vector<Record> records(const char* project) const
    {
        const Project p = must(Project::open(file(project), Project::Access::Read));
        std::vector<Record> all;
        must(p.forEachRecord({}, [&all](const Record& record) { all.push_back(record); }));
        return all;
    }
    static std::string reasons(const LogImport& done)
    {
        std::string all;
        for (const SkippedLines& lines : done.skipped)
            all += std::to_string(lines.count) + " " + lines.reason + "\n";
        return all;
    }

private slots:
    void aLineOfTheReferenceBecomesARecordOfItsDevice()
    {
        const auto session = open("golden.lathe");
        const LogImport done = import(*session, write("ci.json", "# the server's\n" + kSoftmax + "\n"));
        QVERIFY2(done.skipped.empty(), reasons(done).c_str());
        QCOMPARE(done.lines, std::int64_t{1});
        QCOMPARE(done.taken, std::int64_t{1});
        QCOMPARE(done.foreign, std::int64_t{1});
        QCOMPARE(done.tasks, 1);
        const Record record = records("golden.lathe").at(0);
        QVERIFY(store::isImported(record));
        QVERIFY(record.target.starts_with("imported: cuda -keys=cuda,gpu"));
        QCOMPARE(record.candidate.kind, std::string("steps"));
        QCOMPARE(json::parse(record.candidate.steps).size(), std::size_t{12});
        QCOMPARE(json::parse(record.candidate.steps)[5], json::parse("[\"CI\", 2]"));
        QCOMPARE(qRound(record.result.meanNs() * 100), 487396);
        QCOMPARE(record.timeMs, std::int64_t{1606984701000});
        QCOMPARE(json::parse(record.result.device.fingerprint)["hardware"]["warp_size"]["value"].get<int>(), 32);
        QCOMPARE(json::parse(record.result.conditions)["log"].get<std::string>(), std::string("ci.json"));
        QCOMPARE(json::parse(record.result.conditions)["line"].get<int>(), 2);
        // Its loops can be looked at, as those of any trial.
        const auto history = must(session->history());
        const TrialDetail detail = must(history->detail(must(history->rowOf(record.trial))));
        QVERIFY2(detail.loops.find("threadIdx.x") != std::string::npos, detail.problem.c_str());
    }

    void whatWasMeasuredElsewhereIsNoBestRecord()
    {
        const auto session = open("best.lathe");
        QCOMPARE(import(*session, write("best.json", kSoftmax + "\n")).taken, std::int64_t{1});
        const std::string key = records("best.lathe").at(0).candidate.task;
        for (const TaskView& task : session->tasks())
            if (task.key == key)
                QVERIFY(std::isnan(task.bestMs));
        const Coverage coverage = must(session->exports()->coverage({}));
        QCOMPARE(coverage.records, 0);
        QVERIFY(std::any_of(coverage.subgraphs.begin(), coverage.subgraphs.end(), [](const SubgraphReport& s) {
            return s.reason.find("from imported logs") != std::string::npos;
        }));
    }

    void whatWasFoundForAnotherKindOfDeviceIsNotMeasured()
    {
        const auto session = open("other.lathe");
        QCOMPARE(import(*session, write("other.json", kSoftmax + "\n")).taken, std::int64_t{1});
        const auto measured = session->project()->remeasure(
            std::vector<std::string>{records("other.lathe").at(0).trial}, {}, {}, {});
        QVERIFY(!measured);
        QVERIFY(measured.error().code == Errc::Incompatible);
        QVERIFY2(measured.error().message.find("found for cuda") != std::string::npos,
                 measured.error().message.c_str());
    }

    /// Keys of all generations, spelt as various versions spell them; failures, and costs of all sizes.
    void fortyLinesComeBackBitForBit()
    {
        const auto session = open("forty.lathe");
        ModelSpec spec;
        spec.source = "zoo:squeezenet-1.1";
        const auto model = must(loadModel(spec, "sim"));
        const std::vector<std::string> costs = {"0.00041", "4.1e-05", "1e-06", "0.0012345678901234567", "2.5", "3"};
        std::string log;
        std::set<std::string> keys;
        int lines = 0, generations = 0;
        for (const graph::Task& task : model->partition.tasks) {
            int ofTask = 0;
            for (const auto& key : {task.flat, task.nested, task.hash}) {
                if (!key || lines == 40 || !keys.insert(key->key).second)
                    continue;
                ++ofTask;
                std::string line = with(kSoftmax, "\"[\\\"d7b65649a4dd54becea0a52aabbc5af5\\\", 1, 1000, 1, 1000]\"",
                                        json(key->key).dump());
                const std::size_t steps = line.find("[[\"SP\"");
                line.replace(steps, line.find("]]], \"r\"") + 1 - steps, "[]");
                const std::string failed = "[[10000000000.0], " + std::to_string(1 + lines % 8) + ", ";
                line = with(line, "[[4.87396e-06], 0, ",
                            lines % 9 == 8 ? failed
                                           : "[[" + costs[static_cast<std::size_t>(lines) % costs.size()] + "], 0, ");
                line = with(line, "1606984701", std::to_string(1606984701 + lines));
                line = with(line, "v0.5", "v0." + std::to_string(1 + lines % 6));
                if (lines % 4 == 3) // without a blank
                    for (std::size_t at = line.find(", "); at != std::string::npos; at = line.find(", ", at))
                        line.replace(at, 2, ",");
                log += line + '\n';
                ++lines;
            }
            generations = std::max(generations, ofTask);
        }
        QCOMPARE(lines, 40);
        QCOMPARE(generations, 3);
        const LogImport done = import(*session, write("forty.json", log));
        QVERIFY2(done.skipped.empty(), reasons(done).c_str());
        QCOMPARE(done.lines, std::int64_t{40});
        const Project project = must(Project::open(file("forty.lathe"), Project::Access::Read));
        const auto nobody = [](std::string_view) { return std::pair<std::string, std::vector<std::int64_t>>(); };
        const auto count = must(store::exportReferenceLog(project, file("back.json"), "cpu", nobody));
        QCOMPARE(count.written, std::int64_t{40});
        QCOMPARE(QString::fromStdString(must(readFile(file("back.json")))), QString::fromStdString(log));
    }

    void theSameLineTwiceIsOneRecord()
    {
        const auto session = open("twice.lathe");
        const LogImport first = import(*session, write("twice.json", kSoftmax + "\n" + kSoftmax + "\n"));
        QCOMPARE(first.taken, std::int64_t{1});
        QCOMPARE(first.known, std::int64_t{1});
        QCOMPARE(import(*session, write("renamed.json", kSoftmax)).known, std::int64_t{1}); // from another file, too
        QCOMPARE(records("twice.lathe").size(), std::size_t{1});
    }

    void allGenerationsOfKeysAreKnown()
    {
        const auto session = open("keys.lathe");
        std::string log = with(kSoftmax, "\\\", 1, 1000, 1, 1000]", "\\\", [1, 1000], [1, 1000]]") + "\n"; // nested
        log += with(with(kSoftmax, "d7b65649a4dd54becea0a52aabbc5af5\\\", 1, 1000, 1, 1000]",
                         "b32ed43fb351136894c322ee49097a1a\\\"]"),
                    "4.87396e-06", "4e-06")
               + "\n"; // hash alone
        const LogImport done = import(*session, write("keys.json", log));
        QVERIFY2(done.taken == 2, reasons(done).c_str());
    }

    void failuresOfALogAreFailures()
    {
        const auto session = open("failed.lathe");
        QCOMPARE(import(*session, write("failed.json", with(kSoftmax, "[[4.87396e-06], 0,", "[[1e+10], 4,"))).taken,
                 std::int64_t{1});
        const Record record = records("failed.lathe").at(0);
        QVERIFY(record.result.stage == TrialStage::Run);
        QVERIFY(!record.result.ok());
        QVERIFY(record.result.text.find("error 4") != std::string::npos);
    }

    void linesThatAreNotTakenAreCountedByReason()
    {
        const auto session = open("skip.lathe");
        std::string log;
        log += with(kSoftmax, "d7b65649", "00000000") + "\n";
        log += with(kSoftmax, "d7b65649", "11111111") + "\n";
        log += with(kSoftmax, "[\"CI\", 2]", "[\"CI\", 99]") + "\n"; // no such stage
        log += with(kSoftmax, "[40]", "[null]") + "\n";
        log += with(kSoftmax, "\"[\\\"d7b65649a4dd54becea0a52aabbc5af5\\\", 1, 1000, 1, 1000]\"",
                    "\"" + std::string(5000, '[') + "\"")
               + "\n";
        log += "Best: 3 ms\n";
        log += "{\"input\":[\"llvm\",\"dense_pack.x86\",[],{}],\"config\":{},\"result\":[],\"version\":0.2}\n";
        log += std::string(1 << 20, '\x01') + "\n";
        log += kSoftmax + "\n";
        log += kSoftmax.substr(0, 300);
        const LogImport done = import(*session, write("skip.json", log));
        const std::string all = reasons(done);
        QCOMPARE(done.lines, std::int64_t{10});
        QCOMPARE(done.taken, std::int64_t{1});
        QCOMPARE(done.skippedLines(), std::int64_t{9});
        for (const char* reason :
             {"2 its workload is not in this network", "softmax 1x1000: step 5", "a split has no length",
              "1 no workload key", "2 not JSON", "1 config.entity is not a list of at most 256 knobs",
              "1 truncated: the file ends within the line"})
            QVERIFY2(all.find(reason) != std::string::npos, (std::string(reason) + " in\n" + all).c_str());
        QCOMPARE(done.skipped[0].count, std::int64_t{2}); // most frequent first
        for (const SkippedLines& lines : done.skipped)
            QCOMPARE(lines.file, std::string("skip.json"));
    }

    void reasonsThatAllDifferAreNotAllKept()
    {
        const auto session = open("many.lathe");
        std::string log;
        for (int i = 0; i < 300; ++i)
            log += "{\"input\":[\"llvm\",\"t" + std::to_string(i)
                   + "\",[],{}],\"config\":{\"index\":0,\"code_hash\":null,\"entity\":[]},"
                     "\"result\":[[0.1],0,1.5,1.5],\"version\":0.2}\n";
        const LogImport done = import(*session, write("many.json", log));
        QCOMPARE(done.skipped.size(), std::size_t{101});
        QCOMPARE(done.skipped[0].reason, std::string("other reasons"));
        QCOMPARE(done.skipped[0].count, std::int64_t{200});
    }

    void anExportOfRecordsComesBackWhole()
    {
        const auto from = open("from.lathe");
        const std::string task = from->tasks().front().key;
        std::vector<Record> made;
        for (int i = 0; i < 3; ++i) {
            Record r;
            r.trial = "trial " + std::to_string(i);
            r.round = i;
            r.index = 2;
            r.candidate.task = task;
            r.candidate.alternative = "direct";
            r.candidate.sketch = "one";
            r.candidate.genome = {1, i};
            r.candidate.steps = "[]";
            r.candidate.predictedNs = 10.25 + i;
            if (i == 2)
                r.result = {TrialStage::Run, Errc::RunTimeout,   "too\nlong",     {}, {},
                            false,           {{"measure", 3.5}}, "{\"load\": 2}", {}};
            else
                r.result.costsNs = {100.125 + i, 1e6 / 3};
            r.result.verified = i == 0;
            r.target = "sim";
            r.result.device = identityOf("{\"name\": \"board\"}");
            r.timeMs = 1700000000000 + i;
            r.repeats = i == 1 ? "trial 0" : "";
            made.push_back(std::move(r));
        }
        {
            Project p = must(Project::open(file("copy.lathe"), Project::Access::Write));
            must(p.addRecords(made));
            must(store::exportJsonLines(p, file("own.jsonl")));
        }
        const LogImport done = import(*from, file("own.jsonl"));
        QVERIFY2(done.taken == 3, reasons(done).c_str());
        QCOMPARE(done.foreign, std::int64_t{0});
        const std::vector<Record> back = records("from.lathe");
        QCOMPARE(back.size(), made.size());
        for (std::size_t i = 0; i < made.size(); ++i)
            QVERIFY2(toJson(back[i]) == toJson(made[i]), toJson(back[i]).dump().c_str());
        QCOMPARE(import(*from, file("own.jsonl")).known, std::int64_t{3});
        // A record of another network's task has no place here.
        json other = toJson(made[0]);
        other["trial"] = "other";
        other["candidate"]["task"] = "of another network";
        QCOMPARE(import(*from, write("other.jsonl", other.dump())).skipped.at(0).reason,
                 std::string("its task is in no network of this project"));
    }

    void whatCannotBeReadOrWrittenIsRefusedInOneSentence()
    {
        const auto session = open("refused.lathe");
        const std::vector<std::filesystem::path> some = {write("good.json", kSoftmax), file("none.json")};
        QVERIFY(session->project()->importLogs(some, {}, {}).error().code == Errc::NotFound);
        QCOMPARE(records("refused.lathe").size(), std::size_t{0}); // not even from the one that is there
        QVERIFY(session->project()->importLogs({}, {}, {}).error().code == Errc::InvalidArgument);
        const auto reader = open("refused.lathe", true);
        const auto refused = reader->project()->importLogs(std::span(some.data(), 1), {}, {});
        QVERIFY(refused.error().code == Errc::StoreFailed);
        QVERIFY2(refused.error().message.find("read-only") != std::string::npos, refused.error().message.c_str());
        OpenOptions without;
        without.model.source = "zoo:mlp";
        without.target = "sim";
        QVERIFY(
            must(TuningSession::open(without))->project()->importLogs(std::span(some.data(), 1), {}, {}).error().code
            == Errc::NotFound);
    }

    /// What a preview says is what an import then does, and until then nothing is written.
    void aPreviewSaysWhatAnImportWillDo()
    {
        const auto session = open("preview.lathe");
        const std::string twice = kSoftmax + "\n" + kSoftmax + "\n";
        const auto log = write("preview.json",
                               twice + with(kSoftmax, "1606984701", "1606984702") + "\nno JSON at all\n");
        const LogPreview before = must(session->project()->previewLogs(std::span(&log, 1), {}, {}));
        QCOMPARE(records("preview.lathe").size(), std::size_t{0});
        QCOMPARE(before.would.taken, std::int64_t{2});
        QCOMPARE(before.would.known, std::int64_t{1});
        QCOMPARE(before.would.skippedLines(), std::int64_t{1});
        QCOMPARE(before.byTask.size(), std::size_t{1});
        QCOMPARE(before.byTask.front().second, std::int64_t{2});
        QVERIFY(before.workloads.empty()); // no line is of a template tuner
        const LogImport done = import(*session, log);
        QCOMPARE(before.would.taken, done.taken);
        QCOMPARE(before.would.known, done.known);
        QCOMPARE(before.would.foreign, done.foreign);
        QCOMPARE(before.would.tasks, done.tasks);
        QCOMPARE(reasons(before.would), reasons(done));
        const LogPreview after = must(session->project()->previewLogs(std::span(&log, 1), {}, {}));
        QCOMPARE(after.would.taken, std::int64_t{0});
        QCOMPARE(after.would.known, std::int64_t{3});
        // A project that is read alone can be compared with a log all the same.
        QVERIFY(open("preview.lathe", true)->project()->previewLogs(std::span(&log, 1), {}, {}));
    }

    void aPreviewTellsTheWorkloadsOfATemplateTuner()
    {
        OpenOptions options;
        options.model.source = "zoo:mlp";
        options.target = "sim";
        options.project = file("workloads.lathe");
        const auto session = must(TuningSession::open(options));
        const auto model = must(loadModel(options.model, options.target));
        std::int32_t task = 0;
        std::vector<templates::TaskTemplate> found;
        for (; found.empty(); ++task)
            found = templates::templatesOf(
                searchTask(model->partition.tasks.at(static_cast<std::size_t>(task)), *model, false));
        templates::TemplateTrial trial;
        trial.target = "llvm -keys=cpu";
        trial.workload = found.front().workload;
        std::string log, best;
        for (const double seconds : {0.004, 0.002, 0.003}) {
            trial.config = must(found.front().space.at(log.size() % found.front().space.size()));
            trial.costs = {{seconds}};
            trial.timestamp = {1.7e9 + seconds};
            if (seconds == 0.002)
                best = templates::configText(trial.config);
            log += templates::templateLine(trial) + "\n";
        }
        trial.error = 4;
        log += templates::templateLine(trial) + "\n";
        trial.workload.task = "dense_of_nobody.x86";
        log += templates::templateLine(trial) + "\n";
        const auto name = write("workloads.log", log);
        const LogPreview preview = must(session->project()->previewLogs(std::span(&name, 1), {}, {}));
        QCOMPARE(preview.workloads.size(), std::size_t{2});
        const LoggedWorkload& first = preview.workloads.front();
        QCOMPARE(first.name, std::string(found.front().row->name));
        QCOMPARE(first.target, std::string("llvm -keys=cpu"));
        QCOMPARE(first.trials, std::int64_t{4});
        QCOMPARE(first.failed, std::int64_t{1});
        QCOMPARE(first.bestMs, 2.0);
        QCOMPARE(first.bestConfig, best);
        QVERIFY(first.known);
        QCOMPARE(first.tasks.front(), task - 1);
        QVERIFY(!preview.workloads[1].known);
        QVERIFY(preview.workloads[1].tasks.empty());
        QCOMPARE(preview.would.skippedLines(), std::int64_t{1});
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(session->project()->previewLogs(std::span(&name, 1), {}, stop.get_token()).error().code
                == Errc::Cancelled);
    }

    void aStopKeepsWhatWasTaken()
    {
        const auto session = open("stopped.lathe");
        std::string log;
        for (int i = 0; i < 2500; ++i)
            log += with(kSoftmax, "1606984701", std::to_string(1606984701 + i)) + "\n";
        const auto name = write("long.json", log);
        std::stop_source stop;
        double last = 0;
        const auto stopped = session->project()->importLogs(
            std::span(&name, 1),
            [&](std::string_view what, double fraction) {
                QCOMPARE(std::string(what), std::string("long.json"));
                QVERIFY(fraction >= last && fraction <= 1);
                last = fraction;
                stop.request_stop();
            },
            stop.get_token());
        QVERIFY(stopped.error().code == Errc::Cancelled);
        const std::size_t kept = records("stopped.lathe").size();
        QVERIFY(kept >= 1000 && kept < 2500);
        const LogImport rest = import(*session, name);
        QCOMPARE(rest.known, static_cast<std::int64_t>(kept));
        QCOMPARE(rest.taken + rest.known, std::int64_t{2500});
    }
};

LATHE_TEST_GUILESS(TestLogImport)

} // namespace tst_log_import

#include "tst_log_import.moc"
