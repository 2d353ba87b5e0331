#include "core/templates/template_policy.h"
#include "core/templates/tuner_table.h"
#include "tests/core/templates/template_cases.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

namespace tst_template_policy {

using namespace lathe;
using namespace lathe::templates;
using namespace lathe::test;
using search::Measured;

namespace {

constexpr const char* kProcessor = "cpu -mcpu=haswell -threads=2";

search::SearchTask convTask(const char* key, bool residual)
{
    search::SearchTask task = taskOf(convOf({.size = 9, .in = 4, .out = 6, .residual = residual}), kProcessor);
    task.key = key;
    return task;
}

/// A cost that only the configuration decides; every seventh fails.
Measured measured(const Candidate& candidate)
{
    Measured m;
    m.candidate = candidate;
    std::int64_t cost = 100;
    for (const std::int32_t gene : candidate.genome)
        cost = cost * 31 % 1009 + gene;
    if (cost % 7 == 0) {
        m.result.stage = TrialStage::Run;
        m.result.code = Errc::RunTimeout;
    } else {
        m.result.costsNs = {static_cast<double>(cost)};
    }
    return m;
}

std::vector<Measured> measuredAll(const std::vector<Candidate>& candidates)
{
    std::vector<Measured> results;
    for (const Candidate& candidate : candidates)
        results.push_back(measured(candidate));
    return results;
}

std::vector<Measured> failedAll(const std::vector<Candidate>& candidates)
{
    std::vector<Measured> results = measuredAll(candidates);
    for (Measured& m : results) {
        m.result = {};
        m.result.stage = TrialStage::Run;
        m.result.code = Errc::RunTimeout;
    }
    return results;
}

/// Of a configuration of conv2d_nchw.cuda, whose genome begins with three sizes for each of channels, rows and columns.
std::int64_t threadsIn(const Candidate& candidate)
{
    return std::int64_t{1} * candidate.genome[1] * candidate.genome[4] * candidate.genome[7];
}

std::unique_ptr<TemplatePolicy> policyOf(const search::SearchTask& task, std::shared_ptr<SharedTemplates> shared,
                                         const char* tuner, std::vector<std::string> settings = {})
{
    search::PolicyOptions options;
    options.tuner = tuner;
    options.tunerSettings = std::move(settings);
    options.seed = 5;
    return must(TemplatePolicy::create(task, std::move(shared), options));
}

std::vector<Candidate> round(TemplatePolicy& policy, std::uint64_t number, std::int32_t count)
{
    SerialExecutor executor;
    return must(policy.propose(number, count, executor, {}));
}

void tell(TemplatePolicy& policy, const std::vector<Measured>& results)
{
    QVERIFY(policy.tell(results, {}));
}

} // namespace

class TestTemplatePolicy : public QObject
{
    Q_OBJECT

private slots:
    void aWholeSpaceIsMeasuredOnce_data()
    {
        QTest::addColumn<QString>("tuner");
        for (const char* tuner : {"gridsearch", "random", "ga", "gaussian", "xgb_knob", "xgb", "xgb_rank_curve"})
            QTest::newRow(tuner) << tuner;
    }
    void aWholeSpaceIsMeasuredOnce()
    {
        QFETCH(QString, tuner);
        const auto task = convTask("a", false);
        const auto policy = policyOf(task, std::make_shared<SharedTemplates>(1), qPrintable(tuner));
        std::set<std::vector<std::int32_t>> genomes;
        std::size_t trials = 0;
        for (std::uint64_t number = 0; number < 500; ++number) {
            const auto candidates = round(*policy, number, 16);
            if (candidates.empty())
                break;
            for (const Candidate& candidate : candidates) {
                QCOMPARE(candidate.kind, std::string("template"));
                QCOMPARE(candidate.sketch, std::string("template/1:conv2d_NCHWc.x86"));
                genomes.insert(candidate.genome);
                ++trials;
            }
            tell(*policy, measuredAll(candidates));
        }
        QCOMPARE(trials, static_cast<std::size_t>(templatesOf(task).front().space.size()));
        QCOMPARE(genomes.size(), trials);
        QCOMPARE(policy->statistics().at("rejected"), 0.0);
    }

    /// Tasks that have a convolution with other operators behind it measure what was best at the one that is searched.
    void othersOfTheWorkloadMeasureTheBestAlone()
    {
        const auto shared = std::make_shared<SharedTemplates>(1);
        const auto first = policyOf(convTask("a", false), shared, "gridsearch");
        const auto second = policyOf(convTask("b", true), shared, "gridsearch");
        std::vector<std::pair<double, std::vector<std::int32_t>>> known;
        for (std::uint64_t number = 0; number < 4; ++number) {
            const auto results = measuredAll(round(*first, number, 16));
            for (const Measured& m : results)
                if (m.result.ok())
                    known.emplace_back(m.result.meanNs(), m.candidate.genome);
            tell(*first, results);
        }
        std::sort(known.begin(), known.end());
        const auto taken = round(*second, 4, 64);
        QCOMPARE(taken.size(), TemplatePolicy::kTaken);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            QCOMPARE(taken[i].task, std::string("b"));
            QCOMPARE(taken[i].genome, known[i].second);
        }
        tell(*second, measuredAll(taken));
        QVERIFY(round(*second, 5, 64).empty());
    }

    /// The fastest may need more than a task can run: it takes the best of those that it can.
    void othersTakeTheBestThatTheyCanRun()
    {
        constexpr std::int64_t kFewThreads = 16;
        const auto shared = std::make_shared<SharedTemplates>(1);
        search::SearchTask large = taskOf(convOf({.size = 8, .in = 4, .out = 8}), "sim -like=cuda");
        search::SearchTask small = large;
        large.key = "a";
        small.key = "b";
        small.hardware.limits["max_threads_per_block"] = {kFewThreads, "user"};
        const auto first = policyOf(large, shared, "random");
        const auto second = policyOf(small, shared, "random");
        std::size_t few = 0, many = 0;
        for (std::uint64_t number = 0; number < 10; ++number) {
            std::vector<Measured> results = measuredAll(round(*first, number, 16));
            for (Measured& m : results) {
                const std::int64_t threads = threadsIn(m.candidate);
                (threads <= kFewThreads ? few : many) += 1;
                m.result = {};
                m.result.costsNs = {10'000.0 - static_cast<double>(threads)}; // the more the better
            }
            tell(*first, results);
        }
        QVERIFY(few >= TemplatePolicy::kTaken && many >= TemplatePolicy::kTaken);
        const auto taken = round(*second, 10, 64);
        QCOMPARE(taken.size(), TemplatePolicy::kTaken);
        for (const Candidate& candidate : taken)
            QVERIFY(threadsIn(candidate) <= kFewThreads);
        tell(*second, measuredAll({taken.begin(), taken.end()}));
    }

    /// Whatever fails with the operators after one task may work with those after another.
    void theSearchIsHandedOverIfAllFails()
    {
        const auto shared = std::make_shared<SharedTemplates>(1);
        const auto first = policyOf(convTask("a", false), shared, "random");
        const auto second = policyOf(convTask("b", true), shared, "random");
        tell(*first, failedAll(round(*first, 0, 8)));
        std::set<std::vector<std::int32_t>> found;
        for (std::uint64_t number = 1; number < 4; ++number) {
            const auto candidates = round(*second, number, 16);
            QCOMPARE(candidates.size(), std::size_t{16});
            const auto results = measuredAll(candidates);
            for (const Measured& m : results)
                if (m.result.ok())
                    found.insert(m.candidate.genome);
            tell(*second, results);
        }
        // From now on it is the first that takes what the second finds, also of what failed before it was asked for.
        const auto taken = round(*first, 4, 64);
        QCOMPARE(taken.size(), TemplatePolicy::kTaken);
        for (const Candidate& candidate : taken) {
            QCOMPARE(candidate.task, std::string("a"));
            QVERIFY(found.contains(candidate.genome));
        }
        tell(*first, measuredAll(taken));
        QVERIFY(round(*first, 5, 64).empty());
    }

    /// A task that has measured all the best ones is not at its end: the other may find better ones.
    void othersWaitForWhatIsStillToBeFound()
    {
        const auto shared = std::make_shared<SharedTemplates>(1);
        const auto first = policyOf(convTask("a", false), shared, "random");
        const auto second = policyOf(convTask("b", true), shared, "random");
        QVERIFY(!first->waitsForOthers() && !second->waitsForOthers()); // whoever is asked first searches
        double best = 1000;
        for (std::uint64_t number = 0; number < 4; ++number) {
            std::vector<Measured> results = measuredAll(round(*first, number, 8));
            for (Measured& m : results) {
                m.result = {};
                m.result.costsNs = {best--}; // each is faster than all before it
            }
            tell(*first, results);
            QVERIFY(!first->waitsForOthers() && !second->waitsForOthers());
            auto taken = measuredAll(round(*second, number, 64));
            QCOMPARE(taken.size(), TemplatePolicy::kTaken);
            for (Measured& m : taken) {
                m.result = {};
                m.result.costsNs = {5};
            }
            tell(*second, taken);
            QVERIFY(round(*second, number, 64).empty());
            QVERIFY(second->waitsForOthers() && !first->waitsForOthers());
            QVERIFY(!second->whyNothing());
        }
    }

    /// A run that goes on asks for its stored rounds again, and is then where it was.
    void aRunThatGoesOnProposesTheSame_data() { aWholeSpaceIsMeasuredOnce_data(); }
    void aRunThatGoesOnProposesTheSame()
    {
        QFETCH(QString, tuner);
        const auto task = convTask("a", false);
        const std::vector<std::string> settings = tuner == "ga"             ? std::vector<std::string>{"pop_size=20"}
                                                  : tuner.startsWith("xgb") ? std::vector<std::string>{"plan_size=20"}
                                                                            : std::vector<std::string>();
        const auto one = policyOf(task, std::make_shared<SharedTemplates>(1), qPrintable(tuner), settings);
        const auto other = policyOf(task, std::make_shared<SharedTemplates>(1), qPrintable(tuner), settings);
        for (std::uint64_t number = 0; number < 5; ++number)
            tell(*one, measuredAll(round(*one, number, 10)));
        QVERIFY(other->remembersProposals());
        for (std::uint64_t number = 0; number < 5; ++number)
            tell(*other, measuredAll(round(*other, number, 10)));
        const auto expected = round(*one, 5, 10);
        const auto got = round(*other, 5, 10);
        QCOMPARE(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            QCOMPARE(got[i].hash(), expected[i].hash());
    }

    /// What a budget's end left unmeasured comes first in the next round.
    void whatWasNotMeasuredIsProposedAgain()
    {
        const auto policy = policyOf(convTask("a", false), std::make_shared<SharedTemplates>(1), "random");
        const auto candidates = round(*policy, 0, 10);
        tell(*policy, measuredAll({candidates.begin(), candidates.begin() + 4}));
        const auto next = round(*policy, 1, 6);
        for (std::size_t i = 0; i < 6; ++i)
            QCOMPARE(next[i].hash(), candidates[4 + i].hash());
    }

    void aTaskWithoutTemplatesHasItsFirstRoundAlone()
    {
        search::SearchTask task = convTask("a", false);
        task.alternatives.front().name = "winograd:4";
        search::PolicyOptions options;
        options.untuned = [](const search::SearchTask& of) {
            Candidate untuned;
            untuned.task = of.key;
            return std::optional(untuned);
        };
        const auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        QCOMPARE(must(policy->firstRound(8)).size(), std::size_t{1});
        QVERIFY(round(*policy, 0, 8).empty());
    }

    /// What an export runs without records may be faster than all of a template: it is measured, too.
    void theFirstRoundHasWhatAnExportRuns()
    {
        const search::SearchTask task = convTask("a", false);
        search::PolicyOptions options;
        options.untuned = [](const search::SearchTask& of) {
            Candidate untuned;
            untuned.task = of.key;
            return std::optional(untuned);
        };
        options.exported = [](const search::SearchTask& of) {
            Candidate exported;
            exported.task = of.key;
            exported.alternative = "winograd:4";
            return std::optional(exported);
        };
        const auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        const auto first = must(policy->firstRound(8));
        QCOMPARE(first.size(), std::size_t{2});
        QCOMPARE(first[0].alternative, std::string("winograd:4"));
        QCOMPARE(must(policy->firstRound(1)).size(), std::size_t{1});
        options.untuned = options.exported;
        const auto same = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options));
        QCOMPARE(must(same->firstRound(8)).size(), std::size_t{1});
    }

    /// The same tuners choose the open choices of Lathe's own sketches.
    void sketchesAreTunedToo()
    {
        for (const char* tuner : {"random", "ga", "gaussian", "xgb_knob"}) {
            search::PolicyOptions options;
            options.tuner = tuner;
            options.tunerSettings = QByteArray(tuner) == "ga" ? std::vector<std::string>{"pop_size=8"}
                                                              : std::vector<std::string>();
            const auto task = convTask("a", false);
            const auto policy = must(TemplatePolicy::create(task, std::make_shared<SharedTemplates>(1), options, true));
            std::set<std::string> seen;
            for (std::uint64_t number = 0; number < 4; ++number) {
                const auto candidates = round(*policy, number, 8);
                QVERIFY(!candidates.empty());
                for (const Candidate& candidate : candidates) {
                    QCOMPARE(candidate.kind, std::string("sketch"));
                    QVERIFY(candidate.sketch.starts_with("lathe-cpu/1:"));
                    QVERIFY(seen.insert(candidate.hash().hex()).second);
                }
                tell(*policy, measuredAll(candidates));
            }
        }
    }

    /// Numbers that people are shown are such as people write.
    void rangesReachToTheEndUnlessTheyAreSet()
    {
        const auto countOf = [](std::vector<std::string> settings) {
            const auto policy = policyOf(convTask("a", false), std::make_shared<SharedTemplates>(1), "gridsearch",
                                         std::move(settings));
            return round(*policy, 0, 1000).size();
        };
        const std::size_t all = templatesOf(convTask("a", false)).front().space.size();
        QCOMPARE(countOf({}), all);
        QCOMPARE(countOf({"range_last=-1"}), all);
        QCOMPARE(countOf({"range_first=3"}), all - 3);
        QCOMPARE(countOf({"range_last=0"}), std::size_t{1});
        QCOMPARE(countOf({"range_first=3", "range_last=5"}), std::size_t{3});
        QCOMPARE(countOf({"range_last=9000000000000000"}), all); // as versions up to now said it
        for (const TunerEntry& tuner : tuners())
            for (const TunerParameter& parameter : tuner.parameters)
                QVERIFY2(parameter.usual <= 10'000 && parameter.usual >= parameter.low
                             && parameter.usual <= parameter.high,
                         parameter.name.c_str());
    }

    void unknownTunersAndSettingsAreTold()
    {
        const auto create = [](const char* tuner, std::vector<std::string> settings) {
            search::PolicyOptions options;
            options.tuner = tuner;
            options.tunerSettings = std::move(settings);
            const auto made = TemplatePolicy::create(convTask("a", false), std::make_shared<SharedTemplates>(1),
                                                     options);
            return made ? std::string() : made.error().message;
        };
        QVERIFY(create("magic", {}).find("'magic' is not one of gridsearch") != std::string::npos);
        QVERIFY(create("ga", {"plan_size=3"}).find("pop_size, elite_num") != std::string::npos);
        QVERIFY(create("ga", {"pop_size"}).find("NAME=VALUE") != std::string::npos);
        QVERIFY(create("ga", {"pop_size=0"}).find("from 1 to 100000") != std::string::npos);
        QVERIFY(create("ga", {"pop_size=2.5"}).find("pop_size is 2.5") != std::string::npos);
        QVERIFY(create("ga", {"mutation_prob=nan"}).find("mutation_prob is nan") != std::string::npos);
        QCOMPARE(create("ga", {"pop_size=5", "mutation_prob=0.5"}), std::string());
    }
};

LATHE_TEST(TestTemplatePolicy)

} // namespace tst_template_policy
#include "tst_template_policy.moc"
