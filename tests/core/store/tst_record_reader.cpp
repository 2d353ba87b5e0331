#include "core/store/record_range.h"
#include "core/store/record_reader.h"
#include "core/store/schema.h"
#include "core/support/message.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fmt/format.h>

namespace tst_record_reader {

using namespace lathe;
using lathe::test::must;
using store::Project;
using store::RecordQuery;
using store::RecordReader;

namespace {

Record trial(int i)
{
    Record r;
    r.trial = contentHash("trial " + std::to_string(i)).hex();
    r.session = 1;
    r.round = i / 4;
    r.index = i % 4;
    r.candidate.task = i % 2 == 0 ? "even" : "odd";
    r.candidate.alternative = i % 3 == 0 ? "winograd4" : "direct";
    r.candidate.sketch = "test/1:" + std::string(i % 5 == 0 ? "a_b" : "axb");
    r.candidate.steps = "[]";
    r.candidate.predictedNs = i == 2 ? 123.5 : std::numeric_limits<double>::quiet_NaN();
    if (i % 4 == 3) {
        r.result.stage = TrialStage::Run;
        r.result.code = i == 3 ? Errc::RunTimeout : Errc::WorkerCrashed;
        r.result.text = i == 3 ? "took 10 s\nmore"
                               : "kernel k" + std::to_string(i) + " at 0x7f" + std::to_string(i) + ": signal "
                                     + std::to_string(i > 8 ? 11 : 6);
    } else {
        r.result.costsNs = {1000.0 - i};
    }
    r.timeMs = 1700000000000 + i;
    return r;
}

} // namespace

class TestRecordReader : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }

private slots:
    void initTestCase()
    {
        Project p = must(Project::open(file("a.lathe"), Project::Access::Write));
        std::vector<Record> records;
        for (int i = 0; i < 20; ++i)
            records.push_back(trial(i));
        must(p.addRecords(records));
        must(p.addRecords(std::span(records).first(3))); // known ones count once
    }

    void listsAreFilteredAndOrdered()
    {
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        QCOMPARE(must(reader.find({})).size(), std::size_t{20});
        RecordQuery q;
        q.task = "odd";
        q.code = "failed";
        QCOMPARE(must(reader.find(q)).size(), std::size_t{5});
        q = {};
        q.order = RecordQuery::Order::Latency;
        const auto fastest = must(reader.find(q));
        QCOMPARE(must(reader.rows(std::span(fastest).first(1)))[0].meanNs, 982.0);
        QCOMPARE(must(reader.rows(std::span(fastest).last(1)))[0].code, std::string("WorkerCrashed"));
        q.descending = true;
        const auto slowest = must(reader.find(q));
        QCOMPARE(must(reader.rows(std::span(slowest).first(1)))[0].meanNs, 1000.0);
        QVERIFY(std::isnan(must(reader.rows(std::span(slowest).last(1)))[0].meanNs)); // failures last, both ways
        q = {};
        q.minNs = 985;
        q.maxNs = 990;
        QCOMPARE(must(reader.find(q)).size(), std::size_t{4});
        q = {};
        q.order = RecordQuery::Order::Alternative;
        const auto words = must(reader.rows(must(reader.find(q))));
        QCOMPARE(words.front().alternative, std::string("direct"));
        QCOMPARE(words.back().alternative, std::string("winograd4"));
        q = {};
        q.afterRow = fastest.empty() ? 0 : 18;
        QCOMPARE(must(reader.find(q)), (std::vector<std::int64_t>{19, 20}));
    }

    void textIsFoundInNamesFailuresAndIds()
    {
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        RecordQuery q;
        q.text = "a_b"; // an underscore stands for itself
        QCOMPARE(must(reader.find(q)).size(), std::size_t{4});
        q.text = "took 10";
        QCOMPARE(must(reader.find(q)).size(), std::size_t{1});
        q.text = trial(7).trial.substr(0, 8);
        QCOMPARE(must(reader.find(q)), (std::vector<std::int64_t>{8}));
        q.text = "nowhere";
        QVERIFY(must(reader.find(q)).empty());
    }

    void listsAreOrderedByEveryColumn()
    {
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        using Order = RecordQuery::Order;
        const auto list = [&reader](Order order, bool descending) {
            RecordQuery q;
            q.order = order;
            q.descending = descending;
            return must(reader.rows(must(reader.find(q))));
        };
        for (const Order order :
             {Order::Time, Order::Task, Order::Alternative, Order::Sketch, Order::Latency, Order::Predicted,
              Order::State, Order::Round, Order::Verified, Order::Trial, Order::Text, Order::Note, Order::Repeats}) {
            QCOMPARE(list(order, false).size(), std::size_t{20});
            QCOMPARE(list(order, true).size(), std::size_t{20});
        }
        QVERIFY(list(Order::Trial, false)[3].trial < list(Order::Trial, false)[4].trial);
        QVERIFY(list(Order::Trial, true)[3].trial > list(Order::Trial, true)[4].trial);
        const auto rounds = list(Order::Round, true);
        QCOMPARE(rounds.front().round, 4);
        QCOMPARE(rounds.front().index, 3);
        for (const bool descending : {false, true}) {
            const auto texts = list(Order::Text, descending);
            QVERIFY(!texts.front().text.empty() && texts.back().text.empty()); // those without one come last, both ways
        }
        RecordQuery odd;
        odd.task = "odd";
        odd.order = Order::Trial;
        QCOMPARE(must(reader.find(odd)).size(), std::size_t{10}); // ordered by what is not in the filter
    }

    void notesAndRepetitionsAreFound()
    {
        Project p = must(Project::open(file("noted.lathe"), Project::Access::Write));
        Record first = trial(0), again = trial(1);
        again.repeats = first.trial;
        must(p.addRecords(std::vector<Record>{first, again, trial(2)}));
        must(p.setNote(store::noteOf(first.trial), "strange"));
        must(p.setNote("trial:gone", "strange too")); // a note may outlive its trial
        must(p.setNote(store::kProjectNote, "strange project"));
        const RecordReader reader = must(RecordReader::open(file("noted.lathe")));
        RecordQuery q;
        q.noted = true;
        QCOMPARE(must(reader.find(q)), (std::vector<std::int64_t>{1}));
        q = {};
        q.text = "STRANGE";
        QCOMPARE(must(reader.find(q)), (std::vector<std::int64_t>{1}));
        q = {};
        q.order = RecordQuery::Order::Note;
        q.descending = true;
        QCOMPARE(must(reader.find(q)).front(), 1);
        q.order = RecordQuery::Order::Repeats;
        QCOMPARE(must(reader.find(q)).front(), 2);
        const auto rows = must(reader.rows(std::vector<std::int64_t>{1, 2}));
        QCOMPARE(rows[0].note, std::string("strange"));
        QCOMPARE(rows[1].repeats, first.trial);
        QCOMPARE(must(reader.repeatsOf(first.trial)).size(), std::size_t{1});
        QVERIFY(must(reader.repeatsOf(again.trial)).empty());
        QVERIFY(must(reader.repeatsOf("")).empty());
        QCOMPARE(must(reader.rowOf(again.trial)), 2);
        QVERIFY(reader.rowOf("none").error().code == Errc::NotFound);
        QCOMPARE(must(p.record(again.trial)).repeats, first.trial);
        QCOMPARE(must(p.trialsWithPrefix(first.trial.substr(0, 20), 2)), (std::vector<std::string>{first.trial}));
        QCOMPARE(must(p.trialsWithPrefix("", 2)).size(), std::size_t{2});
        QCOMPARE(must(p.notes()).size(), std::size_t{3});
        must(p.setNote(store::noteOf(first.trial), ""));
        QCOMPARE(must(p.notes()).size(), std::size_t{2});
        // Another connection of the writer sees and writes the same; a reader has none.
        Project second = must(p.beside());
        must(second.setNote(store::noteOf(again.trial), "from beside"));
        QCOMPARE(must(p.note(store::noteOf(again.trial))), std::string("from beside"));
        const Project third = must(Project::open(file("noted.lathe"), Project::Access::Read));
        QVERIFY(third.beside().error().code == Errc::StoreFailed);
    }

    void numbersComeAsPoints()
    {
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        const auto points = must(reader.points({}, store::RecordAxis::Number, store::RecordAxis::Latency));
        QCOMPARE(points.points.size(), std::size_t{15});
        QCOMPARE(points.left, std::int64_t{5}); // the failed ones
        for (const store::RecordPoint& point : points.points)
            QCOMPARE(point.y, 1000.0 - (point.x - 1));
        const auto ratio = must(reader.points({}, store::RecordAxis::Ratio, store::RecordAxis::Predicted));
        QCOMPARE(ratio.points.size(), std::size_t{1});
        QCOMPARE(ratio.points[0].x, 998 / 123.5);
        RecordQuery q;
        q.task = "odd";
        QCOMPARE(must(reader.points(q, store::RecordAxis::Round, store::RecordAxis::Time)).points.size(),
                 std::size_t{10});
    }

    void failuresAreGroupedByTheirCause()
    {
        QCOMPARE(store::failureCause("kernel k3 at 0x7f: took 10.5 s, see /tmp/a b"),
                 std::string("kernel k# at #: took # s, see <path> b"));
        QCOMPARE(store::failureCause("signal 11\nsecond line"), std::string("signal 11"));
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        const auto groups = must(reader.failures());
        QCOMPARE(groups.size(), std::size_t{3}); // a time-out and two signals, whatever the kernels are called
        std::int64_t sum = 0;
        for (const auto& group : groups) {
            sum += group.count;
            RecordQuery q;
            q.code = group.code;
            q.stage = group.stage;
            q.cause = group.cause;
            QCOMPARE(static_cast<std::int64_t>(must(reader.find(q)).size()), group.count);
        }
        QCOMPARE(sum, std::int64_t{5});
    }

    void aStoppedQueryEnds()
    {
        const RecordReader reader = must(RecordReader::open(file("a.lathe")));
        QVERIFY(reader.record(999).error().code == Errc::NotFound);
        QCOMPARE(must(reader.record(3)).candidate.predictedNs, 123.5);
        QVERIFY(std::isnan(must(reader.record(4)).candidate.predictedNs));
    }

    void anOldProjectIsBroughtUpToDate()
    {
        {
            auto db = must(store::Database::open(file("old.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute(store::kSchemaSteps[0]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=1"));
            for (int i = 0; i < 3; ++i)
                must(db.execute(
                    "INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, "
                    "genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                    "verified, durations_ms, conditions, device, time_ms) VALUES('t"
                    + std::to_string(i) + "', 1, 0, " + std::to_string(i)
                    + ", 'conv', 'direct', '[]', 'sketch', 's', '[]', "
                      "'[]', 'h', "
                    + (i == 2 ? "'run', 'RunTimeout', 'late', NULL" : "'done', 'Ok', '', " + std::to_string(50 - i))
                    + ", '[]', 1, '{}', '{}', '{}', 5)"));
        }
        const RecordReader reader = must(RecordReader::open(file("old.lathe"))); // a reader too
        QCOMPARE(must(reader.project().totals("conv")).trials, std::int64_t{3});
        QCOMPARE(must(reader.project().totals("conv")).errors, std::int64_t{1});
        QCOMPARE(must(reader.project().best()).size(), std::size_t{1});
        QCOMPARE(must(reader.project().best())[0].record.trial, std::string("t1"));
        QCOMPARE(must(reader.find({})).size(), std::size_t{3});
    }

    void recordsOfAnOlderSchemaLearnTheirTargetFromTheirRun()
    {
        {
            auto db = must(store::Database::open(file("older.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute(store::kSchemaSteps[0]));
            must(db.execute(store::kSchemaSteps[1]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=2"));
            must(db.execute("INSERT INTO models VALUES(1, 'h', 'zoo:mlp', 'mlp', '{}')"));
            must(db.execute("INSERT INTO sessions VALUES(7, 1, 'cpu -threads=2', '{}', 0, 0, 'finished')"));
            for (int i = 0; i < 4; ++i)
                must(db.execute("INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, "
                                "sketch, genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                                "verified, durations_ms, conditions, device, time_ms) VALUES('t"
                                + std::to_string(i) + "', " + (i < 3 ? "7" : "0") + ", 0, " + std::to_string(i)
                                + ", 'conv', 'direct', '[]', 'sketch', 's', '[]', '[]', 'h', 'done', 'Ok', '', "
                                + std::to_string(50 - i) + ", '[" + std::to_string(50 - i) + "]', 1, '{}', '"
                                + (i == 0 ? "{\"cold_bytes\": 4096}" : "{}") + "', 'here', 5)"));
        }
        const Project p = must(Project::open(file("older.lathe"), Project::Access::Write));
        const auto conditions = must(p.conditions("cpu -threads=2"));
        QCOMPARE(conditions.size(), std::size_t{2});
        QVERIFY((conditions[0] == store::Conditions{"here", 0}));
        QVERIFY((conditions[1] == store::Conditions{"here", 4096}));
        const auto warm = must(p.best({"conv", "cpu -threads=2", conditions[0]}));
        QCOMPARE(warm.size(), std::size_t{1});
        QCOMPARE(warm[0].record.trial, std::string("t2"));
        QCOMPARE(must(p.best({{}, "cpu -threads=2", conditions[1]}))[0].record.trial, std::string("t0"));
    }

    void modelsOfTheSeventhSchemaAreOrderedByTheirUse()
    {
        {
            Project now = must(Project::open(file("seventh.lathe"), Project::Access::Write));
            for (const char* options : {"{\"batch\":1}", "{\"batch\":2}"})
                must(now.addModel({0, "h", "m.onnx", "m", options}));
            for (const char* target : {"cpu", "sim"})
                must(now.addSession({0, 1, target, "{}", 0, 0, "finished"}));
        }
        {
            auto db = must(store::Database::open(file("seventh.lathe"), store::Database::Mode::ReadWrite));
            must(db.execute("ALTER TABLE models DROP COLUMN used; ALTER TABLE models DROP COLUMN target; "
                            "PRAGMA user_version=7"));
        }
        Project p = must(Project::open(file("seventh.lathe"), Project::Access::Write));
        auto models = must(p.models());
        QCOMPARE(models.size(), std::size_t{2});
        QCOMPARE(models.back().id, std::int64_t{2}); // as before: the youngest
        QCOMPARE(models.back().target, std::string());
        QCOMPARE(models.front().target, std::string("sim"));
        must(p.useModel(1, "cpu -threads=2"));
        models = must(p.models());
        QCOMPARE(models.back().id, std::int64_t{1});
        QCOMPARE(models.back().target, std::string("cpu -threads=2"));
        const std::int64_t third = must(p.addModel({0, "h", "m.onnx", "m", "{\"batch\":3}"}));
        QCOMPARE(must(p.models()).back().id, third);
        QCOMPARE(must(p.addModel({0, "h", "m.onnx", "m", "{\"batch\":2}"})), std::int64_t{2});
    }

    void aProjectOfTheThirdSchemaLearnsOfRepeats()
    {
        {
            auto db = must(store::Database::open(file("third.lathe"), store::Database::Mode::ReadWrite));
            for (int step = 0; step < 3; ++step)
                must(db.execute(store::kSchemaSteps[static_cast<std::size_t>(step)]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=3"));
            for (int i = 0; i < 4; ++i)
                must(db.execute("INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, "
                                "sketch, genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                                "verified, durations_ms, conditions, device, time_ms, predicted_ns, target) VALUES('t"
                                + std::to_string(i) + "', 1, 0, " + std::to_string(i)
                                + ", 'conv', 'direct', '[]', 'sketch', 's', '[]', '[]', 'h', 'done', 'Ok', '', "
                                + std::to_string(50 - i) + ", '[" + std::to_string(50 - i) + "]', "
                                + (i % 2 == 0 ? "1" : "0") + ", '{}', '{}', 'here', 5, 60, 'cpu -threads=2')"));
            QVERIFY(!db.execute("SELECT repeats FROM records")); // it is the third indeed
        }
        {
            const RecordReader reader = must(
                RecordReader::open(file("third.lathe"))); // a reader brings it up to date, too
            QCOMPARE(must(reader.find({})).size(), std::size_t{4});
            QVERIFY(must(reader.repeatsOf("t1")).empty());
            RecordQuery byVerified;
            byVerified.order = RecordQuery::Order::Verified;
            const auto rows = must(reader.find(byVerified));
            const auto summaries = must(reader.rows(rows));
            QVERIFY(!summaries.front().verified && summaries.back().verified && summaries.front().repeats.empty());
            QCOMPARE(summaries.front().predictedNs, 60.0);
            QCOMPARE(
                must(reader.project().best({"conv", "cpu -threads=2", store::Conditions{"here", 0}}))[0].record.trial,
                std::string("t3"));
        }
        auto db = must(store::Database::open(file("third.lathe"), store::Database::Mode::ReadOnly));
        auto version = must(store::Statement::prepare(db, "PRAGMA user_version"));
        QVERIFY(must(version.step()));
        QCOMPARE(version.integer(0), store::kSchemaVersion);
        // What is measured again from now on is found.
        Project writer = must(Project::open(file("third.lathe"), Project::Access::Write));
        Record again = must(must(RecordReader::open(file("third.lathe"))).record(2));
        again.trial = "t9";
        again.repeats = "t1";
        must(writer.addRecords(std::vector<Record>{again}));
        const auto repeats = must(must(RecordReader::open(file("third.lathe"))).repeatsOf("t1"));
        QCOMPARE(repeats.size(), std::size_t{1});
        QCOMPARE(repeats[0].trial, std::string("t9"));
    }

    void aProjectOfTheFifthSchemaLearnsWhichDevicesAreEqual()
    {
        // Two equal boards in one machine and another one: (trial, device, ns, finals).
        struct Row
        {
            const char *trial, *device;
            int ns;
            const char* finals;
        };
        const char* const left = R"({"key": "0", "kind": "cuda", "name": "H100"})";
        const char* const right = R"({"key": "1", "kind": "cuda", "name": "H100"})";
        const char* const other = R"({"key": "2", "kind": "cuda", "name": "A100"})";
        const Row rows[] = {{"a", left, 50, ""},  {"b", left, 60, "F"},  {"c", right, 40, ""},
                            {"d", other, 10, ""}, {"e", right, 70, "G"}, {"f", left, 65, "G"}};
        {
            auto db = must(store::Database::open(file("fifth.lathe"), store::Database::Mode::ReadWrite));
            for (std::size_t step = 0; step < 5; ++step)
                must(db.execute(store::kSchemaSteps[step]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=5"));
            for (const Row& row : rows)
                must(db.execute(fmt::format(
                    "INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, "
                    "genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                    "verified, durations_ms, conditions, device, time_ms, predicted_ns, target, finals) VALUES('{}', "
                    "1, 0, 0, 'conv', 'direct', '[]', 'sketch', 's', '[]', "
                    "'[]', 'h', 'done', 'Ok', '', {}, '[{}]', 1, '{{}}', '{{}}', '{}', 5, 60, 'cuda', '{}')",
                    row.trial, row.ns, row.ns, row.device, row.finals)));
            must(db.execute("INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, "
                            "sketch, genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                            "verified, durations_ms, conditions, device, time_ms, predicted_ns, target, finals) "
                            "VALUES('lost', 1, 0, 0, 'conv', 'direct', '[]', 'sketch', 's', '[]', "
                            "'[]', 'h', 'run', 'DeviceLost', 'gone', NULL, '[]', 0, '{}', '{}', 'no fingerprint', 5, "
                            "60, 'cuda', '')"));
            QVERIFY(!db.execute("SELECT device_key FROM records")); // it is the fifth indeed
            auto boards = must(store::Statement::prepare(db, "SELECT count(DISTINCT device) FROM fastest"));
            QVERIFY(must(boards.step()));
            QCOMPARE(boards.integer(0), std::int64_t{3}); // each for itself
        }
        Project p = must(Project::open(file("fifth.lathe"), Project::Access::Write));
        const std::string h100 = identityOf(left).key, a100 = identityOf(other).key;
        const auto conditions = must(p.conditions("cuda"));
        QCOMPARE(conditions.size(), std::size_t{2});
        QVERIFY((conditions[0] == store::Conditions{h100, 0}));
        QVERIFY((conditions[1] == store::Conditions{a100, 0}));
        // Of both boards together, the latest finals are G: what is older is past.
        const auto contenders = [&p](const store::Conditions& of) {
            std::vector<std::string> trials;
            must(p.forEachContender("conv", "cuda", of, [&trials](const Record& record) {
                trials.push_back(record.trial);
                return true;
            }));
            return trials;
        };
        QCOMPARE(contenders(conditions[0]), (std::vector<std::string>{"f", "e"}));
        QCOMPARE(contenders(conditions[1]), (std::vector<std::string>{"d"}));
        QCOMPARE(must(p.best({"conv", "cuda", conditions[0]}))[0].record.trial, std::string("f"));
        QCOMPARE(must(p.record("c")).result.device.key, h100);
        QCOMPARE(must(p.record("c")).result.device.fingerprint, std::string(right));
        QCOMPARE(must(p.record("lost")).result.device.key, std::string("no fingerprint"));
        // The range's rule is the same, and what comes from now on competes with both.
        const RecordReader reader = must(RecordReader::open(file("fifth.lathe")));
        const auto range = must(store::bestIn(reader, {1, 0}));
        QCOMPARE(range.at(0).record.trial, std::string("d"));
        QCOMPARE(range.at(1).record.trial, std::string("f"));
        Record next = must(p.record("c"));
        next.trial = "next";
        next.result.costsNs = {30};
        must(p.addRecords(std::vector{next}));
        QCOMPARE(must(p.best({"conv", "cuda", conditions[0]}))[0].record.trial, std::string("next"));
    }

    void aProjectOfTheFourthSchemaStandsAsItStood()
    {
        {
            auto db = must(store::Database::open(file("fourth.lathe"), store::Database::Mode::ReadWrite));
            for (int step = 0; step < 4; ++step)
                must(db.execute(store::kSchemaSteps[static_cast<std::size_t>(step)]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=4"));
            for (int i = 0; i < 3; ++i)
                must(db.execute("INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, "
                                "sketch, genome, steps, hash, stage, code, text, mean_ns, costs_ns, "
                                "verified, durations_ms, conditions, device, time_ms, predicted_ns, target) VALUES('t"
                                + std::to_string(i) + "', 1, 0, " + std::to_string(i) + ", 'conv', '"
                                + (i == 2 ? "gemm" : "direct")
                                + "', '[]', 'sketch', 's', '[]', '[]', 'h', 'done', 'Ok', '', " + std::to_string(50 - i)
                                + ", '[" + std::to_string(50 - i) + "]', 1, '{}', '{}', 'here', 5, 60, 'sim')"));
            QVERIFY(!db.execute("SELECT finals FROM records")); // it is the fourth indeed
        }
        Project writer = must(Project::open(file("fourth.lathe"), Project::Access::Write));
        QCOMPARE(must(writer.best()).size(), std::size_t{2});
        QCOMPARE(must(writer.best())[0].record.trial, std::string("t2"));
        QCOMPARE(must(writer.totals("conv")).trials, std::int64_t{3});
        QCOMPARE(must(writer.recordCount()), std::int64_t{3});
        Record final = must(writer.record("t1"));
        final.trial = "t9";
        final.repeats = "t1";
        final.result.costsNs = {77};
        final.result.conditions = "{\"finals\": \"a\"}";
        must(writer.addRecords(std::vector<Record>{final}));
        QCOMPARE(must(writer.best())[0].record.trial, std::string("t9"));
        QCOMPARE(must(writer.best()).size(), std::size_t{2});
    }

    void failuresOfTheFifthSchemaKeepTheirText()
    {
        {
            auto db = must(store::Database::open(file("texts.lathe"), store::Database::Mode::ReadWrite));
            for (int step = 0; step < 5; ++step)
                must(db.execute(store::kSchemaSteps[static_cast<std::size_t>(step)]));
            must(db.execute("PRAGMA application_id=" + std::to_string(store::kApplicationId)
                            + "; PRAGMA user_version=5"));
            must(db.execute(
                "INSERT INTO records(trial, session, round, position, task, alternative, edges, kind, sketch, genome, "
                "steps, hash, stage, code, text, mean_ns, costs_ns, "
                "verified, durations_ms, conditions, device, time_ms, predicted_ns, target) VALUES('old', 1, 0, 0, "
                "'conv', 'direct', '[]', 'sketch', 's', '[]', '[]', 'h', 'run', "
                "'RunTimeout', 'the run took longer than 10 s', NULL, '[]', 0, '{}', '{}', 'here', 5, 60, 'sim')"));
            QVERIFY(!db.execute("SELECT about FROM records")); // it is the fifth indeed
        }
        Project writer = must(Project::open(file("texts.lathe"), Project::Access::Write));
        Record fresh = must(writer.record("old"));
        QCOMPARE(fresh.result.text, std::string("the run took longer than 10 s"));
        QVERIFY(!fresh.result.about);
        fresh.trial = "new";
        fresh.result.about = about(say(Msg::RunTookLong, 12, say(Msg::WhileTiming)));
        fresh.result.text = textOf(*fresh.result.about);
        must(writer.addRecords(std::vector<Record>{fresh}));
        QCOMPARE(must(writer.record("new")).result.about->number("seconds"), 12.0);
        const RecordReader reader = must(RecordReader::open(file("texts.lathe")));
        const std::vector<std::int64_t> both = {1, 2};
        const auto rows = must(reader.rows(both));
        QVERIFY(!rows.at(0).about);
        QCOMPARE(rows.at(1).about->id, Msg::RunTookLong);
        const auto played = must(reader.round(1, 0));
        QCOMPARE(played.at(1).about->number("seconds"), 12.0);
    }

    void budgetsAreKept()
    {
        Project p = must(Project::open(file("b.lathe"), Project::Access::Write));
        must(p.setBudget({1, "conv", true, false, 2.0, 500}));
        must(p.setBudget({1, "conv", false, true, 1.0, 0}));
        const auto rows = must(p.budgets(1));
        QCOMPARE(rows.size(), std::size_t{1});
        QVERIFY(!rows[0].pinned && rows[0].muted && rows[0].trialCap == 0);
        QVERIFY(must(p.budgets(2)).empty());
    }
};

LATHE_TEST(TestRecordReader)

} // namespace tst_record_reader

#include "tst_record_reader.moc"
