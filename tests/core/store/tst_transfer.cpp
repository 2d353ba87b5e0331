#include "core/record/record_json.h"
#include "core/store/transfer.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <fstream>

namespace tst_transfer {

using namespace lathe;
using lathe::test::must;
using nlohmann::json;
using store::Project;

namespace {

Record record(const std::string& id, const char* task, double ns, const char* alternative = "direct",
              const char* steps = "[]", const char* target = "cpu")
{
    Record r;
    r.trial = id;
    r.session = 3;
    r.candidate.task = task;
    r.candidate.alternative = alternative;
    r.candidate.steps = steps;
    r.target = target;
    r.result.device = identityOf(R"({"name": "one"})");
    r.timeMs = 1700000001500;
    if (ns > 0)
        r.result.costsNs = {ns, ns};
    else
        r.result.code = Errc::RunTimeout;
    r.result.durationsMs = {{"build", 250.0}, {"measure", 500.0}};
    return r;
}

std::vector<std::string> linesOf(const std::filesystem::path& file)
{
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

} // namespace

class TestTransfer : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }

    Project filled(const char* name, const std::vector<Record>& records)
    {
        Project p = must(Project::open(file(name), Project::Access::Write));
        const std::int64_t model = must(p.addModel({0, "hash", "zoo:net", "net", "{}"}));
        must(
            p.addTasks(model, {{"conv", "conv2d", 2, 1e6, "{\"nested\": \"[\\\"key\\\"]\", \"reference\": \"direct\"}"},
                               {"own", "own", 1, 1, "{}"}}));
        must(p.addRecords(records));
        return p;
    }

private slots:
    void mergingTwiceAddsNothing()
    {
        const Project a = filled("a.lathe", {record("1", "conv", 100), record("2", "conv", 0)});
        const Project b = filled("b.lathe", {record("2", "conv", 0), record("3", "own", 70)});
        Project to = must(Project::open(file("merged.lathe"), Project::Access::Write));
        QCOMPARE(must(store::copyRecords(a, to, false)).written, std::int64_t{2});
        const auto second = must(store::copyRecords(b, to, false));
        QCOMPARE(second.written, std::int64_t{1});
        QCOMPARE(second.skipped.at("already there"), std::int64_t{1});
        QCOMPARE(must(store::copyRecords(a, to, false)).written, std::int64_t{0});
        QCOMPARE(must(to.models()).size(), std::size_t{1});
        QCOMPARE(must(to.tasks(must(to.models())[0].id)).size(), std::size_t{2});
        // Runs stay where they were made; for what a record was made goes with it.
        must(to.forEachRecord({}, [](const Record& r) {
            QCOMPARE(r.session, std::int64_t{0});
            QCOMPARE(r.target, std::string("cpu"));
        }));
    }

    void distillingKeepsTheBestOfEachKind()
    {
        const Project from = filled("all.lathe", {record("1", "conv", 100), record("2", "conv", 90),
                                                  record("3", "conv", 95, "winograd-2"), record("4", "own", 0),
                                                  record("5", "conv", 10, "direct", "[]", "cpu -threads=2")});
        Project to = must(Project::open(file("best.lathe"), Project::Access::Write));
        QCOMPARE(must(store::copyRecords(from, to, true)).written, std::int64_t{3});
        QStringList ids;
        must(to.forEachRecord({}, [&ids](const Record& r) { ids << QString::fromStdString(r.trial); }));
        ids.sort();
        QCOMPARE(ids, (QStringList{"2", "3", "5"}));
    }

    void everyRecordIsALineOfJson()
    {
        const Project p = filled("json.lathe", {record("1", "conv", 100), record("2", "own", 0)});
        QCOMPARE(must(store::exportJsonLines(p, file("out.jsonl"))).written, std::int64_t{2});
        const auto lines = linesOf(file("out.jsonl"));
        QCOMPARE(lines.size(), std::size_t{2});
        const auto read = recordFromJson(json::parse(lines[0]));
        QVERIFY(read);
        QVERIFY(read->candidate.hash() == record("1", "conv", 100).candidate.hash());
        QCOMPARE(read->target, std::string("cpu"));
        QVERIFY(must(recordFromJson(json::parse(lines[1]))).result.code == Errc::RunTimeout);
    }

    void theReferencesLogHoldsWhatTheReferenceCouldHaveMade()
    {
        const Project p = filled("log.lathe", {
                                                  record("1", "conv", 2000),
                                                  record("2", "conv", 0),
                                                  record("3", "conv", 50, "winograd-2"),
                                                  record("4", "own", 50),
                                                  record("5", "conv", 50, "direct", "[[\"no such step\"]]"),
                                                  record("6", "conv", 50, "direct", "[]", "cuda"),
                                                  record("7", "conv", 50, "direct", "[]", ""),
                                              });
        const auto describe = [](std::string_view device) {
            return std::pair(
                std::string("llvm -keys=cpu"),
                std::vector<std::int64_t>{device.find("one") != std::string_view::npos ? 8 : 0, 64, 64, 0, 0, 0, 0, 0});
        };
        const auto count = must(store::exportReferenceLog(p, file("log.json"), "cpu", describe));
        QCOMPARE(count.written, std::int64_t{1});
        std::int64_t skipped = 0;
        for (const auto& [reason, n] : count.skipped)
            skipped += n;
        QCOMPARE(skipped, std::int64_t{6});
        QCOMPARE(count.skipped.at("failed"), std::int64_t{1});
        QCOMPARE(count.skipped.at("made for cuda"), std::int64_t{1});
        const auto lines = linesOf(file("log.json"));
        QCOMPARE(lines.size(), std::size_t{1});
        const json line = json::parse(lines[0]);
        QVERIFY(
            (line["i"][0] == json({"[\"key\"]", "llvm -keys=cpu", {8, 64, 64, 0, 0, 0, 0, 0}, "", 0, json::array()})));
        QVERIFY((line["i"][1] == json({json::array(), json::array()})));
        QCOMPARE(line["r"][0].size(), std::size_t{2});
        QCOMPARE(line["r"][0][0].get<double>(), 2000 * 1e-9); // seconds
        QCOMPARE(line["r"][2].get<double>(), 0.75);
        QCOMPARE(line["r"][3].get<std::int64_t>(), std::int64_t{1700000001});
        QVERIFY(line["v"] == "v0.6");
    }

    void aProjectTellsItsTargets()
    {
        const Project p = filled("targets.lathe",
                                 {record("1", "conv", 1), record("2", "conv", 1, "direct", "[]", "cuda"),
                                  record("3", "conv", 0, "direct", "[]", "sim")});
        QVERIFY((must(p.targets()) == std::vector<std::string>{"cpu", "cuda"}));
    }

    void aFolderThatIsNotThereIsSaid()
    {
        const Project p = filled("gone.lathe", {record("1", "conv", 1)});
        const auto written = store::exportJsonLines(p, file("no/such/folder.jsonl"));
        QVERIFY(!written);
        QVERIFY(written.error().code == Errc::StoreFailed);
    }
};

LATHE_TEST(TestTransfer)

} // namespace tst_transfer

#include "tst_transfer.moc"
