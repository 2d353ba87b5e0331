#include "core/deploy/memory_planner.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace tst_memory_planner {

using namespace lathe::deploy;

class TestMemoryPlanner : public QObject
{
    Q_OBJECT
private slots:
    void blocksThatLiveTogetherNeverOverlap()
    {
        bool given = false;
        std::uint64_t seed = qEnvironmentVariable("LATHE_TEST_SEED").toULongLong(&given);
        seed = given ? seed : 4711;
        std::mt19937_64 random(seed);
        const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
        for (int round = 0; round < 400; ++round) {
            std::vector<LiveBlock> blocks(static_cast<std::size_t>(pick(0, 60)));
            for (LiveBlock& block : blocks) {
                block.bytes = static_cast<std::uint64_t>(pick(0, 9) == 0 ? 0 : pick(1, 5000));
                block.first = pick(0, 40);
                block.last = block.first + pick(0, 12);
            }
            const MemoryPlan plan = planMemory(blocks);
            const QByteArray where = "seed " + QByteArray::number(static_cast<qulonglong>(seed)) + " round "
                                     + QByteArray::number(round);
            QCOMPARE(plan.offsets.size(), blocks.size());
            std::uint64_t sum = 0;
            for (std::size_t a = 0; a < blocks.size(); ++a) {
                QVERIFY2(plan.offsets[a] % 64 == 0 && plan.offsets[a] + blocks[a].bytes <= plan.bytes,
                         where.constData());
                sum += (blocks[a].bytes + 63) / 64 * 64;
                for (std::size_t b = 0; b < a; ++b) {
                    const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
                    const bool overlap = plan.offsets[a] < plan.offsets[b] + blocks[b].bytes
                                         && plan.offsets[b] < plan.offsets[a] + blocks[a].bytes;
                    QVERIFY2(!(together && overlap), where.constData());
                }
            }
            QVERIFY2(plan.bytes <= sum, where.constData());
        }
    }

    void aChainNeedsTwoBlocks()
    {
        std::vector<LiveBlock> chain;
        for (int i = 0; i < 20; ++i)
            chain.push_back({1024, i, i + 1});
        QCOMPARE(planMemory(chain).bytes, 2048U);
    }

    void theSmallestGapThatFitsIsTaken()
    {
        // Two large blocks with gaps of 256 and 128 bytes left below later small ones.
        const std::vector<LiveBlock> blocks = {{1024, 0, 9}, {512, 0, 1}, {512, 2, 9}, {256, 0, 1}, {128, 3, 4}};
        const MemoryPlan plan = planMemory(blocks);
        QCOMPARE(plan.bytes, 1024U + 512U + 256U);
    }
    void nothingNeedsNothing() { QCOMPARE(planMemory({}).bytes, 0U); }
};

LATHE_TEST(TestMemoryPlanner)

} // namespace tst_memory_planner

#include "tst_memory_planner.moc"
