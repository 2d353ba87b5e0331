#include "core/policy/default_candidate.h"
#include "core/policy/policy_table.h"
#include "core/search/features.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace lathe;
using namespace lathe::search;

/// The one table of policies: what the names in it mean, and how others join them.
class TestPolicyTable : public QObject
{
    Q_OBJECT

    static bool suits(const char* policy, const char* target)
    {
        const auto entry = policy::findPolicy(policy);
        return entry && (!(*entry)->suits || (*entry)->suits(*Target::parse(target)));
    }

private slots:
    void theDefaultIsFirst()
    {
        QCOMPARE(policy::policies().front()->name, std::string(policy::kDefaultPolicy));
        QCOMPARE(policy::policyNames(" or "), std::string("sketch, reference, random, evolution or template"));
    }

    void unknownAndMissingOnesAreTold()
    {
        const auto unknown = policy::findPolicy("magic");
        QVERIFY(!unknown && unknown.error().code == Errc::InvalidArgument);
        QVERIFY2(unknown.error().message.find("evolution") != std::string::npos, unknown.error().message.c_str());
        policy::PolicyEntry entry;
        entry.name = "astrology";
        entry.missing = "stars are not part of this version";
        policy::addPolicy(entry);
        const auto missing = policy::findPolicy("astrology");
        QVERIFY(!missing && missing.error().code == Errc::Unsupported);
        QVERIFY2(missing.error().message.find("choose sketch") != std::string::npos, missing.error().message.c_str());
    }

    void allPoliciesHaveRulesForBothFormsOfKernels()
    {
        QVERIFY(suits("sketch", "cpu") && suits("sketch", "sim"));
        QVERIFY(suits("sketch", "cuda") && suits("random", "opencl") && suits("evolution", "sim -like=mali"));
        QVERIFY(suits("reference", "cuda") && suits("reference", "cpu"));
    }

    void aPolicyBringsItsModelsWidthAndItsPatience()
    {
        PolicyOptions options;
        const auto width = [&options](const char* name) {
            return (*policy::makeSharedModel(name, 1, options))->data().features.columns;
        };
        QCOMPARE(width("reference"), kReferenceFeatures);
        QCOMPARE(width("sketch"), kLatheFeatures);
        QCOMPARE((*policy::findPolicy("reference"))->minRepeatMs, 100.0);
        QCOMPARE((*policy::findPolicy("sketch"))->minRepeatMs, 20.0);
        QVERIFY((*policy::findPolicy("sketch"))->takesHeadStart && !(*policy::findPolicy("random"))->takesHeadStart);
    }

    void firstRoundsAreThePolicysOwn()
    {
        const SearchTask t = test::task({test::softmaxOf(64)});
        PolicyOptions options;
        int asked = 0;
        options.untuned = [&asked](const SearchTask& task) -> std::optional<Candidate> {
            ++asked;
            return policy::plainLoops(task);
        };
        const auto first = [&](const char* name) {
            return *(*policy::makePolicy(name, t, *policy::makeSharedModel(name, 1, options), options))->firstRound(8);
        };
        QCOMPARE(first("sketch").size(), std::size_t{1});
        QCOMPARE(first("sketch").front().steps, std::string("[]"));
        QCOMPARE(asked, 2);
        QVERIFY(first("random").empty() && first("evolution").empty() && first("reference").empty());
        QCOMPARE(asked, 2);
        options.untuned = {};
        QVERIFY(first("sketch").empty());
    }

    void aTaskForAnyTargetHasADefault()
    {
        const auto own = policy::defaultCandidate(test::task({test::softmaxOf(64)}));
        QVERIFY(own && own->kind == "sketch" && !own->genome.empty());
        const auto plain = policy::defaultCandidate(test::task({test::softmaxOf(64)}, "cuda"));
        QVERIFY(plain && plain->steps == "[]");
        QCOMPARE(plain->kind, std::string("steps"));
    }

    void aPolicyThatIsAddedIsOneOfThem()
    {
        policy::PolicyEntry lazy;
        lazy.name = "lazy";
        lazy.help = "whatever comes first";
        lazy.make = (*policy::findPolicy("random"))->make;
        lazy.model = (*policy::findPolicy("random"))->model;
        lazy.guess = [](const SearchTask& task) -> Result<Candidate> {
            Candidate candidate = policy::plainLoops(task);
            candidate.sketch = "lazy";
            return candidate;
        };
        policy::addPolicy(lazy);
        QCOMPARE(policy::policyNames(), std::string("sketch, reference, random, evolution, template, lazy"));
        QVERIFY(policy::makeSharedModel("lazy", 1, {}));
        // Its guess serves where those before it have none.
        QCOMPARE(policy::defaultCandidate(test::task({test::softmaxOf(64)}, "cuda"))->sketch, std::string("lazy"));
        QVERIFY(policy::defaultCandidate(test::task({test::softmaxOf(64)}))->sketch != "lazy");
        lazy.missing = "it went home";
        policy::addPolicy(lazy); // in the place of the one before
        QVERIFY(!policy::findPolicy("lazy"));
        QCOMPARE(policy::defaultCandidate(test::task({test::softmaxOf(64)}, "cuda"))->sketch, std::string());
        QCOMPARE(policy::policies().size(), std::size_t{7}); // one that is missing among them
    }
};

LATHE_TEST(TestPolicyTable)
#include "tst_policy_table.moc"
