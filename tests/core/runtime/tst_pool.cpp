#include "core/runtime/pool.h"
#include "core/runtime/processors.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tst_pool {

using namespace lathe::runtime;

namespace {

using PoolPtr = std::unique_ptr<Pool, PoolDeleter>;

PoolPtr makePool(std::uint32_t threads, std::uint32_t idleSpin = 50)
{
    return PoolPtr(Pool::create({threads, false, idleSpin}));
}

constexpr std::uint32_t kCells = 1000;

/// Phase k: cell[i] of the next plane = cell[i] + cell[i + 1] of this one; needs every part of the phase before.
struct Planes
{
    std::vector<std::uint32_t> a, b;
};

std::int32_t sumNeighbours(const std::uint32_t* in, std::uint32_t* out, std::uint32_t part, std::uint32_t parts)
{
    for (std::uint32_t i = kCells * part / parts; i < kCells * (part + 1) / parts; ++i)
        out[i] = in[i] + in[(i + 1) % kCells];
    return 0;
}
std::int32_t forward(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    return sumNeighbours(static_cast<const std::uint32_t*>(args->tensors[0]),
                         static_cast<std::uint32_t*>(args->tensors[1]), part, parts);
}
std::int32_t backward(const LatheArgs* args, void*, std::uint32_t part, std::uint32_t parts)
{
    return sumNeighbours(static_cast<const std::uint32_t*>(args->tensors[1]),
                         static_cast<std::uint32_t*>(args->tensors[0]), part, parts);
}
std::int32_t failOnLastPart(const LatheArgs*, void*, std::uint32_t part, std::uint32_t parts)
{
    return part + 1 == parts ? 42 : 0;
}
std::int32_t countCall(const LatheArgs* args, void*, std::uint32_t, std::uint32_t)
{
    static_cast<std::atomic<int>*>(args->tensors[0])->fetch_add(1);
    return 0;
}
std::int32_t fillOwnScratch(const LatheArgs* args, void* scratch, std::uint32_t part, std::uint32_t)
{
    auto* const bytes = static_cast<unsigned char*>(scratch);
    for (int i = 0; i < 64; ++i)
        bytes[i] = static_cast<unsigned char>(part + 1);
    return args->teamScratch == nullptr ? 1 : 0;
}

} // namespace

class TestPool : public QObject
{
    Q_OBJECT
private slots:
    void everyPartRunsOnce_data()
    {
        QTest::addColumn<unsigned>("threads");
        for (const unsigned n : {1U, 2U, 3U, 8U, 33U})
            QTest::addRow("%u", n) << n;
    }
    void everyPartRunsOnce()
    {
        QFETCH(unsigned, threads);
        const PoolPtr pool = makePool(threads);
        QVERIFY(pool);
        QCOMPARE(pool->parts(), threads);
        std::vector<std::atomic<int>> calls(threads);
        for (int round = 1; round <= 50; ++round) {
            pool->run([](void* context, std::uint32_t part,
                         std::uint32_t) { (*static_cast<std::vector<std::atomic<int>>*>(context))[part].fetch_add(1); },
                      &calls);
            for (const auto& count : calls)
                QCOMPARE(count.load(), round);
        }
    }

    void phasesSeeAllOfThePhaseBefore_data() { everyPartRunsOnce_data(); }
    void phasesSeeAllOfThePhaseBefore()
    {
        QFETCH(unsigned, threads);
        const PoolPtr pool = makePool(threads);
        QVERIFY(pool);
        Planes team, alone;
        team.a.resize(kCells);
        team.b.resize(kCells);
        for (std::uint32_t i = 0; i < kCells; ++i)
            team.a[i] = i * i;
        alone = team;
        std::vector<LathePhase> phases;
        for (int i = 0; i < 40; ++i)
            phases.push_back(i % 2 == 0 ? forward : backward);
        const auto call = [&](Planes& planes, Pool& runner) {
            void* tensors[] = {planes.a.data(), planes.b.data()};
            const LatheArgs args{tensors, nullptr};
            return runner.run({phases.data(), static_cast<std::uint32_t>(phases.size()), &args, nullptr, 0});
        };
        const PoolPtr single = makePool(1);
        for (int round = 0; round < 5; ++round) {
            QCOMPARE(call(team, *pool), 0);
            QCOMPARE(call(alone, *single), 0);
            QCOMPARE(team.a, alone.a);
            QCOMPARE(team.b, alone.b);
        }
    }

    void aPhaseThatFailsEndsTheKernelForAllParts_data() { everyPartRunsOnce_data(); }
    void aPhaseThatFailsEndsTheKernelForAllParts()
    {
        QFETCH(unsigned, threads);
        const PoolPtr pool = makePool(threads);
        std::atomic<int> calls = 0;
        void* tensors[] = {&calls};
        const LatheArgs args{tensors, nullptr};
        const LathePhase phases[] = {countCall, failOnLastPart, countCall, failOnLastPart};
        for (int round = 1; round <= 20; ++round) {
            QCOMPARE(pool->run({phases, 4, &args, nullptr, 0}), 42);
            QCOMPARE(calls.load(), round * static_cast<int>(threads));
        }
        QCOMPARE(pool->run({phases, 1, &args, nullptr, 0}), 0); // and the pool is as good as before
    }

    void eachPartHasItsOwnScratch()
    {
        const PoolPtr pool = makePool(5);
        std::vector<std::byte> scratch(5 * 128), teamScratch(64);
        const LatheArgs args{nullptr, teamScratch.data()};
        const LathePhase phases[] = {fillOwnScratch};
        QCOMPARE(pool->run({phases, 1, &args, scratch.data(), 128}), 0);
        for (std::size_t part = 0; part < 5; ++part) {
            QCOMPARE(static_cast<unsigned>(scratch[part * 128 + 63]), static_cast<unsigned>(part + 1));
            QCOMPARE(static_cast<unsigned>(scratch[part * 128 + 64]), 0U);
        }
    }

    void sleepingWorkersWakeUp()
    {
        const PoolPtr pool = makePool(4, 0); // they sleep at once
        std::atomic<int> calls = 0;
        for (int round = 1; round <= 30; ++round) {
            pool->run([](void* context, std::uint32_t,
                         std::uint32_t) { static_cast<std::atomic<int>*>(context)->fetch_add(1); },
                      &calls);
            QCOMPARE(calls.load(), round * 4);
            std::this_thread::yield();
        }
    }

    void poolsOfSeveralThreadsDoNotDisturbEachOther()
    {
        std::atomic<int> wrong = 0;
        std::vector<std::thread> users;
        for (int user = 0; user < 3; ++user)
            users.emplace_back([&wrong] {
                const PoolPtr pool = makePool(3);
                std::atomic<int> calls = 0;
                for (int round = 1; round <= 100; ++round) {
                    pool->run([](void* context, std::uint32_t,
                                 std::uint32_t) { static_cast<std::atomic<int>*>(context)->fetch_add(1); },
                              &calls);
                    if (calls.load() != round * 3)
                        wrong.fetch_add(1);
                }
            });
        for (std::thread& user : users)
            user.join();
        QCOMPARE(wrong.load(), 0);
    }

    void aWorkerOnTheCallersProcessorLeavesIt()
    {
        if (processorCount() < 2)
            QSKIP("one processor");
        const PoolPtr pool = makePool(2);
        cpu_set_t before;
        QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
        QVERIFY(pinThisThread(0)); // the caller alone: the worker was there before
        int met = 0;
        for (int round = 0; round < 20; ++round) {
            struct
            {
                int caller, worker;
                bool kept;
            } at{sched_getcpu(), -1, false};
            pool->run(
                [](void* context, std::uint32_t part, std::uint32_t) {
                    auto& a = *static_cast<decltype(at)*>(context);
                    if (part == 0)
                        return;
                    cpu_set_t all, one;
                    CPU_ZERO(&one);
                    CPU_SET(a.caller, &one);
                    // Held there, as a system does that wakes it there: the next dispatch finds it on the caller's
                    // processor.
                    a.kept = sched_getaffinity(0, sizeof all, &all) == 0 && sched_setaffinity(0, sizeof one, &one) == 0
                             && sched_setaffinity(0, sizeof all, &all) == 0;
                },
                &at);
            QVERIFY(at.kept);
            pool->run(
                [](void* context, std::uint32_t part, std::uint32_t) {
                    if (part == 1)
                        static_cast<decltype(at)*>(context)->worker = sched_getcpu();
                },
                &at);
            met += at.worker == at.caller ? 1 : 0;
        }
        sched_setaffinity(0, sizeof before, &before);
        QCOMPARE(met, 0);
    }

    void absurdThreadCountsAreRefused() { QVERIFY(!makePool(1U << 20)); }
    void aPoolThatNeverRanEnds() { QVERIFY(makePool(6)); }
};

LATHE_TEST(TestPool)

} // namespace tst_pool

#include "tst_pool.moc"
