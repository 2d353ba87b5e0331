// Inputs and outputs in memory that the processor and a device share (core/runtime/executor_ports.cpp).

#include "tests/core/runtime/late_network.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

namespace tst_executor_ports {

using namespace lathe;
using namespace lathe::runtime;
using namespace lathe::test;

namespace {

/// The network on a device that shares the processor's memory.
struct Shared
{
    Network network = makeNetwork();
    Model model;
    ErrorText error;

    Shared() { late::device().sharesMemory = true; }
    /// Null: `error` says why.
    ExecutorPtr executor(std::uint32_t threads = 1)
    {
        if (model.open(network.source(), true, error) != Status::Ok)
            return nullptr;
        return makeExecutor(model, threads, error);
    }
};

/// A buffer of the caller's, at a multiple of 64 bytes or 4 bytes behind one.
class Buffer
{
public:
    explicit Buffer(bool isAligned, const std::vector<float>& values = std::vector<float>(kCells, -1))
        : m_block(static_cast<float*>(std::aligned_alloc(64, 192)))
        , m_first(isAligned ? 0 : 1)
    {
        std::ranges::copy(values, data());
    }
    float* data() const { return m_block.get() + m_first; }
    std::vector<float> values() const { return {data(), data() + kCells}; }

private:
    struct Free
    {
        void operator()(float* block) const { std::free(block); }
    };
    std::unique_ptr<float, Free> m_block;
    std::size_t m_first = 0;
};

/// An executor with the buffers that are bound to its ports, which outlive it.
struct Bound
{
    std::unique_ptr<Buffer> x, y, z;
    ExecutorPtr executor;

    explicit Bound(ExecutorPtr made)
        : executor(std::move(made))
    {
    }

    /// What was bound before is freed at once.
    bool bind(bool isAligned, float shift)
    {
        auto newX = std::make_unique<Buffer>(isAligned, someInput(shift));
        auto newY = std::make_unique<Buffer>(isAligned), newZ = std::make_unique<Buffer>(isAligned);
        const bool good = executor->bindInput(0, newX->data(), kBytes) == Status::Ok
                          && executor->bindOutput(0, newY->data(), kBytes) == Status::Ok
                          && executor->bindOutput(1, newZ->data(), kBytes) == Status::Ok;
        x = std::move(newX);
        y = std::move(newY);
        z = std::move(newZ);
        return good;
    }
    /// Empty: the outputs are as they should be.
    QString run() const
    {
        if (executor->run() != Status::Ok)
            return executor->lastError().text;
        return check();
    }
    QString check() const
    {
        if (late::device().misuses > 0)
            return "memory was touched by the one while it was the other's";
        if (y->values() != expected(x->values()))
            return "y is wrong";
        return z->values() == scaled(x->values()) ? "" : "z is wrong";
    }
};

/// Buffers of the caller's on the device.
struct OnDevice
{
    std::vector<std::byte> x, y, z;

    explicit OnDevice(float shift)
        : x(bytesOf(someInput(shift)))
        , y(kBytes)
        , z(kBytes)
        , input(someInput(shift))
    {
    }
    bool bind(Executor& executor)
    {
        return executor.bindDeviceInput(0, &x, kBytes) == Status::Ok
               && executor.bindDeviceOutput(0, &y, kBytes) == Status::Ok
               && executor.bindDeviceOutput(1, &z, kBytes) == Status::Ok;
    }
    /// In the same memory.
    void change(float shift)
    {
        input = someInput(shift);
        std::ranges::copy(bytesOf(input), x.begin());
    }
    /// Empty: the outputs are as they should be.
    QString check() const
    {
        if (y != bytesOf(expected(input)))
            return "y is wrong";
        return z == bytesOf(scaled(input)) ? "" : "z is wrong";
    }

private:
    std::vector<float> input;
};

} // namespace

class TestExecutorPorts : public QObject
{
    Q_OBJECT
private slots:
    /// All that is left to copy is what goes from the device to the kernel of the processor and back.
    void callersBuffersAreUsedInPlace()
    {
        {
            Shared shared;
            Bound bound(shared.executor());
            QVERIFY2(bound.executor, shared.error.text);
            QVERIFY(bound.bind(true, 1));
            QCOMPARE(bound.run(), QString());
            QCOMPARE(late::device().wraps, 3);
            late::device().maps = late::device().unmaps = late::device().copies = late::device().waits = 0;
            std::ranges::copy(someInput(7), bound.x->data());
            QCOMPARE(bound.run(), QString());
            QCOMPARE(late::device().copies, 2);
            QCOMPARE(late::device().unmaps, 3);
            QCOMPARE(late::device().maps, 3);
            QCOMPARE(late::device().waits, 2); // for m, and at the end
            QCOMPARE(late::device().wraps, 3);
            for (const std::uint32_t instruction : {0U, 6U, 7U})
                QVERIFY(bound.executor->isInPlace(instruction));
            for (const std::uint32_t instruction : {1U, 2U, 3U, 4U, 5U})
                QVERIFY(!bound.executor->isInPlace(instruction));
        }
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().contexts + late::device().queues + late::device().launches + late::device().pieces, 0);
    }

    void theExecutorsOwnBuffersAreUsedInPlace()
    {
        Shared shared;
        late::device().alignment = 4096;
        const ExecutorPtr executor = shared.executor();
        QVERIFY2(executor, shared.error.text);
        for (const float shift : {2.0F, 3.0F}) {
            std::ranges::copy(someInput(shift), static_cast<float*>(executor->inputBuffer(0)));
            QVERIFY2(executor->run() == Status::Ok, executor->lastError().text);
            const auto* const y = static_cast<const float*>(executor->outputBuffer(0));
            QCOMPARE(std::vector<float>(y, y + kCells), expected(someInput(shift)));
        }
        QCOMPARE(late::device().wraps, 3);
        QCOMPARE(late::device().copies, 4);
        QCOMPARE(late::device().misuses, 0);
    }

    /// The device has its tensors in memory of the driver's for both; the host moves the bytes, and no command does.
    void buffersThatTheDeviceCannotUseAreMovedByTheHost()
    {
        Shared shared;
        Bound bound(shared.executor());
        QVERIFY2(bound.executor, shared.error.text);
        QVERIFY(bound.bind(false, 1));
        QCOMPARE(bound.run(), QString());
        const int pieces = late::device().pieces;
        late::device().copies = late::device().waits = 0;
        QVERIFY(bound.bind(false, 4));
        QCOMPARE(bound.run(), QString());
        QCOMPARE(late::device().copies, 2);
        QCOMPARE(late::device().waits, 2);
        QCOMPARE(late::device().wraps, 0);
        QCOMPARE(late::device().pieces, pieces); // they are there for the next ones
        QVERIFY(!bound.executor->isInPlace(0) && !bound.executor->isInPlace(6));
    }

    /// What is bound may be anything from run to run, and what was bound is the caller's to free.
    void buffersMayBeOthersInEachRun()
    {
        {
            Shared shared;
            Bound bound(shared.executor(2));
            QVERIFY2(bound.executor, shared.error.text);
            float shift = 0;
            for (const bool isAligned : {true, true, false, false, true, false, true}) {
                QVERIFY(bound.bind(isAligned, ++shift));
                QCOMPARE(bound.run(), QString());
            }
            // The same buffers again, and once without a run between.
            const Buffer other(true);
            for (float* const y : {other.data(), bound.y->data(), bound.y->data()})
                QVERIFY(bound.executor->bindOutput(0, y, kBytes) == Status::Ok);
            QCOMPARE(bound.check(), QString()); // as the last run left them
            QCOMPARE(bound.run(), QString());
            // Memory of the device's own, and back.
            std::vector<std::byte> x = bytesOf(someInput(5)), y(x.size());
            QVERIFY(bound.executor->bindDeviceInput(0, &x, x.size()) == Status::Ok);
            QVERIFY(bound.executor->bindDeviceOutput(0, &y, y.size()) == Status::Ok);
            QVERIFY(bound.executor->run() == Status::Ok);
            QCOMPARE(y, bytesOf(expected(someInput(5))));
            QCOMPARE(bound.z->values(), scaled(someInput(5)));
            QVERIFY(bound.bind(true, 6));
            QCOMPARE(bound.run(), QString());
        }
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().pieces, 0);
    }

    /// From the second run with it on: all that is left to copy is what goes to the kernel of the processor and back.
    void memoryOnTheDeviceIsUsedInPlace()
    {
        {
            Shared shared;
            late::device().sharesMemory = false;
            const ExecutorPtr executor = shared.executor();
            QVERIFY2(executor, shared.error.text);
            OnDevice one(1), other(2);
            QVERIFY(one.bind(*executor));
            for (const int copies : {5, 2, 2}) {
                one.change(static_cast<float>(copies));
                late::device().copies = 0;
                QVERIFY(executor->run() == Status::Ok);
                QCOMPARE(one.check(), QString());
                QCOMPARE(late::device().copies, copies);
                QCOMPARE(executor->isInPlace(0), copies == 2);
                QCOMPARE(executor->isInPlace(6), copies == 2);
            }
            // Buffers in turns are copied: launches that are pointed elsewhere at each run would cost more.
            for (OnDevice* const next : {&other, &one, &other}) {
                QVERIFY(next->bind(*executor));
                late::device().copies = 0;
                QVERIFY(executor->run() == Status::Ok);
                QCOMPARE(next->check(), QString());
                QCOMPARE(late::device().copies, 5);
            }
            // What was bound before is the caller's alone.
            const OnDevice before = one;
            QVERIFY(executor->run() == Status::Ok);
            QVERIFY(before.x == one.x && before.y == one.y && before.z == one.z);
            QCOMPARE(other.check(), QString());
        }
        QCOMPARE(late::device().misuses, 0);
        QCOMPARE(late::device().pieces, 0);
    }

    void memoryOnTheDeviceThatDoesNotFitIsCopied()
    {
        Shared shared;
        late::device().sharesMemory = false;
        late::device().takesCallers = false;
        const ExecutorPtr executor = shared.executor();
        QVERIFY2(executor, shared.error.text);
        OnDevice one(1);
        QVERIFY(one.bind(*executor));
        for (const float shift : {1.0F, 2.0F, 3.0F}) {
            one.change(shift);
            late::device().copies = 0;
            QVERIFY(executor->run() == Status::Ok);
            QCOMPARE(one.check(), QString());
            QCOMPARE(late::device().copies, 5);
        }
    }

    /// An output over an input, whichever was there first: z is computed before the last use of m.
    void buffersOnTheDeviceThatOverlapAreCopied()
    {
        Shared shared;
        late::device().sharesMemory = false;
        const ExecutorPtr executor = shared.executor();
        QVERIFY2(executor, shared.error.text);
        OnDevice one(1);
        QVERIFY(one.bind(*executor));
        for (int run = 0; run < 2; ++run) // all are in place then
            QVERIFY(executor->run() == Status::Ok);
        QVERIFY(executor->bindDeviceOutput(1, &one.x, one.x.size()) == Status::Ok);
        for (const float shift : {4.0F, 5.0F, 6.0F}) {
            one.change(shift);
            QVERIFY(executor->run() == Status::Ok);
            QCOMPARE(one.y, bytesOf(expected(someInput(shift))));
            QCOMPARE(one.x, bytesOf(scaled(someInput(shift))));
        }
        QVERIFY(!executor->isInPlace(0) && executor->isInPlace(6) && !executor->isInPlace(7));
        QVERIFY(one.bind(*executor));
        for (const float shift : {7.0F, 8.0F}) {
            one.change(shift);
            QVERIFY(executor->run() == Status::Ok);
            QCOMPARE(one.check(), QString());
        }
        QVERIFY(executor->isInPlace(0) && executor->isInPlace(7));
    }

    /// However a run ends, the buffers are the caller's again.
    void buffersComeBackFromRunsThatFail()
    {
        Shared shared;
        bool fails = true;
        late::device().functions["add_0"] = [&fails, add = late::device().functions["add_0"]](
                                                const std::vector<std::byte*>& b, const LaunchRequest& request) {
            return add(b, request) && !fails;
        };
        Bound bound(shared.executor());
        QVERIFY2(bound.executor, shared.error.text);
        for (const bool isAligned : {true, false}) {
            QVERIFY(bound.bind(isAligned, 3));
            QVERIFY(bound.executor->run() == Status::KernelFailed);
            QCOMPARE(bound.x->values(), someInput(3));
            fails = false;
            QCOMPARE(bound.run(), QString());
            fails = true;
        }
        QVERIFY(bound.bind(true, 2));
        late::device().mostPieces = late::device().pieces + 1; // there is room for x, not for y
        QVERIFY(bound.executor->run() == Status::NoMemory);
        QCOMPARE(bound.x->values(), someInput(2));
        late::device().mostPieces = INT_MAX;
        fails = false;
        QCOMPARE(bound.run(), QString());
    }

    void chainsLeaveSharedBuffersToTheirOwners()
    {
        Shared shared;
        Bound bound(shared.executor());
        QVERIFY2(bound.executor, shared.error.text);
        for (const bool isAligned : {true, false}) {
            QVERIFY(bound.bind(isAligned, 3));
            QCOMPARE(bound.run(), QString());
            bound.executor->setProfiling(true);
            for (std::uint32_t last = 0; last < 8; ++last) {
                QVERIFY(bound.executor->runChain(last > 0 ? last - 1 : 0, last) == Status::Ok);
                QCOMPARE(bound.executor->profile(last).calls, 1U);
            }
            bound.executor->setProfiling(false);
            QCOMPARE(late::device().misuses, 0);
            QCOMPARE(bound.x->values(), someInput(3));
            QCOMPARE(bound.run(), QString());
        }
    }
};

LATHE_TEST(TestExecutorPorts)

} // namespace tst_executor_ports

#include "tst_executor_ports.moc"
