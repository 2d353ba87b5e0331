#include "core/templates/annotate_choices.h"
#include "core/templates/config.h"
#include "core/templates/reorder_choices.h"
#include "core/templates/split_choices.h"
#include "tests/support/must.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <map>

namespace tst_knob_choices {

using namespace lathe;
using namespace lathe::templates;
using lathe::test::must;

namespace {

using Sizes = std::vector<std::int64_t>;

std::size_t count(const SplitRule& rule)
{
    return must(splitChoices("k", rule)).size();
}

std::string marksOf(const std::vector<Entity>& choices)
{
    std::string text;
    for (const Entity& choice : choices)
        text += (text.empty() ? "" : " | ") + entityText(choice);
    return text;
}

/// What section 2.1 says with words, without pruning and without any order.
std::map<Sizes, int> bySearch(const SplitRule& rule)
{
    std::map<Sizes, int> found;
    const bool noTail = rule.noTail.value_or(rule.policy == SplitPolicy::Factors);
    Sizes sizes(static_cast<std::size_t>(rule.outputs), 1);
    sizes[0] = -1;
    const auto isFactor = [&rule](std::int64_t f) {
        const bool divides = rule.policy != SplitPolicy::Power2 && rule.extent % f == 0;
        const bool power = rule.policy != SplitPolicy::Factors && (f & (f - 1)) == 0;
        return (divides || power) && f <= rule.maxFactor;
    };
    for (;;) {
        std::int64_t product = 1;
        bool all = true;
        for (std::size_t i = 1; i < sizes.size(); ++i) {
            product *= sizes[i];
            all = all && isFactor(sizes[i]);
        }
        if (all && product <= rule.extent && (rule.extent % product == 0 || !noTail))
            ++found[sizes];
        std::size_t i = 1;
        while (i < sizes.size() && sizes[i] == rule.extent)
            sizes[i++] = 1;
        if (i == sizes.size())
            return found;
        ++sizes[i];
    }
}

} // namespace

class TestKnobChoices : public QObject
{
    Q_OBJECT

private slots:
    /// The list of autotvm.md 2.1.
    void theSecondSizeVariesFastest()
    {
        const std::vector<Sizes> expected = {{-1, 1, 1}, {-1, 2, 1}, {-1, 3, 1}, {-1, 6, 1}, {-1, 1, 2},
                                             {-1, 3, 2}, {-1, 1, 3}, {-1, 2, 3}, {-1, 1, 6}};
        QVERIFY(must(splitChoices("k", {6, 3})) == expected);
        QVERIFY(must(splitChoices("k", {6, 1})) == std::vector<Sizes>{{-1}});
    }

    void countsAreTheGoldenOnes()
    {
        QCOMPARE(count({512, 4}), std::size_t{220});
        QCOMPARE(count({56, 4}), std::size_t{80});
        const auto upTo64 = [](std::span<const std::int64_t> sizes) { return sizes.back() <= 64; };
        SplitRule rule{112, 2, SplitPolicy::Verbose};
        rule.filter = upTo64;
        QCOMPARE(count(rule), std::size_t{11});
        rule.policy = SplitPolicy::Factors;
        QCOMPARE(count(rule), std::size_t{9});
        rule.filter = nullptr;
        rule.policy = SplitPolicy::Verbose; // the set that the reference lists without an order
        std::vector<Sizes> expected;
        for (const std::int64_t size : {1, 2, 4, 7, 8, 14, 16, 28, 32, 56, 64, 112})
            expected.push_back({-1, size});
        QVERIFY(must(splitChoices("k", rule)) == expected);
    }

    void choicesAreThoseOfASearch_data()
    {
        QTest::addColumn<int>("extent");
        for (const int extent : {1, 2, 7, 12, 30, 36, 64})
            QTest::addRow("%d", extent) << extent;
    }
    void choicesAreThoseOfASearch()
    {
        QFETCH(int, extent);
        for (const SplitPolicy policy : {SplitPolicy::Factors, SplitPolicy::Power2, SplitPolicy::Verbose})
            for (const std::int32_t outputs : {2, 3, 4})
                for (const std::int64_t maxFactor : {4, 1000})
                    for (const std::optional<bool> noTail : {std::optional<bool>(), {true}, {false}}) {
                        if (outputs == 4 && extent > 36)
                            continue; // the search would take long
                        SplitRule rule{extent, outputs, policy, maxFactor, noTail};
                        const std::map<Sizes, int> expected = bySearch(rule);
                        const std::vector<Sizes> choices = must(splitChoices("k", rule));
                        QCOMPARE(choices.size(), expected.size());
                        for (const Sizes& choice : choices)
                            QCOMPARE(expected.count(choice), std::size_t{1});
                    }
    }

    void candidatesAreTakenAsTheyAre()
    {
        SplitRule rule{10, 2, SplitPolicy::Candidates};
        rule.candidates = {{-1, 3}, {2, 5}};
        QVERIFY(must(splitChoices("k", rule)) == rule.candidates);
        rule.candidates.push_back({1, 2, 3});
        QVERIFY(splitChoices("k", rule).error().code == Errc::InvalidArgument);
    }

    void absurdSplitsAreRefused()
    {
        for (const SplitRule& rule : {SplitRule{0, 2}, SplitRule{-4, 2}, SplitRule{std::int64_t{1} << 40, 2},
                                      SplitRule{8, 0}, SplitRule{8, 17}, SplitRule{735134400, 8}})
            QVERIFY(splitChoices("tile_x", rule).error().message.find("tile_x") != std::string::npos);
        QCOMPARE(count({kMaxExtent, 4}), std::size_t{4}); // a prime
    }

    void extentsAfterASplitCoverTheAxis()
    {
        QVERIFY(splitExtents(Sizes{-1, 4, 2}, 64) == (Sizes{8, 4, 2}));
        QVERIFY(splitExtents(Sizes{-1, 32}, 56) == (Sizes{2, 32}));
        QVERIFY(splitExtents(Sizes{-1, kMaxExtent, kMaxExtent}, 5)[0] == 1);
    }

    void ordersAreInLexicographicOrder()
    {
        using Orders = std::vector<std::vector<std::int32_t>>;
        QVERIFY(must(reorderChoices("k", {3, ReorderPolicy::Identity})) == (Orders{{0, 1, 2}}));
        QVERIFY(must(reorderChoices("k", {3, ReorderPolicy::All}))
                == (Orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
        QVERIFY(must(reorderChoices("k", {4, ReorderPolicy::IntervalAll, 1, 3}))
                == (Orders{{0, 1, 2, 3}, {0, 2, 1, 3}}));
        QVERIFY(!reorderChoices("k", {4, ReorderPolicy::IntervalAll, 3, 5}));
        QVERIFY(!reorderChoices("k", {20, ReorderPolicy::All}));
        QVERIFY(!reorderChoices("k", {2, ReorderPolicy::Candidates, 0, 0, {{0, 0}}}));
        QVERIFY(!reorderChoices("k", {2, ReorderPolicy::Candidates, 0, 0, {{0, 2}}}));
    }

    /// y = [0, 1, 2], x = [3, 4, 5], reductions k = [6, 7].
    void chainsInterleaveWithTheLongestFirst()
    {
        ReorderRule rule{8, ReorderPolicy::Interleave};
        rule.spatial = {{0, 1, 2}, {3, 4, 5}};
        rule.reduce = {{6, 7}};
        using Orders = std::vector<std::vector<std::int32_t>>;
        QVERIFY(must(reorderChoices("k", rule)) == (Orders{{0, 3, 1, 4, 6, 2, 5, 7}}));
        rule.policy = ReorderPolicy::InterleaveCuda;
        QVERIFY(must(reorderChoices("k", rule)) == (Orders{{0, 3, 1, 4, 6, 7, 2, 5}}));
    }

    void marksAreCombined()
    {
        QCOMPARE(marksOf(must(annotateChoices("k", {2, "try_unroll"}))),
                 std::string("none, none | none, unroll | unroll, none | unroll, unroll"));
        QCOMPARE(must(annotateChoices("k", {3, "try_unroll_vec"})).size(), std::size_t{20});
        QCOMPARE(marksOf(must(annotateChoices("k", {2, "unroll_vec"}))),
                 std::string("unroll, unroll | unroll, vec | vec, unroll"));
        QCOMPARE(marksOf(must(annotateChoices("k", {3, "bind_gpu"}))), std::string("fuse, blockIdx.x, threadIdx.x"));
        QCOMPARE(marksOf(must(annotateChoices("k", {5, "bind_gpu"}))),
                 std::string("fuse, blockIdx.y, blockIdx.x, threadIdx.y, threadIdx.x"));
        QCOMPARE(marksOf(must(annotateChoices("k", {6, "bind_gpu"}))),
                 std::string("blockIdx.z, blockIdx.y, blockIdx.x, threadIdx.z, threadIdx.y, threadIdx.x"));
        QCOMPARE(marksOf(must(annotateChoices("k", {4, "bind_gpu_virtual"}))),
                 std::string("fuse, blockIdx.x, vthread, threadIdx.x"));
        QCOMPARE(marksOf(must(annotateChoices("k", {9, "bind_gpu_virtual"}))),
                 std::string("blockIdx.z, blockIdx.y, blockIdx.x, vthread, vthread, vthread, threadIdx.z, threadIdx.y, "
                             "threadIdx.x"));
        QCOMPARE(marksOf(must(annotateChoices("k", {3, "locate_cache", 2}))), std::string("[0, 1] | [0, 2] | [1, 2]"));
        for (const AnnotateRule& rule : {AnnotateRule{1, "bind_gpu"}, AnnotateRule{2, "bind_gpu_virtual"},
                                         AnnotateRule{2, "try_spin"}, AnnotateRule{2, ""}, AnnotateRule{0, "try"},
                                         AnnotateRule{60, "try_unroll_vec"}, AnnotateRule{2, "locate_cache", 3}})
            QVERIFY(!annotateChoices("k", rule));
    }
};

LATHE_TEST(TestKnobChoices)

} // namespace tst_knob_choices
#include "tst_knob_choices.moc"
