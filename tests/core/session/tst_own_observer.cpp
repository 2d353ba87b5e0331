#include "tests/examples/event/outcomes.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fstream>

namespace tst_own_observer {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// An observer of one's own (tests/examples/event) is told what the project holds, of a run and of its replay.
class TestOwnObserver : public QObject, Projects
{
    Q_OBJECT

private slots:
    void itCountsWhatTheProjectHolds()
    {
        std::ofstream(file("faults.json")) << R"({"seed": 3, "rules": [{"fault": "build-failed", "rate": 0.3}]})";
        examples::Outcomes outcomes;
        const auto session = open("run.lathe", "sim -script=" + file("faults.json").string());
        session->setObserver(&outcomes);
        must(session->start(few(32)));
        session->wait();
        session->setObserver(nullptr);
        const std::vector<Record> records = searched(reader("run.lathe"));
        const auto good = std::count_if(records.begin(), records.end(), [](const Record& r) { return r.result.ok(); });
        QVERIFY(outcomes.failed() > 0);
        QCOMPARE(outcomes.good(), static_cast<std::int64_t>(good));
        QCOMPARE(outcomes.failed(), std::ssize(records) - static_cast<std::int64_t>(good));
    }

    void aReplayTellsTheSame()
    {
        const auto played = replay("run.lathe");
        examples::Outcomes outcomes;
        played->setObserver(&outcomes);
        for (int i = 0; i < 2; ++i) { // the second time from its beginning
            must(played->start({}));
            played->wait();
        }
        played->setObserver(nullptr);
        QCOMPARE(outcomes.good() + outcomes.failed(), std::ssize(searched(reader("run.lathe"))));
    }
};

LATHE_TEST(TestOwnObserver)

} // namespace tst_own_observer

#include "tst_own_observer.moc"
