#include "core/session/options/tune_options.h"
#include "tests/examples/policy/climb.h"
#include "tests/support/runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <set>

namespace tst_own_policy {

using namespace lathe;
using namespace lathe::session;
using namespace lathe::test;

/// A policy of one's own (tests/examples/policy), added to the table and to nothing else, drives whole runs.
class TestOwnPolicy : public QObject, Projects
{
    Q_OBJECT

    std::vector<Record> climbed(const char* project) const
    {
        TuneOptions tune = few(40);
        tune.policy = "climb";
        const auto session = open(project);
        Watcher watcher(*session, tune);
        return searched(reader(project));
    }

private slots:
    void initTestCase() { policy::addPolicy(examples::climb()); }

    void itIsOffered()
    {
        TuneOptions tune;
        tune.policy = "climb";
        must(check(tune));
        QVERIFY(policy::policyNames().find("climb") != std::string::npos);
    }

    void aRunFollowsIt()
    {
        const std::vector<Record> records = climbed("once.lathe");
        QCOMPARE(records.size(), std::size_t{40});
        std::set<std::string> candidates;
        for (const Record& record : records) {
            QVERIFY2(record.result.ok(), record.result.text.c_str());
            candidates.insert(record.candidate.hash().hex());
        }
        QCOMPARE(candidates.size(), std::size_t{40}); // none twice
    }

    void itClimbs()
    {
        // Three of four proposals change one choice of the best before them.
        std::map<std::string, std::pair<double, std::vector<std::int32_t>>> best;
        int neighbours = 0;
        for (const Record& record : searched(reader("once.lathe"))) {
            auto& [cost, genome] =
                best.try_emplace(record.candidate.task, INFINITY, std::vector<std::int32_t>()).first->second;
            int changed = genome.size() == record.candidate.genome.size() ? 0 : 99;
            for (std::size_t i = 0; changed < 99 && i < genome.size(); ++i)
                changed += genome[i] != record.candidate.genome[i] ? 1 : 0;
            neighbours += changed == 1 ? 1 : 0;
            if (record.result.meanNs() < cost) {
                cost = record.result.meanNs();
                genome = record.candidate.genome;
            }
        }
        QVERIFY2(neighbours >= 3, QByteArray::number(neighbours));
    }

    void theSameRunComesOnceMore()
    {
        const std::vector<Record> first = searched(reader("once.lathe")), second = climbed("again.lathe");
        QCOMPARE(second.size(), first.size());
        for (std::size_t i = 0; i < first.size(); ++i)
            QVERIFY(first[i].candidate.hash() == second[i].candidate.hash());
    }
};

LATHE_TEST(TestOwnPolicy)

} // namespace tst_own_policy

#include "tst_own_policy.moc"
