// Guided search against random sampling on a cost that neither can read: cliffs of cache, vector and parallel width.

#include "core/compute/definitions/conv2d.h"
#include "core/policy/policy_table.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <map>

namespace tst_guided_search {

using namespace lathe;
using namespace lathe::search;

namespace {

SearchTask task()
{
    compute::DagBuilder b;
    const compute::Tensor data = b.placeholder("data", {1, 56, 56, 64}, DType::F32),
                          weight = b.placeholder("weight", {3, 3, 64, 128}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    const compute::Tensor y = conv2d(b, data, weight, p, compute::NameEra::Nested);
    SearchTask t;
    t.key = t.name = "rugged";
    t.alternatives.push_back({"direct", *std::move(b).finish({y}), {false, true}, true});
    t.target = *Target::parse("cpu -mcpu=emeraldrapids -threads=2");
    t.hardware = defaultHardware(t.target);
    return t;
}

class RuggedDevice
{
public:
    explicit RuggedDevice(const SearchTask& t)
        : m_sketch(*LatheSketch::create(t.alternatives[0], t.hardware))
    {
    }

    double nanoseconds(const Candidate& c) const
    {
        std::map<std::string, double> v;
        for (std::size_t g = 0; g < c.genome.size(); ++g) {
            const Parameter& p = m_sketch->parameters()[g];
            v[p.name.substr(0, p.name.rfind(' '))] = static_cast<double>(
                p.values[static_cast<std::size_t>(c.genome[g])]);
        }
        const double sums = v["vectors"] * v["tile a"] * v["tile b"];
        double cost = 1;
        cost += std::abs(std::log2(sums / 12)) * 0.5; // this device likes twelve sums
        cost += sums > 20 ? 0.6 : 0; // and spills above twenty
        cost += v["lanes"] < 16 ? 1.2 : 0;
        const double panel = v["vectors"] * v["lanes"] * 4 * 9 * (v["chunk"] == 0 ? 64 : v["chunk"]);
        cost += panel > 24576 ? 0.5 : 0;
        cost += v["order"] == 2 ? -0.15 : v["order"] == 1 ? 0.2 : 0;
        cost += v["parallel"] == 0 ? 2 : v["parallel"] == 2 ? -0.1 : 0.1;
        cost += v["prefetch"] == 8192 ? -0.08 : 0.03;
        cost += v["border"] == 1 ? -0.1 : v["border"] == 0 ? 0.3 : 0.15;
        cost += v["unroll"] == 4 ? -0.1 : v["unroll"] == 16 ? 0.35 : 0;
        cost += v["kernel"] == 1 ? -0.12 : 0;
        const double noise = static_cast<double>(contentHash(c.steps).low >> 40) * 0x1.0p-24;
        return 1e6 * cost * (1 + 0.04 * noise);
    }

private:
    std::shared_ptr<const LatheSketch> m_sketch;
};

/// Best cost after each trial.
std::vector<double> run(std::string_view name, const SearchTask& t, const RuggedDevice& device, std::uint64_t seed,
                        int trials)
{
    PolicyOptions options;
    options.seed = seed;
    options.trialsPerRound = 16;
    auto model = policy::makeSharedModel(name, 1, options);
    auto policy = policy::makePolicy(name, t, *model, options);
    if (!policy)
        qFatal("%s", policy.error().message.c_str());
    SerialExecutor executor;
    std::vector<double> best;
    for (std::uint64_t round = 0; static_cast<int>(best.size()) < trials; ++round) {
        auto candidates = (*policy)->propose(round, 16, executor);
        if (!candidates || candidates->empty())
            qFatal("no candidates");
        std::vector<Measured> results;
        for (const Candidate& c : *candidates) {
            const double cost = device.nanoseconds(c);
            best.push_back(best.empty() ? cost : std::min(best.back(), cost));
            results.push_back({c, {}});
            results.back().result.costsNs = {cost};
        }
        if (!(*policy)->tell(results))
            qFatal("tell failed");
    }
    return best;
}

} // namespace

class TestGuidedSearch : public QObject
{
    Q_OBJECT

private slots:
    void guidedSearchNeedsAThirdOfRandomsTrials()
    {
        const SearchTask t = task();
        const RuggedDevice device(t);
        constexpr int kTrials = 160, kSeeds = 2;
        double needed = 0, evolved = 0, blind = 0;
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            const std::vector<double> random = run("random", t, device, seed, kTrials);
            const std::vector<double> guided = run("sketch", t, device, seed, kTrials);
            const double goal = random[kTrials - 1];
            needed += static_cast<double>(
                std::find_if(guided.begin(), guided.end(), [&](double c) { return c <= goal; }) - guided.begin());
            blind += goal;
            evolved += run("evolution", t, device, seed, kTrials)[kTrials - 1];
        }
        qInfo("trials to random's best of %d: %.0f; evolution without a model ends at %.2f of random's cost", kTrials,
              needed / kSeeds, evolved / blind);
        QVERIFY2(needed / kSeeds <= kTrials / 3.0, qPrintable(QString::number(needed / kSeeds)));
        QVERIFY(evolved < blind);
    }
};

LATHE_TEST(TestGuidedSearch)

} // namespace tst_guided_search

#include "tst_guided_search.moc"
