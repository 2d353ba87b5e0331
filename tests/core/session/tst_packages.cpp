#include "core/session/packages.h"
#include "core/store/log_line.h"
#include "core/support/files.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fmt/format.h>

namespace tst_packages {

using namespace lathe;
using namespace lathe::session;
using lathe::test::must;
using store::Project;

namespace {

constexpr const char* kTarget = "cpu -mcpu=haswell";

Record recordOf(const std::string& trial, const std::string& task, double ns, const char* device = "cpu-a",
                bool verified = true)
{
    Record record;
    record.trial = trial;
    record.candidate.task = task;
    record.candidate.alternative = "direct";
    record.candidate.steps = "[]";
    record.result.costsNs = {ns};
    record.result.verified = verified;
    record.result.device = {device, fmt::format(R"({{"kind":"cpu","name":"Board {}"}})", device)};
    record.target = kTarget;
    return record;
}

} // namespace

class TestPackages : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path path(const char* name) { return m_folder.filePath(name).toStdString(); }

    std::filesystem::path project(const char* name, const std::vector<std::string>& tasks,
                                  const std::vector<Record>& records)
    {
        Project p = must(Project::open(path(name), Project::Access::Write));
        const std::int64_t model = must(p.addModel({0, std::string("hash of ") + name, "zoo:x", name, "{}"}));
        std::vector<store::TaskRow> rows;
        for (const std::string& key : tasks) {
            store::TaskRow row;
            row.key = key;
            row.name = "task " + key;
            rows.push_back(std::move(row));
        }
        if (!p.addTasks(model, rows) || !p.addRecords(records))
            qFatal("cannot store");
        return path(name);
    }

private slots:
    void theBestOfSeveralProjectsComeBack()
    {
        const auto one = project(
            "one.lathe", {"a", "b"},
            {recordOf("1", "a", 100), recordOf("2", "a", 50), recordOf("3", "b", 10, "cpu-a", false)});
        const auto two = project("two.lathe", {"a", "c"},
                                 {recordOf("4", "a", 40), recordOf("5", "c", 7), recordOf("6", "c", 1, "cpu-b")});
        const Package made = must(collectPackage(std::vector{one, two}, kTarget));
        QCOMPARE(made.deviceKey, std::string("cpu-a")); // it has two tasks, cpu-b one
        QCOMPARE(made.records.size(), std::size_t{2});
        QVERIFY(writePackage(made, path("a.lathepackage")));
        const Package read = must(readPackage(path("a.lathepackage")));
        QCOMPARE(read.target, std::string(kTarget));
        QCOMPARE(read.deviceName, std::string("Board cpu-a"));
        QCOMPARE(read.records[0].trial, std::string("4"));
        QCOMPARE(read.records[1].trial, std::string("5"));
        QCOMPARE(read.taskNames, (std::vector<std::string>{"task a", "task c"}));
        QCOMPARE(read.sources.size(), std::size_t{1});
        QCOMPARE(read.sources[0].project, std::string("two.lathe"));
        QCOMPARE(must(collectPackage(std::vector{two}, kTarget, "cpu-b")).records[0].trial, std::string("6"));
        QVERIFY(collectPackage(std::vector{one}, "cpu -mcpu=znver4").error().code == Errc::NotFound);
    }

    void damagedFilesAreTold()
    {
        const auto one = project("damaged.lathe", {"a"}, {recordOf("1", "a", 100)});
        QVERIFY(writePackage(must(collectPackage(std::vector{one}, kTarget)), path("d.lathepackage")));
        const std::string whole = must(readFile(path("d.lathepackage")));
        const auto readAfter = [&](const std::string& text) {
            if (!writeFileAtomically(path("e.lathepackage"), text))
                qFatal("cannot write");
            const auto read = readPackage(path("e.lathepackage"));
            return read ? std::string() : read.error().message;
        };
        QCOMPARE(readAfter(whole), std::string());
        for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40)
            QVERIFY2(!readAfter(whole.substr(0, length)).empty(), std::to_string(length).c_str());
        std::string changed = whole;
        changed[changed.rfind("100")] = '2';
        QVERIFY(readAfter(changed).find("not those that it was made with") != std::string::npos);
        std::string later = whole;
        later.replace(later.find("\"lathe_package\":1"), 17, "\"lathe_package\":2");
        QVERIFY2(readAfter(later).find("version 2") != std::string::npos, readAfter(later).c_str());
    }

    /// As lines of logs: no candidate before it was measured here.
    void whatIsAddedCountsAsImported()
    {
        const auto one = project("from.lathe", {"a", "b"}, {recordOf("1", "a", 100), recordOf("2", "b", 5)});
        const auto to = project("to.lathe", {"a"}, {});
        const Package package = must(collectPackage(std::vector{one}, kTarget));
        {
            Project p = must(Project::open(to, Project::Access::Write));
            QCOMPARE(must(addPackage(package, p)), std::int64_t{1});
            QCOMPARE(must(addPackage(package, p)), std::int64_t{0});
            QVERIFY(store::isImported(must(p.record("1"))));
            QVERIFY(must(p.best({{}, kTarget, {}})).empty());
        }
    }

    void packagesAreFoundByTheirTarget()
    {
        qputenv("XDG_DATA_HOME", m_folder.path().toUtf8());
        QVERIFY(packagesFor(kTarget).empty());
        QVERIFY(std::filesystem::create_directories(packageFolder()));
        const auto one = project("found.lathe", {"a"}, {recordOf("1", "a", 100)});
        QVERIFY(writePackage(must(collectPackage(std::vector{one}, kTarget)), packageFolder() / "x.lathepackage"));
        QVERIFY(writeFileAtomically(packageFolder() / "broken.lathepackage", "{}"));
        QCOMPARE(packagesFor(kTarget).size(), std::size_t{1});
        QVERIFY(packagesFor("cpu").empty());
        QCOMPARE(packagesFor(kTarget).front().first.filename().string(), std::string("x.lathepackage"));
        QCOMPARE(packagesFor(kTarget).front().second.records.front().trial, std::string("1"));
    }
};

LATHE_TEST(TestPackages)

} // namespace tst_packages
#include "tst_packages.moc"
