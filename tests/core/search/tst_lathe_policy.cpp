#include "core/policy/policy_table.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/lathe_policy.h"
#include "tests/core/search/lathe_tasks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

namespace tst_lathe_policy {

using namespace lathe;
using namespace lathe::search;
using namespace lathe::test;

namespace {

struct ThreadExecutor final : Executor
{
    void parallelFor(std::size_t count, const std::function<void(std::size_t)>& body, std::stop_token) override
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 2; ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = count; i-- > 0;)
                    if (i % 2 == t)
                        body(i);
            });
    }
    unsigned concurrency() const override { return 2; }
};

} // namespace

class TestLathePolicy : public QObject
{
    Q_OBJECT

private slots:
    void sameSeedSameProposalsOnAnyNumberOfThreads()
    {
        const SearchTask t = task({conv(28, 128, 128, 3, 1), winograd(28, 128, 4)});
        const auto run = [&](Executor& executor, std::uint64_t seed) {
            PolicyOptions options;
            options.seed = seed;
            auto model = *policy::makeSharedModel("sketch", 1, options);
            auto policy = *policy::makePolicy("sketch", t, model, options);
            std::vector<std::string> seen;
            for (std::uint64_t round = 0; round < 3; ++round) {
                const std::vector<Candidate> candidates = proposals(*policy, round, 16, executor);
                std::vector<Measured> results;
                for (const Candidate& c : candidates) {
                    seen.push_back(c.hash().hex());
                    Measured m{c, {}};
                    m.result.costsNs = {1000.0 + static_cast<double>(contentHash(c.steps).low % 5000)};
                    results.push_back(std::move(m));
                }
                if (!policy->tell(results))
                    qFatal("tell failed");
            }
            return seen;
        };
        SerialExecutor serial;
        ThreadExecutor threads;
        const auto one = run(serial, 1);
        QCOMPARE(one.size(), std::size_t(48));
        QCOMPARE(std::set<std::string>(one.begin(), one.end()).size(), std::size_t(48));
        QVERIFY(one == run(threads, 1));
        QVERIFY(one != run(serial, 2));
    }

    void aCandidateIsScoredOnceInARound()
    {
        class CountingModel final : public CostModel
        {
        public:
            explicit CountingModel(std::size_t& programs)
                : m_programs(programs)
            {
            }
            Result<> train(const TrainingSet&, std::stop_token) override
            {
                m_trained = true;
                return {};
            }
            Result<std::vector<float>> predict(const FeatureMatrix& features) const override
            {
                m_programs += features.programs();
                return std::vector<float>(features.programs(), -1.0f);
            }
            bool trained() const override { return m_trained; }
            Result<std::vector<std::byte>> save() const override { return std::vector<std::byte>(); }

        private:
            std::size_t& m_programs;
            bool m_trained = false;
        };
        std::size_t programs = 0;
        const auto model = std::make_shared<SharedModel>(std::make_unique<CountingModel>(programs), kLatheFeatures, 0);
        const auto policy = *policy::makePolicy("sketch", task({conv(28, 128, 128, 3, 1)}), model, {});
        SerialExecutor executor;
        Measured known{proposals(*policy, 0, 1, executor).front(), {}};
        known.result.costsNs = {1000.0};
        QVERIFY(policy->tell({&known, 1}));
        QCOMPARE(programs, std::size_t(0)); // no model was there
        constexpr std::size_t kWanted = 16;
        QCOMPARE(proposals(*policy, 1, kWanted, executor).size(), kWanted);
        // All that were drawn or bred and the known one, and once more those that were chosen, for what they are told
        // to take.
        QVERIFY2(programs > 1000, qPrintable(QString::number(programs)));
        QVERIFY2(static_cast<double>(programs) <= policy->statistics()["considered"] + 1 + kWanted,
                 qPrintable(QString::number(programs)));
    }

    void everyAlternativeIsTriedInTheFirstRound()
    {
        const SearchTask t = task({conv(14, 256, 256, 3, 1), winograd(14, 256, 2), winograd(14, 256, 4)});
        PolicyOptions options;
        auto policy = *policy::makePolicy("sketch", t, *policy::makeSharedModel("sketch", 1, options), options);
        SerialExecutor executor;
        std::map<std::string, int> count;
        for (const Candidate& c : proposals(*policy, 0, 32, executor))
            ++count[c.alternative];
        QCOMPARE(count.size(), std::size_t(3));
        for (const auto& [name, n] : count)
            QVERIFY2(n >= 4, name.c_str());
    }

    void anExhaustedSpaceGivesNothing()
    {
        const SearchTask t = task({softmaxOf(3)});
        PolicyOptions options;
        auto policy = *policy::makePolicy("random", t, *policy::makeSharedModel("random", 1, options), options);
        SerialExecutor executor;
        std::size_t total = 0;
        for (std::uint64_t round = 0; round < 200; ++round) {
            const std::vector<Candidate> candidates = proposals(*policy, round, 64, executor);
            total += candidates.size();
            if (candidates.empty())
                return;
            std::vector<Measured> results;
            for (const Candidate& candidate : candidates) {
                results.push_back({candidate, {}});
                results.back().result.costsNs = {1000.0};
            }
            QVERIFY(policy->tell(results));
        }
        QFAIL(qPrintable(QString("still going after %1").arg(total)));
    }

    void refusals()
    {
        PolicyOptions options;
        QVERIFY(policy::makeSharedModel("magic", 1, options).error().code == Errc::InvalidArgument);
        const auto model = *policy::makeSharedModel("sketch", 1, options);
        QVERIFY(policy::makePolicy("magic", task({softmaxOf(8)}), model, options).error().code
                == Errc::InvalidArgument);
        for (const char* const target : {"cpu -threads=2", "cuda"})
            QVERIFY(policy::makePolicy("sketch", task({}, target), model, options).error().code == Errc::Unsupported);
        auto policy = *policy::makePolicy("sketch", task({softmaxOf(8)}), model, options);
        std::stop_source stop;
        stop.request_stop();
        SerialExecutor executor;
        QVERIFY(policy->propose(0, 4, executor, stop.get_token()).error().code == Errc::Cancelled);
    }
};

LATHE_TEST(TestLathePolicy)

} // namespace tst_lathe_policy

#include "tst_lathe_policy.moc"
